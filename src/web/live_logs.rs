//! The logs of nodes that run: the last lines of each, kept in memory, and new lines as they come.
//! A node that has ended has its log in a file; this is only for what is being written now, and
//! like the agents themselves it does not outlive the process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::ansi::{Line, Reader};
use crate::events::{Bus, Event};

/// Lines kept of one node.
const LINES_MAX: usize = 2_000;
/// Bytes of text kept of one node.
const BYTES_MAX: usize = 1_000_000;
/// Nodes kept; the one that was quiet for longest leaves first.
const NODES_MAX: usize = 64;
/// Chunks that a slow watcher may fall behind.
const BACKLOG: usize = 1_024;

/// The logs of nodes that run. Cheap to clone.
#[derive(Clone)]
pub struct LiveLogs(Arc<Inner>);

struct Inner {
    kept: Mutex<Kept>,
    chunks: broadcast::Sender<Chunk>,
}

#[derive(Default)]
struct Kept {
    nodes: HashMap<(Uuid, Arc<str>), Tail>,
    turn: u64,
}

#[derive(Default)]
struct Tail {
    reader: Reader,
    lines: VecDeque<Line>,
    bytes: usize,
    seq: u64,
    last_turn: u64,
}

/// New lines of a node.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// The ticket.
    pub ticket: Uuid,
    /// The node's ref.
    pub node: Arc<str>,
    /// The number of the last of the lines, from 1.
    pub seq: u64,
    /// The lines.
    pub lines: Arc<[Line]>,
}

/// The end of a log, and the number of its last line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Newest {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// The number of the last of them, from 1; 0 where there is none.
    pub seq: u64,
}

impl Default for LiveLogs {
    fn default() -> Self {
        let chunks = broadcast::Sender::new(BACKLOG);
        Self(Arc::new(Inner { kept: Mutex::default(), chunks }))
    }
}

impl LiveLogs {
    /// Takes in what is published until the server stops.
    pub async fn follow(&self, bus: &Bus, shutdown: CancellationToken) {
        let mut events = bus.watch();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                () = shutdown.cancelled() => return,
            };
            match event {
                Ok(Event::Log { ticket, node, lines, .. }) => self.take(ticket, &node, &lines),
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Takes new lines of a node.
    pub fn take(&self, ticket: Uuid, node: &Arc<str>, lines: &[String]) {
        let chunk = {
            let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.add(ticket, node, lines)
        };
        // An error only says that nobody watches.
        drop(self.0.chunks.send(chunk));
    }

    /// At most the last `limit` lines of a node.
    #[must_use]
    pub fn newest(&self, ticket: Uuid, node: &str, limit: usize) -> Newest {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tail) = kept.nodes.get(&(ticket, Arc::from(node))) else {
            return Newest::default();
        };
        let from = tail.lines.len().saturating_sub(limit);
        Newest { lines: tail.lines.range(from..).cloned().collect(), seq: tail.seq }
    }

    /// New lines of all nodes from now on.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Chunk> {
        self.0.chunks.subscribe()
    }
}

impl Kept {
    fn add(&mut self, ticket: Uuid, node: &Arc<str>, lines: &[String]) -> Chunk {
        self.turn += 1;
        let key = (ticket, node.clone());
        if !self.nodes.contains_key(&key) {
            self.make_room();
        }
        let tail = self.nodes.entry(key).or_default();
        tail.last_turn = self.turn;
        let read: Vec<Line> = lines.iter().map(|line| tail.reader.line(line)).collect();
        tail.seq += read.len() as u64;
        tail.bytes += read.iter().map(size).sum::<usize>();
        tail.lines.extend(read.iter().cloned());
        while tail.lines.len() > LINES_MAX || tail.bytes > BYTES_MAX {
            let Some(oldest) = tail.lines.pop_front() else { break };
            tail.bytes -= size(&oldest);
        }
        Chunk { ticket, node: node.clone(), seq: tail.seq, lines: read.into() }
    }

    fn make_room(&mut self) {
        while self.nodes.len() >= NODES_MAX {
            let quietest = self.nodes.iter().min_by_key(|(_, tail)| tail.last_turn);
            let Some(key) = quietest.map(|(key, _)| key.clone()) else { return };
            self.nodes.remove(&key);
        }
    }
}

fn size(line: &Line) -> usize {
    line.runs.iter().map(|run| run.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> Arc<str> {
        Arc::from(name)
    }

    #[test]
    fn the_newest_lines_are_kept_with_their_number() {
        let logs = LiveLogs::default();
        let ticket = Uuid::from_u128(1);
        let lines: Vec<String> = (1..=LINES_MAX + 5).map(|n| format!("line {n}")).collect();

        logs.take(ticket, &node("plan-1"), &lines);

        let newest = logs.newest(ticket, "plan-1", 2);
        assert_eq!(newest.seq, 2_005);
        let shown: Vec<String> = newest.lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["line 2004", "line 2005"]);
        assert_eq!(logs.newest(ticket, "plan-1", usize::MAX).lines.len(), LINES_MAX);
        assert_eq!(logs.newest(ticket, "plan-2", 2), Newest::default());
    }

    #[test]
    fn long_lines_do_not_fill_the_memory() {
        let logs = LiveLogs::default();
        let lines = vec!["x".repeat(4_000); 1_000];

        logs.take(Uuid::from_u128(1), &node("plan-1"), &lines);

        let kept = logs.newest(Uuid::from_u128(1), "plan-1", usize::MAX);
        assert_eq!(kept.lines.len(), BYTES_MAX / 4_000);
    }

    #[test]
    fn the_quietest_node_leaves_for_a_new_one() {
        let logs = LiveLogs::default();
        for number in 0..=NODES_MAX as u128 {
            logs.take(Uuid::from_u128(number), &node("plan-1"), &["a".to_owned()]);
        }

        assert_eq!(logs.newest(Uuid::from_u128(0), "plan-1", 9).seq, 0);
        assert_eq!(logs.newest(Uuid::from_u128(1), "plan-1", 9).seq, 1);
    }

    #[tokio::test]
    async fn a_watcher_gets_new_lines_in_their_colours() {
        let logs = LiveLogs::default();
        let mut chunks = logs.watch();

        logs.take(Uuid::from_u128(7), &node("plan-1"), &["\u{1b}[31mred".to_owned()]);

        let chunk = chunks.recv().await.unwrap();
        assert_eq!((chunk.ticket, chunk.seq), (Uuid::from_u128(7), 1));
        assert_eq!(chunk.lines[0].runs[0].class, "a-f1");
    }
}
