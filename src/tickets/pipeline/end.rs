//! How a ticket ends, and what that means for the tickets that wait for it.

use super::advance::start_waiting;
use super::claim;
use crate::accounts::keys;
use crate::base::{Fault, TenantId, TicketId, text};
use crate::jobs;
use crate::store::Tx;
use crate::tickets::contract;
use crate::tickets::dependencies;
use crate::tickets::landing;
use crate::tickets::node;
use crate::tickets::questions;
use crate::tickets::secrets;
use crate::tickets::states::{AssertionState, GraphStatus, NodeKind, NodeStatus, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line, SERVER};
use crate::{params, sql};

/// Characters of a failure reason at most.
const REASON_MAX: usize = 4_000;

/// Characters of a completion summary at most.
const SUMMARY_MAX: usize = 4_000;

/// Ends a landed ticket and lets its children go.
pub(super) fn succeed(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    let summary = summary(tx, ticket)?;
    let words = End {
        status: Status::Succeeded,
        graph: GraphStatus::Succeeded,
        reason: None,
        summary: Some(&summary),
        lost_parent: None,
        actor: SERVER,
        said: "Succeeded.",
    };
    if !close(tx, ticket, &words)? {
        return Ok(());
    }
    let said = format!("{} landed; nothing is left to wait for.", ticket.reference());
    let mut after = 0;
    loop {
        let some = dependencies::blocked_children(tx, ticket.tenant, ticket.id, after)?;
        let Some(last) = some.last() else { break };
        after = last.n;
        for child in some {
            release(tx, &child, &said)?;
        }
    }
    start_next(tx, ticket)
}

/// Lets a blocked ticket go if all that it waits for has landed.
pub(super) fn release(tx: &mut Tx<'_>, child: &Ticket, said: &str) -> Result<(), Fault> {
    if dependencies::unmet(tx, child.tenant, child.id)? > 0 {
        return Ok(());
    }
    tx.run_one(
        sql!("tickets.sql", "set_status"),
        params! { ":tenant": child.tenant, ":id": child.id, ":status": Status::Queued.word(),
        ":graph": GraphStatus::Ready.word() },
    )?;
    let line = Line { happened: Happened::Unblocked, actor: SERVER, text: said, node: None };
    timeline::record(tx, child.tenant, child.id, line)?;
    start_next(tx, child)
}

/// Ends a ticket that will not land, and the tickets that wait for it.
pub(super) fn fail(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    status: Status,
    reason: &str,
) -> Result<(), Fault> {
    if landing::landed(tx, ticket.tenant, ticket.id)?.is_some() {
        // The work is on the base branch, whatever happened after that.
        return succeed(tx, ticket);
    }
    let reason = text::cut(reason, REASON_MAX);
    let said = format!("Ended as {status}: {}", text::first_line(&reason));
    let words = End {
        status,
        graph: GraphStatus::Failed,
        reason: Some(&reason),
        summary: None,
        lost_parent: None,
        actor: SERVER,
        said: &said,
    };
    if close(tx, ticket, &words)? {
        cancel_children(tx, ticket)?;
        start_next(tx, ticket)?;
    }
    Ok(())
}

/// Ends a ticket that has crossed a limit.
pub(in crate::tickets) fn time_out(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    reason: &str,
) -> Result<(), Fault> {
    fail(tx, ticket, Status::Timeout, reason)
}

/// Cancels a ticket. `why` is what its page and answer say. The tickets that wait for it stay
/// blocked: its caller may mean to file it anew.
pub(super) fn cancel(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    actor: &str,
    why: &str,
) -> Result<bool, Fault> {
    cancel_for(tx, ticket, actor, why, None)
}

fn cancel_for(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    actor: &str,
    why: &str,
    lost_parent: Option<TicketId>,
) -> Result<bool, Fault> {
    let said = format!("Cancelled. {why}");
    let words = End {
        status: Status::Cancelled,
        graph: GraphStatus::Cancelled,
        reason: None,
        summary: Some(why),
        lost_parent,
        actor,
        said: said.trim(),
    };
    let closed = close(tx, ticket, &words)?;
    if closed {
        start_next(tx, ticket)?;
    }
    Ok(closed)
}

/// What waited only for a ticket that will not land can never start: it is cancelled, and so on
/// down.
fn cancel_children(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    let mut lost = vec![ticket.clone()];
    while let Some(parent) = lost.pop() {
        let why = format!("It waited for {}, which did not land.", parent.reference());
        loop {
            // Those that were cancelled are blocked no more.
            let some = dependencies::blocked_children(tx, parent.tenant, parent.id, 0)?;
            if some.is_empty() {
                break;
            }
            for child in some {
                cancel_for(tx, &child, SERVER, &why, Some(parent.id))?;
                lost.push(child);
            }
        }
    }
    Ok(())
}

struct End<'a> {
    status: Status,
    graph: GraphStatus,
    reason: Option<&'a str>,
    summary: Option<&'a str>,
    lost_parent: Option<TicketId>,
    actor: &'a str,
    said: &'a str,
}

/// Writes the end, once: stops what runs, closes what is open. `false` where it had ended already.
fn close(tx: &mut Tx<'_>, ticket: &Ticket, end: &End<'_>) -> Result<bool, Fault> {
    let (tenant, id, now) = (ticket.tenant, ticket.id, tx.now());
    let closed = tx.run(
        sql!("tickets.sql", "finish"),
        params! { ":tenant": tenant, ":id": id, ":status": end.status.word(),
        ":graph": end.graph.word(), ":failure_reason": end.reason,
        ":completion_summary": end.summary, ":lost_parent": end.lost_parent, ":now": now },
    )?;
    if closed == 0 {
        return Ok(false);
    }
    stop_jobs(tx, tenant, id)?;
    // Where a crash took the run, nobody else is left to end the key of its agent.
    keys::revoke_of_ticket(tx, tenant, id)?;
    claim::end_of_ticket(tx, tenant, id)?;
    let of = params! { ":tenant": tenant, ":ticket": id, ":now": now };
    tx.run(sql!("nodes.sql", "cancel_open"), of)?;
    questions::close(tx, tenant, id)?;
    secrets::erase(tx, tenant, id)?;
    if end.status == Status::Succeeded {
        contract::resolve_landing_actions(tx, tenant, id)?;
    }
    let line = Line { happened: Happened::Ended, actor: end.actor, text: end.said, node: None };
    timeline::record(tx, tenant, id, line)?;
    Ok(true)
}

/// Asks the jobs of a ticket's open nodes to stop. The job that records the end is one of them; its
/// own node is closed by then, and asking it does no harm.
fn stop_jobs(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    for node in node::list(tx, tenant, ticket)? {
        if let (false, Some(job)) = (node.status.is_terminal(), node.job) {
            jobs::cancel(tx, tenant, job)?;
        }
    }
    Ok(())
}

/// A ticket that ended leaves its place to the project's next.
fn start_next(tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), Fault> {
    let project = super::project_of(tx, ticket)?;
    start_waiting(tx, ticket.tenant, &project)
}

/// What was done, how it was checked, and where it is: the digest of a ticket that landed.
fn summary(tx: &Tx<'_>, ticket: &Ticket) -> Result<String, Fault> {
    let landed = ticket::get(tx, ticket.tenant, ticket.id)?;
    let nodes = node::list(tx, ticket.tenant, ticket.id)?;
    let done = nodes
        .iter()
        .rev()
        .filter(|node| node.kind == NodeKind::Implement && node.status == NodeStatus::Succeeded)
        .find_map(|node| node.summary.as_deref());
    let mut parts = vec![done.unwrap_or(&landed.title).trim().to_owned()];
    let assertions = contract::assertions(tx, ticket.tenant, ticket.id)?;
    if !assertions.is_empty() {
        let met = assertions.iter().filter(|a| a.state == AssertionState::Confirmed).count();
        parts.push(format!("Verified: {met} of {} assertions confirmed.", assertions.len()));
    }
    if let (Some(commit), Some(base)) = (&landed.commit_sha, &landed.base_branch) {
        parts.push(format!("Merged to {base} at {}.", short(commit)));
    }
    let sentences: Vec<String> = parts.into_iter().map(closed_sentence).collect();
    Ok(text::cut(&sentences.join(" "), SUMMARY_MAX))
}

fn closed_sentence(part: String) -> String {
    if part.ends_with(['.', '!', '?', '…']) { part } else { format!("{part}.") }
}

/// A commit as people read it: its first 12 characters.
#[must_use]
pub fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
