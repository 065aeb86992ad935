//! Where the base has moved since a branch left it, the tree that was verified is not the one that
//! would land. What would land is made in a tree of its own, and everything is checked there.

use std::sync::Arc;

use super::agent_log::AgentLog;
use super::env::Env;
use super::result::Stopped;
use super::run_node::Task;
use super::verify_node::{check_in, has_checks};
use super::workspace::Desk;
use crate::base::Fault;
use crate::jobs::Ctx;
use crate::projects::git::landing::Prepared;
use crate::projects::git::removal::{Uncommitted, drop_branch, remove};
use crate::projects::git::{BranchName, CommitId, Place, Repository, Worktree, worktree};

/// Checks what would land, where that is not what was verified. Says what fails.
pub(super) async fn check(
    env: &Arc<Env>,
    ctx: &Ctx,
    task: &Task,
    desk: &Desk,
    prepared: &Prepared,
    log: &AgentLog,
) -> Result<Option<String>, Stopped> {
    let (tip, head) = (&prepared.base_before, &desk.tree.head);
    if desk.repository.is_ancestor(tip, head).await? {
        return Ok(None);
    }
    if !has_checks(env, task).await? {
        return Ok(None);
    }
    log.say(env, format!("{} has moved; checking the merged result.", desk.base)).await;
    let (place, tree) = make(env, task, &desk.repository, &prepared.commit).await?;
    let failed = check_in(env, ctx, task, &tree.path, log).await;
    remove_tree(&desk.repository, &place).await?;
    failed
}

/// Makes a tree of a commit, apart from the ticket's own.
pub(super) async fn make(
    env: &Env,
    task: &Task,
    repository: &Repository,
    commit: &CommitId,
) -> Result<(Place, Worktree), Fault> {
    let ticket = task.ticket.id;
    let branch = BranchName::parse(&format!("assay/landing/{ticket}")).map_err(Fault::internal)?;
    let place = Place::new(&env.paths.worktrees(), &format!("landing-{ticket}"), branch)?;
    // An earlier run may have been cut short while it checked.
    remove_tree(repository, &place).await?;
    let tree = worktree::ensure(repository, &place, commit).await?;
    Ok((place, tree))
}

/// Removes that tree and its branch, which holds nothing but a commit that is kept elsewhere or can
/// be made again.
pub(super) async fn remove_tree(repository: &Repository, place: &Place) -> Result<(), Fault> {
    remove(repository, place, Uncommitted::Discard).await?;
    if let Some(tip) = repository.branch(place.branch()).await? {
        drop_branch(repository, place.branch(), &tip).await?;
    }
    Ok(())
}
