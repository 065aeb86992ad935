//! Approvals: steps that start only after a person's word. Every node passes `missing` before it
//! is started, whatever brought it there, so no crash, retry or interruption leads around it.
//!
//! An approval is of what one node did: of a plan, or of the commit that a verification looked at.
//! What was sent back is done again with the reason, and has to be approved anew.

use super::record::note;
use super::rounds::{add_round, next_ordinal, rounds, rounds_max};
use super::{advance, end};
use crate::base::{Code, Fault, TenantId, TicketId, text};
use crate::projects::Project;
use crate::projects::steps::Approvals;
use crate::store::{Read, Tx};
use crate::tickets::data_operation;
use crate::tickets::node::{self, NewNode, Node};
use crate::tickets::questions::{self, Asking, Question};
use crate::tickets::states::{Decision, GraphStatus, Kind, NodeKind, NodeStatus, Pause, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line};
use crate::{params, sql};

/// Characters of a reason at most.
pub const REASON_MAX: usize = 4_000;

/// Characters of what is to be approved at most.
const SUBJECT_MAX: usize = 20_000;

/// The approval that a node needs before it may start, and the node whose work it is of. Pure.
fn needed<'a>(
    wanted: Approvals,
    kind: Kind,
    nodes: &'a [Node],
    next: &'a Node,
) -> Option<(Pause, &'a Node)> {
    let done = |kind: NodeKind| nodes.iter().rev().find(|n| n.kind == kind && n.is_done());
    if next.kind == NodeKind::Land && (wanted.land || kind == Kind::DataOperation) {
        let pause = if kind == Kind::DataOperation { Pause::Apply } else { Pause::Land };
        return Some((pause, done(NodeKind::Verification).unwrap_or(next)));
    }
    // A plan that no agent had a part in is nothing to approve.
    let plan = done(NodeKind::Plan).filter(|plan| plan.status == NodeStatus::Succeeded)?;
    let follows = next.kind != NodeKind::Plan && next.position > plan.position;
    (wanted.plan && follows).then_some((Pause::Plan, plan))
}

/// The approval that a node still lacks.
pub(super) fn missing<'a>(
    read: &Read<'_>,
    project: &Project,
    ticket: &Ticket,
    nodes: &'a [Node],
    next: &'a Node,
) -> Result<Option<(Pause, &'a Node)>, Fault> {
    let wanted = project.settings.approvals;
    let Some((pause, about)) = needed(wanted, ticket.kind, nodes, next) else { return Ok(None) };
    let (tenant, id) = (ticket.tenant, ticket.id);
    let given = questions::approved(read, tenant, id, about.id, pause)?.is_some()
        || pause == Pause::Apply && data_operation::is_applied(read, tenant, id)?;
    Ok((!given).then_some((pause, about)))
}

/// Asks for an approval. The ticket waits; its place goes to another.
pub(super) fn ask(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    pause: Pause,
    about: &Node,
) -> Result<(), Fault> {
    let asks = ask_text(ticket, pause);
    let said = about.report.as_deref().or(about.summary.as_deref()).unwrap_or_default();
    let asking = Asking {
        text: text::cut(&format!("{asks}\n\n{said}"), SUBJECT_MAX).trim_end().to_owned(),
        choices: Vec::new(),
        pause: Some(pause),
        secret: None,
    };
    questions::ask(tx, ticket.tenant, ticket.id, about.id, &asking)?;
    set_status(tx, ticket, Status::AwaitingInput)?;
    note(tx, about, Happened::Asked, &asks)
}

/// What is asked, in one sentence.
fn ask_text(ticket: &Ticket, pause: Pause) -> String {
    let named = ticket.reference();
    match pause {
        Pause::Plan => format!("May {named} be done by this plan?"),
        Pause::Apply => format!(
            "May {} change live data, as its dry run shows, and then land?",
            data_operation::script(ticket)
        ),
        Pause::Land | Pause::Hold | Pause::Unclear => {
            let base = ticket.base_branch.as_deref().unwrap_or("the base branch");
            format!("May {named} land on {base}?")
        }
    }
}

/// What a person says to an open approval.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The step that they mean.
    pub pause: Pause,
    /// What they say to it.
    pub decision: Decision,
    /// Why. A step that is sent back needs a reason: it is what the next round reads.
    pub reason: Option<&'a str>,
    /// Who, as the audit log names them.
    pub actor: &'a str,
}

/// Takes a person's word on the step that a ticket waits to have approved.
pub fn decide(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    id: TicketId,
    said: &Said<'_>,
) -> Result<Ticket, Fault> {
    let ticket = ticket::get(tx, tenant, id)?;
    let open = open(tx, &ticket, said.pause)?;
    let reason = said.reason.map(str::trim).filter(|reason| !reason.is_empty());
    if said.decision == Decision::Reject && reason.is_none() {
        let why = "sending a step back needs a reason: it is what the next round sets right";
        return Err(Fault::argument("reason", why));
    }
    if !questions::decide(tx, tenant, open.id, said.decision, reason, said.actor)? {
        return Err(Fault::new(Code::NotAwaitingInput, "Somebody else has just decided."));
    }
    set_status(tx, &ticket, Status::Queued)?;
    let about = node::find(tx, tenant, open.node)?
        .ok_or_else(|| Fault::internal("an approval is of a node that is gone"))?;
    tell(tx, &ticket, said, reason, &about)?;
    let project = super::project_of(tx, &ticket)?;
    if said.decision == Decision::Reject {
        send_back(tx, &project, &ticket, &about, reason.unwrap_or_default())?;
    }
    advance::start_waiting(tx, tenant, &project)?;
    ticket::get(tx, tenant, id)
}

/// The open approval of a step.
fn open(read: &Read<'_>, ticket: &Ticket, pause: Pause) -> Result<Question, Fault> {
    let named = ticket.reference();
    let message = match questions::open(read, ticket.tenant, ticket.id)? {
        Some(open) if open.pause == Some(pause) => return Ok(open),
        Some(Question { pause: Some(other), .. }) if other.is_approval() => {
            format!("{named} waits for an approval of another step: `{other}`.")
        }
        Some(_) => format!("{named} waits for an answer. Give it with reply_ticket."),
        None => format!("{named} waits for no approval; it is {}.", ticket.status),
    };
    Err(Fault::new(Code::NotAwaitingInput, message))
}

fn tell(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    said: &Said<'_>,
    reason: Option<&str>,
    about: &Node,
) -> Result<(), Fault> {
    let (happened, verb) = match said.decision {
        Decision::Approve => (Happened::Approved, "Approved"),
        Decision::Reject => (Happened::SentBack, "Sent back"),
    };
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let text = format!("{verb} ({}){why}", said.pause);
    let line = Line { happened, actor: said.actor, text: &text, node: Some(&about.name) };
    timeline::record(tx, ticket.tenant, ticket.id, line)
}

/// Does again what was sent back, with the reason as what is to be set right. As many rounds as a
/// check may ask for.
fn send_back(
    tx: &mut Tx<'_>,
    project: &Project,
    ticket: &Ticket,
    about: &Node,
    reason: &str,
) -> Result<(), Fault> {
    let nodes = node::list(tx, ticket.tenant, ticket.id)?;
    let most = rounds_max(tx, ticket, project)?;
    let had = match about.kind {
        NodeKind::Plan => u32::try_from(nodes.iter().filter(|n| n.kind == NodeKind::Plan).count()),
        _ => Ok(rounds(&nodes)),
    };
    let had = had.unwrap_or(u32::MAX);
    if had >= most {
        let rounds = if had == 1 { "round" } else { "rounds" };
        let why = format!("It was sent back after {had} {rounds}: {reason}");
        return end::fail(tx, ticket, Status::Failed, &why);
    }
    if about.kind != NodeKind::Plan {
        return add_round(tx, ticket.tenant, about, &nodes, reason);
    }
    let waiting = node::waiting_for(tx, about)?;
    let again = NewNode {
        ticket: ticket.id,
        position: about.position + 1,
        kind: NodeKind::Plan,
        ordinal: next_ordinal(&nodes, NodeKind::Plan),
        brief: Some(reason),
        parents: &[about.id],
    };
    let again = node::add(tx, ticket.tenant, &again)?;
    for waits in waiting {
        node::wait_for(tx, waits, about, again)?;
    }
    Ok(())
}

fn set_status(tx: &mut Tx<'_>, ticket: &Ticket, status: Status) -> Result<(), Fault> {
    tx.run_one(
        sql!("tickets.sql", "set_status"),
        params! { ":tenant": ticket.tenant, ":id": ticket.id, ":status": status.word(),
        ":graph": GraphStatus::Running.word() },
    )
}
