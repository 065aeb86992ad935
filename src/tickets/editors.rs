//! What a call of an agent in somebody's editor needs done outside the database: a work tree to
//! work in, commits, files. The tools know it by this trait; `work/` does it.

use std::path::PathBuf;

use futures_util::future::BoxFuture;

use super::claims::{Claim, Used};
use super::pipeline::claim::Taken;
use super::runner::Report;
use super::ticket::Ticket;
use crate::base::redact::Redactor;
use crate::base::{Fault, TicketId};
use crate::proofs::Evidence;
use crate::words;

/// Where a node that was claimed is worked on, and what is to be done.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The work tree, on the server's machine.
    pub worktree: PathBuf,
    /// The branch that is checked out there.
    pub branch: String,
    /// The commit that the branch was made from.
    pub base_commit: String,
    /// The repository that holds the branch, on the server's machine.
    pub repository: PathBuf,
    /// What a process would have been told.
    pub prompt: String,
}

words! {
    /// How the work on a node went.
    pub enum Went {
        /// It is done.
        Succeeded = "succeeded",
        /// It cannot be done.
        Failed = "failed",
        /// A review that is not satisfied: another round of work is needed.
        NeedsRound = "needs_round",
        /// A person has to answer first.
        AwaitingInput = "awaiting_input",
    }
}

/// What a holder hands in for its node.
#[derive(Debug, Clone)]
pub struct HandedIn {
    /// The report, read as a process's would be.
    pub report: Report,
    /// The whole report in the holder's own words, as Markdown.
    pub text: Option<String>,
    /// What was used since the claim, all told.
    pub used: Used,
}

/// What is kept as evidence.
#[derive(Debug, Clone)]
pub enum Exhibit {
    /// A text.
    Text(String),
    /// A file of the ticket's work tree, by its path from the top.
    File(String),
}

/// The server, as agents in editors need it.
pub trait Editors: Send + Sync {
    /// Ends the claims whose lease is over.
    fn lapse(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// Makes the work tree ready for a node that was just claimed. Where that cannot be, the node
    /// is put back or ends, as it would for a process, and the fault says why.
    fn prepare(&self, taken: Taken) -> BoxFuture<'_, Result<Prepared, Fault>>;

    /// Takes a holder's report: keeps the work, judges it, and moves the ticket on.
    fn submit(&self, claim: Claim, handed: HandedIn) -> BoxFuture<'_, Result<Ticket, Fault>>;

    /// Gives the node of a claim back.
    fn release(&self, claim: Claim, why: String) -> BoxFuture<'_, Result<(), Fault>>;

    /// Keeps what an agent shows. Credentials in it are taken out.
    fn keep(
        &self,
        ticket: TicketId,
        label: String,
        exhibit: Exhibit,
        redactor: Redactor,
    ) -> BoxFuture<'_, Result<Evidence, Fault>>;
}
