//! Which nodes may start, and which tickets have a place among those that run.

use std::collections::{HashMap, HashSet};

use super::{approve, claim, profile_places};
use crate::base::{Fault, NodeId, TenantId, TicketId};
use crate::jobs::{self, Enqueue};
use crate::projects::Project;
use crate::store::{Read, Tx};
use crate::tickets::jobs::RunNode;
use crate::tickets::limits;
use crate::tickets::node::{self, Edge, Node};
use crate::tickets::states::{NodeStatus, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::{params, sql};

/// Starts the project's oldest queued tickets while it has places free. One that comes to wait for
/// an approval or for its agent's turn takes no place, so the next gets it.
pub fn start_waiting(tx: &mut Tx<'_>, tenant: TenantId, project: &Project) -> Result<(), Fault> {
    if let Some(why) = limits::month_crossed(tx, project)? {
        return limits::hold(tx, project, &why);
    }
    for ticket in profile_places::release(tx, project)? {
        enqueue_ready(tx, project, &ticket)?;
    }
    let (mut places, mut after) = (places(tx, project)?, 0);
    while places > 0 {
        let oldest = tx.list(
            sql!("tickets.sql", "oldest_queued"),
            params! { ":tenant": tenant, ":project": project.id, ":after": after,
            ":limit": crate::store::to_int(places) },
            Ticket::from_row,
        )?;
        let Some(last) = oldest.last() else { return Ok(()) };
        after = last.n;
        for ticket in oldest {
            places -= u64::from(enqueue_ready(tx, project, &ticket)? == Went::On);
        }
    }
    Ok(())
}

/// How many more of the project's tickets may run: none once its month is used up.
pub(super) fn places(read: &Read<'_>, project: &Project) -> Result<u64, Fault> {
    if limits::month_crossed(read, project)?.is_some() {
        return Ok(0);
    }
    let own = params! { ":tenant": project.tenant, ":project": project.id };
    let running = read
        .find(sql!("tickets.sql", "running_in_project"), own, |row| row.unsigned("running"))?
        .unwrap_or(0);
    Ok(u64::from(project.settings.limits.concurrency).saturating_sub(running))
}

/// Starts whatever of a running ticket may start. Called after every recorded fact.
pub fn advance(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    let ticket = ticket::get(tx, tenant, ticket)?;
    if ticket.status != Status::Running {
        return Ok(());
    }
    let project = super::project_of(tx, &ticket)?;
    match enqueue_ready(tx, &project, &ticket)? {
        Went::On if !has_limited_agents(&project) => Ok(()),
        // The node before this one may have left a place of its agent to another ticket.
        Went::On | Went::Held | Went::Paused => start_waiting(tx, tenant, &project),
    }
}

/// Whether a ticket goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Went {
    On,
    /// It waits for an approval, and left its place to others.
    Paused,
    /// It waits for its agent's turn.
    Held,
}

fn has_limited_agents(project: &Project) -> bool {
    project.settings.agents.profiles.values().any(|profile| profile.max_concurrent.is_some())
}

/// Enqueues a job for each node that may start, and lets those of editors wait to be claimed,
/// unless a person has to approve that first or its agent does as many as it may. A node that has a
/// job keeps it: the queue refuses a
/// second one for the same node.
fn enqueue_ready(tx: &mut Tx<'_>, project: &Project, ticket: &Ticket) -> Result<Went, Fault> {
    let tenant = ticket.tenant;
    let nodes = node::list(tx, tenant, ticket.id)?;
    let edges = node::edges(tx, tenant, ticket.id)?;
    let mut went = Went::On;
    for ready in ready(&nodes, &edges) {
        let Some(next) = nodes.iter().find(|node| node.id == ready) else { continue };
        if let Some((pause, about)) = approve::missing(tx, project, ticket, &nodes, next)? {
            approve::ask(tx, ticket, pause, about)?;
            return Ok(Went::Paused);
        }
        if claim::is_for_editor(project, ticket, next.kind) {
            claim::offer(tx, next)?;
            continue;
        }
        let agent = profile_places::of(project, ticket, next.kind);
        if let Some(agent) = agent
            && profile_places::free(tx, project, agent, Some(next.id))? == 0
        {
            profile_places::hold(tx, ticket, next, agent)?;
            went = Went::Held;
            continue;
        }
        let job = RunNode { ticket: ticket.id, node: ready };
        let options = Enqueue { project: Some(project.id), ..Enqueue::of(tenant) };
        let job = jobs::enqueue(tx, &job, options)?.id();
        tx.run_one(
            sql!("nodes.sql", "assign_job"),
            params! { ":tenant": tenant, ":id": ready, ":job": job,
            ":profile": agent.map(|(name, _)| name) },
        )?;
    }
    Ok(went)
}

/// The queued nodes whose every parent has ended.
#[must_use]
pub fn ready(nodes: &[Node], edges: &[Edge]) -> Vec<NodeId> {
    let status: HashMap<NodeId, NodeStatus> = nodes.iter().map(|n| (n.id, n.status)).collect();
    let waiting: HashSet<NodeId> = edges
        .iter()
        .filter(|edge| status.get(&edge.parent).is_none_or(|parent| !parent.is_terminal()))
        .map(|edge| edge.node)
        .collect();
    nodes
        .iter()
        .filter(|node| node.status == NodeStatus::Queued && !waiting.contains(&node.id))
        .map(|node| node.id)
        .collect()
}
