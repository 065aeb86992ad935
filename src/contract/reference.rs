//! The entries of the error reference, as `/docs/errors` shows them: one a code, in the order of
//! the closed list.

use super::code::{Wire, wire};
use crate::base::Code;

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The fragment that leads to it: the code of the error object.
    pub anchor: &'static str,
    /// How the code is said, and what it means.
    pub wire: Wire,
}

/// All entries.
pub fn entries() -> impl Iterator<Item = Entry> {
    Code::ALL.into_iter().map(|code| {
        let wire = wire(code);
        Entry { anchor: wire.object, wire }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::base::redact::redact;
    use crate::contract::error_object::HINT_MAX_CHARS;

    #[test]
    fn every_code_has_an_entry_of_its_own() {
        let anchors: HashSet<&str> = entries().map(|entry| entry.anchor).collect();

        assert_eq!(anchors.len(), Code::ALL.len());
        for anchor in anchors {
            let plain = |c: char| c.is_ascii_lowercase() || matches!(c, '.' | '-');
            assert!(anchor.chars().all(plain) && anchor.contains('.'), "{anchor}");
        }
    }

    #[test]
    fn every_code_is_explained_in_sentences_that_redaction_leaves_alone() {
        for Entry { wire, .. } in entries() {
            for text in [wire.meaning, wire.hint] {
                assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
                assert_eq!(redact(text), text);
            }
            assert!(!wire.title.is_empty() && !wire.title.ends_with('.'), "{}", wire.title);
            assert!(wire.hint.chars().count() <= HINT_MAX_CHARS, "{}", wire.hint);
        }
    }

    #[test]
    fn the_statuses_of_the_envelope_are_those_of_the_contract() {
        let common = [400, 401, 403, 404, 422, 429];
        for Entry { anchor, wire } in entries() {
            let rare = matches!(
                (anchor, wire.http),
                ("request.too-large", 413)
                    | ("server.internal", 500)
                    | ("server.unavailable", 503)
                    | ("server.storage-full", 507)
            );
            assert!(common.contains(&wire.http) || rare, "{anchor}: {}", wire.http);
            assert_eq!(wire.http == 404, anchor == "mcp.tool-not-found");
        }
    }
}
