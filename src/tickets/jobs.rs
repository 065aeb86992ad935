//! The background work that tickets ask for. What it does stands in `work/`.

use serde::{Deserialize, Serialize};

use crate::base::{NodeId, TicketId};
use crate::jobs::Job;

/// Runs one node of a ticket's graph once.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RunNode {
    /// The ticket.
    pub ticket: TicketId,
    /// The node.
    pub node: NodeId,
}

impl Job for RunNode {
    const KIND: &'static str = "run_node";
    const MAX_ATTEMPTS: u32 = 10;
    const CONCURRENCY: usize = 8;
    const TAKES_TURNS: bool = true;

    fn unique(&self) -> Option<String> {
        Some(self.node.to_string())
    }
}

/// Looks for tickets that stand still although something could be done, and moves them on.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct SweepTickets {}

impl Job for SweepTickets {
    const KIND: &'static str = "sweep_tickets";
    const CONCURRENCY: usize = 1;

    fn unique(&self) -> Option<String> {
        Some("all".to_owned())
    }
}
