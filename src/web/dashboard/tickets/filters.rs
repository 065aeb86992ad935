//! The form that narrows the list, the statuses to choose from, and what is chosen as things that
//! can be taken away again.

use super::asked::{Asked, Wanted};
use crate::base::Fault;
use crate::projects::{Project, categories};
use crate::store::Read;
use crate::tickets::browse::Sort;
use crate::tickets::states::{Kind, Status};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{Choice, Link, plain_word};
use crate::web::humane;

/// One status with how many tickets have it.
pub(super) struct Chip {
    pub(super) label: &'static str,
    pub(super) icon: &'static str,
    pub(super) tone: &'static str,
    pub(super) count: String,
    pub(super) href: String,
    pub(super) is_chosen: bool,
}

/// The form of the filters as they are set.
pub(super) struct Filters {
    pub(super) text: String,
    pub(super) requester: String,
    /// What the form carries along: the statuses, which have links of their own, and the view.
    pub(super) kept: Vec<(&'static str, &'static str)>,
    pub(super) selects: Vec<Select>,
    pub(super) is_set: bool,
    /// Each thing that is set, with the list without it.
    pub(super) set: Vec<Link>,
    /// All tickets, in the view that is shown.
    pub(super) clear: String,
}

/// One filter with its options; the first is "all" and has the empty value.
pub(super) struct Select {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) options: Vec<Choice>,
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
pub(super) fn chips(asked: &Asked, counts: &[(Status, u64)]) -> Vec<Chip> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let every = Asked { statuses: Vec::new(), ..asked.clone() };
    let mut chips = vec![Chip {
        label: "All",
        icon: "",
        tone: "",
        count: humane::count(all),
        href: every.href(),
        is_chosen: asked.statuses.is_empty(),
    }];
    let count = |status| counts.iter().find(|(other, _)| *other == status).map_or(0, |c| c.1);
    for status in STATUSES {
        let is_chosen = asked.statuses.contains(&status);
        if count(status) == 0 && !is_chosen {
            continue;
        }
        let mark = Mark::status(status.word());
        chips.push(Chip {
            label: mark.word,
            icon: mark.icon,
            tone: mark.tone,
            count: humane::count(count(status)),
            href: asked.toggled(status).href(),
            is_chosen,
        });
    }
    chips
}

impl Filters {
    pub(super) fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        wanted: &Wanted,
        projects: &[Project],
    ) -> Result<Self, Fault> {
        let mut names = Vec::new();
        // Categories are a project's own.
        if let Some(project) = &wanted.project {
            let known = categories::list(read, visitor.actor().tenant, project.id)?;
            names = known.into_iter().map(|category| category.name).collect();
        }
        let projects = projects.iter().map(|one| Choice::new(&*one.slug, &*one.name));
        let project = wanted.project.as_ref().map(|project| project.name.clone());
        Ok(Self::of(&wanted.asked, projects.collect(), project, &names))
    }

    pub(super) fn of(
        asked: &Asked,
        projects: Vec<Choice>,
        project: Option<String>,
        categories: &[String],
    ) -> Self {
        let mut kept: Vec<(&str, &str)> =
            asked.statuses.iter().map(|status| ("status", status.word())).collect();
        if asked.is_board {
            kept.push(("view", "board"));
        }
        let kinds = Kind::ALL.iter().map(|kind| Choice::new(kind.word(), plain_word(kind.word())));
        let mut selects = vec![
            Select::of("project", "Project", "All projects", projects, &asked.project),
            Select::of(
                "kind",
                "Kind",
                "All kinds",
                kinds.collect(),
                asked.kind.map_or("", Kind::word),
            ),
        ];
        if !categories.is_empty() {
            let options = categories.iter().map(|name| Choice::new(&**name, &**name)).collect();
            let all = "All categories";
            selects.push(Select::of("category", "Category", all, options, &asked.category));
        }
        if !asked.is_board {
            selects.push(sorts(asked.sort));
        }
        let every = Asked { is_board: asked.is_board, ..Asked::default() };
        Self {
            text: asked.text.clone(),
            requester: asked.requester.clone(),
            kept,
            selects,
            is_set: asked.is_narrowed(),
            set: set(asked, project),
            clear: every.href(),
        }
    }
}

impl Select {
    fn of(
        name: &'static str,
        label: &'static str,
        all: &str,
        options: Vec<Choice>,
        chosen: &str,
    ) -> Self {
        let mut with_all = vec![Choice::new("", all)];
        with_all.extend(options);
        Self { name, label, options: Choice::choose(with_all, chosen) }
    }
}

fn sorts(sort: Sort) -> Select {
    let said = |sort| match sort {
        Sort::Newest => "Newest first",
        Sort::Oldest => "Oldest first",
        Sort::Changed => "Last changed first",
        Sort::Attention => "What needs attention first",
    };
    let options = Sort::ALL.iter().map(|sort| Choice::new(sort.word(), said(*sort))).collect();
    Select { name: "sort", label: "Order", options: Choice::choose(options, sort.word()) }
}

/// What is set, one thing a link that takes it away.
fn set(asked: &Asked, project: Option<String>) -> Vec<Link> {
    let mut set = Vec::new();
    let mut add = |label: String, without: Asked| set.push(Link::new(label, without.href()));
    if !asked.text.is_empty() {
        let without = Asked { text: String::new(), ..asked.clone() };
        add(format!("Words: {}", asked.text), without);
    }
    for status in &asked.statuses {
        let word = Mark::status(status.word()).word;
        add(format!("Status: {word}"), asked.toggled(*status));
    }
    if let Some(name) = project {
        let without = Asked { project: String::new(), category: String::new(), ..asked.clone() };
        add(format!("Project: {name}"), without);
    }
    if let Some(kind) = asked.kind {
        add(format!("Kind: {}", plain_word(kind.word())), Asked { kind: None, ..asked.clone() });
    }
    if !asked.category.is_empty() {
        let without = Asked { category: String::new(), ..asked.clone() };
        add(format!("Category: {}", asked.category), without);
    }
    if !asked.requester.is_empty() {
        let without = Asked { requester: String::new(), ..asked.clone() };
        add(format!("By: {}", asked.requester), without);
    }
    set
}
