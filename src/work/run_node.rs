//! Runs one node of a ticket's graph: takes it up, does what its kind is for, records what it came
//! to. Every step may be cut short by a crash, and is taken up again from the record.

use std::sync::Arc;
use std::time::Duration;

use super::env::Env;
use super::result::{Came, Stopped, To, Why, may_heal};
use super::workspace::{self, Desk};
use super::{agent_node, land_node, verify_node};
use crate::accounts::keys;
use crate::base::{Fault, TenantId};
use crate::jobs::{Ctx, JobError, Stop};
use crate::projects::Project;
use crate::store::Tx;
use crate::tickets::Ticket;
use crate::tickets::contract;
use crate::tickets::jobs::RunNode;
use crate::tickets::node::{self, Node};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::{self, record};
use crate::tickets::states::{NodeKind, NodeStatus};
use crate::tickets::ticket;

/// How soon a job that was handed back may start again.
const HANDED_BACK: Duration = Duration::from_millis(100);

/// A node that was taken up.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) tenant: TenantId,
    pub(super) project: Project,
    pub(super) ticket: Ticket,
    pub(super) node: Node,
}

pub(super) async fn run(env: &Arc<Env>, ctx: &Ctx, job: RunNode) -> Result<(), JobError> {
    let Some(tenant) = ctx.tenant else {
        return Err(JobError::Fail(Fault::internal("a node's job has no tenant")));
    };
    // A run that was cancelled may still be ending its agent when a retry is due already, and two
    // agents must never work in one tree.
    let desk = job.ticket.to_string();
    let _turn = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => return Err(JobError::Later(HANDED_BACK)),
        turn = env.desks.take(&desk) => turn,
    };
    let Some(task) = take_up(env, tenant, job).await? else { return Ok(()) };
    let came = match attempt(env, ctx, &task).await {
        Ok(came) => came,
        Err(stopped) => match without_result(env, ctx, &task, stopped).await? {
            Some(came) => came,
            None => return Ok(()),
        },
    };
    write_down(env, task, came).await?;
    Ok(())
}

/// Records what a run left that has no result. Where the node cannot go on, that is its result.
async fn without_result(
    env: &Env,
    ctx: &Ctx,
    task: &Task,
    stopped: Stopped,
) -> Result<Option<Came>, JobError> {
    let Stopped { why, left } = stopped;
    match why {
        Why::Cancelled => {
            cut_short(env, task, *left).await?;
            Ok(None)
        }
        Why::HandedBack => {
            cut_short(env, task, *left).await?;
            Err(JobError::Later(HANDED_BACK))
        }
        Why::Fault(fault) => match may_heal(fault) {
            Ok(fault) if !ctx.is_last_attempt() => {
                let (tenant, node, said) = (task.tenant, task.node.clone(), fault.message.clone());
                env.db.write(move |tx| record::put_back(tx, tenant, &node, &said)).await?;
                Err(JobError::Retry(fault))
            }
            Ok(fault) | Err(fault) => {
                tracing::warn!(?fault, node = %task.node.id, "A node cannot go on");
                Ok(Some(Came::verdict(Verdict::Bad { reason: fault.message }, *left)))
            }
        },
    }
}

async fn cut_short(env: &Env, task: &Task, left: record::Left) -> Result<(), Fault> {
    let (tenant, node) = (task.tenant, task.node.clone());
    env.db
        .write(move |tx| {
            keys::revoke_of_ticket(tx, tenant, node.ticket)?;
            record::cut_short(tx, tenant, &node, &left)
        })
        .await
}

/// Starts the node's record. `None` where there is nothing to do any more.
async fn take_up(env: &Env, tenant: TenantId, job: RunNode) -> Result<Option<Task>, Fault> {
    env.db
        .write(move |tx| {
            let Some(node) = node::find(tx, tenant, job.node)? else { return Ok(None) };
            if node.status == NodeStatus::Running && !record::interrupt(tx, tenant, &node)? {
                return Ok(None);
            }
            let ticket = ticket::get(tx, tenant, node.ticket)?;
            let project = pipeline::project_of(tx, &ticket)?;
            let agents = &project.settings.agents;
            let agent = node
                .kind
                .is_agent_work()
                .then(|| agents.choose(node.kind.word(), ticket.preset.word()))
                .flatten()
                .map(|(name, _)| name.to_owned());
            let started = record::start(tx, tenant, job.node, agent.as_deref())?;
            Ok(started.map(|(ticket, node)| Task { tenant, project, ticket, node }))
        })
        .await
}

async fn attempt(env: &Arc<Env>, ctx: &Ctx, task: &Task) -> Result<Came, Stopped> {
    let desk = workspace::prepare(env, &task.project, &task.ticket).await?;
    match task.node.kind {
        NodeKind::Verification => verify_node::run(env, ctx, task, &desk).await,
        NodeKind::Land => land_node::run(env, ctx, task, &desk).await,
        NodeKind::DeployVerify => Ok(Came::verdict(Verdict::NotNeeded, record::Left::default())),
        _ => agent_node::run(env, ctx, task, &desk).await,
    }
}

/// Why a cancelled run stops.
pub(super) fn stopped(ctx: &Ctx) -> Stopped {
    match ctx.stop() {
        Some(Stop::HandBack | Stop::Lost) => Why::HandedBack.into(),
        Some(Stop::Cancelled) | None => Why::Cancelled.into(),
    }
}

/// Keeps an agent's work on its branch although its run is stopped. Says how many commits the
/// branch then has that are not on its base.
pub(super) async fn keep_work(env: &Env, task: &Task, desk: &Desk) -> Option<u64> {
    if !task.node.kind.writes_code() {
        return None;
    }
    match workspace::commit(env, desk, &task.ticket, &task.node).await {
        Ok((_, _, ahead)) => Some(ahead),
        Err(fault) => {
            // A work tree that the agent broke is no reason to lose the stop.
            tracing::warn!(?fault, ticket = %task.ticket.id, "The work was not committed");
            None
        }
    }
}

/// Records what a run came to, and with it the next step.
async fn write_down(env: &Env, task: Task, came: Came) -> Result<(), Fault> {
    env.db
        .write(move |tx| {
            keys::revoke_of_ticket(tx, task.tenant, task.ticket.id)?;
            if !record::is_current(tx, &task.node)? {
                return Ok(());
            }
            note(tx, &task, &came)?;
            match came.to {
                To::Verdict(verdict) => {
                    record::finish(tx, task.tenant, &task.node, verdict, &came.left)?;
                }
                To::Question { text, choices } => {
                    record::ask(tx, task.tenant, &task.node, &came.left, &text, &choices)?;
                }
            }
            Ok(())
        })
        .await
}

fn note(tx: &mut Tx<'_>, task: &Task, came: &Came) -> Result<(), Fault> {
    let (tenant, ticket, source) = (task.tenant, task.ticket.id, task.node.name.as_str());
    if let Some(assertions) = &came.contract {
        contract::write(tx, tenant, ticket, source, assertions)?;
    }
    for (kind, text) in &came.items {
        contract::add_item(tx, tenant, ticket, *kind, text, source)?;
    }
    verify_node::prove(tx, task, &came.checked)
}
