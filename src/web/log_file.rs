//! Logs that are complete and lie in files: their end, or one page of them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::ansi::{Line, Reader};
use super::live_logs::Newest;
use crate::base::Fault;
use crate::store::{Blobs, Hash};

/// Bytes from the end of a file that a tail is made of.
const TAIL_BYTES: u64 = 64 * 1_024;

/// The last lines of a log of `total` lines, at most `limit`. An absent file has none.
pub fn tail(blobs: &Blobs, hash: Hash, total: u64, limit: usize) -> Result<Newest, Fault> {
    let Ok(mut file) = File::open(blobs.path(hash)) else { return Ok(Newest::default()) };
    let length = file.metadata().map_err(Fault::internal)?.len();
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from)).map_err(Fault::internal)?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).map_err(Fault::internal)?;
    let text = String::from_utf8_lossy(&bytes);
    // A tail that begins within a line leaves that line out.
    let whole = if from == 0 { &*text } else { text.split_once('\n').map_or("", |cut| cut.1) };
    let mut lines = Reader::default().lines(whole);
    lines.drain(..lines.len().saturating_sub(limit));
    Ok(Newest { lines, seq: total })
}

/// A page of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPage {
    /// The number of the first line shown, from 1.
    pub first: u64,
    /// The lines.
    pub lines: Vec<Line>,
    /// How many lines there are in all.
    pub total: u64,
    /// How many bytes there are in all.
    pub bytes: u64,
}

/// At most `limit` lines of a text from line number `from` on.
#[must_use]
pub fn page(text: &str, from: u64, limit: usize) -> LogPage {
    let mut reader = Reader::default();
    let (mut lines, mut total) = (Vec::new(), 0);
    let first = from.max(1);
    for line in text.lines() {
        total += 1;
        // Lines before the page are read too: a colour set there goes on here.
        if total < first {
            drop(reader.line(line));
        } else if lines.len() < limit {
            lines.push(reader.line(line));
        }
    }
    LogPage { first, lines, total, bytes: text.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Entropy;

    #[test]
    fn a_tail_is_the_end_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(dir.path().join("blobs"), Entropy::seeded(1)).unwrap();
        let text: Vec<String> = (1..=20_000).map(|n| format!("line {n}")).collect();
        let text = text.join("\n");
        let hash = blobs.put(text.as_bytes()).unwrap();

        let newest = tail(&blobs, hash, 20_000, 2).unwrap();

        let shown: Vec<String> = newest.lines.iter().map(ToString::to_string).collect();
        assert_eq!((shown, newest.seq), (vec!["line 19999".into(), "line 20000".into()], 20_000));
        assert_eq!(tail(&blobs, Hash::of(b"absent"), 3, 2).unwrap(), Newest::default());
    }

    #[test]
    fn a_page_counts_all_and_keeps_the_colours_from_before_it() {
        let found = page("\u{1b}[31mone\ntwo\nthree\nfour\n", 2, 2);

        let shown: Vec<String> = found.lines.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["<span class=\"a-f1\">two</span>", "<span class=\"a-f1\">three</span>"]);
        assert_eq!((found.first, found.total, found.bytes), (2, 4, 24));
    }

    #[test]
    fn a_page_beyond_the_end_is_empty() {
        assert_eq!(page("one\n", 9, 2).lines, []);
        assert_eq!(page("", 0, 2).first, 1);
    }
}
