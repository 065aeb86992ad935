//! A ticket's worktree: made on its branch, made again where somebody deleted it, and never
//! anywhere but inside the worktree root.

use std::path::{Path, PathBuf};

use tokio::fs;

use super::place::{Ground, taken};
use super::registered::{Entry, current_branch, list, private_dir, relink, unregister};
use super::repository::Repository;
use super::settle::settle;
use super::{BranchName, CommitId, Place, not_ready};
use crate::base::Fault;

/// A worktree that was checked: its top is `path`, its branch is checked out, it belongs to the
/// repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its top directory, absolute and without links.
    pub path: PathBuf,
    /// The branch that is checked out.
    pub branch: BranchName,
    /// The branch's tip.
    pub head: CommitId,
    /// Whether it was made by this call, so that nothing an earlier agent left is in it.
    pub is_new: bool,
}

/// Makes sure that the worktree is there, on its branch and fit for an agent to start in.
///
/// The branch is made at `base` if it is not there; a branch that is there is a checkpoint and is
/// taken as it stands. A worktree that was deleted is made again from its branch. A rebase or
/// merge that an agent left half done is put away, and commits it made beside its branch are
/// brought onto it. Call it only while nobody works in the worktree.
///
/// # Errors
/// `ProjectNotReady` where something stands in the way that only a person may move: the branch is
/// checked out elsewhere, the path is taken or is a repository of its own, the worktree is locked
/// and gone, or the work in it left the branch.
pub async fn ensure(
    repository: &Repository,
    place: &Place,
    base: &CommitId,
) -> Result<Worktree, Fault> {
    let _turn = repository.in_turn().await;
    let path = place.path().await?;
    let ground = Ground::look(repository, &path).await?;
    let registered = list(repository).await?;
    free_branch(repository, place, &path, &registered).await?;
    let mine = registered.iter().find(|entry| entry.path == path);
    let is_new = match (mine, ground) {
        (Some(entry), _) if entry.is_half_made() => {
            // Its making was cut short, so no agent has been in it yet.
            unregister(repository, entry).await?;
            true
        }
        (Some(_), Ground::Linked) => false,
        (Some(_), Ground::Files) => {
            // Its link to the repository was deleted; the files may be somebody's work.
            relink(repository, &path).await?;
            false
        }
        (Some(entry), Ground::Free) => {
            entry.refuse_if_locked()?;
            unregister(repository, entry).await?;
            true
        }
        (None, Ground::Free) => true,
        (None, Ground::Linked | Ground::Files) => return Err(taken(&path)),
    };
    if is_new {
        add(repository, place, &path, base).await?;
    } else {
        settle(repository, &path, place.branch()).await?;
    }
    let found = check(repository, place).await?;
    Ok(Worktree { is_new, ..found })
}

/// Checks that the worktree is what it must be. Changes nothing.
///
/// # Errors
/// `ProjectNotReady` where it is gone, belongs to another repository or is on another branch;
/// [`ensure`] mends what can be mended.
pub async fn check(repository: &Repository, place: &Place) -> Result<Worktree, Fault> {
    let path = place.existing_path(repository).await?;
    private_dir(repository, &path).await?;
    let on = current_branch(repository, &path).await?;
    if on.as_deref() != Some(place.branch().full().as_str()) {
        return Err(not_ready(format!(
            "The worktree {} is not on the branch “{}”.",
            path.display(),
            place.branch()
        )));
    }
    let head = repository.branch(place.branch()).await?;
    let head =
        head.ok_or_else(|| not_ready(format!("The branch “{}” is gone.", place.branch())))?;
    Ok(Worktree { path, branch: place.branch().clone(), head, is_new: false })
}

/// Makes sure that no other worktree holds the branch. One whose directory is gone is forgotten.
async fn free_branch(
    repository: &Repository,
    place: &Place,
    path: &Path,
    registered: &[Entry],
) -> Result<(), Fault> {
    let full = place.branch().full();
    for entry in registered.iter().filter(|entry| entry.branch.as_ref() == Some(&full)) {
        if entry.path == path {
            continue;
        }
        if entry.locked.is_some() || fs::symlink_metadata(&entry.path).await.is_ok() {
            return Err(not_ready(format!(
                "The branch “{}” is checked out at {}. Switch that checkout to another branch.",
                place.branch(),
                entry.path.display()
            )));
        }
        unregister(repository, entry).await?;
    }
    Ok(())
}

async fn add(
    repository: &Repository,
    place: &Place,
    path: &Path,
    base: &CommitId,
) -> Result<(), Fault> {
    if repository.branch(place.branch()).await?.is_none() {
        make_branch(repository, place.branch(), base).await?;
    }
    let add = repository.call().args(["worktree", "add", "--quiet", "--"]);
    add.args([path]).args([place.branch().as_str()]).slow().succeed().await?;
    Ok(())
}

async fn make_branch(
    repository: &Repository,
    branch: &BranchName,
    base: &CommitId,
) -> Result<(), Fault> {
    if !repository.has_commit(base).await? {
        let short = base.short();
        return Err(not_ready(format!(
            "The commit {short} that the work is based on is no longer in the repository."
        )));
    }
    let parent = branch.as_str().split('/').next().and_then(|name| BranchName::parse(name).ok());
    if let Some(parent) = parent.filter(|parent| parent != branch)
        && repository.branch(&parent).await?.is_some()
    {
        return Err(not_ready(format!(
            "The repository has a branch “{parent}”, which leaves no room for “{branch}”. Rename \
             “{parent}”."
        )));
    }
    // The empty last word demands that the branch does not exist at that moment.
    let create = ["update-ref", &branch.full(), base.as_str(), ""];
    repository.call().args(create).succeed().await?;
    Ok(())
}
