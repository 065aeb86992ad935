//! Where the boxes and lines of a small directed graph go: layers from left to right, an edge
//! never through a box. Pure: what is drawn into the places is the template's.

use std::collections::VecDeque;

/// The width of a box, in pixels.
pub const BOX_WIDTH: i32 = 144;
/// The height of a box, in pixels.
pub const BOX_HEIGHT: i32 = 48;
const GAP_X: i32 = 28;
const GAP_Y: i32 = 16;
/// The width above which a drawing scrolls instead of shrinking, in pixels.
pub const LONG: i32 = 1_240;
/// The height that an edge takes where it passes through a layer.
const LANE: i32 = 12;
/// The room around the drawing, for outlines.
const PAD: i32 = 4;
/// Sweeps that put each box near its neighbours; more change nothing visible.
const SWEEPS: usize = 4;

/// A drawing: the places of the boxes, in the order of the nodes, and the lines between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The width of the whole, in pixels.
    pub width: i32,
    /// The height of the whole, in pixels.
    pub height: i32,
    /// The upper left corner of each node's box.
    pub spots: Vec<Spot>,
    /// The lines, one for each usable edge.
    pub lines: Vec<Line>,
}

/// The upper left corner of a box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spot {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from above.
    pub y: i32,
}

/// One edge as drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The node it leaves, by its place in the list.
    pub from: usize,
    /// The node it enters.
    pub to: usize,
    /// The `d` of an SVG path.
    pub path: String,
}

/// What stands in a layer: a node, or an edge on its way to a later layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Node(usize),
    Lane(usize),
}

impl Slot {
    const fn height(self) -> i32 {
        match self {
            Self::Node(_) => BOX_HEIGHT,
            Self::Lane(_) => LANE,
        }
    }
}

/// Places `count` nodes with their edges (from, to). Edges to nowhere, to the node itself, twice
/// the same, or against the order inside a cycle are left out rather than refused.
#[must_use]
pub fn lay_out(count: usize, edges: &[(usize, usize)]) -> Layout {
    if count == 0 {
        return Layout::default();
    }
    let mut known: Vec<(usize, usize)> = Vec::new();
    for &(from, to) in edges {
        if from < count && to < count && from != to && !known.contains(&(from, to)) {
            known.push((from, to));
        }
    }
    let layer_of = layers(count, &known);
    known.retain(|&(from, to)| layer_of[from] < layer_of[to]);
    let columns = arrange(&layer_of, &known);
    draw(count, &known, &columns)
}

/// The layer of each node: one more than its latest parent's. Nodes of a cycle go behind those
/// that could be ordered.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut open: Vec<usize> =
        (0..count).map(|node| edges.iter().filter(|edge| edge.1 == node).count()).collect();
    let mut layer = vec![0; count];
    let mut placed = vec![false; count];
    let mut ready: VecDeque<usize> = (0..count).filter(|&node| open[node] == 0).collect();
    for _ in 0..count {
        let next = ready.pop_front().or_else(|| (0..count).find(|&node| !placed[node]));
        let Some(node) = next else { break };
        placed[node] = true;
        for &(_, child) in edges.iter().filter(|edge| edge.0 == node) {
            if placed[child] {
                continue;
            }
            layer[child] = layer[child].max(layer[node] + 1);
            open[child] -= 1;
            if open[child] == 0 {
                ready.push_back(child);
            }
        }
        ready.retain(|&other| !placed[other]);
    }
    layer
}

/// The slots of each layer from above, neighbours near each other.
fn arrange(layer_of: &[usize], edges: &[(usize, usize)]) -> Vec<Vec<Slot>> {
    let last = layer_of.iter().max().map_or(0, |layer| layer + 1);
    let mut columns: Vec<Vec<Slot>> = vec![Vec::new(); last];
    for (node, &layer) in layer_of.iter().enumerate() {
        columns[layer].push(Slot::Node(node));
    }
    for (edge, &(from, to)) in edges.iter().enumerate() {
        for column in &mut columns[layer_of[from] + 1..layer_of[to]] {
            column.push(Slot::Lane(edge));
        }
    }
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for step in 1..columns.len() {
            let at = if forward { step } else { columns.len() - 1 - step };
            let beside = columns[if forward { at - 1 } else { at + 1 }].clone();
            let column = &mut columns[at];
            let size = column.len();
            let mut ranked: Vec<(usize, Slot)> = (column.iter().enumerate())
                .map(|(place, &slot)| (rank(slot, &beside, edges, place, size), slot))
                .collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            *column = ranked.into_iter().map(|(_, slot)| slot).collect();
        }
    }
    columns
}

/// Where a slot wants to be, in thousandths of its column: the mean of its neighbours' places.
fn rank(slot: Slot, beside: &[Slot], edges: &[(usize, usize)], place: usize, size: usize) -> usize {
    let touches = |other: &Slot| {
        edges.iter().enumerate().any(|(at, &(from, to))| {
            let ends = [Slot::Node(from), Slot::Node(to), Slot::Lane(at)];
            ends.contains(&slot) && ends.contains(other)
        })
    };
    let near: Vec<usize> =
        (beside.iter().enumerate()).filter(|(_, other)| touches(other)).map(|(at, _)| at).collect();
    if near.is_empty() {
        return (2 * place + 1) * 500 / size;
    }
    near.iter().map(|at| (2 * at + 1) * 500 / beside.len()).sum::<usize>() / near.len()
}

fn draw(count: usize, edges: &[(usize, usize)], columns: &[Vec<Slot>]) -> Layout {
    let tall = |column: &Vec<Slot>| -> i32 {
        column.iter().map(|slot| slot.height() + GAP_Y).sum::<i32>() - GAP_Y
    };
    let height = columns.iter().map(tall).max().unwrap_or(0);
    let mut spots = vec![Spot::default(); count];
    let mut lanes: Vec<Vec<Spot>> = vec![Vec::new(); edges.len()];
    let mut x = PAD;
    for column in columns {
        let mut y = PAD + (height - tall(column)) / 2;
        for &slot in column {
            match slot {
                Slot::Node(node) => spots[node] = Spot { x, y },
                Slot::Lane(edge) => lanes[edge].push(Spot { x, y: y + LANE / 2 }),
            }
            y += slot.height() + GAP_Y;
        }
        x += BOX_WIDTH + GAP_X;
    }
    let drawn = (edges.iter().zip(&lanes))
        .map(|(&(from, to), lanes)| Line { from, to, path: path(spots[from], lanes, spots[to]) })
        .collect();
    Layout { width: x - GAP_X + PAD, height: height + 2 * PAD, spots, lines: drawn }
}

/// From the right side of one box, along its lanes, to the left side of another.
fn path(from: Spot, lanes: &[Spot], to: Spot) -> String {
    let mut x = from.x + BOX_WIDTH;
    let mut y = from.y + BOX_HEIGHT / 2;
    let mut steps = vec![format!("M{x} {y}")];
    let end = Spot { x: to.x, y: to.y + BOX_HEIGHT / 2 };
    for (stop, is_lane) in lanes.iter().map(|lane| (*lane, true)).chain([(end, false)]) {
        let middle = i32::midpoint(x, stop.x);
        steps.push(if stop.y == y {
            format!("H{}", stop.x)
        } else {
            format!("C{middle} {y} {middle} {} {} {}", stop.y, stop.x, stop.y)
        });
        (x, y) = (stop.x, stop.y);
        if is_lane {
            x += BOX_WIDTH;
            steps.push(format!("H{x}"));
        }
    }
    steps.concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_chain_is_one_straight_row() {
        let layout = lay_out(4, &[(0, 1), (1, 2), (2, 3)]);

        assert!(layout.spots.iter().all(|spot| spot.y == layout.spots[0].y));
        assert!(layout.spots.windows(2).all(|pair| pair[0].x < pair[1].x));
        assert_eq!(layout.lines[0].path, "M148 28H176");
    }

    #[test]
    fn branches_stand_above_each_other_and_meet_again() {
        let layout = lay_out(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);

        assert_eq!(layout.spots[1].x, layout.spots[2].x);
        assert!(layout.spots[1].y + BOX_HEIGHT < layout.spots[2].y);
        assert_eq!(layout.spots[0].y, layout.spots[3].y);
    }

    #[test]
    fn a_long_edge_has_a_lane_of_its_own() {
        let layout = lay_out(3, &[(0, 1), (1, 2), (0, 2)]);

        let long = layout.lines.iter().find(|line| (line.from, line.to) == (0, 2)).unwrap();
        assert_ne!(long.path, "M148 28H348");
        assert!(layout.height > BOX_HEIGHT + 2 * PAD);
    }

    #[test]
    fn nonsense_is_left_out_and_cycles_end() {
        let layout = lay_out(3, &[(0, 0), (0, 9), (0, 1), (0, 1), (1, 2), (2, 0)]);

        assert_eq!(layout.spots.len(), 3);
        assert!(layout.lines.len() <= 3);
        assert_eq!(lay_out(0, &[(0, 1)]), Layout::default());
    }

    proptest! {
        #[test]
        fn boxes_never_overlap_and_lines_go_right(
            count in 1_usize..12,
            edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..24),
        ) {
            let layout = lay_out(count, &edges);
            for (at, one) in layout.spots.iter().enumerate() {
                prop_assert!(one.x + BOX_WIDTH <= layout.width);
                prop_assert!(one.y + BOX_HEIGHT <= layout.height);
                for other in &layout.spots[at + 1..] {
                    prop_assert!(one.x != other.x || (one.y - other.y).abs() >= BOX_HEIGHT + GAP_Y);
                }
            }
            for line in &layout.lines {
                prop_assert!(layout.spots[line.from].x < layout.spots[line.to].x);
            }
        }
    }
}
