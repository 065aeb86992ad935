//! What kind of work a ticket asks for, by rule, where its caller did not say.

use std::sync::LazyLock;

use super::lexicon::{Lexicon, Place};
use super::states::Kind;

/// The first rule with a word in the title decides, then the first in the text.
const RULES: &[(Kind, &[&str])] = &[
    (
        Kind::DataOperation,
        &[
            "backfill",
            "data migration",
            "migrate data",
            "migrate the data",
            "delete rows",
            "update rows",
            "data repair",
            "repair data",
            "purge records",
            "import records",
            "migrer les données",
            "reprise de données",
            "corriger les données",
        ],
    ),
    (
        Kind::OrgAgentConstruction,
        &["build an agent", "create an agent", "new agent for", "construire un agent"],
    ),
    (
        Kind::Fix,
        &[
            "fix",
            "bug",
            "crash",
            "broken",
            "regression",
            "does not work",
            "doesn't work",
            "error",
            "fails",
            "failing",
            "incorrect",
            "corriger",
            "corrige",
            "réparer",
            "bogue",
            "plante",
            "erreur",
            "cassé",
        ],
    ),
    (
        Kind::Refactor,
        &[
            "refactor",
            "rename",
            "clean up",
            "cleanup",
            "simplify",
            "restructure",
            "extract",
            "deduplicate",
            "split the",
            "renommer",
            "nettoyer",
            "restructurer",
            "simplifier",
        ],
    ),
];

/// The kind that the words speak for; a feature where none does.
#[must_use]
pub fn kind(title: &str, description: &str) -> Kind {
    by_words(title).or_else(|| by_words(first_paragraph(description))).unwrap_or(Kind::Feature)
}

/// The words of each rule, by its place in the order.
static WORDS: LazyLock<Lexicon<usize>> = LazyLock::new(|| {
    let rules = RULES.iter().enumerate();
    Lexicon::new(rules.flat_map(|(at, (_, words))| words.iter().map(move |word| (at, *word))))
});

fn by_words(text: &str) -> Option<Kind> {
    let is_word = |_, place: &Place<'_>| place.begins_word() && place.ends_word();
    let first = WORDS.found(&text.to_lowercase(), is_word).into_iter().min()?;
    Some(RULES[first].0)
}

/// Later paragraphs tell background, and background speaks of bugs long gone.
fn first_paragraph(text: &str) -> &str {
    text.trim().split("\n\n").next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_ticket_tell_its_kind() {
        for (title, expected) in [
            ("Add dark-mode toggle to the dashboard header", Kind::Feature),
            ("Fix the crash when the list is empty", Kind::Fix),
            ("Corriger l'erreur du panier", Kind::Fix),
            ("Rename UserService to Accounts", Kind::Refactor),
            ("Backfill preferences.theme for old users", Kind::DataOperation),
            ("Build an agent that answers invoices", Kind::OrgAgentConstruction),
            ("Show a prefix before the price", Kind::Feature),
        ] {
            assert_eq!(kind(title, ""), expected, "{title}");
        }
    }

    #[test]
    fn the_title_decides_over_the_text() {
        assert_eq!(kind("Rename the module", "It was broken once."), Kind::Refactor);
        assert_eq!(kind("The basket", "It crashes: fix it."), Kind::Fix);
        assert_eq!(kind("The basket", "Show it.\n\nThere was a bug last year."), Kind::Feature);
    }
}
