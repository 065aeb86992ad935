//! `search_tickets`: tickets by their words and dates, a page at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_tickets::{self, Narrowed};
use super::wire::{self, TicketWire};
use crate::accounts::{Actor, Reach};
use crate::base::{CategoryId, Fault, Millis, ProjectId};
use crate::store::{Hash, Read};
use crate::tickets::Ticket;
use crate::tickets::search::{self, QUERY_MAX, Search};
use crate::tickets::states::Status;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Finds tickets by their words and dates.
pub struct SearchTickets;

/// What `search_tickets` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// Words that must all be in the title, the description or the ref. Case and accents do not
    /// matter, and no sign has a meaning of its own: `dark-mode` looks for the two words side by
    /// side. Left out, the filters alone say what is meant.
    #[schemars(length(max = 500))]
    query: Option<String>,
    /// Only this project's.
    project_id: Option<ProjectId>,
    /// Only those that stand here.
    status: Option<Status>,
    /// Only this category's, by its name in any case and spacing. Needs `project_id`.
    category: Option<String>,
    /// Only this category's, by its UUID.
    category_id: Option<CategoryId>,
    /// Only those filed at or after this: `2026-07-29`, which begins at midnight UTC, or
    /// `2026-07-29T14:00:00Z`.
    created_from: Option<String>,
    /// Only those filed before this.
    created_before: Option<String>,
    /// Only those that ended at or after this.
    completed_from: Option<String>,
    /// Only those that ended before this.
    completed_before: Option<String>,
    /// How many at most; 20 where absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// The `nextCursor` of the page before. It goes on with the same search and no other.
    #[schemars(length(max = 100))]
    cursor: Option<String>,
}

/// What `search_tickets` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The tickets, newest first.
    tickets: Vec<TicketWire>,
    /// How many these are.
    count: usize,
    /// What to send as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for SearchTickets {
    const NAME: &'static str = "search_tickets";
    const TITLE: &'static str = "Search tickets";
    const ABOUT: &'static str = "Finds tickets by words of their title, description and ref, by \
        the filters of `list_tickets` and by when they were filed or ended. Newest first, a page \
        at a time: send `nextCursor` back as `cursor`, with the same arguments, for what follows.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str =
        r#"{ "query": "dark mode", "status": "succeeded", "completed_from": "2026-07-01" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        cx.index_tickets().await;
        let output = cx.read(move |read, actor| find(read, actor, &input)).await?;
        let summary = match (output.count, &output.next_cursor) {
            (0, _) => "No ticket matches.".to_owned(),
            (1, None) => "1 ticket.".to_owned(),
            (n, None) => format!("{n} tickets, newest first."),
            (n, Some(_)) => format!("{n} tickets, newest first, and there are more."),
        };
        Ok(Done::new(output, summary))
    }
}

fn find(read: &Read<'_>, actor: &Actor, input: &Input) -> Result<Output, Fault> {
    let limit = input.limit.unwrap_or(20);
    let named = input.category.as_deref();
    let narrowed = list_tickets::narrow(read, actor, input.project_id, named, input.category_id)?;
    let Some(Narrowed { project, category }) = narrowed else {
        return Ok(Output { tickets: Vec::new(), count: 0, next_cursor: None });
    };
    let asked = Search {
        words: words(input.query.as_deref().unwrap_or(""))?,
        projects: match (project, &actor.reach) {
            (Some(project), _) => Some(vec![project]),
            (None, Reach::Only(projects)) => Some(projects.clone()),
            (None, Reach::All) => None,
        },
        category,
        status: input.status,
        created_from: moment("created_from", input.created_from.as_deref())?,
        created_before: moment("created_before", input.created_before.as_deref())?,
        completed_from: moment("completed_from", input.completed_from.as_deref())?,
        completed_before: moment("completed_before", input.completed_before.as_deref())?,
    };
    let mark = mark(actor, &asked);
    let before = match input.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        Some(cursor) => Some(place(cursor, &mark)?),
        None => None,
    };
    let mut found = search::search(read, actor.tenant, &asked, before, limit + 1)?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next_cursor = found.last().filter(|_| more).map(|last| cursor(last, &mark));
    let tickets = found.iter().map(|ticket| wire::ticket(read, ticket));
    let tickets = tickets.collect::<Result<Vec<_>, _>>()?;
    Ok(Output { count: tickets.len(), tickets, next_cursor })
}

fn words(query: &str) -> Result<Vec<String>, Fault> {
    if query.chars().count() > QUERY_MAX {
        return Err(Fault::argument("query", format!("may have at most {QUERY_MAX} characters")));
    }
    let words = search::words(query);
    if words.is_empty() && !query.trim().is_empty() {
        return Err(Fault::argument("query", "needs at least one letter or digit"));
    }
    Ok(words)
}

/// A moment as people and programs write it.
fn moment(path: &str, said: Option<&str>) -> Result<Option<Millis>, Fault> {
    let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) else { return Ok(None) };
    Millis::parse(said).map(Some).ok_or_else(|| {
        Fault::argument(path, "expected a date such as 2026-07-29 or 2026-07-29T14:00:00Z")
    })
}

/// What tells one search from another: a cursor holds for its own.
fn mark(actor: &Actor, asked: &Search) -> String {
    let said = format!("{} {:?} {asked:?}", actor.tenant, actor.reach);
    Hash::of(said.as_bytes()).to_string().chars().take(16).collect()
}

fn cursor(last: &Ticket, mark: &str) -> String {
    format!("{:016x}{mark}", last.n)
}

/// Where a cursor goes on.
fn place(cursor: &str, mark: &str) -> Result<i64, Fault> {
    let place = cursor.strip_suffix(mark).filter(|place| place.len() == 16);
    place.and_then(|place| i64::from_str_radix(place, 16).ok()).ok_or_else(|| {
        let said = "is no cursor of this search; send the nextCursor of the page before, with the \
                    same other arguments";
        Fault::argument("cursor", said)
    })
}
