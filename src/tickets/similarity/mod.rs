//! How alike two briefs are. Pure: the same texts give the same answer in every version.
//!
//! A text becomes words: lower case, accents folded, punctuation gone, words that carry nothing
//! left out, endings and common synonyms made one. The score is the share of words and of pairs of
//! neighbouring words that two texts have in common; pairs end with their sentence, so the order
//! of sentences does not matter. What makes two briefs different whatever the score says is told
//! apart: another number, another file, an opposite, one word in the same place of the title.

mod words;

use std::collections::BTreeSet;

use words::{Token, sentences};

/// Characters of a description that are compared word by word; what lies behind must be the same.
const LOOKED_AT_MAX: usize = 20_000;

/// How much of the score the title has at least where a brief has a description. It has more where
/// the descriptions are short: the same line under every title says nothing of what is asked.
const TITLE_SHARE_MIN: f64 = 0.35;

/// How much of a text's score its single words have; its pairs of words have the rest.
const WORDS_SHARE: f64 = 0.6;

/// Words that differ in the same place of two titles at most, for them to be a form filled twice.
const SLOT_MAX: usize = 2;

/// Words of a description that may be a line under every ticket.
const LINE_WORDS: usize = 8;

/// Keys of a brief by which briefs like it are found.
pub const KEYS: usize = 6;

/// A brief made ready to be compared.
#[derive(Debug, Clone)]
pub struct Profile {
    title: Words,
    /// The title's words in their order.
    title_order: Vec<u64>,
    body: Words,
    /// The title's numbers in their order: 5 of 10 is not 10 of 5.
    title_numbers: Vec<String>,
    numbers: BTreeSet<String>,
    names: BTreeSet<String>,
    /// The part of the description that is not compared word by word; 0 where there is none.
    tail: u64,
}

/// The words of a text and its pairs of neighbours, each sorted and without repetition.
#[derive(Debug, Clone, Default)]
struct Words {
    single: Vec<u64>,
    pairs: Vec<u64>,
}

/// What makes two briefs different, however alike their words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// One has a number that the other lacks.
    Number,
    /// Each names a file or identifier that the other does not.
    Name,
    /// One title says the opposite of the other, such as enable and disable.
    Opposite,
    /// The titles are one form, filled with another word.
    Slot,
    /// They are long, and differ after what is compared word by word.
    Tail,
}

impl Profile {
    /// The profile of a brief.
    #[must_use]
    pub fn of(title: &str, description: &str) -> Self {
        let cut =
            description.char_indices().nth(LOOKED_AT_MAX).map_or(description.len(), |at| at.0);
        let (near, far) = description.split_at(cut);
        let mut profile = Self {
            title: Words::default(),
            title_order: Vec::new(),
            body: Words::default(),
            title_numbers: Vec::new(),
            numbers: BTreeSet::new(),
            names: BTreeSet::new(),
            tail: tail(far),
        };
        let (title_words, numbers) = profile.take(title);
        profile.title_numbers = numbers;
        profile.title_order = title_words.concat();
        profile.title = Words::of(&title_words);
        let (body, _) = profile.take(near);
        profile.body = Words::of(&body);
        if profile.title_order.is_empty() && profile.body.single.is_empty() {
            // A title of signs alone is a word of its own.
            let whole = vec![vec![hash(title.trim())]];
            profile.title = Words::of(&whole);
            profile.title_order = whole.concat();
        }
        profile
    }

    /// The hashed words of a text, a list a sentence, and its numbers; numbers and names are noted.
    fn take(&mut self, text: &str) -> (Vec<Vec<u64>>, Vec<String>) {
        let (mut out, mut numbers) = (Vec::new(), Vec::new());
        for sentence in sentences(text) {
            let mut words = Vec::with_capacity(sentence.len());
            for token in sentence {
                words.push(hash(token.text()));
                match token {
                    Token::Number(number) => {
                        numbers.push(number.clone());
                        self.numbers.insert(number);
                    }
                    Token::Name(name) => {
                        self.names.insert(name);
                    }
                    Token::Word(_) => {}
                }
            }
            out.push(words);
        }
        (out, numbers)
    }

    /// How alike two briefs are, from 0 for nothing in common to 1 for the same words.
    #[must_use]
    pub fn score(&self, other: &Self) -> f64 {
        let title = self.title.alike(&other.title);
        if self.body.single.is_empty() && other.body.single.is_empty() {
            return title;
        }
        let share = self.title_share(other);
        share * title + (1.0 - share) * self.body.alike(&other.body)
    }

    /// How much of the score the titles have: their share of all words, and never too little.
    fn title_share(&self, other: &Self) -> f64 {
        let count = |words: usize| u32::try_from(words).map_or(f64::INFINITY, f64::from);
        let titles = count(self.title.single.len() + other.title.single.len());
        let bodies = count(self.body.single.len() + other.body.single.len());
        (titles / (titles + bodies)).max(TITLE_SHARE_MIN)
    }

    /// What makes the two different, if anything does beside the score.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        if self.numbers != other.numbers || self.has_titles_numbers_moved(other) {
            return Some(Difference::Number);
        }
        if !self.names.is_subset(&other.names) && !other.names.is_subset(&self.names) {
            return Some(Difference::Name);
        }
        if self.tail != other.tail {
            return Some(Difference::Tail);
        }
        if words::opposed(&self.title.single, &other.title.single, hash) {
            return Some(Difference::Opposite);
        }
        let filled = is_form_filled_twice(&self.title_order, &other.title_order)
            || self.is_told_by_titles_alone(other);
        filled.then_some(Difference::Slot)
    }

    /// Whether each title has a word that the other lacks while the descriptions are the same few
    /// words: a line that goes under every ticket, so that the titles alone say what is asked.
    fn is_told_by_titles_alone(&self, other: &Self) -> bool {
        let lacks = |one: &Self, other: &Self| {
            one.title.single.iter().any(|word| !other.title.single.contains(word))
        };
        let is_short = self.body.single.len() < self.title.single.len().max(LINE_WORDS);
        self.body.single == other.body.single
            && !self.body.single.is_empty()
            && is_short
            && lacks(self, other)
            && lacks(other, self)
    }

    /// Whether the titles have the same numbers in another order.
    fn has_titles_numbers_moved(&self, other: &Self) -> bool {
        let sorted = |profile: &Self| {
            let mut numbers = profile.title_numbers.clone();
            numbers.sort_unstable();
            numbers
        };
        self.title_numbers != other.title_numbers && sorted(self) == sorted(other)
    }

    /// The keys under which the brief is found by briefs like it: two that have most of their
    /// words in common have a key in common, all but surely. Half of the keys stand for the two
    /// smallest of the words under an order of their own, which finds what was worded anew; the
    /// others for the smallest of the pairs of words, which are rare, so that few others are met.
    /// Each stands for all numbers as well, since another number is another brief. `place` parts
    /// what must not meet, such as projects.
    #[must_use]
    pub fn keys(&self, place: &[u8]) -> [i64; KEYS] {
        let mut seed = hash_bytes(place);
        for number in &self.numbers {
            seed = mixed(seed ^ hash(number));
        }
        let least = |words: &[u64], more: &[u64], order: u64| {
            let all = words.iter().chain(more);
            all.map(|word| mixed(word ^ mixed(order))).min().unwrap_or(0)
        };
        std::array::from_fn(|at| {
            let order = at as u64;
            let (one, two) = if at < KEYS / 2 {
                let of = |order| least(&self.title.single, &self.body.single, order);
                (of(2 * order), of(2 * order + 1))
            } else {
                (least(&self.title.pairs, &self.body.pairs, 2 * order), 0)
            };
            mixed(seed ^ mixed(one ^ order) ^ two.rotate_left(17)).cast_signed()
        })
    }
}

impl Words {
    fn of(sentences: &[Vec<u64>]) -> Self {
        let mut single = sentences.concat();
        let pair = |two: &[u64]| mixed(two[0].rotate_left(1) ^ mixed(two[1]));
        let mut pairs: Vec<u64> =
            sentences.iter().flat_map(|words| words.windows(2).map(pair)).collect();
        for list in [&mut single, &mut pairs] {
            list.sort_unstable();
            list.dedup();
        }
        Self { single, pairs }
    }

    fn alike(&self, other: &Self) -> f64 {
        let single = shared(&self.single, &other.single);
        if self.pairs.is_empty() && other.pairs.is_empty() {
            return single;
        }
        WORDS_SHARE * single + (1.0 - WORDS_SHARE) * shared(&self.pairs, &other.pairs)
    }
}

/// Twice what two sorted lists have in common, of what they have together.
#[expect(clippy::cast_precision_loss, reason = "a brief has far fewer words than 2^52")]
fn shared(one: &[u64], other: &[u64]) -> f64 {
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    (2 * common) as f64 / (one.len() + other.len()) as f64
}

/// Whether two titles are the same but for one place, which holds other words: `Test the orders
/// page` and `Test the invoices page`.
fn is_form_filled_twice(one: &[u64], other: &[u64]) -> bool {
    let before = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[before..], &other[before..]);
    let after = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - after], &other[..other.len() - after]);
    let is_slot = |words: &[u64]| (1..=SLOT_MAX).contains(&words.len());
    before + after >= 1
        && is_slot(one)
        && is_slot(other)
        && one.iter().all(|word| !other.contains(word))
}

fn tail(text: &str) -> u64 {
    if text.is_empty() {
        0
    } else {
        text.split_whitespace().fold(1, |sum, word| mixed(sum ^ hash(word)))
    }
}

fn hash(text: &str) -> u64 {
    hash_bytes(text.as_bytes())
}

/// FNV-1a: kept in rows, so it must be the same for ever.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A permutation of the numbers in which neighbours end far apart (the finaliser of `SplitMix64`).
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn between(one: (&str, &str), other: (&str, &str)) -> (f64, Option<Difference>) {
        let (one, other) = (Profile::of(one.0, one.1), Profile::of(other.0, other.1));
        (one.score(&other), one.difference(&other))
    }

    #[test]
    fn case_accents_punctuation_and_small_words_do_not_matter() {
        let alike = between(
            ("Corriger l'éditeur de la page !", "Il PLANTE, à chaque fois."),
            ("corriger editeur page", "plante chaque fois"),
        );

        assert_eq!(alike, (1.0, None));
    }

    #[test]
    fn a_number_a_file_an_opposite_and_a_filled_form_make_two_briefs() {
        for (one, other, expected) in [
            ("Keep logs for 30 days", "Keep logs for 60 days", Difference::Number),
            ("Load 5 pages of 10", "Load 10 pages of 5", Difference::Number),
            ("Test src/a.rs well", "Test src/b.rs well", Difference::Name),
            ("Enable the cache", "Disable the cache", Difference::Opposite),
            ("Test the orders page", "Test the invoices page", Difference::Slot),
        ] {
            assert_eq!(between((one, "x"), (other, "x")).1, Some(expected), "{one} / {other}");
            assert_eq!(between((one, "x"), (one, "x")).1, None, "{one}");
        }
    }

    #[test]
    fn long_briefs_that_differ_far_down_differ() {
        let long = "The same word again. ".repeat(2_000);

        let (score, difference) = between(("T", &format!("{long}a")), ("T", &format!("{long}b")));

        assert!(score > 0.99, "{score}");
        assert_eq!(difference, Some(Difference::Tail));
    }

    #[test]
    fn keys_part_projects_and_numbers_and_stay_the_same_for_ever() {
        let profile = Profile::of("Keep logs for 30 days", "");
        let other = Profile::of("Keep logs for 60 days", "");

        assert_ne!(profile.keys(b"a"), profile.keys(b"b"));
        assert!(profile.keys(b"a").iter().all(|key| !other.keys(b"a").contains(key)));
        assert_eq!(profile.keys(b"a")[0], -8_507_501_809_778_658_435);
    }

    fn brief() -> impl Strategy<Value = (String, String)> {
        ("\\PC{0,60}", "([a-zé]{1,9}[ .,\n]){0,40}|\\PC{0,200}")
    }

    proptest! {
        #[test]
        fn a_brief_is_like_itself(of in brief()) {
            let profile = Profile::of(&of.0, &of.1);

            prop_assert!((profile.score(&profile) - 1.0).abs() < 1e-9);
            prop_assert_eq!(profile.difference(&profile), None);
        }

        #[test]
        fn likeness_has_no_direction(one in brief(), other in brief()) {
            let (one, other) = (Profile::of(&one.0, &one.1), Profile::of(&other.0, &other.1));

            prop_assert!((one.score(&other) - other.score(&one)).abs() < 1e-9);
            prop_assert_eq!(one.difference(&other), other.difference(&one));
            prop_assert!((0.0..=1.000_001).contains(&one.score(&other)));
        }

        #[test]
        fn the_order_of_sentences_does_not_matter(
            said in proptest::collection::vec("[a-z]{2,8}( [a-z]{2,8}){0,6}", 1..8),
            turn in 0_usize..8,
        ) {
            let mut turned = said.clone();
            turned.rotate_left(turn % said.len());
            let (one, other) = (said.join(". "), turned.join(".\n"));
            let (one, other) = (Profile::of("T", &one), Profile::of("T", &other));

            prop_assert!((one.score(&other) - 1.0).abs() < 1e-9);
            prop_assert_eq!(one.keys(b""), other.keys(b""));
        }
    }
}
