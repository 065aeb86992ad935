//! `assay proof`: proofs that left the server.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;

use super::Done;
use super::output;
use crate::base::{Code, Fault};
use crate::web::proof_bundle::{Bundle, Finding, Outcome};

/// The largest file that is read, in bytes: an export carries 32 MiB of evidence at most.
const FILE_MAX: u64 = 256 << 20;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Check an exported proof without a server: its record, its place in the chain, its evidence
    Verify {
        /// The file that a proof's page exports
        file: PathBuf,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    holds: bool,
    claim: String,
    verdict: String,
    findings: Vec<ShownFinding>,
}

#[derive(Serialize)]
struct ShownFinding {
    outcome: &'static str,
    said: String,
}

pub(super) fn run(command: &Command) -> Done {
    let Command::Verify { file, json } = command;
    verify(file, *json)
}

fn verify(file: &Path, as_json: bool) -> Done {
    let bundle = Bundle::parse(&read(file)?)?;
    let proof = bundle.links()?.proof;
    let findings = bundle.check()?;
    let broken = findings.iter().filter(|one| one.outcome == Outcome::Broken).count();
    if as_json {
        output::json(&Shown {
            holds: broken == 0,
            claim: proof.claim,
            verdict: proof.verdict.word().to_owned(),
            findings: findings.iter().map(ShownFinding::of).collect(),
        })?;
    } else {
        output::line(&format!("claim    {}", crate::base::text::printable(&proof.claim)))?;
        output::line(&format!("verdict  {}", proof.verdict))?;
        for finding in findings.iter().map(ShownFinding::of) {
            let said = crate::base::text::printable(&finding.said);
            output::line(&format!("{:8} {said}", finding.outcome))?;
        }
    }
    match broken {
        0 => Ok(()),
        _ => Err(Fault::new(
            Code::Conflict,
            "The file is not what was recorded. Do not rely on it; export the proof again.",
        )
        .into()),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Fault> {
    let wrong = |why: String| Fault::argument("file", why);
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes));
    match opened {
        Err(error) => Err(wrong(format!("{} cannot be read: {error}.", file.display()))),
        Ok(_) if bytes.len() as u64 > FILE_MAX => {
            Err(wrong(format!("{} is too large for an export.", file.display())))
        }
        Ok(_) => Ok(bytes),
    }
}

impl ShownFinding {
    fn of(finding: &Finding) -> Self {
        let outcome = match finding.outcome {
            Outcome::Holds => "holds",
            Outcome::Broken => "BROKEN",
            Outcome::Unknown => "unknown",
        };
        Self { outcome, said: finding.said.clone() }
    }
}
