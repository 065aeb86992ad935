//! A brief that was split when it was filed: its phases are tickets, each waiting for the one
//! before it. The first is the root, and stands for the whole wherever one ticket is named.

use super::dispatch::{DESCRIPTION_MAX, Dispatch};
use super::scope::{Phase, Scope};
use super::ticket::Ticket;
use crate::base::{Fault, TenantId, TicketId};
use crate::projects::Project;
use crate::store::{Read, Tx, to_int};
use crate::{params, sql};

/// The phases of a chain at most.
const LINKS_MAX: u32 = 100;

/// A ticket of a chain.
#[derive(Debug, Clone)]
pub struct Link {
    /// The ticket.
    pub ticket: Ticket,
    /// The phase that it waits for; none for the root.
    pub after: Option<TicketId>,
}

/// The phases that a call is filed as, the root first; none where it is one ticket.
pub(super) fn phases(project: &Project, asked: &Dispatch) -> Vec<Phase> {
    let scope = Scope::of(&asked.description);
    let limit = usize::try_from(project.settings.dispatch.split_above).unwrap_or(usize::MAX);
    // What is attached belongs to the whole, and so does the branch that it starts from.
    let is_bound = asked.attached.is_some() || asked.seed_from_ref.is_some();
    if asked.no_split || asked.predrafted || is_bound || scope.nodes <= limit {
        return Vec::new();
    }
    let phases = scope.phases(&asked.title);
    // What is common to all phases is in each of them; where it is nearly all, the whole stays.
    let is_too_long = |phase: &Phase| phase.description.chars().count() > DESCRIPTION_MAX;
    if phases.iter().any(is_too_long) { Vec::new() } else { phases }
}

/// What a phase after the root is asked as.
pub(super) fn asked_as(asked: &Dispatch, phase: &Phase, before: Option<&Ticket>) -> Dispatch {
    let mut own = Dispatch {
        title: phase.title.clone(),
        description: phase.description.clone(),
        ..asked.clone()
    };
    if let Some(before) = before {
        own.operation_key = None;
        own.replaces = None;
        own.depends_on = Vec::new();
        let reason = format!("Goes on from what {} landed: {}", before.reference(), before.title);
        own.depends_on_reason = Some(reason);
    }
    own
}

/// Writes down that these tickets are the phases of what was asked.
pub(super) fn record(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    asked: &Dispatch,
    tickets: &[Ticket],
) -> Result<(), Fault> {
    let Some(root) = tickets.first() else { return Ok(()) };
    tx.run_one(
        sql!("chains.sql", "insert"),
        params! { ":tenant": tenant, ":root": root.id, ":title": asked.title,
        ":description": asked.description },
    )?;
    for (position, ticket) in (1_u64..).zip(tickets) {
        tx.run_one(
            sql!("chains.sql", "add_phase"),
            params! { ":tenant": tenant, ":root": root.id, ":position": to_int(position),
            ":ticket": ticket.id },
        )?;
    }
    Ok(())
}

/// The chain of which this ticket is the root, in its order; empty for any other ticket.
pub fn of_root(read: &Read<'_>, tenant: TenantId, root: TicketId) -> Result<Vec<Link>, Fault> {
    let of = params! { ":tenant": tenant, ":root": root, ":limit": LINKS_MAX };
    let tickets = read.list(sql!("chains.sql", "phases"), of, Ticket::from_row)?;
    let mut before = None;
    let link = |ticket: Ticket| {
        let after = before.replace(ticket.id);
        Link { ticket, after }
    };
    Ok(tickets.into_iter().map(link).collect())
}
