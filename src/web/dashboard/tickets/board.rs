//! The board: tickets in columns by where they stand.

use super::asked::{Asked, Wanted};
use super::names::Names;
use crate::base::text::cut;
use crate::base::{Fault, Millis};
use crate::store::Read;
use crate::tickets::browse::{self, Filter, Found, Sort};
use crate::tickets::states::Status;
use crate::tickets::{Ticket, node};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::{Mark, Pips};
use crate::web::dashboard::parts::{Moment, ticket_href};
use crate::web::humane;

/// Cards of a column.
const CARDS: usize = 16;
/// Characters of a title on a card.
const TITLE_CHARS: usize = 120;

/// A column.
pub(super) struct Column {
    pub(super) id: &'static str,
    pub(super) mark: Mark,
    pub(super) title: &'static str,
    /// How many tickets stand here; `20+` where only that is known.
    pub(super) count: String,
    pub(super) cards: Vec<Card>,
    /// The list of the rest.
    pub(super) more: Option<String>,
    /// What an empty column says.
    pub(super) nothing: &'static str,
}

/// A ticket on the board.
pub(super) struct Card {
    pub(super) mark: Mark,
    pub(super) reference: String,
    pub(super) href: String,
    pub(super) title: String,
    pub(super) project: String,
    pub(super) pips: Pips,
    pub(super) age: Moment,
}

/// The columns: where tickets stand, what the column is called, what it says when it is empty.
const COLUMNS: [(&str, &[Status], &str, &str); 6] = [
    ("queued", &[Status::Queued], "Queued", "Nothing waits for its turn."),
    ("blocked", &[Status::Blocked], "Blocked", "Nothing waits for another ticket."),
    ("running", &[Status::Running], "Running", "Nothing runs."),
    ("awaiting", &[Status::AwaitingInput], "Awaiting you", "Nothing waits for you."),
    ("landed", &[Status::Succeeded], "Landed", "Nothing has landed yet."),
    ("failed", &[Status::Failed, Status::Timeout], "Failed", "Nothing failed."),
];

/// The columns of what is asked for. Its statuses do not matter: each column has its own.
pub(super) fn load(
    read: &Read<'_>,
    visitor: &Visitor,
    wanted: &Wanted,
    names: &Names,
    (counts, now): (&[(Status, u64)], Millis),
) -> Result<Vec<Column>, Fault> {
    let tenant = visitor.actor().tenant;
    let mut columns = Vec::new();
    for (id, statuses, title, nothing) in COLUMNS {
        let filter = Filter { statuses: statuses.to_vec(), ..wanted.filter() };
        let found = browse::page(read, tenant, &filter, Sort::Newest, None, CARDS)?;
        let all = counts.iter().filter(|(status, _)| statuses.contains(status));
        let all = all.map(|(_, count)| count).sum();
        let known = (!wanted.asked.is_narrowed_beyond_status()).then_some(all);
        let list = Asked { statuses: statuses.to_vec(), is_board: false, ..wanted.asked.clone() };
        let cards = found.tickets.iter().map(|ticket| Card::load(read, ticket, names, now));
        columns.push(Column {
            id,
            mark: Mark::status(statuses[0].word()),
            title,
            count: count(&found, known),
            cards: cards.collect::<Result<_, _>>()?,
            more: found.next.map(|_| list.href()),
            nothing,
        });
    }
    Ok(columns)
}

fn count(found: &Found, known: Option<u64>) -> String {
    match (known, found.next) {
        (Some(all), _) => humane::count(all),
        (None, None) => humane::count(found.tickets.len() as u64),
        (None, Some(_)) => format!("{}+", found.tickets.len()),
    }
}

impl Card {
    fn load(read: &Read<'_>, ticket: &Ticket, names: &Names, now: Millis) -> Result<Self, Fault> {
        let nodes = node::outline(read, ticket.tenant, ticket.id)?;
        Ok(Self {
            mark: Mark::status(ticket.status.word()),
            reference: ticket.reference(),
            href: ticket_href(ticket),
            title: cut(&ticket.title, TITLE_CHARS),
            project: names.of(ticket.project).to_owned(),
            pips: Pips::of_nodes(&nodes),
            age: Moment::at(ticket.created_at, now),
        })
    }
}

#[cfg(test)]
pub(super) fn samples() -> Vec<Column> {
    use crate::web::dashboard::parts::samples::minutes_ago;

    let card = |number: i64, status| Card {
        mark: Mark::status(status),
        reference: format!("ACME-{number}"),
        href: format!("/tickets/ACME-{number}"),
        title: "Add dark-mode toggle to the dashboard header".to_owned(),
        project: "Acme Widgets".to_owned(),
        pips: Pips::of(&["succeeded", "running", "queued"]),
        age: minutes_ago(number),
    };
    let column = |(id, statuses, title, nothing): (_, &[Status], _, _)| Column {
        id,
        mark: Mark::status(statuses[0].word()),
        title,
        count: "1".to_owned(),
        cards: if id == "queued" { Vec::new() } else { vec![card(42, statuses[0].word())] },
        more: (id == "landed").then(|| "/tickets?status=succeeded".to_owned()),
        nothing,
    };
    COLUMNS.into_iter().map(column).collect()
}
