//! `/tickets`: the tickets of the team, filtered by what stands in the address.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::marks::Mark;
use super::parts::{Choice, TicketRow, TicketRows, plain_word, ticket_href};
use super::shell::Shell;
use crate::base::text::cut;
use crate::base::{Fault, Millis, ProjectId};
use crate::projects::{self, Category, LIST_MAX, Project, categories};
use crate::store::Read;
use crate::tickets::states::{Kind, Status};
use crate::tickets::ticket::{self, Of};
use crate::tickets::{Ticket, dependencies};
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::page::{Page, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets on one page.
const PAGE_SIZE: u32 = 50;
/// Tickets that one page may look at to find those of a kind; the next page goes on behind them.
const LOOKED_AT_MAX: usize = 2_000;
/// Blocked tickets shown above the list.
const BLOCKED_SHOWN: u32 = 5;
/// Characters of a reason to wait that are shown.
const WHY_CHARS: usize = 160;

/// The list, its filters, and what is blocked beside it.
#[derive(Template)]
#[template(path = "tickets.html")]
pub(super) struct TicketsPage {
    shell: Shell,
    chips: Vec<Chip>,
    filter: Filter,
    blocked: Blocked,
    list: TicketRows,
    /// The address of the next page, where there is one.
    older: Option<String>,
}

/// One status with how many tickets have it.
pub(super) struct Chip {
    label: &'static str,
    icon: &'static str,
    tone: &'static str,
    count: String,
    href: String,
    is_chosen: bool,
}

/// What stands in the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    status: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    category: String,
    before: Option<i64>,
}

/// The filters as they are set.
pub(super) struct Filter {
    /// The status by its word; empty for all.
    status: String,
    selects: Vec<Select>,
    is_set: bool,
}

/// One filter with its options; the first is "all" and has the empty value.
pub(super) struct Select {
    name: &'static str,
    label: &'static str,
    options: Vec<Choice>,
}

/// What waits for other tickets. It informs: nobody has to act.
#[derive(Default)]
pub(super) struct Blocked {
    rows: Vec<BlockedLine>,
    /// Blocked tickets beyond those listed.
    more: u64,
}

/// A blocked ticket and what it waits for.
pub(super) struct BlockedLine {
    mark: Mark,
    reference: String,
    href: String,
    title: String,
    why: String,
}

/// `GET /tickets`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Result<Page<TicketsPage>, Trouble> {
    let now = site.now();
    let page =
        visitor.read(&site, move |read, visitor| TicketsPage::load(read, visitor, &asked, now));
    Ok(Page(page.await?))
}

/// What the filters mean: words that name nothing are left out.
struct Wanted {
    status: Option<Status>,
    kind: Option<Kind>,
    project: Option<Project>,
    category: Option<Category>,
}

impl Wanted {
    fn read(read: &Read<'_>, visitor: &Visitor, asked: &Asked) -> Result<Self, Fault> {
        let named = |name: &str| projects::named(read, visitor.actor(), name);
        let project = Some(&*asked.project).filter(|name| !name.is_empty()).map(named);
        let project = project.transpose()?;
        let mut category = None;
        if let Some(project) = project.as_ref().filter(|_| !asked.category.is_empty()) {
            category = categories::find(read, project.tenant, project.id, &asked.category)?;
        }
        Ok(Self {
            status: Status::parse(&asked.status),
            kind: Kind::parse(&asked.kind),
            project,
            category,
        })
    }

    fn of(&self) -> Of {
        match (&self.category, &self.project) {
            (Some(category), _) => Of::Category(category.id),
            (None, Some(project)) => Of::Project(project.id),
            (None, None) => Of::Tenant,
        }
    }

    fn is_set(&self) -> bool {
        self.status.is_some() || self.kind.is_some() || self.project.is_some()
    }

    /// The address of this list with another status and from another place.
    fn href(&self, status: Option<Status>, before: Option<i64>) -> String {
        let mut parts = Vec::new();
        let mut add = |name: &str, value: &str| parts.push(format!("{name}={}", in_query(value)));
        if let Some(status) = status {
            add("status", status.word());
        }
        if let Some(project) = &self.project {
            add("project", &project.slug);
        }
        if let Some(category) = &self.category {
            add("category", &category.name);
        }
        if let Some(kind) = self.kind {
            add("kind", kind.word());
        }
        if let Some(before) = before {
            add("before", &before.to_string());
        }
        if parts.is_empty() {
            "/tickets".to_owned()
        } else {
            format!("/tickets?{}", parts.join("&"))
        }
    }
}

impl TicketsPage {
    fn load(read: &Read<'_>, visitor: &Visitor, asked: &Asked, now: Millis) -> Result<Self, Fault> {
        let wanted = Wanted::read(read, visitor, asked)?;
        let projects = projects::list(read, visitor.actor(), LIST_MAX, None)?;
        let tenant = visitor.actor().tenant;
        let counts = ticket::counts(read, tenant)?;
        let (found, next) = find(read, visitor, &wanted, asked.before)?;
        let name = |id: ProjectId| {
            let known = projects.iter().find(|project| project.id == id);
            known.map_or("", |project| project.name.as_str())
        };
        let rows = found
            .iter()
            .map(|ticket| TicketRow::load(read, ticket, name(ticket.project), now))
            .collect::<Result<Vec<_>, _>>()?;
        let is_first = asked.before.is_none() && wanted.status.is_none();
        Ok(Self {
            shell: Shell::load(read, visitor, "/tickets")?,
            chips: chips(&wanted, &counts),
            blocked: if is_first {
                blocked(read, visitor, &wanted, &counts)?
            } else {
                Blocked::default()
            },
            filter: filter(read, visitor, &wanted, &projects)?,
            list: TicketRows { caption: "Tickets, newest first", rows },
            older: next.map(|before| wanted.href(wanted.status, Some(before))),
        })
    }
}

/// A page of tickets, and where the next one begins if there is one.
fn find(
    read: &Read<'_>,
    visitor: &Visitor,
    wanted: &Wanted,
    before: Option<i64>,
) -> Result<(Vec<Ticket>, Option<i64>), Fault> {
    let tenant = visitor.actor().tenant;
    let (mut found, mut at, mut looked_at) = (Vec::new(), before, 0);
    let batch = PAGE_SIZE + 1;
    loop {
        let some = ticket::list(read, tenant, wanted.of(), wanted.status, batch, at)?;
        let is_last = some.len() < batch as usize;
        looked_at += some.len();
        for ticket in some {
            if found.len() == PAGE_SIZE as usize {
                return Ok((found, at));
            }
            at = Some(ticket.n);
            if wanted.kind.is_none_or(|kind| kind == ticket.kind) {
                found.push(ticket);
            }
        }
        if is_last {
            return Ok((found, None));
        }
        if looked_at >= LOOKED_AT_MAX {
            return Ok((found, at));
        }
    }
}

/// The statuses as a person scans them: what moves and what asks first.
const STATUSES: [Status; 8] = [
    Status::Running,
    Status::AwaitingInput,
    Status::Queued,
    Status::Blocked,
    Status::Failed,
    Status::Timeout,
    Status::Succeeded,
    Status::Cancelled,
];

/// The counts are of the whole team, whatever else is filtered: they say where to look.
fn chips(wanted: &Wanted, counts: &[(Status, u64)]) -> Vec<Chip> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut chips = vec![Chip {
        label: "All",
        icon: "",
        tone: "",
        count: humane::count(all),
        href: wanted.href(None, None),
        is_chosen: wanted.status.is_none(),
    }];
    let count = |status| counts.iter().find(|(other, _)| *other == status).map_or(0, |c| c.1);
    for status in STATUSES {
        let is_chosen = wanted.status == Some(status);
        if count(status) == 0 && !is_chosen {
            continue;
        }
        let mark = Mark::status(status.word());
        chips.push(Chip {
            label: mark.word,
            icon: mark.icon,
            tone: mark.tone,
            count: humane::count(count(status)),
            href: wanted.href(Some(status), None),
            is_chosen,
        });
    }
    chips
}

fn filter(
    read: &Read<'_>,
    visitor: &Visitor,
    wanted: &Wanted,
    projects: &[Project],
) -> Result<Filter, Fault> {
    let all = |label| vec![Choice::new("", label)];
    let mut of_project = all("All projects");
    of_project.extend(projects.iter().map(|one| Choice::new(&*one.slug, &*one.name)));
    let mut of_kind = all("All kinds");
    of_kind.extend(Kind::ALL.iter().map(|kind| Choice::new(kind.word(), plain_word(kind.word()))));
    let mut selects = vec![
        Select {
            name: "project",
            label: "Project",
            options: Choice::choose(
                of_project,
                wanted.project.as_ref().map_or("", |project| &project.slug),
            ),
        },
        Select {
            name: "kind",
            label: "Kind",
            options: Choice::choose(of_kind, wanted.kind.map_or("", Kind::word)),
        },
    ];
    // Categories are a project's own.
    if let Some(project) = &wanted.project {
        let known = categories::list(read, visitor.actor().tenant, project.id)?;
        let mut options = all("All categories");
        options.extend(known.iter().map(|one| Choice::new(&*one.name, &*one.name)));
        let chosen = wanted.category.as_ref().map_or("", |category| &category.name);
        let options = Choice::choose(options, chosen);
        selects.push(Select { name: "category", label: "Category", options });
    }
    let status = wanted.status.map_or("", Status::word).to_owned();
    Ok(Filter { status, selects, is_set: wanted.is_set() })
}

fn blocked(
    read: &Read<'_>,
    visitor: &Visitor,
    wanted: &Wanted,
    counts: &[(Status, u64)],
) -> Result<Blocked, Fault> {
    let tenant = visitor.actor().tenant;
    let status = Some(Status::Blocked);
    let some = ticket::list(read, tenant, wanted.of(), status, BLOCKED_SHOWN, None)?;
    let is_whole = wanted.project.is_none();
    let all = counts.iter().find(|(other, _)| *other == Status::Blocked).map_or(0, |c| c.1);
    Ok(Blocked {
        more: if is_whole { all.saturating_sub(some.len() as u64) } else { 0 },
        rows: some
            .iter()
            .map(|ticket| BlockedLine::load(read, ticket))
            .collect::<Result<_, _>>()?,
    })
}

impl BlockedLine {
    fn load(read: &Read<'_>, ticket: &Ticket) -> Result<Self, Fault> {
        let parents = dependencies::parents(read, ticket.tenant, ticket.id)?;
        let open = parents.iter().filter(|parent| parent.status != Status::Succeeded);
        let names: Vec<String> = open.map(Ticket::reference).collect();
        let reason = ticket.depends_on_reason.as_deref().unwrap_or_default();
        let why = match names.as_slice() {
            [] => "Everything it waited for has landed; it is about to start.".to_owned(),
            names => format!("Waits for {}. {reason}", names.join(", ")),
        };
        Ok(Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: ticket.title.clone(),
            why: cut(why.trim(), WHY_CHARS),
        })
    }
}

#[cfg(test)]
impl TicketsPage {
    pub(super) fn sample() -> Self {
        let wanted = Wanted { status: None, kind: None, project: None, category: None };
        let counts = [
            (Status::Running, 1),
            (Status::AwaitingInput, 1),
            (Status::Queued, 1),
            (Status::Blocked, 3),
            (Status::Failed, 2),
            (Status::Timeout, 1),
            (Status::Succeeded, 115),
            (Status::Cancelled, 5),
        ];
        Self {
            shell: Shell::sample("/tickets"),
            chips: chips(&wanted, &counts),
            filter: samples::filter(),
            blocked: Blocked {
                rows: vec![BlockedLine {
                    mark: Mark::status("blocked"),
                    reference: "ACME-45".to_owned(),
                    href: "/tickets/ACME-45".to_owned(),
                    title: "Sync the theme with the system's preference".to_owned(),
                    why: "Waits for ACME-42. Uses the theme store that it adds.".to_owned(),
                }],
                more: 2,
            },
            list: TicketRows { caption: "Tickets, newest first", rows: samples::rows() },
            older: Some("/tickets?before=37".to_owned()),
        }
    }

    pub(super) fn sample_empty() -> Self {
        let sample = Self::sample();
        Self {
            blocked: Blocked::default(),
            list: TicketRows { rows: Vec::new(), ..sample.list },
            older: None,
            ..sample
        }
    }
}

#[cfg(test)]
mod samples {
    use super::super::parts::samples::row;
    use super::*;

    pub(super) fn filter() -> Filter {
        let select = |name, label, all, others: &[&str]| {
            let mut options = vec![Choice::new("", all)];
            options.extend(others.iter().map(|label| Choice::new(*label, *label)));
            Select { name, label, options: Choice::choose(options, "") }
        };
        Filter {
            status: String::new(),
            selects: vec![
                select("project", "Project", "All projects", &["Acme Widgets", "Billing"]),
                select("kind", "Kind", "All kinds", &["Feature", "Fix", "Refactor"]),
                select("category", "Category", "All categories", &["Auth & Billing"]),
            ],
            is_set: false,
        }
    }

    pub(super) fn rows() -> Vec<TicketRow> {
        let (done, gone) = ("succeeded", "skipped");
        let mut failed = row(
            43,
            "Migrate user preferences to new schema",
            "failed",
            &[done, done, "failed", gone, gone, gone],
        );
        failed.note = Some("3 rows violate the NOT NULL constraint".to_owned());
        failed.kind = "Data operation".to_owned();
        vec![
            row(
                44,
                "Integrate Stripe Checkout for the Pro plan upgrade",
                "awaiting_input",
                &[done, done, "awaiting_input", "queued", "queued", "queued"],
            ),
            failed,
            row(
                42,
                "Add dark-mode toggle to the dashboard header",
                "running",
                &[done, done, done, done, "running", "queued"],
            ),
            row(41, "Show the price with its currency", done, &[done; 6]),
            row(40, "Fix the footer overlapping the cookie banner on phones", done, &[done; 6]),
            row(39, "Rename the widget store", "cancelled", &[done, "cancelled"]),
            row(38, "Load test the checkout", "timeout", &[done, "failed"]),
            row(37, "Draft the pricing page", "queued", &[]),
        ]
    }
}
