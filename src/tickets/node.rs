//! The nodes of a ticket's graph and the edges between them.

use super::states::{NodeKind, NodeStatus};
use crate::base::{Fault, JobId, Millis, NodeId, TenantId, TicketId};
use crate::store::{Hash, Read, Row, Tx};
use crate::{params, sql};

/// Nodes of one graph at most: the rounds of a ticket are bounded, so it is never reached.
const NODES_MAX: u32 = 500;

/// One unit of a ticket's graph.
#[derive(Debug, Clone)]
pub struct Node {
    /// The node.
    pub id: NodeId,
    /// Whose it is.
    pub tenant: TenantId,
    /// Its ticket.
    pub ticket: TicketId,
    /// Its place in the graph's reading order.
    pub position: i64,
    /// Its name in the graph: `implement-1`.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// Where it stands.
    pub status: NodeStatus,
    /// How often it was started; the fence against results of an earlier start.
    pub attempt: u32,
    /// The job that does it, or did.
    pub job: Option<JobId>,
    /// Since when it waits to be claimed from an editor, while it does.
    pub offered_at: Option<Millis>,
    /// The agent profile that did it.
    pub agent: Option<String>,
    /// The model, where the agent said.
    pub model: Option<String>,
    /// What this round must set right, from the check before it.
    pub brief: Option<String>,
    /// One paragraph on what was done or found.
    pub summary: Option<String>,
    /// The whole report, as Markdown.
    pub report: Option<String>,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// Whether it is a check that was not satisfied and asked for another round.
    pub wants_round: bool,
    /// The tip of the branch when it first began.
    pub began_on: Option<String>,
    /// The tip of the branch that a check looked at.
    pub head: Option<String>,
    /// Its log, once it has ended.
    pub log: Option<Hash>,
    /// Lines in its log.
    pub log_lines: u64,
    /// The exit code of its process.
    pub exit_code: Option<i32>,
    /// Agent turns.
    pub turns: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar, where the agent said.
    pub cost_micros: u64,
    /// When it started last.
    pub started_at: Option<Millis>,
    /// When it ended.
    pub completed_at: Option<Millis>,
}

impl Node {
    /// Reads one row of `nodes`.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            ticket: row.get("ticket_id")?,
            position: row.get("position")?,
            name: row.get("ref")?,
            kind: row.word("kind", NodeKind::parse)?,
            status: row.word("status", NodeStatus::parse)?,
            attempt: row.get("attempt")?,
            job: row.get("job_id")?,
            offered_at: row.get("offered_at")?,
            agent: row.get("agent")?,
            model: row.get("model")?,
            brief: row.get("brief")?,
            began_on: row.get("began_on")?,
            summary: row.get("summary")?,
            report: row.get("report")?,
            failure_reason: row.get("failure_reason")?,
            wants_round: row.get("wants_round")?,
            head: row.get("head_sha")?,
            log: row.get("log_hash")?,
            log_lines: row.unsigned("log_lines")?,
            exit_code: row.get("exit_code")?,
            turns: row.unsigned("turns")?,
            input_tokens: row.unsigned("input_tokens")?,
            output_tokens: row.unsigned("output_tokens")?,
            cost_micros: row.unsigned("cost_micros")?,
            started_at: row.get("started_at")?,
            completed_at: row.get("completed_at")?,
        })
    }

    /// Whether it ended and did not fail.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        matches!(self.status, NodeStatus::Succeeded | NodeStatus::Skipped)
    }

    /// The N of its name.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(1)
    }
}

/// An edge: `node` waits for `parent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The node that waits.
    pub node: NodeId,
    /// The node it waits for.
    pub parent: NodeId,
}

/// A ticket's nodes in reading order.
pub fn list(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Node>, Fault> {
    let all = sql!("nodes.sql", "list");
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": NODES_MAX };
    read.list(all, of, Node::from_row)
}

/// A node in a few words, for lists of tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Its place in the reading order.
    pub position: i64,
    /// Its name in the graph: `implement-1`.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// Where it stands.
    pub status: NodeStatus,
    /// The agent profile that does it or did.
    pub agent: Option<String>,
}

/// A ticket's nodes in reading order, without what they said.
pub fn outline(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Outline>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": NODES_MAX };
    read.list(sql!("nodes.sql", "outline"), of, |row| {
        Ok(Outline {
            position: row.get("position")?,
            name: row.get("ref")?,
            kind: row.word("kind", NodeKind::parse)?,
            status: row.word("status", NodeStatus::parse)?,
            agent: row.get("agent")?,
        })
    })
}

/// The node with this id.
pub fn find(read: &Read<'_>, tenant: TenantId, id: NodeId) -> Result<Option<Node>, Fault> {
    let by_id = sql!("nodes.sql", "find");
    read.find(by_id, params! { ":tenant": tenant, ":id": id }, Node::from_row)
}

/// A ticket's edges.
pub fn edges(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Edge>, Fault> {
    read.list(
        sql!("nodes.sql", "edges"),
        params! { ":tenant": tenant, ":ticket": ticket, ":limit": NODES_MAX * 4 },
        |row| Ok(Edge { node: row.get("node_id")?, parent: row.get("parent_id")? }),
    )
}

/// A node to be added to a graph.
#[derive(Debug, Clone)]
pub struct NewNode<'a> {
    /// Its ticket.
    pub ticket: TicketId,
    /// Its place in the reading order.
    pub position: i64,
    /// What it does.
    pub kind: NodeKind,
    /// The N of its name.
    pub ordinal: u32,
    /// What it must set right, if it repeats something.
    pub brief: Option<&'a str>,
    /// The nodes it waits for.
    pub parents: &'a [NodeId],
}

/// Adds a node that has not started.
pub fn add(tx: &mut Tx<'_>, tenant: TenantId, new: &NewNode<'_>) -> Result<NodeId, Fault> {
    let (id, now): (NodeId, _) = (tx.new_id(), tx.now());
    let name = format!("{}-{}", new.kind, new.ordinal);
    tx.run_one(
        sql!("nodes.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":ticket": new.ticket, ":position": new.position,
        ":ref": name, ":kind": new.kind.word(), ":brief": new.brief, ":now": now },
    )?;
    for parent in new.parents {
        tx.run(
            sql!("nodes.sql", "add_edge"),
            params! { ":node": id, ":parent": parent, ":tenant": tenant, ":ticket": new.ticket },
        )?;
    }
    Ok(id)
}

/// The nodes that wait for this one.
pub fn waiting_for(read: &Read<'_>, node: &Node) -> Result<Vec<NodeId>, Fault> {
    read.list(
        sql!("nodes.sql", "waiting_for"),
        params! { ":tenant": node.tenant, ":ticket": node.ticket, ":parent": node.id,
        ":limit": NODES_MAX },
        |row| row.get("node_id"),
    )
}

/// Lets a node that waits for `before` wait for `now` instead.
pub fn wait_for(tx: &mut Tx<'_>, waits: NodeId, before: &Node, now: NodeId) -> Result<(), Fault> {
    tx.run_one(
        sql!("nodes.sql", "wait_for"),
        params! { ":tenant": before.tenant, ":ticket": before.ticket, ":node": waits,
        ":from": before.id, ":to": now },
    )
}

/// Whose a node is, for the hook of a job that names only the node.
pub fn tenant_of(read: &Read<'_>, id: NodeId) -> Result<Option<TenantId>, Fault> {
    read.find(sql!("nodes.sql", "tenant_of"), params! { ":id": id }, |row| row.get("tenant_id"))
}
