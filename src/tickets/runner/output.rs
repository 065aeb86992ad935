//! What an agent prints: read as it comes, cut into lines, made harmless, redacted, and handed on
//! one line at a time. Memory stays bounded whatever the agent does.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::usage::{Bound, Meter, Metered};
use crate::base::redact::MARK;
use crate::base::text::cut;
use crate::base::{Clock, Millis};
use crate::words;

words! {
    /// Where a line was printed.
    pub enum Stream {
        /// Standard output.
        Stdout = "stdout",
        /// Standard error.
        Stderr = "stderr",
    }
}

/// One line of a run's log, as people may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Where it was printed.
    pub stream: Stream,
    /// The text without its line end: redacted, at most [`MAX_LINE`] characters, and free of
    /// control characters other than tabs and ANSI colours.
    pub text: String,
    /// When it was read.
    pub at: Millis,
}

/// Takes secrets out of a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The longest line of a log, in characters. What is longer ends with `…`.
pub const MAX_LINE: usize = 8_000;
/// The longest line that is read whole, in bytes: an event of an agent may hold a whole file.
const MAX_RAW_LINE: usize = 4 * 1024 * 1024;
/// How many lines are kept for saying why a run failed.
pub const TAIL_LINES: usize = 40;
const READ_BYTES: usize = 16 * 1024;
/// The most lines of a private key; what comes after was no key.
const KEY_LINES: u16 = 200;

/// Both streams of a run, and what is learned from them.
pub(super) struct Feed {
    clock: Clock,
    redact: Redact,
    sink: mpsc::Sender<LogLine>,
    limit_bytes: u64,
    read_bytes: AtomicU64,
    last_output: AtomicI64,
    flooded: CancellationToken,
    bound: Option<Bound>,
    crossed: CancellationToken,
    learned: Mutex<Learned>,
}

/// A private key that is printed line by line: only its first line shows what the rest is.
#[derive(Default)]
struct PrintedKey {
    lines_left: u16,
}

impl PrintedKey {
    /// Whether the line belongs to a key and must not be shown.
    fn holds(&mut self, line: &str) -> bool {
        if let Some((_, rest)) = line.split_once("-----BEGIN ") {
            let is_private = rest.contains("PRIVATE KEY") && !rest.contains("-----END ");
            self.lines_left = if is_private { KEY_LINES } else { 0 };
            return false;
        }
        if self.lines_left == 0 || line.contains("-----END ") {
            self.lines_left = 0;
            return false;
        }
        self.lines_left -= 1;
        true
    }
}

struct Learned {
    keys: [PrintedKey; 2],
    meter: Meter,
    /// Which bound was crossed, in words.
    over: Option<String>,
    tail: VecDeque<String>,
}

impl Feed {
    pub(super) fn new(
        clock: Clock,
        redact: Redact,
        sink: mpsc::Sender<LogLine>,
        meter: Meter,
        limit_bytes: u64,
    ) -> Self {
        Self {
            last_output: AtomicI64::new(clock.now().0),
            clock,
            redact,
            sink,
            limit_bytes,
            read_bytes: AtomicU64::new(0),
            flooded: CancellationToken::new(),
            bound: None,
            crossed: CancellationToken::new(),
            learned: Mutex::new(Learned {
                keys: Default::default(),
                meter,
                over: None,
                tail: VecDeque::new(),
            }),
        }
    }

    /// The same for a run that ends once its use crosses a bound.
    pub(super) fn within(self, bound: Option<Bound>) -> Self {
        Self { bound, ..self }
    }

    /// When the agent last printed something; at first, when the run started.
    pub(super) fn last_output(&self) -> Millis {
        Millis(self.last_output.load(Ordering::Relaxed))
    }

    /// Cancelled once the agent has printed more than it may.
    pub(super) fn flooded(&self) -> &CancellationToken {
        &self.flooded
    }

    /// Cancelled once the agent has told that it used more than it may.
    pub(super) fn crossed(&self) -> &CancellationToken {
        &self.crossed
    }

    /// Which bound was crossed, in words.
    pub(super) fn over(&self) -> Option<String> {
        self.learned().over.clone()
    }

    /// Reads a stream to its end, or to where the run may print no more. Whoever talks with the
    /// agent gets its lines as they are, once they have been read here.
    pub(super) async fn read(
        &self,
        stream: Stream,
        mut source: impl AsyncRead + Unpin,
        talk: Option<mpsc::Sender<String>>,
    ) {
        let mut lines = Lines::default();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            // A stream that cannot be read any more has ended.
            let read = source.read(&mut buffer).await.unwrap_or(0);
            if read == 0 {
                break;
            }
            self.last_output.store(self.clock.now().0, Ordering::Relaxed);
            for line in lines.push(&buffer[..read]) {
                self.line(stream, &line, talk.as_ref()).await;
            }
            let read = u64::try_from(read).unwrap_or(u64::MAX);
            if self.read_bytes.fetch_add(read, Ordering::Relaxed) + read > self.limit_bytes {
                self.flooded.cancel();
                break;
            }
        }
        if let Some(line) = lines.rest() {
            self.line(stream, &line, talk.as_ref()).await;
        }
        if stream == Stream::Stdout {
            let rest = self.learned().meter.rest();
            self.show(stream, &rest).await;
        }
    }

    async fn line(&self, stream: Stream, raw: &[u8], talk: Option<&mpsc::Sender<String>>) {
        let text = String::from_utf8_lossy(raw);
        let lines = match stream {
            Stream::Stdout => self.metered(&text),
            Stream::Stderr => vec![text.clone().into_owned()],
        };
        self.show(stream, &lines).await;
        if let Some(talk) = talk {
            // A conversation that has ended wants no more.
            drop(talk.send(text.into_owned()).await);
        }
    }

    /// Puts a line of Assay's own into the log.
    pub(super) async fn note(&self, text: &str) {
        self.show(Stream::Stdout, &[text.to_owned()]).await;
    }

    /// A text of the agent's without secrets and control characters.
    pub(super) fn cleaned(&self, text: &str) -> String {
        (self.redact)(&harmless(text))
    }

    /// The same of a text of several lines.
    pub(super) fn cleaned_lines(&self, text: &str) -> String {
        let lines: Vec<String> = text.lines().map(|line| self.cleaned(line)).collect();
        cut(&lines.join("\n"), MAX_LINE)
    }

    async fn show(&self, stream: Stream, lines: &[String]) {
        for line in lines.iter().flat_map(|line| line.lines()) {
            // Redacted before it is cut: half a secret would not be known for one.
            let text = cut(&self.redacted(stream, &harmless(line)), MAX_LINE);
            self.remember(&text);
            let line = LogLine { stream, text, at: self.clock.now() };
            // Whoever stopped listening does not stop the run.
            drop(self.sink.send(line).await);
        }
    }

    /// What is shown of an agent's line, and with it the look at what it has used by now.
    fn metered(&self, text: &str) -> Vec<String> {
        let mut learned = self.learned();
        let shown = learned.meter.line(text);
        if let (Some(bound), None) = (&self.bound, &learned.over) {
            learned.over = bound(&learned.meter.so_far().usage);
            if learned.over.is_some() {
                self.crossed.cancel();
            }
        }
        shown
    }

    /// The line without secrets. A colour that begins within a secret hides it from the rules, as
    /// where `grep` marks what it found, so the line is looked at without its colours too.
    fn redacted(&self, stream: Stream, line: &str) -> String {
        let bare = without_colours(line);
        if self.learned().keys[stream as usize].holds(&bare) {
            return MARK.to_owned();
        }
        let clean = (self.redact)(&bare);
        if clean == bare { (self.redact)(line) } else { clean }
    }

    fn remember(&self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let mut learned = self.learned();
        if learned.tail.len() == TAIL_LINES {
            learned.tail.pop_front();
        }
        learned.tail.push_back(text.to_owned());
    }

    /// The last lines and what the agent said of its own use.
    pub(super) fn learned_so_far(&self) -> (Vec<String>, Metered) {
        let learned = self.learned();
        let metered = learned.meter.so_far();
        let complaint = metered.complaint.map(|text| cut(&(self.redact)(&text), MAX_LINE));
        (learned.tail.iter().cloned().collect(), Metered { complaint, ..metered })
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts bytes into lines. Holds at most one line, and of that at most [`MAX_RAW_LINE`] bytes.
#[derive(Default)]
struct Lines {
    held: Vec<u8>,
}

impl Lines {
    /// The lines that end within `bytes`.
    fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        let mut parts = bytes.split(|&byte| byte == b'\n');
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            self.hold(part);
            out.push(std::mem::take(&mut self.held));
        }
        self.hold(last);
        out
    }

    /// The last line, where it has no end.
    fn rest(self) -> Option<Vec<u8>> {
        (!self.held.is_empty()).then_some(self.held)
    }

    fn hold(&mut self, part: &[u8]) {
        let room = MAX_RAW_LINE.saturating_sub(self.held.len());
        self.held.extend_from_slice(&part[..part.len().min(room)]);
    }
}

/// The line without control characters, as a terminal would leave it after carriage returns.
/// Only ANSI colours stay: every other sequence could move, hide or rewrite what a person reads.
fn harmless(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '\u{1b}' {
            let length = escape_length(rest);
            let sequence = &rest[..length];
            if is_colour(sequence) {
                out.push_str(sequence);
            }
            rest = &rest[length..];
            continue;
        }
        if c == '\t' || !(c.is_control() || is_direction(c)) {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The text that is left of a harmless line once its colours are gone.
fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    out
}

/// The length of the escape sequence that `text` starts with, in bytes.
fn escape_length(text: &str) -> usize {
    let after = &text[1..];
    let ends_at = |from: usize, last: fn(char) -> bool| {
        let end = after[from..].char_indices().find(|&(_, c)| last(c));
        end.map_or(text.len(), |(at, c)| 1 + from + at + c.len_utf8())
    };
    match after.as_bytes().first() {
        Some(b'[') => ends_at(1, |c| ('\u{40}'..='\u{7e}').contains(&c) || !c.is_ascii()),
        // A title or a link, up to the bell or the string terminator.
        Some(b']' | b'P' | b'^' | b'_' | b'X') => ends_at(1, |c| c == '\u{7}' || c == '\\'),
        Some(byte) if byte.is_ascii() => 2,
        _ => 1,
    }
}

fn is_colour(sequence: &str) -> bool {
    let Some(inner) = sequence.strip_prefix("\u{1b}[").and_then(|rest| rest.strip_suffix('m'))
    else {
        return false;
    };
    inner.len() <= 32 && inner.bytes().all(|byte| byte.is_ascii_digit() || b";:".contains(&byte))
}

/// The text of a log line without its colours.
pub(super) fn uncoloured(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[escape_length(rest)..];
    }
    out.push_str(rest);
    out
}

/// Characters that make text read in another order than it is written.
const fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::projects::agents::OutputFormat;

    fn plain() -> Meter {
        Meter::new(OutputFormat::Plain)
    }

    #[test]
    fn colours_stay_and_everything_that_moves_the_cursor_goes() {
        for (line, expected) in [
            ("\u{1b}[1;32mok\u{1b}[0m", "\u{1b}[1;32mok\u{1b}[0m"),
            ("a\u{1b}[2J\u{1b}[1Ab", "ab"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;https://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}cdone\u{8}\u{0}", "done"),
            ("10 %\r50 %\r100 %\r", "100 %"),
            ("tab\tand é", "tab\tand é"),
            ("safe\u{202e}gpj", "safegpj"),
            ("cut \u{1b}[3", "cut "),
            ("cut \u{1b}", "cut "),
        ] {
            assert_eq!(harmless(line), expected, "{line:?}");
        }
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        let mut lines = Lines::default();

        assert_eq!(lines.push(b"on"), Vec::<Vec<u8>>::new());
        assert_eq!(lines.push(b"e\ntwo\n\nthr"), [b"one".to_vec(), b"two".to_vec(), vec![]]);
        assert_eq!(lines.rest(), Some(b"thr".to_vec()));
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let mut lines = Lines::default();
        for _ in 0..1_000 {
            assert!(lines.push(&[b'x'; READ_BYTES]).is_empty());
        }

        assert_eq!(lines.rest().unwrap().len(), MAX_RAW_LINE);
    }

    #[tokio::test]
    async fn a_secret_is_taken_out_before_a_long_line_is_cut() {
        let (sink, mut lines) = mpsc::channel(4);
        let redact: Redact = Arc::new(|text| text.replace("hunter2", "[redacted]"));
        let clock = Clock::fake(Millis(7));
        let feed = Feed::new(clock, redact, sink, plain(), 1 << 20);
        let long = format!("{}hunter2", "x".repeat(MAX_LINE - 3));

        feed.read(Stream::Stderr, long.as_bytes(), None).await;

        let line = lines.recv().await.unwrap();
        assert_eq!(line.text, format!("{}[r…", "x".repeat(MAX_LINE - 3)));
        assert_eq!((line.stream, line.at), (Stream::Stderr, Millis(7)));
        assert!(!feed.flooded().is_cancelled());
    }

    #[tokio::test]
    async fn what_exceeds_the_limit_is_a_flood_and_the_last_lines_are_kept() {
        let (sink, log) = mpsc::channel(1);
        drop(log);
        let clock = Clock::fake(Millis(7));
        let feed = Feed::new(clock, Arc::new(str::to_owned), sink, plain(), 300);
        let numbers = (0..100).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");

        feed.read(Stream::Stdout, numbers.as_bytes(), None).await;

        assert!(feed.flooded().is_cancelled());
        let (tail, _) = feed.learned_so_far();
        assert_eq!((tail.len(), tail[TAIL_LINES - 1].as_str()), (TAIL_LINES, "line 99"));
    }

    proptest! {
        #[test]
        fn nothing_but_colours_survives_of_any_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 0..200)
        ) {
            let shown = harmless(&String::from_utf8_lossy(&bytes));

            let mut rest = shown.as_str();
            while let Some(at) = rest.find('\u{1b}') {
                rest = &rest[at..];
                let length = escape_length(rest);
                prop_assert!(is_colour(&rest[..length]));
                rest = &rest[length..];
            }
            let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\u{1b}');
            prop_assert!(!shown.contains(odd));
        }
    }
}
