//! Which nodes may start, and which tickets have a place among those that run.

use std::collections::{HashMap, HashSet};

use super::claim;
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

/// Starts the project's oldest queued tickets while it has places free.
pub fn start_waiting(tx: &mut Tx<'_>, tenant: TenantId, project: &Project) -> Result<(), Fault> {
    if let Some(why) = limits::month_crossed(tx, project)? {
        return limits::hold(tx, project, &why);
    }
    let places = places(tx, project)?;
    if places == 0 {
        return Ok(());
    }
    let oldest = tx.list(
        sql!("tickets.sql", "oldest_queued"),
        params! { ":tenant": tenant, ":project": project.id, ":after": 0,
        ":limit": crate::store::to_int(places) },
        Ticket::from_row,
    )?;
    for ticket in oldest {
        enqueue_ready(tx, tenant, ticket.id)?;
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
    match ticket::get(tx, tenant, ticket)?.status {
        Status::Running => enqueue_ready(tx, tenant, ticket),
        _ => Ok(()),
    }
}

/// Enqueues a job for each node that may start, and lets those of editors wait to be claimed. A
/// node that has a job keeps it: the queue refuses
/// a second one for the same node.
fn enqueue_ready(tx: &mut Tx<'_>, tenant: TenantId, ticket: TicketId) -> Result<(), Fault> {
    let nodes = node::list(tx, tenant, ticket)?;
    let edges = node::edges(tx, tenant, ticket)?;
    let of = ticket::get(tx, tenant, ticket)?;
    let project = super::project_of(tx, &of)?;
    for ready in ready(&nodes, &edges) {
        let mut same = nodes.iter().filter(|node| node.id == ready);
        if let Some(node) = same.find(|node| claim::is_for_editor(&project, &of, node.kind)) {
            claim::offer(tx, node)?;
            continue;
        }
        let job = RunNode { ticket, node: ready };
        let options = Enqueue { tenant: Some(tenant), ..Enqueue::default() };
        let job = jobs::enqueue(tx, &job, options)?.id();
        tx.run_one(
            sql!("nodes.sql", "assign_job"),
            params! { ":tenant": tenant, ":id": ready, ":job": job },
        )?;
    }
    Ok(())
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
