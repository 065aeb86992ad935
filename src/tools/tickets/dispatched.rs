//! What `dispatch_ticket` answers, whether it filed a ticket or found one.

use schemars::JsonSchema;
use serde::Serialize;

use super::repoint::RepointResult;
use super::wire::{self, TicketWire};
use crate::base::{Fault, TicketId};
use crate::store::Read;
use crate::tickets::duplicates::Duplicate;
use crate::tickets::{Ticket, chain};

/// How the contract names a ticket that was found by its content.
const NEAR: &str = "near_duplicate";

/// What `dispatch_ticket` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The ticket.
    pub(super) ticket: TicketWire,
    /// Only where the brief was split: its phases, the root first. `ticket` is the root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    chain: Vec<ChainEntry>,
    /// Only with `replaces`: what became of each ticket that waited for the replaced one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repointed_dependents: Option<Vec<RepointResult>>,
    /// Only where the call was folded into a ticket that was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<DuplicateInfo>,
}

/// A phase of a brief that was split.
#[derive(Debug, Serialize, JsonSchema)]
struct ChainEntry {
    /// The ticket.
    job_id: TicketId,
    /// Its title.
    title: String,
    /// Its ref.
    ticket_ref: String,
    /// The phase that it waits for; empty for the root.
    depends_on: Vec<TicketId>,
}

impl ChainEntry {
    fn of(link: chain::Link) -> Self {
        Self {
            job_id: link.ticket.id,
            ticket_ref: link.ticket.reference(),
            title: link.ticket.title,
            depends_on: link.after.into_iter().collect(),
        }
    }
}

/// Into which ticket a call was folded, and why.
#[derive(Debug, Serialize, JsonSchema)]
struct DuplicateInfo {
    /// The ticket that was there.
    existing_job_id: TicketId,
    /// Its ref.
    existing_ticket_ref: String,
    /// Why the call counts as the same.
    match_reason: String,
    /// `operation_key` for a call that was repeated, `near_duplicate` for a ticket that asks for
    /// the same.
    source: &'static str,
}

impl Output {
    /// The answer in a line.
    pub(super) fn summary(&self) -> String {
        let (named, status) = (&self.ticket.ticket_ref, self.ticket.status);
        match &self.duplicate {
            Some(same) if same.source == NEAR => same.match_reason.clone(),
            Some(_) => format!("{named} was filed by this call before; nothing new was made."),
            None if self.chain.is_empty() => format!("{named} is {status}."),
            None => {
                let count = self.chain.len();
                format!("Filed as {count} tickets in a chain; {named} is the first.")
            }
        }
    }
}

/// The answer of a call that filed a ticket.
pub(super) fn filed(read: &Read<'_>, ticket: &Ticket) -> Result<Output, Fault> {
    output(read, ticket, None)
}

/// The answer to a ticket that asks for the same, and its ref.
pub(super) fn near(read: &Read<'_>, same: &Duplicate) -> Result<(Output, String), Fault> {
    folded(read, &same.ticket, same.reason.clone(), NEAR)
}

/// The answer to a call that was made before, and the ref of its ticket.
pub(super) fn replayed(read: &Read<'_>, earlier: &Ticket) -> Result<(Output, String), Fault> {
    let reason = "A dispatch with the same operation_key made this ticket.";
    folded(read, earlier, reason.to_owned(), "operation_key")
}

fn folded(
    read: &Read<'_>,
    existing: &Ticket,
    match_reason: String,
    source: &'static str,
) -> Result<(Output, String), Fault> {
    let named = existing.reference();
    let duplicate = DuplicateInfo {
        existing_job_id: existing.id,
        existing_ticket_ref: named.clone(),
        match_reason,
        source,
    };
    Ok((output(read, existing, Some(duplicate))?, named))
}

fn output(
    read: &Read<'_>,
    ticket: &Ticket,
    duplicate: Option<DuplicateInfo>,
) -> Result<Output, Fault> {
    let links = chain::of_root(read, ticket.tenant, ticket.id)?;
    let chain = links.into_iter().map(ChainEntry::of).collect();
    let ticket = wire::ticket(read, ticket)?;
    Ok(Output { ticket, chain, repointed_dependents: None, duplicate })
}
