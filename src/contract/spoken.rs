//! What all dialects do to a text before they say it.

use serde::Serialize;

use crate::base::redact::redact;
use crate::base::text::printable;
use crate::base::{Fault, Issue};

/// One problem on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpokenIssue {
    /// Where: `fixes[1].issue`; empty for the whole of what the call was about.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// The text without control characters and credentials. In that order: a control character
/// inside a credential would hide it.
pub(super) fn clean(text: &str) -> String {
    redact(&printable(text)).into_owned()
}

/// The problem with both of its texts clean. They are looked at together, as a person reads them:
/// the path may be the name that makes a secret of the message.
pub(super) fn issue(issue: &Issue) -> SpokenIssue {
    let path = clean(&issue.path);
    let line = clean(&format!("{path}: {}", issue.message));
    let message = line.strip_prefix(&format!("{path}: ")).map(str::to_owned);
    SpokenIssue { message: message.unwrap_or_else(|| clean(&issue.message)), path }
}

/// The message in full: what the fault says, and under it each problem on a line of its own
/// unless the message already says them all.
pub(super) fn message(fault: &Fault) -> String {
    let mut said = fault.message.clone();
    if !fault.issues.iter().all(|issue| fault.message.contains(&issue.message)) {
        for Issue { path, message } in &fault.issues {
            said.push('\n');
            if !path.is_empty() {
                said.push_str(path);
                said.push_str(": ");
            }
            said.push_str(message);
        }
    }
    clean(&said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;

    #[test]
    fn problems_are_listed_under_a_message_that_does_not_say_them() {
        let many = Fault::new(Code::InvalidArgument, "2 arguments are not usable.")
            .issue("title", "is missing")
            .issue("", "has too many keys");
        let one = Fault::argument("limit", "expected a number");

        assert_eq!(
            message(&many),
            "2 arguments are not usable.\ntitle: is missing\nhas too many keys"
        );
        assert_eq!(message(&one), "The argument limit is not usable: expected a number");
    }

    #[test]
    fn a_control_character_does_not_hide_a_credential() {
        let token = format!("ghp_{}\u{7}{}", "a".repeat(10), "b".repeat(26));

        assert_eq!(clean(&format!("push with {token} failed")), "push with [redacted] failed");
    }

    #[test]
    fn the_path_may_make_a_secret_of_the_message() {
        let said = issue(&Issue { path: "db.password".into(), message: "hunter2 is short".into() });

        assert_eq!(said.message, "[redacted] is short");
    }
}
