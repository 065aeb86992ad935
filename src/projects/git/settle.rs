//! Putting a ticket's worktree in order after an agent: nothing half done, work on its branch.

use std::path::Path;

use tokio::fs;

use super::registered::{current_branch, head, private_dir};
use super::repository::Repository;
use super::{BranchName, not_ready};
use crate::base::Fault;

/// Marks of an operation that was not finished, with the command that knows how to end it.
const OPERATIONS: &[(&str, &str)] = &[
    ("rebase-merge", "rebase"),
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];
/// Locks that a git that was killed leaves behind.
const LOCKS: &[&str] = &["index.lock", "HEAD.lock"];

/// Ends what was left half done in a worktree and brings its commits onto `branch`. A merge whose
/// conflicts are all resolved is kept, to be committed. Only while nobody works there.
///
/// # Errors
/// `ProjectNotReady` where the worktree stands on commits that do not follow from the branch.
pub(super) async fn settle(
    repository: &Repository,
    path: &Path,
    branch: &BranchName,
) -> Result<(), Fault> {
    let private = private_dir(repository, path).await?;
    let branch_lock = repository.dir().join(format!("{}.lock", branch.full()));
    for lock in LOCKS.iter().map(|lock| private.join(lock)).chain([branch_lock]) {
        // Mostly there is none.
        drop(fs::remove_file(lock).await);
    }
    for (mark, verb) in OPERATIONS {
        if fs::symlink_metadata(private.join(mark)).await.is_ok() {
            give_up(repository, path, verb).await?;
        }
    }
    if is_merging(&private).await && has_conflicts(repository, path).await? {
        give_up(repository, path, "merge").await?;
    }
    return_to(repository, path, branch).await
}

/// Whether a merge waits to be committed.
pub(super) async fn is_merging(private: &Path) -> bool {
    fs::symlink_metadata(private.join("MERGE_HEAD")).await.is_ok()
}

async fn has_conflicts(repository: &Repository, path: &Path) -> Result<bool, Fault> {
    let list = repository.call_in(path).args(["ls-files", "--unmerged", "-z"]);
    Ok(!list.at_most(1).succeed().await?.stdout.is_empty())
}

/// Aborts, and where git cannot go back, forgets the operation and keeps the files.
async fn give_up(repository: &Repository, path: &Path, verb: &str) -> Result<(), Fault> {
    if repository.call_in(path).args([verb, "--abort"]).slow().run().await?.code != 0 {
        repository.call_in(path).args([verb, "--quit"]).slow().succeed().await?;
    }
    Ok(())
}

/// Where the agent left the branch and committed on top of it, the branch takes the commits.
async fn return_to(repository: &Repository, path: &Path, branch: &BranchName) -> Result<(), Fault> {
    let full = branch.full();
    if current_branch(repository, path).await?.as_ref() == Some(&full) {
        return Ok(());
    }
    let (head, tip) = (head(repository, path).await?, repository.branch(branch).await?);
    let (Some(head), Some(tip)) = (head, tip) else {
        return Err(strayed(path, branch));
    };
    if !repository.is_ancestor(&tip, &head).await? {
        return Err(strayed(path, branch));
    }
    let forward = ["update-ref", &full, head.as_str(), tip.as_str()];
    repository.call().args(forward).succeed().await?;
    repository.call_in(path).args(["symbolic-ref", "HEAD", &full]).succeed().await?;
    Ok(())
}

fn strayed(path: &Path, branch: &BranchName) -> Fault {
    let path = path.display();
    not_ready(format!(
        "The worktree {path} has left the branch “{branch}” for other commits. Run \
         `git switch {branch}` there, after keeping what is wanted."
    ))
}
