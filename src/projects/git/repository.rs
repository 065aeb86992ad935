//! The repository that Assay works in: the project's own directory, or a bare mirror of a remote.

use std::path::{Path, PathBuf};

use tokio::fs;
use tokio::sync::MutexGuard;

use super::inspect::{self, State};
use super::location::{Location, RemoteUrl};
use super::program::{Call, Git, Output, Turn, failed};
use super::{BranchName, CommitId, not_ready};
use crate::base::{Code, Fault};

/// Where a mirror keeps what the remote has; its own `refs/heads/` holds the tickets' branches.
const REMOTE_BRANCHES: &str = "refs/remotes/origin/";

/// How often a fetch is tried that meets another one.
const FETCH_TRIES: u32 = 4;

/// An opened repository. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    dir: PathBuf,
    remote: Option<RemoteUrl>,
    turn: Turn,
}

impl Repository {
    /// Opens the repository of a project. For a local path that is the repository itself; for a
    /// remote it is `<mirrors>/<project>.git`, made on first use and filled by
    /// [`Repository::refresh`]. `project` is the project's id.
    ///
    /// # Errors
    /// `ProjectNotReady` where the local path holds no usable repository.
    pub async fn open(
        git: &Git,
        location: &Location,
        mirrors: &Path,
        project: &str,
    ) -> Result<Self, Fault> {
        match location {
            Location::Local(path) => match inspect::probe(git, path).await? {
                Ok(found) => Ok(Self::at(git, found.common_dir, None)),
                Err(state) => Err(state.fault(location)),
            },
            Location::Remote(url) => {
                let dir = mirror(git, mirrors, project).await?;
                Ok(Self::at(git, dir, Some(url.clone())))
            }
        }
    }

    fn at(git: &Git, dir: PathBuf, remote: Option<RemoteUrl>) -> Self {
        let turn = git.turn(&dir);
        Self { git: git.clone(), dir, remote, turn }
    }

    /// Waits until nobody else in this process lists, makes or removes worktrees here.
    pub(super) async fn in_turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// The directory that holds the objects and refs.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The remote it mirrors, if it is a mirror.
    #[must_use]
    pub fn remote(&self) -> Option<&RemoteUrl> {
        self.remote.as_ref()
    }

    /// A call on this repository.
    pub(super) fn call(&self) -> Call<'_> {
        self.git.repository(&self.dir)
    }

    /// A call in one of its work trees.
    pub(super) fn call_in(&self, top: &Path) -> Call<'_> {
        self.git.tree(top)
    }

    /// The ref that holds a base branch here.
    pub(super) fn base_ref(&self, base: &BranchName) -> String {
        match self.remote {
            None => base.full(),
            Some(_) => format!("{REMOTE_BRANCHES}{base}"),
        }
    }

    /// Fetches the remote's branches. Does nothing for a local repository.
    ///
    /// # Errors
    /// `Upstream` where the remote does not answer or refuses; its words are in the message.
    pub async fn refresh(&self) -> Result<(), Fault> {
        let Some(url) = &self.remote else { return Ok(()) };
        let refspec = format!("+refs/heads/*:{REMOTE_BRANCHES}*");
        let fetch = ["fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--"];
        let mut tries_left = FETCH_TRIES;
        let output = loop {
            let call = self.call().args(fetch).args([url.as_str(), &refspec]);
            let output = call.slow().run().await?;
            tries_left -= 1;
            // Two fetches at once may meet at a ref, and a fetch may come upon a worktree that is
            // being made. Whoever comes second only has to look again.
            let has_met = ["cannot lock ref", "unable to update local ref", "/commondir"];
            if tries_left == 0 || !has_met.iter().any(|words| output.said.contains(words)) {
                break output;
            }
        };
        if output.code == 0 {
            return Ok(());
        }
        Err(match self.failed("fetch", &output) {
            full if full.code == Code::StorageFull => full,
            other => {
                State::Unreachable { said: other.message }.fault(&Location::Remote(url.clone()))
            }
        })
    }

    /// Git failed on this repository; the remote's address is written as it may be shown.
    pub(super) fn failed(&self, verb: &str, output: &Output) -> Fault {
        let mut output = output.clone();
        if let Some(url) = &self.remote {
            output.said = output.said.replace(url.as_str(), &url.to_string());
        }
        failed(verb, &output)
    }

    /// The tip of a base branch, as of the last [`Repository::refresh`].
    ///
    /// # Errors
    /// `ProjectNotReady` where there is no such branch.
    pub async fn tip(&self, base: &BranchName) -> Result<CommitId, Fault> {
        let found = self.resolve(&self.base_ref(base)).await?;
        found.ok_or_else(|| {
            not_ready(format!(
                "The repository has no branch “{base}”. Create it, or set the project's base \
                 branch to one that exists."
            ))
        })
    }

    /// The tip of a branch of this repository's own, such as a ticket's.
    pub async fn branch(&self, branch: &BranchName) -> Result<Option<CommitId>, Fault> {
        self.resolve(&branch.full()).await
    }

    /// The tip of a branch, be it this repository's own or the remote's, as of the last
    /// [`Repository::refresh`].
    pub async fn any_branch(&self, branch: &BranchName) -> Result<Option<CommitId>, Fault> {
        match self.branch(branch).await? {
            Some(own) => Ok(Some(own)),
            None => self.resolve(&self.base_ref(branch)).await,
        }
    }

    /// The newest commit that both have; `None` where they share no history.
    pub async fn merge_base(
        &self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>, Fault> {
        let output = self.call().args(["merge-base", one.as_str(), other.as_str()]).run().await?;
        match output.code {
            0 => Ok(CommitId::parse(&output.text())),
            1 => Ok(None),
            _ => Err(self.failed("merge-base", &output)),
        }
    }

    /// Whether the commit's object is here.
    pub async fn has_commit(&self, id: &CommitId) -> Result<bool, Fault> {
        Ok(self.resolve(id.as_str()).await?.is_some())
    }

    /// Whether `older` is `newer` or one of its ancestors. Not where either is not here.
    pub async fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, Fault> {
        if !self.has_commit(older).await? || !self.has_commit(newer).await? {
            return Ok(false);
        }
        let question = ["merge-base", "--is-ancestor", older.as_str(), newer.as_str()];
        self.call().args(question).asks().await
    }

    /// The commit that a full ref or id names.
    async fn resolve(&self, name: &str) -> Result<Option<CommitId>, Fault> {
        let question = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        let output = self.call().args(question).args([format!("{name}^{{commit}}")]).run().await?;
        match output.code {
            0 => Ok(CommitId::parse(&output.text())),
            1 => Ok(None),
            // An id that names no object, or one that is no commit.
            128 if CommitId::parse(name).is_some() => Ok(None),
            _ => Err(self.failed("rev-parse", &output)),
        }
    }
}

/// The directory of a project's mirror, made if it is not there.
async fn mirror(git: &Git, mirrors: &Path, project: &str) -> Result<PathBuf, Fault> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if project.is_empty() || !project.bytes().all(plain) {
        return Err(Fault::internal(format!("{project:?} cannot name a mirror")));
    }
    let broken = |cause| {
        let message = format!("The directory {} cannot be used.", mirrors.display());
        Fault::new(Code::Upstream, message).because(cause)
    };
    fs::create_dir_all(mirrors).await.map_err(broken)?;
    let dir = fs::canonicalize(mirrors).await.map_err(broken)?.join(format!("{project}.git"));
    // Making it again is safe, and mends one whose making was cut short.
    let init = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--"];
    git.anywhere().args(init).args([&dir]).succeed().await?;
    Ok(dir)
}
