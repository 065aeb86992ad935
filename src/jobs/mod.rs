//! The durable queue. It knows no domain: a job is a kind, a JSON payload and what became of it.
//!
//! A domain declares a payload type as a [`Job`] and calls [`enqueue`] inside its own transaction;
//! what the job does is given to a [`Registry`] by whoever may reach everything; a [`Worker`] runs
//! it. The rules that hold whatever happens, a killed process included:
//!
//! - what was enqueued by a committed transaction ends as done, failed or cancelled, once;
//! - a run is owned by its claim (job, number of the claim, boot id). A run that lost its claim
//!   changes nothing any more, however late it reports;
//! - a run may be cut short at any moment and started again, so handlers are idempotent and resume
//!   from what the database shows; `recovered` tells them that it happened;
//! - of one unique key, at most one job is ready or running.

mod backoff;
mod ctx;
mod floor;
mod job;
pub mod lease;
mod look;
mod queue;
mod registry;
mod run;
mod schedule;
mod upkeep;
mod worker;

pub use backoff::backoff;
pub use ctx::{Ctx, Stop};
pub use job::{Enqueue, Enqueued, Failure, Job, JobError, JobRecord, Priority, Progress, State};
pub use look::{Counted, Depth, Page, Wanted, count, depth, page};
pub use queue::{
    Backlog, Cancelled, KindBacklog, asked, backlog, cancel, enqueue, enqueue_now, find, list,
};
pub use registry::{Ending, Registry};
pub use worker::{Health, Options, Setup, Worker};
