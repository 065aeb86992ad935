//! What a run of a job is given besides its payload.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;

use super::job::Progress;
use super::lease::Claimed;
use crate::base::{JobId, TenantId};

/// Why a run is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Somebody cancelled the job. Whatever the run returns but a result, it ends as cancelled.
    Cancelled,
    /// The server stops. What the run cannot finish now is done by the next start of the server;
    /// [`Later`](super::JobError::Later) and `Retry` both hand it back without counting the
    /// attempt.
    HandBack,
    /// The claim is lost: another run has the job, and nothing that this one reports counts.
    Lost,
}

/// One run of a job, as its handler sees it.
pub struct Ctx {
    /// The job.
    pub job: JobId,
    /// Whose it is; `None` for the server's own.
    pub tenant: Option<TenantId>,
    /// Which attempt this is; the first is 1.
    pub attempt: u32,
    /// How many attempts the job may have.
    pub max_attempts: u32,
    /// Whether the run before this one was cut short, so that its effects may be there by half.
    pub recovered: bool,
    /// Cancelled when the run shall stop; [`Ctx::stop`] then says why.
    pub cancel: CancellationToken,
    signal: Signal,
    said: Said,
}

impl Ctx {
    pub(super) fn new(claimed: &Claimed, signal: Signal, said: Said) -> Self {
        Self {
            job: claimed.claim.job,
            tenant: claimed.tenant,
            attempt: claimed.attempt,
            max_attempts: claimed.max_attempts,
            recovered: claimed.recovered,
            cancel: signal.token.clone(),
            signal,
            said,
        }
    }

    /// Why the run shall stop; `None` while it may go on.
    #[must_use]
    pub fn stop(&self) -> Option<Stop> {
        self.signal.why()
    }

    /// Whether the job has failed if this attempt does.
    #[must_use]
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= self.max_attempts
    }

    /// Says how far the run has come. Cheap, and may be called often: what was said last is
    /// written down within half a second, together with what other jobs say.
    pub fn progress(&self, progress: Progress) {
        self.said.say(progress);
    }
}

/// The order to stop, from the worker to one run.
#[derive(Clone, Default)]
pub(super) struct Signal {
    token: CancellationToken,
    why: Arc<OnceLock<Stop>>,
}

impl Signal {
    /// Asks the run to stop. The first reason stays.
    pub(super) fn stop(&self, why: Stop) {
        self.why.get_or_init(|| why);
        self.token.cancel();
    }

    pub(super) fn why(&self) -> Option<Stop> {
        self.why.get().copied()
    }
}

/// What a run said last and nobody has written down yet.
#[derive(Clone, Default)]
pub(super) struct Said(Arc<Mutex<Option<Progress>>>);

impl Said {
    fn say(&self, progress: Progress) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    pub(super) fn take(&self) -> Option<Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_to_stop_stays() {
        let signal = Signal::default();
        assert_eq!(signal.why(), None);

        signal.stop(Stop::Cancelled);
        signal.stop(Stop::HandBack);

        assert_eq!(signal.why(), Some(Stop::Cancelled));
        assert!(signal.token.is_cancelled());
    }

    #[test]
    fn only_what_was_said_last_is_written_down() {
        let said = Said::default();
        for done in 1..=3 {
            said.say(Progress { done, total: None, text: String::new() });
        }

        assert_eq!(said.take().map(|progress| progress.done), Some(3));
        assert_eq!(said.take(), None);
    }
}
