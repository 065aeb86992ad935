//! Runs one node of a ticket's graph: takes it up, does what its kind is for, records what it came
//! to. Every step may be cut short by a crash, and is taken up again from the record.

use std::sync::Arc;
use std::time::Duration;

use super::env::Env;
use super::insist::{insist, is_no_room};
use super::result::{Came, Stopped, To, Why, may_heal};
use super::workspace::{self, Desk};
use super::{SERVER_STOPS, agent_node, deploy_node, land_node, repair_node, verify_node};
use crate::accounts::keys;
use crate::base::stops;
use crate::base::{Fault, TenantId};
use crate::jobs::{Ctx, JobError, Stop};
use crate::projects::Project;
use crate::store::Tx;
use crate::tickets::Ticket;
use crate::tickets::contract;
use crate::tickets::jobs::RunNode;
use crate::tickets::node::{self, Node};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::{self, claim, record};
use crate::tickets::states::{NodeKind, NodeStatus};
use crate::tickets::ticket;

/// How soon a job that was handed back may start again.
const HANDED_BACK: Duration = Duration::from_millis(100);

/// How soon a node is tried again that the disk did not let go on.
const DISK_AGAIN: Duration = Duration::from_secs(5);

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
    let taken = take_up(env, tenant, job).await.map_err(|fault| again(env, fault))?;
    let Some(task) = taken.map(Arc::new) else { return Ok(()) };
    let came = match attempt(env, ctx, &task).await {
        Ok(came) => came,
        Err(stopped) => match without_result(env, ctx, &task, stopped).await? {
            Some(came) => came,
            None => return Ok(()),
        },
    };
    stops::reach(stops::Stop::NodeDone);
    let came = Arc::new(came);
    insist(env, ctx, "record a node's end", || write_down(env, &task, &came)).await?;
    stops::reach(stops::Stop::NodeRecorded);
    Ok(())
}

/// A disk that is full or away is waited for, however long: it uses up no attempt.
fn again(env: &Env, fault: Fault) -> JobError {
    if !is_no_room(env, &fault) {
        return JobError::from(fault);
    }
    tracing::warn!(?fault, "A node waits for the disk");
    JobError::Later(DISK_AGAIN)
}

/// Records what a run left that has no result. Where the node cannot go on, that is its result.
async fn without_result(
    env: &Env,
    ctx: &Ctx,
    task: &Arc<Task>,
    stopped: Stopped,
) -> Result<Option<Came>, JobError> {
    let Stopped { why, left } = stopped;
    match why {
        Why::Cancelled => {
            let cut_short = || leave(env, task, &left, None);
            insist(env, ctx, "record a stop", cut_short).await?;
            Ok(None)
        }
        Why::HandedBack => {
            let put_back = || leave(env, task, &left, Some(SERVER_STOPS));
            insist(env, ctx, "record a stop", put_back).await?;
            Err(JobError::Later(HANDED_BACK))
        }
        Why::Fault(fault) => {
            let is_no_room = is_no_room(env, &fault);
            let (fault, heals) = match may_heal(fault) {
                Ok(fault) => (fault, true),
                Err(fault) => (fault, false),
            };
            if is_no_room || heals && !ctx.is_last_attempt() {
                let put_back = || leave(env, task, &left, Some(&fault.message));
                insist(env, ctx, "put a node back", put_back).await?;
                return Err(if is_no_room { again(env, fault) } else { fault.into() });
            }
            tracing::warn!(?fault, node = %task.node.id, "A node cannot go on");
            Ok(Some(Came::verdict(Verdict::Bad { reason: fault.message }, *left)))
        }
    }
}

/// Records what a run used up and left that has no result, and puts its node back where `back`
/// says why it shall run again.
async fn leave(
    env: &Env,
    task: &Arc<Task>,
    left: &record::Left,
    back: Option<&str>,
) -> Result<(), Fault> {
    let (task, left, back) = (task.clone(), left.clone(), back.map(str::to_owned));
    env.db
        .write(move |tx| {
            let (tenant, node) = (task.tenant, &task.node);
            keys::revoke_of_ticket(tx, tenant, node.ticket)?;
            record::cut_short(tx, tenant, node, &left)?;
            match back {
                Some(why) => record::put_back(tx, tenant, node, &why),
                None => Ok(()),
            }
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
            if claim::is_for_editor(&project, &ticket, node.kind) {
                // The project has changed its mind since the job was enqueued.
                record::put_back(tx, tenant, &node, "an agent in an editor does it from now on")?;
                if let Some(node) = node::find(tx, tenant, job.node)? {
                    claim::offer(tx, &node)?;
                }
                return Ok(None);
            }
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
        NodeKind::DeployVerify => deploy_node::run(env, ctx, task, &desk).await,
        NodeKind::Reconcile | NodeKind::MergeRepair => repair_node::run(env, ctx, task, desk).await,
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
async fn write_down(env: &Env, task: &Arc<Task>, came: &Arc<Came>) -> Result<(), Fault> {
    let (task, came) = (task.clone(), came.clone());
    env.db
        .write(move |tx| {
            keys::revoke_of_ticket(tx, task.tenant, task.ticket.id)?;
            settle(tx, &task, &came)
        })
        .await
}

/// The same within a transaction, if the record still waits for this start of the node.
pub(super) fn settle(tx: &mut Tx<'_>, task: &Task, came: &Came) -> Result<(), Fault> {
    if !record::is_current(tx, &task.node)? {
        return Ok(());
    }
    note(tx, task, came)?;
    match &came.to {
        To::Verdict(verdict) => {
            let verdict = verdict.clone();
            record::finish(tx, task.tenant, &task.node, verdict, &came.left)?;
        }
        To::Question(asking) => {
            record::ask(tx, task.tenant, &task.node, &came.left, asking)?;
        }
    }
    Ok(())
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
