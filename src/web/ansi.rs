//! Log lines with terminal colours, as runs of text with a class each. Everything that is neither
//! text nor a colour is dropped: cursor moves, titles, links, bells, control characters.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::base::text;

/// Characters of a line that are shown; what is longer is cut.
pub const MAX_LINE_CHARS: usize = 4_000;

/// The colour components of the eight plain and the eight bright terminal colours, to find the
/// nearest of them.
const PALETTE: [[i32; 3]; 16] = [
    [0, 0, 0],
    [170, 0, 0],
    [0, 170, 0],
    [170, 85, 0],
    [0, 0, 170],
    [170, 0, 170],
    [0, 170, 170],
    [170, 170, 170],
    [85, 85, 85],
    [255, 85, 85],
    [85, 255, 85],
    [255, 255, 85],
    [85, 85, 255],
    [255, 85, 255],
    [85, 255, 255],
    [255, 255, 255],
];

/// One run of text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The classes of the style, such as `a-b a-f1`; empty for plain text.
    pub class: String,
    /// The text, not yet escaped.
    pub text: String,
}

/// One line as runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(path = "parts/log_line.html")]
pub struct Line {
    /// The runs, in their order.
    pub runs: Vec<Run>,
}

impl HtmlSafe for Line {}

/// Reads the lines of one log in their order; a style set in one line goes on in the next.
#[derive(Debug, Clone, Default)]
pub struct Reader {
    style: Style,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
    struck: bool,
    ink: Option<u8>,
    ground: Option<u8>,
}

impl Reader {
    /// The lines of a whole text.
    #[must_use]
    pub fn lines(&mut self, log: &str) -> Vec<Line> {
        log.lines().map(|line| self.line(line)).collect()
    }

    /// One line, without its line feed. Of a line that was overwritten by carriage returns, as
    /// progress bars do, the last state is shown.
    #[must_use]
    pub fn line(&mut self, line: &str) -> Line {
        let line = line.trim_end_matches('\r');
        let mut runs: Vec<Run> = Vec::new();
        let mut is_cut = false;
        for part in line.split_inclusive('\r') {
            runs.clear();
            is_cut = self.part(part, &mut runs);
        }
        if is_cut {
            runs.push(Run { class: "a-d".to_owned(), text: "…".to_owned() });
        }
        Line { runs }
    }

    /// Reads one state of a line; whether some of it had to be left out.
    fn part(&mut self, part: &str, runs: &mut Vec<Run>) -> bool {
        let (mut rest, mut left, mut is_cut) = (part, MAX_LINE_CHARS, false);
        while let Some(at) = rest.find('\u{1b}') {
            is_cut |= self.push(&rest[..at], runs, &mut left);
            let sequence = &rest[at + 1..];
            let length = self.sequence(sequence);
            rest = &sequence[length..];
        }
        self.push(rest, runs, &mut left) || is_cut
    }

    /// Adds text while there is room; whether some of it had to be left out.
    fn push(&self, said: &str, runs: &mut Vec<Run>, left: &mut usize) -> bool {
        let said = text::printable(said);
        let shown: String = said.chars().take(*left).collect();
        let is_cut = shown.len() < said.len();
        if shown.is_empty() {
            return is_cut;
        }
        *left -= shown.chars().count();
        let class = self.style.class();
        match runs.last_mut() {
            Some(last) if last.class == class => last.text.push_str(&shown),
            _ => runs.push(Run { class, text: shown }),
        }
        is_cut
    }

    /// Takes the escape sequence at the start of `text`, behind the escape itself; its length.
    fn sequence(&mut self, text: &str) -> usize {
        match text.chars().next() {
            Some('[') => self.control(&text[1..]) + 1,
            Some(']' | 'P' | 'X' | '^' | '_') => string_length(text),
            Some(c) if c.is_ascii() && c != '\u{1b}' => {
                // Two-character sequences, and those that choose a character set by a third.
                let set = matches!(c, '(' | ')' | '*' | '+' | '#' | ' ' | '%');
                let third = text[1..].chars().next().filter(|_| set);
                1 + third.map_or(0, char::len_utf8)
            }
            _ => 0,
        }
    }

    /// Takes a control sequence behind its bracket; only the one that sets the style counts.
    fn control(&mut self, text: &str) -> usize {
        let end = text.find(|c: char| !matches!(c, '\u{20}'..='\u{3f}')).unwrap_or(text.len());
        match text[end..].chars().next() {
            Some('m') => {
                self.style.apply(&text[..end]);
                end + 1
            }
            Some('\u{40}'..='\u{7e}') => end + 1,
            _ => end,
        }
    }
}

/// The length of a sequence that carries a text, such as a window title: to its bell or its
/// string terminator; the whole rest where it has neither.
fn string_length(text: &str) -> usize {
    let bell = text.find('\u{7}').map(|at| at + 1);
    let terminator = text.find("\u{1b}\\").map(|at| at + 2);
    bell.into_iter().chain(terminator).min().unwrap_or(text.len())
}

impl Style {
    fn apply(&mut self, parameters: &str) {
        let mut codes = parameters.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underline = true,
                9 => self.struck = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                29 => self.struck = false,
                30..=37 => self.ink = small(code - 30),
                38 => self.ink = chosen(&mut codes),
                39 => self.ink = None,
                40..=47 => self.ground = small(code - 40),
                48 => self.ground = chosen(&mut codes),
                49 => self.ground = None,
                90..=97 => self.ink = small(code - 82),
                100..=107 => self.ground = small(code - 92),
                _ => {}
            }
        }
    }

    fn class(self) -> String {
        let flags = [
            (self.bold, "a-b"),
            (self.dim, "a-d"),
            (self.italic, "a-i"),
            (self.underline, "a-u"),
            (self.struck, "a-s"),
        ];
        let mut classes: Vec<String> =
            flags.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()).collect();
        classes.extend(self.ink.map(|colour| format!("a-f{colour}")));
        classes.extend(self.ground.map(|colour| format!("a-g{colour}")));
        classes.join(" ")
    }
}

fn small(code: u16) -> Option<u8> {
    u8::try_from(code).ok()
}

/// The colour behind 38 or 48: `5;n` of 256 or `2;r;g;b`, as the nearest of sixteen.
fn chosen(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => match i32::from(codes.next()?) {
            n @ 0..16 => u8::try_from(n).ok(),
            n @ 16..232 => {
                let level = |step: i32| if step == 0 { 0 } else { 55 + step * 40 };
                let n = n - 16;
                Some(nearest([level(n / 36), level(n / 6 % 6), level(n % 6)]))
            }
            n => Some(nearest([8 + (n.min(255) - 232) * 10; 3])),
        },
        2 => {
            let mut part = || codes.next().map(i32::from);
            Some(nearest([part()?, part()?, part()?]))
        }
        _ => None,
    }
}

fn nearest(colour: [i32; 3]) -> u8 {
    let distance = |other: &[i32; 3]| -> i32 {
        other.iter().zip(colour).map(|(a, b)| (a - b.clamp(0, 255)).pow(2)).sum()
    };
    let found = (0_u8..).zip(&PALETTE).min_by_key(|(_, other)| distance(other));
    found.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> String {
        Reader::default().line(line).to_string()
    }

    #[test]
    fn colours_become_classes_and_the_rest_is_escaped() {
        assert_eq!(
            shown("\u{1b}[1;31merror\u{1b}[0m: a < b"),
            "<span class=\"a-b a-f1\">error</span>: a &#60; b"
        );
    }

    #[test]
    fn large_palettes_come_down_to_sixteen() {
        assert_eq!(shown("\u{1b}[38;5;196mx"), "<span class=\"a-f1\">x</span>");
        assert_eq!(shown("\u{1b}[38;2;90;90;250mx"), "<span class=\"a-f12\">x</span>");
        assert_eq!(shown("\u{1b}[48;5;255mx"), "<span class=\"a-g15\">x</span>");
    }

    #[test]
    fn a_style_goes_on_in_the_next_line() {
        let lines = Reader::default().lines("\u{1b}[32mone\ntwo\u{1b}[m\nthree");

        let classes: Vec<_> = lines.iter().map(|line| line.runs[0].class.as_str()).collect();
        assert_eq!(classes, ["a-f2", "a-f2", ""]);
    }

    #[test]
    fn what_moves_the_cursor_or_sets_a_title_is_dropped() {
        assert_eq!(shown("a\u{1b}[2K\u{1b}[1Gb\u{1b}]0;title\u{7}c\u{1b}(Bd\u{8}"), "abcd");
        assert_eq!(shown("\u{1b}]8;;https://evil.test\u{1b}\\link\u{1b}]8;;\u{1b}\\"), "link");
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_shown() {
        assert_eq!(shown("10%\r50%\r100%\r"), "100%");
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let line = Reader::default().line(&"x".repeat(MAX_LINE_CHARS + 10));

        assert_eq!(line.runs[0].text.len(), MAX_LINE_CHARS);
        assert_eq!(line.runs[1].text, "…");
        assert_eq!(Reader::default().line(&"x".repeat(MAX_LINE_CHARS)).runs.len(), 1);
    }

    proptest! {
        #[test]
        fn no_line_brings_a_tag_or_a_control_character(
            line in "(\u{1b}\\[[0-9;:]{0,8}[a-zA-Z]?|\u{1b}.?|[ -~é\r\u{7}]){0,40}"
        ) {
            let mut reader = Reader::default();
            for run in reader.line(&line).runs {
                prop_assert!(!run.text.chars().any(|c| c.is_control() && c != '\t'));
                let is_plain = |c: char| c.is_ascii_alphanumeric() || "- ".contains(c);
                prop_assert!(run.class.chars().all(is_plain));
            }
        }
    }
}
