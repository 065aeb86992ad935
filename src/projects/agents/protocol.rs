//! How Assay and an agent talk, and what an agent that asks is allowed.

use super::{OutputFormat, Profile, PromptBy, issue};
use crate::base::Issue;
use crate::words;

words! {
    /// How Assay and an agent talk.
    #[derive(Default)]
    pub enum Protocol {
        /// A command: the prompt goes in, lines come out, and its end is the end.
        #[default]
        Command = "command",
        /// The Agent Client Protocol, over standard input and output.
        Acp = "acp",
    }
}

words! {
    /// What an agent over the Agent Client Protocol may do that it asks permission for. Nothing
    /// asks for a command; what it may do stands on its command line.
    #[derive(Default)]
    pub enum Permissions {
        /// What stays in the work tree, by its own account; the rest is refused.
        #[default]
        Worktree = "worktree",
        /// What stays in the work tree; a person is asked about the rest.
        Ask = "ask",
        /// Everything.
        Allow = "allow",
        /// Nothing.
        Deny = "deny",
    }
}

impl Profile {
    /// Whether this may be a plain script, which is not held to leave a report.
    #[must_use]
    pub fn is_plain_script(&self) -> bool {
        self.protocol == Protocol::Command && self.output == OutputFormat::Plain
    }

    pub(super) fn protocol_issues(&self, issues: &mut Vec<Issue>) {
        if self.protocol == Protocol::Command {
            if self.authenticate.is_some() {
                issues.push(issue("authenticate", "is for agents with `\"protocol\": \"acp\"`."));
            }
            return;
        }
        if self.prompt != PromptBy::Stdin {
            issues.push(issue("prompt", "is a message of the protocol here; leave it out."));
        }
        if self.output != OutputFormat::Plain {
            issues.push(issue("output", "is the protocol's here; leave it out."));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_protocol_settles_cannot_be_set_beside_it() {
        let paths = |document| {
            let fault = Profile::parse(&document).unwrap_err();
            fault.issues.iter().map(|issue| issue.path.clone()).collect::<Vec<_>>()
        };

        let both = json!({ "command": ["x", "{promptFile}"], "protocol": "acp", "prompt": "file",
            "output": "codex_json" });
        assert_eq!(paths(both), ["profile.prompt", "profile.output"]);
        let none = json!({ "command": ["x"], "authenticate": "key" });
        assert_eq!(paths(none), ["profile.authenticate"]);
        let acp = json!({ "command": ["x"], "protocol": "acp", "authenticate": "key" });
        assert!(!Profile::parse(&acp).unwrap().is_plain_script());
    }
}
