//! `get_ticket_graph`: every node of a ticket's graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::{Fault, Millis, NodeId, TicketId};
use crate::store::Read;
use crate::tickets::claims::{self, Claim};
use crate::tickets::node::{self, Edge, Node};
use crate::tickets::states::{GraphStatus, NodeKind, NodeStatus, Origin, Pause};
use crate::tickets::{Ticket, questions};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Every node of a ticket's graph.
pub struct GetTicketGraph;

/// What `get_ticket_graph` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
}

/// What `get_ticket_graph` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The ticket.
    ticket_id: TicketId,
    /// Its ref.
    ticket_ref: String,
    /// The graph.
    graph: Graph,
    /// The question it waits on.
    question: Option<QuestionWire>,
}

/// A graph.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Graph {
    /// How it was planned.
    origin: Origin,
    /// How it stands as a whole.
    status: GraphStatus,
    /// How many nodes it has.
    node_count: usize,
    /// All of them, in reading order.
    nodes: Vec<GraphNode>,
}

/// A node.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GraphNode {
    /// Its name in the graph.
    #[serde(rename = "ref")]
    name: String,
    /// What it does.
    kind: NodeKind,
    /// Where it stands.
    status: NodeStatus,
    /// The nodes it waits for.
    depends_on: Vec<String>,
    /// How often it was started.
    attempts: u32,
    /// The agent profile that did it.
    agent: Option<String>,
    /// The model, where the agent said.
    model: Option<String>,
    /// When it started. ISO 8601, UTC.
    started_at: Option<String>,
    /// When it ended. ISO 8601, UTC.
    completed_at: Option<String>,
    /// How long it took, in milliseconds.
    duration_ms: Option<u64>,
    /// The exit code of its process.
    exit_code: Option<i32>,
    /// What was done or found, in short.
    summary: Option<String>,
    /// Why it failed.
    failure_reason: Option<String>,
    /// Who does it from an editor, or that it waits for somebody who does.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<ClaimWire>,
}

/// How a node stands that is done from an editor.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClaimWire {
    /// `waiting` for `claim_ticket_node`, or `claimed`.
    state: &'static str,
    /// Since when. ISO 8601, UTC.
    since: String,
    /// When the claim lapses without a report. ISO 8601, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<String>,
    /// What its holder said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// How far its holder says to be, of 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<u32>,
}

impl ClaimWire {
    fn of(node: &Node, claims: &[Claim]) -> Option<Self> {
        if node.status == NodeStatus::Queued {
            let since = node.offered_at?.iso();
            let (lease_until, message, percent) = (None, None, None);
            return Some(Self { state: "waiting", since, lease_until, message, percent });
        }
        let is_open = |claim: &&Claim| claim.node == node.id && claim.ended_as.is_none();
        let claim = claims.iter().find(is_open)?;
        Some(Self {
            state: "claimed",
            since: claim.claimed_at.iso(),
            lease_until: Some(claim.lease_until.iso()),
            message: claim.said.clone(),
            percent: claim.percent,
        })
    }
}

/// A question to a person.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct QuestionWire {
    /// What is asked.
    text: String,
    /// Answers to choose from; empty where any text will do.
    choices: Vec<String>,
    /// The step that waits for an approval, to be given with `approve_ticket`: `plan`, `land` or
    /// `apply`. Or `hold` and `unclear`, which are answered with `reply_ticket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Pause>,
    /// The secret that is wanted, by its name. A person gives it through a link that
    /// `create_secret_link` makes, never by an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// The node that asks, or whose work is to be approved.
    node_ref: String,
    /// When it was asked. ISO 8601, UTC.
    asked_at: String,
}

impl Tool for GetTicketGraph {
    const NAME: &'static str = "get_ticket_graph";
    const TITLE: &'static str = "Get a ticket's graph";
    const ABOUT: &'static str = "Every node of a ticket's graph with its state, times, agent and \
        failure, the edges between them, and the open question if there is one. For the full text \
        of what a node reported call `get_ticket_reports`.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx
            .read(move |read, actor| {
                let ticket = super::find(read, actor, &input.ticket)?;
                show(read, &ticket)
            })
            .await?;
        let graph = &output.graph;
        let done = graph.nodes.iter().filter(|node| node.status.is_terminal()).count();
        let summary = format!("{done} of {} nodes have ended.", graph.node_count);
        Ok(Done::new(output, summary))
    }
}

fn show(read: &Read<'_>, ticket: &Ticket) -> Result<Output, Fault> {
    let nodes = node::list(read, ticket.tenant, ticket.id)?;
    let edges = node::edges(read, ticket.tenant, ticket.id)?;
    let claims = claims::of_ticket(read, ticket.tenant, ticket.id)?;
    let name_of = |id: NodeId| {
        nodes.iter().find(|node| node.id == id).map(|node| node.name.clone()).unwrap_or_default()
    };
    let question = questions::open(read, ticket.tenant, ticket.id)?.map(|open| QuestionWire {
        text: open.text,
        choices: open.choices,
        step: open.pause,
        secret: open.secret,
        node_ref: name_of(open.node),
        asked_at: open.asked_at.iso(),
    });
    Ok(Output {
        ticket_id: ticket.id,
        ticket_ref: ticket.reference(),
        graph: Graph {
            origin: ticket.origin,
            status: ticket.graph_status,
            node_count: nodes.len(),
            nodes: nodes.iter().map(|node| graph_node(node, &nodes, &edges, &claims)).collect(),
        },
        question,
    })
}

fn graph_node(node: &Node, nodes: &[Node], edges: &[Edge], claims: &[Claim]) -> GraphNode {
    let is_parent =
        |parent: &&Node| edges.iter().any(|edge| edge.node == node.id && edge.parent == parent.id);
    let took = node.started_at.zip(node.completed_at).map(|(from, to)| to.since(from));
    GraphNode {
        name: node.name.clone(),
        kind: node.kind,
        status: node.status,
        depends_on: nodes.iter().filter(is_parent).map(|parent| parent.name.clone()).collect(),
        attempts: node.attempt,
        agent: node.agent.clone(),
        model: node.model.clone(),
        started_at: node.started_at.map(Millis::iso),
        completed_at: node.completed_at.map(Millis::iso),
        duration_ms: took.and_then(|took| u64::try_from(took.as_millis()).ok()),
        exit_code: node.exit_code,
        summary: node.summary.clone(),
        failure_reason: node.failure_reason.clone(),
        claim: ClaimWire::of(node, claims),
    }
}
