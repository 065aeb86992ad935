//! What a worker does beside the jobs: renew claims, hear of stops, rescue, sweep, report. Each
//! duty is one function that does it once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::ctx::Stop;
use super::job::State;
use super::lease::{self, CUT_SHORT, Claim, Taken};
use super::queue;
use super::registry::Ending;
use super::run::heals;
use super::worker::Worker;
use crate::base::{Fault, Millis};
use crate::store::{Db, Tx};

/// How often the fastest duties are looked at.
const BEAT: Duration = Duration::from_millis(500);
/// How often claims are renewed: three times in a lease.
const RENEW: Duration = Duration::from_secs(20);
/// How often ended jobs are swept, and how many at a time.
const SWEEP: Duration = Duration::from_mins(10);
const SWEEP_BATCH: u32 = 500;
/// How often kinds without a handler are looked for.
const REPORT: Duration = Duration::from_mins(1);

const BATCH: u32 = 200;

/// Whether the last try of a duty failed, so that a lasting trouble is logged once.
#[derive(Default)]
pub(super) struct Troubles(Mutex<BTreeSet<&'static str>>);

impl Troubles {
    /// Takes note of how a duty went; `None` where it failed.
    pub(super) fn note<T>(&self, duty: &'static str, went: Result<T, Fault>) -> Option<T> {
        let mut troubles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match went {
            Ok(value) => {
                if troubles.remove(duty) {
                    tracing::info!(duty, "The job queue works again");
                }
                Some(value)
            }
            Err(fault) => {
                if troubles.insert(duty) {
                    tracing::error!(duty, ?fault, "The job queue is in trouble; trying again");
                }
                None
            }
        }
    }
}

impl Worker {
    /// Does every duty at its time, for ever.
    pub(super) async fn upkeep(&self) {
        let mut renewed = self.0.clock.now();
        let (mut swept, mut reported) = (None, None);
        loop {
            self.0.clock.sleep(BEAT).await;
            let now = self.0.clock.now();
            let troubles = &self.0.troubles;
            troubles.note("save progress", self.save_progress().await);
            troubles.note("hear cancels", self.hear_cancels().await);
            if now.since(renewed) >= RENEW {
                renewed = now;
                troubles.note("renew", self.renew().await);
                troubles.note("rescue", self.rescue().await);
            }
            if is_due(swept, SWEEP, now) {
                swept = Some(now);
                troubles.note("sweep", self.sweep().await);
            }
            if is_due(reported, REPORT, now) {
                reported = Some(now);
                troubles.note("report", self.report_unknown().await);
            }
        }
    }

    async fn save_progress(&self) -> Result<(), Fault> {
        let said = self.0.floor.take_said();
        if said.is_empty() {
            return Ok(());
        }
        let saving = self.0.db.write(move |tx| {
            said.iter().try_for_each(|(claim, said)| lease::save_progress(tx, claim, said))
        });
        saving.await
    }

    /// Passes on the stops that another process asked for, or whose event was missed.
    pub(super) async fn hear_cancels(&self) -> Result<(), Fault> {
        if self.0.floor.len() == 0 {
            return Ok(());
        }
        let boot = self.0.boot;
        for job in self.0.db.read(move |read| lease::cancels_asked(read, boot, BATCH)).await? {
            self.0.floor.stop(job, Stop::Cancelled);
        }
        Ok(())
    }

    /// Renews the claim of every run here, and tells those that lost theirs.
    async fn renew(&self) -> Result<(), Fault> {
        let held = self.0.floor.claims();
        if held.is_empty() {
            return Ok(());
        }
        let renewing = self.0.db.write(move |tx| {
            let mut lost = Vec::new();
            for claim in held {
                if lease::renew(tx, &claim)?.is_none() {
                    lost.push(claim);
                }
            }
            Ok(lost)
        });
        // A claim may also be gone because its run has just ended: then nobody hears this.
        for claim in renewing.await? {
            self.0.floor.lost(&claim);
        }
        Ok(())
    }

    /// Takes back the jobs of dead processes and of runs that nobody renewed.
    pub(super) async fn rescue(&self) -> Result<(), Fault> {
        let boot = self.0.boot;
        loop {
            let mut stale = self.0.db.read(move |read| lease::stale(read, boot, BATCH)).await?;
            // What runs here is alive, even where the clock has just jumped over its lease.
            let alive = self.0.floor.claims();
            stale.retain(|claim| !alive.contains(claim));
            if stale.is_empty() {
                return Ok(());
            }
            tracing::warn!(jobs = stale.len(), "Recovering jobs whose run was cut short");
            let writes = stale.into_iter().map(|claim| self.recover(claim));
            futures_util::future::try_join_all(writes).await?;
        }
    }

    async fn recover(&self, claim: Claim) -> Result<(), Fault> {
        let boot = self.0.boot;
        self.take_from_run(claim, None, move |tx| lease::recover(tx, &claim, boot)).await
    }

    /// Puts back what a run of this process did not, since it did not stop in time.
    pub(super) async fn hand_back(&self, claim: Claim) -> Result<(), Fault> {
        let take = move |tx: &mut Tx<'_>| lease::hand_back(tx, &claim, true);
        self.take_from_run(claim, Some(Ending::HandedBack), take).await
    }

    /// Takes a job from its run and tells its domain if that was the end of it; where it is ready
    /// again, `ready` is told.
    async fn take_from_run<F>(
        &self,
        claim: Claim,
        ready: Option<Ending>,
        take: F,
    ) -> Result<(), Fault>
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<Taken>, Fault> + Send + Clone + 'static,
    {
        let (silent, registry) = (take.clone(), self.0.registry.clone());
        let telling = self.0.db.write(move |tx| {
            let Some(taken) = take(tx)? else { return Ok(()) };
            let job = (taken.kind.as_str(), taken.payload.as_str());
            match ready.filter(|_| taken.state == State::Ready) {
                Some(ready) => registry.tell(tx, job, &ready),
                None => registry.tell_end(tx, job, taken.state, CUT_SHORT),
            }
        });
        match telling.await {
            Err(fault) if !heals(&fault) => {
                // The domain would not hear it; that must not keep the job running for ever.
                tracing::error!(job.id = %claim.job, ?fault, "A job ends without its domain");
                self.0.db.write(move |tx| silent(tx).map(drop)).await
            }
            told => told,
        }
    }

    /// Deletes the jobs that ended long ago, a batch a transaction.
    async fn sweep(&self) -> Result<(), Fault> {
        let before = self.0.clock.now().minus(self.0.options.keep);
        while sweep_once(&self.0.db, before).await? > 0 {}
        Ok(())
    }

    /// Says once of each kind that nobody here does it. Its jobs stay.
    pub(super) async fn report_unknown(&self) -> Result<(), Fault> {
        let backlog = self.0.db.read(queue::backlog).await?;
        let mut reported = self.0.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for (kind, count) in backlog.kinds {
            if self.0.registry.get(&kind).is_none() && reported.insert(kind.clone()) {
                tracing::warn!(kind, ready = count.ready, "Jobs wait that this version cannot do");
            }
        }
        Ok(())
    }
}

async fn sweep_once(db: &Db, before: Millis) -> Result<usize, Fault> {
    db.write(move |tx| lease::purge(tx, before, SWEEP_BATCH)).await
}

fn is_due(last: Option<Millis>, period: Duration, now: Millis) -> bool {
    last.is_none_or(|last| now.since(last) >= period)
}
