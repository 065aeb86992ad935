//! A person's checkout of the base branch while something lands on it: left alone unless it is
//! clean, and then brought along without a byte lost that git does not know.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tokio::fs;

use super::CommitId;
use super::landing::{Checkout, Outcome, Prepared};
use super::registered::list;
use super::removal::status_path;
use super::repository::Repository;
use crate::base::Fault;

/// How many files an outcome names.
const FILES_NAMED: usize = 20;
/// Files in a work tree's private directory that tell of something unfinished.
const UNFINISHED: &[&str] =
    &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// The checkout of the base, if there is one, fit to be brought along. Otherwise the outcome that
/// says what is in the way.
pub(super) async fn holder(
    repository: &Repository,
    prepared: &Prepared,
) -> Result<Result<Option<PathBuf>, Outcome>, Fault> {
    if let Some(busy) = rebasing(repository, prepared).await? {
        return Ok(Err(busy));
    }
    let mut holders = holders(repository, prepared).await?;
    let Some(path) = holders.pop() else { return Ok(Ok(None)) };
    if !holders.is_empty() {
        let advice = "The base branch is checked out more than once. Switch all but one checkout \
            to another branch.";
        return Ok(Err(in_the_way(path, Vec::new(), advice)));
    }
    match obstacle(repository, &path, prepared).await? {
        Some(obstacle) => Ok(Err(obstacle)),
        None => Ok(Ok(Some(path))),
    }
}

/// Brings the files from the old tip to the new one. Git looks at every file before it writes any.
/// Returns whether it went through.
pub(super) async fn follow(
    repository: &Repository,
    path: &Path,
    prepared: &Prepared,
) -> Result<bool, Fault> {
    let (old, new) = (prepared.base_before.as_str(), prepared.commit.as_str());
    let call = repository.call_in(path).args(["read-tree", "-m", "-u", old, new]);
    Ok(call.slow().run().await?.code == 0)
}

/// Goes on where a crash came between the branch and its checkout: files that are still exactly
/// those of the old tip follow; others are left alone.
pub(super) async fn catch_up(
    repository: &Repository,
    prepared: &Prepared,
    base_tip: &CommitId,
) -> Result<Checkout, Fault> {
    let holders = holders(repository, prepared).await?;
    let [path] = holders.as_slice() else { return Ok(Checkout::None) };
    let index_is = async |commit: &CommitId| {
        let compare = ["diff-index", "--cached", "--quiet", commit.as_str(), "--"];
        repository.call_in(path).args(compare).slow().asks().await
    };
    if base_tip != &prepared.commit || !index_is(&prepared.base_before).await? {
        return Ok(Checkout::Updated(path.clone()));
    }
    if obstacle_to_files(repository, path, prepared).await?.is_none()
        && follow(repository, path, prepared).await?
    {
        return Ok(Checkout::Updated(path.clone()));
    }
    Ok(Checkout::Behind(path.clone()))
}

/// The checkout has changes that are not committed.
pub(super) fn dirty(path: PathBuf, files: Vec<String>) -> Outcome {
    let advice = "The base branch is checked out with changes that are not committed. Commit or \
        stash them, or switch that checkout to another branch, and land again.";
    in_the_way(path, files, advice)
}

fn in_the_way(path: PathBuf, mut files: Vec<String>, advice: &str) -> Outcome {
    files.truncate(FILES_NAMED);
    Outcome::CheckoutDirty { path, files, advice: advice.to_owned() }
}

/// The work trees on the base branch that are really there.
async fn holders(repository: &Repository, prepared: &Prepared) -> Result<Vec<PathBuf>, Fault> {
    let full = prepared.base.full();
    let mut holders = Vec::new();
    for entry in list(repository).await? {
        // A bare repository lists itself, too, with no work tree to look after.
        let is_tree = fs::symlink_metadata(entry.path.join(".git")).await.is_ok();
        if entry.branch.as_ref() == Some(&full) && is_tree {
            holders.push(entry.path);
        }
    }
    Ok(holders)
}

/// A work tree in the middle of a rebase of the base branch is on no branch, and would write the
/// base at the end.
async fn rebasing(repository: &Repository, prepared: &Prepared) -> Result<Option<Outcome>, Fault> {
    let mut private_dirs = vec![repository.dir().to_owned()];
    if let Ok(mut entries) = fs::read_dir(repository.dir().join("worktrees")).await {
        while let Ok(Some(entry)) = entries.next_entry().await {
            private_dirs.push(entry.path());
        }
    }
    let full = prepared.base.full();
    for dir in private_dirs {
        for operation in ["rebase-merge", "rebase-apply"] {
            let name = fs::read_to_string(dir.join(operation).join("head-name")).await;
            if name.is_ok_and(|name| name.trim() == full) {
                let advice = "The base branch is being rebased. Finish that with \
                    `git rebase --continue` or `git rebase --abort`, and land again.";
                return Ok(Some(in_the_way(dir, Vec::new(), advice)));
            }
        }
    }
    Ok(None)
}

/// What speaks against moving the checkout from the old tip to the new one.
async fn obstacle(
    repository: &Repository,
    path: &Path,
    prepared: &Prepared,
) -> Result<Option<Outcome>, Fault> {
    let status = ["status", "--porcelain", "-z", "--untracked-files=no", "--no-renames"];
    let call = repository.call_in(path).args(status).args(["--ignore-submodules=dirty"]);
    let output = call.slow().at_most(1 << 16).succeed().await?;
    let changed: Vec<String> = output.fields().filter_map(status_path).collect();
    if !changed.is_empty() {
        return Ok(Some(dirty(path.to_owned(), changed)));
    }
    let question = ["rev-parse", "--absolute-git-dir"];
    let private = PathBuf::from(repository.call_in(path).args(question).text().await?);
    for mark in UNFINISHED {
        if fs::symlink_metadata(private.join(mark)).await.is_ok() {
            let advice = "The base branch is checked out in the middle of a merge or rebase. \
                Finish or abort it, and land again.";
            return Ok(Some(in_the_way(path.to_owned(), Vec::new(), advice)));
        }
    }
    obstacle_to_files(repository, path, prepared).await
}

/// Files that git does not track stand where the landed commit has new ones, or git says that it
/// could not bring the files along.
async fn obstacle_to_files(
    repository: &Repository,
    path: &Path,
    prepared: &Prepared,
) -> Result<Option<Outcome>, Fault> {
    let (old, new) = (prepared.base_before.as_str(), prepared.commit.as_str());
    let diff = ["diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"];
    let output = repository.call().args(diff).args([old, new, "--"]).slow().succeed().await?;
    let covered = covered(path, &output.fields().collect::<Vec<_>>()).await;
    if !covered.is_empty() {
        let advice = "The base branch is checked out, and files that are not in git stand where \
            the change brings new ones. Move them away, and land again.";
        return Ok(Some(in_the_way(path.to_owned(), covered, advice)));
    }
    // A file that was only touched looks changed to `read-tree` until the index is told.
    repository.call_in(path).args(["update-index", "-q", "--refresh"]).slow().run().await?;
    let trial = ["read-tree", "--dry-run", "-m", "-u", old, new];
    match repository.call_in(path).args(trial).slow().run().await?.code {
        0 => Ok(None),
        _ => Ok(Some(dirty(path.to_owned(), Vec::new()))),
    }
}

/// The new paths on which something stands already. Git itself would write over files that are
/// ignored, such as a person's settings. `fields` are status and path in turn.
async fn covered(top: &Path, fields: &[&[u8]]) -> Vec<String> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let pairs = || fields.chunks_exact(2).map(|pair| (pair[0], text(pair[1])));
    let deleted: HashSet<String> = pairs().filter(|(s, _)| *s == b"D").map(|(_, p)| p).collect();
    let mut covered = Vec::new();
    for (_, path) in pairs().filter(|(status, _)| *status == b"A") {
        let mut stands = fs::symlink_metadata(top.join(&path)).await.is_ok();
        for part in Path::new(&path).ancestors().skip(1) {
            let found = fs::symlink_metadata(top.join(part)).await;
            let is_known = part.to_str().is_some_and(|part| deleted.contains(part));
            stands |= found.is_ok_and(|found| !found.is_dir()) && !is_known;
        }
        if stands {
            covered.push(path);
        }
    }
    covered
}
