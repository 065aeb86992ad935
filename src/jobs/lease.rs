//! Claims: how a worker takes a job, keeps it, and ends it. Everything that ends or renews a run
//! names its claim, and changes nothing where the claim is no longer the row's. Whichever way a run
//! ends, a job that was asked for once more while it ran is ready again, with all its attempts.

use std::time::Duration;

use serde_json::Value;

use super::backoff::backoff;
use super::job::{Priority, Progress, State};
use super::queue::{DOCUMENT_BYTES_MAX, progress_json};
use crate::base::{BootId, Fault, JobId, Millis, TenantId, text};
use crate::events::Event;
use crate::store::{Read, Row, Sql, Tx, to_int, to_json};
use crate::{params, sql};

/// How long a claim holds without being renewed.
pub const LEASE: Duration = Duration::from_mins(1);

/// The shortest wait of a job that is put back by its own wish.
const LATER_MIN: Duration = Duration::from_millis(100);

/// Failures kept of a job; the oldest go first.
const FAILURES_MAX: i64 = 20;
const FAILURE_CHARS_MAX: usize = 1_000;

/// What is noted of a run that was cut short.
pub(super) const CUT_SHORT: &str = "The run was cut short before it could report.";

/// Who owns a run: the fence that a late report does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The job.
    pub job: JobId,
    /// Which of its claims; never the same twice.
    pub number: u32,
    /// The start of the server that made the claim.
    pub boot: BootId,
}

/// A job that was claimed, with what its run needs.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The claim.
    pub claim: Claim,
    /// Whose it is; `None` for the server's own.
    pub tenant: Option<TenantId>,
    /// Its kind.
    pub kind: String,
    /// The payload as it was enqueued, in JSON.
    pub payload: String,
    /// Which attempt this is; the first is 1.
    pub attempt: u32,
    /// How many attempts it may have.
    pub max_attempts: u32,
    /// Whether the run before this one was cut short.
    pub recovered: bool,
    order: (Millis, i64),
}

/// Takes up to `limit` due jobs of one kind, the most urgent first, then the longest due.
pub fn claim(
    tx: &mut Tx<'_>,
    boot: BootId,
    kind: &str,
    limit: usize,
) -> Result<Vec<Claimed>, Fault> {
    take(tx, sql!("jobs.sql", "claim"), boot, kind, limit)
}

/// As [`claim`], but among equally urgent jobs the project is next that has least under way.
pub fn claim_in_turn(
    tx: &mut Tx<'_>,
    boot: BootId,
    kind: &str,
    limit: usize,
) -> Result<Vec<Claimed>, Fault> {
    take(tx, sql!("jobs.sql", "claim_in_turn"), boot, kind, limit)
}

fn take(
    tx: &mut Tx<'_>,
    claim: Sql,
    boot: BootId,
    kind: &str,
    limit: usize,
) -> Result<Vec<Claimed>, Fault> {
    let now = tx.now();
    let mut taken = Vec::new();
    for priority in Priority::ALL {
        let left = limit - taken.len();
        if left == 0 {
            break;
        }
        let asked = params! {
            ":boot": boot,
            ":lease_until": now.plus(LEASE),
            ":now": now,
            ":kind": kind,
            ":priority": priority.rank(),
            ":limit": to_int(u64::try_from(left).unwrap_or(u64::MAX)),
        };
        let mut more = tx.list(claim, asked, |row| claimed(row, boot))?;
        // The rows of a RETURNING come in no order.
        more.sort_by_key(|one| one.order);
        taken.append(&mut more);
    }
    Ok(taken)
}

fn claimed(row: &Row<'_>, boot: BootId) -> Result<Claimed, Fault> {
    Ok(Claimed {
        claim: Claim { job: row.get("id")?, number: row.get("claims")?, boot },
        tenant: row.get("tenant_id")?,
        kind: row.get("kind")?,
        payload: row.get("payload")?,
        attempt: row.get("attempt")?,
        max_attempts: row.get("max_attempts")?,
        recovered: row.get("recovered")?,
        order: (row.get("run_at")?, row.get("n")?),
    })
}

/// When the next job that is not due yet will be.
pub fn next_due(read: &Read<'_>) -> Result<Option<Millis>, Fault> {
    let now = read.now();
    read.find(sql!("jobs.sql", "next_due"), params! { ":now": now }, |row| row.get("run_at"))
}

/// Holds the claim for another [`LEASE`]. Says whether a stop was asked for; `None` where the
/// claim is lost.
pub fn renew(tx: &mut Tx<'_>, claim: &Claim) -> Result<Option<bool>, Fault> {
    let held = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":lease_until": tx.now().plus(LEASE),
    };
    tx.find(sql!("jobs.sql", "renew"), held, |row| {
        Ok(row.get::<Option<i64>>("cancel_asked")?.is_some())
    })
}

/// Writes down how far the run has come.
pub fn save_progress(tx: &mut Tx<'_>, claim: &Claim, progress: &Progress) -> Result<(), Fault> {
    let said = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":progress": progress_json(progress)?,
    };
    // A run that lost its claim has nothing to say any more.
    tx.run(sql!("jobs.sql", "save_progress"), said).map(drop)
}

/// Ends the run well: the job is done, or ready again where it was asked for once more while it
/// ran. `None` where the claim is lost.
///
/// # Errors
/// A result of more than 256 KiB is refused.
pub fn finish(
    tx: &mut Tx<'_>,
    claim: &Claim,
    result: Option<&Value>,
) -> Result<Option<State>, Fault> {
    let result = result.map(to_json).transpose()?;
    if let Some(text) = result.as_ref().filter(|text| text.len() > DOCUMENT_BYTES_MAX) {
        return Err(Fault::internal(format!("a job's result has {} bytes", text.len())));
    }
    let ended = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":result": result,
        ":now": tx.now(),
    };
    let ended = tx.find(sql!("jobs.sql", "finish"), ended, |row| {
        Ok((state(row)?, row.get::<Option<TenantId>>("tenant_id")?))
    })?;
    if let Some((_, Some(tenant))) = ended {
        tx.emit(Event::JobEnded { tenant: tenant.uuid() });
    }
    Ok(ended.map(|(state, _)| state))
}

/// Ends the job as failed, or as cancelled where that was asked for. `None` where the claim is
/// lost.
pub fn fail(tx: &mut Tx<'_>, claim: &Claim, message: &str) -> Result<Option<State>, Fault> {
    let ended = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":message": text::cut(message, FAILURE_CHARS_MAX),
        ":errors_max": FAILURES_MAX,
        ":now": tx.now(),
    };
    tx.find(sql!("jobs.sql", "fail"), ended, state)
}

/// Ends the run badly: the job is tried again after its backoff, and not before `wait` has passed.
/// It has failed where its attempts are used up, and is cancelled where that was asked for. `None`
/// where the claim is lost.
pub fn retry(
    tx: &mut Tx<'_>,
    claim: &Claim,
    attempt: u32,
    message: &str,
    wait: Duration,
) -> Result<Option<State>, Fault> {
    let jitter = tx.entropy().below(u64::MAX);
    let ended = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":message": text::cut(message, FAILURE_CHARS_MAX),
        ":errors_max": FAILURES_MAX,
        ":run_at": tx.now().plus(backoff(attempt, jitter).max(wait)),
        ":now": tx.now(),
    };
    tx.find(sql!("jobs.sql", "retry"), ended, state)
}

/// Puts the job back by its own wish, for `wait` (at least a tenth of a second), without counting
/// the attempt; it is cancelled where that was asked for. `None` where the claim is lost.
pub fn put_back(tx: &mut Tx<'_>, claim: &Claim, wait: Duration) -> Result<Option<State>, Fault> {
    let run_at = tx.now().plus(wait.max(LATER_MIN));
    Ok(back(tx, claim, run_at, false)?.map(|taken| taken.state))
}

/// Puts the job back for the next start of the server, as [`put_back`] but due at once.
/// `cut_short` says that the run could not end by itself.
pub fn hand_back(tx: &mut Tx<'_>, claim: &Claim, cut_short: bool) -> Result<Option<Taken>, Fault> {
    let run_at = tx.now();
    back(tx, claim, run_at, cut_short)
}

fn back(
    tx: &mut Tx<'_>,
    claim: &Claim,
    run_at: Millis,
    recovered: bool,
) -> Result<Option<Taken>, Fault> {
    let held = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":boot": claim.boot,
        ":run_at": run_at,
        ":recovered": recovered,
        ":now": tx.now(),
    };
    tx.find(sql!("jobs.sql", "put_back"), held, taken)
}

/// Claims of other starts of the server, and claims that nobody renewed: at most `limit`.
pub fn stale(read: &Read<'_>, boot: BootId, limit: u32) -> Result<Vec<Claim>, Fault> {
    let asked = params! { ":boot": boot, ":now": read.now(), ":limit": limit };
    read.list(sql!("jobs.sql", "stale"), asked, |row| {
        Ok(Claim { job: row.get("id")?, number: row.get("claims")?, boot: row.get("boot_id")? })
    })
}

/// A job that was taken from its run.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Ready again; failed where its attempts are used up; cancelled where that was asked for.
    pub state: State,
    /// Its kind.
    pub kind: String,
    /// Its payload, in JSON.
    pub payload: String,
}

/// Takes the job of a stale claim from its dead run; the attempt counts. `None` where the run
/// ended or was renewed since it was seen.
pub fn recover(tx: &mut Tx<'_>, claim: &Claim, boot: BootId) -> Result<Option<Taken>, Fault> {
    let lost = params! {
        ":id": claim.job,
        ":claims": claim.number,
        ":run_boot": claim.boot,
        ":boot": boot,
        ":message": CUT_SHORT,
        ":errors_max": FAILURES_MAX,
        ":now": tx.now(),
    };
    let recovered = tx.find(sql!("jobs.sql", "recover"), lost, taken)?;
    if recovered.as_ref().is_some_and(|job| job.state == State::Ready) {
        tx.emit(Event::JobReady);
    }
    Ok(recovered)
}

/// Running jobs of this boot that were asked to stop: at most `limit`.
pub fn cancels_asked(read: &Read<'_>, boot: BootId, limit: u32) -> Result<Vec<JobId>, Fault> {
    let asked = params! { ":boot": boot, ":limit": limit };
    read.list(sql!("jobs.sql", "cancels_asked"), asked, |row| row.get("id"))
}

/// Deletes up to `limit` jobs that ended before `before`, and says how many went.
pub fn purge(tx: &mut Tx<'_>, before: Millis, limit: u32) -> Result<usize, Fault> {
    tx.run(sql!("jobs.sql", "purge"), params! { ":before": before, ":limit": limit })
}

fn taken(row: &Row<'_>) -> Result<Taken, Fault> {
    Ok(Taken { state: state(row)?, kind: row.get("kind")?, payload: row.get("payload")? })
}

fn state(row: &Row<'_>) -> Result<State, Fault> {
    row.word("state", State::parse)
}
