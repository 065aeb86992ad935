//! How many nodes an agent profile does at once in a project. A ticket whose next node finds no
//! place is held for the profile: it has no job, is in nobody's way, and goes on, the oldest first,
//! once a place is free.

use super::claim::is_for_editor;
use super::record;
use crate::base::{Fault, NodeId};
use crate::projects::Project;
use crate::projects::agents::Profile;
use crate::store::{Read, Tx, to_int};
use crate::tickets::Ticket;
use crate::tickets::node::Node;
use crate::tickets::states::{NodeKind, Status};
use crate::tickets::timeline::Happened;
use crate::{params, sql};

/// Tickets that are let go on in one transaction at most; the next change of the project lets more.
const RELEASED_MAX: u64 = 64;

/// The profile that does a node of the ticket, with its name. None where no program of the server
/// does.
pub(super) fn of<'p>(
    project: &'p Project,
    ticket: &Ticket,
    kind: NodeKind,
) -> Option<(&'p str, &'p Profile)> {
    if !kind.is_agent_work() || is_for_editor(project, ticket, kind) {
        return None;
    }
    project.settings.agents.choose(kind.word(), ticket.preset.word())
}

/// How many more nodes the profile may do at once, one of them apart.
pub(super) fn free(
    read: &Read<'_>,
    project: &Project,
    (name, profile): (&str, &Profile),
    apart: Option<NodeId>,
) -> Result<u64, Fault> {
    let Some(most) = profile.max_concurrent else { return Ok(u64::MAX) };
    let of = params! { ":tenant": project.tenant, ":project": project.id, ":profile": name,
    ":apart": apart };
    let running =
        read.find(sql!("nodes.sql", "with_profile"), of, |row| row.unsigned("running"))?;
    Ok(most.saturating_sub(running.unwrap_or(0)))
}

/// Holds a ticket until the profile of its next node has a place.
pub(super) fn hold(
    tx: &mut Tx<'_>,
    ticket: &Ticket,
    node: &Node,
    (name, profile): (&str, &Profile),
) -> Result<(), Fault> {
    let of = params! { ":tenant": ticket.tenant, ":id": ticket.id, ":profile": name };
    if tx.run(sql!("tickets.sql", "hold_for"), of)? == 0 {
        return Ok(());
    }
    let most = profile.max_concurrent.unwrap_or(0);
    let said = format!(
        "{} waits for its turn: the agent profile {name} does {most} at once (maxConcurrent).",
        node.name
    );
    record::note(tx, node, Happened::Held, &said)
}

/// Lets tickets go on for whose profile there are places, the oldest first, and answers those that
/// are under way: the others are queued as they were.
pub(super) fn release(tx: &mut Tx<'_>, project: &Project) -> Result<Vec<Ticket>, Fault> {
    let most = to_int(RELEASED_MAX);
    let own = params! { ":tenant": project.tenant, ":project": project.id, ":limit": most };
    let names =
        tx.list(sql!("tickets.sql", "held_for_which"), own, |row| row.get::<String>("held_for"))?;
    let mut under_way = Vec::new();
    for name in names {
        let places = match project.settings.agents.profiles.get(&name) {
            Some(profile) => free(tx, project, (&name, profile), None)?,
            None => u64::MAX,
        };
        let of = params! { ":tenant": project.tenant, ":project": project.id, ":profile": name,
        ":limit": to_int(places.min(RELEASED_MAX)) };
        for ticket in tx.list(sql!("tickets.sql", "held_for"), of, Ticket::from_row)? {
            let of = params! { ":tenant": ticket.tenant, ":id": ticket.id };
            tx.run_one(sql!("tickets.sql", "let_go"), of)?;
            if ticket.status == Status::Running {
                under_way.push(ticket);
            }
        }
    }
    Ok(under_way)
}
