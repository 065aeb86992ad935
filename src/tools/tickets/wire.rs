//! The shapes that several ticket tools answer with.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::{CategoryId, Fault, Millis, ProjectId, ScopeId, TicketId};
use crate::store::Read;
use crate::tickets::states::{Kind, Status};
use crate::tickets::{Ticket, dependencies};

/// A ticket as the contract shows it: every field is there, and what is not known is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketWire {
    /// The ticket's UUID: the stable identifier for every call.
    pub id: TicketId,
    /// `KEY-N`, or `#N` where the project has no key.
    pub ticket_ref: String,
    /// The N, counted for the project.
    pub project_seq: u64,
    /// The project.
    pub project_id: ProjectId,
    /// The title.
    pub title: String,
    /// Where the ticket stands.
    pub status: Status,
    /// What sort of work it is.
    pub kind: Kind,
    /// The running pass of the fixed five; null for a ticket with a graph of its own.
    pub current_pass: Option<u32>,
    /// The commit on the base branch, once it has landed.
    pub commit_sha: Option<String>,
    /// The branch it is worked on, once it has started.
    pub branch_name: Option<String>,
    /// Why it failed or ran out of time.
    pub failure_reason: Option<String>,
    /// How it was dispatched.
    pub ticket_source: Option<String>,
    /// When it was filed. ISO 8601, UTC.
    pub created_at: Option<String>,
    /// When work on it began. ISO 8601, UTC.
    pub started_at: Option<String>,
    /// When it ended. ISO 8601, UTC.
    pub completed_at: Option<String>,
    /// The tickets it waits for.
    pub depends_on: Vec<TicketId>,
    /// The batch it was dispatched in.
    pub scope_id: Option<ScopeId>,
    /// Who asked for it.
    pub requester_display_name: Option<String>,
    /// Their e-mail address.
    pub requester_email: Option<String>,
    /// Their picture.
    pub requester_avatar_url: Option<String>,
    /// Where they asked.
    pub requester_channel: Option<String>,
    /// An opaque pointer back to there.
    pub requester_external_ref: Option<String>,
    /// The category.
    pub category_id: Option<CategoryId>,
    /// Its label; a deleted one ends with ` (deleted)`.
    pub category_label: Option<String>,
    /// Whether it has been deleted.
    pub category_deleted: bool,
}

/// A ticket in the shape of the contract.
pub fn ticket(read: &Read<'_>, ticket: &Ticket) -> Result<TicketWire, Fault> {
    let depends_on = dependencies::parent_ids(read, ticket.tenant, ticket.id)?;
    Ok(ticket_with(ticket, depends_on))
}

/// The same, where it is known already what the ticket waits for.
pub fn ticket_with(ticket: &Ticket, depends_on: Vec<TicketId>) -> TicketWire {
    let category = ticket.category.as_ref();
    let requester = ticket.requester.clone();
    TicketWire {
        id: ticket.id,
        ticket_ref: ticket.reference(),
        project_seq: ticket.seq,
        project_id: ticket.project,
        title: ticket.title.clone(),
        status: ticket.status,
        kind: ticket.kind,
        current_pass: ticket.current_pass,
        commit_sha: ticket.commit_sha.clone(),
        branch_name: ticket.branch.clone(),
        failure_reason: ticket.failure_reason.clone(),
        ticket_source: ticket.source.clone(),
        created_at: Some(ticket.created_at.iso()),
        started_at: ticket.started_at.map(Millis::iso),
        completed_at: ticket.completed_at.map(Millis::iso),
        depends_on,
        scope_id: ticket.scope,
        requester_display_name: requester.name,
        requester_email: requester.email,
        requester_avatar_url: requester.avatar_url,
        requester_channel: requester.channel,
        requester_external_ref: requester.external_ref,
        category_id: category.map(|category| category.id),
        category_label: category.map(|category| {
            let mark = if category.deleted { " (deleted)" } else { "" };
            format!("{}{mark}", category.name)
        }),
        category_deleted: category.is_some_and(|category| category.deleted),
    }
}

/// The answer that is one ticket.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OneTicket {
    /// The ticket as it now stands.
    pub ticket: TicketWire,
}
