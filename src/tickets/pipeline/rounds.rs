//! Rounds: what is done again after a check, a person or a moved base found something, and how
//! often that may be.

use super::record::note;
use crate::base::{Fault, TenantId};
use crate::projects::Project;
use crate::store::{Read, Tx};
use crate::tickets::node::{self, NewNode, Node};
use crate::tickets::states::NodeKind;
use crate::tickets::ticket::Ticket;
use crate::tickets::timeline::{self, Happened};

/// How far apart the nodes of another landing stand: there may be rounds between them.
const LANDING_SPACING: i64 = 40;

/// Whether another round of work may still be asked for.
pub fn has_rounds_left(read: &Read<'_>, ticket: &Ticket) -> Result<bool, Fault> {
    let project = super::project_of(read, ticket)?;
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    Ok(rounds(&nodes) < rounds_max(read, ticket, &project)?)
}

/// How many rounds a ticket may have: every try of a person's brings as many again.
pub(super) fn rounds_max(
    read: &Read<'_>,
    ticket: &Ticket,
    project: &Project,
) -> Result<u32, Fault> {
    let tries = timeline::retries(read, ticket.tenant, ticket.id)? + 1;
    Ok(project.settings.limits.implement_rounds.saturating_mul(tries))
}

/// Rounds of work that a graph has had or is having.
pub(super) fn rounds(nodes: &[Node]) -> u32 {
    let implement = nodes.iter().filter(|node| node.kind == NodeKind::Implement);
    u32::try_from(implement.count()).unwrap_or(u32::MAX)
}

/// Adds a round of work after `after`, with the checks that look at it, and lets whatever waited
/// for `after` wait for the last of them.
pub(super) fn add_round(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    after: &Node,
    nodes: &[Node],
    findings: &str,
) -> Result<(), Fault> {
    let mut kinds = vec![NodeKind::Implement];
    if after.kind == NodeKind::Review || nodes.iter().any(|node| node.kind == NodeKind::Review) {
        kinds.push(NodeKind::Review);
    }
    if !kinds.contains(&after.kind) {
        kinds.push(after.kind);
    }
    add_chain(tx, tenant, after, nodes, (&kinds, 1), findings)
}

/// Adds what has to come before another try at landing: the agent's part, if there is one, the
/// checks, and the landing.
pub(super) fn add_landing(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    after: &Node,
    nodes: &[Node],
    with: Option<NodeKind>,
    findings: &str,
) -> Result<(), Fault> {
    let said = match with {
        Some(kind) => format!("{} asked for a {}.", after.name, kind.word().replace('_', " ")),
        None => format!("{} asked for another verification.", after.name),
    };
    note(tx, after, Happened::AnotherRound, &said)?;
    let kinds: Vec<NodeKind> =
        with.into_iter().chain([NodeKind::Verification, NodeKind::Land]).collect();
    add_chain(tx, tenant, after, nodes, (&kinds, LANDING_SPACING), findings)
}

/// Adds nodes behind `after`, each waiting for the one before it; what waited for `after` waits for
/// the last of them. The first is told the findings.
fn add_chain(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    after: &Node,
    nodes: &[Node],
    (kinds, apart): (&[NodeKind], i64),
    findings: &str,
) -> Result<(), Fault> {
    let waiting = node::waiting_for(tx, after)?;
    let mut last = after.id;
    for (step, kind) in (1_i64..).zip(kinds) {
        let new = NewNode {
            ticket: after.ticket,
            position: after.position + step * apart,
            kind: *kind,
            ordinal: next_ordinal(nodes, *kind),
            brief: (step == 1 && kind.is_agent_work()).then_some(findings),
            parents: &[last],
        };
        last = node::add(tx, tenant, &new)?;
    }
    for waits in waiting {
        node::wait_for(tx, waits, after, last)?;
    }
    Ok(())
}

/// The number of the next node of a kind.
pub(super) fn next_ordinal(nodes: &[Node], kind: NodeKind) -> u32 {
    nodes.iter().filter(|node| node.kind == kind).map(Node::ordinal).max().unwrap_or(0) + 1
}
