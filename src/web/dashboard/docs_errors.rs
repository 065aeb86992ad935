//! `/docs/errors`: every failure, as each door says it, with an anchor a code.

use askama::Template;

use super::parts::Fact;
use super::shell::Shell;

/// The error reference.
#[derive(Template)]
#[template(path = "docs_errors.html")]
pub(super) struct ErrorsPage {
    shell: Shell,
    entries: Vec<ErrorEntry>,
}

/// One code.
pub(super) struct ErrorEntry {
    anchor: String,
    code: String,
    meaning: String,
    hint: String,
    facts: Vec<Fact>,
}

#[cfg(test)]
impl ErrorsPage {
    pub(super) fn sample() -> Self {
        let entry = |code: &str, status: &str, meaning: &str, hint: &str| ErrorEntry {
            anchor: code.to_lowercase(),
            code: code.to_owned(),
            meaning: meaning.to_owned(),
            hint: hint.to_owned(),
            facts: vec![
                Fact::plain("HTTP status", status),
                Fact::plain("Try again", "no"),
                Fact::code("Envelope", code.to_lowercase()),
                Fact::code("JSON-RPC", code),
            ],
        };
        Self {
            shell: Shell { events: None, ..Shell::sample("/docs/errors") },
            entries: vec![
                entry(
                    "UNAUTHENTICATED",
                    "401",
                    "No key came with the call.",
                    "Send a key as X-API-Key or as a bearer token.",
                ),
                entry(
                    "NOT_FOUND",
                    "404",
                    "The ticket does not exist for this caller.",
                    "Look it up with list_tickets.",
                ),
                entry(
                    "ATTACHMENT_REFERENCE_WITHOUT_ATTACHMENTS",
                    "400",
                    "The text names a file, but nothing is attached.",
                    "Attach it, or set confirm_no_attachments.",
                ),
            ],
        }
    }
}
