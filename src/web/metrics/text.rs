//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write;

/// What a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It goes up and down.
    Gauge,
    /// It only grows, and begins anew with each start.
    Counter,
    /// How many of something stayed below each of some bounds.
    Histogram,
}

/// An answer that is being written.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// What the lines of a name are about. Comes once, before them.
    pub(super) fn head(&mut self, name: &str, kind: Kind, about: &str) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
        };
        self.write(format_args!("# HELP {name} {about}\n# TYPE {name} {kind}\n"));
    }

    /// One figure.
    pub(super) fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.write(format_args!("{name}"));
        for (at, (label, said)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let said = said.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            self.write(format_args!("{before}{label}=\"{said}\""));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        self.write(format_args!("{after} {value}\n"));
    }

    /// A figure that has no labels, with what it is about.
    pub(super) fn one(&mut self, name: &str, kind: Kind, about: &str, value: f64) {
        self.head(name, kind, about);
        self.line(name, &[], value);
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        self.0
    }

    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        self.0.write_fmt(what).expect("a string takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_label_says_stays_within_its_quotes() {
        let mut text = Text::default();

        text.one("up", Kind::Gauge, "Whether it is.", 1.5);
        text.line("jobs", &[("kind", "a\"b\\c\nd"), ("state", "due")], 3.0);

        let expected = "# HELP up Whether it is.\n# TYPE up gauge\nup 1.5\n\
            jobs{kind=\"a\\\"b\\\\c\\nd\",state=\"due\"} 3\n";
        assert_eq!(text.finish(), expected);
    }
}
