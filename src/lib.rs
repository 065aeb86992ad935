//! Assay: tickets that prove themselves. One program with an embedded database: a place where
//! coding agents and people work from the same tickets, and where a ticket counts as done only
//! when it is proved.
//!
//! # The map
//!
//! A folder imports only what stands left of it; a test holds the matrix
//! (`tests/it/tidy/arrows.rs`):
//!
//! ```text
//! base ← events, contract, browser ← store ← accounts, jobs ← notices ← projects, proofs
//!      ← quality, tickets ← tools, work ← web ← app
//! ```
//!
//! - [`base`]: words that know nothing of Assay: faults, ids, time, text, secrets, redaction.
//! - [`events`]: what happened, published after the commit that made it true.
//! - [`contract`]: the one table of failure codes and its three dialects (envelope, JSON-RPC,
//!   `cora-mcp-error`), their schemas, and the error reference. Used by `web`, and by the command
//!   line where it prints an envelope.
//! - [`store`]: `SQLite`, and the only folder that opens it: one writer thread with grouped,
//!   durable commits, a pool of readers, named statements of `sql/`, migrations, blobs by hash.
//!   A reader remembers answers until somebody writes, as `SQLite` itself tells. Secrets of rows
//!   are sealed with a key file beside the database. Copies of it all are taken while it serves.
//! - [`accounts`]: tenants, people and their logins, keys and scopes, plans, the audit log.
//! - [`jobs`]: the durable queue; it knows no domain.
//! - [`notices`]: who is told of what happens: webhooks, and by mail those who asked for tickets;
//!   what they are to be told, and how that went. Written in the transaction of what it tells of;
//!   sent by `work`.
//! - [`projects`]: projects, environments, categories, settings, agent profiles, and git through
//!   the `git` program alone.
//! - [`proofs`]: claim, verdict, evidence; a chain of records that never change.
//! - [`tickets`]: a ticket, its graph, its contract, its pipeline as recorded facts, and the
//!   runner of agent processes, which also talks with agents over the Agent Client Protocol.
//! - [`tools`]: what callers may ask, one file a tool, and the one gate that every door calls.
//! - [`work`]: what the server does by itself: running nodes, verifying, landing, sweeping.
//! - [`web`]: the doors: MCP, invoke, CI, health, metrics, schemas, the dashboard.
//! - [`app`]: the program as a value, built by `main` and by the tests alike.
//! - [`cli`], [`config`], [`telemetry`]: the command line, its settings, its log.
//!
//! `browser` and `quality` have their places in the matrix and no code yet.
//!
//! # The life of a ticket
//!
//! `dispatch_ticket` files it and plans its graph in one transaction ([`tickets::dispatch`]). Each
//! node's run is a job ([`tickets::jobs::RunNode`]); `work/run_node.rs` does it, and what it came
//! to is recorded in one transaction together with the job that comes next
//! ([`tickets::pipeline::record`]). So a crash at any point resumes where the record ends.
//!
//! # Invariants
//!
//! - Nothing accepted is lost: an answer is given after the commit is on disk, never before.
//! - A late result changes nothing: a node's `attempt` and a job's `claims` are the fences.
//! - A base branch moves only by compare-and-set, after the landing was written down as intended.
//! - An agent's process is on record before anything of it runs, and gone before its node ends.
//! - Another tenant's thing and an absent one give the same answer. What is the host's is shown to
//!   the first tenant's owners and admins alone ([`accounts::tenants::host`]).
//! - A backup holds whatever its rows name: blobs are on disk before a row names them, and are
//!   copied before and after the database.
//! - The value of a secret leaves its sealed row for an agent's environment and for redaction
//!   alone; it is gone with the ticket's end.
//! - Time and randomness come from the app. Only the edge knows JSON. SQL lives in `sql/`.
//!
//! # Where this differs from the first design, and why
//!
//! - Git stands in [`projects`], not in `tickets`: a project's health needs it too.
//! - The gate is told of a tool's `UNSERVED` arguments: those of a published contract that this
//!   version refuses by name instead of ignoring them.
//! - Rows of tickets are read through a view, `ticket_rows`, so that the names a ticket is shown
//!   with are joined in one place.
//! - Arguments are checked by a module of the gate and not by a crate: it knows exactly the part of
//!   JSON Schema that our schemas use, builds in no time, and a full validator holds it to account
//!   in a property test.
//! - A call of a reading tool over MCP in its plain form is answered by `web/mcp/plain.rs` and not
//!   by the protocol's library, which takes three times as long; a test holds both to the same
//!   bytes.
//! - A brief is compared with the tickets that are there while reading, before the write, and in
//!   the write only with those that came meanwhile: nobody else can write as long as a write lasts.
//!   The indexes of tickets by their words are filled for many tickets at once.
//! - A node whose check was not satisfied is `failed` and `wants_round`: so a retry knows from the
//!   record, and not from words, whether more work is wanted or the same step again.

pub mod accounts;
pub mod app;
pub mod base;
pub mod cli;
pub mod config;
pub mod contract;
pub mod events;
pub mod jobs;
pub mod notices;
pub mod projects;
pub mod proofs;
pub mod store;
pub mod telemetry;
pub mod tickets;
pub mod tools;
pub mod web;
pub mod work;
