//! What a job is, to the domain that asks for it and to whoever looks at it.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::{Code, Fault, JobId, Millis, ProjectId, TenantId};

/// A unit of background work: its payload and how it is to be run. The doing is registered apart.
pub trait Job: Serialize + DeserializeOwned + Send + 'static {
    /// The name of the kind, such as `run_node`. It stands in rows: never reuse one.
    const KIND: &'static str;
    /// How often it may be started before it counts as failed: 1 to 1000.
    const MAX_ATTEMPTS: u32 = 5;
    /// How many of this kind run at once in this process.
    const CONCURRENCY: usize;

    /// Whether projects take turns where more is ready than runs at once ([`Enqueue::project`]):
    /// the one with least under way is next. Else what is due longest is.
    const TAKES_TURNS: bool = false;

    /// The key of which, for its kind and tenant, at most one job is ready or running. Where one
    /// runs already when another is enqueued, it is run once more after that: a change that the
    /// run may have been too early to see is not missed.
    fn unique(&self) -> Option<String> {
        None
    }
}

/// Which of the jobs of one kind goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// Somebody waits for it.
    Urgent,
    /// The usual.
    #[default]
    Normal,
    /// When nothing else is due.
    Idle,
}

impl Priority {
    pub(super) const ALL: [Self; 3] = [Self::Urgent, Self::Normal, Self::Idle];

    /// As the column holds it: small goes first.
    pub(super) const fn rank(self) -> i64 {
        match self {
            Self::Urgent => 0,
            Self::Normal => 1,
            Self::Idle => 2,
        }
    }
}

/// How a job is enqueued. The default: the server's own, at once, usual priority.
#[derive(Debug, Clone, Copy, Default)]
pub struct Enqueue {
    /// Whose it is; `None` for the server's own work.
    pub tenant: Option<TenantId>,
    /// The project whose turn it takes, for kinds that take turns.
    pub project: Option<ProjectId>,
    /// When it may start; `None` for at once.
    pub run_at: Option<Millis>,
    /// Which goes first.
    pub priority: Priority,
}

impl Enqueue {
    /// A tenant's job, at once, usual priority.
    #[must_use]
    pub fn of(tenant: TenantId) -> Self {
        Self { tenant: Some(tenant), ..Self::default() }
    }
}

/// What enqueuing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// A new job.
    New(JobId),
    /// A job with the same unique key is ready, or runs and will be run again after that.
    Existing(JobId),
}

impl Enqueued {
    /// The job that stands for the call, new or not.
    #[must_use]
    pub const fn id(self) -> JobId {
        match self {
            Self::New(id) | Self::Existing(id) => id,
        }
    }
}

crate::words! {
    /// Where a job is in its life.
    pub enum State {
        /// Waiting for its time, or for a free place.
        Ready = "ready",
        /// Being done.
        Running = "running",
        /// Done. Final.
        Done = "done",
        /// Given up. Final.
        Failed = "failed",
        /// Stopped because somebody asked. Final.
        Cancelled = "cancelled",
    }
}

impl State {
    /// Whether nothing can change any more.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// How far a running job has come, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: u32,
    /// Steps in all, where that is known.
    pub total: Option<u32>,
    /// What is being done, for people.
    pub text: String,
}

/// Why one attempt did not end well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which attempt; the first is 1.
    pub attempt: u32,
    /// When it ended.
    pub at: Millis,
    /// What a caller may read about it.
    pub message: String,
}

/// A job as it stands in the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    /// Its id.
    pub id: JobId,
    /// Whose it is; `None` for the server's own.
    pub tenant: Option<TenantId>,
    /// Its kind.
    pub kind: String,
    /// Where it is in its life.
    pub state: State,
    /// Attempts that count, a running one included.
    pub attempt: u32,
    /// How many attempts it may have.
    pub max_attempts: u32,
    /// When it may start, or might have.
    pub run_at: Millis,
    /// Whether somebody asked for it to stop.
    pub cancel_asked: bool,
    /// What it last said about itself.
    pub progress: Option<Progress>,
    /// What it left, where it is done and left something.
    pub result: Option<Value>,
    /// The last attempts that did not end well, oldest first.
    pub failures: Vec<Failure>,
    /// When it was enqueued.
    pub created_at: Millis,
    /// When it was last started.
    pub started_at: Option<Millis>,
    /// When it reached its final state.
    pub finished_at: Option<Millis>,
}

/// Why a run of a job did not end well, and what to do about it.
#[derive(Debug)]
pub enum JobError {
    /// Try again after a while, unless the attempts are used up.
    Retry(Fault),
    /// Trying again would not help.
    Fail(Fault),
    /// Not now: put it back for so long (at least a tenth of a second). The attempt does not count.
    Later(Duration),
}

impl From<Fault> for JobError {
    fn from(fault: Fault) -> Self {
        match fault.code {
            Code::Unavailable
            | Code::Timeout
            | Code::Internal
            | Code::RateLimited
            | Code::StorageFull
            | Code::Upstream => Self::Retry(fault),
            _ => Self::Fail(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_tried_again_only_where_time_may_heal_it() {
        let retried: Vec<Code> = Code::ALL
            .into_iter()
            .filter(|code| matches!(JobError::from(Fault::new(*code, "")), JobError::Retry(_)))
            .collect();

        let heal = [
            Code::RateLimited,
            Code::Upstream,
            Code::StorageFull,
            Code::Unavailable,
            Code::Timeout,
            Code::Internal,
        ];
        assert_eq!(retried, heal);
    }

    #[test]
    fn three_states_are_final() {
        let last: Vec<&str> =
            State::ALL.iter().filter(|s| s.is_final()).map(|s| s.word()).collect();

        assert_eq!(last, ["done", "failed", "cancelled"]);
    }
}
