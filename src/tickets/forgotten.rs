//! Whether a ticket's text speaks of a file that its agent would need and does not have. Pure.

use std::sync::LazyLock;

use super::lexicon::{Lexicon, Place};

/// What the names of documents end with that people send along. Source files, and what mostly lies
/// in a repository, are not among them.
const DOCUMENTS: &[&str] = &[
    "pdf", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "csv", "ppt", "pptx", "odp", "png",
    "jpg", "jpeg", "gif", "webp", "heic", "tiff", "zip", "7z", "eml", "msg", "fig", "sketch",
];

/// What people say when they have sent something along, in English and in French.
const PHRASES: &[&str] = &[
    "see attached",
    "see the attached",
    "see attachment",
    "see the attachment",
    "find attached",
    "per the attached",
    "in the attached",
    "as attached",
    "ci-joint",
    "pièce jointe",
    "pièces jointes",
];

/// Each phrase under its place in the list.
static LEXICON: LazyLock<Lexicon<usize>> =
    LazyLock::new(|| Lexicon::new(PHRASES.iter().copied().enumerate()));

/// The words that speak of a file sent along: a phrase, or the bare name of a document. A path, an
/// address and the name of a source file mean something that is there.
#[must_use]
pub fn mention(title: &str, description: &str) -> Option<String> {
    let text = format!("{title}\n{}", without_code(description));
    let lower = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let phrase = LEXICON.found(&lower, says).into_iter().min().map(|first| PHRASES[first]);
    phrase.map(str::to_owned).or_else(|| {
        text.split_whitespace().map(bare).find(|word| is_document(word)).map(str::to_owned)
    })
}

/// Whether a phrase stands there as words of its own. The French one is inflected.
fn says(phrase: usize, place: &Place<'_>) -> bool {
    let is_inflected = PHRASES[phrase] == "ci-joint";
    let after = place.after.trim_start_matches(|c| is_inflected && matches!(c, 'e' | 's'));
    place.begins_word() && Place { after, ..*place }.ends_word()
}

/// The text without its fenced blocks: what stands there is code.
fn without_code(text: &str) -> String {
    let mut inside = false;
    let keeps = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    };
    text.lines().filter(keeps).collect::<Vec<_>>().join("\n")
}

/// A word without the signs around it.
fn bare(word: &str) -> &str {
    let around = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '*' | '.' | '@');
    word.trim_matches(around).trim_end_matches('.')
}

fn is_document(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let is_name = |c: char| c.is_alphanumeric() || "._-()".contains(c);
    !stem.is_empty()
        && stem.chars().all(is_name)
        && stem.starts_with(char::is_alphanumeric)
        && DOCUMENTS.contains(&ending.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_sent_along_is_noticed() {
        for text in [
            "Build the page of brief.pdf.",
            "Build the page (see `Brief v2.PDF`), please.",
            "The colours are those of \"mockup-final.png\"!",
            "Please see attached.",
            "As said, see\n the attached document",
            "Voir la pièce jointe",
            "Vous trouverez ci-joint le cahier des charges.",
            "Les textes ci-jointes font foi",
        ] {
            assert!(mention("Build it", text).is_some(), "{text}");
        }
        assert_eq!(mention("Do what brief.pdf says", ""), Some("brief.pdf".to_owned()));
    }

    #[test]
    fn what_is_in_the_repository_or_on_the_web_is_no_file_that_was_sent() {
        for text in [
            "The header (web/src/routes/dashboard/Header.svelte) should have a toggle.",
            "Change README.md, Cargo.toml, main.rs and index.html.",
            "Serve docs/spec.pdf and .\\img\\logo.png.",
            "As in https://example.com/brief.pdf.",
            "Take any *.pdf and files that end with .pdf.",
            "Listeners attached to the document; see attachments of a mail.",
            "Version 1.2 of a.b, e.g. that.",
            "Write to ada@example.zip.",
            "```\nopen brief.pdf\nsee attached\n```\nRun it.",
            "The button is attached to the header.",
        ] {
            assert_eq!(mention("Do it", text), None, "{text}");
        }
    }
}
