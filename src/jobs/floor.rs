//! The shop floor: the runs of this process, and the handles to reach them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ctx::{Said, Signal, Stop};
use super::job::Progress;
use super::lease::Claim;
use crate::base::JobId;

/// One run of this process.
pub(super) struct Running {
    pub(super) kind: &'static str,
    pub(super) signal: Signal,
    pub(super) said: Said,
}

/// Every run of this process, by its claim: a job whose claim was lost may run beside its
/// successor for a moment.
#[derive(Default)]
pub(super) struct Floor(Mutex<BTreeMap<Claim, Running>>);

impl Floor {
    pub(super) fn add(&self, claim: Claim, running: Running) {
        self.lock().insert(claim, running);
    }

    pub(super) fn remove(&self, claim: &Claim) {
        self.lock().remove(claim);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        self.lock().values().filter(|running| running.kind == kind).count()
    }

    pub(super) fn claims(&self) -> Vec<Claim> {
        self.lock().keys().copied().collect()
    }

    /// Asks the run of a job to stop, if it runs here.
    pub(super) fn stop(&self, job: JobId, why: Stop) {
        let floor = self.lock();
        for (_, running) in floor.iter().filter(|(claim, _)| claim.job == job) {
            running.signal.stop(why);
        }
    }

    /// Tells one run that its claim is lost.
    pub(super) fn lost(&self, claim: &Claim) {
        if let Some(running) = self.lock().get(claim) {
            running.signal.stop(Stop::Lost);
        }
    }

    pub(super) fn stop_all(&self, why: Stop) {
        for running in self.lock().values() {
            running.signal.stop(why);
        }
    }

    /// What the runs said and nobody has written down yet.
    pub(super) fn take_said(&self) -> Vec<(Claim, Progress)> {
        let floor = self.lock();
        let said = floor.iter().filter_map(|(claim, running)| Some((*claim, running.said.take()?)));
        said.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Claim, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
