//! The cards of a ticket's nodes, and their drawing.

use std::collections::HashMap;

use super::super::graph::{Graph, GraphNode};
use super::super::marks::Mark;
use super::super::parts::Fact;
use super::{LogTail, NodeCard};
use crate::base::{Millis, NodeId};
use crate::tickets::node::{Edge, Node};
use crate::tickets::states::NodeStatus;
use crate::web::humane;
use crate::web::live_logs::Newest;
use crate::web::markdown;

/// What the pages need to draw a node besides the node.
pub(super) struct At<'a> {
    /// The ticket's own path.
    pub(super) href: &'a str,
    pub(super) now: Millis,
    /// The ends of the logs that are shown open.
    pub(super) logs: &'a HashMap<NodeId, Newest>,
}

/// Whether a node's card stands open: where it asks for attention.
pub(super) fn is_open(status: NodeStatus) -> bool {
    matches!(status, NodeStatus::Running | NodeStatus::Failed | NodeStatus::AwaitingInput)
}

/// The card of a node.
pub(super) fn card(node: &Node, at: &At<'_>) -> NodeCard {
    let is_running = node.status == NodeStatus::Running;
    NodeCard {
        name: node.name.clone(),
        mark: Mark::status(node.status.word()),
        headline: headline(node),
        took: took(node, at.now).map(humane::duration).unwrap_or_default(),
        since: node.started_at.filter(|_| is_running).map(Millis::iso),
        is_open: is_open(node.status),
        failure: node.failure_reason.clone().unwrap_or_default(),
        meters: meters(node),
        summary: markdown::render(node.summary.as_deref().unwrap_or_default()),
        report: markdown::render(node.report.as_deref().unwrap_or_default()),
        log: log(node, at),
        nothing: match node.status {
            NodeStatus::Queued if node.offered_at.is_some() => {
                "It waits to be claimed by an agent in somebody's editor."
            }
            NodeStatus::Queued | NodeStatus::Blocked => "It has not started.",
            NodeStatus::Skipped => "It was not needed.",
            NodeStatus::Cancelled => "The ticket ended before it could start.",
            _ => "It has said nothing.",
        },
    }
}

fn headline(node: &Node) -> String {
    let who = [node.agent.as_deref(), node.model.as_deref()];
    let who: Vec<&str> = who.into_iter().flatten().collect();
    match (who.is_empty(), node.attempt) {
        (true, _) => String::new(),
        (false, 0 | 1) => who.join(" · "),
        (false, attempt) => format!("{} · attempt {attempt}", who.join(" · ")),
    }
}

fn took(node: &Node, now: Millis) -> Option<std::time::Duration> {
    let started = node.started_at?;
    match (node.completed_at, node.status) {
        (Some(ended), _) => Some(ended.since(started)),
        (None, NodeStatus::Running) => Some(now.since(started)),
        (None, _) => None,
    }
}

fn meters(node: &Node) -> Vec<Fact> {
    let counted =
        |name, number: u64| (number > 0).then(|| Fact::plain(name, humane::count(number)));
    let cost =
        (node.cost_micros > 0).then(|| Fact::plain("Cost", humane::dollars(node.cost_micros)));
    let exit = node.exit_code.map(|code| Fact::plain("Exit code", code.to_string()));
    [
        counted("Turns", node.turns),
        counted("Tokens in", node.input_tokens),
        counted("Tokens out", node.output_tokens),
        cost,
        exit,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn log(node: &Node, at: &At<'_>) -> Option<LogTail> {
    let newest = at.logs.get(&node.id);
    let is_live = node.status == NodeStatus::Running;
    if node.log.is_none() && newest.is_none_or(|newest| newest.seq == 0) && !is_live {
        return None;
    }
    let newest = newest.cloned().unwrap_or_default();
    let said = match (is_live, node.log_lines) {
        (true, _) | (false, 0) => "Whole log".to_owned(),
        (false, lines) => format!("Whole log, {}", humane::counted(lines, "line", "lines")),
    };
    Some(LogTail {
        href: format!("{}/nodes/{}/log", at.href, node.name),
        said,
        is_live,
        seq: newest.seq,
        tail: newest.lines,
    })
}

/// The drawing of the nodes.
pub(super) fn drawing(nodes: &[Node], edges: &[Edge], now: Millis) -> Graph {
    let place: HashMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let lines: Vec<(usize, usize)> = edges
        .iter()
        .filter_map(|edge| Some((*place.get(&edge.parent)?, *place.get(&edge.node)?)))
        .collect();
    let drawn = nodes
        .iter()
        .map(|node| GraphNode {
            name: node.name.clone(),
            mark: Mark::status(node.status.word()),
            note: took(node, now).map(humane::brief).unwrap_or_default(),
        })
        .collect();
    Graph::draw(drawn, &lines)
}
