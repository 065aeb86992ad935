//! Which steps the tickets of a project take beyond the usual, as its settings say.

use serde::{Deserialize, Serialize};

use crate::base::Issue;
use crate::words;

words! {
    /// How a ticket's graph is planned.
    #[derive(Default)]
    pub enum Pipeline {
        /// By what the ticket asks for.
        #[default]
        Dynamic = "dynamic",
        /// Plan, implement, review, security and docs, always and in this order, and then the
        /// checks and the landing.
        FivePassV1 = "five_pass_v1",
    }
}

/// What goes on only after a person's word. A data operation waits for one in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Approvals {
    /// A plan, before it is done.
    pub plan: bool,
    /// Verified work, before it lands.
    pub land: bool,
}

/// A command that looks at what was deployed, once a ticket has landed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeployVerify {
    /// The line that `sh -c` runs in a work tree of the landed commit. Exit code 0 is success.
    pub command: String,
    /// The longest that it may take, in seconds.
    #[serde(default = "default_timeout_secs")]
    pub timeout_secs: u64,
}

const fn default_timeout_secs() -> u64 {
    900
}

impl DeployVerify {
    /// What is wrong with it; paths begin with `deployVerify`.
    pub(super) fn issues(&self) -> Vec<Issue> {
        let issue = |path: &str, message: &str| Issue {
            path: format!("deployVerify.{path}"),
            message: message.to_owned(),
        };
        let mut issues = Vec::new();
        if self.command.trim().is_empty() {
            issues.push(issue("command", "is empty."));
        } else if self.command.len() > 8_192 || self.command.contains('\0') {
            issues.push(issue("command", "must be shorter than 8 KiB and hold no NUL."));
        }
        if !(1..=86_400).contains(&self.timeout_secs) {
            issues.push(issue("timeoutSecs", "must be between 1 and 86400."));
        }
        issues
    }
}

/// How long what a ticket leaves on disk is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CleanUp {
    /// Hours for which the work tree of a ticket that did not land stays. Its branch stays for
    /// ever. The work tree of one that landed goes at once.
    pub keep_failed_hours: u32,
}

impl Default for CleanUp {
    fn default() -> Self {
        Self { keep_failed_hours: 24 }
    }
}
