//! One run of one job, from its claim to the record of how it ended.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;

use super::ctx::{Ctx, Said, Signal, Stop};
use super::job::{JobError, Progress, State};
use super::lease::{self, Claimed};
use super::registry::{Kind, Outcome, Registry};
use crate::base::{Clock, Code, Fault};
use crate::store::{Db, Tx};

/// How long to wait before a record that the disk refused is tried again.
const RECORD_AGAIN: Duration = Duration::from_secs(1);

const PANICKED: &str = "The work stopped because of a fault of ours.";
const UNRECORDED: &str = "How the work ended could not be written down.";

/// What a run needs besides its job.
pub(super) struct Floorhand {
    pub(super) db: Db,
    pub(super) clock: Clock,
    pub(super) registry: Arc<Registry>,
}

/// What shall be written down about a run.
enum Verdict {
    Done(Option<Value>),
    Retry { message: String, wait: Duration },
    Fail { message: String },
    Later(Duration),
    HandBack,
}

/// A verdict on its way into the database, where it may take several tries to arrive.
struct Record {
    claimed: Claimed,
    registry: Arc<Registry>,
    progress: Option<Progress>,
    verdict: Verdict,
    tells: bool,
}

impl Floorhand {
    /// Does a claimed job and writes down how it ended.
    pub(super) async fn run(self, kind: Kind, claimed: Claimed, signal: Signal, said: Said) {
        let ctx = Ctx::new(&claimed, signal.clone(), said.clone());
        let payload = claimed.payload.clone();
        // The handler is called inside as well: it may panic before it returns its future.
        let work = async move { (kind.handler)(ctx, payload).await };
        let outcome = AssertUnwindSafe(work).catch_unwind().await;
        let verdict = judge(&claimed, outcome, signal.why());
        let registry = self.registry.clone();
        let record = Record { claimed, registry, progress: said.take(), verdict, tells: true };
        self.write_down(record).await;
    }

    /// Tries until the record is on disk: a full disk must not undo what was done.
    async fn write_down(&self, record: Record) {
        let mut record = Arc::new(record);
        let mut troubled = false;
        loop {
            let writing = record.clone();
            let fault = match self.db.write(move |tx| writing.write(tx)).await {
                Ok(state) => return record.log(state),
                Err(fault) => fault,
            };
            if heals(&fault) {
                if !troubled {
                    record.warn(&fault, "cannot be written down yet; trying until it can");
                }
                troubled = true;
                self.clock.sleep(RECORD_AGAIN).await;
                continue;
            }
            record.warn(&fault, "cannot be written down as it is");
            match record.lesser() {
                Some(lesser) => record = Arc::new(lesser),
                // The lease runs out, and the rescue takes the job.
                None => return,
            }
        }
    }
}

/// Whether the same write may go through later.
pub(super) fn heals(fault: &Fault) -> bool {
    matches!(fault.code, Code::StorageFull | Code::Unavailable)
}

fn judge(
    claimed: &Claimed,
    outcome: Result<Outcome, Box<dyn Any + Send>>,
    stop: Option<Stop>,
) -> Verdict {
    let handed_back = stop == Some(Stop::HandBack);
    match outcome {
        Ok(Ok(result)) => Verdict::Done(result),
        Ok(Err(JobError::Later(_) | JobError::Retry(_))) if handed_back => Verdict::HandBack,
        Ok(Err(JobError::Later(wait))) => Verdict::Later(wait),
        Ok(Err(JobError::Retry(fault))) => {
            log_fault(claimed, &fault, "will be tried again where attempts are left");
            let wait = Duration::from_millis(fault.retry_after_ms.unwrap_or(0));
            Verdict::Retry { message: fault.message, wait }
        }
        Ok(Err(JobError::Fail(fault))) => {
            log_fault(claimed, &fault, "is given up");
            Verdict::Fail { message: fault.message }
        }
        Err(panic) => {
            log_fault(claimed, &Fault::internal(panic_text(&*panic)), "panicked");
            Verdict::Retry { message: PANICKED.to_owned(), wait: Duration::ZERO }
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn log_fault(claimed: &Claimed, fault: &Fault, what: &str) {
    tracing::warn!(
        job.id = %claimed.claim.job,
        job.kind = claimed.kind,
        job.attempt = claimed.attempt,
        fault = ?fault,
        "Job {} {what}",
        claimed.kind
    );
}

impl Record {
    /// Writes it down, and tells the domain in the same transaction where the job ended badly.
    fn write(&self, tx: &mut Tx<'_>) -> Result<Option<State>, Fault> {
        let claim = &self.claimed.claim;
        if let Some(progress) = &self.progress {
            lease::save_progress(tx, claim, progress)?;
        }
        let state = match &self.verdict {
            Verdict::Done(result) => lease::finish(tx, claim, result.as_ref())?,
            Verdict::Retry { message, wait } => {
                lease::retry(tx, claim, self.claimed.attempt, message, *wait)?
            }
            Verdict::Fail { message } => lease::fail(tx, claim, message)?,
            Verdict::Later(wait) => lease::put_back(tx, claim, *wait)?,
            Verdict::HandBack => lease::hand_back(tx, claim, false)?.map(|taken| taken.state),
        };
        if let Some(state) = state.filter(|_| self.tells) {
            let job = (self.claimed.kind.as_str(), self.claimed.payload.as_str());
            self.registry.tell_end(tx, job, state, self.message())?;
        }
        Ok(state)
    }

    fn message(&self) -> &str {
        match &self.verdict {
            Verdict::Retry { message, .. } | Verdict::Fail { message } => message,
            Verdict::Done(_) | Verdict::Later(_) | Verdict::HandBack => "",
        }
    }

    /// What to write down where this cannot be: a failure, and at last one that tells nobody.
    fn lesser(&self) -> Option<Self> {
        let (claimed, registry) = (self.claimed.clone(), self.registry.clone());
        match &self.verdict {
            Verdict::Done(_) => {
                let verdict = Verdict::Fail { message: UNRECORDED.to_owned() };
                Some(Self { claimed, registry, progress: None, verdict, tells: true })
            }
            _ if self.tells => {
                let message = self.message().to_owned();
                let verdict = Verdict::Fail { message };
                Some(Self { claimed, registry, progress: None, verdict, tells: false })
            }
            _ => None,
        }
    }

    fn log(&self, state: Option<State>) {
        tracing::debug!(
            job.id = %self.claimed.claim.job,
            job.kind = self.claimed.kind,
            job.state = state.map(State::word),
            "Ended a run of job {}",
            self.claimed.kind
        );
    }

    fn warn(&self, fault: &Fault, what: &str) {
        log_fault(&self.claimed, fault, what);
    }
}
