//! Long lists that are read whole and shown a part at a time, so that their pages stay light.

use crate::web::humane;

/// Which part of a list a page shows, and where the others are. Pages include
/// `parts/sheets.html` for it, and call it `sheets`.
#[derive(Debug, Default)]
pub(super) struct Sheets {
    /// `41 to 80 of 130`; empty where the list is whole.
    pub(super) said: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Sheets {
    /// The part of a list that is asked for, of `size` at most: the first is 1. `address` leads to
    /// the list and ends with a `?` or `&`.
    pub(super) fn of<T>(all: Vec<T>, asked: usize, size: usize, address: &str) -> (Vec<T>, Self) {
        let (count, last) = (all.len(), all.len().div_ceil(size).max(1));
        if last == 1 {
            return (all, Self::default());
        }
        let page = asked.clamp(1, last);
        let first = (page - 1) * size;
        let shown: Vec<T> = all.into_iter().skip(first).take(size).collect();
        let (from, to) = (humane::count(first as u64 + 1), first + shown.len());
        let said = format!("{from} to {} of {}", humane::count(to as u64), count);
        let at = |page: usize| format!("{address}page={page}");
        let before = (page > 1).then(|| at(page - 1));
        (shown, Self { said, before, after: (page < last).then(|| at(page + 1)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_shown_part_by_part_and_nothing_twice() {
        let list = || (1..=95).collect::<Vec<_>>();
        let mut seen = Vec::new();
        for page in 1..=3 {
            let (shown, sheets) = Sheets::of(list(), page, 40, "/keys?");
            seen.extend(shown);
            assert_eq!(sheets.before.is_some(), page > 1);
            assert_eq!(sheets.after.is_some(), page < 3);
        }
        assert_eq!(seen, list());

        let (_, middle) = Sheets::of(list(), 2, 40, "/keys?show=all&");
        assert_eq!(middle.said, "41 to 80 of 95");
        assert_eq!(middle.after.unwrap(), "/keys?show=all&page=3");
        assert_eq!(Sheets::of(list(), 99, 40, "/keys?").0.len(), 15);
        assert_eq!(Sheets::of(list(), 0, 95, "/keys?").1.said, "");
    }
}
