//! Tries an agent profile: a harmless prompt in a work tree of its own, on a branch of its own,
//! both thrown away at the end. No ticket, no key, and nothing of the base branch is touched.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use super::agent_log::remove_folder;
use super::env::Env;
use super::merged::remove_tree;
use super::{recorded, workspace};
use crate::base::redact::Redactor;
use crate::base::{Code, Fault, RunId, Secret, TenantId, text};
use crate::events::Event;
use crate::jobs::{Ctx, JobError, Progress};
use crate::projects::agents::{Permissions, Profile};
use crate::projects::git::{BranchName, Place, Repository, Worktree, inspect, worktree};
use crate::projects::tries::{TRY_PROMPT, TRY_SECS, Tried, TryAgent};
use crate::projects::{self, Project};
use crate::tickets::runner::{Ended, Exit, Launch, Limits, LogLine};

/// Lines of output that are kept, and bytes of them.
const LINES_MAX: usize = 200;
const BYTES_MAX: usize = 40_000;

/// Characters of one line that are kept.
const LINE_CHARS: usize = 2_000;

/// Lines that are shown while it runs.
const SHOWN_MAX: usize = 30;

/// The most that it may print, in bytes.
const OUTPUT_MAX: u64 = 4 << 20;

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    job: TryAgent,
) -> Result<Option<Value>, JobError> {
    let tried = attempt(env, ctx, &job).await.map_err(JobError::Fail)?;
    let result = serde_json::to_value(tried).map_err(|error| JobError::Fail(error_of(error)))?;
    Ok(Some(result))
}

fn error_of(error: serde_json::Error) -> Fault {
    Fault::internal(error)
}

async fn attempt(env: &Arc<Env>, ctx: &Ctx, job: &TryAgent) -> Result<Tried, Fault> {
    let (tenant, id) = (job.tenant, job.project);
    let project = env.db.read(move |read| projects::find(read, tenant, id)).await?;
    let project = project.ok_or_else(|| gone("The project is gone."))?;
    let profile = project.settings.agents.profiles.get(&job.profile).cloned();
    let profile = profile.ok_or_else(|| gone("The project has no such agent profile any more."))?;
    let repository = workspace::repository(env, &project).await?;
    let place = place(env, ctx)?;
    // An earlier run of this job may have been cut short.
    remove_tree(&repository, &place).await?;
    if ctx.recovered {
        return Err(gone("The server stopped while the agent ran. Try it again."));
    }
    let tree = lay_out(env, &project, &repository, &place).await?;
    let head = tree.head.clone();
    let tried = ask(env, ctx, (tenant, &project), &job.profile, profile, tree).await;
    let unchanged = repository.branch(place.branch()).await?.is_some_and(|tip| tip == head);
    remove_tree(&repository, &place).await?;
    let mut tried = tried?;
    if tried.passed && !unchanged {
        tried.passed = false;
        let said = "It ended well, but it moved its branch, which it was asked not to. All of that \
                    was thrown away.";
        said.clone_into(&mut tried.said);
    }
    Ok(tried)
}

fn gone(said: &str) -> Fault {
    Fault::new(Code::ProjectNotReady, said)
}

fn place(env: &Env, ctx: &Ctx) -> Result<Place, Fault> {
    let branch = BranchName::parse(&format!("assay/try/{}", ctx.job)).map_err(Fault::internal)?;
    Place::new(&env.paths.worktrees(), &format!("try-{}", ctx.job), branch)
}

async fn lay_out(
    env: &Env,
    project: &Project,
    repository: &Repository,
    place: &Place,
) -> Result<Worktree, Fault> {
    let location = project.location().ok_or_else(|| gone("The project names no repository."))?;
    let state = inspect(&env.git, &location, project.base().as_ref()).await?;
    let ready = state.ready(&location)?;
    repository.refresh().await?;
    let tip = repository.tip(&ready.base).await?;
    worktree::ensure(repository, place, &tip).await
}

async fn ask(
    env: &Arc<Env>,
    ctx: &Ctx,
    (tenant, project): (TenantId, &Project),
    name: &str,
    profile: Profile,
    tree: Worktree,
) -> Result<Tried, Fault> {
    let (lines, waiting) = mpsc::channel(1_000);
    let run: RunId = env.entropy.id(env.clock.now());
    let folder = env.paths.runs().join(format!("try-{run}"));
    let launch = launch(env, ctx, profile, tree, folder.clone(), run, lines);
    let limits = launch.limits;
    let told = Event::Project { tenant: tenant.uuid(), project: project.id.uuid() };
    let (ended, lines) = tokio::join!(
        recorded::run(env, ctx, (tenant, None), run, launch),
        collect(env, ctx, waiting, told),
    );
    remove_folder(&folder).await;
    let ended = ended?;
    Ok(Tried {
        profile: name.to_owned(),
        passed: ended.exit.is_well() && !ended.worktree_gone,
        said: said(&ended, limits),
        duration_ms: ended.duration_ms,
        lines,
    })
}

fn said(ended: &Ended, limits: Limits) -> String {
    let most = limits.total.as_secs();
    match ended.exit {
        Exit::TimedOut => format!("It did not end within {most} s, the limit of a try."),
        Exit::Silent => format!("It printed nothing for {} s.", limits.idle.as_secs()),
        Exit::OutputFlood => format!("It printed more than {} bytes.", limits.output_bytes),
        exit => match exit.problem(limits) {
            Some(problem) => problem,
            None if ended.worktree_gone => "It deleted its work tree.".to_owned(),
            None => "It started, answered and ended well.".to_owned(),
        },
    }
}

fn launch(
    env: &Env,
    ctx: &Ctx,
    profile: Profile,
    tree: Worktree,
    folder: std::path::PathBuf,
    run: RunId,
    log: mpsc::Sender<LogLine>,
) -> Launch {
    let secrets: Vec<Secret> = profile.set.values().map(Secret::new).collect();
    let redactor = Redactor::new(&secrets);
    let own = Limits::of(&profile);
    let most = Duration::from_secs(TRY_SECS);
    let limits = Limits {
        total: own.total.min(most),
        idle: own.idle.min(most),
        output_bytes: own.output_bytes.min(OUTPUT_MAX),
        ..own
    };
    Launch {
        assay: env.assay.clone(),
        limits,
        profile,
        ticket: "try".to_owned(),
        node: "try".to_owned(),
        branch: format!("assay/try/{}", ctx.job),
        prompt: TRY_PROMPT.to_owned(),
        worktree: tree.path,
        folder,
        attachments: None,
        // It is to try nothing but itself.
        permissions: Permissions::Deny,
        answers: Vec::new(),
        access: None,
        secrets: Vec::new(),
        marker: run.to_string(),
        clock: env.clock.clone(),
        redact: Arc::new(move |text| redactor.redact(text).into_owned()),
        in_place: env.in_place(),
        bound: None,
        log,
    }
}

/// Takes the lines as they come, tells of the last ones, and keeps so many of them.
async fn collect(
    env: &Env,
    ctx: &Ctx,
    mut waiting: mpsc::Receiver<LogLine>,
    told: Event,
) -> Vec<String> {
    let (mut kept, mut bytes, mut count, mut batch) = (VecDeque::new(), 0, 0_u32, Vec::new());
    while waiting.recv_many(&mut batch, LINES_MAX).await > 0 {
        for line in batch.drain(..) {
            let line = text::cut(&line.text, LINE_CHARS);
            count = count.saturating_add(1);
            bytes += line.len();
            kept.push_back(line);
            while kept.len() > LINES_MAX || bytes > BYTES_MAX {
                bytes -= kept.pop_front().map_or(bytes, |gone: String| gone.len());
            }
        }
        let newest = kept.iter().skip(kept.len().saturating_sub(SHOWN_MAX));
        let shown: Vec<&str> = newest.map(String::as_str).collect();
        ctx.progress(Progress { done: count, total: None, text: shown.join("\n") });
        env.bus.publish(told.clone());
    }
    kept.into()
}
