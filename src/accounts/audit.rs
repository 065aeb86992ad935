//! The audit log: who changed what, through which door, with what outcome. Rows are only added.

use super::actor::Actor;
use crate::base::text::{cut, printable};
use crate::base::{Fault, Millis};
use crate::store::{Read, Row, Tx};
use crate::{params, sql};

/// The most rows that one page of the log holds.
pub const PAGE_MAX: usize = 200;

/// Something that was done, or tried.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The door: `mcp`, `invoke`, `browser`, `cli`.
    pub via: &'a str,
    /// What was done: a tool's name, or a verb of the same form.
    pub action: &'a str,
    /// What it was done to: an id or a name, and never a secret.
    pub subject: &'a str,
    /// `ok`, or the code of the failure.
    pub outcome: &'a str,
    /// The request, as the logs name it; empty where there was none.
    pub request: &'a str,
}

/// A row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number; later rows have greater ones.
    pub n: i64,
    /// When.
    pub at: Millis,
    /// Who, as [`Actor::label`] says it.
    pub actor: String,
    /// Through which door.
    pub via: String,
    /// What was done.
    pub action: String,
    /// To what.
    pub subject: String,
    /// How it went.
    pub outcome: String,
    /// In which request.
    pub request: String,
}

impl Record {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            n: row.get("n")?,
            at: row.get("at")?,
            actor: row.get("actor")?,
            via: row.get("via")?,
            action: row.get("action")?,
            subject: row.get("subject")?,
            outcome: row.get("outcome")?,
            request: row.get("request_id")?,
        })
    }
}

/// Adds a row, in the transaction of what it tells of.
pub fn record(tx: &mut Tx<'_>, actor: &Actor, entry: Entry<'_>) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("accounts.sql", "record_audit"),
        params! {
            ":tenant": actor.tenant,
            ":now": now,
            ":actor": actor.label(),
            ":via": entry.via,
            ":action": entry.action,
            ":subject": cut(&printable(entry.subject), 300),
            ":outcome": entry.outcome,
            ":request": entry.request,
        },
    )
}

/// A tenant's rows, newest first: at most `limit` and never more than [`PAGE_MAX`], of those
/// numbered below `before` where it is given.
pub fn list(
    read: &Read<'_>,
    actor: &Actor,
    limit: usize,
    before: Option<i64>,
) -> Result<Vec<Record>, Fault> {
    let limit = i64::try_from(limit.clamp(1, PAGE_MAX)).unwrap_or(1);
    let before = before.unwrap_or(i64::MAX);
    let params = params! { ":tenant": actor.tenant, ":before": before, ":limit": limit };
    read.list(sql!("accounts.sql", "list_audit"), params, Record::from_row)
}

/// Rows that one page may look at to find those that are wanted; the next goes on behind them.
const LOOKED_AT_MAX: usize = 5_000;

/// Which rows are wanted: those that match all of what is given.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Who did it, or a part of that, in any case; empty for everybody.
    pub who: String,
    /// What was done, or a part of that, in any case; empty for everything.
    pub action: String,
    /// Not before this moment.
    pub from: Option<Millis>,
    /// Before this moment.
    pub until: Option<Millis>,
}

impl Wanted {
    fn takes(&self, record: &Record) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        has(&record.actor, self.who.trim())
            && has(&record.action, self.action.trim())
            && self.from.is_none_or(|from| record.at >= from)
            && self.until.is_none_or(|until| record.at < until)
    }
}

/// A page of the log, newest first.
#[derive(Debug, Clone)]
pub struct Page {
    /// The rows.
    pub records: Vec<Record>,
    /// Below which number the next page begins; `None` where nothing is left.
    pub next: Option<i64>,
}

/// A tenant's rows that are wanted, of those numbered below `before` where it is given. A page may
/// hold fewer than `size` although there are more: it then has looked at as many as one page may.
pub fn page(
    read: &Read<'_>,
    actor: &Actor,
    wanted: &Wanted,
    before: Option<i64>,
    size: usize,
) -> Result<Page, Fault> {
    let (mut records, mut looked_at) = (Vec::new(), 0);
    let mut at = match (before, wanted.until) {
        (None, Some(until)) => Some(first_from(read, actor, until)?),
        (before, _) => before,
    };
    loop {
        let some = list(read, actor, PAGE_MAX, at)?;
        let is_last = some.len() < PAGE_MAX;
        looked_at += some.len();
        for record in some {
            if records.len() == size {
                return Ok(Page { records, next: at });
            }
            at = Some(record.n);
            if wanted.from.is_some_and(|from| record.at < from) {
                return Ok(Page { records, next: None });
            }
            if wanted.takes(&record) {
                records.push(record);
            }
        }
        if is_last || looked_at >= LOOKED_AT_MAX {
            return Ok(Page { records, next: at.filter(|_| !is_last) });
        }
    }
}

/// The number of the tenant's first row that is not before a moment. Rows are numbered as they are
/// written, and so by their time: it is found by halving.
fn first_from(read: &Read<'_>, actor: &Actor, moment: Millis) -> Result<i64, Fault> {
    let at_most = |n: i64| list(read, actor, 1, Some(n)).map(|rows| rows.into_iter().next());
    let Some(newest) = at_most(i64::MAX)? else { return Ok(i64::MAX) };
    // All rows up to `low` are before the moment, and all from `high` on are not.
    let (mut low, mut high) = (0, newest.n + 1);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match at_most(middle + 1)? {
            Some(row) if row.at >= moment => high = row.n,
            _ => low = middle,
        }
    }
    Ok(high)
}
