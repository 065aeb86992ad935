//! A proof and its place in the chain.

use crate::base::{Fault, Millis, NodeId, ProjectId, ProofId, TenantId, TicketId};
use crate::notices::outbox::{self, Happening};
use crate::store::{Hash, Row, Tx, to_int};
use crate::{params, sql, words};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The proof.
    pub id: ProofId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The project it belongs to.
    pub project: ProjectId,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant_id")?,
            project: row.get("project_id")?,
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

    /// The digest that the record should have: BLAKE3 over its fields, each preceded by its length,
    /// so that no two records read alike. Its evidence must be there.
    #[must_use]
    pub fn digest_of_content(&self) -> Hash {
        let mut hasher = blake3::Hasher::new_derive_key("assay proof record, version 1");
        let mut field = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        field(self.previous.map_or([0; 32], |hash| *hash.bytes()).as_slice());
        field(self.id.bytes());
        field(self.tenant.bytes());
        field(self.project.bytes());
        field(self.ticket.map_or([0; 16], |id| *id.bytes()).as_slice());
        field(self.node.map_or([0; 16], |id| *id.bytes()).as_slice());
        for text in [&*self.kind, &*self.claim, self.verdict.word(), &*self.detail, &*self.made_by]
        {
            field(text.as_bytes());
        }
        field(&self.made_at.0.to_le_bytes());
        for evidence in &self.evidence {
            field(evidence.label.as_bytes());
            field(evidence.media_type.as_bytes());
            field(evidence.hash.bytes());
        }
        Hash::from_bytes(*hasher.finalize().as_bytes())
    }

    /// Whether the record is as it was written. Its evidence must be there.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.digest == self.digest_of_content()
    }
}

/// Appends a proof to its tenant's chain, and tells of it.
pub fn record(tx: &mut Tx<'_>, tenant: TenantId, new: &NewProof<'_>) -> Result<ProofId, Fault> {
    let newest = params! { ":tenant": tenant };
    let previous = tx.find(sql!("proofs.sql", "newest_digest"), newest, |row| row.get("digest"))?;
    let mut proof = Proof {
        id: tx.new_id(),
        tenant,
        project: new.project,
        ticket: new.ticket,
        node: new.node,
        kind: new.kind.to_owned(),
        claim: new.claim.to_owned(),
        verdict: new.verdict,
        detail: new.detail.to_owned(),
        made_by: MADE_BY.to_owned(),
        made_at: tx.now(),
        previous,
        digest: Hash::from_bytes([0; 32]),
        evidence: new.evidence.to_vec(),
    };
    proof.digest = proof.digest_of_content();
    insert(tx, &proof)?;
    if let Some(ticket) = proof.ticket {
        let made = Happening::Proof { id: proof.id, verdict: proof.verdict.word() };
        outbox::tell(tx, tenant, ticket, made, &proof.claim)?;
    }
    Ok(proof.id)
}

fn insert(tx: &mut Tx<'_>, proof: &Proof) -> Result<(), Fault> {
    let tenant = proof.tenant;
    tx.run_one(
        sql!("proofs.sql", "insert"),
        params! { ":id": proof.id, ":tenant": tenant, ":project": proof.project,
        ":ticket": proof.ticket, ":node": proof.node, ":kind": proof.kind, ":claim": proof.claim,
        ":verdict": proof.verdict.word(), ":detail": proof.detail, ":made_by": proof.made_by,
        ":now": proof.made_at, ":previous": proof.previous, ":digest": proof.digest },
    )?;
    for (position, evidence) in (0_i64..).zip(&proof.evidence) {
        tx.run_one(
            sql!("proofs.sql", "insert_evidence"),
            params! { ":proof": proof.id, ":tenant": tenant, ":position": position,
            ":label": evidence.label, ":media_type": evidence.media_type,
            ":hash": evidence.hash, ":size": to_int(evidence.size_bytes) },
        )?;
    }
    Ok(())
}
