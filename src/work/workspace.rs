//! Where a ticket is worked on: its repository, its work tree, its branch.

use super::env::Env;
use crate::base::redact::redact;
use crate::base::stops::{self, Stop};
use crate::base::{Code, Fault};
use crate::projects::Project;
use crate::projects::git::commit::{Author, Message, commit_all};
use crate::projects::git::diff::commits_ahead;
use crate::projects::git::worktree;
use crate::projects::git::{BranchName, CommitId, Location, Place, Repository, Worktree, inspect};
use crate::tickets::Ticket;
use crate::tickets::node::Node;
use crate::tickets::pipeline::record::{self, Workspace};

/// A ticket's work tree, ready to be worked in.
pub(super) struct Desk {
    pub(super) repository: Repository,
    pub(super) place: Place,
    pub(super) tree: Worktree,
    pub(super) base: BranchName,
    pub(super) base_commit: CommitId,
}

/// Makes sure that the ticket's work tree is there and notes it. Safe to call again. A remote that
/// never answered is a wrong setting, and ends the ticket; one that did is waited for.
pub(super) async fn prepare(env: &Env, project: &Project, ticket: &Ticket) -> Result<Desk, Fault> {
    set_out(env, project, ticket).await.map_err(|fault| match fault.code {
        Code::Upstream if ticket.base_commit.is_none() => {
            Fault::new(Code::ProjectNotReady, fault.message.clone()).because(fault)
        }
        _ => fault,
    })
}

async fn set_out(env: &Env, project: &Project, ticket: &Ticket) -> Result<Desk, Fault> {
    let location = location(project)?;
    refuse_our_own(env, &location)?;
    let wanted = ticket.base_branch.as_deref().and_then(|name| BranchName::parse(name).ok());
    let wanted = wanted.or_else(|| project.base());
    let state = inspect(&env.git, &location, wanted.as_ref()).await?;
    let ready = state.ready(&location)?;
    let repository = open(env, project, &location).await?;
    repository.refresh().await?;
    let noted = ticket.base_commit.as_deref().and_then(CommitId::parse);
    let place = Place::of_ticket(&env.paths.worktrees(), &ticket.id.to_string())?;
    let seed = seed(&repository, &place, ticket).await?;
    let base_commit = match noted {
        Some(commit) => commit,
        None => left_at(&repository, &ready.base, seed.as_ref()).await?,
    };
    let start = seed.as_ref().unwrap_or(&base_commit);
    let tree = worktree::ensure(&repository, &place, start).await?;
    stops::reach(Stop::TreeMade);
    let workspace = Workspace {
        branch: ticket.working_branch(),
        base_branch: ready.base.as_str().to_owned(),
        base_commit: base_commit.as_str().to_owned(),
    };
    let (tenant, id) = (ticket.tenant, ticket.id);
    env.db.write(move |tx| record::set_workspace(tx, tenant, id, &workspace)).await?;
    Ok(Desk { repository, place, tree, base: ready.base, base_commit })
}

/// Where the branch starts of a ticket that goes on with another branch: its own tip, once it is
/// there.
async fn seed(
    repository: &Repository,
    place: &Place,
    ticket: &Ticket,
) -> Result<Option<CommitId>, Fault> {
    let Some(named) = ticket.seed_from_ref.as_deref() else { return Ok(None) };
    if let Some(own) = repository.branch(place.branch()).await? {
        return Ok(Some(own));
    }
    let branch = BranchName::parse(named).map_err(Fault::internal)?;
    let found = repository.any_branch(&branch).await?;
    found.map(Some).ok_or_else(|| {
        let message = format!(
            "The branch “{branch}”, which the ticket was to start from, is gone. Bring it back and \
             retry the ticket."
        );
        Fault::new(Code::ProjectNotReady, message)
    })
}

/// The commit at which a new branch leaves the base: the base's tip, or where the seed left it.
async fn left_at(
    repository: &Repository,
    base: &BranchName,
    seed: Option<&CommitId>,
) -> Result<CommitId, Fault> {
    let tip = repository.tip(base).await?;
    let Some(seed) = seed else { return Ok(tip) };
    repository.merge_base(&tip, seed).await?.ok_or_else(|| {
        let message = format!(
            "The branch that the ticket was to start from shares no history with “{base}”."
        );
        Fault::new(Code::ProjectNotReady, message)
    })
}

fn location(project: &Project) -> Result<Location, Fault> {
    project.location().ok_or_else(|| {
        let message = "The project names no repository; set one with `assay project set`.";
        Fault::new(Code::ProjectNotReady, message)
    })
}

/// What Assay keeps for itself is nobody's repository: a mirror belongs to another project.
fn refuse_our_own(env: &Env, location: &Location) -> Result<(), Fault> {
    let Location::Local(path) = location else { return Ok(()) };
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let own = [
        env.paths.mirrors(),
        env.paths.worktrees(),
        env.paths.runs(),
        env.paths.blobs(),
        env.paths.uploads(),
    ];
    if own.iter().any(|folder| real.starts_with(folder)) {
        let message =
            "The repository lies within the server's own folders. Give the project another.";
        return Err(Fault::new(Code::ProjectNotReady, message));
    }
    Ok(())
}

/// The repository of a project.
pub(super) async fn repository(env: &Env, project: &Project) -> Result<Repository, Fault> {
    let location = location(project)?;
    refuse_our_own(env, &location)?;
    open(env, project, &location).await
}

async fn open(env: &Env, project: &Project, location: &Location) -> Result<Repository, Fault> {
    let mirrors = env.paths.mirrors();
    Repository::open(&env.git, location, &mirrors, &project.id.to_string()).await
}

/// Commits what is in the work tree. Says the branch's tip, whether this made a commit, and how
/// many commits the branch is ahead of its base.
pub(super) async fn commit(
    env: &Env,
    desk: &Desk,
    ticket: &Ticket,
    node: &Node,
) -> Result<(CommitId, bool, u64), Fault> {
    let agent = node.agent.as_deref().unwrap_or("agent");
    let author =
        Author { name: format!("{agent} (agent)"), email: format!("{agent}@agents.assay.invalid") };
    let message = Message { text: subject(ticket), trailers: trailers(ticket, Some(node)) };
    let at = env.clock.now();
    let (tip, made) = commit_all(&desk.repository, &desk.place, &author, &message, at).await?;
    let ahead = commits_ahead(&desk.repository, &desk.base_commit, &tip).await?;
    Ok((tip, made, ahead))
}

/// The subject of a ticket's commits. Commits are copied far and kept for ever.
pub(super) fn subject(ticket: &Ticket) -> String {
    redact(&format!("{}: {}", ticket.reference(), ticket.title)).into_owned()
}

/// What ties a commit to its ticket.
pub(super) fn trailers(ticket: &Ticket, node: Option<&Node>) -> Vec<(String, String)> {
    let mut trailers = vec![
        ("Assay-Ticket".to_owned(), ticket.reference()),
        ("Assay-Ticket-Id".to_owned(), ticket.id.to_string()),
    ];
    trailers.extend(node.map(|node| ("Assay-Node".to_owned(), node.name.clone())));
    trailers
}
