//! Lists of words that are looked for in one pass over a text, however many words there are. Pure.

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Words, each of a list that is named by an `L`.
pub(super) struct Lexicon<L> {
    words: AhoCorasick,
    /// The list of each word, in the order of the words.
    lists: Vec<L>,
}

/// Where a word stands in a text.
pub(super) struct Place<'t> {
    /// What comes before it.
    pub(super) before: &'t str,
    /// What comes after it.
    pub(super) after: &'t str,
}

impl Place<'_> {
    /// Whether a word begins there.
    pub(super) fn begins_word(&self) -> bool {
        self.before.chars().next_back().is_none_or(|c| !c.is_alphanumeric())
    }

    /// Whether a word ends there.
    pub(super) fn ends_word(&self) -> bool {
        self.after.chars().next().is_none_or(|c| !c.is_alphanumeric())
    }
}

impl<L: Copy + PartialEq> Lexicon<L> {
    /// The words of the lists. They are in lower case, and none is empty.
    pub(super) fn new<'w>(words: impl IntoIterator<Item = (L, &'w str)>) -> Self {
        let (lists, words): (Vec<L>, Vec<&str>) = words.into_iter().unzip();
        let words = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words);
        Self { words: words.expect("a few short words make a small automaton"), lists }
    }

    /// The lists of which the text, in lower case, has a word at a place that fits; each once, in
    /// no order.
    pub(super) fn found(&self, text: &str, fits: impl Fn(L, &Place<'_>) -> bool) -> Vec<L> {
        let mut found = Vec::new();
        for hit in self.words.find_overlapping_iter(text) {
            let list = self.lists[hit.pattern().as_usize()];
            let place = Place { before: &text[..hit.start()], after: &text[hit.end()..] };
            if !found.contains(&list) && fits(list, &place) {
                found.push(list);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_within_words_and_beside_each_other_are_found() {
        let lexicon = Lexicon::new([(1, "test"), (2, "add test"), (3, "té"), (1, "check")]);
        let anywhere = |_, _: &Place<'_>| true;
        let whole = |_, place: &Place<'_>| place.begins_word() && place.ends_word();

        assert_eq!(lexicon.found("add test", anywhere), [2, 1]);
        assert_eq!(lexicon.found("été, checks and a check", whole), [1]);
        assert_eq!(lexicon.found("é té", whole), [3]);
        assert!(lexicon.found("", anywhere).is_empty());
    }
}
