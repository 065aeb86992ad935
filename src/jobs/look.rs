//! A tenant's jobs as a person looks at them: how many there are, and pages of them.

use super::job::{JobRecord, State};
use super::queue::record;
use crate::base::{Fault, JobId, Millis, TenantId};
use crate::store::{Read, Row};
use crate::{params, sql};

/// Open jobs that are counted one by one; beyond them a count only says that there are more.
const COUNTED_MAX: u32 = 5_000;
/// Kinds at most that are counted.
const KINDS_MAX: u32 = 100;

/// Which jobs of a tenant are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// In this state.
    pub state: State,
    /// Of this kind; every kind where it is absent.
    pub kind: Option<String>,
}

/// A page of jobs, newest first.
#[derive(Debug, Clone)]
pub struct Page {
    /// The jobs.
    pub jobs: Vec<JobRecord>,
    /// The job after which the next page begins; `None` where nothing is left.
    pub next: Option<JobId>,
}

/// The tenant's jobs that are wanted, newest first, behind `after` where it is given.
pub fn page(
    read: &Read<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    after: Option<JobId>,
    size: u32,
) -> Result<Page, Fault> {
    let (state, kind) = (wanted.state.word(), &wanted.kind);
    let asked = params! { ":tenant": tenant, ":state": state, ":kind": kind, ":after": after,
    ":limit": size + 1 };
    let mut jobs = read.list(sql!("jobs.sql", "page"), asked, record)?;
    let has_more = jobs.len() > size as usize;
    jobs.truncate(size as usize);
    let next = jobs.last().filter(|_| has_more).map(|job| job.id);
    Ok(Page { jobs, next })
}

/// What of a tenant's work is open, of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The kind.
    pub kind: String,
    /// Jobs that run.
    pub running: u64,
    /// Jobs that wait for a free place.
    pub waiting: u64,
    /// Jobs whose time has not come.
    pub later: u64,
    /// Since when the job that is due longest waits.
    pub oldest: Option<Millis>,
}

impl Counted {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            kind: row.get("kind")?,
            running: row.unsigned("running")?,
            waiting: row.unsigned("waiting")?,
            later: row.unsigned("later")?,
            oldest: row.get("oldest")?,
        })
    }
}

/// Counts a tenant's open jobs, by kind, and says whether there are more than were counted.
pub fn count(read: &Read<'_>, tenant: TenantId) -> Result<(Vec<Counted>, bool), Fault> {
    let asked = params! { ":tenant": tenant, ":now": read.now(), ":counted": COUNTED_MAX,
    ":limit": KINDS_MAX };
    let counted = read.list(sql!("jobs.sql", "count_of_tenant"), asked, Counted::from_row)?;
    let all: u64 = counted.iter().map(|one| one.running + one.waiting + one.later).sum();
    // Those that run and those that are ready are each counted up to the bound.
    Ok((counted, all >= u64::from(COUNTED_MAX)))
}

/// Open jobs of all tenants that are counted one by one; a count never goes beyond.
const DEPTH_MAX: u32 = 20_000;

/// What is open of one kind, of all tenants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    /// The kind.
    pub kind: String,
    /// Jobs that run.
    pub running: u64,
    /// Jobs that wait for a free place.
    pub due: u64,
    /// Jobs whose time has not come.
    pub later: u64,
    /// Since when the job waits that is due longest.
    pub oldest: Option<Millis>,
}

/// How deep the queue is, by kind.
pub fn depth(read: &Read<'_>) -> Result<Vec<Depth>, Fault> {
    let asked = params! { ":now": read.now(), ":counted": DEPTH_MAX, ":limit": KINDS_MAX };
    read.list(sql!("jobs.sql", "depth"), asked, |row| {
        Ok(Depth {
            kind: row.get("kind")?,
            running: row.unsigned("running")?,
            due: row.unsigned("due")?,
            later: row.unsigned("later")?,
            oldest: row.get("oldest")?,
        })
    })
}
