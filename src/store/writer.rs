//! The writer thread. It takes whatever has queued up, runs each call under its own savepoint,
//! commits them as one group, and answers only after the commit is on disk. One flush of the disk
//! so serves many callers, and a call that fails or panics undoes itself and nobody else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::open::{Home, storage_fault};
use super::row::Layouts;
use super::tx::{Read, Tx};
use super::vault::Vault;
use crate::base::stops::{self, Stop};
use crate::base::{Clock, Code, Entropy, Fault};
use crate::events::{Bus, Event};

/// Calls committed together at most: bounds how long the first of them waits for the last.
const GROUP_MAX: usize = 256;

/// What was written since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Groups of changes that were committed.
    pub groups: u64,
    /// Changes that were asked for, those that undid themselves among them.
    pub changes: u64,
    /// Groups that could not be committed.
    pub lost: u64,
    /// Time from the first change of each group until it was on disk.
    pub busy: Duration,
}

/// What [`Written`] is told from.
#[derive(Default)]
struct Counts {
    groups: AtomicU64,
    changes: AtomicU64,
    lost: AtomicU64,
    micros: AtomicU64,
}

impl Counts {
    fn count(&self, changes: usize, is_lost: bool, took: Duration) {
        let groups = if is_lost { &self.lost } else { &self.groups };
        groups.fetch_add(1, Ordering::Relaxed);
        self.changes.fetch_add(changes as u64, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    fn written(&self) -> Written {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Written {
            groups: of(&self.groups),
            changes: of(&self.changes),
            lost: of(&self.lost),
            busy: Duration::from_micros(of(&self.micros)),
        }
    }
}

/// The sending half. When it is dropped the thread finishes what has queued up, and ends.
pub(super) struct Writer {
    counts: Arc<Counts>,
    calls: Option<mpsc::Sender<Box<dyn Op>>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(
        conn: Connection,
        home: Home,
        vault: Vault,
        clock: Clock,
        entropy: Entropy,
        bus: Bus,
    ) -> Result<Self, Fault> {
        let (calls, queue) = mpsc::channel();
        let counts = Arc::<Counts>::default();
        let (layouts, counting) = (Layouts::default(), counts.clone());
        let worker = Worker { conn, layouts, home, vault, clock, entropy, bus, counts: counting };
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || worker.work(&queue))
            .map_err(Fault::internal)?;
        Ok(Self { counts, calls: Some(calls), thread: Some(thread) })
    }

    /// What was written since the start.
    pub(super) fn written(&self) -> Written {
        self.counts.written()
    }

    pub(super) fn send<T, F>(&self, change: F) -> Result<oneshot::Receiver<Result<T, Fault>>, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let call = Call { change: Some(change), result: None, reply };
        let sent = self.calls.as_ref().map(|calls| calls.send(Box::new(call)));
        match sent {
            Some(Ok(())) => Ok(answer),
            _ => Err(Fault::new(Code::Unavailable, "The server is stopping.")),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already said so; there is nothing left to wait for.
            drop(thread.join());
        }
    }
}

/// One queued call, with its types erased.
trait Op: Send {
    /// Runs the change; `false` where its effects must be undone.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Answers the caller. A fault given here replaces what the change returned.
    fn answer(self: Box<Self>, lost: Option<Fault>);
}

struct Call<T, F> {
    change: Option<F>,
    result: Option<Result<T, Fault>>,
    reply: oneshot::Sender<Result<T, Fault>>,
}

impl<T, F> Op for Call<T, F>
where
    T: Send,
    F: FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let Some(change) = self.change.take() else { return false };
        let result = catch_unwind(AssertUnwindSafe(|| change(tx)))
            .unwrap_or_else(|_| Err(Fault::internal("a change to the database panicked")));
        let kept = result.is_ok();
        self.result = Some(result);
        kept
    }

    fn answer(self: Box<Self>, lost: Option<Fault>) {
        let result = match (self.result, lost) {
            // Undone with its group, or never run because the group was lost before its turn.
            (Some(Ok(_)) | None, Some(fault)) => Err(fault),
            (Some(own), _) => own,
            (None, None) => Err(Fault::internal("a change did not run")),
        };
        // A caller that no longer waits is no failure: its change is on disk all the same.
        drop(self.reply.send(result));
    }
}

struct Worker {
    conn: Connection,
    layouts: Layouts,
    home: Home,
    vault: Vault,
    clock: Clock,
    entropy: Entropy,
    bus: Bus,
    counts: Arc<Counts>,
}

impl Worker {
    fn work(&self, queue: &mpsc::Receiver<Box<dyn Op>>) {
        while let Ok(first) = queue.recv() {
            let group = std::iter::once(first).chain(queue.try_iter()).take(GROUP_MAX);
            self.commit(group);
        }
        // Leaves one file behind instead of three; what is not folded in now is at the next open.
        drop(self.conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    }

    fn commit(&self, group: impl Iterator<Item = Box<dyn Op>>) {
        let began_at = Instant::now();
        let mut done = Vec::new();
        let mut events = Vec::new();
        let home = self.home.check();
        let began = home.and_then(|()| self.conn.execute_batch("BEGIN IMMEDIATE"));
        let began_well = began.is_ok();
        let mut lost = began.err();
        for mut op in group {
            if lost.is_none() {
                lost = self.run(op.as_mut(), &mut events).err();
            }
            done.push(op);
        }
        if lost.is_none() {
            stops::reach(Stop::GroupOpen);
            lost = self.conn.execute_batch("COMMIT").err();
        }
        if lost.is_none() {
            stops::reach(Stop::GroupCommitted);
        }
        if began_well && !self.conn.is_autocommit() {
            // A failed commit leaves the transaction open; the next group needs a fresh one.
            drop(self.conn.execute_batch("ROLLBACK"));
        }
        self.counts.count(done.len(), lost.is_some(), began_at.elapsed());
        if lost.is_none() {
            for event in events {
                self.bus.publish(event);
            }
        }
        for op in done {
            op.answer(lost.as_ref().map(lost_fault));
        }
    }

    /// Runs one call under its savepoint. An error here means that the whole group is lost:
    /// `SQLite` undoes the entire transaction when the disk is full or fails.
    fn run(&self, op: &mut dyn Op, events: &mut Vec<Event>) -> rusqlite::Result<()> {
        self.execute("SAVEPOINT call")?;
        let read = Read::new(&self.conn, &self.layouts, &self.vault, self.clock.now());
        let mut tx = Tx::new(read, &self.entropy);
        if op.run(&mut tx) {
            events.extend(tx.into_events());
        } else if self.conn.is_autocommit() {
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
                None,
            ));
        } else {
            self.execute("ROLLBACK TO call")?;
        }
        self.execute("RELEASE call")
    }

    /// Runs a statement without parameters that is compiled once.
    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }
}

/// What each caller of a lost group hears. The driver's error is not cloneable, so it is told anew.
fn lost_fault(error: &rusqlite::Error) -> Fault {
    let cause = error.to_string();
    let again = match error.sqlite_error() {
        Some(inner) => rusqlite::Error::SqliteFailure(*inner, Some(cause.clone())),
        None => return Fault::internal(cause),
    };
    storage_fault(again).unwrap_or_else(Fault::internal)
}
