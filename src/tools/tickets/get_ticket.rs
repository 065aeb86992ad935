//! `get_ticket`: the digest of one ticket.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::wire::{self, TicketWire};
use crate::accounts::Actor;
use crate::base::Fault;
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::contract::{Assertion, Item};
use crate::tickets::digest::{Digest, brief};
use crate::tickets::node::Outline;
use crate::tickets::states::{
    GraphStatus, ItemKind, NodeKind, NodeStatus, Origin, Outcome, Status,
};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Nodes in the compact list at most; a limit of the contract.
const NODES_MAX: usize = 20;

/// The digest of one ticket.
pub struct GetTicket;

/// What `get_ticket` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
}

/// What `get_ticket` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "outputTokens is the contract's name")]
struct Output {
    /// The ticket.
    ticket: TicketWire,
    /// Agent turns used so far.
    turns_used: u64,
    /// Tokens read by models so far.
    input_tokens: u64,
    /// Tokens written by models so far.
    output_tokens: u64,
    /// How putting it on the base branch went or goes: `merged`; `conflicts` with what others
    /// landed; `verification_failed` together with it; `checkout_dirty` where a checkout of the
    /// base branch has changes that nobody committed.
    auto_merge_status: Option<String>,
    /// How often it was held for lack of credit.
    credit_block_count: u64,
    /// How often it was put back because the server or its process went away.
    graph_ambient_interrupt_count: u64,
    /// The graph in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<GraphSummary>,
    /// How to go on from its branch, where it did not land and the branch has work on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    salvage_note: Option<String>,
    /// What was done, once it ended.
    completion_summary: Option<String>,
    /// What the newest node said, while it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_phase_summary: Option<String>,
    /// What it came to.
    outcome: Outcome,
    /// What was put off on purpose.
    deferred_items: Vec<OutcomeItem>,
    /// Assertions that could not be confirmed.
    verification_gaps: Vec<ContractItem>,
    /// Assertions that hold in part.
    partially_verified_items: Vec<ContractItem>,
    /// Ideas for other tickets.
    follow_up_recommendations: Vec<OutcomeItem>,
    /// Whether a person has to act.
    human_action_required: bool,
    /// What a person has to do, in order.
    human_actions: Vec<String>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on_tickets: Vec<DependencyRef>,
    /// What waits for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    follow_on_tickets: Vec<DependencyRef>,
}

/// A graph in short.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GraphSummary {
    /// How it was planned.
    origin: Origin,
    /// How it stands as a whole.
    status: GraphStatus,
    /// How many nodes it has, finished ones too.
    node_count: usize,
    /// At most 20 of them: those that have not ended first, then the newest, in reading order.
    nodes: Vec<GraphNodeRef>,
}

/// A node in short.
#[derive(Debug, Serialize, JsonSchema)]
struct GraphNodeRef {
    /// Its name in the graph.
    #[serde(rename = "ref")]
    name: String,
    /// What it does.
    kind: NodeKind,
    /// Where it stands.
    status: NodeStatus,
}

/// Something that is left.
#[derive(Debug, Serialize, JsonSchema)]
struct OutcomeItem {
    /// In words.
    text: String,
    /// The node that said it.
    source: String,
}

/// An assertion that was not fully confirmed.
#[derive(Debug, Serialize, JsonSchema)]
struct ContractItem {
    /// What was to hold.
    assertion: String,
    /// What was looked at, and what was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    /// The node that wrote it.
    source: String,
}

/// A related ticket.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DependencyRef {
    /// Its ref.
    ticket_ref: String,
    /// Its title.
    title: String,
    /// Where it stands.
    status: Status,
}

impl Tool for GetTicket {
    const NAME: &'static str = "get_ticket";
    const TITLE: &'static str = "Get a ticket";
    const ABOUT: &'static str = "The digest of one ticket: where it stands, what it came to, what \
        was verified and what was not, what a person has to do. Start here; `get_ticket_graph` and \
        `get_ticket_reports` tell more. A cancelled ticket has the outcome `failed`, for it did \
        not land; its status stays `cancelled`.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42" }"#;

    type Input = Input;
    type Output = Remembered;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Remembered>, Fault> {
        let site = &cx.premises().url;
        let shown = cx.glance(|read, actor| {
            let sight = actor.sight(&input.ticket);
            let show = || show(read, actor, super::find(read, actor, &input.ticket)?, site);
            read.again(Self::NAME, sight, || show().map(Arc::new).map(Some))
        })?;
        let shown = shown.ok_or_else(|| Fault::internal("a ticket was found and not shown"))?;
        let Shown { output, asks } = &*shown;
        let asks = *asks;
        let named = output.ticket.ticket_ref.clone();
        let summary = format!("{named} is {} ({}).", output.ticket.status, output.outcome);
        let status = output.ticket.status;
        let done = Done::new(Remembered(shown), summary);
        let of = json!({ "ticket": named });
        Ok(match (status, asks) {
            (_, Some(Asks::Answer)) => done.next("Answer its question", "reply_ticket", of),
            (_, Some(Asks::Secret)) => {
                done.next("Make a link for the secret", "create_secret_link", of)
            }
            (_, Some(Asks::Approval)) => {
                done.next("See what is to be approved", "get_ticket_graph", of)
            }
            (Status::Failed | Status::Timeout | Status::Cancelled, _) => {
                done.next("Try it again", "retry_ticket", of)
            }
            _ => done.next("See every node", "get_ticket_graph", of),
        })
    }
}

/// What a ticket waits for a person to give.
#[derive(Clone, Copy)]
enum Asks {
    Answer,
    Secret,
    Approval,
}

/// The answer about a ticket, as it is kept until somebody writes: whoever waits for a ticket asks
/// every few seconds.
pub struct Remembered(Arc<Shown>);

/// The answer, and what the ticket waits for a person to give.
struct Shown {
    output: Output,
    asks: Option<Asks>,
}

impl Serialize for Remembered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.output.serialize(to)
    }
}

impl JsonSchema for Remembered {
    fn schema_name() -> Cow<'static, str> {
        Output::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Output::json_schema(generator)
    }
}

fn show(read: &Read<'_>, actor: &Actor, ticket: Ticket, site: &str) -> Result<Shown, Fault> {
    let mut digest = brief(read, ticket)?;
    let parents = digest.parents.iter().map(|parent| parent.id).collect();
    let wire = wire::ticket_with(&digest.ticket, parents);
    // A limited key hears nothing of tickets in other projects.
    digest.parents.retain(|parent| actor.may_reach(parent.project));
    digest.children.retain(|child| actor.may_reach(child.project));
    let human_actions = digest.human_actions(site);
    let in_progress = digest.outcome == Outcome::InProgress;
    let ticket = &digest.ticket;
    let output = Output {
        ticket: wire,
        turns_used: ticket.turns_used,
        input_tokens: ticket.input_tokens,
        output_tokens: ticket.output_tokens,
        auto_merge_status: ticket.auto_merge_status.clone(),
        credit_block_count: ticket.credit_block_count,
        graph_ambient_interrupt_count: ticket.interrupt_count,
        graph: (ticket.origin == Origin::Dynamic).then(|| graph(&digest)),
        salvage_note: digest.salvage_note(),
        completion_summary: ticket.completion_summary.clone(),
        latest_phase_summary: ticket.latest_phase_summary.clone().filter(|_| in_progress),
        outcome: digest.outcome,
        deferred_items: digest.items_of(ItemKind::Deferred).map(item).collect(),
        verification_gaps: digest.gaps().map(contract_item).collect(),
        partially_verified_items: digest.partial().map(contract_item).collect(),
        follow_up_recommendations: digest.items_of(ItemKind::FollowUp).map(item).collect(),
        human_action_required: !human_actions.is_empty(),
        human_actions,
        depends_on_tickets: digest.parents.iter().map(related).collect(),
        follow_on_tickets: digest.children.iter().map(related).collect(),
    };
    let asks = digest.question.map(|asked| match asked.pause {
        Some(pause) if pause.is_approval() => Asks::Approval,
        _ if asked.secret.is_some() => Asks::Secret,
        _ => Asks::Answer,
    });
    Ok(Shown { output, asks })
}

fn graph(digest: &Digest<Outline>) -> GraphSummary {
    let mut shown: Vec<&Outline> = digest.nodes.iter().collect();
    if shown.len() > NODES_MAX {
        shown.sort_by_key(|node| (node.status.is_terminal(), std::cmp::Reverse(node.position)));
        shown.truncate(NODES_MAX);
        shown.sort_by_key(|node| node.position);
    }
    let compact = |node: &&Outline| GraphNodeRef {
        name: node.name.clone(),
        kind: node.kind,
        status: node.status,
    };
    GraphSummary {
        origin: digest.ticket.origin,
        status: digest.ticket.graph_status,
        node_count: digest.nodes.len(),
        nodes: shown.iter().map(compact).collect(),
    }
}

fn item(item: &Item) -> OutcomeItem {
    OutcomeItem { text: item.text.clone(), source: item.source.clone() }
}

fn contract_item(assertion: &Assertion) -> ContractItem {
    ContractItem {
        assertion: assertion.text.clone(),
        evidence: assertion.evidence.clone(),
        source: assertion.source.clone(),
    }
}

fn related(ticket: &Ticket) -> DependencyRef {
    DependencyRef {
        ticket_ref: ticket.reference(),
        title: ticket.title.clone(),
        status: ticket.status,
    }
}
