//! A node that an agent does: prompt, process, report, and what they come to.

use std::sync::Arc;
use std::time::Duration;

use super::agent_log::AgentLog;
use super::attached;
use super::env::Env;
use super::insist::{excuse, insist};
use super::recorded;
use super::reported::{full_text, judge};
use super::result::{Came, Stopped};
use super::run_node::{Task, keep_work, stopped};
use super::secrets;
use super::workspace::{self, Desk};
use crate::accounts::keys::{self, NewKey, Prefix};
use crate::accounts::{KeyScope, Reach};
use crate::base::redact::Redactor;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, RunId, Secret};
use crate::jobs::Ctx;
use crate::projects::agents::Profile;
use crate::projects::git::bring_up;
use crate::projects::git::discard::discard;
use crate::tickets::pending::{self, Asked};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::{self, Left};
use crate::tickets::prompt::{Facts, File, prompt};
use crate::tickets::runner::{Access, Bound, Ended, Exit, Launch, Limits};
use crate::tickets::secrets::names as names_of_secrets;
use crate::tickets::states::{NodeKind, Status};
use crate::tickets::{contract, dependencies, limits, node, questions};

/// How long an agent's key outlives the agent's own time.
const KEY_GRACE: Duration = Duration::from_mins(10);

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
) -> Result<Came, Stopped> {
    let Some((_, profile)) = profile(task) else {
        let message = format!(
            "The project has no agent for {} with preset {}. Name one with `assay project set`.",
            task.node.kind, task.ticket.preset
        );
        return Ok(Came::bad(message));
    };
    let profile = profile.clone();
    let secrets = match secrets::for_agent(env, task).await? {
        Ok(secrets) => secrets,
        Err(asks) => return Ok(asks),
    };
    let (key, began_on) = set_out(env, task, desk, &profile).await?;
    let log = AgentLog::start(env, task).await?;
    let run: RunId = env.entropy.id(env.clock.now());
    let given = Given { key, secrets };
    let launch = launch(env, task, desk, &profile, given, run, &log).await?;
    let ended = recorded::run(env, ctx, (task.tenant, Some(task.node.id)), run, launch).await;
    let excuse = ended.as_ref().ok().and_then(|ended| excuse(env, ended.exit));
    let (hash, lines) = log.keep(env, ctx).await;
    let ended = ended?;
    let mut left = left(&ended);
    (left.log, left.log_lines) = (hash, lines);
    if ended.exit == Exit::Cancelled {
        left.checkpoint_commits = keep_work(env, task, desk).await;
        return Err(stopped(ctx).with(left));
    }
    if let Some(fault) = excuse {
        return Err(Stopped::from(fault).with(left));
    }
    match keep(env, ctx, task, desk, &began_on, &ended).await {
        Ok(kept) => {
            left.checkpoint_commits = kept.ahead;
            let asked = env.db.glance(|read| pending::asked(read, task.tenant, task.node.id))?;
            let mut came = settle(task, &profile, ended, asked, kept.changed, left);
            if kept.discarded {
                note_discarded(&mut came.left);
            }
            Ok(came)
        }
        Err(fault) => Err(Stopped::from(fault).with(left)),
    }
}

/// A reader that changed something is told of, as its report may speak of the change.
fn note_discarded(left: &mut Left) {
    let said = "It changed the work tree, which this node may not; the change was thrown away.";
    let report = left.report.take().or_else(|| left.summary.clone()).unwrap_or_default();
    left.report = Some(format!("{report}\n\n{said}").trim_start().to_owned());
}

fn profile(task: &Task) -> Option<(&str, &Profile)> {
    let agents = &task.project.settings.agents;
    agents.choose(task.node.kind.word(), task.ticket.preset.word())
}

/// Makes the agent's own key, which reads this project, ends with the ticket, and is revoked with
/// the node. Says with it where the branch stood when the node first began.
async fn set_out(
    env: &Env,
    task: &Task,
    desk: &Desk,
    profile: &Profile,
) -> Result<(Secret, String), Fault> {
    let lasts = Duration::from_secs(profile.timeout_secs).saturating_add(KEY_GRACE);
    let expires_at = env.clock.now().plus(lasts);
    let (tenant, ticket, project) = (task.tenant, task.ticket.id, task.project.id);
    let (node, head) = (task.node.clone(), desk.tree.head.clone());
    let name = format!("{} {}", task.ticket.reference(), task.node.name);
    env.db
        .write(move |tx| {
            let new = NewKey {
                name: &name,
                scope: KeyScope::McpRead,
                prefix: Prefix::Alch,
                default_project: Some(project),
                reach: Reach::Only(vec![project]),
                ticket: Some(ticket),
                expires_at: Some(expires_at),
                created_by: "assay",
            };
            let (_, key) = keys::create(tx, tenant, &new)?;
            Ok((key, record::begin_on(tx, &node, head.as_str())?))
        })
        .await
}

/// What an agent is given that nobody else may see.
struct Given {
    /// Its own key.
    key: Secret,
    /// The ticket's secrets, by their names.
    secrets: Vec<(String, Secret)>,
}

async fn launch(
    env: &Arc<Env>,
    task: &Task,
    desk: &Desk,
    profile: &Profile,
    given: Given,
    run: RunId,
    log: &AgentLog,
) -> Result<Launch, Fault> {
    let laid = attached::lay_out(env, task).await?;
    let (attachments, files) = laid.map(|laid| (laid.folder, laid.files)).unzip();
    let Given { key, secrets } = given;
    let known: Vec<Secret> = secrets.iter().map(|(_, value)| value.clone()).collect();
    let redactor = Redactor::new(&[known, vec![key.clone()]].concat());
    Ok(Launch {
        assay: env.assay.clone(),
        limits: Limits::of(profile),
        profile: profile.clone(),
        ticket: task.ticket.reference(),
        node: task.node.kind.word().to_owned(),
        branch: task.ticket.working_branch(),
        prompt: words(env, task, files.unwrap_or_default()).await?,
        worktree: desk.tree.path.clone(),
        folder: env.paths.run(task.node.id, task.node.attempt),
        attachments,
        permissions: task.project.settings.agents.permissions,
        answers: answers(env, task).await?,
        access: Some(Access { url: env.url.clone(), key }),
        secrets,
        marker: run.to_string(),
        clock: env.clock.clone(),
        redact: Arc::new(move |text| redactor.redact(text).into_owned()),
        in_place: env.in_place(),
        bound: bound(env, task).await?,
        log: log.lines(),
    })
}

/// What ends the agent as soon as it tells that it has crossed a limit.
async fn bound(env: &Env, task: &Task) -> Result<Option<Bound>, Fault> {
    let (ticket, project, node) = (task.ticket.clone(), task.project.clone(), task.node.id);
    env.db.read(move |read| limits::bound(read, &ticket, &project, node)).await
}

/// What people answered to the ticket's questions.
async fn answers(env: &Env, task: &Task) -> Result<Vec<(String, String)>, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let answered = env.db.read(move |read| questions::answered(read, tenant, ticket)).await?;
    let pairs = answered.into_iter().filter_map(|question| Some((question.text, question.answer?)));
    Ok(pairs.collect())
}

/// The prompt, from the record.
async fn words(env: &Env, task: &Task, files: Vec<File>) -> Result<String, Fault> {
    told(env, task, files, prompt).await
}

/// What the agent of a node is told, in the form that `say` gives it.
pub(super) async fn told(
    env: &Env,
    task: &Task,
    files: Vec<File>,
    say: fn(&Facts<'_>) -> String,
) -> Result<String, Fault> {
    let (tenant, ticket, node_id) = (task.tenant, task.ticket.clone(), task.node.clone());
    let verify: Vec<(String, String)> = task
        .project
        .settings
        .verify
        .iter()
        .map(|check| (check.name.clone(), check.command.clone()))
        .collect();
    env.db
        .read(move |read| {
            let nodes = node::list(read, tenant, ticket.id)?;
            let assertions = contract::assertions(read, tenant, ticket.id)?;
            let answers = questions::answered(read, tenant, ticket.id)?;
            let secrets = names_of_secrets(read, tenant, ticket.id)?;
            let mut parents = dependencies::parents(read, tenant, ticket.id)?;
            parents.retain(|parent| parent.status == Status::Succeeded);
            Ok(say(&Facts {
                ticket: &ticket,
                node: &node_id,
                nodes: &nodes,
                assertions: &assertions,
                answers: &answers,
                secrets: &secrets,
                parents: &parents,
                verify: &verify,
                files: &files,
            }))
        })
        .await
}

fn left(ended: &Ended) -> Left {
    let exit_code = match ended.exit {
        Exit::Code(code) => Some(code),
        _ => None,
    };
    Left {
        model: ended.usage.model.clone(),
        exit_code,
        turns: ended.usage.turns,
        input_tokens: ended.usage.input_tokens,
        output_tokens: ended.usage.output_tokens,
        cost_micros: ended.usage.cost_micros.unwrap_or(0),
        ..Left::default()
    }
}

/// What a run left on the branch.
#[derive(Default)]
pub(super) struct Kept {
    /// Whether the node has changed anything since it first began.
    pub(super) changed: bool,
    /// Commits on the branch that are not on its base.
    pub(super) ahead: Option<u64>,
    /// Whether it was to change nothing, and what it changed was thrown away.
    pub(super) discarded: bool,
}

/// Keeps what an agent wrote that was to write, and takes back what one left that was not.
async fn keep(
    env: &Env,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    began_on: &str,
    ended: &Ended,
) -> Result<Kept, Fault> {
    if ended.worktree_gone {
        return Ok(Kept::default());
    }
    let take = || take_in(env, task, desk, began_on);
    let kept = insist(env, ctx, "commit an agent's work", take).await?;
    stops::reach(Stop::WorkCommitted);
    Ok(kept)
}

/// The same once. What a reader committed goes with the rest: nobody asked it for a change.
pub(super) async fn take_in(
    env: &Env,
    task: &Task,
    desk: &Desk,
    began_on: &str,
) -> Result<Kept, Fault> {
    if !task.node.kind.writes_code() {
        let discarded = discard(&desk.repository, &desk.place, &desk.tree.head).await?;
        return Ok(Kept { discarded, ..Kept::default() });
    }
    if matches!(task.node.kind, NodeKind::Reconcile | NodeKind::MergeRepair) {
        bring_up::take_resolved(&desk.repository, &desk.place).await?;
    }
    let (tip, made, ahead) = workspace::commit(env, desk, &task.ticket, &task.node).await?;
    let changed = made || tip.as_str() != began_on;
    Ok(Kept { changed, ahead: Some(ahead), discarded: false })
}

/// From how the process ended and what it handed back to what the node came to.
fn settle(
    task: &Task,
    profile: &Profile,
    ended: Ended,
    asked: Option<Asked>,
    changed: bool,
    mut left: Left,
) -> Came {
    let kind = task.node.kind;
    let failure = ended.failure();
    let exit = ended.exit;
    let unread = ended.report.problem();
    let report = ended.report.settle(exit.is_well());
    if let Some(report) = &report {
        left.summary = Some(report.summary.clone()).filter(|summary| !summary.trim().is_empty());
        left.report = Some(full_text(report));
    }
    if let Some(reason) = failure {
        let verdict = match exit {
            Exit::TimedOut | Exit::Silent | Exit::OverLimit => Verdict::OutOfTime { reason },
            _ => Verdict::Bad { reason },
        };
        return Came::verdict(verdict, left);
    }
    match report {
        Some(report) => judge(task, report, changed, left),
        // It asked by the tool and left it at that.
        None if asked.is_some() => Came::question(asked.unwrap_or_default(), left),
        None => unreported(kind, profile, changed, unread, left),
    }
}

/// What a run without a usable report comes to. A plain script that changed something has done its
/// part; one that says nothing about a node that only reads has none; an agent must report.
fn unreported(
    kind: NodeKind,
    profile: &Profile,
    changed: bool,
    unread: Option<String>,
    mut left: Left,
) -> Came {
    let why = unread.unwrap_or_else(|| "The agent left no report.".to_owned());
    let is_missing = why == "The agent left no report.";
    if is_missing && profile.is_plain_script() {
        if kind.writes_code() && changed {
            left.summary = Some("The agent changed the work tree and left no report.".to_owned());
            return Came::verdict(Verdict::Good, left);
        }
        if kind != NodeKind::Implement {
            left.summary =
                Some("The agent has no part in this node: it left no report.".to_owned());
            return Came::verdict(Verdict::NotNeeded, left);
        }
    }
    let hint = if kind.writes_code() && !changed { " It changed nothing either." } else { "" };
    Came::verdict(Verdict::Bad { reason: format!("{why}{hint}") }, left)
}
