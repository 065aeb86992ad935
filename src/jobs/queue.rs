//! The queue as the rest of the program sees it: ask for work, look at it, stop it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::{Enqueue, Enqueued, Failure, Job, JobRecord, Progress, State};
use crate::base::{Code, Fault, JobId, Millis, TenantId};
use crate::events::Event;
use crate::store::{Read, Row, Tx, to_json};
use crate::{params, sql};

/// The largest payload, and the largest result.
pub(super) const DOCUMENT_BYTES_MAX: usize = 256 << 10;

const LIST_MAX: u32 = 200;
const KINDS_MAX: i64 = 1_000;

/// Adds a job in the caller's transaction: it exists exactly if that is committed.
///
/// # Errors
/// A payload of more than 256 KiB is refused.
pub fn enqueue<J: Job>(tx: &mut Tx<'_>, job: &J, options: Enqueue) -> Result<Enqueued, Fault> {
    let enqueued = enqueue_as(tx, job, job.unique().as_deref(), options)?;
    if let Enqueued::Existing(id) = enqueued {
        // Changes nothing where it has not started: then it sees all that this transaction does.
        tx.run(sql!("jobs.sql", "ask_again"), params! { ":id": id })?;
    }
    Ok(enqueued)
}

/// As [`enqueue`]; where the job waits for later, it is due at once.
///
/// # Errors
/// A payload of more than 256 KiB is refused.
pub fn enqueue_now<J: Job>(tx: &mut Tx<'_>, job: &J, options: Enqueue) -> Result<Enqueued, Fault> {
    let (enqueued, now) = (enqueue(tx, job, options)?, tx.now());
    if let (Enqueued::Existing(_), Some(key)) = (enqueued, job.unique()) {
        let same = params! { ":kind": J::KIND, ":unique_key": key, ":tenant": options.tenant,
        ":now": now };
        if tx.run(sql!("jobs.sql", "hasten"), same)? > 0 {
            tx.emit(Event::JobReady);
        }
    }
    Ok(enqueued)
}

/// As [`enqueue`], under the unique key that is given, and content with a run that goes on.
pub(super) fn enqueue_as<J: Job>(
    tx: &mut Tx<'_>,
    job: &J,
    key: Option<&str>,
    options: Enqueue,
) -> Result<Enqueued, Fault> {
    let payload = to_json(job)?;
    if payload.len() > DOCUMENT_BYTES_MAX {
        return Err(too_large(J::KIND, payload.len()));
    }
    let (id, now) = (tx.new_id(), tx.now());
    let run_at = options.run_at.unwrap_or(now);
    let row = params! {
        ":id": id,
        ":tenant": options.tenant,
        ":kind": J::KIND,
        ":payload": payload,
        ":unique_key": key,
        ":project": options.project,
        ":priority": options.priority.rank(),
        ":run_at": run_at,
        ":max_attempts": J::MAX_ATTEMPTS,
        ":now": now,
    };
    if tx.insert_new(sql!("jobs.sql", "enqueue"), row)? {
        tx.emit(Event::JobReady);
        return Ok(Enqueued::New(id));
    }
    let same = params! { ":kind": J::KIND, ":unique_key": key, ":tenant": options.tenant };
    let found = tx.find(sql!("jobs.sql", "find_unique"), same, |row| row.get("id"))?;
    found.map(Enqueued::Existing).ok_or_else(|| Fault::internal("a job clashed with no other"))
}

fn too_large(kind: &str, size: usize) -> Fault {
    let message = format!(
        "The work {kind} would carry {size} bytes, more than the {DOCUMENT_BYTES_MAX} that a job \
         takes. Keep the data elsewhere and name it in the job."
    );
    Fault::new(Code::PayloadTooLarge, message)
}

/// The job, if it is this tenant's; `None` as the tenant means the server's own.
pub fn find(
    read: &Read<'_>,
    tenant: impl Into<Option<TenantId>>,
    id: JobId,
) -> Result<Option<JobRecord>, Fault> {
    let tenant: Option<TenantId> = tenant.into();
    read.find(sql!("jobs.sql", "find"), params! { ":tenant": tenant, ":id": id }, record)
}

/// What a tenant's job of a kind was asked to do; `None` where there is no such job.
pub fn asked<J: Job>(
    read: &Read<'_>,
    tenant: impl Into<Option<TenantId>>,
    id: JobId,
) -> Result<Option<J>, Fault> {
    let tenant: Option<TenantId> = tenant.into();
    let of = params! { ":tenant": tenant, ":id": id, ":kind": J::KIND };
    read.find(sql!("jobs.sql", "payload"), of, |row| row.json("payload"))
}

/// The tenant's newest jobs in one state: at most `limit`, and never more than 200.
pub fn list(
    read: &Read<'_>,
    tenant: impl Into<Option<TenantId>>,
    state: State,
    limit: u32,
) -> Result<Vec<JobRecord>, Fault> {
    let tenant: Option<TenantId> = tenant.into();
    let limit = limit.min(LIST_MAX);
    let asked = params! { ":tenant": tenant, ":state": state.word(), ":limit": limit };
    read.list(sql!("jobs.sql", "list"), asked, record)
}

/// What asking a job to stop did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It had not started, and never will.
    AtOnce,
    /// It runs and has been asked; it stops when it hears, or ends before that.
    Asked,
    /// It had ended before; nothing changed.
    TooLate(State),
}

/// Asks a job to stop; what is enqueued under its key from then on is run after it. `None` where
/// this tenant has no such job.
pub fn cancel(
    tx: &mut Tx<'_>,
    tenant: impl Into<Option<TenantId>>,
    id: JobId,
) -> Result<Option<Cancelled>, Fault> {
    let (tenant, now): (Option<TenantId>, _) = (tenant.into(), tx.now());
    let asked = params! { ":tenant": tenant, ":id": id, ":now": now };
    if tx.run(sql!("jobs.sql", "cancel_ready"), asked)? == 1 {
        return Ok(Some(Cancelled::AtOnce));
    }
    if tx.run(sql!("jobs.sql", "cancel_running"), asked)? == 1 {
        tx.emit(Event::JobCancelled { job: id.uuid() });
        return Ok(Some(Cancelled::Asked));
    }
    Ok(find(tx, tenant, id)?.map(|job| Cancelled::TooLate(job.state)))
}

/// What waits and runs, for the health of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Every kind with work, by name.
    pub kinds: BTreeMap<String, KindBacklog>,
}

/// What waits and runs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindBacklog {
    /// Jobs that are ready, those for later included.
    pub ready: u64,
    /// Jobs that run.
    pub running: u64,
    /// How long the job that is due longest has waited; zero where none is due.
    pub longest_wait: Duration,
}

/// Counts what waits and runs.
pub fn backlog(read: &Read<'_>) -> Result<Backlog, Fault> {
    let now = read.now();
    let bound = params! { ":limit": KINDS_MAX };
    let ready = read.list(sql!("jobs.sql", "count_ready"), bound, |row| {
        let first: Millis = row.get("first_run_at")?;
        Ok((row.get::<String>("kind")?, row.unsigned("jobs")?, now.since(first)))
    })?;
    let running = read.list(sql!("jobs.sql", "count_running"), bound, |row| {
        Ok((row.get::<String>("kind")?, row.unsigned("jobs")?))
    })?;
    let mut kinds: BTreeMap<String, KindBacklog> = BTreeMap::new();
    for (kind, ready, longest_wait) in ready {
        kinds.insert(kind, KindBacklog { ready, running: 0, longest_wait });
    }
    for (kind, running) in running {
        kinds.entry(kind).or_default().running = running;
    }
    Ok(Backlog { kinds })
}

/// A failure as the `errors` column lists it.
#[derive(Deserialize)]
struct FailureRow {
    attempt: u32,
    at: i64,
    message: String,
}

/// Progress as its column holds it.
#[derive(Serialize, Deserialize)]
struct ProgressRow {
    done: u32,
    total: Option<u32>,
    text: String,
}

/// Progress as its column holds it.
pub(super) fn progress_json(progress: &Progress) -> Result<String, Fault> {
    let Progress { done, total, text } = progress;
    to_json(&ProgressRow { done: *done, total: *total, text: text.clone() })
}

pub(super) fn record(row: &Row<'_>) -> Result<JobRecord, Fault> {
    let progress: Option<String> = row.get("progress")?;
    let result: Option<String> = row.get("result")?;
    let failures: Vec<FailureRow> = row.json("errors")?;
    Ok(JobRecord {
        id: row.get("id")?,
        tenant: row.get("tenant_id")?,
        kind: row.get("kind")?,
        state: row.word("state", State::parse)?,
        attempt: row.get("attempt")?,
        max_attempts: row.get("max_attempts")?,
        run_at: row.get("run_at")?,
        cancel_asked: row.get::<Option<i64>>("cancel_asked")?.is_some(),
        progress: progress.map(|_| row.json("progress")).transpose()?.map(from_progress_row),
        result: result.map(|_| row.json("result")).transpose()?,
        failures: failures.into_iter().map(from_failure_row).collect(),
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
    })
}

fn from_progress_row(row: ProgressRow) -> Progress {
    Progress { done: row.done, total: row.total, text: row.text }
}

fn from_failure_row(row: FailureRow) -> Failure {
    Failure { attempt: row.attempt, at: Millis(row.at), message: row.message }
}
