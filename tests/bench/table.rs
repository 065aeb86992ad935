//! What was measured, as rows of a table.

use std::fmt::Write as _;
use std::time::Duration;

/// Figures of one kind, from several rounds.
#[derive(Clone, Default)]
pub(crate) struct Figures(Vec<f64>);

/// One line of the table.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: &'static str,
    /// What came out, with the spread of the rounds.
    pub(crate) ours: String,
    /// The peer's figure in the same run; empty where there is none.
    pub(crate) peer: String,
    /// The figure that was promised, and what it came to.
    pub(crate) promise: String,
    /// Whether the promise was kept.
    pub(crate) kept: bool,
}

impl Figures {
    pub(crate) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    /// The middle one.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The middle one, and how far the others lie.
    pub(crate) fn shown(&self, show: impl Fn(f64) -> String) -> String {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{} ({} – {})", show(self.median()), show(least), show(most))
    }
}

impl FromIterator<f64> for Figures {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

/// Calls a second.
pub(crate) fn rate(figure: f64) -> String {
    let whole = format!("{figure:.0}");
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{text}/s")
}

/// Milliseconds.
pub(crate) fn millis(figure: f64) -> String {
    match figure {
        small if small < 10.0 => format!("{small:.2} ms"),
        large => format!("{large:.0} ms"),
    }
}

/// A time in milliseconds.
pub(crate) fn in_millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Mebibytes.
pub(crate) fn mebibytes(figure: f64) -> String {
    format!("{figure:.1} MiB")
}

/// The table as Markdown.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = "| what | Assay | peer | promised | kept |\n|---|---|---|---|---|\n".to_owned();
    for row in rows {
        let kept = if row.kept { "yes" } else { "**no**" };
        let line = [row.what, &row.ours, &row.peer, &row.promise, kept].join(" | ");
        writeln!(text, "| {line} |").expect("a string takes everything");
    }
    text
}
