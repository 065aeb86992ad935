//! Throwing away what a reader left in a worktree.

use super::CommitId;
use super::place::Place;
use super::repository::Repository;
use super::settle::settle;
use crate::base::Fault;

/// Takes a worktree and its branch back to `commit`, where they stood before: changes go, new files
/// and new commits too. Files that the project ignores stay, as installed dependencies are dear.
/// Only while nobody works there. Says whether there was anything to throw away.
///
/// # Errors
/// `ProjectNotReady` where the worktree is gone or not what it must be.
pub async fn discard(
    repository: &Repository,
    place: &Place,
    commit: &CommitId,
) -> Result<bool, Fault> {
    let path = place.existing_path(repository).await?;
    settle(repository, &path, place.branch()).await?;
    let status = ["status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames"];
    let changes = repository.call_in(&path).args(status).slow().at_most(1).succeed().await?;
    let is_clean = changes.stdout.is_empty()
        && repository.branch(place.branch()).await?.as_ref() == Some(commit);
    let reset = ["reset", "--quiet", "--hard", commit.as_str()];
    repository.call_in(&path).args(reset).slow().succeed().await?;
    let clean = ["clean", "--quiet", "-ffd"];
    repository.call_in(&path).args(clean).slow().succeed().await?;
    Ok(!is_clean)
}
