//! What people and callers do to a ticket: cancel it, answer its question, give it a secret.

use super::{advance, end};
use crate::base::{Code, Fault, NextAction, Secret, TenantId, TicketId, text};
use crate::store::{Read, Tx};
use crate::tickets::data_operation::{self, RunState};
use crate::tickets::node::{self, Node};
use crate::tickets::questions::Question;
use crate::tickets::secrets::links::{self, Found};
use crate::tickets::secrets::{self, SealedValue};
use crate::tickets::states::{NodeKind, NodeStatus, Pause, Status};
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
    if let Some(what) = cannot_be_stopped(tx, &ticket)? {
        let message = format!("{} {what}; it cannot be cancelled any more.", ticket.reference());
        return Err(Fault::new(Code::NotCancellable, message));
    }
    let why = match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("Cancelled by {actor}: {}", text::cut(reason, 1_000)),
        None => format!("Cancelled by {actor}."),
    };
    end::cancel(tx, &ticket, actor, &why)?;
    ticket::get(tx, tenant, id)
}

/// What of a ticket cannot be called back: the base branch has moved or may at any moment, or its
/// script is changing live data. The intent is written and its outcome is not.
pub(in crate::tickets) fn cannot_be_stopped(
    read: &Read<'_>,
    ticket: &Ticket,
) -> Result<Option<&'static str>, Fault> {
    let (tenant, id) = (ticket.tenant, ticket.id);
    if landing::landed(read, tenant, id)?.is_some() {
        return Ok(Some("is on its base branch already"));
    }
    let nodes = node::list(read, tenant, id)?;
    let lands = |node: &Node| node.kind == NodeKind::Land && node.status == NodeStatus::Running;
    if !nodes.iter().any(lands) {
        return Ok(None);
    }
    let run = data_operation::newest(read, tenant, id)?;
    Ok(if landing::intended(read, tenant, id)?.is_some() {
        Some("is being put on its base branch at this moment")
    } else if run.is_some_and(|run| run.state == RunState::Intended) {
        Some("is changing live data at this moment")
    } else {
        None
    })
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
    if let Some(name) = &question.secret {
        return Err(through_link(&ticket, name));
    }
    let said = said.trim();
    if said.is_empty() {
        return Err(Fault::argument("message", "an answer needs some text"));
    }
    match question.pause {
        Some(pause) if pause.is_approval() => {
            let message = format!(
                "{} waits for an approval (`{pause}`), which is more than an answer: give it with \
                 approve_ticket or on the ticket's page.",
                ticket.reference()
            );
            return Err(Fault::new(Code::NotAwaitingInput, message));
        }
        Some(Pause::Unclear) => settle_run(tx, &ticket, said)?,
        _ => {}
    }
    if !questions::answer(tx, tenant, question.id, said, actor)? {
        return Err(Fault::new(Code::NotAwaitingInput, "Somebody else has just answered."));
    }
    let text = format!("Answered: {}", text::cut(said, 500));
    go_on(tx, &ticket, &question, actor, &text)
}

/// Takes a secret through its link. The node that asked goes on, on the same branch. `None` where
/// the link is not good, or not any more: somebody was quicker.
pub fn give_secret(
    tx: &mut Tx<'_>,
    token: &Secret,
    value: &SealedValue,
    actor: &str,
) -> Result<Option<Ticket>, Fault> {
    let Found::Open(link) = links::find(tx, token)? else { return Ok(None) };
    let (tenant, id, name) = (link.ticket.tenant, link.ticket.id, link.name);
    let Some(question) = questions::open(tx, tenant, id)? else { return Ok(None) };
    let said = format!("It is in the environment variable {name}.");
    if !links::consume(tx, tenant, token)?
        || !questions::answer(tx, tenant, question.id, &said, actor)?
    {
        return Ok(None);
    }
    secrets::keep(tx, tenant, id, &name, value, actor)?;
    let text = format!("{name} was given through its link.");
    go_on(tx, &link.ticket, &question, actor, &text).map(Some)
}

/// Puts the node that asked back among those that may start.
fn go_on(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    question: &Question,
    actor: &str,
    text: &str,
) -> Result<Ticket, Fault> {
    let (tenant, id) = (ticket.tenant, ticket.id);
    let requeued = params! { ":tenant": tenant, ":id": question.node };
    tx.run_one(sql!("nodes.sql", "requeue"), requeued)?;
    tx.run_one(
        sql!("tickets.sql", "set_status"),
        params! { ":tenant": tenant, ":id": id, ":status": Status::Queued.word(),
        ":graph": ticket.graph_status.word() },
    )?;
    let line = Line { happened: Happened::Answered, actor, text, node: None };
    timeline::record(tx, tenant, id, line)?;
    let project = super::project_of(tx, ticket)?;
    advance::start_waiting(tx, tenant, &project)?;
    ticket::get(tx, tenant, id)
}

/// Where a secret is given that somebody would put into an answer.
fn through_link(ticket: &Ticket, name: &str) -> Fault {
    let (named, page) = (ticket.reference(), ticket.page());
    let message = format!(
        "{named} waits for the secret {name}, which no message may hold: nothing of yours was \
         kept. A person gives it on the ticket's page, {page}, or through a link that \
         create_secret_link makes."
    );
    Fault::new(Code::SecretThroughLink, message).next(NextAction::Open(format!("{page}#question")))
}

/// The answers to whether a script ran that was cut short.
pub const WAS_APPLIED: &str = "It was applied";
/// See [`WAS_APPLIED`].
pub const WAS_NOT_APPLIED: &str = "It was not applied";

/// Takes a person's word on a run that nobody saw the end of.
fn settle_run(tx: &mut Tx<'_>, ticket: &Ticket, said: &str) -> Result<(), Fault> {
    let state = match said {
        WAS_APPLIED => RunState::Applied,
        WAS_NOT_APPLIED => RunState::Abandoned,
        _ => {
            let expected = format!("expected {WAS_APPLIED:?} or {WAS_NOT_APPLIED:?}");
            return Err(Fault::argument("message", expected));
        }
    };
    data_operation::settle(tx, ticket.tenant, ticket.id, state)
}
