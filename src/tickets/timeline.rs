//! Everything that happened to a ticket, and who did it.

use crate::base::{Fault, Millis, TenantId, TicketId, text};
use crate::events::Event;
use crate::notices::mails;
use crate::notices::outbox::{self, Happening};
use crate::store::{Read, Tx};
use crate::{params, sql, words};

/// What a line of the timeline says at most, in characters.
const TEXT_MAX: usize = 2_000;

words! {
    /// What sort of thing happened.
    pub enum Happened {
        /// The ticket was filed.
        Filed = "filed",
        /// Its last parent landed.
        Unblocked = "unblocked",
        /// Its project has used its month up.
        Held = "held",
        /// A node waits to be claimed from an editor.
        Offered = "offered",
        /// An agent filed a ticket of its own beside this one.
        ChildFiled = "child_filed",
        /// A node started.
        NodeStarted = "node_started",
        /// A node ended.
        NodeEnded = "node_ended",
        /// A check asked for another round.
        AnotherRound = "another_round",
        /// An agent asked a person.
        Asked = "asked",
        /// A person answered.
        Answered = "answered",
        /// A person approved a step.
        Approved = "approved",
        /// A person sent a step back.
        SentBack = "sent_back",
        /// The server or a process went away, and a node was put back.
        Interrupted = "interrupted",
        /// The work was put on the base branch.
        Landed = "landed",
        /// The ticket ended.
        Ended = "ended",
        /// Whoever asked for it would have been told by mail, and was not.
        Untold = "untold",
        /// Somebody tried it again.
        Retried = "retried",
        /// It waits for another ticket than before.
        Repointed = "repointed",
        /// It was cancelled for its parent's sake, and waits again.
        Revived = "revived",
    }
}

impl Happened {
    /// Whether the ticket has come to another status by it, which is told.
    const fn changes_status(self) -> bool {
        matches!(
            self,
            Self::Filed
                | Self::Unblocked
                | Self::Asked
                | Self::Answered
                | Self::Approved
                | Self::SentBack
                | Self::Ended
                | Self::Retried
                | Self::Revived
        )
    }
}

/// One line of a timeline.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When.
    pub at: Millis,
    /// What sort of thing.
    pub happened: Happened,
    /// Who did it.
    pub actor: String,
    /// In words.
    pub text: String,
    /// The node it is about.
    pub node: Option<String>,
}

/// A line to be written.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// What sort of thing happened.
    pub happened: Happened,
    /// Who did it; `assay` for the server itself.
    pub actor: &'a str,
    /// In words.
    pub text: &'a str,
    /// The node it is about.
    pub node: Option<&'a str>,
}

/// The actor of what the server does by itself.
pub const SERVER: &str = "assay";

/// Writes a line, and tells who watches that the ticket changed, and where it has come to.
pub fn record(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    line: Line<'_>,
) -> Result<(), Fault> {
    let (now, said) = (tx.now(), text::cut(line.text, TEXT_MAX));
    tx.run_one(
        sql!("timeline.sql", "insert"),
        params! { ":tenant": tenant, ":ticket": ticket, ":at": now,
        ":kind": line.happened.word(), ":actor": line.actor, ":text": said, ":node": line.node },
    )?;
    tx.emit(Event::Ticket { tenant: tenant.uuid(), ticket: ticket.uuid() });
    if line.happened.changes_status() {
        outbox::tell(tx, tenant, ticket, Happening::Status, line.text)?;
    }
    if matches!(line.happened, Happened::Asked | Happened::Ended)
        && let Some(why) = mails::tell(tx, tenant, ticket)?
    {
        record_untold(tx, tenant, ticket, why)?;
    }
    Ok(())
}

/// Writes why whoever asked for a ticket is not told by mail.
pub fn record_untold(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    why: &str,
) -> Result<(), Fault> {
    let text = format!("Whoever asked for it was not told by mail: {why}");
    let line = Line { happened: Happened::Untold, actor: SERVER, text: &text, node: None };
    record(tx, tenant, ticket, line)
}

/// The newest lines, oldest first.
pub fn list(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    limit: u32,
) -> Result<Vec<Entry>, Fault> {
    let newest = sql!("timeline.sql", "list");
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": limit };
    let mut entries = read.list(newest, of, |row| {
        Ok(Entry {
            at: row.get("at")?,
            happened: row.word("kind", Happened::parse)?,
            actor: row.get("actor")?,
            text: row.get("text")?,
            node: row.get("node_ref")?,
        })
    })?;
    entries.reverse();
    Ok(entries)
}

/// How often somebody tried the ticket again.
pub fn retries(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<u32, Fault> {
    count(read, tenant, ticket, Happened::Retried)
}

/// How often a sort of thing happened to a ticket.
pub fn count(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
    happened: Happened,
) -> Result<u32, Fault> {
    let counted = read.find(
        sql!("timeline.sql", "count"),
        params! { ":tenant": tenant, ":ticket": ticket, ":kind": happened.word() },
        |row| row.get("lines"),
    )?;
    Ok(counted.unwrap_or(0))
}
