//! Bringing a ticket's branch up to a base that has moved, in its worktree. By a merge and never by
//! a rebase: the branch's commits are what proofs and checkpoints name, and stay what they are.

use tokio::fs;

use super::commit::{COMMITTER, signed};
use super::place::Place;
use super::repository::Repository;
use super::{CommitId, commit::Author};
use crate::base::{Fault, Millis};

/// Bytes of a file that is looked through for marks of a conflict at most.
const FILE_MAX: u64 = 16 << 20;

/// What came of beginning the merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The branch has the commit already.
    UpToDate,
    /// It went together. The merge waits to be committed.
    Merged,
    /// These files have marks of a conflict in them, or wait to be added or removed.
    Conflicts(Vec<String>),
}

/// Begins to merge `onto` into the branch. The worktree must be clean, and nobody may work there.
///
/// # Errors
/// `Upstream` where git fails otherwise; the worktree then is as it was.
pub async fn begin(
    repository: &Repository,
    place: &Place,
    onto: &CommitId,
    at: Millis,
) -> Result<Begun, Fault> {
    let path = place.existing_path(repository).await?;
    let _turn = repository.in_turn().await;
    let tip = repository.branch(place.branch()).await?;
    if let Some(tip) = &tip
        && repository.is_ancestor(onto, tip).await?
    {
        return Ok(Begun::UpToDate);
    }
    let merge = ["merge", "--quiet", "--no-ff", "--no-commit", "--no-verify", onto.as_str()];
    let author = Author { name: COMMITTER.0.to_owned(), email: COMMITTER.1.to_owned() };
    let call = signed(repository.call_in(&path).args(merge).slow(), &author, at);
    let output = call.run().await?;
    if output.code == 0 {
        return Ok(Begun::Merged);
    }
    match unmerged(repository, &path).await? {
        files if files.is_empty() => Err(repository.failed("merge", &output)),
        files => Ok(Begun::Conflicts(files)),
    }
}

/// Takes files for resolved that conflicted and have no marks of it left. A file that git could
/// leave no marks in, such as one that a side deleted, is resolved by whoever adds or removes it.
pub async fn take_resolved(repository: &Repository, place: &Place) -> Result<(), Fault> {
    let path = place.existing_path(repository).await?;
    let _turn = repository.in_turn().await;
    let list = repository.call_in(&path).args(["ls-files", "--unmerged", "-z"]);
    let output = list.succeed().await?;
    for file in both_changed(output.fields()) {
        if is_marked(&path.join(&file)).await {
            continue;
        }
        // Every pathspec is taken literally.
        let add = ["add", "--all", "--", &file];
        repository.call_in(&path).args(add).succeed().await?;
    }
    Ok(())
}

/// The files in conflict, in order of path.
async fn unmerged(repository: &Repository, path: &std::path::Path) -> Result<Vec<String>, Fault> {
    let list = ["diff", "--name-only", "--diff-filter=U", "-z", "--no-ext-diff"];
    let output = repository.call_in(path).args(list).succeed().await?;
    Ok(output.fields().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// The files of `git ls-files --unmerged -z` that both sides have: `mode id stage⇥path`.
fn both_changed<'a>(entries: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut ours: Option<String> = None;
    let mut files = Vec::new();
    for entry in entries {
        let entry = String::from_utf8_lossy(entry);
        let Some((head, name)) = entry.split_once('\t') else { continue };
        match head.rsplit(' ').next() {
            Some("2") => ours = Some(name.to_owned()),
            Some("3") if ours.as_deref() == Some(name) => files.push(name.to_owned()),
            _ => {}
        }
    }
    files
}

/// Whether a file may still have marks of a conflict. One that is no text has none, and one that
/// is gone was removed on purpose.
async fn is_marked(path: &std::path::Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path).await else { return false };
    if !found.is_file() || found.len() > FILE_MAX {
        return true;
    }
    let Ok(bytes) = fs::read(path).await else { return true };
    let marks: [&[u8]; 3] = [b"<<<<<<< ", b"=======", b">>>>>>> "];
    let has = |mark: &[u8]| bytes.split(|&b| b == b'\n').any(|line| line.starts_with(mark));
    // Git takes a side of a binary file and marks nothing.
    bytes.contains(&0) || marks.into_iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_one_side_deleted_is_nobodys_to_take_for_resolved() {
        let entries = [
            "100644 aa 1\tboth.txt",
            "100644 bb 2\tboth.txt",
            "100644 cc 3\tboth.txt",
            "100644 dd 1\tgone.txt",
            "100644 ee 3\tgone.txt",
        ];

        let files = both_changed(entries.into_iter().map(str::as_bytes));

        assert_eq!(files, ["both.txt"]);
    }

    #[tokio::test]
    async fn a_file_is_resolved_once_its_marks_are_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (open, done) = (dir.path().join("open"), dir.path().join("done"));
        fs::write(&open, "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n").await.unwrap();
        fs::write(&done, "a\nb\n=======\n").await.unwrap();

        assert!(is_marked(&open).await);
        assert!(!is_marked(&done).await);
        assert!(!is_marked(&dir.path().join("removed")).await);
    }
}
