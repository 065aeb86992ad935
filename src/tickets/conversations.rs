//! The conversations that tickets were drafted from, kept as they were but for their secrets.

use serde::{Deserialize, Serialize};

use super::dispatch::Dispatch;
use super::draft::{DraftedBy, Role, Turn};
use crate::base::redact::redact;
use crate::base::{Fault, TenantId, TicketId};
use crate::store::{Read, Tx, to_json};
use crate::{params, sql};

/// Turns of a conversation at most.
pub const TURNS_MAX: usize = 200;

/// Characters of one turn at most.
pub const TURN_CHARS_MAX: usize = 20_000;

/// Characters of all turns together at most.
pub const CHARS_MAX: usize = 200_000;

/// What a ticket was drafted from.
#[derive(Debug, Clone)]
pub struct Original {
    /// The title that was sent.
    pub title: String,
    /// The description that was sent.
    pub description: String,
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// What drafted the ticket; nothing where it was filed as it was sent.
    pub drafted_by: Option<DraftedBy>,
}

/// A turn as its row holds it.
#[derive(Serialize, Deserialize)]
struct Kept {
    role: Role,
    content: String,
}

/// Keeps what a ticket was drafted from; nothing where no conversation was sent.
pub(super) fn record(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    sent: &Dispatch,
    drafted_by: Option<DraftedBy>,
) -> Result<(), Fault> {
    if sent.conversation.is_empty() {
        return Ok(());
    }
    let keep = |turn: &Turn| Kept { role: turn.role, content: redact(&turn.content).into_owned() };
    let turns = to_json(&sent.conversation.iter().map(keep).collect::<Vec<_>>())?;
    let (title, description) = (redact(&sent.title), redact(&sent.description));
    tx.run_one(
        sql!("conversations.sql", "insert"),
        params! { ":tenant": tenant, ":ticket": ticket, ":title": &*title,
        ":description": &*description, ":turns": turns,
        ":drafted_by": drafted_by.map(DraftedBy::word) },
    )
}

/// What a ticket was drafted from, if it was.
pub fn find(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Option<Original>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    read.find(sql!("conversations.sql", "find"), of, |row| {
        let turns: Vec<Kept> = row.json("turns")?;
        let turn = |kept: Kept| Turn { role: kept.role, content: kept.content };
        Ok(Original {
            title: row.get("title")?,
            description: row.get("description")?,
            turns: turns.into_iter().map(turn).collect(),
            drafted_by: row.word_or_null("drafted_by", DraftedBy::parse)?,
        })
    })
}
