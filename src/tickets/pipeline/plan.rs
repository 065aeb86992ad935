//! Which nodes a ticket's graph has when it is dispatched. Pure: the same ticket gives the same
//! plan.

use crate::tickets::states::{Kind, NodeKind, PassProfile, Preset};

/// How far apart planned nodes stand in the reading order: room for the rounds that come between.
pub const SPACING: i64 = 1_000;

/// What the plan depends on.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What sort of work it is.
    pub kind: Kind,
    /// Which agent profile does it.
    pub preset: Preset,
    /// Which passes were asked for.
    pub passes: PassProfile,
    /// The title.
    pub title: &'a str,
    /// The brief.
    pub description: &'a str,
}

/// Words that make a change worth a look for security.
const SECURITY_WORDS: &[&str] = &[
    "auth",
    "login",
    "password",
    "secret",
    "token",
    "session",
    "cookie",
    "permission",
    "role",
    "admin",
    "encrypt",
    "crypto",
    "sql",
    "upload",
    "payment",
    "billing",
    "webhook",
    "cors",
    "csrf",
    "xss",
    "sanitiz",
    "injection",
    "api key",
    "oauth",
    "personal data",
    "gdpr",
];

/// Words that say that the documentation changes too.
const DOCS_WORDS: &[&str] =
    &["readme", "changelog", "document", "docs", "guide", "manual", "public api", "endpoint"];

/// The nodes in the order in which they run, each waiting for the one before it.
#[must_use]
pub fn plan(asked: &Asked<'_>) -> Vec<NodeKind> {
    let mut nodes = Vec::new();
    if !matches!(asked.preset, Preset::Trivial) {
        nodes.push(NodeKind::Plan);
    }
    nodes.extend([NodeKind::Contract, NodeKind::Implement, NodeKind::Review]);
    if wants_security(asked) {
        nodes.push(NodeKind::Security);
    }
    if wants_docs(asked) {
        nodes.push(NodeKind::Docs);
    }
    nodes.extend([NodeKind::Verification, NodeKind::Land]);
    nodes
}

fn wants_security(asked: &Asked<'_>) -> bool {
    match asked.passes {
        PassProfile::Full => true,
        PassProfile::Minimal => false,
        PassProfile::Auto => mentions(asked, SECURITY_WORDS),
    }
}

fn wants_docs(asked: &Asked<'_>) -> bool {
    match asked.passes {
        PassProfile::Full => true,
        PassProfile::Minimal => false,
        PassProfile::Auto => {
            !matches!(asked.preset, Preset::Trivial | Preset::Cheap)
                && !matches!(asked.kind, Kind::Refactor)
                && mentions(asked, DOCS_WORDS)
        }
    }
}

/// Whether the text has one of the words at the start of a word of its own.
fn mentions(asked: &Asked<'_>, words: &[&str]) -> bool {
    let text = format!(" {} {}", asked.title, asked.description).to_lowercase();
    words.iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(title: &str, passes: PassProfile) -> Asked<'_> {
        Asked { kind: Kind::Feature, preset: Preset::Auto, passes, title, description: "" }
    }

    #[test]
    fn the_usual_plan_ends_on_the_base_branch() {
        let nodes = plan(&asked("Add a dark mode toggle", PassProfile::Auto));

        assert_eq!(
            nodes,
            [
                NodeKind::Plan,
                NodeKind::Contract,
                NodeKind::Implement,
                NodeKind::Review,
                NodeKind::Verification,
                NodeKind::Land
            ]
        );
    }

    #[test]
    fn the_profile_decides_over_the_text() {
        let full = plan(&asked("Add a toggle", PassProfile::Full));
        let minimal = plan(&asked("Fix the login and the README", PassProfile::Minimal));

        assert!(full.contains(&NodeKind::Security) && full.contains(&NodeKind::Docs));
        assert!(!minimal.contains(&NodeKind::Security) && !minimal.contains(&NodeKind::Docs));
    }

    #[test]
    fn a_word_counts_only_where_a_word_starts() {
        let login = plan(&asked("Fix the login form", PassProfile::Auto));
        let author = plan(&asked("Colourise the parole board", PassProfile::Auto));

        assert!(login.contains(&NodeKind::Security));
        assert!(!author.contains(&NodeKind::Security));
    }

    #[test]
    fn nothing_lands_unverified() {
        for passes in PassProfile::ALL {
            for preset in Preset::ALL {
                let nodes = plan(&Asked { preset: *preset, ..asked("x", *passes) });
                let ends = [NodeKind::Verification, NodeKind::Land];
                assert!(nodes.ends_with(&ends), "{passes} {preset}: {nodes:?}");
            }
        }
    }
}
