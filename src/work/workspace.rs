//! Where a ticket is worked on: its repository, its work tree, its branch.

use super::env::Env;
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

/// Makes sure that the ticket's work tree is there and notes it. Safe to call again.
pub(super) async fn prepare(env: &Env, project: &Project, ticket: &Ticket) -> Result<Desk, Fault> {
    let location = location(project)?;
    let wanted = ticket.base_branch.as_deref().and_then(|name| BranchName::parse(name).ok());
    let wanted = wanted.or_else(|| project.base());
    let state = inspect(&env.git, &location, wanted.as_ref()).await?;
    let ready = state.ready(&location)?;
    let repository = open(env, project, &location).await?;
    repository.refresh().await?;
    let noted = ticket.base_commit.as_deref().and_then(CommitId::parse);
    let base_commit = match noted {
        Some(commit) => commit,
        None => repository.tip(&ready.base).await?,
    };
    let place = Place::of_ticket(&env.paths.worktrees(), &ticket.id.to_string())?;
    let tree = worktree::ensure(&repository, &place, &base_commit).await?;
    let workspace = Workspace {
        branch: ticket.working_branch(),
        base_branch: ready.base.as_str().to_owned(),
        base_commit: base_commit.as_str().to_owned(),
    };
    let (tenant, id) = (ticket.tenant, ticket.id);
    env.db.write(move |tx| record::set_workspace(tx, tenant, id, &workspace)).await?;
    Ok(Desk { repository, place, tree, base: ready.base, base_commit })
}

fn location(project: &Project) -> Result<Location, Fault> {
    project.location().ok_or_else(|| {
        let message = "The project names no repository; set one with `assay project set`.";
        Fault::new(Code::ProjectNotReady, message)
    })
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
    let message = Message {
        text: format!("{}: {}", ticket.reference(), ticket.title),
        trailers: trailers(ticket, Some(node)),
    };
    let at = env.clock.now();
    let (tip, made) = commit_all(&desk.repository, &desk.place, &author, &message, at).await?;
    let ahead = commits_ahead(&desk.repository, &desk.base_commit, &tip).await?;
    Ok((tip, made, ahead))
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
