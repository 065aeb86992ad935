//! Where JSON without a shape may appear.

use regex::Regex;

use super::Offence;
use super::source::Source;

/// The places that may name `serde_json::Value`, `Map` or `json!`, each with its reason. A path
/// that ends with `/` is a folder. Elsewhere a shape is a struct.
const ALLOWED: &[(&str, &str)] = &[
    ("src/base/fault.rs", "a fault carries its data to whichever dialect speaks it"),
    ("src/contract/", "the dialects are JSON, and some of their members are any object"),
    ("src/tools/", "a tool's arguments arrive unchecked, and its schema is a document"),
    ("src/web/", "the doors read and write JSON"),
    ("src/cli/", "the command line hands a tool's arguments on, and bridges a protocol"),
    ("src/jobs/", "the queue keeps payloads whose shapes it does not know"),
    ("src/projects/change.rs", "it exchanges parts of the settings document"),
    ("src/projects/settings", "settings are an open document of the project"),
    ("src/projects/agents/mod.rs", "a profile is a document that people write by hand"),
    ("src/tickets/runner/report/read.rs", "an agent may write anything where its report goes"),
    ("src/tickets/runner/usage/", "the input of an agent's tool is any object"),
    ("src/tickets/runner/acp/policy.rs", "the input of an agent's tool is any object"),
    ("src/tickets/runner/acp/trouble.rs", "what an agent adds to an error is any value"),
    ("src/work/try_agent.rs", "the result of a job is any object"),
    ("src/work/verify_node.rs", "the detail of a proof is any object"),
];

/// Loose JSON outside the places that may have it.
pub(crate) fn check(source: &Source) -> Vec<Offence> {
    if source.is_test() || ALLOWED.iter().any(|(place, _)| source.path.starts_with(place)) {
        return Vec::new();
    }
    let loose = Regex::new(
        r"(?x) \bserde_json \s*::\s* (?: \{ [^}]* )? \b (?:Value|Map|json) \b | \b json!",
    )
    .expect("the pattern is valid");
    let text = "JSON without a shape; give it a struct, or name the place and its reason in the \
                census of loose JSON";
    loose
        .find_iter(&source.production)
        .map(|found| Offence::new(&source.path, source.line(found.start()), text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_json_offends_where_it_is_not_allowed() {
        for (path, text, expected) in [
            ("src/tickets/x.rs", "use serde_json::Value;", 1),
            ("src/tickets/x.rs", "use serde_json::{Map, from_str};", 1),
            ("src/tickets/x.rs", "fn f(a: serde_json::Value) { json!({}) }", 2),
            ("src/tickets/x.rs", "let a = serde_json::from_str::<Row>(text)?;", 0),
            ("src/tickets/x.rs", "#[cfg(test)]\nmod tests { use serde_json::json; }", 0),
            ("src/tools/x.rs", "use serde_json::Value;", 0),
            ("src/projects/settings.rs", "use serde_json::Value;", 0),
            ("tests/it/x.rs", "use serde_json::json;", 0),
        ] {
            let found = check(&Source::new(path, text));

            assert_eq!(found.len(), expected, "{path}: {text}: {found:?}");
        }
    }

    #[test]
    fn every_allowed_place_has_a_reason() {
        assert!(
            ALLOWED.iter().all(|(place, reason)| place.starts_with("src/") && reason.len() > 10)
        );
    }
}
