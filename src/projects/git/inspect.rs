//! Looking at a project's repository without changing anything: is it usable, and if not, why.

use std::path::{Path, PathBuf};

use tokio::fs;

use super::location::{Location, RemoteUrl};
use super::program::{Git, Output, failed};
use super::{BranchName, CommitId, not_ready};
use crate::base::text::{cut, first_line, printable};
use crate::base::{Code, Fault};

/// How many branches a state names.
const BRANCHES_NAMED: usize = 20;

/// What a repository is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Tickets can be done in it.
    Ready(Ready),
    /// There is nothing at the path.
    Missing,
    /// There is something at the path, but it is not the top of a git repository.
    NotARepository,
    /// The path is the `.git` directory of a repository, not the repository.
    GitDirectory,
    /// Git refuses it, as another user owns it.
    OwnedByAnother,
    /// It has no commit on any branch.
    NoCommits,
    /// It has commits, but the base branch is not there.
    BaseMissing {
        /// The branch that was looked for; `None` where none was named and the repository's `HEAD`
        /// stands on no branch.
        base: Option<String>,
        /// Some of the branches that are there, in order of name.
        branches: Vec<String>,
    },
    /// Git is not started there, as its configuration names programs of its own.
    Refused {
        /// Which, and what to do.
        said: String,
    },
    /// The remote did not answer or refused.
    Unreachable {
        /// Its words, or git's.
        said: String,
    },
}

/// A usable repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The base branch: the one asked for, or the one `HEAD` stands on.
    pub base: BranchName,
    /// The base branch's tip.
    pub tip: CommitId,
    /// Whether it has no work tree. True for every remote.
    pub is_bare: bool,
    /// The branch a person has checked out in it.
    pub checked_out: Option<BranchName>,
    /// Whether that checkout has changes to tracked files that are not committed.
    pub is_dirty: bool,
}

impl State {
    /// The usable repository, or the fault that says what is wrong and what to do.
    pub fn ready(self, location: &Location) -> Result<Ready, Fault> {
        match self {
            Self::Ready(ready) => Ok(ready),
            other => Err(other.fault(location)),
        }
    }

    /// What is wrong and what to do about it.
    pub(super) fn fault(&self, location: &Location) -> Fault {
        let said = self.words(location);
        match self {
            // A remote that does not answer may answer the next time.
            Self::Unreachable { .. } => Fault::new(Code::Upstream, said),
            _ => not_ready(said),
        }
    }

    fn words(&self, location: &Location) -> String {
        match self {
            Self::Ready(_) => format!("The repository {location} is ready."),
            Self::Missing => format!(
                "There is nothing at {location}. Create the repository there, or give the project \
                 the right path."
            ),
            Self::NotARepository => format!(
                "{location} is not the top directory of a git repository. Run `git init` and \
                 commit there, or give the project the right path."
            ),
            Self::GitDirectory => format!(
                "{location} is the inside of a repository. Give the project the directory above it."
            ),
            Self::OwnedByAnother => format!(
                "{location} belongs to another user, so git refuses it. Make the server's user its \
                 owner, or run `git config --global --add safe.directory {location}` as that user."
            ),
            Self::NoCommits => format!(
                "The repository {location} has no commits. Commit something first; an empty commit \
                 will do: git commit --allow-empty -m 'First commit'."
            ),
            Self::BaseMissing { base, branches } => {
                missing_base(location, base.as_deref(), branches)
            }
            Self::Refused { said } => said.clone(),
            Self::Unreachable { said } => format!(
                "The remote {location} cannot be reached: {said} Check the address and that the \
                 server's user may read it without being asked for a password."
            ),
        }
    }
}

fn missing_base(location: &Location, base: Option<&str>, branches: &[String]) -> String {
    let there = branches.join(", ");
    match base {
        Some(base) => format!(
            "The repository {location} has no branch “{base}”. Create it, or set the project's \
             base branch to one that is there: {there}."
        ),
        None => format!(
            "The repository {location} stands on no branch, so its base branch cannot be guessed. \
             Set the project's base branch to one that is there: {there}."
        ),
    }
}

/// Looks at a repository. Without a `base`, the branch that its `HEAD` stands on is taken.
///
/// # Errors
/// Only where git itself cannot be run or fails in a way that says nothing about the repository.
pub async fn inspect(
    git: &Git,
    location: &Location,
    base: Option<&BranchName>,
) -> Result<State, Fault> {
    match location {
        Location::Local(path) => local(git, path, base).await,
        Location::Remote(url) => remote(git, url, base).await,
    }
}

/// A local repository, found.
#[derive(Debug)]
pub(super) struct Found {
    /// Where its objects and refs are.
    pub(super) common_dir: PathBuf,
    /// Its work tree's top, unless it is bare.
    top: Option<PathBuf>,
}

/// Finds the local repository whose top directory is `path`.
pub(super) async fn probe(git: &Git, path: &Path) -> Result<Result<Found, State>, Fault> {
    let Ok(path) = fs::canonicalize(path).await else { return Ok(Err(State::Missing)) };
    if !path.is_dir() {
        return Ok(Err(State::NotARepository));
    }
    let question = [
        "rev-parse",
        "--path-format=absolute",
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--git-common-dir",
    ];
    let output = git.tree(&path).args(question).run().await?;
    if output.code != 0 {
        return Ok(Err(unfound(&output)?));
    }
    let text = output.text();
    let mut lines = text.splitn(3, '\n');
    let (bare, inside, dir) = (lines.next(), lines.next(), lines.next().unwrap_or_default());
    let top = match (bare, inside) {
        (Some("true"), _) => None,
        (_, Some("true")) => Some(path),
        _ => return Ok(Err(State::GitDirectory)),
    };
    match fs::canonicalize(dir).await {
        Ok(common_dir) => Ok(Ok(Found { common_dir, top })),
        Err(_) => Ok(Err(State::NotARepository)),
    }
}

/// Why git finds no repository.
fn unfound(output: &Output) -> Result<State, Fault> {
    match &output.said {
        said if said.contains("dubious ownership") => Ok(State::OwnedByAnother),
        said if said.contains("not a git repository") => Ok(State::NotARepository),
        said if said.contains("invalid gitfile format") => Ok(State::NotARepository),
        _ => Err(failed("rev-parse", output)),
    }
}

async fn local(git: &Git, path: &Path, base: Option<&BranchName>) -> Result<State, Fault> {
    // Somebody waits for it, so what does not need the words of another is asked at once.
    let (found, dirty) = tokio::join!(probe(git, path), is_dirty(git, path));
    let found = match found? {
        Ok(found) => found,
        Err(state) => return Ok(state),
    };
    let at = found.top.as_ref().unwrap_or(&found.common_dir);
    let head = git.tree(at).args(["symbolic-ref", "--quiet", "HEAD"]);
    let list = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"];
    let list = git.repository(&found.common_dir).args(list);
    let (head, listed) = tokio::join!(head.run(), list.text());
    let head = head?.text();
    let head = head.strip_prefix("refs/heads/").and_then(|name| BranchName::parse(name).ok());
    let listed = listed?;
    let branches = listed.lines().filter_map(|line| line.split_once(' ')).collect();
    let (base, tip) = match choose(base.or(head.as_ref()), branches) {
        Ok(chosen) => chosen,
        Err(state) => return Ok(state),
    };
    let is_dirty = match dirty {
        _ if found.top.is_none() => false,
        Err(fault) if fault.code == Code::ProjectNotReady => {
            return Ok(State::Refused { said: fault.message.clone() });
        }
        other => other?,
    };
    let is_bare = found.top.is_none();
    let checked_out = head.filter(|_| !is_bare);
    Ok(State::Ready(Ready { base, tip, is_bare, checked_out, is_dirty }))
}

/// Whether a person's checkout has changes to tracked files.
async fn is_dirty(git: &Git, top: &Path) -> Result<bool, Fault> {
    let status = ["status", "--porcelain", "-z", "--untracked-files=no"];
    // What is dirty within a submodule does not keep the checkout from following.
    let status = git.tree(top).args(status).args(["--ignore-submodules=dirty"]);
    let output = status.slow().at_most(1).succeed().await?;
    Ok(!output.stdout.is_empty())
}

async fn remote(git: &Git, url: &RemoteUrl, base: Option<&BranchName>) -> Result<State, Fault> {
    let question = ["ls-remote", "--symref", "--", url.as_str(), "HEAD", "refs/heads/*"];
    let output = match git.anywhere().args(question).run().await {
        Err(fault) if fault.code == Code::Timeout => {
            return Ok(State::Unreachable { said: fault.message });
        }
        other => other?,
    };
    if output.code != 0 {
        let said = output.said.replace(url.as_str(), &url.to_string());
        let said = format!("{}.", cut(printable(first_line(&said)).trim_end_matches('.'), 300));
        return Ok(State::Unreachable { said });
    }
    let text = output.text();
    let rows = || text.lines().filter_map(|line| line.split_once('\t'));
    let head = rows()
        .find_map(|(what, name)| (name == "HEAD").then(|| what.strip_prefix("ref: refs/heads/"))?)
        .and_then(|name| BranchName::parse(name).ok());
    let branches = rows().map(|(id, name)| (name, id)).collect();
    Ok(match choose(base.or(head.as_ref()), branches) {
        Ok((base, tip)) => {
            State::Ready(Ready { base, tip, is_bare: true, checked_out: None, is_dirty: false })
        }
        Err(state) => state,
    })
}

/// The base branch with its tip, out of full ref names and what they hold.
fn choose(
    base: Option<&BranchName>,
    mut refs: Vec<(&str, &str)>,
) -> Result<(BranchName, CommitId), State> {
    refs.retain(|(name, _)| name.starts_with("refs/heads/"));
    if refs.is_empty() {
        return Err(State::NoCommits);
    }
    let found = base.and_then(|base| {
        let full = base.full();
        let (_, id) = refs.iter().find(|(name, _)| *name == full)?;
        Some((base.clone(), CommitId::parse(id)?))
    });
    found.ok_or_else(|| {
        let names = refs.iter().map(|(name, _)| name.trim_start_matches("refs/heads/").to_owned());
        let branches = names.take(BRANCHES_NAMED).collect();
        State::BaseMissing { base: base.map(ToString::to_string), branches }
    })
}
