//! What happened to a node, as facts. Each function is one transaction: the fact, what it adds up
//! to for the ticket, and the job that comes next.

use super::decide::{Step, Verdict, decide};
use super::rounds::{add_landing, add_round, rounds, rounds_max};
use super::{advance, end, plan};
use crate::base::{Fault, NodeId, TenantId, TicketId, text};
use crate::notices::outbox::{self, Happening};
use crate::store::{Hash, Read, Tx, to_int};
use crate::tickets::landing;
use crate::tickets::limits;
use crate::tickets::node::{self, Node};
use crate::tickets::questions::{self, Asking};
use crate::tickets::states::{GraphStatus, NodeKind, NodeStatus, Origin, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line, SERVER};
use crate::{params, sql};

/// How often a node is put back because the server or its process went away. It is counted for each
/// node, so a ticket that comes on between the interruptions is never ended by them. A server that
/// stops in good order hands its nodes back, which does not count.
pub const INTERRUPTIONS_MAX: u64 = 10;

/// Characters of a phase summary at most.
const SUMMARY_MAX: usize = 2_000;

/// Where a ticket is worked on.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The branch of its own.
    pub branch: String,
    /// The branch it lands on.
    pub base_branch: String,
    /// The commit its branch was made from.
    pub base_commit: String,
}

/// What is told when a ticket that waited is worked on.
pub(super) const WORK_GOES_ON: &str = "It is being worked on.";

/// Notes that a node starts. `None` where it no longer may: its ticket ended or waits.
pub fn start(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node_id: NodeId,
    agent: Option<&str>,
) -> Result<Option<(Ticket, Node)>, Fault> {
    let Some(node) = node::find(tx, tenant, node_id)? else { return Ok(None) };
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    if !has_place(tx, &ticket)? {
        return Ok(None);
    }
    let now = tx.now();
    let begun = tx.run(
        sql!("tickets.sql", "start"),
        params! { ":tenant": tenant, ":id": node.ticket, ":now": now },
    )?;
    let started = params! { ":tenant": tenant, ":id": node_id, ":agent": agent, ":now": now };
    if begun == 0
        || tx.find(sql!("nodes.sql", "start"), started, |row| row.get::<u32>("attempt"))?.is_none()
    {
        return Ok(None);
    }
    if let Some(pass) = current_pass(tx, &node)? {
        let set = params! { ":tenant": tenant, ":id": node.ticket, ":pass": pass };
        tx.run_one(sql!("tickets.sql", "set_pass"), set)?;
    }
    if ticket.status != Status::Running {
        outbox::tell(tx, tenant, node.ticket, Happening::Status, WORK_GOES_ON)?;
    }
    let by = agent.map_or_else(String::new, |agent| format!(" with agent {agent}"));
    note(tx, &node, Happened::NodeStarted, &format!("{} started{by}.", node.name))?;
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    let node = node::find(tx, tenant, node_id)?;
    Ok(node.map(|node| (ticket, node)))
}

/// The pass that a node is of, in a ticket of the fixed five. The checks and the landing after them
/// belong to the last.
fn current_pass(read: &Read<'_>, node: &Node) -> Result<Option<u32>, Fault> {
    let ticket = ticket::get(read, node.tenant, node.ticket)?;
    let passes = plan::FIVE_PASSES.iter().position(|kind| *kind == node.kind);
    let pass = passes.and_then(|at| u32::try_from(at + 1).ok());
    Ok(pass.filter(|_| ticket.origin == Origin::FivePassV1))
}

/// Whether a node's ticket runs or may begin to: others may have taken the project's places since
/// its job was enqueued. It is started once one of them ends or waits.
fn has_place(tx: &Tx<'_>, ticket: &Ticket) -> Result<bool, Fault> {
    if ticket.status != Status::Queued {
        return Ok(true);
    }
    let project = super::project_of(tx, ticket)?;
    Ok(advance::places(tx, &project)? > 0)
}

/// Notes where a ticket is worked on, once that is made.
pub fn set_workspace(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    workspace: &Workspace,
) -> Result<(), Fault> {
    tx.run_one(
        sql!("tickets.sql", "set_workspace"),
        params! { ":tenant": tenant, ":id": ticket, ":branch": workspace.branch,
        ":base_branch": workspace.base_branch, ":base_commit": workspace.base_commit },
    )
}

/// Notes the tip of the branch when a node first began, and says which that was: what stands on the
/// branch beyond it is the node's own, also from a start that was cut short.
pub fn begin_on(tx: &mut Tx<'_>, node: &Node, head: &str) -> Result<String, Fault> {
    let of = params! { ":tenant": node.tenant, ":id": node.id, ":head": head };
    let began = tx.find(sql!("nodes.sql", "begin_on"), of, |row| row.get("began_on"))?;
    began.ok_or_else(|| Fault::internal("a node that runs is gone"))
}

/// Puts a started node back, for its job to try again in a while. `why` is what kept it from going
/// on.
pub fn put_back(tx: &mut Tx<'_>, tenant: TenantId, node: &Node, why: &str) -> Result<(), Fault> {
    let of = params! { ":tenant": tenant, ":id": node.id, ":attempt": node.attempt };
    if tx.run(sql!("nodes.sql", "put_back"), of)? == 0 {
        return Ok(());
    }
    let said = format!("{} is put back and tried again: {}", node.name, text::first_line(why));
    note(tx, node, Happened::Interrupted, &said)
}

/// Whether the record still waits for this start of the node: nothing ended or restarted it
/// meanwhile.
pub fn is_current(read: &Read<'_>, node: &Node) -> Result<bool, Fault> {
    let now = node::find(read, node.tenant, node.id)?;
    Ok(now.is_some_and(|now| now.status == NodeStatus::Running && now.attempt == node.attempt))
}

/// Notes what a start of a node used up and left that was stopped before it had a result.
pub fn cut_short(tx: &mut Tx<'_>, tenant: TenantId, node: &Node, left: &Left) -> Result<(), Fault> {
    let noted = tx.run(
        sql!("nodes.sql", "cut_short"),
        params! { ":tenant": tenant, ":id": node.id, ":attempt": node.attempt,
        ":model": left.model, ":log": left.log, ":log_lines": to_int(left.log_lines),
        ":turns": to_int(left.turns), ":input": to_int(left.input_tokens),
        ":output": to_int(left.output_tokens), ":cost": to_int(left.cost_micros) },
    )?;
    if noted == 0 {
        return Ok(());
    }
    add_up(tx, tenant, node, left)
}

/// Adds what a node's run used up and left to its ticket.
fn add_up(tx: &mut Tx<'_>, tenant: TenantId, node: &Node, left: &Left) -> Result<(), Fault> {
    let summary = left.summary.as_deref().map(|text| text::cut(text, SUMMARY_MAX));
    tx.run_one(
        sql!("tickets.sql", "add_usage"),
        params! { ":tenant": tenant, ":id": node.ticket, ":turns": to_int(left.turns),
        ":input": to_int(left.input_tokens), ":output": to_int(left.output_tokens),
        ":summary": summary },
    )?;
    limits::add(tx, node, left)?;
    match left.checkpoint_commits {
        Some(commits) => tx.run_one(
            sql!("tickets.sql", "set_checkpoint"),
            params! { ":tenant": tenant, ":id": node.ticket, ":commits": to_int(commits) },
        ),
        None => Ok(()),
    }
}

/// Notes that a node's job was given up, where no run is left to say it.
pub fn lose(tx: &mut Tx<'_>, tenant: TenantId, node_id: NodeId, reason: &str) -> Result<(), Fault> {
    let Some(node) = node::find(tx, tenant, node_id)? else { return Ok(()) };
    if node.status.is_terminal() || node.status == NodeStatus::AwaitingInput {
        return Ok(());
    }
    if landing::intended(tx, tenant, node.ticket)?.is_some() {
        // The base may have moved already. The sweep starts it again, until that is known.
        return tx.run_one(
            sql!("nodes.sql", "requeue_any"),
            params! { ":tenant": tenant, ":id": node_id },
        );
    }
    let started = params! { ":tenant": tenant, ":id": node_id, ":agent": node.agent,
    ":now": tx.now() };
    tx.find(sql!("nodes.sql", "start"), started, |_| Ok(()))?;
    let Some(node) = node::find(tx, tenant, node_id)? else { return Ok(()) };
    let verdict = Verdict::Bad { reason: reason.to_owned() };
    finish(tx, tenant, &node, verdict, &Left::default())?;
    Ok(())
}

/// What a node's run left behind.
#[derive(Debug, Clone, Default)]
pub struct Left {
    /// One paragraph on what was done or found.
    pub summary: Option<String>,
    /// The whole report, as Markdown.
    pub report: Option<String>,
    /// The model that did it.
    pub model: Option<String>,
    /// The log.
    pub log: Option<Hash>,
    /// Lines in the log.
    pub log_lines: u64,
    /// The exit code of the process.
    pub exit_code: Option<i32>,
    /// Agent turns.
    pub turns: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar.
    pub cost_micros: u64,
    /// Commits on the branch that are not on the base.
    pub checkpoint_commits: Option<u64>,
    /// The tip of the branch that a check looked at.
    pub head: Option<String>,
}

/// Notes how a node ended, and takes the ticket to its next step. `false` where the result came too
/// late: the node was cancelled or started anew meanwhile, and nothing was changed.
pub fn finish(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node: &Node,
    verdict: Verdict,
    left: &Left,
) -> Result<bool, Fault> {
    if !close(tx, tenant, node, &verdict, left)? {
        return Ok(false);
    }
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    let project = super::project_of(tx, &ticket)?;
    let nodes = node::list(tx, tenant, ticket.id)?;
    let (rounds, rounds_max) = (rounds(&nodes), rounds_max(tx, &ticket, &project)?);
    let step = decide(node.kind, verdict, rounds, rounds_max);
    match limits::bounded(tx, &ticket, &project, node.kind, step)? {
        Step::GoOn if is_last(tx, node)? => end::succeed(tx, &ticket)?,
        Step::GoOn => advance(tx, tenant, ticket.id)?,
        Step::Again { with, findings } => {
            add_landing(tx, tenant, node, &nodes, with, &findings)?;
            advance(tx, tenant, ticket.id)?;
        }
        Step::AnotherRound { findings } => {
            let said = format!("{} asked for another round.", node.name);
            note(tx, node, Happened::AnotherRound, &said)?;
            add_round(tx, tenant, node, &nodes, &findings)?;
            advance(tx, tenant, ticket.id)?;
        }
        Step::Fail { reason } => end::fail(tx, &ticket, Status::Failed, &reason)?,
        Step::TimeOut { reason } => end::fail(tx, &ticket, Status::Timeout, &reason)?,
    }
    Ok(true)
}

/// Whether a ticket has succeeded once this node is done well.
fn is_last(read: &Read<'_>, node: &Node) -> Result<bool, Fault> {
    Ok(match node.kind {
        NodeKind::DeployVerify => true,
        NodeKind::Land => node::waiting_for(read, node)?.is_empty(),
        _ => false,
    })
}

/// Closes the node's row, if it is still this start's to close.
fn close(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node: &Node,
    verdict: &Verdict,
    left: &Left,
) -> Result<bool, Fault> {
    let (status, reason) = match verdict {
        Verdict::Good => (NodeStatus::Succeeded, None),
        Verdict::NotNeeded => (NodeStatus::Skipped, None),
        Verdict::NotYet { findings: reason }
        | Verdict::Outdated { findings: reason, .. }
        | Verdict::Bad { reason }
        | Verdict::OutOfTime { reason } => (NodeStatus::Failed, Some(reason.as_str())),
    };
    let wants_round = matches!(verdict, Verdict::NotYet { .. });
    if !write(tx, tenant, node, Closing { status, reason, wants_round }, left)? {
        return Ok(false);
    }
    add_up(tx, tenant, node, left)?;
    let said = match reason {
        Some(reason) => format!("{} failed: {}", node.name, text::first_line(reason)),
        None => format!("{} done.", node.name),
    };
    note(tx, node, Happened::NodeEnded, &said)?;
    Ok(true)
}

/// How a node's row is left.
#[derive(Clone, Copy)]
struct Closing<'a> {
    status: NodeStatus,
    reason: Option<&'a str>,
    wants_round: bool,
}

fn write(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node: &Node,
    closing: Closing<'_>,
    left: &Left,
) -> Result<bool, Fault> {
    let completed_at = closing.status.is_terminal().then(|| tx.now());
    let changed = tx.run(
        sql!("nodes.sql", "finish"),
        params! { ":tenant": tenant, ":id": node.id, ":attempt": node.attempt,
        ":status": closing.status.word(), ":summary": left.summary, ":report": left.report,
        ":failure_reason": closing.reason, ":wants_round": closing.wants_round,
        ":head": left.head, ":model": left.model, ":log": left.log,
        ":log_lines": to_int(left.log_lines), ":exit_code": left.exit_code,
        ":turns": to_int(left.turns), ":input": to_int(left.input_tokens),
        ":output": to_int(left.output_tokens), ":cost": to_int(left.cost_micros),
        ":completed_at": completed_at },
    )?;
    Ok(changed == 1)
}

/// Notes that a node asks a person something. The ticket waits; its place goes to another.
pub fn ask(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    node: &Node,
    left: &Left,
    asking: &Asking,
) -> Result<bool, Fault> {
    let waits = Closing { status: NodeStatus::AwaitingInput, reason: None, wants_round: false };
    if !write(tx, tenant, node, waits, left)? {
        return Ok(false);
    }
    add_up(tx, tenant, node, left)?;
    questions::ask(tx, tenant, node.ticket, node.id, asking)?;
    set_status(tx, tenant, node, Status::AwaitingInput)?;
    let said = format!("{} asks: {}", node.name, asking.text);
    note(tx, node, Happened::Asked, &said)?;
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    let project = super::project_of(tx, &ticket)?;
    advance::start_waiting(tx, tenant, &project)?;
    Ok(true)
}

fn set_status(tx: &mut Tx<'_>, tenant: TenantId, node: &Node, status: Status) -> Result<(), Fault> {
    tx.run_one(
        sql!("tickets.sql", "set_status"),
        params! { ":tenant": tenant, ":id": node.ticket, ":status": status.word(),
        ":graph": GraphStatus::Running.word() },
    )
}

/// Notes that a node's process went away without a result, and counts it. `false` where it happened
/// to the node so often that the ticket ended.
pub fn interrupt(tx: &mut Tx<'_>, tenant: TenantId, node: &Node) -> Result<bool, Fault> {
    let of = params! { ":tenant": tenant, ":id": node.ticket };
    tx.run_one(sql!("tickets.sql", "count_interrupt"), of)?;
    let of = params! { ":tenant": tenant, ":id": node.id };
    let counted =
        tx.find(sql!("nodes.sql", "count_interrupt"), of, |row| row.unsigned("interrupts"))?;
    let said = format!("{} was interrupted and starts again from its branch.", node.name);
    note(tx, node, Happened::Interrupted, &said)?;
    // A landing that may have moved the base is followed to its end, however often it is cut short.
    let lands = landing::intended(tx, tenant, node.ticket)?.is_some();
    if lands || counted.unwrap_or(0) <= INTERRUPTIONS_MAX {
        return Ok(true);
    }
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    let reason = format!(
        "{} was interrupted {INTERRUPTIONS_MAX} times: by restarts, lost processes or lapsed \
         claims.",
        node.name
    );
    end::fail(tx, &ticket, Status::Failed, &reason)?;
    Ok(false)
}

pub(super) fn note(
    tx: &mut Tx<'_>,
    node: &Node,
    happened: Happened,
    said: &str,
) -> Result<(), Fault> {
    let line = Line { happened, actor: SERVER, text: said, node: Some(&node.name) };
    timeline::record(tx, node.tenant, node.ticket, line)
}
