//! Nodes that agents in somebody's editor do: offered when it is their turn, taken by exactly one,
//! given back when their holder does not report. The node's `attempt` is the fence, as it is for
//! processes.

use super::{advance, project_of, record};
use crate::base::{Fault, ProjectId, TenantId, TicketId, text};
use crate::notices::outbox::{self, Happening};
use crate::projects::Project;
use crate::store::{Hash, Read, Tx};
use crate::tickets::claims::{self, Claim, EndedAs, Taker};
use crate::tickets::node::{self, Node};
use crate::tickets::pipeline::record::{Left, WORK_GOES_ON};
use crate::tickets::states::{NodeKind, NodeStatus, Status};
use crate::tickets::ticket::{self, Ticket};
use crate::tickets::timeline::{self, Happened, Line};
use crate::{params, sql};

/// Which nodes a claim may have.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only those of these projects.
    pub projects: Option<Vec<ProjectId>>,
    /// Only those of this ticket.
    pub ticket: Option<TicketId>,
    /// Only those of these kinds; of any where there are none.
    pub kinds: Vec<NodeKind>,
}

/// A node that was taken.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The claim.
    pub claim: Claim,
    /// The project.
    pub project: Project,
    /// The ticket.
    pub ticket: Ticket,
    /// The node as it now runs.
    pub node: Node,
}

/// Whether an agent in an editor does such a node of the ticket.
#[must_use]
pub fn is_for_editor(project: &Project, ticket: &Ticket, kind: NodeKind) -> bool {
    let agents = &project.settings.agents;
    kind.is_agent_work() && agents.is_for_editor(kind.word(), ticket.preset.word())
}

/// Lets a node whose turn it is wait to be claimed. One that waits already keeps its place.
pub fn offer(tx: &mut Tx<'_>, node: &Node) -> Result<(), Fault> {
    let now = tx.now();
    let of = params! { ":tenant": node.tenant, ":id": node.id, ":now": now };
    if tx.run(sql!("nodes.sql", "offer"), of)? == 0 {
        return Ok(());
    }
    let said = format!("{} waits to be claimed from an editor.", node.name);
    record::note(tx, node, Happened::Offered, &said)
}

/// Takes the node that has waited longest of those wanted. `None` where there is none.
pub fn take(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    taker: &Taker,
) -> Result<Option<Taken>, Fault> {
    // Projects whose places are all taken: their tickets that have not begun stay where they are.
    let mut full = Vec::new();
    loop {
        let Some(node) = next(tx, tenant, wanted, &full)? else { return Ok(None) };
        let ticket = ticket::get(tx, tenant, node.ticket)?;
        let project = project_of(tx, &ticket)?;
        if ticket.status == Status::Queued && advance::places(tx, &project)? == 0 {
            full.push(project.id);
            continue;
        }
        return begin(tx, project, &node, taker).map(Some);
    }
}

fn next(
    read: &Read<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    full: &[ProjectId],
) -> Result<Option<Node>, Fault> {
    let projects = wanted.projects.as_deref().map(hex);
    let words: Vec<&str> = wanted.kinds.iter().map(|kind| kind.word()).collect();
    let kinds = (!words.is_empty()).then(|| format!(",{},", words.join(",")));
    read.find(
        sql!("nodes.sql", "next_offered"),
        params! { ":tenant": tenant, ":ticket": wanted.ticket, ":projects": projects,
        ":kinds": kinds, ":full": hex(full) },
        Node::from_row,
    )
}

/// Ids as the database writes them in hexadecimal, with commas between.
fn hex(ids: &[ProjectId]) -> String {
    let one = |id: &ProjectId| format!("{:X}", id.uuid().simple());
    ids.iter().map(one).collect::<Vec<_>>().join(",")
}

fn begin(tx: &mut Tx<'_>, project: Project, node: &Node, taker: &Taker) -> Result<Taken, Fault> {
    let (tenant, now) = (node.tenant, tx.now());
    let started = params! { ":tenant": tenant, ":id": node.ticket, ":now": now };
    let waited = ticket::get(tx, tenant, node.ticket)?.status != Status::Running;
    tx.run_one(sql!("tickets.sql", "start"), started)?;
    if waited {
        outbox::tell(tx, tenant, node.ticket, Happening::Status, WORK_GOES_ON)?;
    }
    tx.run_one(
        sql!("nodes.sql", "claim"),
        params! { ":tenant": tenant, ":id": node.id, ":attempt": node.attempt,
        ":agent": taker.agent, ":now": now },
    )?;
    let gone = || Fault::internal("a node that was claimed is gone");
    let node = node::find(tx, tenant, node.id)?.ok_or_else(gone)?;
    let claim = claims::make(tx, tenant, (node.ticket, node.id, node.attempt), taker)?;
    let said = format!("{} claimed for {}.", node.name, taker.agent);
    let line = Line {
        happened: Happened::NodeStarted,
        actor: &taker.holder,
        text: &said,
        node: Some(&node.name),
    };
    timeline::record(tx, tenant, node.ticket, line)?;
    let ticket = ticket::get(tx, tenant, node.ticket)?;
    Ok(Taken { claim, project, ticket, node })
}

/// The node of a claim that is not over, with its ticket and project.
pub fn taken(read: &Read<'_>, claim: Claim) -> Result<Taken, Fault> {
    let node = node::find(read, claim.tenant, claim.node)?;
    let node = node.filter(|node| is_current(node, &claim)).ok_or_else(|| claim.over())?;
    let ticket = ticket::get(read, claim.tenant, claim.ticket)?;
    let project = project_of(read, &ticket)?;
    Ok(Taken { claim, project, ticket, node })
}

fn is_current(node: &Node, claim: &Claim) -> bool {
    node.status == NodeStatus::Running && node.attempt == claim.attempt
}

/// What a holder leaves behind by what it said itself.
#[must_use]
pub fn left(claim: &Claim, log: Option<(Hash, u64)>) -> Left {
    let used = &claim.used;
    Left {
        model: used.model.clone(),
        turns: used.turns,
        input_tokens: used.input_tokens,
        output_tokens: used.output_tokens,
        cost_micros: used.cost_micros,
        log: log.map(|(hash, _)| hash),
        log_lines: log.map_or(0, |(_, lines)| lines),
        ..Left::default()
    }
}

/// Ends a claim that has no result, and lets its node wait for another. One that lapsed counts as
/// an interruption, and so many of them end the ticket. `false` where it was over already.
pub fn give_back(
    tx: &mut Tx<'_>,
    claim: &Claim,
    how: EndedAs,
    why: &str,
    left: &Left,
) -> Result<bool, Fault> {
    let tenant = claim.tenant;
    if !claims::close(tx, claim, how)? {
        return Ok(false);
    }
    let Some(node) = node::find(tx, tenant, claim.node)? else { return Ok(true) };
    if !is_current(&node, claim) {
        return Ok(true);
    }
    record::cut_short(tx, tenant, &node, left)?;
    let said = format!("{} is given back: {}", node.name, text::first_line(why));
    let line = Line {
        happened: Happened::Interrupted,
        actor: &claim.holder,
        text: &said,
        node: Some(&node.name),
    };
    timeline::record(tx, tenant, claim.ticket, line)?;
    if how == EndedAs::Lapsed && !record::interrupt(tx, tenant, &node)? {
        return Ok(true);
    }
    tx.run_one(sql!("nodes.sql", "requeue"), params! { ":tenant": tenant, ":id": node.id })?;
    advance(tx, tenant, claim.ticket)?;
    Ok(true)
}

/// Ends whatever claim there is on a ticket that ends. What its holder used is counted.
pub(super) fn end_of_ticket(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<(), Fault> {
    let all = claims::of_ticket(tx, tenant, ticket)?;
    for claim in all.iter().filter(|claim| claim.ended_as.is_none()) {
        claims::close(tx, claim, EndedAs::Cancelled)?;
        let node = node::find(tx, tenant, claim.node)?;
        if let Some(node) = node.filter(|node| is_current(node, claim)) {
            record::cut_short(tx, tenant, &node, &left(claim, None))?;
        }
    }
    Ok(())
}
