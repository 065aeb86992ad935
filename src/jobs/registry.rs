//! What is done for each kind of job.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::ctx::Ctx;
use super::job::{Job, JobError, State};
use super::schedule::Recurring;
use crate::base::{Code, Fault};
use crate::store::Tx;

/// How a run ends: with a result, where it leaves one, or with what to do about its failure.
pub(super) type Outcome = Result<Option<Value>, JobError>;

type Handler =
    Arc<dyn Fn(Ctx, String) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send + Sync>;

type EndHook = Arc<dyn Fn(&mut Tx<'_>, &str, &Ending) -> Result<(), Fault> + Send + Sync>;

/// How a job ended that has no run left to tell its domain about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It was given up: it failed for good, or its attempts are used up.
    Failed {
        /// What a caller may read about it.
        message: String,
    },
    /// It ran, was asked to stop, and is stopped.
    Cancelled,
    /// It has not ended: its run did not stop in time when the server stopped, and was ended. The
    /// next start of the server runs it again.
    HandedBack,
}

/// The kinds of jobs and what is done for each.
#[derive(Clone, Default)]
pub struct Registry {
    kinds: BTreeMap<&'static str, Kind>,
    recurring: Vec<Recurring>,
}

/// One kind of job.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) concurrency: usize,
    takes_turns: bool,
    pub(super) handler: Handler,
    end: Option<EndHook>,
}

impl Registry {
    /// No kinds yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Does the jobs of one kind with `handler`. A run may be cut short at any point and started
    /// again, so the handler is idempotent and resumes from what the database shows.
    ///
    /// # Panics
    /// If the kind has a handler already.
    #[must_use]
    pub fn on<J, F, R>(mut self, handler: F) -> Self
    where
        J: Job,
        F: Fn(Ctx, J) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let erased: Handler = Arc::new(move |ctx, payload| {
            let handler = handler.clone();
            Box::pin(async move {
                let job: J = serde_json::from_str(&payload).map_err(unreadable)?;
                handler(ctx, job).await
            })
        });
        let kind = Kind {
            concurrency: J::CONCURRENCY,
            takes_turns: J::TAKES_TURNS,
            handler: erased,
            end: None,
        };
        assert!(self.kinds.insert(J::KIND, kind).is_none(), "{} has a handler already", J::KIND);
        self
    }

    /// Calls `hook` when a job of a kind ends as failed, or as cancelled after it ran, in the same
    /// transaction: so its domain learns even where no run is left to say it, as after a crash; and
    /// when a run that did not stop in time is handed back. A job that is cancelled before it
    /// starts calls nothing: whoever cancels it knows.
    ///
    /// # Panics
    /// If the kind has no handler yet.
    #[must_use]
    pub fn at_end<J, F>(mut self, hook: F) -> Self
    where
        J: Job,
        F: Fn(&mut Tx<'_>, J, &Ending) -> Result<(), Fault> + Send + Sync + 'static,
    {
        let erased: EndHook = Arc::new(move |tx, payload, ending| {
            // What cannot be read was never begun; the record of the job says so.
            serde_json::from_str(payload).map_or(Ok(()), |job| hook(tx, job, ending))
        });
        let kind = self.kinds.get_mut(J::KIND).expect("the handler is registered before its hook");
        kind.end = Some(erased);
        self
    }

    /// Enqueues one job of a kind for the server itself every `period`, first after one period. A
    /// server that was down enqueues one for all that it missed, and never two at a time.
    #[must_use]
    pub fn every<J: Job + Default>(mut self, period: Duration) -> Self {
        self.recurring.push(Recurring::of::<J>(period));
        self
    }

    /// The names of the kinds.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        self.kinds.keys().copied().collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Kind)> {
        self.kinds.iter().map(|(name, kind)| (*name, kind))
    }

    pub(super) fn get(&self, kind: &str) -> Option<(&'static str, &Kind)> {
        self.kinds.get_key_value(kind).map(|(name, kind)| (*name, kind))
    }

    /// Whether projects take turns with the jobs of a kind.
    pub(super) fn takes_turns(&self, kind: &str) -> bool {
        self.kinds.get(kind).is_some_and(|kind| kind.takes_turns)
    }

    pub(super) fn recurring(&self) -> &[Recurring] {
        &self.recurring
    }

    /// Tells the domain of a job that it ended in `state`, where that is not done.
    pub(super) fn tell_end(
        &self,
        tx: &mut Tx<'_>,
        (kind, payload): (&str, &str),
        state: State,
        message: &str,
    ) -> Result<(), Fault> {
        let ending = match state {
            State::Failed => Ending::Failed { message: message.to_owned() },
            State::Cancelled => Ending::Cancelled,
            State::Ready | State::Running | State::Done => return Ok(()),
        };
        self.tell(tx, (kind, payload), &ending)
    }

    /// Tells the domain of a job what became of it.
    pub(super) fn tell(
        &self,
        tx: &mut Tx<'_>,
        (kind, payload): (&str, &str),
        ending: &Ending,
    ) -> Result<(), Fault> {
        match self.kinds.get(kind).and_then(|kind| kind.end.as_ref()) {
            Some(hook) => hook(tx, payload, ending),
            None => Ok(()),
        }
    }
}

fn unreadable(error: serde_json::Error) -> JobError {
    let message = "The job was enqueued by another version, and this one cannot read it.";
    JobError::Fail(Fault::new(Code::Internal, message).because(error))
}
