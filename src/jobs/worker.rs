//! The worker: takes due jobs as soon as there is a place for them, runs each beside the others,
//! and hands back what it cannot finish when the server stops.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::broadcast::{self, error::RecvError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::ctx::{Said, Signal, Stop};
use super::floor::{Floor, Running};
use super::lease::{self, Claimed};
use super::queue;
use super::registry::Registry;
use super::run::Floorhand;
use super::schedule;
use super::upkeep::Troubles;
use crate::base::stops;
use crate::base::{BootId, Clock, Fault, Id, JobId, Millis};
use crate::events::{Bus, Event};
use crate::store::Db;

/// The net under the notifications: another process may have enqueued something.
const POLL: Duration = Duration::from_secs(1);

/// What can be set about a worker.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many of a kind run at once, where that differs from what the kind says; 0 pauses it.
    pub limits: BTreeMap<String, usize>,
    /// How long running jobs may take to come to a stop when the server stops.
    pub grace: Duration,
    /// How long ended jobs are kept.
    pub keep: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: BTreeMap::new(),
            grace: Duration::from_secs(20),
            keep: Duration::from_hours(14 * 24),
        }
    }
}

/// What a worker works with.
pub struct Setup {
    /// The database that holds the queue.
    pub db: Db,
    /// The time.
    pub clock: Clock,
    /// Where the database says that a job is ready.
    pub bus: Bus,
    /// This start of the server: fresh at each. Runs of every other boot are taken to be dead.
    pub boot: BootId,
    /// What is done for each kind.
    pub registry: Registry,
    /// The rest.
    pub options: Options,
}

/// How the queue does, for the health of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Whether [`Worker::run`] is at work.
    pub serving: bool,
    /// Runs of this process.
    pub running: usize,
    /// How long the job that is due longest has waited, of the kinds that are done here.
    pub longest_wait: Duration,
    /// Jobs that wait and that nobody here does, by kind.
    pub unknown: BTreeMap<String, u64>,
}

/// Runs jobs. Cheap to clone; every clone is the same worker.
#[derive(Clone)]
pub struct Worker(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) db: Db,
    pub(super) clock: Clock,
    bus: Bus,
    pub(super) boot: BootId,
    pub(super) registry: Arc<Registry>,
    pub(super) options: Options,
    pub(super) floor: Floor,
    pub(super) troubles: Troubles,
    pub(super) reported: Mutex<BTreeSet<String>>,
    serving: AtomicBool,
}

impl Worker {
    /// A worker that waits for its [`run`](Worker::run).
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let Setup { db, clock, bus, boot, registry, options } = setup;
        Self(Arc::new(Inner {
            db,
            clock,
            bus,
            boot,
            registry: Arc::new(registry),
            options,
            floor: Floor::default(),
            troubles: Troubles::default(),
            reported: Mutex::default(),
            serving: AtomicBool::new(false),
        }))
    }

    /// Runs jobs until `shutdown`. Then nothing more is claimed, what runs is asked to hand back
    /// and given [`Options::grace`] for it, and what is left is stopped and put back.
    pub async fn run(&self, shutdown: CancellationToken) {
        // Listens before it looks: what comes in between is heard.
        let mut ear = Ear(self.0.bus.watch());
        let mut runs = JoinSet::new();
        self.0.troubles.note("rescue", self.rescue().await);
        self.0.serving.store(true, Ordering::Relaxed);
        tokio::select! {
            () = self.serve(&shutdown, &mut ear, &mut runs) => {}
            () = self.upkeep() => {}
        }
        self.0.serving.store(false, Ordering::Relaxed);
        self.come_to_a_stop(runs).await;
    }

    /// Runs everything that is due now, and what becomes due by that, to its end: for tests, which
    /// hold a clock that stands still. Instead of [`Worker::run`], never beside it.
    pub async fn drain(&self) -> Result<(), Fault> {
        let mut ear = Ear(self.0.bus.watch());
        let mut runs = JoinSet::new();
        self.rescue().await?;
        loop {
            self.look(&mut runs).await?;
            if runs.is_empty() {
                return Ok(());
            }
            tokio::select! {
                _ = runs.join_next() => {}
                heard = ear.next() => self.heed(heard).await,
            }
        }
    }

    /// How the queue does.
    pub async fn health(&self) -> Result<Health, Fault> {
        let backlog = self.0.db.read(queue::backlog).await?;
        let is_known = |kind: &str| self.0.registry.get(kind).is_some();
        let known = backlog.kinds.iter().filter(|(kind, _)| is_known(kind));
        let unknown = backlog.kinds.iter().filter(|(kind, _)| !is_known(kind));
        Ok(Health {
            serving: self.0.serving.load(Ordering::Relaxed),
            running: self.0.floor.len(),
            longest_wait: known.map(|(_, count)| count.longest_wait).max().unwrap_or_default(),
            unknown: unknown.map(|(kind, count)| (kind.clone(), count.ready)).collect(),
        })
    }

    async fn serve(&self, shutdown: &CancellationToken, ear: &mut Ear, runs: &mut JoinSet<()>) {
        while !shutdown.is_cancelled() {
            let looked = self.look(runs).await;
            let next = self.0.troubles.note("claim", looked).flatten();
            let wait = next.map_or(POLL, |at| at.since(self.0.clock.now()).min(POLL));
            tokio::select! {
                () = shutdown.cancelled() => return,
                heard = ear.next() => self.heed(heard).await,
                Some(_) = runs.join_next() => {}
                () = self.0.clock.sleep(wait) => {}
            }
            while runs.try_join_next().is_some() {}
            while let Some(heard) = ear.already() {
                self.heed(heard).await;
            }
        }
    }

    async fn heed(&self, heard: Heard) {
        match heard {
            // Whoever hears this looks next, whatever it was.
            Heard::Ready => {}
            Heard::Cancelled(job) => self.0.floor.stop(job, Stop::Cancelled),
            Heard::Missed => {
                self.0.troubles.note("hear cancels", self.hear_cancels().await);
            }
        }
    }

    /// Claims what is due and has a place, and starts it. Says when something is due next.
    async fn look(&self, runs: &mut JoinSet<()>) -> Result<Option<Millis>, Fault> {
        let (boot, registry, places) = (self.0.boot, self.0.registry.clone(), self.places());
        let claiming = self.0.db.write(move |tx| {
            let scheduled = schedule::tick(tx, registry.recurring())?;
            let mut taken = Vec::new();
            for (kind, places) in places {
                let claim =
                    if registry.takes_turns(kind) { lease::claim_in_turn } else { lease::claim };
                taken.append(&mut claim(tx, boot, kind, places)?);
            }
            let due = lease::next_due(tx)?;
            Ok((taken, scheduled.into_iter().chain(due).min()))
        });
        let (taken, next) = claiming.await?;
        for claimed in taken {
            self.start(claimed, runs);
        }
        Ok(next)
    }

    /// How many more of each kind may start; kinds without a place left out.
    fn places(&self) -> Vec<(&'static str, usize)> {
        let places = self.0.registry.iter().map(|(name, kind)| {
            let limit = self.0.options.limits.get(name).copied().unwrap_or(kind.concurrency);
            (name, limit.saturating_sub(self.0.floor.count(name)))
        });
        places.filter(|(_, places)| *places > 0).collect()
    }

    fn start(&self, claimed: Claimed, runs: &mut JoinSet<()>) {
        let Some((name, kind)) = self.0.registry.get(&claimed.kind) else { return };
        let (signal, said) = (Signal::default(), Said::default());
        let running = Running { kind: name, signal: signal.clone(), said: said.clone() };
        self.0.floor.add(claimed.claim, running);
        let hand = Floorhand {
            db: self.0.db.clone(),
            clock: self.0.clock.clone(),
            registry: self.0.registry.clone(),
        };
        let (kind, inner, claim) = (kind.clone(), self.0.clone(), claimed.claim);
        runs.spawn(async move {
            stops::reach(stops::Stop::JobClaimed);
            hand.run(kind, claimed, signal, said).await;
            inner.floor.remove(&claim);
        });
    }

    async fn come_to_a_stop(&self, mut runs: JoinSet<()>) {
        self.0.floor.stop_all(Stop::HandBack);
        let ended = async { while runs.join_next().await.is_some() {} };
        tokio::select! {
            () = ended => {}
            () = self.0.clock.sleep(self.0.options.grace) => {}
        }
        runs.shutdown().await;
        let left = self.0.floor.claims();
        if left.is_empty() {
            return;
        }
        tracing::warn!(jobs = left.len(), "Handing back jobs that did not stop in time");
        let handing_back = left.iter().map(|claim| self.hand_back(*claim));
        // Where even this fails, the next start recovers them.
        let handed_back = futures_util::future::try_join_all(handing_back).await;
        self.0.troubles.note("hand back", handed_back);
        for claim in &left {
            self.0.floor.remove(claim);
        }
    }
}

/// Hears what concerns the worker among all that is published.
struct Ear(broadcast::Receiver<Event>);

enum Heard {
    Ready,
    Cancelled(JobId),
    /// Too much was said to keep up: look for yourself.
    Missed,
}

impl Ear {
    async fn next(&mut self) -> Heard {
        loop {
            match self.0.recv().await {
                Ok(event) => {
                    if let Some(heard) = heard(&event) {
                        return heard;
                    }
                }
                Err(RecvError::Lagged(_)) => return Heard::Missed,
                // Nobody is left to say anything.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// What has been said by now and was not heard yet.
    fn already(&mut self) -> Option<Heard> {
        use broadcast::error::TryRecvError;
        loop {
            match self.0.try_recv() {
                Ok(event) => {
                    if let Some(heard) = heard(&event) {
                        return Some(heard);
                    }
                }
                Err(TryRecvError::Lagged(_)) => return Some(Heard::Missed),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
    }
}

fn heard(event: &Event) -> Option<Heard> {
    match event {
        Event::JobReady => Some(Heard::Ready),
        Event::JobCancelled { job } => Some(Heard::Cancelled(Id::from_uuid(*job))),
        _ => None,
    }
}
