//! `/proofs/{id}`: one proof: what was claimed, what was found, what was kept, and its place in the
//! chain.

use askama::Template;
use axum::extract::{Path, State};
use serde_json::Value;

use crate::base::{Code, Fault, Millis, ProofId, TenantId};
use crate::projects;
use crate::proofs::{self, Evidence, Proof};
use crate::store::{Blobs, Read};
use crate::tickets::{node, ticket};
use crate::web::auth::Visitor;
use crate::web::dashboard::marks::Mark;
use crate::web::dashboard::parts::{
    Code as CodeBlock, Fact, Link, Moment, plain_word, ticket_href,
};
use crate::web::dashboard::shell::Shell;
use crate::web::humane;
use crate::web::page::Page;
use crate::web::proof_bundle::{Finding, Links, Outcome};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// Characters of a value of a check's detail that are shown.
const DETAIL_CHARS: usize = 2_000;

/// One proof.
#[derive(Template)]
#[template(path = "proof.html")]
pub(super) struct ProofPage {
    shell: Shell,
    id: String,
    claim: String,
    mark: Mark,
    facts: Vec<Fact>,
    made: Moment,
    /// What the check has to say, a name and a value each.
    detail: Vec<(String, String)>,
    evidence: Vec<EvidenceRow>,
    chain: Vec<ChainRow>,
    checks: Vec<CheckRow>,
    /// Whether all of the chain that was looked at is as it was written.
    is_sound: bool,
    verify: CodeBlock,
}

/// One file that was kept.
struct EvidenceRow {
    label: String,
    about: String,
    hash: String,
    /// Where it can be read, or fetched; `None` where its file is gone.
    href: Option<String>,
    /// `Open` or `Download`.
    act: &'static str,
}

/// A record in the chain.
struct ChainRow {
    place: &'static str,
    claim: String,
    mark: Mark,
    digest: String,
    /// Its page, unless it is this one.
    href: Option<String>,
}

/// One thing of the chain that was checked.
struct CheckRow {
    mark: Mark,
    said: String,
}

/// `GET /proofs/{id}`.
pub(super) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Page<ProofPage>, Trouble> {
    let (now, blobs) = (site.now(), site.blobs().clone());
    let id = ProofId::parse(&id).ok_or_else(absent)?;
    let page =
        visitor.read(&site, move |read, visitor| ProofPage::load(read, visitor, id, &blobs, now));
    Ok(Page(page.await?))
}

/// The proof that is asked for is not there, or is not this tenant's.
pub(super) fn absent() -> Fault {
    Fault::new(Code::NotFound, "There is no such proof.")
}

/// A proof and its neighbours.
pub(super) fn links(read: &Read<'_>, tenant: TenantId, id: ProofId) -> Result<Links, Fault> {
    Ok(Links {
        proof: proofs::find(read, tenant, id)?.ok_or_else(absent)?,
        before: proofs::before(read, tenant, id)?,
        after: proofs::after(read, tenant, id)?,
    })
}

impl ProofPage {
    fn load(
        read: &Read<'_>,
        visitor: &Visitor,
        id: ProofId,
        blobs: &Blobs,
        now: Millis,
    ) -> Result<Self, Fault> {
        let links = links(read, visitor.actor().tenant, id)?;
        let proof = &links.proof;
        let findings = links.check();
        let evidence = (0_usize..).zip(&proof.evidence);
        Ok(Self {
            shell: Shell::load(read, visitor, "/proofs")?.still(),
            id: proof.id.to_string(),
            claim: proof.claim.clone(),
            mark: Mark::verdict(proof.verdict.word()),
            facts: facts(read, visitor, proof)?,
            made: Moment::at(proof.made_at, now),
            detail: detail(&proof.detail),
            evidence: evidence.map(|(at, one)| EvidenceRow::of(proof, at, one, blobs)).collect(),
            chain: chain(&links),
            is_sound: findings.iter().all(|one| one.outcome == Outcome::Holds),
            checks: findings.into_iter().map(CheckRow::of).collect(),
            verify: verify_command(&proof.id.to_string()),
        })
    }
}

fn verify_command(id: &str) -> CodeBlock {
    CodeBlock::new("verify-command", format!("assay proof verify assay-proof-{id}.json"))
}

fn facts(read: &Read<'_>, visitor: &Visitor, proof: &Proof) -> Result<Vec<Fact>, Fault> {
    let mut facts = vec![Fact::plain("Kind", plain_word(&proof.kind))];
    if let Ok(project) = projects::get(read, visitor.actor(), proof.project) {
        let href = format!("/projects/{}", project.slug);
        facts.push(Fact::link("Project", Link::new(project.name, href)));
    }
    let mut node_href = None;
    if let Some(id) = proof.ticket
        && let Some(ticket) = ticket::find(read, proof.tenant, id)?
    {
        let href = ticket_href(&ticket);
        node_href = Some(href.clone());
        let said = format!("{} {}", ticket.reference(), ticket.title);
        facts.push(Fact::link("Ticket", Link::new(said, href)));
    }
    if let Some(id) = proof.node
        && let Some(node) = node::find(read, proof.tenant, id)?
    {
        facts.push(match node_href {
            Some(href) => {
                let href = format!("{href}#node-{}", node.name);
                Fact::link("Step that made it", Link::new(node.name, href))
            }
            None => Fact::plain("Step that made it", node.name),
        });
    }
    facts.push(Fact::plain("Program", proof.made_by.clone()));
    facts.push(Fact::code("Id", proof.id.to_string()));
    facts.push(Fact::code("Digest", proof.digest.to_string()));
    Ok(facts)
}

/// The fields of a check's detail. What is no text is shown as JSON.
fn detail(text: &str) -> Vec<(String, String)> {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return Vec::new() };
    let said = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let shown = |value| crate::base::text::cut(&said(value), DETAIL_CHARS);
    fields.into_iter().map(|(name, value)| (spaced(&name), shown(value))).collect()
}

/// `exitCode` as people read it: `Exit code`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    plain_word(words.trim())
}

fn chain(links: &Links) -> Vec<ChainRow> {
    let row = |place, proof: &Proof, is_own: bool| ChainRow {
        place,
        claim: proof.claim.clone(),
        mark: Mark::verdict(proof.verdict.word()),
        digest: proof.digest.to_string(),
        href: (!is_own).then(|| format!("/proofs/{}", proof.id)),
    };
    let mut rows = Vec::new();
    rows.extend(links.before.as_ref().map(|one| row("Before", one, false)));
    rows.push(row("This one", &links.proof, true));
    rows.extend(links.after.as_ref().map(|one| row("After", one, false)));
    rows
}

impl CheckRow {
    fn of(finding: Finding) -> Self {
        let word = match finding.outcome {
            Outcome::Holds => "holds",
            Outcome::Broken => "broken",
            Outcome::Unknown => "unknown",
        };
        Self { mark: Mark::chain(word), said: finding.said }
    }
}

impl EvidenceRow {
    fn of(proof: &Proof, at: usize, evidence: &Evidence, blobs: &Blobs) -> Self {
        let is_there = blobs.path(evidence.hash).is_file();
        let is_text = evidence.media_type.starts_with("text/");
        Self {
            label: evidence.label.clone(),
            about: format!("{}, {}", evidence.media_type, humane::size(evidence.size_bytes)),
            hash: evidence.hash.to_string(),
            href: is_there.then(|| format!("/proofs/{}/evidence/{at}", proof.id)),
            act: if is_text { "Open" } else { "Download" },
        }
    }
}

#[cfg(test)]
impl ProofPage {
    pub(super) fn sample() -> Self {
        use crate::web::dashboard::parts::samples::minutes_ago;
        let hash = "9f".repeat(32);
        let row = |place, href: Option<&str>| ChainRow {
            place,
            claim: "The tests pass".to_owned(),
            mark: Mark::verdict("proven"),
            digest: "9f".repeat(32),
            href: href.map(str::to_owned),
        };
        let check = |word, said: &str| CheckRow { mark: Mark::chain(word), said: said.to_owned() };
        Self {
            shell: Shell::sample("/proofs"),
            id: "p1".to_owned(),
            claim: "The tests pass".to_owned(),
            mark: Mark::verdict("proven"),
            facts: vec![
                Fact::plain("Kind", "Command"),
                Fact::link("Ticket", Link::new("ACME-42 Add a toggle", "/tickets/ACME-42")),
                Fact::code("Digest", hash.clone()),
            ],
            made: minutes_ago(12),
            detail: vec![("Exit code".to_owned(), "0".to_owned())],
            evidence: vec![
                EvidenceRow {
                    label: "Output".to_owned(),
                    about: "text/plain, 1.2 kB".to_owned(),
                    hash: hash.clone(),
                    href: Some("/proofs/p1/evidence/0".to_owned()),
                    act: "Open",
                },
                EvidenceRow {
                    label: "Screenshot".to_owned(),
                    about: "image/png, 80.0 kB".to_owned(),
                    hash,
                    href: None,
                    act: "Download",
                },
            ],
            chain: vec![row("Before", Some("/proofs/p0")), row("This one", None)],
            checks: vec![
                check("holds", "The record has its digest"),
                check("broken", "The record before it was changed"),
            ],
            is_sound: false,
            verify: verify_command("p1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detail_of_a_check_reads_as_names_and_values() {
        let shown = detail(r#"{"exitCode":0,"command":"make <test>","found":null}"#);

        assert_eq!(shown[0], ("Exit code".to_owned(), "0".to_owned()));
        assert_eq!(shown[1], ("Command".to_owned(), "make <test>".to_owned()));
        assert_eq!(detail("[1]"), Vec::new());
    }
}
