//! What a ticket leaves on disk, and when it goes. A work tree goes at once where its ticket has
//! landed, and after the project's time where it has not; a branch goes only where its very tip is
//! on record as landed. What is locked, in use or holds changes that nobody committed stays.

use futures_util::FutureExt;

use super::env::Env;
use super::run_node::Task;
use super::workspace::{self, Desk};
use crate::base::{Code, Fault, Millis, TicketId};
use crate::projects::git::removal::{Removal, Uncommitted, drop_branch, remove};
use crate::projects::git::{CommitId, Place, Repository};
use crate::tickets::landing::{self, Landing};
use crate::tickets::states::Status;
use crate::tickets::{Ticket, pipeline, ticket};

/// Trees that one sweep looks at, at most.
const TREES_MAX: usize = 2_000;

/// Clears the desk of a ticket that has landed: nobody works there any more. Whatever stays is
/// looked at again by the sweep, and is no reason to fail what has landed.
pub(super) async fn desk(env: &Env, task: &Task, desk: &Desk) {
    if let Err(fault) = clear(env, &task.ticket, &desk.repository, &desk.place).await {
        tracing::warn!(?fault, ticket = %task.ticket.id, "A work tree was not removed");
    }
}

/// Removes a ticket's work tree, and its branch if that has landed.
async fn clear(
    env: &Env,
    ticket: &Ticket,
    repository: &Repository,
    place: &Place,
) -> Result<(), Fault> {
    match remove(repository, place, Uncommitted::Keep).await? {
        Removal::Removed | Removal::Absent => {}
        kept @ (Removal::Locked { .. } | Removal::Kept { .. }) => {
            tracing::debug!(?kept, branch = %place.branch(), "A work tree is kept");
            return Ok(());
        }
    }
    let (tenant, id) = (ticket.tenant, ticket.id);
    let landed = env.db.read(move |read| landing::landed(read, tenant, id)).await?;
    let (Some(landed), Some(tip)) = (landed, repository.branch(place.branch()).await?) else {
        return Ok(());
    };
    if is_landed(repository, &landed, &tip).await? {
        drop_branch(repository, place.branch(), &tip).await?;
    }
    Ok(())
}

/// Whether a branch holds nothing that has not landed: its tip is the one on record, or what landed
/// contains it, as where a crash had the branch made anew.
async fn is_landed(
    repository: &Repository,
    landed: &Landing,
    tip: &CommitId,
) -> Result<bool, Fault> {
    if landed.head == tip.as_str() {
        return Ok(true);
    }
    match CommitId::parse(&landed.commit) {
        Some(commit) => repository.is_ancestor(tip, &commit).await,
        None => Ok(false),
    }
}

/// Removes the work trees whose tickets ended long enough ago. One that cannot be removed keeps no
/// other from going.
pub(super) async fn sweep(env: &Env) {
    let Ok(mut folders) = tokio::fs::read_dir(env.paths.worktrees()).await else { return };
    let mut left = TREES_MAX;
    while let Ok(Some(folder)) = folders.next_entry().await
        && left > 0
    {
        let named = folder.file_name();
        let Some(id) = named.to_str().and_then(|name| uuid::Uuid::try_parse(name).ok()) else {
            continue;
        };
        left -= 1;
        if let Err(fault) = sweep_one(env, TicketId::from_uuid(id)).await
            && fault.code != Code::ProjectNotReady
        {
            tracing::warn!(?fault, ticket = %id, "A work tree was not removed");
        }
    }
}

async fn sweep_one(env: &Env, id: TicketId) -> Result<(), Fault> {
    let now = env.clock.now();
    let due = env.db.read(move |read| {
        let Some(ticket) = ticket::find_any(read, id)? else { return Ok(None) };
        let project = pipeline::project_of(read, &ticket)?;
        let hours = project.settings.clean_up.keep_failed_hours;
        Ok(is_due(&ticket, hours, now).then_some((ticket, project)))
    });
    let Some((ticket, project)) = due.await? else { return Ok(()) };
    // Whoever works there holds the turn; there will be another sweep.
    let name = id.to_string();
    let Some(_turn) = env.desks.take(&name).now_or_never() else { return Ok(()) };
    let repository = workspace::repository(env, &project).await?;
    let place = Place::of_ticket(&env.paths.worktrees(), &name)?;
    clear(env, &ticket, &repository, &place).await
}

/// Whether a ticket's work tree may go.
fn is_due(ticket: &Ticket, keep_failed_hours: u32, now: Millis) -> bool {
    let Some(ended) = ticket.completed_at.filter(|_| ticket.status.is_terminal()) else {
        return false;
    };
    let keep = std::time::Duration::from_secs(u64::from(keep_failed_hours) * 3_600);
    ticket.status == Status::Succeeded || now >= ended.plus(keep)
}
