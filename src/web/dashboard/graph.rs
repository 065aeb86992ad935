//! The drawing of a ticket's graph: places from `web/graph.rs`, words and tones from the nodes.

use askama::Template;
use askama::filters::HtmlSafe;

use super::marks::Mark;
use crate::base::text;
use crate::web::graph::{self, Layout};

/// Characters of a name that fit into a box.
const LABEL_CHARS: usize = 15;

/// A node as the drawing needs it.
#[derive(Debug, Clone)]
pub(super) struct GraphNode {
    /// Its ref, such as `implement-1`.
    pub(super) name: String,
    pub(super) mark: Mark,
    /// What stands behind the status, such as how long it took; may be empty.
    pub(super) note: String,
}

/// A graph, ready to be written into a page.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "parts/graph.html")]
pub(super) struct Graph {
    layout: Layout,
    boxes: Vec<NodeBox>,
    lines: Vec<EdgeLine>,
}

impl HtmlSafe for Graph {}

#[derive(Debug, Clone)]
struct NodeBox {
    name: String,
    label: String,
    mark: Mark,
    note: String,
    x: i32,
    y: i32,
}

#[derive(Debug, Clone)]
struct EdgeLine {
    path: String,
    tone: &'static str,
}

impl Graph {
    /// Draws nodes and the edges between them, each (from, to) by place in the list.
    pub(super) fn draw(nodes: Vec<GraphNode>, edges: &[(usize, usize)]) -> Self {
        let layout = graph::lay_out(nodes.len(), edges);
        let lines = (layout.lines.iter())
            .map(|line| EdgeLine {
                path: line.path.clone(),
                tone: edge_tone(nodes[line.from].mark.tone, nodes[line.to].mark.tone),
            })
            .collect();
        let boxes = (nodes.into_iter().zip(&layout.spots))
            .map(|(node, spot)| NodeBox {
                label: text::cut(&node.name, LABEL_CHARS),
                name: node.name,
                mark: node.mark,
                note: node.note,
                x: spot.x,
                y: spot.y,
            })
            .collect();
        Self { layout, boxes, lines }
    }
}

/// An edge is alive where it leads into running work, done where its source is, and else waits.
fn edge_tone(from: &str, to: &str) -> &'static str {
    match (from, to) {
        ("ok", "run") => "run",
        ("ok", _) => "ok",
        _ => "idle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_names_each_node_its_state_and_its_card() {
        let node = |name: &str, status: &str| GraphNode {
            name: name.to_owned(),
            mark: Mark::status(status),
            note: "1 min".to_owned(),
        };

        let drawn =
            Graph::draw(vec![node("plan-1", "succeeded"), node("<b>", "running")], &[(0, 1)]);

        let drawn = drawn.to_string();
        assert!(drawn.contains("href=\"#node-plan-1\""), "{drawn}");
        assert!(drawn.contains("Succeeded · 1 min"), "{drawn}");
        assert!(drawn.contains("class=\"edge run\""), "{drawn}");
        assert!(drawn.contains("&#60;b&#62;") && !drawn.contains("<b>"), "{drawn}");
    }
}
