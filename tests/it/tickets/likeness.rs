//! Which briefs count as the same, held to pairs that people judged: `tests/data/briefs.json`.

use assay::projects::dispatching::Dispatching;
use assay::tickets::similarity::Profile;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Pair {
    pub(super) same: bool,
    pub(super) sort: String,
    pub(super) language: String,
    pub(super) one: (String, String),
    pub(super) other: (String, String),
}

pub(super) fn pairs() -> Vec<Pair> {
    serde_json::from_str(include_str!("../../data/briefs.json")).unwrap()
}

struct Judged {
    pair: Pair,
    score: f64,
    is_taken: bool,
    shares_a_key: bool,
}

fn judged() -> Vec<Judged> {
    let threshold = Dispatching::default().duplicate_threshold.value();
    let judge = |pair: Pair| {
        let one = Profile::of(&pair.one.0, &pair.one.1);
        let other = Profile::of(&pair.other.0, &pair.other.1);
        let score = one.score(&other);
        let is_taken = score >= threshold && one.difference(&other).is_none();
        let keys = other.keys(b"");
        let shares_a_key = one.keys(b"").iter().any(|key| keys.contains(key));
        Judged { pair, score, is_taken, shares_a_key }
    };
    pairs().into_iter().map(judge).collect()
}

#[test]
fn the_pairs_are_enough_and_of_every_sort() {
    let pairs = pairs();

    assert!(pairs.len() >= 60, "{}", pairs.len());
    let count = |sort: &str, same: bool, language: &str| {
        let of = |pair: &&Pair| pair.sort == sort && pair.same == same && pair.language == language;
        pairs.iter().filter(of).count()
    };
    for language in ["en", "fr"] {
        assert!(count("reworded", true, language) >= 5, "{language}");
        assert!(count("reordered", true, language) >= 2, "{language}");
        assert!(count("one number", false, language) >= 3, "{language}");
        assert!(count("same title", false, language) >= 3, "{language}");
    }
}

/// Precision: of the pairs that are taken for the same, those that are. Recall: of the pairs that
/// are the same, those that are taken for it. Filing twice is a nuisance and swallowing is a loss,
/// so the default is set where nothing is swallowed.
#[test]
fn the_default_threshold_swallows_nothing_and_finds_seven_of_eight() {
    let judged = judged();

    let swallowed: Vec<_> = judged.iter().filter(|one| one.is_taken && !one.pair.same).collect();
    let missed: Vec<_> = judged.iter().filter(|one| !one.is_taken && one.pair.same).collect();
    let titles = |found: &[&Judged]| -> Vec<String> {
        let say =
            |one: &&Judged| format!("{:.2} {} / {}", one.score, one.pair.one.0, one.pair.other.0);
        found.iter().map(say).collect()
    };
    assert_eq!(titles(&swallowed), Vec::<String>::new(), "precision must be 1");
    let same = judged.iter().filter(|one| one.pair.same).count();
    let found = same - missed.len();
    assert!(found * 8 >= same * 7, "recall is {found} of {same}; missed: {:#?}", titles(&missed));
}

#[test]
fn what_counts_as_the_same_is_found_by_a_key() {
    let lost = judged().into_iter().filter(|one| one.is_taken && !one.shares_a_key);

    let lost: Vec<String> = lost.map(|one| one.pair.one.0).collect();
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn another_number_and_another_body_are_never_the_same() {
    for one in judged() {
        if ["one number", "same title", "form", "opposite"].contains(&&*one.pair.sort) {
            assert!(!one.is_taken, "{} / {}", one.pair.one.0, one.pair.other.0);
        }
    }
}
