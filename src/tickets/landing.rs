//! The record of putting a ticket's work on its base branch. The intent is written before the
//! branch moves and settled after it has, so a crash between the two is found and finished.

use crate::base::{Fault, LandingId, TenantId, TicketId};
use crate::notices::outbox::{self, Happening};
use crate::store::{Read, Row, Tx};
use crate::tickets::timeline::{self, Happened, Line, SERVER};
use crate::{params, sql, words};

/// Open landings on one branch that are looked at; one at a time lands, so there are few.
const INTENDED_MAX: u32 = 100;

words! {
    /// How a landing stands.
    pub enum LandingState {
        /// About to move the base branch.
        Intended = "intended",
        /// Moved it.
        Landed = "landed",
        /// Did not, and never will.
        Abandoned = "abandoned",
    }
}

/// A landing.
#[derive(Debug, Clone)]
pub struct Landing {
    /// The landing.
    pub id: LandingId,
    /// The branch that moves.
    pub base_branch: String,
    /// Where it stood.
    pub base_before: String,
    /// Where it is to stand.
    pub commit: String,
    /// The head of the ticket's branch that it brings.
    pub head: String,
    /// How it stands.
    pub state: LandingState,
}

impl Landing {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            base_branch: row.get("base_branch")?,
            base_before: row.get("base_before")?,
            commit: row.get("commit_sha")?,
            head: row.get("head_sha")?,
            state: row.word("state", LandingState::parse)?,
        })
    }
}

/// The landing of a ticket that is neither settled nor abandoned.
pub fn intended(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Option<Landing>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    read.find(sql!("landings.sql", "intended"), of, Landing::from_row)
}

/// Landings on a branch of a repository that are neither settled nor abandoned, whosever they are.
pub fn intended_in(
    read: &Read<'_>,
    repository: &str,
    base_branch: &str,
) -> Result<Vec<Landing>, Fault> {
    let there = params! { ":repository": repository, ":base_branch": base_branch,
    ":limit": INTENDED_MAX };
    read.list(sql!("landings.sql", "intended_in"), there, Landing::from_row)
}

/// The landing that put a ticket on its base branch.
pub fn landed(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Option<Landing>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket };
    read.find(sql!("landings.sql", "landed"), of, Landing::from_row)
}

/// What is about to happen to a base branch.
#[derive(Debug, Clone)]
pub struct Intent<'a> {
    /// The repository, as its project names it.
    pub repository: &'a str,
    /// The branch that moves.
    pub base_branch: &'a str,
    /// Where it stands.
    pub base_before: &'a str,
    /// Where it is to stand.
    pub commit: &'a str,
    /// The head of the ticket's branch that it brings.
    pub head: &'a str,
}

/// Writes an intent.
pub fn intend(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    intent: &Intent<'_>,
) -> Result<LandingId, Fault> {
    let (id, now): (LandingId, _) = (tx.new_id(), tx.now());
    tx.run_one(
        sql!("landings.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":ticket": ticket,
        ":repository": intent.repository, ":base_branch": intent.base_branch,
        ":base_before": intent.base_before, ":commit": intent.commit, ":head": intent.head,
        ":now": now },
    )?;
    Ok(id)
}

/// Settles an intent: the branch has moved. Notes the commit on the ticket.
pub fn settle(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    landing: LandingId,
    commit: &str,
) -> Result<(), Fault> {
    set_state(tx, tenant, landing, LandingState::Landed)?;
    tx.run_one(
        sql!("tickets.sql", "set_commit"),
        params! { ":tenant": tenant, ":id": ticket, ":commit": commit },
    )?;
    let said = format!("Landed as {}.", commit.get(..12).unwrap_or(commit));
    let line = Line { happened: Happened::Landed, actor: SERVER, text: &said, node: None };
    timeline::record(tx, tenant, ticket, line)?;
    outbox::tell(tx, tenant, ticket, Happening::Landed, "Landed.")
}

/// Gives an intent up: the branch did not move and will not.
pub fn abandon(tx: &mut Tx<'_>, tenant: TenantId, landing: LandingId) -> Result<(), Fault> {
    set_state(tx, tenant, landing, LandingState::Abandoned)
}

fn set_state(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    landing: LandingId,
    state: LandingState,
) -> Result<(), Fault> {
    let now = tx.now();
    tx.run_one(
        sql!("landings.sql", "set_state"),
        params! { ":tenant": tenant, ":id": landing, ":state": state.word(), ":now": now },
    )
}

/// Notes on a ticket how putting it on the base branch went.
pub fn set_merge_status(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    ticket: TicketId,
    status: &str,
) -> Result<(), Fault> {
    tx.run_one(
        sql!("tickets.sql", "set_merge_status"),
        params! { ":tenant": tenant, ":id": ticket, ":merge": status },
    )
}
