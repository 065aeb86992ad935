//! `list_tickets`: the newest tickets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{self, TicketWire};
use crate::accounts::{Actor, Reach};
use crate::base::{CategoryId, Code, Fault, ProjectId};
use crate::projects;
use crate::store::Read;
use crate::tickets::states::Status;
use crate::tickets::ticket::{self, Of, Ticket};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Lists the newest tickets.
pub struct ListTickets;

/// What `list_tickets` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// Only this project's.
    project_id: Option<ProjectId>,
    /// Only those that stand here.
    status: Option<Status>,
    /// Only this category's, by its name in any case and spacing. Needs `project_id`.
    category: Option<String>,
    /// Only this category's, by its UUID.
    category_id: Option<CategoryId>,
    /// How many at most; 20 where absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

/// What `list_tickets` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The tickets, newest first.
    tickets: Vec<TicketWire>,
    /// How many these are.
    count: usize,
}

impl Tool for ListTickets {
    const NAME: &'static str = "list_tickets";
    const TITLE: &'static str = "List tickets";
    const ABOUT: &'static str = "Lists tickets of all projects you reach, newest first. Narrow \
        with `project_id`, `status`, `category` or `category_id`. Call `get_ticket` for the \
        details of one.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "status": "running", "limit": 5 }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let tickets = cx
            .read(move |read, actor| {
                let found = find(read, actor, &input)?;
                found.iter().map(|ticket| wire::ticket(read, ticket)).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        let count = tickets.len();
        let summary = match count {
            0 => "No ticket matches.".to_owned(),
            1 => "1 ticket.".to_owned(),
            n => format!("{n} tickets, newest first."),
        };
        Ok(Done::new(Output { tickets, count }, summary))
    }
}

fn find(read: &Read<'_>, actor: &Actor, input: &Input) -> Result<Vec<Ticket>, Fault> {
    let (tenant, limit) = (actor.tenant, input.limit.unwrap_or(20));
    let named = input.category.as_deref();
    let Some(Narrowed { project, category }) =
        narrow(read, actor, input.project_id, named, input.category_id)?
    else {
        return Ok(Vec::new());
    };
    let of = match (category, project) {
        (Some(category), _) => Of::Category(category),
        (None, Some(project)) => Of::Project(project),
        (None, None) => Of::Tenant,
    };
    let found = match (&actor.reach, of) {
        (Reach::Only(projects), Of::Tenant) => merged(read, actor, projects, input.status, limit)?,
        _ => ticket::list(read, tenant, of, input.status, limit, None)?,
    };
    let wanted = |ticket: &Ticket| {
        actor.may_reach(ticket.project) && project.is_none_or(|id| id == ticket.project)
    };
    Ok(found.into_iter().filter(wanted).collect())
}

/// The project and the category that a list keeps to.
pub(super) struct Narrowed {
    pub(super) project: Option<ProjectId>,
    pub(super) category: Option<CategoryId>,
}

/// Which project and category a call keeps to; `None` where nothing can match.
pub(super) fn narrow(
    read: &Read<'_>,
    actor: &Actor,
    project: Option<ProjectId>,
    named: Option<&str>,
    mut category: Option<CategoryId>,
) -> Result<Option<Narrowed>, Fault> {
    let project = project.map(|id| projects::resolve(read, actor, Some(id), None));
    let project = project.transpose()?.map(|project| project.id);
    if let Some(name) = named.filter(|name| !name.trim().is_empty()) {
        let Some(project) = project else {
            let message = "category names are a project's own; send project_id along, or \
                           category_id instead.";
            return Err(Fault::new(Code::CategoryFilterRequiresProject, message)
                .issue("project_id", "is missing"));
        };
        match projects::categories::find(read, actor.tenant, project, name)? {
            Some(found) if category.is_none_or(|id| id == found.id) => category = Some(found.id),
            _ => return Ok(None),
        }
    }
    Ok(Some(Narrowed { project, category }))
}

/// The newest of several projects: a limited key sees no other, and misses none of its own.
fn merged(
    read: &Read<'_>,
    actor: &Actor,
    projects: &[ProjectId],
    status: Option<Status>,
    limit: u32,
) -> Result<Vec<Ticket>, Fault> {
    let mut all = Vec::new();
    for project in projects {
        all.extend(ticket::list(read, actor.tenant, Of::Project(*project), status, limit, None)?);
    }
    all.sort_by_key(|ticket| std::cmp::Reverse(ticket.n));
    all.truncate(limit as usize);
    Ok(all)
}
