//! Landing: puts a verified branch on its base. One at a time for a repository, on the base's tip
//! at that moment, checked again if the base has moved, and recorded before and after, so that a
//! crash anywhere neither loses a landing nor repeats one.

use std::path::Path;
use std::sync::Arc;

use super::agent_log::AgentLog;
use super::env::Env;
use super::repair_node::advice;
use super::result::{Came, Stopped, Why};
use super::run_node::{Task, stopped};
use super::workspace::{self, Desk};
use super::{apply_script, clear, deploy_node, leaks, merged, repairs_left};
use crate::base::redact::redact;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, text};
use crate::jobs::Ctx;
use crate::projects::git::commit::{Author, COMMITTER, Message};
use crate::projects::git::landing::{self, Checkout, Outcome, Preparation, Prepared, Request};
use crate::projects::git::{BranchName, CommitId, log};
use crate::projects::settings::LandingStrategy;
use crate::tickets::landing::{self as record, Intent, Landing};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::{Left, is_current};
use crate::tickets::states::{ItemKind, Kind, NodeKind};
use crate::tickets::{data_operation, node};

/// How often a base that moves under the landing is followed.
const TRIES: usize = 5;

/// Commits of the base that an agent is told of at most.
const COMMITS_TOLD: usize = 20;

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
) -> Result<Came, Stopped> {
    let log = AgentLog::start(env, task).await?;
    let landed = run_logged(env, ctx, task, desk, &log).await;
    let logged = log.keep(env, ctx).await;
    landed.map(|came| came.logged(logged)).map_err(|stopped| stopped.logged(logged))
}

async fn run_logged(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    log: &AgentLog,
) -> Result<Came, Stopped> {
    // A script may take hours, and the landings of others need not wait for it.
    if task.ticket.kind == Kind::DataOperation
        && is_verified(env, task, desk).await?
        && let Some(came) = apply_script::apply(env, ctx, task, desk, log).await?
    {
        return Ok(came);
    }
    let repository = task.project.repository.clone().unwrap_or_default();
    let _turn = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => return Err(stopped(ctx)),
        turn = env.landings.take(&repository) => turn,
    };
    let came = match finish_earlier(env, task, desk).await? {
        Some(came) => came,
        None => land(env, ctx, task, desk, log).await?,
    };
    if came.is_good() && !deploy_node::follows(env, task).await? {
        clear::desk(env, task, desk).await;
    }
    Ok(came)
}

/// A landing that an earlier run intended: it went through, or it is given up.
async fn finish_earlier(env: &Env, task: &Task, desk: &Desk) -> Result<Option<Came>, Stopped> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let found = env.db.read(move |read| {
        Ok((record::landed(read, tenant, ticket)?, record::intended(read, tenant, ticket)?))
    });
    let (landed, intended) = found.await?;
    if let Some(landed) = landed {
        return Ok(Some(good(&desk.base, &landed.commit, &[])));
    }
    let Some(landing) = intended else { return Ok(None) };
    let prepared = prepared(&landing)?;
    if let Some(checkout) = landing::landed_before(&desk.repository, &prepared).await? {
        settle(env, task, &landing, &prepared.commit).await?;
        return Ok(Some(good(&prepared.base, prepared.commit.as_str(), &behind(&checkout))));
    }
    env.db.write(move |tx| record::abandon(tx, tenant, landing.id)).await?;
    Ok(None)
}

/// What a recorded landing was about to do.
fn prepared(landing: &Landing) -> Result<Prepared, Fault> {
    let commit = |text: &str| {
        CommitId::parse(text).ok_or_else(|| Fault::internal("a landing without a commit"))
    };
    Ok(Prepared {
        base: BranchName::parse(&landing.base_branch).map_err(Fault::internal)?,
        base_before: commit(&landing.base_before)?,
        commit: commit(&landing.commit)?,
    })
}

/// Lets a person's checkout follow what others landed before a crash. Until it has, it looks as if
/// somebody had changed it, and nothing more could land there.
async fn follow_others(env: &Env, task: &Task, desk: &Desk) -> Result<(), Fault> {
    let (shown, base) = (shown(task), desk.base.as_str().to_owned());
    let others = env.db.read(move |read| record::intended_in(read, &shown, &base)).await?;
    for landing in others {
        landing::landed_before(&desk.repository, &prepared(&landing)?).await?;
    }
    Ok(())
}

/// The repository as a landing names it.
fn shown(task: &Task) -> String {
    task.project.location().map(|location| location.to_string()).unwrap_or_default()
}

async fn land(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    log: &AgentLog,
) -> Result<Came, Stopped> {
    if !is_verified(env, task, desk).await? {
        let why = "The branch has changed since it was verified, so it is verified again.";
        return Ok(outdated(None, why.to_owned()));
    }
    if task.ticket.kind == Kind::DataOperation && !is_applied(env, task).await? {
        // The branch was another before the turn came.
        return Ok(outdated(None, "The script has not been applied yet.".to_owned()));
    }
    follow_others(env, task, desk).await?;
    for _ in 0..TRIES {
        let request = request(env, task, desk);
        let prepared = match landing::prepare(&desk.repository, &request).await? {
            Preparation::Ready(prepared) => prepared,
            Preparation::NothingToLand { .. } => return Ok(nothing(&desk.base)),
            Preparation::Conflicts { files, base_tip } => {
                return conflicts(env, task, desk, &base_tip, files).await;
            }
        };
        if let Some(came) = leaks::look(env, task, desk, &prepared).await? {
            return Ok(came);
        }
        log.say(env, format!("Landing {} on {}.", prepared.commit.short(), desk.base)).await;
        if let Some(findings) = merged::check(env, ctx, task, desk, &prepared, log).await? {
            return unreconciled(env, task, desk, &prepared.base_before, &findings).await;
        }
        let landing = intend(env, task, desk, &prepared).await?;
        stops::reach(Stop::LandingIntended);
        match landing::apply(&desk.repository, &prepared).await? {
            Outcome::Landed { commit, checkout, .. } => {
                stops::reach(Stop::BaseLanded);
                settle(env, task, &landing, &commit).await?;
                stops::reach(Stop::LandingSettled);
                log.say(env, format!("Landed as {}.", commit.short())).await;
                return Ok(good(&desk.base, commit.as_str(), &behind(&checkout)));
            }
            Outcome::BaseMoved { .. } => {
                log.say(env, "The base moved meanwhile; once more.").await;
                give_up(env, task, landing).await?;
            }
            Outcome::CheckoutDirty { path, files, advice } => {
                give_up(env, task, landing).await?;
                set_merge_status(env, task, "checkout_dirty").await?;
                return Ok(in_the_way(&path, &files, &advice));
            }
        }
    }
    let message = format!("{} moved {TRIES} times while the ticket was landing.", desk.base);
    Ok(Came::bad(message))
}

fn request(env: &Env, task: &Task, desk: &Desk) -> Request {
    let ticket = &task.ticket;
    let mut trailers = workspace::trailers(ticket, None);
    // Said by the caller, so it is a remark and no authorship.
    trailers.extend(
        ticket
            .requester
            .name
            .as_deref()
            .map(|name| ("Requested-by".to_owned(), redact(name).into_owned())),
    );
    Request {
        base: desk.base.clone(),
        tip: desk.tree.head.clone(),
        strategy: match task.project.settings.landing.strategy {
            LandingStrategy::Merge => landing::Strategy::Merge,
            LandingStrategy::Squash => landing::Strategy::Squash,
        },
        author: Author { name: COMMITTER.0.to_owned(), email: COMMITTER.1.to_owned() },
        message: Message { text: workspace::subject(ticket), trailers },
        at: env.clock.now(),
    }
}

/// Where the base has moved and what would land together with it fails its checks, an agent sees to
/// it; after a few tries a person does.
async fn unreconciled(
    env: &Env,
    task: &Task,
    desk: &Desk,
    base_tip: &CommitId,
    findings: &str,
) -> Result<Came, Stopped> {
    set_merge_status(env, task, "verification_failed").await?;
    let reason = format!(
        "{} has moved since the work began, and together with it the checks fail. {findings}",
        desk.base
    );
    let findings = text::cut(&reason, 4_000);
    if repairs_left::has(env, task, desk, base_tip, NodeKind::Reconcile).await? {
        return Ok(outdated(Some(NodeKind::Reconcile), findings));
    }
    let mut came = Came::bad(findings);
    let act = format!("Bring {} up to {} and retry the ticket.", desk.place.branch(), desk.base);
    came.items.push((ItemKind::HumanAction, act));
    Ok(came)
}

fn outdated(with: Option<NodeKind>, findings: String) -> Came {
    Came::verdict(Verdict::Outdated { with, findings }, Left::default())
}

/// Whether what was verified last is what stands on the branch. A person may have committed there
/// since.
async fn is_verified(env: &Env, task: &Task, desk: &Desk) -> Result<bool, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let nodes = env.db.read(move |read| node::list(read, tenant, ticket)).await?;
    let checked = nodes.iter().rev().find(|n| n.kind == NodeKind::Verification && n.is_done());
    let head = checked.and_then(|checked| checked.head.as_deref());
    Ok(head == Some(desk.tree.head.as_str()))
}

/// Whether the script of a data operation has changed the data.
async fn is_applied(env: &Env, task: &Task) -> Result<bool, Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    env.db.read(move |read| data_operation::is_applied(read, tenant, ticket)).await
}

/// Writes down what is about to happen, unless the ticket was cancelled meanwhile: from then on it
/// cannot be.
async fn intend(
    env: &Env,
    task: &Task,
    desk: &Desk,
    prepared: &Prepared,
) -> Result<Landing, Stopped> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    let shown = shown(task);
    let (prepared, head) = (prepared.clone(), desk.tree.head.clone());
    let node = task.node.clone();
    let landing = env
        .db
        .write(move |tx| {
            if !is_current(tx, &node)? {
                return Ok(None);
            }
            let intent = Intent {
                repository: &shown,
                base_branch: prepared.base.as_str(),
                base_before: prepared.base_before.as_str(),
                commit: prepared.commit.as_str(),
                head: head.as_str(),
            };
            record::intend(tx, tenant, ticket, &intent)?;
            record::intended(tx, tenant, ticket)
        })
        .await?;
    landing.ok_or_else(|| Why::Cancelled.into())
}

async fn settle(env: &Env, task: &Task, landing: &Landing, commit: &CommitId) -> Result<(), Fault> {
    let (tenant, ticket, id) = (task.tenant, task.ticket.id, landing.id);
    let commit = commit.as_str().to_owned();
    env.db.write(move |tx| record::settle(tx, tenant, ticket, id, &commit)).await
}

async fn give_up(env: &Env, task: &Task, landing: Landing) -> Result<(), Fault> {
    let tenant = task.tenant;
    env.db.write(move |tx| record::abandon(tx, tenant, landing.id)).await
}

async fn set_merge_status(env: &Env, task: &Task, status: &'static str) -> Result<(), Fault> {
    let (tenant, ticket) = (task.tenant, task.ticket.id);
    env.db.write(move |tx| record::set_merge_status(tx, tenant, ticket, status)).await
}

/// What both sides changed is resolved by an agent, which is told what either side is for; after a
/// few tries a person does it.
async fn conflicts(
    env: &Env,
    task: &Task,
    desk: &Desk,
    base_tip: &CommitId,
    files: Vec<String>,
) -> Result<Came, Stopped> {
    set_merge_status(env, task, "conflicts").await?;
    if !repairs_left::has(env, task, desk, base_tip, NodeKind::MergeRepair).await? {
        return Ok(Came::held(advice(desk, base_tip, &files)));
    }
    let (others, more) =
        log::list(&desk.repository, &desk.tree.head, base_tip, COMMITS_TOLD).await?;
    let theirs: Vec<String> =
        others.iter().map(|one| format!("- {} {}", one.id.short(), one.subject)).collect();
    let list: Vec<String> = files.iter().map(|file| format!("- {file}")).collect();
    let findings = format!(
        "The work conflicts with {} in:\n{}\n\n{} has got since (newest first{}):\n{}\n\nThis \
         branch is for: {}",
        desk.base,
        list.join("\n"),
        desk.base,
        if more { ", and more" } else { "" },
        theirs.join("\n"),
        task.ticket.title
    );
    Ok(outdated(Some(NodeKind::MergeRepair), redact(&findings).into_owned()))
}

/// A checkout that is in the way is a person's, and waited for.
fn in_the_way(path: &Path, files: &[String], advice: &str) -> Came {
    let named = match files {
        [] => String::new(),
        files => format!(" ({})", text::cut(&files.join(", "), 500)),
    };
    Came::held(format!("{}{named}: {advice} Then answer that it can go on.", path.display()))
}

fn nothing(base: &BranchName) -> Came {
    let summary = format!("{base} has the whole change already; there was nothing to land.");
    let left = Left { summary: Some(summary), ..Left::default() };
    Came::verdict(Verdict::NotNeeded, left)
}

fn good(base: &BranchName, commit: &str, human: &[String]) -> Came {
    let short = commit.get(..12).unwrap_or(commit);
    let left = Left {
        summary: Some(format!("Landed on {base} as {short}.")),
        checkpoint_commits: Some(0),
        ..Left::default()
    };
    let mut came = Came::verdict(Verdict::Good, left);
    came.items.extend(human.iter().map(|act| (ItemKind::FollowUp, act.clone())));
    came
}

/// What a person should know of their checkout.
fn behind(checkout: &Checkout) -> Vec<String> {
    match checkout {
        Checkout::Behind(path) => vec![format!(
            "The checkout {} could not follow; `git status` there shows the landed change \
             backwards. `git reset --hard` brings it up.",
            path.display()
        )],
        Checkout::None | Checkout::Updated(_) => Vec::new(),
    }
}
