//! Who does a node from an editor: leases, and what their holders say. What follows from them for
//! the ticket is [`crate::tickets::pipeline::claim`].

use std::time::Duration;

use crate::accounts::Actor;
use crate::base::{ClaimId, Code, Fault, KeyId, Millis, NodeId, TenantId, TicketId};
use crate::store::{Read, Row, Tx, to_int};
use crate::{params, sql, words};

/// How long a lease lasts where its taker says nothing.
pub const LEASE: Duration = Duration::from_mins(15);

/// Leases of a ticket at most that are looked at, and due ones that are ended at a time.
const CLAIMS_MAX: u32 = 200;

/// Lines that a holder may say of one claim at most.
const LINES_MAX: u64 = 5_000;

words! {
    /// How a claim ended.
    pub enum EndedAs {
        /// Its holder handed a report in.
        Reported = "reported",
        /// Its holder gave the node back.
        Released = "released",
        /// Its lease ran out.
        Lapsed = "lapsed",
        /// The ticket ended meanwhile.
        Cancelled = "cancelled",
    }
}

/// What a holder says that it has used since it claimed the node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used {
    /// The model.
    pub model: Option<String>,
    /// Agent turns.
    pub turns: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar.
    pub cost_micros: u64,
}

/// A node that somebody does from an editor, or did.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The claim.
    pub id: ClaimId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The ticket.
    pub ticket: TicketId,
    /// The node.
    pub node: NodeId,
    /// The node's attempt since it was taken.
    pub attempt: u32,
    /// The key that took it; none where a person's login did.
    pub key: Option<KeyId>,
    /// Who took it, in the words of the audit log.
    pub holder: String,
    /// What the holder calls its agent.
    pub agent: String,
    /// The tip of the branch when it was taken, once the work tree was there.
    pub head: Option<String>,
    /// How long the lease lasts from each report.
    pub lease: Duration,
    /// When it lapses.
    pub lease_until: Millis,
    /// What the holder said last.
    pub said: Option<String>,
    /// How far it is, as the holder says.
    pub percent: Option<u32>,
    /// What it used so far.
    pub used: Used,
    /// When it was taken.
    pub claimed_at: Millis,
    /// How it ended, once it has.
    pub ended_as: Option<EndedAs>,
}

impl Claim {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            ticket: row.get("ticket_id")?,
            node: row.get("node_id")?,
            attempt: row.get("attempt")?,
            key: row.get("key_id")?,
            holder: row.get("holder")?,
            agent: row.get("agent")?,
            head: row.get("head")?,
            lease: Duration::from_millis(row.unsigned("lease_ms")?),
            lease_until: row.get("lease_until")?,
            said: row.get("said")?,
            percent: row.get("percent")?,
            used: Used {
                model: row.get("model")?,
                turns: row.unsigned("turns")?,
                input_tokens: row.unsigned("input_tokens")?,
                output_tokens: row.unsigned("output_tokens")?,
                cost_micros: row.unsigned("cost_micros")?,
            },
            claimed_at: row.get("claimed_at")?,
            ended_as: row.word_or_null("ended_as", EndedAs::parse)?,
        })
    }

    /// Whether the caller took it, or may act for whoever did.
    #[must_use]
    pub fn is_held_by(&self, actor: &Actor) -> bool {
        let is_own = match self.key {
            Some(key) => actor.key() == Some(key),
            None => actor.key().is_none() && actor.label() == self.holder,
        };
        is_own || actor.is_admin()
    }

    /// Whether its holder may still report at that moment.
    #[must_use]
    pub fn is_open_at(&self, now: Millis) -> bool {
        self.ended_as.is_none() && now < self.lease_until
    }

    /// The answer to whoever reports on a claim that is over, and what to do.
    #[must_use]
    pub fn over(&self) -> Fault {
        let message = match self.ended_as {
            Some(EndedAs::Cancelled) => {
                "The ticket has ended, and the claim with it. Stop working on the node; nothing of \
                 it is taken any more."
            }
            Some(EndedAs::Reported) => {
                "A report was handed in for this claim already. Claim another node with \
                 claim_ticket_node."
            }
            Some(EndedAs::Released) => {
                "The claim was released, and the node went back. Claim it again with \
                 claim_ticket_node."
            }
            Some(EndedAs::Lapsed) | None => {
                "The lease has lapsed, and the node went back. What is in the work tree is still \
                 there: claim the node again with claim_ticket_node and its ticket, and report \
                 in time."
            }
        };
        Fault::new(Code::Conflict, message)
    }
}

/// The claim with this id.
pub fn find(read: &Read<'_>, tenant: TenantId, id: ClaimId) -> Result<Option<Claim>, Fault> {
    let of = params! { ":tenant": tenant, ":id": id };
    read.find(sql!("claims.sql", "find"), of, Claim::from_row)
}

/// The claim with this id, if the caller may act on it and it is not over.
pub fn held(read: &Read<'_>, actor: &Actor, id: ClaimId) -> Result<Claim, Fault> {
    let none = || Fault::new(Code::NotFound, "There is no such claim, or it is not yours.");
    let claim = find(read, actor.tenant, id)?.ok_or_else(none)?;
    if !claim.is_held_by(actor) {
        return Err(none());
    }
    if claim.is_open_at(read.now()) { Ok(claim) } else { Err(claim.over()) }
}

/// The claim under which a node is done now.
pub fn of_node(read: &Read<'_>, tenant: TenantId, node: NodeId) -> Result<Option<Claim>, Fault> {
    let of = params! { ":tenant": tenant, ":node": node };
    read.find(sql!("claims.sql", "open_of_node"), of, Claim::from_row)
}

/// Whether a node's start is somebody's claim and not over, whose ever it is.
pub fn is_open(read: &Read<'_>, node: NodeId, attempt: u32) -> Result<bool, Fault> {
    let of = params! { ":node": node, ":attempt": attempt };
    Ok(read.find(sql!("claims.sql", "is_open"), of, |_| Ok(()))?.is_some())
}

/// A ticket's claims, newest first.
pub fn of_ticket(read: &Read<'_>, tenant: TenantId, ticket: TicketId) -> Result<Vec<Claim>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": CLAIMS_MAX };
    read.list(sql!("claims.sql", "of_ticket"), of, Claim::from_row)
}

/// Claims whose lease is over and that nobody has ended, whose ever they are.
pub fn due(read: &Read<'_>) -> Result<Vec<Claim>, Fault> {
    let now = read.now();
    let of = params! { ":now": now, ":limit": CLAIMS_MAX };
    read.list(sql!("claims.sql", "due"), of, Claim::from_row)
}

/// A claim to make.
#[derive(Debug, Clone)]
pub struct Taker {
    /// The key that takes it.
    pub key: Option<KeyId>,
    /// Who takes it, in the words of the audit log.
    pub holder: String,
    /// What the taker calls its agent.
    pub agent: String,
    /// How long the lease lasts from each report.
    pub lease: Duration,
}

/// Makes the claim of a node that was just taken.
pub(super) fn make(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    (ticket, node, attempt): (TicketId, NodeId, u32),
    taker: &Taker,
) -> Result<Claim, Fault> {
    let (id, now): (ClaimId, _) = (tx.new_id(), tx.now());
    let lease_ms = i64::try_from(taker.lease.as_millis()).unwrap_or(i64::MAX);
    tx.run_one(
        sql!("claims.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":ticket": ticket, ":node": node,
        ":attempt": attempt, ":key": taker.key, ":holder": taker.holder, ":agent": taker.agent,
        ":lease_ms": lease_ms, ":until": now.plus(taker.lease), ":now": now },
    )?;
    find(tx, tenant, id)?.ok_or_else(|| Fault::internal("a claim that was made is gone"))
}

/// Notes where the branch stood when the node was taken.
pub fn note_head(tx: &mut Tx<'_>, claim: &Claim, head: &str) -> Result<(), Fault> {
    let of = params! { ":tenant": claim.tenant, ":id": claim.id, ":head": head };
    tx.run_one(sql!("claims.sql", "note_head"), of)
}

/// Extends the lease by its own length and at least by `least`. The fault where it is over.
pub fn extend(tx: &mut Tx<'_>, claim: &Claim, least: Duration) -> Result<Claim, Fault> {
    let now = tx.now();
    let until = now.plus(claim.lease.max(least));
    let of = params! { ":tenant": claim.tenant, ":id": claim.id, ":now": now, ":until": until };
    let extended = tx.run(sql!("claims.sql", "extend"), of)?;
    let found = find(tx, claim.tenant, claim.id)?;
    let found = found.ok_or_else(|| Fault::internal("a claim is gone"))?;
    if extended == 1 { Ok(found) } else { Err(found.over()) }
}

/// Notes what a holder says: what it does, how far it is, what it has used since it took the node.
pub fn say(
    tx: &mut Tx<'_>,
    claim: &Claim,
    said: Option<&str>,
    percent: Option<u32>,
    used: &Used,
) -> Result<(), Fault> {
    let (tenant, id) = (claim.tenant, claim.id);
    let last = said.or(claim.said.as_deref());
    tx.run_one(
        sql!("claims.sql", "say"),
        params! { ":tenant": tenant, ":id": id, ":said": last, ":percent": percent,
        ":model": used.model, ":turns": to_int(used.turns), ":input": to_int(used.input_tokens),
        ":output": to_int(used.output_tokens), ":cost": to_int(used.cost_micros) },
    )?;
    let Some(said) = said else { return Ok(()) };
    let of = params! { ":tenant": tenant, ":claim": id };
    let lines = tx.find(sql!("claims.sql", "count_lines"), of, |row| row.unsigned("lines"))?;
    if lines.unwrap_or(0) < LINES_MAX {
        let line = params! { ":tenant": tenant, ":claim": id, ":text": said };
        tx.run_one(sql!("claims.sql", "add_line"), line)?;
    }
    Ok(())
}

/// What a holder has said, in its order.
pub fn lines(read: &Read<'_>, claim: &Claim) -> Result<Vec<String>, Fault> {
    let of = params! { ":tenant": claim.tenant, ":claim": claim.id,
    ":limit": to_int(LINES_MAX) };
    read.list(sql!("claims.sql", "lines"), of, |row| row.get("text"))
}

/// Ends a claim; what was said stands in the node's log by then. `false` where it was over already.
pub fn close(tx: &mut Tx<'_>, claim: &Claim, how: EndedAs) -> Result<bool, Fault> {
    let (tenant, id, now) = (claim.tenant, claim.id, tx.now());
    let of = params! { ":tenant": tenant, ":id": id, ":now": now, ":as": how.word() };
    let closed = tx.run(sql!("claims.sql", "close"), of)?;
    if closed == 1 {
        tx.run(sql!("claims.sql", "forget_lines"), params! { ":tenant": tenant, ":claim": id })?;
    }
    Ok(closed == 1)
}
