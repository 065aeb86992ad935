//! `get_ticket_reports`: what the nodes reported, in full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::{Code, Fault, TicketId, text};
use crate::tickets::node::{self, Node};
use crate::tickets::states::{NodeKind, NodeStatus};
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// Characters of all reports in one answer at most: above it many clients drop the whole answer.
const TOTAL_MAX: usize = 60_000;

/// What the nodes of a ticket reported.
pub struct GetTicketReports;

/// What `get_ticket_reports` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// The ticket: `ACME-42`, its UUID, `#42` or `42`.
    ticket: String,
    /// Only this node's, such as `review-1`.
    node: Option<String>,
}

/// What `get_ticket_reports` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The ticket.
    ticket_id: TicketId,
    /// Its ref.
    ticket_ref: String,
    /// The reports of nodes that have started, in reading order.
    reports: Vec<ReportWire>,
    /// Whether texts were cut because all of them together were too long. Ask for single nodes.
    truncated: bool,
}

/// What one node reported.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReportWire {
    /// The node.
    node_ref: String,
    /// What it does.
    kind: NodeKind,
    /// Where it stands.
    status: NodeStatus,
    /// The agent profile that did it.
    agent: Option<String>,
    /// The model, where the agent said.
    model: Option<String>,
    /// How long it took, in milliseconds.
    duration_ms: Option<u64>,
    /// Agent turns.
    turns: u64,
    /// Tokens read.
    input_tokens: u64,
    /// Tokens written.
    output_tokens: u64,
    /// Cost in US dollars, where the agent said.
    cost_usd: Option<f64>,
    /// What was done or found, in short.
    summary: Option<String>,
    /// The whole report, as Markdown.
    report: Option<String>,
    /// Why it failed.
    failure_reason: Option<String>,
}

impl Tool for GetTicketReports {
    const NAME: &'static str = "get_ticket_reports";
    const TITLE: &'static str = "Get a ticket's reports";
    const ABOUT: &'static str = "The full text of what each node of a ticket reported, with its \
        agent, time, tokens and cost. Long: call it when `get_ticket` does not tell enough, and \
        name a `node` where you can.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Reads;
    const IDEMPOTENT: bool = true;
    const EXAMPLE: &'static str = r#"{ "ticket": "ACME-42", "node": "review-1" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let output = cx
            .read(move |read, actor| {
                let ticket = super::find(read, actor, &input.ticket)?;
                let nodes = node::list(read, ticket.tenant, ticket.id)?;
                let wanted = chosen(&nodes, input.node.as_deref())?;
                let (reports, truncated) = shown(&wanted);
                let ticket_ref = ticket.reference();
                Ok(Output { ticket_id: ticket.id, ticket_ref, reports, truncated })
            })
            .await?;
        let summary = match output.reports.len() {
            1 => format!("1 report of {}.", output.ticket_ref),
            count => format!("{count} reports of {}.", output.ticket_ref),
        };
        let truncated = output.truncated;
        let done = Done::new(output, summary);
        Ok(if truncated {
            done.warn("Some texts were cut; name one node to read its report whole.")
        } else {
            done
        })
    }
}

fn chosen<'n>(nodes: &'n [Node], name: Option<&str>) -> Result<Vec<&'n Node>, Fault> {
    let Some(name) = name else {
        return Ok(nodes.iter().filter(|node| node.attempt > 0).collect());
    };
    if let Some(node) = nodes.iter().find(|node| node.name == name) {
        return Ok(vec![node]);
    }
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let (asked, has) = (text::cut(name, 60), text::cut(&names.join(", "), 500));
    let message = format!("The ticket has no node {asked:?}; it has {has}.");
    Err(Fault::new(Code::NotFound, message).issue("node", "no such node"))
}

fn shown(nodes: &[&Node]) -> (Vec<ReportWire>, bool) {
    let share = TOTAL_MAX / nodes.len().max(1);
    let mut truncated = false;
    let reports = nodes
        .iter()
        .map(|node| {
            let report = node.report.as_deref().map(|whole| text::cut(whole, share));
            truncated |= report.as_deref() != node.report.as_deref();
            one(node, report)
        })
        .collect();
    (reports, truncated)
}

fn one(node: &Node, report: Option<String>) -> ReportWire {
    let took = node.started_at.zip(node.completed_at).map(|(from, to)| to.since(from));
    #[expect(clippy::cast_precision_loss, reason = "a cost stays far below 2^52 millionths")]
    let cost_usd = (node.cost_micros > 0).then(|| node.cost_micros as f64 / 1e6);
    ReportWire {
        node_ref: node.name.clone(),
        kind: node.kind,
        status: node.status,
        agent: node.agent.clone(),
        model: node.model.clone(),
        duration_ms: took.and_then(|took| u64::try_from(took.as_millis()).ok()),
        turns: node.turns,
        input_tokens: node.input_tokens,
        output_tokens: node.output_tokens,
        cost_usd,
        summary: node.summary.clone(),
        report,
        failure_reason: node.failure_reason.clone(),
    }
}
