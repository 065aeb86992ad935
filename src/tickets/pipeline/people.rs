//! What people and callers do to a ticket: cancel it, answer its question.

use super::{advance, end};
use crate::base::{Code, Fault, TenantId, TicketId, text};
use crate::store::{Read, Tx};
use crate::tickets::node::{self, Node};
use crate::tickets::states::{NodeKind, NodeStatus, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line};
use crate::tickets::{landing, questions};
use crate::{params, sql};

/// Characters of an answer at most.
pub const ANSWER_MAX: usize = 20_000;

/// Cancels a ticket that has not ended.
pub fn cancel(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: TicketId,
    actor: &str,
    reason: Option<&str>,
) -> Result<Ticket, Fault> {
    let ticket = ticket::get(tx, tenant, id)?;
    if ticket.status.is_terminal() {
        let message = format!(
            "{} has already ended as {}; there is nothing to cancel.",
            ticket.reference(),
            ticket.status
        );
        return Err(Fault::new(Code::NotCancellable, message));
    }
    if is_landing(tx, &ticket)? {
        let message = format!(
            "{} is being put on its base branch at this moment; it cannot be cancelled any more.",
            ticket.reference()
        );
        return Err(Fault::new(Code::NotCancellable, message));
    }
    let why = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("Cancelled by {actor}: {}", text::cut(reason, 1_000)),
        None => format!("Cancelled by {actor}."),
    };
    end::cancel(tx, &ticket, actor, &why)?;
    ticket::get(tx, tenant, id)
}

/// Whether the base branch may move at any moment: the intent is written and its outcome is not.
pub(in crate::tickets) fn is_landing(read: &Read<'_>, ticket: &Ticket) -> Result<bool, Fault> {
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    let lands = |node: &Node| node.kind == NodeKind::Land && node.status == NodeStatus::Running;
    Ok(nodes.iter().any(lands) && landing::intended(read, ticket.tenant, ticket.id)?.is_some())
}

/// Answers the question a ticket waits on. The node that asked goes on, on the same branch.
pub fn answer(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: TicketId,
    actor: &str,
    said: &str,
) -> Result<Ticket, Fault> {
    let ticket = ticket::get(tx, tenant, id)?;
    let Some(question) = questions::open(tx, tenant, id)? else {
        let message =
            format!("{} waits for no answer; it is {}.", ticket.reference(), ticket.status);
        return Err(Fault::new(Code::NotAwaitingInput, message));
    };
    let said = said.trim();
    if said.is_empty() {
        return Err(Fault::argument("message", "an answer needs some text"));
    }
    if !questions::answer(tx, tenant, question.id, said, actor)? {
        return Err(Fault::new(Code::NotAwaitingInput, "Somebody else has just answered."));
    }
    let requeued = params! { ":tenant": tenant, ":id": question.node };
    tx.run_one(sql!("nodes.sql", "requeue"), requeued)?;
    tx.run_one(
        sql!("tickets.sql", "set_status"),
        params! { ":tenant": tenant, ":id": id, ":status": Status::Queued.word(),
        ":graph": ticket.graph_status.word() },
    )?;
    let text = format!("Answered: {}", text::cut(said, 500));
    let line = Line { happened: Happened::Answered, actor, text: &text, node: None };
    timeline::record(tx, tenant, id, line)?;
    let project = super::project_of(tx, &ticket)?;
    advance::start_waiting(tx, tenant, &project)?;
    ticket::get(tx, tenant, id)
}
