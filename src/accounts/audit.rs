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
