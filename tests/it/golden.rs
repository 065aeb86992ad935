//! Golden files: what a published shape looks like, kept in `tests/golden` and compared as text.
//! `ASSAY_GOLDEN=write cargo test` writes them anew; read the difference before committing it.

use std::fs;
use std::path::PathBuf;

/// Where a golden file lies.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Whether the files are to be written instead of compared.
#[expect(clippy::disallowed_methods, reason = "the one switch of the tests, not of the program")]
pub(crate) fn writing() -> bool {
    std::env::var("ASSAY_GOLDEN").is_ok_and(|value| value == "write")
}

/// Demands that `actual` is what the golden file holds, or writes it.
pub(crate) fn matches(name: &str, actual: &str) {
    let path = path(name);
    if writing() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = first_difference(&expected, actual) {
        panic!(
            "{} differs: {difference}\nIf the change is meant: ASSAY_GOLDEN=write cargo test",
            path.display()
        );
    }
}

/// Where two texts part, in words.
fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let mut pairs = expected.lines().zip(actual.lines()).enumerate();
    let Some((index, (old, new))) = pairs.find(|(_, (old, new))| old != new) else {
        let (old, new) = (expected.lines().count(), actual.lines().count());
        return Some(format!("the first {} lines agree, of {old} and {new}", old.min(new)));
    };
    Some(format!("line {}\n  golden: {old}\n  actual: {new}", index + 1))
}

#[test]
fn the_first_difference_is_named() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert!(first_difference("a\nb\n", "a\nc\n").unwrap().starts_with("line 2"));
    assert!(first_difference("a\n", "a\nb\n").unwrap().contains("of 1 and 2"));
    assert!(first_difference("a", "a\n").is_some());
}
