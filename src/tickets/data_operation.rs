//! The record of a data operation's script being run on live data. One approval allows one run. It
//! is written down before the script starts and settled after it has ended, so a script that may
//! have run is never run again by itself.

use crate::base::{Fault, QuestionId, TenantId, TicketId};
use crate::store::{Read, Row, Tx};
use crate::tickets::Ticket;
use crate::{params, sql, words};

words! {
    /// How a run stands.
    pub enum RunState {
        /// About to start, or cut short.
        Intended = "intended",
        /// Ended well; the ticket's script never runs again.
        Applied = "applied",
        /// Ended badly. Another run needs another approval.
        Failed = "failed",
        /// Never ran, as a person says. Another run needs another approval.
        Abandoned = "abandoned",
    }
}

/// A run of a script on live data.
#[derive(Debug, Clone)]
pub struct Run {
    /// The approval that allowed it.
    pub approval: QuestionId,
    /// The commit whose script it is.
    pub commit: String,
    /// How it stands.
    pub state: RunState,
}

impl Run {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            approval: row.get("approval_id")?,
            commit: row.get("commit_sha")?,
            state: row.word("state", RunState::parse)?,
        })
    }
}

/// Where a data operation's script stands in the repository: `data-operations/ACME-42.sh`.
#[must_use]
pub fn script(ticket: &Ticket) -> String {
    format!("data-operations/{}.sh", ticket.reference().trim_start_matches('#'))
}

/// The newest run of a ticket's script.
pub fn newest(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Option<Run>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    read.find(sql!("data_operations.sql", "newest"), of, Run::from_row)
}

/// Whether a ticket's script has run to a good end.
pub fn is_applied(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<bool, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    let applied = sql!("data_operations.sql", "applied");
    Ok(read.find(applied, of, |row| row.get::<String>("commit_sha"))?.is_some())
}

/// Notes that the script of a commit is about to run.
pub fn intend(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    approval: QuestionId,
    commit: &str,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("data_operations.sql", "insert"),
        params! { ":approval": approval, ":tenant": tenant, ":ticket": ticket,
        ":commit": commit, ":now": now },
    )
}

/// Notes what the run came to that is still noted as intended.
pub fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    state: RunState,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("data_operations.sql", "settle"),
        params! { ":tenant": tenant, ":ticket": ticket, ":state": state.word(), ":now": now },
    )
}
