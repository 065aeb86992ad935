//! The report that an agent hands back as a file. Agents write it, so it is hostile input: its
//! size is bounded before it is read, every problem is named by its path, and what an agent may
//! mean in only one way is taken that way.

mod file;
mod read;

use serde::{Deserialize, Serialize};

use crate::base::Issue;
use crate::base::text::cut;
use crate::words;

pub use file::take;
pub use read::{in_words, parse};

/// The largest report, in bytes.
pub const MAX_BYTES: u64 = 1024 * 1024;
/// The longest summary, in characters.
pub const MAX_SUMMARY: usize = 64_000;
/// The longest of every other text, in characters.
pub const MAX_TEXT: usize = 4_000;
/// The most entries of a list.
pub const MAX_LIST: usize = 200;
/// The most choices of a question.
pub const MAX_CHOICES: usize = 20;

words! {
    /// How the agent says that it went.
    pub enum Outcome {
        /// The work is done.
        Done = "done",
        /// It could not be done.
        Failed = "failed",
        /// A person has to answer first.
        NeedsInput = "needs_input",
        /// There was nothing to change.
        NoChanges = "no_changes",
    }
}

words! {
    /// What a review comes to.
    pub enum Verdict {
        /// It can land as it is.
        Approve = "approve",
        /// Another round is needed.
        ChangesRequested = "changes_requested",
    }
}

words! {
    /// How much a finding weighs.
    pub enum Severity {
        /// It must be dealt with before landing.
        Blocking = "blocking",
        /// It should be known.
        Advisory = "advisory",
    }
}

/// What an agent reports of a node. Its document form is this struct in camel case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Report {
    /// How it went.
    pub outcome: Outcome,
    /// What was done, in words; may be Markdown.
    pub summary: String,
    /// What was left out on purpose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deferred: Vec<String>,
    /// What could be done next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub follow_ups: Vec<String>,
    /// What only a person can do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub human_actions: Vec<String>,
    /// What has to be answered first. Always there where the outcome is `needs_input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// What must hold once the ticket is done; written by the contract node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// What a review found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What a review comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answers to choose from; empty where any text will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The secret that is wanted, by the name of the environment variable that it comes in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// One thing that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// What must hold, in words.
    pub text: String,
    /// How it can be checked; without it, nobody can confirm it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// How an assertion is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    /// It holds if this command, read by a shell in the worktree, ends with code 0.
    Command(String),
    /// It holds if a person says so; the text is what to look at.
    Person(String),
    /// It holds if this file exists, and contains the text that is asked for.
    #[serde(untagged)]
    File {
        /// A path within the worktree.
        #[serde(rename = "file")]
        path: String,
        /// What it must contain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
    },
}

/// One thing that a review found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was found.
    pub text: String,
    /// How much it weighs.
    pub severity: Severity,
    /// The file it is about, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            outcome: Outcome::Done,
            summary: String::new(),
            deferred: Vec::new(),
            follow_ups: Vec::new(),
            human_actions: Vec::new(),
            question: None,
            assertions: Vec::new(),
            findings: Vec::new(),
            verdict: None,
        }
    }
}

/// What was found where the report should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handed {
    /// Nothing.
    Missing,
    /// A report.
    Report(Box<Report>),
    /// A text that is no JSON: what the agent had to say, in its own form.
    Text(String),
    /// Something that cannot be taken for a report, and why.
    Invalid(Vec<Issue>),
}

impl Handed {
    /// The report, where there is one or a text that can stand for one: the text is the summary
    /// then, and the outcome is what the exit code says.
    #[must_use]
    pub fn settle(self, exited_well: bool) -> Option<Report> {
        match self {
            Self::Report(report) => Some(*report),
            Self::Text(summary) => {
                let outcome = if exited_well { Outcome::Done } else { Outcome::Failed };
                Some(Report { outcome, summary, ..Report::default() })
            }
            Self::Missing | Self::Invalid(_) => None,
        }
    }

    /// Why there is no report, as a sentence; nothing where there is one.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Report(_) | Self::Text(_) => None,
            Self::Missing => Some("The agent left no report.".to_owned()),
            Self::Invalid(issues) => {
                let show = |issue: &Issue| match issue.path.as_str() {
                    "" => issue.message.clone(),
                    path => format!("{path}: {}", issue.message),
                };
                let said: Vec<String> = issues.iter().take(5).map(show).collect();
                let more = issues.len().saturating_sub(said.len());
                let more = if more == 0 { String::new() } else { format!(" And {more} more.") };
                let said = format!("The agent's report is invalid. {}{more}", said.join(" "));
                Some(cut(&said, MAX_TEXT))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_a_report_and_the_exit_code_for_its_outcome() {
        let text = || Handed::Text("I fixed it.".to_owned());

        let done = text().settle(true).unwrap();
        assert_eq!((done.outcome, done.summary.as_str()), (Outcome::Done, "I fixed it."));
        assert_eq!(text().settle(false).unwrap().outcome, Outcome::Failed);
        assert_eq!(Handed::Missing.settle(true), None);
    }

    #[test]
    fn a_problem_names_the_places_and_counts_the_rest() {
        let issue = |at: usize| Issue { path: format!("deferred[{at}]"), message: "bad.".into() };

        let said = Handed::Invalid((0..7).map(issue).collect()).problem().unwrap();

        assert!(said.starts_with("The agent's report is invalid. deferred[0]: bad. deferred[1]"));
        assert!(said.ends_with("deferred[4]: bad. And 2 more."), "{said}");
        assert_eq!(Handed::Text(String::new()).problem(), None);
    }
}
