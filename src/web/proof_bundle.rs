//! A proof as a file that can be checked without the server: the record, the records before and
//! after it in the chain, and what was kept with it. `/proofs/{id}/export` writes it, and
//! `assay proof verify` reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::base::{Fault, Id, Millis};
use crate::proofs::{Evidence, Proof, Verdict};
use crate::store::{Blobs, Hash};

/// What the file calls itself.
const FORMAT: &str = "assay-proof-bundle";
/// The version of its form.
const VERSION: u32 = 1;
/// Bytes of evidence at most that one file carries; what is beyond is named by its hash alone.
const CARRIED_MAX: u64 = 32 << 20;

/// The file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    format: String,
    version: u32,
    proof: RecordWire,
    before: Option<RecordWire>,
    after: Option<RecordWire>,
    /// What was kept with the proof, in the order of its evidence.
    contents: Vec<Content>,
}

/// A record with everything that its digest covers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordWire {
    id: String,
    tenant_id: String,
    project_id: String,
    ticket_id: Option<String>,
    node_id: Option<String>,
    kind: String,
    claim: String,
    verdict: String,
    /// The JSON text as it was recorded: the digest covers it to the letter.
    detail: String,
    made_by: String,
    /// Milliseconds since 1970.
    made_at_ms: i64,
    /// The same for people.
    made_at: String,
    previous: Option<String>,
    digest: String,
    evidence: Vec<EvidenceWire>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvidenceWire {
    label: String,
    media_type: String,
    hash: String,
    size_bytes: u64,
}

/// Bytes that were kept: as text where they are one.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Content {
    hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Why there are no bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

/// One thing that was looked at, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What came of it.
    pub outcome: Outcome,
    /// In words.
    pub said: String,
}

/// What came of looking at one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is as it was recorded.
    Holds,
    /// It is not.
    Broken,
    /// The file does not have what it takes to tell.
    Unknown,
}

/// The three records of a bundle.
#[derive(Debug, Clone)]
pub struct Links {
    /// The proof.
    pub proof: Proof,
    /// The one before it.
    pub before: Option<Proof>,
    /// The one after it.
    pub after: Option<Proof>,
}

impl Links {
    /// Whether each record and each link of the chain is as it was written.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut found = vec![record_holds("The record", &self.proof)];
        match (&self.before, self.proof.previous) {
            (Some(before), previous) => {
                found.push(record_holds("The record before it", before));
                found.push(judged(
                    previous == Some(before.digest),
                    "The record names the digest of the one before it",
                    "The record names another digest than that of the one before it",
                ));
            }
            (None, None) => found.push(Finding {
                outcome: Outcome::Holds,
                said: "It is the first record of its chain".to_owned(),
            }),
            (None, Some(_)) => found.push(Finding {
                outcome: Outcome::Broken,
                said: "The record names one before it, which is not there".to_owned(),
            }),
        }
        if let Some(after) = &self.after {
            found.push(record_holds("The record after it", after));
            found.push(judged(
                after.previous == Some(self.proof.digest),
                "The record after it names its digest",
                "The record after it names another digest",
            ));
        }
        found
    }
}

fn record_holds(what: &str, proof: &Proof) -> Finding {
    let digest = proof.digest;
    judged(
        proof.is_unchanged(),
        &format!("{what} has the digest {digest}"),
        &format!("{what} does not have the digest {digest}: it was changed"),
    )
}

fn judged(holds: bool, good: &str, bad: &str) -> Finding {
    let (outcome, said) = if holds { (Outcome::Holds, good) } else { (Outcome::Broken, bad) };
    Finding { outcome, said: said.to_owned() }
}

impl Bundle {
    /// The file of a proof. Reads what was kept with it.
    pub fn of(links: &Links, blobs: &Blobs) -> Result<Self, Fault> {
        let mut left = CARRIED_MAX;
        let contents = links.proof.evidence.iter().map(|one| Content::of(one, blobs, &mut left));
        Ok(Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            proof: RecordWire::of(&links.proof),
            before: links.before.as_ref().map(RecordWire::of),
            after: links.after.as_ref().map(RecordWire::of),
            contents: contents.collect::<Result<_, _>>()?,
        })
    }

    /// The file as text.
    pub fn to_text(&self) -> Result<String, Fault> {
        serde_json::to_string_pretty(self).map_err(Fault::internal)
    }

    /// A file that was read, or why it is none.
    pub fn parse(text: &[u8]) -> Result<Self, Fault> {
        let wrong = |why: String| Fault::argument("file", why);
        let bundle: Self = serde_json::from_slice(text)
            .map_err(|error| wrong(format!("it is no export of a proof: {error}.")))?;
        if bundle.format != FORMAT || bundle.version != VERSION {
            let said = "it is no export of a proof, or of a later version of Assay.";
            return Err(wrong(said.to_owned()));
        }
        Ok(bundle)
    }

    /// The records of the file, or what in them cannot be read.
    pub fn links(&self) -> Result<Links, Fault> {
        let other =
            |record: &Option<RecordWire>| record.as_ref().map(RecordWire::to_proof).transpose();
        Ok(Links {
            proof: self.proof.to_proof()?,
            before: other(&self.before)?,
            after: other(&self.after)?,
        })
    }

    /// Checks everything that the file can show: the records, the chain, and the evidence.
    pub fn check(&self) -> Result<Vec<Finding>, Fault> {
        let links = self.links()?;
        let mut found = links.check();
        for evidence in &links.proof.evidence {
            let hash = evidence.hash.to_string();
            let content = self.contents.iter().find(|content| content.hash == hash);
            found.push(content_holds(evidence, content));
        }
        Ok(found)
    }
}

fn content_holds(evidence: &Evidence, content: Option<&Content>) -> Finding {
    let label = &evidence.label;
    match content.and_then(Content::bytes) {
        None => Finding {
            outcome: Outcome::Unknown,
            said: format!("The evidence {label:?} is not in the file ({})", evidence.hash),
        },
        Some(bytes) => judged(
            Hash::of(&bytes) == evidence.hash && bytes.len() as u64 == evidence.size_bytes,
            &format!("The evidence {label:?} has the digest {}", evidence.hash),
            &format!("The evidence {label:?} does not have the digest {}", evidence.hash),
        ),
    }
}

impl Content {
    fn of(evidence: &Evidence, blobs: &Blobs, left: &mut u64) -> Result<Self, Fault> {
        let hash = evidence.hash.to_string();
        let none = |why: &str| Self {
            hash: hash.clone(),
            text: None,
            base64: None,
            left_out: Some(why.to_owned()),
        };
        if evidence.size_bytes > *left {
            return Ok(none("It is too large for this file; fetch it from the proof's page."));
        }
        let Some(bytes) = blobs.get(evidence.hash)? else {
            return Ok(none("It is gone from the server's disk."));
        };
        *left -= evidence.size_bytes.min(*left);
        let (text, base64) = match String::from_utf8(bytes) {
            Ok(text) => (Some(text), None),
            Err(bytes) => (None, Some(STANDARD.encode(bytes.as_bytes()))),
        };
        Ok(Self { hash, text, base64, left_out: None })
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.base64) {
            (Some(text), _) => Some(text.as_bytes().to_vec()),
            // What is no base64 is not what was kept either.
            (None, Some(coded)) => Some(STANDARD.decode(coded).unwrap_or_default()),
            (None, None) => None,
        }
    }
}

impl RecordWire {
    fn of(proof: &Proof) -> Self {
        Self {
            id: proof.id.to_string(),
            tenant_id: proof.tenant.to_string(),
            project_id: proof.project.to_string(),
            ticket_id: proof.ticket.map(|id| id.to_string()),
            node_id: proof.node.map(|id| id.to_string()),
            kind: proof.kind.clone(),
            claim: proof.claim.clone(),
            verdict: proof.verdict.word().to_owned(),
            detail: proof.detail.clone(),
            made_by: proof.made_by.clone(),
            made_at_ms: proof.made_at.0,
            made_at: proof.made_at.iso(),
            previous: proof.previous.map(|hash| hash.to_string()),
            digest: proof.digest.to_string(),
            evidence: proof.evidence.iter().map(EvidenceWire::of).collect(),
        }
    }

    fn to_proof(&self) -> Result<Proof, Fault> {
        let evidence = self.evidence.iter().map(EvidenceWire::to_evidence);
        Ok(Proof {
            id: id(&self.id)?,
            tenant: id(&self.tenant_id)?,
            project: id(&self.project_id)?,
            ticket: self.ticket_id.as_deref().map(id).transpose()?,
            node: self.node_id.as_deref().map(id).transpose()?,
            kind: self.kind.clone(),
            claim: self.claim.clone(),
            verdict: Verdict::parse(&self.verdict).ok_or_else(|| unread(&self.verdict))?,
            detail: self.detail.clone(),
            made_by: self.made_by.clone(),
            made_at: Millis(self.made_at_ms),
            previous: self.previous.as_deref().map(hash).transpose()?,
            digest: hash(&self.digest)?,
            evidence: evidence.collect::<Result<_, _>>()?,
        })
    }
}

impl EvidenceWire {
    fn of(evidence: &Evidence) -> Self {
        Self {
            label: evidence.label.clone(),
            media_type: evidence.media_type.clone(),
            hash: evidence.hash.to_string(),
            size_bytes: evidence.size_bytes,
        }
    }

    fn to_evidence(&self) -> Result<Evidence, Fault> {
        Ok(Evidence {
            label: self.label.clone(),
            media_type: self.media_type.clone(),
            hash: hash(&self.hash)?,
            size_bytes: self.size_bytes,
        })
    }
}

fn id<K>(text: &str) -> Result<Id<K>, Fault> {
    Id::parse(text).ok_or_else(|| unread(text))
}

fn hash(text: &str) -> Result<Hash, Fault> {
    Hash::parse(text).ok_or_else(|| unread(text))
}

fn unread(text: &str) -> Fault {
    let shown = crate::base::text::cut(text, 80);
    Fault::argument("file", format!("it has {shown:?} where an id, a digest or a verdict belongs."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(number: u128, previous: Option<Hash>) -> Proof {
        let of = |n| uuid::Uuid::from_u128(n);
        let mut proof = Proof {
            id: Id::from_uuid(of(number)),
            tenant: Id::from_uuid(of(1)),
            project: Id::from_uuid(of(2)),
            ticket: None,
            node: None,
            kind: "command".to_owned(),
            claim: "It builds".to_owned(),
            verdict: Verdict::Proven,
            detail: r#"{"exitCode":0}"#.to_owned(),
            made_by: "assay 0.1.0".to_owned(),
            made_at: Millis(1_785_333_600_000),
            previous,
            digest: Hash::of(b""),
            evidence: Vec::new(),
        };
        proof.digest = proof.digest_of_content();
        proof
    }

    fn bundle(dir: &tempfile::TempDir) -> Bundle {
        let entropy = crate::base::Entropy::seeded(1);
        let blobs = Blobs::open(dir.path().join("blobs"), entropy).unwrap();
        let before = proof(10, None);
        let mut own = proof(11, Some(before.digest));
        for bytes in [b"all green\n".as_slice(), &[0xff, 0x00]] {
            own.evidence.push(Evidence {
                label: "log".to_owned(),
                media_type: "text/plain".to_owned(),
                hash: blobs.put(bytes).unwrap(),
                size_bytes: bytes.len() as u64,
            });
        }
        own.digest = own.digest_of_content();
        let after = proof(12, Some(own.digest));
        let links = Links { proof: own, before: Some(before), after: Some(after) };
        Bundle::of(&links, &blobs).unwrap()
    }

    fn broken(text: &str) -> usize {
        let found = Bundle::parse(text.as_bytes()).unwrap().check().unwrap();
        found.iter().filter(|one| one.outcome == Outcome::Broken).count()
    }

    #[test]
    fn a_file_that_nobody_touched_holds_and_every_change_shows() {
        let dir = tempfile::tempdir().unwrap();
        let text = bundle(&dir).to_text().unwrap();

        assert_eq!(broken(&text), 0, "{text}");
        let found = Bundle::parse(text.as_bytes()).unwrap().check().unwrap();
        assert_eq!(found.len(), 7, "{found:?}");
        for (was, is) in [
            ("It builds", "It flies"),
            ("\"proven\"", "\"failed\""),
            ("all green", "all is green"),
            ("\"/wA=\"", "\"/wE=\""),
            ("1785333600000", "1785333600001"),
            ("assay 0.1.0", "assay 0.1.1"),
            ("\"label\": \"log\"", "\"label\": \"gol\""),
        ] {
            assert!(text.contains(was), "{was}");
            assert!(broken(&text.replacen(was, is, 1)) > 0, "{was} became {is}");
        }
    }

    #[test]
    fn evidence_that_is_not_in_the_file_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let mut bundle = bundle(&dir);
        bundle.contents.clear();

        let found = bundle.check().unwrap();

        let unknown = found.iter().filter(|one| one.outcome == Outcome::Unknown).count();
        assert_eq!(unknown, 2, "{found:?}");
    }

    #[test]
    fn another_file_is_refused() {
        for text in ["", "{}", "[]", r#"{"format":"other"}"#] {
            assert!(Bundle::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
