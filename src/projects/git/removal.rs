//! Removing a worktree, and a branch whose work has landed, without losing anything.

use std::path::Path;

use super::place::{Ground, Place, taken};
use super::registered::{head, list, unregister};
use super::repository::Repository;
use super::{BranchName, CommitId};
use crate::base::Fault;

/// How many files a refusal names.
const FILES_NAMED: usize = 20;

/// What to do with changes that were never committed when a worktree goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommitted {
    /// Refuse to remove the worktree.
    Keep,
    /// Let them go with it.
    Discard,
}

/// What came of removing a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone; its branch is kept.
    Removed,
    /// It was not there.
    Absent,
    /// It is locked and was left alone.
    Locked {
        /// Why, in the words of whoever locked it.
        reason: String,
    },
    /// It holds what would be lost and was left alone.
    Kept {
        /// Some of the files that are not committed; none where commits left the branch.
        files: Vec<String>,
    },
}

/// Removes a worktree and keeps its branch.
///
/// # Errors
/// `ProjectNotReady` where what stands at its path is not a worktree of the repository.
pub async fn remove(
    repository: &Repository,
    place: &Place,
    uncommitted: Uncommitted,
) -> Result<Removal, Fault> {
    let _turn = repository.in_turn().await;
    let path = place.path().await?;
    let ground = Ground::look(repository, &path).await?;
    let registered = list(repository).await?;
    let Some(entry) = registered.iter().find(|entry| entry.path == path) else {
        return match ground {
            Ground::Free => Ok(Removal::Absent),
            Ground::Linked | Ground::Files => Err(taken(&path)),
        };
    };
    if let Some(reason) = entry.locked.as_ref().filter(|_| !entry.is_half_made()) {
        return Ok(Removal::Locked { reason: reason.clone() });
    }
    if uncommitted == Uncommitted::Keep
        && let Some(files) = losses(repository, place, &path, ground).await?
    {
        return Ok(Removal::Kept { files });
    }
    unregister(repository, entry).await?;
    if matches!(ground, Ground::Files) {
        return Err(taken(&path));
    }
    Ok(Removal::Removed)
}

/// Deletes a ticket's branch whose work is known to have landed, if its tip is still `landed_tip`:
/// the tip that was recorded when it landed, as after a squash no ancestry can tell. Returns
/// whether the branch is gone.
///
/// # Errors
/// `Upstream` where git fails otherwise.
pub async fn drop_branch(
    repository: &Repository,
    branch: &BranchName,
    landed_tip: &CommitId,
) -> Result<bool, Fault> {
    let _turn = repository.in_turn().await;
    match repository.branch(branch).await? {
        None => return Ok(true),
        Some(tip) if tip != *landed_tip => return Ok(false),
        Some(_) => {}
    }
    let full = branch.full();
    if list(repository).await?.iter().any(|entry| entry.branch.as_ref() == Some(&full)) {
        return Ok(false);
    }
    let delete = ["update-ref", "-d", &full, landed_tip.as_str()];
    Ok(repository.call().args(delete).run().await?.code == 0)
}

/// What would be lost with the worktree: uncommitted files, or commits beside the branch.
async fn losses(
    repository: &Repository,
    place: &Place,
    path: &Path,
    ground: Ground,
) -> Result<Option<Vec<String>>, Fault> {
    match ground {
        Ground::Free => return Ok(None),
        Ground::Files => return Ok(Some(Vec::new())),
        Ground::Linked => {}
    }
    let status = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
    let output = repository.call_in(path).args(status).slow().at_most(1 << 16).succeed().await?;
    let files: Vec<String> = output.fields().take(FILES_NAMED).filter_map(status_path).collect();
    if !files.is_empty() {
        return Ok(Some(files));
    }
    let Some(head) = head(repository, path).await? else { return Ok(None) };
    match repository.branch(place.branch()).await? {
        Some(tip) if repository.is_ancestor(&head, &tip).await? => Ok(None),
        _ => Ok(Some(Vec::new())),
    }
}

/// The path of one `XY path` entry of `git status --porcelain -z`.
pub(super) fn status_path(entry: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(entry.get(3..)?).into_owned())
}
