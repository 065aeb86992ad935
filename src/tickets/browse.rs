//! A list of tickets as a person asks for it: narrowed by several things at once, in one of four
//! orders, a page at a time. What no index knows is looked for in a bounded number of tickets, and
//! the next page goes on behind them.

use super::glimpses::{self, Glimpse, last_changed, newest, oldest};
use super::search::{self, Search};
use super::states::{Kind, Status};
use super::ticket::{Of, Ticket};
use crate::base::{CategoryId, Fault, ProjectId, TenantId};
use crate::store::Read;
use crate::words;

/// Tickets that one page may look at to find those that fit.
const LOOKED_AT_MAX: usize = 5_000;

/// Tickets that are looked at at once, once the first ones were not enough.
const AT_ONCE: usize = 500;

/// Tickets that are put in order in memory at most, where no index has their order.
const FEW_MAX: u32 = 300;

words! {
    /// The order of a list.
    pub enum Sort {
        /// What was filed last comes first.
        Newest = "newest",
        /// What was filed first comes first.
        Oldest = "oldest",
        /// What last began, ended or was filed comes first.
        Changed = "changed",
        /// What wants a person comes first.
        Attention = "attention",
    }
}

/// The statuses as a person looks after them: what asks, what went wrong, what moves, what rests.
pub const BY_ATTENTION: [Status; 8] = [
    Status::AwaitingInput,
    Status::Failed,
    Status::Timeout,
    Status::Running,
    Status::Blocked,
    Status::Queued,
    Status::Succeeded,
    Status::Cancelled,
];

/// What a list is narrowed to. All of it must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Words that must all be in title, description or ref; see [`search::words`].
    pub words: Vec<String>,
    /// One of these; any where there is none.
    pub statuses: Vec<Status>,
    /// This project's.
    pub project: Option<ProjectId>,
    /// Under this category.
    pub category: Option<CategoryId>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Asked for by somebody whose name or address has this in it.
    pub requester: Option<String>,
}

/// A place in a list, behind which its next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// What the list is sorted by before the order of filing, if by anything.
    major: i64,
    n: i64,
}

impl Place {
    /// The place as an address says it.
    #[must_use]
    pub fn said(self) -> String {
        format!("{}.{}", self.major, self.n)
    }

    /// The place that an address says, if it says one.
    #[must_use]
    pub fn parse(said: &str) -> Option<Self> {
        let (major, n) = said.split_once('.')?;
        Some(Self { major: major.parse().ok()?, n: n.parse().ok()? })
    }
}

/// A page of a list.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The tickets, in the order that was asked for.
    pub tickets: Vec<Ticket>,
    /// Where the next page begins, if there is one.
    pub next: Option<Place>,
    /// Whether the page ended early, because enough tickets were looked at.
    pub is_cut: bool,
}

impl Filter {
    fn of(&self) -> Of {
        match (self.category, self.project) {
            (Some(category), _) => Of::Category(category),
            (None, Some(project)) => Of::Project(project),
            (None, None) => Of::Tenant,
        }
    }

    fn fits(&self, ticket: &Glimpse) -> bool {
        let status = self.statuses.is_empty() || self.statuses.contains(&ticket.status);
        let category = self.category.is_none_or(|id| ticket.category == Some(id));
        let project = self.project.is_none_or(|id| id == ticket.project);
        let kind = self.kind.is_none_or(|kind| kind == ticket.kind);
        status && category && project && kind && self.is_asked_by(ticket)
    }

    fn is_asked_by(&self, ticket: &Glimpse) -> bool {
        let Some(wanted) = self.requester.as_ref().map(|wanted| wanted.to_lowercase()) else {
            return true;
        };
        let named = [ticket.requester_name.as_deref(), ticket.requester_email.as_deref()];
        let is_named = named.iter().any(Option::is_some);
        let filed = Some(ticket.filed_by.as_str()).filter(|_| !is_named);
        let mut said = named.into_iter().chain([filed]).flatten();
        said.any(|said| said.to_lowercase().contains(&wanted))
    }
}

/// A page of at most `limit` tickets, behind `from` if given.
pub fn page(
    read: &Read<'_>,
    tenant: TenantId,
    filter: &Filter,
    sort: Sort,
    from: Option<Place>,
    limit: usize,
) -> Result<Found, Fault> {
    if let Some(few) = few(read, tenant, filter, sort)? {
        let (picked, next) = page_of(few, sort, from, limit);
        return Ok(Found { tickets: glimpses::load(read, tenant, &picked)?, next, is_cut: false });
    }
    let (mut picked, mut at, mut looked_at) = (Vec::new(), from, 0);
    let done = |picked: &[Glimpse], next, is_cut| {
        Ok(Found { tickets: glimpses::load(read, tenant, picked)?, next, is_cut })
    };
    loop {
        let size = if looked_at == 0 { limit + 1 } else { AT_ONCE };
        let some = batch(read, tenant, filter, sort, at, size)?;
        let is_last = some.len() < size;
        looked_at += some.len();
        for ticket in some {
            if picked.len() == limit {
                return done(&picked, at, false);
            }
            at = Some(place(&ticket, sort));
            if filter.fits(&ticket) {
                picked.push(ticket);
            }
        }
        if is_last {
            return done(&picked, None, false);
        }
        if looked_at >= LOOKED_AT_MAX {
            return done(&picked, at, true);
        }
    }
}

fn place(ticket: &Glimpse, sort: Sort) -> Place {
    let major = match sort {
        Sort::Newest | Sort::Oldest => 0,
        Sort::Changed => ticket.changed_at.0,
        Sort::Attention => rank(ticket.status),
    };
    Place { major, n: ticket.n }
}

fn rank(status: Status) -> i64 {
    let at = BY_ATTENTION.iter().position(|other| *other == status).unwrap_or_default();
    i64::try_from(at).unwrap_or_default()
}

/// Every ticket that fits, where an order is asked for that no index has and they are few: the
/// newest that have the words, or those of statuses that few tickets have.
fn few(
    read: &Read<'_>,
    tenant: TenantId,
    filter: &Filter,
    sort: Sort,
) -> Result<Option<Vec<Glimpse>>, Fault> {
    let is_odd = matches!(sort, Sort::Changed | Sort::Attention);
    let mut all = Vec::new();
    if !filter.words.is_empty() && (is_odd || sort == Sort::Oldest) {
        all = find_words(read, tenant, filter, None, FEW_MAX)?;
    } else if sort == Sort::Changed && !filter.statuses.is_empty() {
        for status in &filter.statuses {
            let some = newest(read, tenant, filter.of(), Some(*status), FEW_MAX, None)?;
            if some.len() >= FEW_MAX as usize {
                return Ok(None);
            }
            all.extend(some);
        }
    } else {
        return Ok(None);
    }
    all.retain(|ticket| filter.fits(ticket));
    Ok(Some(all))
}

/// The tickets of a page, and where the next one begins.
fn page_of(
    mut all: Vec<Glimpse>,
    sort: Sort,
    from: Option<Place>,
    limit: usize,
) -> (Vec<Glimpse>, Option<Place>) {
    let key = |place: Place| match sort {
        Sort::Newest => (0, -place.n),
        Sort::Oldest => (0, place.n),
        Sort::Changed => (-place.major, -place.n),
        Sort::Attention => (place.major, -place.n),
    };
    all.sort_by_key(|ticket| key(place(ticket, sort)));
    if let Some(from) = from {
        all.retain(|ticket| key(place(ticket, sort)) > key(from));
    }
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(|last| place(last, sort));
    (all, next)
}

fn find_words(
    read: &Read<'_>,
    tenant: TenantId,
    filter: &Filter,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Glimpse>, Fault> {
    let asked = Search {
        words: filter.words.clone(),
        projects: filter.project.map(|project| vec![project]),
        ..Search::default()
    };
    let found = search::search(read, tenant, &asked, before, limit)?;
    Ok(found.into_iter().map(Glimpse::of).collect())
}

/// The next tickets that may fit, at most `size` of them.
fn batch(
    read: &Read<'_>,
    tenant: TenantId,
    filter: &Filter,
    sort: Sort,
    at: Option<Place>,
    size: usize,
) -> Result<Vec<Glimpse>, Fault> {
    let limit = u32::try_from(size).unwrap_or(FEW_MAX);
    let n = at.map(|at| at.n);
    match sort {
        Sort::Newest if !filter.words.is_empty() => find_words(read, tenant, filter, n, limit),
        Sort::Newest => merged(filter, size, Order::Newest, |status| {
            newest(read, tenant, filter.of(), status, limit, n)
        }),
        Sort::Oldest => merged(filter, size, Order::Oldest, |status| {
            oldest(read, tenant, filter.of(), status, limit, n)
        }),
        Sort::Changed => {
            let from = at.map_or((i64::MAX, i64::MAX), |at| (at.major, at.n));
            last_changed(read, tenant, filter.project, from, limit)
        }
        Sort::Attention => by_attention(read, tenant, filter, at, size),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Newest,
    Oldest,
}

/// The first of the lists of several statuses, as one list.
fn merged(
    filter: &Filter,
    size: usize,
    order: Order,
    list: impl Fn(Option<Status>) -> Result<Vec<Glimpse>, Fault>,
) -> Result<Vec<Glimpse>, Fault> {
    if filter.statuses.is_empty() {
        return list(None);
    }
    let mut all = Vec::new();
    for status in &filter.statuses {
        all.extend(list(Some(*status))?);
    }
    let sign = if order == Order::Newest { -1 } else { 1 };
    all.sort_by_key(|ticket| sign * ticket.n);
    all.truncate(size);
    Ok(all)
}

fn by_attention(
    read: &Read<'_>,
    tenant: TenantId,
    filter: &Filter,
    at: Option<Place>,
    size: usize,
) -> Result<Vec<Glimpse>, Fault> {
    let wanted = |status: &Status| filter.statuses.is_empty() || filter.statuses.contains(status);
    let mut all = Vec::new();
    for status in BY_ATTENTION.into_iter().filter(wanted) {
        let before = match at {
            Some(at) if rank(status) < at.major => continue,
            Some(at) if rank(status) == at.major => Some(at.n),
            _ => None,
        };
        let left = u32::try_from(size - all.len()).unwrap_or(FEW_MAX);
        all.extend(newest(read, tenant, filter.of(), Some(status), left, before)?);
        if all.len() >= size {
            break;
        }
    }
    Ok(all)
}
