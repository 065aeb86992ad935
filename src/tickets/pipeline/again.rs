//! Trying a ticket again that did not land.

use super::rounds::{add_round, next_ordinal};
use super::{advance, people};
use crate::base::{Code, Fault, TenantId, TicketId};
use crate::store::Tx;
use crate::tickets::node::{self, NewNode, Node};
use crate::tickets::states::{NodeStatus, Pause, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line};
use crate::tickets::{contract, dependencies, duplicates, questions};
use crate::{params, sql};

/// What is answered to a step that waits until something is out of its way.
pub const GO_ON: &str = "Go on";

/// Whether the ticket waits to be told that what stood in its way is gone.
fn is_held(tx: &Tx<'_>, ticket: &Ticket) -> Result<bool, Fault> {
    if ticket.status != Status::AwaitingInput {
        return Ok(false);
    }
    let open = questions::open(tx, ticket.tenant, ticket.id)?;
    Ok(open.is_some_and(|open| open.pause == Some(Pause::Hold)))
}

/// Tries a ticket again that did not land, from its branch as it stands. One that waits until
/// something is out of its way goes on.
pub fn retry(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: TicketId,
    actor: &str,
) -> Result<Ticket, Fault> {
    let ticket = ticket::get(tx, tenant, id)?;
    if is_held(tx, &ticket)? {
        return people::answer(tx, tenant, id, actor, GO_ON);
    }
    if !matches!(ticket.status, Status::Failed | Status::Timeout | Status::Cancelled) {
        let message = format!(
            "{} is {}; only a failed, timed-out or cancelled ticket can be tried again.",
            ticket.reference(),
            ticket.status
        );
        return Err(Fault::new(Code::NotRetryable, message));
    }
    let blocked = dependencies::unmet(tx, tenant, id)? > 0;
    let status = if blocked { Status::Blocked } else { Status::Queued };
    tx.run_one(
        sql!("tickets.sql", "reopen"),
        params! { ":tenant": tenant, ":id": id, ":status": status.word() },
    )?;
    reopen_graph(tx, &ticket)?;
    contract::resolve_landing_actions(tx, tenant, id)?;
    let line = Line {
        happened: Happened::Retried,
        actor,
        text: "Tried again from its branch.",
        node: None,
    };
    timeline::record(tx, tenant, id, line)?;
    let project = super::project_of(tx, &ticket)?;
    advance::start_waiting(tx, tenant, &project)?;
    ticket::get(tx, tenant, id)
}

/// Nodes that never started start as they are; a node that ended badly gets a successor; a check
/// that was not satisfied gets another round of work.
pub(super) fn reopen_graph(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    duplicates::remember_again(tx, ticket)?;
    let of = params! { ":tenant": ticket.tenant, ":ticket": ticket.id };
    tx.run(sql!("nodes.sql", "reopen_cancelled"), of)?;
    let nodes = node::list(tx, ticket.tenant, ticket.id)?;
    let Some(stopped) = stopped_at(&nodes) else { return Ok(()) };
    if stopped.wants_round {
        let findings = stopped.failure_reason.as_deref().unwrap_or_default();
        add_round(tx, ticket.tenant, stopped, &nodes, findings)
    } else {
        succeed_with(tx, ticket, stopped, &nodes)
    }
}

/// The node at which a ticket stopped: the last one that ended badly and has no successor.
fn stopped_at(nodes: &[Node]) -> Option<&Node> {
    nodes.iter().rev().find(|node| {
        let ended_badly = matches!(node.status, NodeStatus::Failed | NodeStatus::Cancelled);
        let has_successor =
            nodes.iter().any(|n| n.kind == node.kind && n.ordinal() > node.ordinal());
        node.attempt > 0 && ended_badly && !has_successor
    })
}

/// Adds a node of the same kind in the place of one that ended badly.
fn succeed_with(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    stopped: &Node,
    nodes: &[Node],
) -> Result<(), Fault> {
    let waiting = node::waiting_for(tx, stopped)?;
    let successor = node::add(
        tx,
        ticket.tenant,
        &NewNode {
            ticket: ticket.id,
            position: stopped.position + 1,
            kind: stopped.kind,
            ordinal: next_ordinal(nodes, stopped.kind),
            brief: stopped.brief.as_deref(),
            parents: &[stopped.id],
        },
    )?;
    for waits in waiting {
        node::wait_for(tx, waits, stopped, successor)?;
    }
    Ok(())
}
