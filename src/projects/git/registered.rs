//! The worktrees that git has registered for a repository, and their links to it.

use std::path::{Path, PathBuf};

use tokio::fs;

use super::place::taken;
use super::repository::Repository;
use super::{CommitId, not_ready};
use crate::base::{Code, Fault};

/// The lock that `git worktree add` holds while it works, and leaves behind if it is killed.
const BEING_MADE: &str = "initializing";

/// One worktree as git has it registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// The full ref that is checked out, unless it is detached or bare.
    pub(super) branch: Option<String>,
    /// Why it is locked, if it is.
    pub(super) locked: Option<String>,
}

impl Entry {
    pub(super) fn is_half_made(&self) -> bool {
        self.locked.as_deref() == Some(BEING_MADE)
    }

    pub(super) fn refuse_if_locked(&self) -> Result<(), Fault> {
        let Some(reason) = &self.locked else { return Ok(()) };
        let path = self.path.display();
        Err(not_ready(format!(
            "The worktree {path} is locked ({reason}). Run `git worktree unlock` when it may go."
        )))
    }
}

/// Every worktree of the repository, the main one among them.
pub(super) async fn list(repository: &Repository) -> Result<Vec<Entry>, Fault> {
    let list = ["worktree", "list", "--porcelain", "-z"];
    Ok(parse_list(&repository.call().args(list).succeed().await?.stdout))
}

/// Reads `git worktree list --porcelain -z`: lines end with a NUL, entries with one more.
fn parse_list(bytes: &[u8]) -> Vec<Entry> {
    let text = String::from_utf8_lossy(bytes);
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.split('\0') {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match (key, entries.last_mut()) {
            ("worktree", _) => entries.push(Entry { path: value.into(), ..Entry::default() }),
            ("branch", Some(entry)) => entry.branch = Some(value.to_owned()),
            ("locked", Some(entry)) => entry.locked = Some(value.to_owned()),
            _ => {}
        }
    }
    entries
}

/// Forgets one registration, with the worktree if it is there. Never more than the one: others that
/// look stale may stand on a drive that is not mounted.
pub(super) async fn unregister(repository: &Repository, entry: &Entry) -> Result<(), Fault> {
    // The second `--force` is for the lock that git's own half-done work holds.
    let force: &[&str] = if entry.is_half_made() { &["--force", "--force"] } else { &["--force"] };
    let remove = repository.call().args(["worktree", "remove"]).args(force).args(["--"]);
    remove.args([&entry.path]).slow().succeed().await?;
    Ok(())
}

/// The directory that holds a linked worktree's own `HEAD` and index, once it is sure that the link
/// leads where git put it. An agent can write any link, and following one that leads to somebody
/// else's work tree would put that in order instead.
pub(super) async fn private_dir(repository: &Repository, path: &Path) -> Result<PathBuf, Fault> {
    let link = path.join(".git");
    let question = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir"];
    let text = repository.call_in(path).args(question).text().await?;
    let (top, private) = text.split_once('\n').unwrap_or((&text, ""));
    let private = fs::canonicalize(private).await.unwrap_or_default();
    let back = fs::read_to_string(private.join("gitdir")).await.unwrap_or_default();
    let is_ours = private.parent() == Some(repository.dir().join("worktrees").as_path());
    if Path::new(top) == path && is_ours && Path::new(back.trim_end()) == link {
        return Ok(private);
    }
    Err(not_ready(format!(
        "{} is no longer a worktree of the project's repository. Move it away and try again.",
        path.display()
    )))
}

/// Writes the link to the repository again, where the repository still knows the worktree. Git's
/// own `worktree repair` would do the same to other people's worktrees along the way.
pub(super) async fn relink(repository: &Repository, path: &Path) -> Result<(), Fault> {
    let link = path.join(".git");
    let Ok(mut known) = fs::read_dir(repository.dir().join("worktrees")).await else {
        return Err(taken(path));
    };
    while let Ok(Some(entry)) = known.next_entry().await {
        let private = entry.path();
        let back = fs::read_to_string(private.join("gitdir")).await.unwrap_or_default();
        if Path::new(back.trim_end()) != link {
            continue;
        }
        let text = format!("gitdir: {}\n", private.display());
        return fs::write(&link, text).await.map_err(|cause| {
            let message = format!("The file {} cannot be written.", link.display());
            Fault::new(Code::Upstream, message).because(cause)
        });
    }
    Err(taken(path))
}

/// The commit that a work tree stands on.
pub(super) async fn head(repository: &Repository, path: &Path) -> Result<Option<CommitId>, Fault> {
    let question = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
    Ok(CommitId::parse(&repository.call_in(path).args(question).run().await?.text()))
}

/// The full ref that a work tree is on, unless its `HEAD` is detached.
pub(super) async fn current_branch(
    repository: &Repository,
    path: &Path,
) -> Result<Option<String>, Fault> {
    let question = ["symbolic-ref", "--quiet", "HEAD"];
    let output = repository.call_in(path).args(question).run().await?;
    Ok((output.code == 0).then(|| output.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_worktrees_is_read() {
        let text = "worktree /r\0HEAD 01\0branch refs/heads/main\0\0\
            worktree /w/a b\0HEAD 02\0detached\0locked initializing\0\0\
            worktree /w/c\0HEAD 03\0branch refs/heads/agent/c\0locked\0prunable gone\0\0";

        let entries = parse_list(text.as_bytes());

        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0].branch.as_deref(), Some("refs/heads/main"));
        assert_eq!(entries[1].path, Path::new("/w/a b"));
        assert!(entries[1].is_half_made());
        assert!(entries[2].refuse_if_locked().is_err());
    }
}
