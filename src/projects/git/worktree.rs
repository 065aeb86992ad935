//! A ticket's worktree: made on its branch, made again where somebody deleted it, and never
//! anywhere but inside the worktree root.

use std::io;
use std::path::{Path, PathBuf};

use tokio::fs;

use super::repository::Repository;
use super::settle::settle;
use super::{BranchName, CommitId, not_ready};
use crate::base::text::cut;
use crate::base::{Code, Fault};

/// The lock that `git worktree add` holds while it works, and leaves behind if it is killed.
const BEING_MADE: &str = "initializing";
/// How many files a refusal names.
const FILES_NAMED: usize = 20;

/// Where a worktree belongs and which branch it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
    name: String,
    branch: BranchName,
}

impl Place {
    /// The worktree `<root>/<name>` for `branch`. A name is made of letters, digits, `-` and `_`.
    ///
    /// # Errors
    /// `ProjectNotReady` where the name could lead out of the root.
    pub fn new(root: &Path, name: &str, branch: BranchName) -> Result<Self, Fault> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if name.is_empty() || name.len() > 100 || !name.bytes().all(plain) {
            let shown = cut(name, 40);
            return Err(not_ready(format!("“{shown}” cannot be the name of a worktree.")));
        }
        Ok(Self { root: root.to_owned(), name: name.to_owned(), branch })
    }

    /// The worktree `<root>/<ticket id>` for the branch `agent/<ticket id>`.
    pub fn of_ticket(root: &Path, ticket: &str) -> Result<Self, Fault> {
        let branch = BranchName::parse(&format!("agent/{ticket}")).map_err(|problem| {
            not_ready(format!("“{}” cannot be part of a branch: {problem}.", cut(ticket, 40)))
        })?;
        Self::new(root, ticket, branch)
    }

    /// The branch it is for.
    #[must_use]
    pub fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// The worktree's path, which must have a worktree.
    pub(super) async fn existing_path(&self, repository: &Repository) -> Result<PathBuf, Fault> {
        let path = self.path().await?;
        match Ground::look(repository, &path).await? {
            Ground::Linked => Ok(path),
            Ground::Free | Ground::Files => {
                Err(not_ready(format!("The worktree {} is gone.", path.display())))
            }
        }
    }

    /// The worktree's path with no link in it, once its root is sure to be there.
    async fn path(&self) -> Result<PathBuf, Fault> {
        let broken = |cause: io::Error| {
            let code = match cause.kind() {
                io::ErrorKind::StorageFull => Code::StorageFull,
                _ => Code::Upstream,
            };
            let message = format!("The directory {} cannot be used.", self.root.display());
            Fault::new(code, message).because(cause)
        };
        fs::create_dir_all(&self.root).await.map_err(broken)?;
        Ok(fs::canonicalize(&self.root).await.map_err(broken)?.join(&self.name))
    }
}

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
        settle(repository, &path, &place.branch).await?;
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
    if on.as_deref() != Some(place.branch.full().as_str()) {
        return Err(not_ready(format!(
            "The worktree {} is not on the branch “{}”.",
            path.display(),
            place.branch
        )));
    }
    let head = repository.branch(&place.branch).await?;
    let head = head.ok_or_else(|| not_ready(format!("The branch “{}” is gone.", place.branch)))?;
    Ok(Worktree { path, branch: place.branch.clone(), head, is_new: false })
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

/// Writes the link to the repository again, where the repository still knows the worktree. Git's own
/// `worktree repair` would do the same to other people's worktrees along the way.
async fn relink(repository: &Repository, path: &Path) -> Result<(), Fault> {
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

/// What stands at a worktree's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// Nothing, or an empty directory.
    Free,
    /// A directory linked to some repository, as a worktree is.
    Linked,
    /// A directory with files and no link.
    Files,
}

impl Ground {
    /// Looks, and refuses everything that is not Assay's to touch.
    async fn look(repository: &Repository, path: &Path) -> Result<Self, Fault> {
        let refused = |what: &str| {
            let path = path.display();
            Err(not_ready(format!("{path} is {what}, so no worktree can be there. Move it away.")))
        };
        if repository.dir().starts_with(path) {
            return refused("the project's own repository");
        }
        match fs::symlink_metadata(path).await {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Self::Free),
            Err(cause) => {
                let message = format!("{} cannot be looked at.", path.display());
                return Err(Fault::new(Code::Upstream, message).because(cause));
            }
            Ok(found) if !found.is_dir() => return refused("a file or a link"),
            Ok(_) => {}
        }
        match fs::symlink_metadata(path.join(".git")).await {
            Ok(link) if link.is_file() => return Ok(Self::Linked),
            Ok(_) => return refused("a repository of its own"),
            Err(_) => {}
        }
        let is_empty = match fs::read_dir(path).await {
            Ok(mut entries) => matches!(entries.next_entry().await, Ok(None)),
            Err(_) => false,
        };
        Ok(if is_empty { Self::Free } else { Self::Files })
    }
}

/// One worktree as git has it registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    /// The full ref that is checked out, unless it is detached or bare.
    pub(super) branch: Option<String>,
    /// Why it is locked, if it is.
    locked: Option<String>,
}

impl Entry {
    fn is_half_made(&self) -> bool {
        self.locked.as_deref() == Some(BEING_MADE)
    }

    fn refuse_if_locked(&self) -> Result<(), Fault> {
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

/// Makes sure that no other worktree holds the branch. One whose directory is gone is forgotten.
async fn free_branch(
    repository: &Repository,
    place: &Place,
    path: &Path,
    registered: &[Entry],
) -> Result<(), Fault> {
    let full = place.branch.full();
    for entry in registered.iter().filter(|entry| entry.branch.as_ref() == Some(&full)) {
        if entry.path == path {
            continue;
        }
        if entry.locked.is_some() || fs::symlink_metadata(&entry.path).await.is_ok() {
            return Err(not_ready(format!(
                "The branch “{}” is checked out at {}. Switch that checkout to another branch.",
                place.branch,
                entry.path.display()
            )));
        }
        unregister(repository, entry).await?;
    }
    Ok(())
}

/// Forgets one registration, with the worktree if it is there. Never more than the one: others that
/// look stale may stand on a drive that is not mounted.
async fn unregister(repository: &Repository, entry: &Entry) -> Result<(), Fault> {
    // The second `--force` is for the lock that git's own half-done work holds.
    let force: &[&str] = if entry.is_half_made() { &["--force", "--force"] } else { &["--force"] };
    let remove = repository.call().args(["worktree", "remove"]).args(force).args(["--"]);
    remove.args([&entry.path]).slow().succeed().await?;
    Ok(())
}

async fn add(
    repository: &Repository,
    place: &Place,
    path: &Path,
    base: &CommitId,
) -> Result<(), Fault> {
    if repository.branch(&place.branch).await?.is_none() {
        make_branch(repository, &place.branch, base).await?;
    }
    let add = repository.call().args(["worktree", "add", "--quiet", "--"]);
    add.args([path]).args([place.branch.as_str()]).slow().succeed().await?;
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
            "The repository has a branch “{parent}”, which leaves no room for “{branch}”. Rename it."
        )));
    }
    // The empty last word demands that the branch does not exist at that moment.
    let create = ["update-ref", &branch.full(), base.as_str(), ""];
    repository.call().args(create).succeed().await?;
    Ok(())
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
    match repository.branch(&place.branch).await? {
        Some(tip) if repository.is_ancestor(&head, &tip).await? => Ok(None),
        _ => Ok(Some(Vec::new())),
    }
}

/// The path of one `XY path` entry of `git status --porcelain -z`.
pub(super) fn status_path(entry: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(entry.get(3..)?).into_owned())
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

fn taken(path: &Path) -> Fault {
    let path = path.display();
    not_ready(format!("{path} is in the way: it is no worktree of the repository. Move it away."))
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

    #[test]
    fn a_name_that_leads_out_of_the_root_is_refused() {
        let branch = BranchName::parse("agent/x").expect("a name");

        for name in ["", ".", "..", "../x", "a/b", "/etc", "-x y", "a\0"] {
            assert!(Place::new(Path::new("/w"), name, branch.clone()).is_err(), "{name:?}");
        }
        assert!(Place::of_ticket(Path::new("/w"), "../../etc").is_err());
    }
}
