//! The contract of a ticket and the proofs of it, as its page shows them.

use super::super::marks::Mark;
use super::super::parts::{Fact, Moment};
use super::{Assertion, ProofLine};
use crate::base::Millis;
use crate::proofs::Proof;
use crate::tickets::contract::{self, Check};
use crate::tickets::states::AssertionState;
use crate::web::humane;
use crate::web::markdown;

/// `3 of 4 assertions confirmed`; empty before there is a contract.
pub(super) fn proved(assertions: &[contract::Assertion]) -> String {
    if assertions.is_empty() {
        return String::new();
    }
    let held = assertions.iter().filter(|one| one.state == AssertionState::Confirmed).count();
    format!("{held} of {} assertions confirmed", assertions.len())
}

impl Assertion {
    pub(super) fn of(one: &contract::Assertion, proofs: &[Proof]) -> Self {
        let proof = one.proof.filter(|id| proofs.iter().any(|proof| proof.id == *id));
        Self {
            mark: Mark::assertion(one.state.word()),
            text: one.text.clone(),
            check: decides(&one.check),
            proof: proof.map(|id| format!("#proof-{id}")),
            evidence: markdown::render(one.evidence.as_deref().unwrap_or_default()),
        }
    }
}

/// What decides whether an assertion holds.
fn decides(check: &Check) -> Vec<Fact> {
    match check {
        Check::Command(line) => vec![Fact::code("Checked by", line)],
        Check::File { path, contains: None } => vec![Fact::code("There must be", path)],
        Check::File { path, contains: Some(text) } => {
            vec![Fact::code("There must be", path), Fact::code("with", text)]
        }
        Check::Person(what) => vec![Fact::plain("A person looks at", what)],
        Check::None => Vec::new(),
    }
}

/// What a check of a command says beyond its verdict.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ran {
    command: Option<String>,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
}

impl ProofLine {
    pub(super) fn of(proof: &Proof, ticket: &str, now: Millis) -> Self {
        let ran: Ran = serde_json::from_str(&proof.detail).unwrap_or_default();
        let took = ran.duration_ms.map(std::time::Duration::from_millis);
        let has_file = !proof.evidence.is_empty();
        Self {
            anchor: format!("proof-{}", proof.id),
            mark: Mark::verdict(proof.verdict.word()),
            claim: proof.claim.clone(),
            command: ran.command.filter(|command| *command != proof.claim).unwrap_or_default(),
            exit_code: ran.exit_code.map(|code| code.to_string()).unwrap_or_default(),
            took: took.map(humane::duration).unwrap_or_default(),
            at: Moment::at(proof.made_at, now),
            log: has_file.then(|| format!("{ticket}/proofs/{}/log", proof.id)),
        }
    }
}
