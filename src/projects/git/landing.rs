//! Landing a branch on its base. [`prepare`] makes the commit and moves nothing; the caller
//! records it; [`apply`] moves the base if it is still where it was, and may be called again after
//! a crash.
//! No work tree is needed for the merge, so a conflict leaves nothing behind.

use std::path::PathBuf;

use super::checkout;
use super::commit::{Author, Message, signed};
use super::program::Output;
use super::repository::Repository;
use super::{BranchName, CommitId, not_ready};
use crate::base::stops::{self, Stop};
use crate::base::{Code, Fault, Millis};

crate::words! {
    /// How a branch becomes part of its base.
    pub enum Strategy {
        /// A merge commit; the branch's commits stay visible.
        Merge = "merge",
        /// One commit with the whole change.
        Squash = "squash",
    }
}

/// What to land.
#[derive(Debug, Clone)]
pub struct Request {
    /// The branch to land on.
    pub base: BranchName,
    /// The tip to land: the very commit that was verified.
    pub tip: CommitId,
    /// Merge or squash.
    pub strategy: Strategy,
    /// Who wrote the change.
    pub author: Author,
    /// What the landed commit says.
    pub message: Message,
    /// The time of the landed commit.
    pub at: Millis,
}

/// What came of [`prepare`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preparation {
    /// The commit is made. Record it, then [`apply`] it.
    Ready(Prepared),
    /// The two do not go together.
    Conflicts {
        /// The files that both changed, in order of path.
        files: Vec<String>,
        /// The base's tip that was tried.
        base_tip: CommitId,
    },
    /// The base already has the whole change.
    NothingToLand {
        /// The base's tip.
        base_tip: CommitId,
    },
}

/// A landing that needs only its base to move. Plain values, to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The branch to land on.
    pub base: BranchName,
    /// The base's tip that the commit builds on.
    pub base_before: CommitId,
    /// The commit to become the base's tip.
    pub commit: CommitId,
}

/// What came of [`apply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The base has the commit, from this call or an earlier one.
    Landed {
        /// The landed commit.
        commit: CommitId,
        /// The base's tip before it.
        base_before: CommitId,
        /// What became of a checkout of the base.
        checkout: Checkout,
    },
    /// Somebody else moved the base. Prepare again.
    BaseMoved {
        /// Its tip now.
        base_tip: CommitId,
    },
    /// The base is checked out with work that is not committed. Nothing was touched.
    CheckoutDirty {
        /// The checkout.
        path: PathBuf,
        /// Some of the files in the way.
        files: Vec<String>,
        /// What is in the way and what to do, in a sentence or two.
        advice: String,
    },
}

/// What became of a person's checkout of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    /// The base is checked out nowhere.
    None,
    /// It was clean and shows the landed commit now.
    Updated(PathBuf),
    /// Its files could not follow the branch, as somebody was writing there. `git status` there
    /// shows the landed change backwards, until what is wanted there is kept aside and
    /// `git reset --hard` is run.
    Behind(PathBuf),
}

/// Makes the commit that would land the branch on the base's present tip. Moves no ref of the base
/// and touches no checkout.
///
/// # Errors
/// `ProjectNotReady` where the base or the tip is not there, or the two share no history.
pub async fn prepare(repository: &Repository, request: &Request) -> Result<Preparation, Fault> {
    repository.refresh().await?;
    let base_tip = repository.tip(&request.base).await?;
    if !repository.has_commit(&request.tip).await? {
        let short = request.tip.short();
        return Err(not_ready(format!("The commit {short} is no longer in the repository.")));
    }
    if repository.is_ancestor(&request.tip, &base_tip).await? {
        return Ok(Preparation::NothingToLand { base_tip });
    }
    let shared = ["merge-base", base_tip.as_str(), request.tip.as_str()];
    if !repository.call().args(shared).asks().await? {
        let base = &request.base;
        return Err(not_ready(format!("The work and the branch “{base}” share no history.")));
    }
    let tree = match merge(repository, &base_tip, &request.tip).await? {
        Ok(tree) => tree,
        Err(files) => return Ok(Preparation::Conflicts { files, base_tip }),
    };
    if tree == tree_of(repository, &base_tip).await? {
        return Ok(Preparation::NothingToLand { base_tip });
    }
    let commit = commit_tree(repository, request, &tree, &base_tip).await?;
    let base = request.base.clone();
    Ok(Preparation::Ready(Prepared { base, base_before: base_tip, commit }))
}

/// Moves the base to the prepared commit if it is still where it was when that was made. Calling it
/// again after it went through says `Landed` again.
///
/// # Errors
/// `ProjectNotReady` where the base is gone or the remote cannot be reached, `Upstream` where the
/// remote refuses the push, with its words.
pub async fn apply(repository: &Repository, prepared: &Prepared) -> Result<Outcome, Fault> {
    repository.refresh().await?;
    let _turn = repository.in_turn().await;
    let base_tip = repository.tip(&prepared.base).await?;
    if let Some(outcome) = settled(repository, prepared, &base_tip).await? {
        return Ok(outcome);
    }
    match repository.remote() {
        Some(url) => push(repository, prepared, url.as_str()).await,
        None => update(repository, prepared).await,
    }
}

/// What became of a checkout of the base, where the commit is on the base already: for going on
/// after a crash. A checkout that the crash kept from following the branch follows now.
pub async fn landed_before(
    repository: &Repository,
    prepared: &Prepared,
) -> Result<Option<Checkout>, Fault> {
    repository.refresh().await?;
    let _turn = repository.in_turn().await;
    let base_tip = repository.tip(&prepared.base).await?;
    match settled(repository, prepared, &base_tip).await? {
        Some(Outcome::Landed { checkout, .. }) => Ok(Some(checkout)),
        _ => Ok(None),
    }
}

/// The outcome, where the base's tip alone decides it.
async fn settled(
    repository: &Repository,
    prepared: &Prepared,
    base_tip: &CommitId,
) -> Result<Option<Outcome>, Fault> {
    if repository.is_ancestor(&prepared.commit, base_tip).await? {
        let checkout = match repository.remote() {
            Some(_) => Checkout::None,
            None => checkout::catch_up(repository, prepared, base_tip).await?,
        };
        return Ok(Some(prepared.landed(checkout)));
    }
    let is_moved = *base_tip != prepared.base_before;
    Ok(is_moved.then(|| Outcome::BaseMoved { base_tip: base_tip.clone() }))
}

impl Prepared {
    fn landed(&self, checkout: Checkout) -> Outcome {
        let (commit, base_before) = (self.commit.clone(), self.base_before.clone());
        Outcome::Landed { commit, base_before, checkout }
    }
}

/// Pushes with a lease on the tip that the commit builds on.
async fn push(repository: &Repository, prepared: &Prepared, url: &str) -> Result<Outcome, Fault> {
    let full = prepared.base.full();
    let lease = format!("--force-with-lease={full}:{}", prepared.base_before);
    let refspec = format!("{}:{full}", prepared.commit);
    let push = ["push", "--porcelain", "--no-verify", &lease, "--", url, &refspec];
    let output = repository.call().args(push).slow().run().await?;
    // The remote itself tells whether the push arrived, even if its answer got lost.
    repository.refresh().await?;
    let base_tip = repository.tip(&prepared.base).await?;
    match settled(repository, prepared, &base_tip).await? {
        Some(outcome) => Ok(outcome),
        None => Err(repository.failed("push", &with_reasons(output))),
    }
}

/// `git push --porcelain` says on standard output why a ref was refused.
fn with_reasons(mut output: Output) -> Output {
    let text = output.text();
    let refused = text.lines().filter_map(|line| line.strip_prefix("!\t"));
    let reasons: Vec<&str> = refused.filter_map(|line| line.split('\t').nth(1)).collect();
    output.said = format!("{}\n{}", reasons.join("\n"), output.said);
    output
}

/// Moves a local branch, and the checkout of it along.
async fn update(repository: &Repository, prepared: &Prepared) -> Result<Outcome, Fault> {
    let holder = match checkout::holder(repository, prepared).await? {
        Ok(holder) => holder,
        Err(obstacle) => return Ok(obstacle),
    };
    let (before, commit) = (&prepared.base_before, &prepared.commit);
    let output = move_ref(repository, &prepared.base, before, commit).await?;
    if output.code != 0 {
        let base_tip = repository.tip(&prepared.base).await?;
        return match settled(repository, prepared, &base_tip).await? {
            Some(outcome) => Ok(outcome),
            None => Err(repository.failed("update-ref", &output)),
        };
    }
    stops::reach(Stop::BaseMoved);
    let Some(path) = holder else { return Ok(prepared.landed(Checkout::None)) };
    if checkout::follow(repository, &path, prepared).await? {
        return Ok(prepared.landed(Checkout::Updated(path)));
    }
    // Somebody wrote into the checkout in this very moment: it comes first.
    match move_ref(repository, &prepared.base, commit, before).await?.code {
        0 => Ok(checkout::dirty(path, Vec::new())),
        _ => Ok(prepared.landed(Checkout::Behind(path))),
    }
}

/// Sets the branch to `new` if it is at `old`.
async fn move_ref(
    repository: &Repository,
    base: &BranchName,
    old: &CommitId,
    new: &CommitId,
) -> Result<Output, Fault> {
    let update = ["update-ref", "-m", "assay: land", &base.full(), new.as_str(), old.as_str()];
    let call = repository.call().args(update).env("GIT_COMMITTER_NAME", super::commit::COMMITTER.0);
    call.env("GIT_COMMITTER_EMAIL", super::commit::COMMITTER.1).run().await
}

/// The tree of both sides merged, or the files in conflict.
async fn merge(
    repository: &Repository,
    ours: &CommitId,
    theirs: &CommitId,
) -> Result<Result<String, Vec<String>>, Fault> {
    let merge = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
    let call = repository.call().args(merge).args([ours.as_str(), theirs.as_str()]);
    let output = call.slow().run().await?;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let mut fields = output.fields().map(text);
    match output.code {
        0 => fields.next().map(Ok).ok_or_else(|| {
            Fault::new(Code::Upstream, "Git merge-tree ended well and named no tree.")
        }),
        1 => Ok(Err(fields.skip(1).filter(|path| !path.is_empty()).collect())),
        _ => Err(repository.failed("merge-tree", &output)),
    }
}

async fn tree_of(repository: &Repository, commit: &CommitId) -> Result<String, Fault> {
    let question = ["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")];
    repository.call().args(question).text().await
}

async fn commit_tree(
    repository: &Repository,
    request: &Request,
    tree: &str,
    base_tip: &CommitId,
) -> Result<CommitId, Fault> {
    let mut call = repository.call().args(["commit-tree", tree, "-p", base_tip.as_str()]);
    if request.strategy == Strategy::Merge {
        call = call.args(["-p", request.tip.as_str()]);
    }
    let call = call.args(["-F", "-"]).stdin(request.message.show());
    let id = signed(call, &request.author, request.at).text().await?;
    CommitId::parse(&id)
        .ok_or_else(|| Fault::new(Code::Upstream, "Git commit-tree named no commit."))
}
