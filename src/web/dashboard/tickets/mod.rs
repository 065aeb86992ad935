//! `/tickets`: the tickets of the team as a list or a board, filtered by what stands in the
//! address.

mod asked;
mod board;
mod bulk;
mod filters;
mod names;
#[cfg(test)]
mod samples;
mod views;

use askama::Template;
use axum::extract::{Query, State};

use self::asked::{Asked, Wanted};
use self::board::Column;
#[cfg(test)]
pub(super) use self::bulk::BulkPage;
pub(super) use self::bulk::submit as submit_bulk;
use self::filters::{Chip, Filters};
use self::names::Names;
use self::views::{Open, Tab};
pub(super) use self::views::{change as change_view, save as save_view};
use super::marks::Mark;
use super::parts::{TicketRow, ticket_href};
use super::shell::Shell;
use crate::accounts::saved_views::{self, VIEWS_MAX};
use crate::base::text::cut;
use crate::base::{Fault, Millis};
use crate::projects::{self, LIST_MAX};
use crate::store::Read;
use crate::tickets::browse::{self, Found, Sort};
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Of};
use crate::tickets::{Ticket, dependencies, indexing};
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::page::Page;
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Tickets on one page.
const PAGE_SIZE: usize = 50;
/// Blocked tickets shown above the list.
const BLOCKED_SHOWN: u32 = 5;
/// Characters of a reason to wait that are shown.
const WHY_CHARS: usize = 160;

/// The list or the board, the filters, and what is blocked beside it.
#[derive(Template)]
#[template(path = "tickets.html")]
pub(super) struct TicketsPage {
    shell: Shell,
    can_write: bool,
    tabs: Vec<Tab>,
    /// The saved view that is open.
    open: Option<Open>,
    /// Whether what is shown can be saved under a name.
    can_save: bool,
    /// The query of what is shown.
    query: String,
    is_board: bool,
    /// The same as a list and as a board.
    as_list: String,
    as_board: String,
    chips: Vec<Chip>,
    filters: Filters,
    /// Where a new ticket is asked for, with the project that is chosen.
    new_href: String,
    blocked: Blocked,
    columns: Vec<Column>,
    list: List,
}

/// The list of one page.
#[derive(Default)]
pub(super) struct List {
    /// What the table holds, for those who do not see it.
    caption: &'static str,
    /// How many there are, as far as it is known.
    said: String,
    rows: Vec<TicketRow>,
    /// The address of the next page, where there is one, and what it is called.
    next: Option<String>,
    next_said: &'static str,
    /// The first page, where this is another.
    first: Option<String>,
    /// Whether the page ended because enough tickets were looked at.
    is_cut: bool,
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
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Page<TicketsPage>, Trouble> {
    let now = site.now();
    let asked = Asked::read(&pairs);
    if !asked.text.is_empty() {
        index(&site).await;
    }
    let did = pairs.iter().find(|(name, _)| name == "did").map(|(_, did)| did.clone());
    let page =
        visitor.read(&site, move |read, visitor| TicketsPage::load(read, visitor, asked, now));
    let mut page = page.await?;
    page.shell = page.shell.after(did.as_deref().unwrap_or_default());
    Ok(Page(page))
}

/// Puts tickets that wait for it into the index of words, as far as that can be done now.
pub(super) async fn index(site: &Site) {
    let mut left = site.db().read(indexing::behind).await.unwrap_or(0);
    while left > 0 {
        let filled = site.db().write(|tx| indexing::fill(tx).and_then(|()| indexing::behind(tx)));
        match filled.await {
            Ok(behind) => left = behind,
            Err(fault) => return tracing::warn!(?fault, "The index of tickets stands still"),
        }
    }
}

impl TicketsPage {
    fn load(read: &Read<'_>, visitor: &Visitor, asked: Asked, now: Millis) -> Result<Self, Fault> {
        let wanted = Wanted::load(read, visitor, asked)?;
        let names = Names(projects::list(read, visitor.actor(), LIST_MAX, None)?);
        let user = &visitor.login().user;
        let counts = ticket::counts(read, user.tenant)?;
        let saved = saved_views::list(read, user.tenant, user.id)?;
        let asked = &wanted.asked;
        let (tabs, open) = views::tabs(asked, &saved);
        let is_first = asked.from.is_none() && asked.statuses.is_empty() && !asked.is_board;
        let (mut columns, mut list, mut blocked) = <(Vec<Column>, List, Blocked)>::default();
        if asked.is_board {
            columns = board::load(read, visitor, &wanted, &names, (&counts, now))?;
        } else {
            list = List::load(read, visitor, &wanted, &names, (&counts, now))?;
        }
        if is_first {
            blocked = Blocked::load(read, visitor, &wanted, &counts)?;
        }
        let view = |is_board| Asked { is_board, ..asked.clone() }.href();
        Ok(Self {
            shell: Shell::load(read, visitor, "/tickets")?,
            can_write: visitor.actor().can_write(),
            can_save: open.is_none()
                && !asked.query().is_empty()
                && saved.len() < VIEWS_MAX as usize,
            tabs,
            open,
            query: asked.query(),
            is_board: asked.is_board,
            as_list: view(false),
            as_board: view(true),
            chips: if asked.is_board { Vec::new() } else { filters::chips(asked, &counts) },
            filters: Filters::load(read, visitor, &wanted, &names.0)?,
            new_href: new_href(&asked.project),
            blocked,
            columns,
            list,
        })
    }
}

/// Where a ticket of a project is asked for.
fn new_href(project: &str) -> String {
    if project.is_empty() {
        "/tickets/new".to_owned()
    } else {
        format!("/tickets/new?project={}", crate::web::page::in_query(project))
    }
}

impl List {
    fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        wanted: &Wanted,
        names: &Names,
        (counts, now): (&[(Status, u64)], Millis),
    ) -> Result<Self, Fault> {
        let asked = &wanted.asked;
        let (tenant, filter) = (visitor.actor().tenant, wanted.filter());
        let found = browse::page(read, tenant, &filter, asked.sort, asked.from, PAGE_SIZE)?;
        let row = |ticket: &Ticket| TicketRow::load(read, ticket, names.of(ticket.project), now);
        let (caption, next_said) = match asked.sort {
            Sort::Newest => ("Tickets, newest first", "Older tickets"),
            Sort::Oldest => ("Tickets, oldest first", "Newer tickets"),
            Sort::Changed => ("Tickets, last changed first", "Changed before"),
            Sort::Attention => ("Tickets, what needs attention first", "Further tickets"),
        };
        Ok(Self {
            caption,
            said: said(asked, &found, counts),
            rows: found.tickets.iter().map(row).collect::<Result<_, _>>()?,
            next: found.next.map(|place| asked.href_from(place)),
            next_said,
            first: asked.from.map(|_| asked.href()),
            is_cut: found.is_cut,
        })
    }
}

/// How many tickets there are, as far as it is known without looking at all of them.
fn said(asked: &Asked, found: &Found, counts: &[(Status, u64)]) -> String {
    let shown = found.tickets.len() as u64;
    let of =
        |(status, _): &&(Status, u64)| asked.statuses.is_empty() || asked.statuses.contains(status);
    let all: u64 = counts.iter().filter(of).map(|(_, count)| count).sum();
    match (asked.is_narrowed_beyond_status(), asked.from, found.next) {
        (_, None, None) => humane::counted(shown, "ticket", "tickets"),
        (false, _, _) => format!("{shown} of {} tickets", humane::count(all)),
        (true, _, _) => format!("{} here", humane::counted(shown, "ticket", "tickets")),
    }
}

impl Blocked {
    fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        wanted: &Wanted,
        counts: &[(Status, u64)],
    ) -> Result<Self, Fault> {
        let tenant = visitor.actor().tenant;
        let of = match (&wanted.category, &wanted.project) {
            (Some(category), _) => Of::Category(category.id),
            (None, Some(project)) => Of::Project(project.id),
            (None, None) => Of::Tenant,
        };
        let status = Some(Status::Blocked);
        let some = ticket::list(read, tenant, of, status, BLOCKED_SHOWN, None)?;
        let is_whole = wanted.project.is_none();
        let all = counts.iter().find(|(other, _)| *other == Status::Blocked).map_or(0, |c| c.1);
        let lines = some.iter().map(|ticket| BlockedLine::load(read, ticket));
        Ok(Self {
            more: if is_whole { all.saturating_sub(some.len() as u64) } else { 0 },
            rows: lines.collect::<Result<_, _>>()?,
        })
    }
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
