//! The queue and its worker, on a real database and a clock that moves only when told.

mod queue;
mod recovery;
mod worker;

use std::future::Future;
use std::time::Duration;

use assay::base::{BootId, Clock, Code, Entropy, Fault, Id, JobId, Millis, TenantId};
use assay::events::Bus;
use assay::jobs::lease::{self, Claimed};
use assay::jobs::{
    self, Cancelled, Enqueue, Enqueued, Job, JobError, JobRecord, Options, Registry, Setup, Worker,
};
use assay::store::Db;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const MINUTE: Duration = Duration::from_mins(1);

const ACME: TenantId = Id::from_uuid(Uuid::from_u128(1));
const OTHER: TenantId = Id::from_uuid(Uuid::from_u128(2));

/// A job that carries a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    text: String,
}

impl Job for Note {
    const KIND: &'static str = "note";
    const MAX_ATTEMPTS: u32 = 3;
    const CONCURRENCY: usize = 2;
}

/// A job of which there is one for each key.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Keyed {
    key: String,
}

impl Job for Keyed {
    const KIND: &'static str = "keyed";
    const CONCURRENCY: usize = 2;

    fn unique(&self) -> Option<String> {
        Some(self.key.clone())
    }
}

fn note(text: &str) -> Note {
    Note { text: text.to_owned() }
}

fn keyed(key: &str) -> Keyed {
    Keyed { key: key.to_owned() }
}

/// A database with two tenants, and what a worker needs.
struct Shop {
    clock: Clock,
    bus: Bus,
    entropy: Entropy,
    db: Db,
    _dir: tempfile::TempDir,
}

impl Shop {
    fn open() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (clock, bus, entropy) =
            (Clock::fake(Millis(1_000_000)), Bus::default(), Entropy::seeded(1));
        let db = Db::open(dir.path(), clock.clone(), entropy.clone(), bus.clone()).unwrap();
        for (slug, id) in [("acme", ACME), ("other", OTHER)] {
            db.raw(&format!(
                "INSERT INTO tenants (id, slug, name, plan, created_at) \
                 VALUES (x'{}', '{slug}', '{slug}', 'all', 1)",
                id.uuid().simple()
            ))
            .unwrap();
        }
        Self { clock, bus, entropy, db, _dir: dir }
    }

    /// A worker of a fresh start of the server.
    fn worker(&self, registry: Registry) -> Worker {
        self.worker_with(registry, Options::default())
    }

    fn worker_with(&self, registry: Registry, options: Options) -> Worker {
        Worker::new(Setup {
            db: self.db.clone(),
            clock: self.clock.clone(),
            bus: self.bus.clone(),
            boot: self.boot(),
            registry,
            options,
        })
    }

    fn boot(&self) -> BootId {
        self.entropy.id(self.clock.now())
    }

    async fn enqueue<J: Job + Sync>(&self, job: J) -> JobId {
        self.enqueue_with(job, Enqueue::of(ACME)).await.unwrap().id()
    }

    async fn enqueue_with<J: Job + Sync>(
        &self,
        job: J,
        options: Enqueue,
    ) -> Result<Enqueued, Fault> {
        self.db.write(move |tx| jobs::enqueue(tx, &job, options)).await
    }

    async fn job(&self, id: JobId) -> JobRecord {
        self.db.read(move |read| jobs::find(read, ACME, id)).await.unwrap().unwrap()
    }

    async fn cancel(&self, tenant: TenantId, id: JobId) -> Option<Cancelled> {
        self.db.write(move |tx| jobs::cancel(tx, tenant, id)).await.unwrap()
    }

    async fn claim(&self, boot: BootId, kind: &'static str) -> Vec<Claimed> {
        self.db.write(move |tx| lease::claim(tx, boot, kind, 100)).await.unwrap()
    }

    /// Lets time pass until a number in the database is as it should be.
    async fn until(&self, sql: &str, holds: impl Fn(i64) -> bool) {
        loop {
            let found = self.db.raw_column(&format!("SELECT '' || ifnull(({sql}), 0)")).unwrap();
            if holds(found[0].parse().unwrap()) {
                return;
            }
            tokio::task::yield_now().await;
            self.clock.advance(Duration::from_millis(100));
        }
    }

    /// Lets time pass until `task` has ended.
    async fn pass_until<T>(&self, task: impl Future<Output = T>) -> T {
        let pass = async {
            loop {
                tokio::task::yield_now().await;
                self.clock.advance(Duration::from_millis(100));
            }
        };
        tokio::select! { ended = task => ended, () = pass => unreachable!() }
    }
}

/// A handler that fails in the given way every time.
fn failing(with: fn() -> JobError) -> Registry {
    Registry::new().on(move |_, _: Note| async move { Err(with()) })
}

fn fault(code: Code) -> JobError {
    JobError::from(Fault::new(code, "it broke"))
}
