//! What an agent reported, as what its node came to and as people read it.

use super::result::{Came, To};
use super::run_node::Task;
use crate::base::text;
use crate::tickets::contract::Check;
use crate::tickets::pipeline::decide::Verdict;
use crate::tickets::pipeline::record::Left;
use crate::tickets::questions::Asking;
use crate::tickets::runner::{Report, report};
use crate::tickets::states::{ItemKind, NodeKind};

/// What a report comes to, of a node that changed something or did not.
pub(super) fn judge(task: &Task, report: Report, changed: bool, left: Left) -> Came {
    let items = items(&report);
    let said = text::cut(report.summary.trim(), 2_000);
    let to = match report.outcome {
        report::Outcome::NeedsInput => match report.question {
            Some(question) => {
                let report::Question { text, choices, secret } = question;
                To::Question(Asking { text, choices, pause: None, secret })
            }
            None => To::Verdict(Verdict::Bad {
                reason: "The agent needs an answer but asked nothing.".to_owned(),
            }),
        },
        report::Outcome::Failed => {
            let reason = if said.is_empty() { "The agent gave up.".to_owned() } else { said };
            To::Verdict(Verdict::Bad { reason })
        }
        report::Outcome::NoChanges => To::Verdict(Verdict::Good),
        report::Outcome::Done if is_idle(task.node.kind, changed) => To::Verdict(Verdict::Bad {
            reason: "The agent says that it is done, but it changed nothing. An agent that finds \
                     nothing to change reports `no_changes`."
                .to_owned(),
        }),
        report::Outcome::Done => To::Verdict(review(task.node.kind, &report)),
    };
    let contract = (task.node.kind == NodeKind::Contract)
        .then(|| report.assertions.into_iter().map(assertion).collect());
    Came { to, left, items, contract, checked: Vec::new() }
}

/// The nodes whose only point is a change. The docs and security passes may well find none.
pub(super) fn is_idle(kind: NodeKind, changed: bool) -> bool {
    matches!(kind, NodeKind::Implement | NodeKind::QaAuthoring) && !changed
}

/// A review speaks by its verdict; without one, by its blocking findings.
fn review(kind: NodeKind, report: &Report) -> Verdict {
    if kind != NodeKind::Review {
        return Verdict::Good;
    }
    let blocking: Vec<String> = report
        .findings
        .iter()
        .filter(|finding| finding.severity == report::Severity::Blocking)
        .map(|finding| match &finding.file {
            Some(file) => format!("- {file}: {}", finding.text),
            None => format!("- {}", finding.text),
        })
        .collect();
    let wants_changes = match report.verdict {
        Some(report::Verdict::Approve) => false,
        Some(report::Verdict::ChangesRequested) => true,
        None => !blocking.is_empty(),
    };
    if !wants_changes {
        return Verdict::Good;
    }
    let findings = if blocking.is_empty() { report.summary.clone() } else { blocking.join("\n") };
    Verdict::NotYet { findings }
}

fn assertion(written: report::Assertion) -> (String, Check) {
    let check = match written.check {
        Some(report::Check::Command(line)) => Check::Command(line),
        Some(report::Check::File { path, contains }) => Check::File { path, contains },
        Some(report::Check::Person(what)) => Check::Person(what),
        None => Check::None,
    };
    (written.text, check)
}

fn items(report: &Report) -> Vec<(ItemKind, String)> {
    let of = |kind: ItemKind, texts: &[String]| -> Vec<(ItemKind, String)> {
        texts.iter().map(|text| (kind, text.clone())).collect()
    };
    let mut items = of(ItemKind::Deferred, &report.deferred);
    items.extend(of(ItemKind::FollowUp, &report.follow_ups));
    items.extend(of(ItemKind::HumanAction, &report.human_actions));
    let advisory = report.findings.iter().filter(|f| f.severity == report::Severity::Advisory);
    items.extend(advisory.map(|finding| (ItemKind::FollowUp, finding.text.clone())));
    items
}

/// The report as Markdown, as people read it.
pub(super) fn full_text(report: &Report) -> String {
    let mut out = report.summary.trim().to_owned();
    let mut list = |title: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            out.push_str("\n\n### ");
            out.push_str(title);
            out.push_str("\n\n");
            out.push_str(&entries.iter().map(|e| format!("- {e}")).collect::<Vec<_>>().join("\n"));
        }
    };
    let finding = |found: &report::Finding| match &found.file {
        Some(file) => format!("**{}** {file}: {}", found.severity, found.text),
        None => format!("**{}** {}", found.severity, found.text),
    };
    list("Findings", report.findings.iter().map(finding).collect());
    let assertion = |written: &report::Assertion| match &written.check {
        Some(report::Check::Command(line)) => format!("{} (`{line}`)", written.text),
        Some(report::Check::File { path, .. }) => format!("{} (file `{path}`)", written.text),
        Some(report::Check::Person(what)) => format!("{} (a person: {what})", written.text),
        None => written.text.clone(),
    };
    list("Assertions", report.assertions.iter().map(assertion).collect());
    list("Deferred", report.deferred.clone());
    list("Follow-ups", report.follow_ups.clone());
    list("For a person", report.human_actions.clone());
    out
}
