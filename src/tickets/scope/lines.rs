//! The lines of a brief, each with what its form says.

/// A line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    pub(super) mark: Mark,
    /// Whether it stands under a heading of acceptance points.
    pub(super) is_acceptance: bool,
    /// Whether it is indented or in a code block: it goes on with what stands above.
    pub(super) is_inside: bool,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// What the form of a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// `Phase 1: …`, in a heading of that level, if it is one. The word by its place in [`PARTS`].
    Phase { word: usize, number: u32, level: Option<usize> },
    /// A heading, with the number that it begins with.
    Heading { level: usize, number: Option<u32> },
    /// An entry of a list that is not indented, with its number.
    Entry { number: Option<u32> },
    /// A line such as `Acceptance:`.
    Label,
    /// Anything else.
    Text,
}

/// Words that begin a part when a number follows. A part may be called in one way only.
const PARTS: [&str; 10] =
    ["phase", "step", "part", "stage", "milestone", "étape", "partie", "lot", "jalon", "volet"];

/// Beginnings of headings and labels under which acceptance points stand.
const ACCEPTANCE: [&str; 7] = [
    "acceptance",
    "done when",
    "definition of done",
    "criteria",
    "critères",
    "recette",
    "acceptation",
];

/// Beginnings of labels that end a part.
const LABELS: [&str; 8] = [
    "constraints",
    "contraintes",
    "notes",
    "out of scope",
    "hors périmètre",
    "non-goals",
    "remarques",
    "rules",
];

const ROMAN: [&str; 10] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"];

/// The lines of a text, in their order.
pub(super) fn read(text: &str) -> Vec<Line<'_>> {
    let mut is_code = false;
    let mut is_acceptance = false;
    let mut out = Vec::new();
    for text in text.lines() {
        let is_fence = text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
        let is_indented = text.starts_with("  ") || text.starts_with('\t');
        let is_inside = is_code || is_fence || is_indented;
        let mark = if is_inside { Mark::Text } else { mark(text) };
        is_code ^= is_fence;
        match mark {
            Mark::Heading { .. } | Mark::Label => is_acceptance = begins(text, &ACCEPTANCE),
            Mark::Phase { .. } => is_acceptance = false,
            _ => {}
        }
        out.push(Line { text, mark, is_acceptance, is_inside });
    }
    out
}

fn mark(text: &str) -> Mark {
    let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
    let level = ((1..=6).contains(&hashes) && text[hashes..].starts_with(' ')).then_some(hashes);
    let said = bare(text);
    if let Some((word, number, _)) = phase(said) {
        return Mark::Phase { word, number, level };
    }
    if let Some(level) = level {
        return Mark::Heading { level, number: numbered(said).map(|(number, _)| number) };
    }
    let is_named = begins(text, &ACCEPTANCE) || begins(text, &LABELS);
    if is_named && text.trim_end().trim_end_matches('*').ends_with(':') {
        return Mark::Label;
    }
    if let Some((number, _)) = numbered(text) {
        return Mark::Entry { number: Some(number) };
    }
    let is_bullet = ["- ", "* ", "+ "].iter().any(|sign| text.starts_with(sign));
    if is_bullet { Mark::Entry { number: None } } else { Mark::Text }
}

fn begins(text: &str, words: &[&str]) -> bool {
    let said = bare(text).to_lowercase();
    words.iter().any(|word| said.starts_with(word))
}

/// A line without the signs of a heading and of bold type around it.
pub(super) fn bare(text: &str) -> &str {
    text.trim().trim_start_matches('#').trim().trim_matches('*').trim()
}

/// What a line calls the part that it begins.
pub(super) fn title_of<'t>(line: &Line<'t>) -> &'t str {
    let said = bare(line.text);
    let rest = match line.mark {
        Mark::Phase { .. } => phase(said).map(|(_, _, rest)| rest),
        _ => numbered(said).map(|(_, rest)| rest),
    };
    rest.unwrap_or(said).trim_matches('*').trim()
}

/// `Phase 1: …` as the word's place, the number and the rest.
fn phase(said: &str) -> Option<(usize, u32, &str)> {
    let (word, rest) = said.split_once(' ')?;
    let word = word.to_lowercase();
    let word = PARTS.iter().position(|part| *part == word)?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let roman = || ROMAN.iter().zip(1..).find(|(roman, _)| roman.eq_ignore_ascii_case(number));
    let number = number.parse().ok().or_else(|| roman().map(|(_, number)| number))?;
    let behind = rest.trim_start();
    // `Part 2 of the plan is late` speaks of a part and begins none.
    let is_start = behind.is_empty() || behind.starts_with([':', '.', '-', '–', '—', ')', '*']);
    let title = behind.trim_start_matches([':', '.', '-', '–', '—', ')', '*']).trim_start();
    is_start.then_some((word, number, title))
}

/// `1. …` or `1) …` as the number and the rest.
fn numbered(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].strip_prefix(['.', ')'])?;
    let is_entry = (1..=3).contains(&digits) && (rest.is_empty() || rest.starts_with(' '));
    is_entry
        .then(|| text[..digits].parse().ok())
        .flatten()
        .map(|number| (number, rest.trim_start()))
}
