//! What happened, for whoever watches. Events are published after the commit that made them true,
//! say only what changed, and may be missed: a watcher rebuilds its view by reading.

use std::sync::Arc;

use tokio::sync::broadcast;
use uuid::Uuid;

/// How many events a slow watcher may fall behind before it is told to read afresh.
const BACKLOG: usize = 4096;

/// Something changed.
#[derive(Debug, Clone)]
pub enum Event {
    /// A ticket, or anything that belongs to it.
    Ticket {
        /// Whose it is.
        tenant: Uuid,
        /// The ticket.
        ticket: Uuid,
    },
    /// A project or its settings.
    Project {
        /// Whose it is.
        tenant: Uuid,
        /// The project.
        project: Uuid,
    },
    /// New lines of a running node's log, already redacted.
    Log {
        /// Whose it is.
        tenant: Uuid,
        /// The ticket.
        ticket: Uuid,
        /// The node's ref, such as `implement-1`.
        node: Arc<str>,
        /// The lines, oldest first.
        lines: Arc<[String]>,
    },
    /// A job became ready, or its time changed.
    JobReady,
    /// A job of a tenant is done, or ready once more.
    JobEnded {
        /// Whose it is.
        tenant: Uuid,
    },
    /// A running job was asked to stop.
    JobCancelled {
        /// The job.
        job: Uuid,
    },
}

/// Where events are published and watched.
#[derive(Clone)]
pub struct Bus(broadcast::Sender<Event>);

impl Default for Bus {
    fn default() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }
}

impl Bus {
    /// Tells everybody who watches now.
    pub fn publish(&self, event: Event) {
        // An error only says that nobody watches.
        drop(self.0.send(event));
    }

    /// Everything published from now on.
    #[must_use]
    pub fn watch(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
