//! A proof and its place in the chain.

use crate::base::{Fault, Millis, NodeId, ProjectId, ProofId, TenantId, TicketId};
use crate::notices::outbox::{self, Happening};
use crate::store::{Hash, Read, Row, Tx, to_int};
use crate::{params, sql, words};

/// Proofs of a ticket at most that are shown.
const PROOFS_MAX: u32 = 500;

words! {
    /// What a check found of a claim.
    pub enum Verdict {
        /// It holds.
        Proven = "proven",
        /// It does not.
        Failed = "failed",
        /// The check could not tell.
        Inconclusive = "inconclusive",
    }
}

/// A record that never changes.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The proof.
    pub id: ProofId,
    /// The ticket it belongs to.
    pub ticket: Option<TicketId>,
    /// The node that made it.
    pub node: Option<NodeId>,
    /// What sort of check made it: `command`, `file` and so on.
    pub kind: String,
    /// What was claimed.
    pub claim: String,
    /// What was found.
    pub verdict: Verdict,
    /// What the check has to say beyond that, as a JSON object of its own kind.
    pub detail: String,
    /// Who made it: the program and its version.
    pub made_by: String,
    /// When.
    pub made_at: Millis,
    /// The digest of the record before it in the tenant's chain.
    pub previous: Option<Hash>,
    /// The digest of this record.
    pub digest: Hash,
    /// What was kept.
    pub evidence: Vec<Evidence>,
}

/// A file that was kept with a proof.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// What it is.
    pub label: String,
    /// Its media type.
    pub media_type: String,
    /// Its hash.
    pub hash: Hash,
    /// Its size.
    pub size_bytes: u64,
}

/// A proof to be recorded.
#[derive(Debug, Clone)]
pub struct NewProof<'a> {
    /// The project it belongs to.
    pub project: ProjectId,
    /// The ticket it belongs to.
    pub ticket: Option<TicketId>,
    /// The node that makes it.
    pub node: Option<NodeId>,
    /// What sort of check it is.
    pub kind: &'a str,
    /// What is claimed.
    pub claim: &'a str,
    /// What was found.
    pub verdict: Verdict,
    /// A JSON object.
    pub detail: &'a str,
    /// What is kept with it.
    pub evidence: &'a [Evidence],
}

/// The program and its version, as proofs name their maker.
const MADE_BY: &str = concat!("assay ", env!("CARGO_PKG_VERSION"));

impl Proof {
    fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            ticket: row.get("ticket_id")?,
            node: row.get("node_id")?,
            kind: row.get("kind")?,
            claim: row.get("claim")?,
            verdict: row.word("verdict", Verdict::parse)?,
            detail: row.get("detail")?,
            made_by: row.get("made_by")?,
            made_at: row.get("made_at")?,
            previous: row.get("previous")?,
            digest: row.get("digest")?,
            evidence: Vec::new(),
        })
    }
}

/// Appends a proof to its tenant's chain, and tells of it.
pub fn record(tx: &mut Tx<'_>, tenant: TenantId, new: &NewProof<'_>) -> Result<ProofId, Fault> {
    let (id, now): (ProofId, _) = (tx.new_id(), tx.now());
    let newest = params! { ":tenant": tenant };
    let previous = tx.find(sql!("proofs.sql", "newest_digest"), newest, |row| row.get("digest"))?;
    let digest = digest(tenant, id, now, previous, new);
    tx.run_one(
        sql!("proofs.sql", "insert"),
        params! { ":id": id, ":tenant": tenant, ":project": new.project, ":ticket": new.ticket,
        ":node": new.node, ":kind": new.kind, ":claim": new.claim,
        ":verdict": new.verdict.word(), ":detail": new.detail, ":made_by": MADE_BY,
        ":now": now, ":previous": previous, ":digest": digest },
    )?;
    for (position, evidence) in (0_i64..).zip(new.evidence) {
        tx.run_one(
            sql!("proofs.sql", "insert_evidence"),
            params! { ":proof": id, ":tenant": tenant, ":position": position,
            ":label": evidence.label, ":media_type": evidence.media_type,
            ":hash": evidence.hash, ":size": to_int(evidence.size_bytes) },
        )?;
    }
    if let Some(ticket) = new.ticket {
        let made = Happening::Proof { id, verdict: new.verdict.word() };
        outbox::tell(tx, tenant, ticket, made, new.claim)?;
    }
    Ok(id)
}

/// The digest of a record: BLAKE3 over its fields, each preceded by its length, so that no two
/// records read alike.
fn digest(
    tenant: TenantId,
    id: ProofId,
    now: Millis,
    previous: Option<Hash>,
    new: &NewProof<'_>,
) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("assay proof record, version 1");
    let mut field = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(previous.map_or([0; 32], |hash| *hash.bytes()).as_slice());
    field(id.bytes());
    field(tenant.bytes());
    field(new.project.bytes());
    field(new.ticket.map_or([0; 16], |id| *id.bytes()).as_slice());
    field(new.node.map_or([0; 16], |id| *id.bytes()).as_slice());
    for text in [new.kind, new.claim, new.verdict.word(), new.detail, MADE_BY] {
        field(text.as_bytes());
    }
    field(&now.0.to_le_bytes());
    for evidence in new.evidence {
        field(evidence.label.as_bytes());
        field(evidence.media_type.as_bytes());
        field(evidence.hash.bytes());
    }
    Hash::from_bytes(*hasher.finalize().as_bytes())
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
