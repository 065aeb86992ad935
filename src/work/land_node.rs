//! Landing: puts a verified branch on its base. One at a time for a repository, on the base's tip
//! at that moment, checked again if the base has moved, and recorded before and after, so that a
//! crash anywhere neither loses a landing nor repeats one.

use std::sync::Arc;

use super::agent_log::AgentLog;
use super::env::Env;
use super::result::{Came, Stopped, Why};
use super::run_node::{Task, stopped};
use super::verify_node::commands_in;
use super::workspace::{self, Desk};
use crate::base::redact::redact;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, text};
use crate::jobs::Ctx;
use crate::projects::git::commit::{Author, COMMITTER, Message};
use crate::projects::git::landing::{self, Checkout, Outcome, Preparation, Prepared, Request};
use crate::projects::git::removal::{Removal, Uncommitted, drop_branch, remove};
use crate::projects::git::{BranchName, CommitId, Place, Repository, worktree};
use crate::projects::settings::LandingStrategy;
use crate::tickets::landing::{self as record, Intent, Landing};
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::{Left, is_current};
use crate::tickets::states::ItemKind;

/// How often a base that moves under the landing is followed.
const TRIES: usize = 5;

pub(super) async fn run(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
) -> Result<Came, Stopped> {
    let repository = task.project.repository.clone().unwrap_or_default();
    let _turn = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => return Err(stopped(ctx)),
        turn = env.landings.take(&repository) => turn,
    };
    let came = if let Some(came) = finish_earlier(env, task, desk).await? {
        came
    } else {
        let log = AgentLog::start(env, task).await?;
        let landed = land(env, ctx, task, desk, &log).await;
        let logged = log.keep(env, ctx).await;
        landed.map(|came| came.logged(logged)).map_err(|stopped| stopped.logged(logged))?
    };
    if came.is_good() {
        clear_desk(desk).await;
    }
    Ok(came)
}

/// Nobody works any more in the tree of a ticket that has landed. A tree that holds what is not
/// committed is kept, and its branch in any case.
async fn clear_desk(desk: &Desk) {
    match remove(&desk.repository, &desk.place, Uncommitted::Keep).await {
        Ok(Removal::Removed | Removal::Absent) => {}
        Ok(kept) => tracing::info!(?kept, branch = %desk.place.branch(), "A work tree is kept"),
        Err(fault) => tracing::warn!(?fault, "A work tree was not removed"),
    }
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
    follow_others(env, task, desk).await?;
    for _ in 0..TRIES {
        let request = request(env, task, desk);
        let prepared = match landing::prepare(&desk.repository, &request).await? {
            Preparation::Ready(prepared) => prepared,
            Preparation::NothingToLand { .. } => return Ok(nothing(&desk.base)),
            Preparation::Conflicts { files, .. } => return conflicts(env, task, desk, files).await,
        };
        log.say(env, format!("Landing {} on {}.", prepared.commit.short(), desk.base)).await;
        if let Some(came) = check_again(env, ctx, task, desk, &prepared, log).await? {
            return Ok(came);
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
            Outcome::CheckoutDirty { advice, .. } => {
                give_up(env, task, landing).await?;
                set_merge_status(env, task, "checkout_dirty").await?;
                let mut came = Came::bad(advice.clone());
                came.items
                    .push((ItemKind::HumanAction, format!("{advice} Then retry the ticket.")));
                return Ok(came);
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

/// Where the base has moved since the branch left it, the verified tree is not the one that would
/// land: the project's commands run again, on what would land.
async fn check_again(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    prepared: &Prepared,
    log: &AgentLog,
) -> Result<Option<Came>, Stopped> {
    let (tip, head) = (&prepared.base_before, &desk.tree.head);
    let moved = !desk.repository.is_ancestor(tip, head).await?;
    if !moved || task.project.settings.verify.is_empty() {
        return Ok(None);
    }
    log.say(env, format!("{} has moved; checking the merged result.", desk.base)).await;
    let place = landing_place(env, task)?;
    // An earlier run may have been cut short while it checked.
    remove_landing(&desk.repository, &place).await?;
    let tree = worktree::ensure(&desk.repository, &place, &prepared.commit).await?;
    let failed = commands_in(env, ctx, task, &tree.path, log).await;
    remove_landing(&desk.repository, &place).await?;
    let Some(findings) = failed? else { return Ok(None) };
    set_merge_status(env, task, "verification_failed").await?;
    let reason = format!(
        "{} has moved since the work began, and together with it the checks fail. {findings}",
        desk.base
    );
    let mut came = Came::bad(text::cut(&reason, 4_000));
    let act = format!("Bring {} up to {} and retry the ticket.", desk.place.branch(), desk.base);
    came.items.push((ItemKind::HumanAction, act));
    Ok(Some(came))
}

/// Where the result of a merge is checked before it lands.
fn landing_place(env: &Env, task: &Task) -> Result<Place, Fault> {
    let ticket = task.ticket.id;
    let branch = BranchName::parse(&format!("assay/landing/{ticket}")).map_err(Fault::internal)?;
    Place::new(&env.paths.worktrees(), &format!("landing-{ticket}"), branch)
}

/// Removes that tree and its branch, which holds nothing but a merge that can be made again.
async fn remove_landing(repository: &Repository, place: &Place) -> Result<(), Fault> {
    remove(repository, place, Uncommitted::Discard).await?;
    if let Some(tip) = repository.branch(place.branch()).await? {
        drop_branch(repository, place.branch(), &tip).await?;
    }
    Ok(())
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

async fn conflicts(
    env: &Env,
    task: &Task,
    desk: &Desk,
    files: Vec<String>,
) -> Result<Came, Stopped> {
    set_merge_status(env, task, "conflicts").await?;
    let list = text::cut(&files.join(", "), 1_000);
    let reason = format!("The work conflicts with {} in {list}.", desk.base);
    let mut came = Came::bad(reason);
    let act = format!(
        "In the ticket's work tree, run `git -C {} merge {}`, resolve {list}, commit, and retry \
         the ticket.",
        desk.tree.path.display(),
        desk.base
    );
    came.items.push((ItemKind::HumanAction, act));
    Ok(came)
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
