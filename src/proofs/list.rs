//! Proofs as they are looked up: one, its neighbours in the chain, a ticket's, and pages of all.

use super::proof::{Evidence, Proof, Verdict};
use crate::base::{Fault, ProjectId, ProofId, TenantId, TicketId};
use crate::store::{Read, Sql};
use crate::{params, sql};

/// Proofs of a ticket, and pieces of evidence of a proof, at most that are shown.
const PROOFS_MAX: u32 = 500;
/// Records that one page may look at to find those that are wanted; the next goes on behind them.
const LOOKED_AT_MAX: usize = 2_000;
/// Records that are read at once.
const BATCH: u32 = 200;
/// Kinds at most that are listed.
const KINDS_MAX: u32 = 50;

/// Which proofs are wanted: those that have all of what is given.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Of this ticket.
    pub ticket: Option<TicketId>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this kind.
    pub kind: Option<String>,
    /// With this verdict.
    pub verdict: Option<Verdict>,
}

impl Wanted {
    fn takes(&self, proof: &Proof) -> bool {
        self.ticket.is_none_or(|ticket| proof.ticket == Some(ticket))
            && self.project.is_none_or(|project| proof.project == project)
            && self.kind.as_ref().is_none_or(|kind| *kind == proof.kind)
            && self.verdict.is_none_or(|verdict| proof.verdict == verdict)
    }
}

/// A page of proofs, newest first, without their evidence.
#[derive(Debug, Clone)]
pub struct Page {
    /// The proofs.
    pub proofs: Vec<Proof>,
    /// The proof after which the next page begins; `None` where nothing is left.
    pub next: Option<ProofId>,
}

/// The tenant's proofs that are wanted, newest first, behind `after` where it is given: `size` at
/// most. A page may hold fewer although there are more: it then has looked at as many records as
/// one page may.
pub fn page(
    read: &Read<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    after: Option<ProofId>,
    size: usize,
) -> Result<Page, Fault> {
    let (mut proofs, mut at, mut looked_at) = (Vec::new(), after, 0);
    loop {
        let batch = batch(read, tenant, wanted, at)?;
        let is_last = batch.len() < BATCH as usize;
        looked_at += batch.len();
        for proof in batch {
            if proofs.len() == size {
                return Ok(Page { proofs, next: at });
            }
            at = Some(proof.id);
            if wanted.takes(&proof) {
                proofs.push(proof);
            }
        }
        if is_last {
            return Ok(Page { proofs, next: None });
        }
        if looked_at >= LOOKED_AT_MAX {
            return Ok(Page { proofs, next: at });
        }
    }
}

/// Some of the records among which those that are wanted stand, by the narrowest index.
fn batch(
    read: &Read<'_>,
    tenant: TenantId,
    wanted: &Wanted,
    after: Option<ProofId>,
) -> Result<Vec<Proof>, Fault> {
    let list = |sql: Sql, by: (&str, &dyn crate::store::Value)| {
        let asked: &[(&str, &dyn crate::store::Value)] =
            &[(":tenant", &tenant), (":after", &after), (":limit", &BATCH), by];
        read.list(sql, asked, Proof::from_row)
    };
    match wanted {
        Wanted { ticket: Some(ticket), .. } => {
            list(sql!("proofs.sql", "page_of_ticket"), (":ticket", ticket))
        }
        Wanted { verdict: Some(verdict), .. } if *verdict != Verdict::Proven => {
            list(sql!("proofs.sql", "page_of_verdict"), (":verdict", &verdict.word()))
        }
        Wanted { project: Some(project), .. } => {
            list(sql!("proofs.sql", "page_of_project"), (":project", project))
        }
        Wanted { kind: Some(kind), .. } => {
            list(sql!("proofs.sql", "page_of_kind"), (":kind", kind))
        }
        _ => {
            let asked = params! { ":tenant": tenant, ":after": after, ":limit": BATCH };
            read.list(sql!("proofs.sql", "page"), asked, Proof::from_row)
        }
    }
}

/// The kinds of proofs that a tenant has, by name.
pub fn kinds(read: &Read<'_>, tenant: TenantId) -> Result<Vec<String>, Fault> {
    let asked = params! { ":tenant": tenant, ":limit": KINDS_MAX };
    read.list(sql!("proofs.sql", "kinds"), asked, |row| row.get("kind"))
}

/// A tenant's proof with its evidence.
pub fn find(read: &Read<'_>, tenant: TenantId, id: ProofId) -> Result<Option<Proof>, Fault> {
    one(read, sql!("proofs.sql", "find"), tenant, id)
}

/// The proof before another in its tenant's chain, with its evidence.
pub fn before(read: &Read<'_>, tenant: TenantId, id: ProofId) -> Result<Option<Proof>, Fault> {
    one(read, sql!("proofs.sql", "before"), tenant, id)
}

/// The proof after another in its tenant's chain, with its evidence.
pub fn after(read: &Read<'_>, tenant: TenantId, id: ProofId) -> Result<Option<Proof>, Fault> {
    one(read, sql!("proofs.sql", "after"), tenant, id)
}

fn one(read: &Read<'_>, sql: Sql, tenant: TenantId, id: ProofId) -> Result<Option<Proof>, Fault> {
    let asked = params! { ":tenant": tenant, ":id": id };
    let found = read.find(sql, asked, Proof::from_row)?;
    found.map(|proof| with_evidence(read, tenant, proof)).transpose()
}

/// A ticket's proofs with their evidence, oldest first.
pub fn list_of_ticket(
    read: &Read<'_>,
    tenant: TenantId,
    ticket: TicketId,
) -> Result<Vec<Proof>, Fault> {
    let of = params! { ":tenant": tenant, ":ticket": ticket, ":limit": PROOFS_MAX };
    let proofs = read.list(sql!("proofs.sql", "list_of_ticket"), of, Proof::from_row)?;
    proofs.into_iter().map(|proof| with_evidence(read, tenant, proof)).collect()
}

/// The tenant's newest proofs, newest first, without their evidence.
pub fn list_recent(read: &Read<'_>, tenant: TenantId, limit: u32) -> Result<Vec<Proof>, Fault> {
    let of = params! { ":tenant": tenant, ":limit": limit };
    read.list(sql!("proofs.sql", "list_recent"), of, Proof::from_row)
}

fn with_evidence(read: &Read<'_>, tenant: TenantId, mut proof: Proof) -> Result<Proof, Fault> {
    let of = params! { ":tenant": tenant, ":proof": proof.id, ":limit": PROOFS_MAX };
    proof.evidence = read.list(sql!("proofs.sql", "evidence"), of, |row| {
        Ok(Evidence {
            label: row.get("label")?,
            media_type: row.get("media_type")?,
            hash: row.get("hash")?,
            size_bytes: row.unsigned("size_bytes")?,
        })
    })?;
    Ok(proof)
}
