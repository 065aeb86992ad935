//! What a running tool has at hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::accounts::{Actor, audit};
use crate::base::{Code, Fault, RequestId};
use crate::store::{Db, Read, Tx};
use crate::tickets::draft::model::Drafter;
use crate::tickets::editors::Editors;
use crate::tickets::indexing;

/// A step of a call that takes a while, for the client that asked to be told.
#[derive(Debug, Clone)]
pub struct Step {
    /// How much is done.
    pub done: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// What a door says of a call.
pub struct CallContext {
    /// The door: `mcp`, `invoke`, `browser`, `cli`.
    pub via: &'static str,
    /// Where to tell of steps, if the client asked.
    pub progress: Option<mpsc::UnboundedSender<Step>>,
    /// Says when nobody waits for the answer any more.
    pub cancel: CancellationToken,
    /// The request, as the logs name it.
    pub request: RequestId,
}

/// Where this server is: what a few tools need to know of it.
#[derive(Debug, Clone)]
pub struct Premises {
    /// The address that people and agents use, without a slash at its end.
    pub url: String,
    /// Where remote repositories are mirrored.
    pub mirrors: PathBuf,
}

/// What a running tool has at hand.
#[derive(Clone)]
pub struct Cx {
    pub(super) db: Db,
    pub(super) actor: Arc<Actor>,
    pub(super) tool: &'static str,
    pub(super) via: &'static str,
    pub(super) request: RequestId,
    pub(super) progress: Option<mpsc::UnboundedSender<Step>>,
    pub(super) audited: Arc<AtomicBool>,
    pub(super) repositories: crate::projects::git::Git,
    pub(super) premises: Arc<Premises>,
    pub(super) editors: Option<Arc<dyn Editors>>,
    pub(super) drafter: Option<Arc<dyn Drafter>>,
}

impl Cx {
    /// The caller.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The door: `mcp`, `invoke`, `browser`, `cli`.
    #[must_use]
    pub const fn via(&self) -> &'static str {
        self.via
    }

    /// The git program, for a look at a repository.
    #[must_use]
    pub const fn git(&self) -> &crate::projects::git::Git {
        &self.repositories
    }

    /// Where this server is.
    #[must_use]
    pub fn premises(&self) -> &Premises {
        &self.premises
    }

    /// The language model that drafts, where one is configured.
    #[must_use]
    pub fn drafter(&self) -> Option<&dyn Drafter> {
        self.drafter.as_deref()
    }

    /// The server with its work trees.
    ///
    /// # Errors
    /// `Unavailable` where no server runs on the database: the command line alone.
    pub fn editors(&self) -> Result<&dyn Editors, Fault> {
        self.editors.as_deref().ok_or_else(|| {
            let message = format!(
                "{} needs the running server, which has the work trees. Start it with `assay \
                 serve` and call the tool over MCP or /api/mcp/v1/invoke.",
                self.tool
            );
            Fault::new(Code::Unavailable, message)
        })
    }

    /// Tells whoever asked to be told how far the call is.
    pub fn step(&self, step: Step) {
        if let Some(progress) = &self.progress {
            // A client that went away no longer hears of it.
            drop(progress.send(step));
        }
    }

    /// Reads.
    pub async fn read<T, F>(&self, view: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Read<'_>, &Actor) -> Result<T, Fault> + Send + 'static,
    {
        let actor = self.actor.clone();
        self.db.read(move |read| view(read, &actor)).await
    }

    /// As [`Cx::read`], without the way to another thread: for one thing and the few rows that
    /// belong to it, each found by its key.
    pub fn glance<T, F>(&self, view: F) -> Result<T, Fault>
    where
        F: FnOnce(&Read<'_>, &Actor) -> Result<T, Fault>,
    {
        self.db.glance(|read| view(read, &self.actor))
    }

    /// Sees to it that a search finds the newest tickets too. Where that cannot be written, such as
    /// on a full disk, what is in the index is found.
    pub async fn index_tickets(&self) {
        let behind = self.db.read(indexing::behind);
        let mut left = behind.await.unwrap_or(0);
        while left > 0 {
            let filled = self.db.write(|tx| indexing::fill(tx).and_then(|()| indexing::behind(tx)));
            match filled.await {
                Ok(behind) => left = behind,
                Err(fault) => return tracing::warn!(?fault, "The index of tickets stands still"),
            }
        }
    }

    /// Writes. The audit row stands in the same transaction as what it tells of; `change` answers
    /// with what it was done to.
    pub async fn write<T, F>(&self, change: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>, &Actor) -> Result<(T, String), Fault> + Send + 'static,
    {
        let (actor, tool, via, request) = (self.actor.clone(), self.tool, self.via, self.request);
        let written = self.db.write(move |tx| {
            let (answer, subject) = change(tx, &actor)?;
            let request = request.to_string();
            let entry = audit::Entry {
                via,
                action: tool,
                subject: &subject,
                outcome: "ok",
                request: &request,
            };
            audit::record(tx, &actor, entry)?;
            Ok(answer)
        });
        let answer = written.await?;
        self.audited.store(true, Ordering::Relaxed);
        Ok(answer)
    }
}
