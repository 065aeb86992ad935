//! An answer as a golden file holds it: what differs from run to run is replaced by its name.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

static ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").unwrap());
static COMMIT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[0-9a-f]{12}([0-9a-f]{28})?\b").unwrap());

/// The answer, indented. Each id and each commit is named by the order of its first mention, so
/// that two mentions of one thing still read as one.
pub(crate) fn placed(answer: &Value) -> String {
    let text = serde_json::to_string_pretty(answer).unwrap();
    let text = TIME.replace_all(&text, "<time>").into_owned();
    let text = numbered(&text, &ID, "id", 36);
    // A commit is also shown by its first 12 digits.
    numbered(&text, &COMMIT, "commit", 12) + "\n"
}

fn numbered(text: &str, pattern: &Regex, name: &str, significant: usize) -> String {
    let mut seen: Vec<String> = Vec::new();
    let named = pattern.replace_all(text, |found: &regex::Captures<'_>| {
        let start = found[0][..significant].to_owned();
        let at = seen.iter().position(|known| *known == start).unwrap_or_else(|| {
            seen.push(start);
            seen.len() - 1
        });
        format!("<{name} {}>", at + 1)
    });
    named.into_owned()
}

#[test]
fn ids_times_and_commits_are_named_by_their_first_mention() {
    let id = "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b";
    let other = "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7c";
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let said = serde_json::json!([
        other,
        id,
        other,
        "2026-07-29T14:00:00.000Z",
        commit,
        "At 0123456789ab."
    ]);

    let expected = ["<id 1>", "<id 2>", "<id 1>", "<time>", "<commit 1>", "At <commit 1>."];
    assert_eq!(placed(&said), serde_json::to_string_pretty(&expected).unwrap() + "\n");
}
