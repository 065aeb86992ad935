//! A Rust file with its comments, texts and tests told apart, by a scanner that knows just
//! enough of the language: comments, string and character literals, and matching braces.

use std::ops::Range;

/// A comment or the content of a string literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
    /// The comment with its slashes, or the literal without its quotes.
    pub(crate) text: String,
    /// Whether it stands in test code.
    pub(crate) in_test: bool,
}

/// A scanned Rust file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The path from the root of the repository.
    pub(crate) path: String,
    /// The text with comments and the contents of literals blanked; same bytes, same lines.
    pub(crate) code: String,
    /// `code` with what is compiled for tests only blanked as well.
    pub(crate) production: String,
    /// Every comment, in order.
    pub(crate) comments: Vec<Piece>,
    /// Every string literal, in order.
    pub(crate) strings: Vec<Piece>,
    /// How many lines the file has outside its tests.
    pub(crate) production_lines: usize,
    line_starts: Vec<usize>,
}

impl Source {
    /// Scans a file.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let mut scan = Scan::new(text);
        scan.run();
        let Scan { out, comments, strings, .. } = scan;
        let code = String::from_utf8(out).expect("blanking keeps whole characters");
        let line_starts = line_starts(text);
        let tests = test_regions(path, &code);
        let line = |offset: usize| line_starts.partition_point(|start| *start <= offset);
        let piece = |(at, text): (usize, String)| {
            let in_test = tests.iter().any(|region| region.contains(&at));
            Piece { line: line(at), text, in_test }
        };
        let test_lines: usize =
            tests.iter().map(|r| line(r.end.saturating_sub(1)) + 1 - line(r.start)).sum();
        Self {
            path: path.to_owned(),
            production: blanked(&code, &tests),
            comments: comments.into_iter().map(piece).collect(),
            strings: strings.into_iter().map(piece).collect(),
            production_lines: text.lines().count().saturating_sub(test_lines),
            code,
            line_starts,
        }
    }

    /// The line, from 1, on which a byte of the code stands.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Whether the whole file is compiled for tests only.
    pub(crate) fn is_test(&self) -> bool {
        is_test_file(&self.path)
    }
}

/// The offset just after the bracket that closes the one at `open`, or the end of the text.
pub(crate) fn after_closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return offset + 1;
        }
    }
    code.len()
}

/// The offset of the first `{` or `;` at or after `from` outside any other bracket.
pub(crate) fn body_start(code: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'{' | b';' => return Some(at),
            b'(' | b'[' => at = after_closing(code, at),
            _ => at += 1,
        }
    }
    None
}

fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

fn line_starts(text: &str) -> Vec<usize> {
    let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after).collect()
}

/// The whole of a test file; of another the items that stand under `#[cfg(test)]`, each from
/// the attribute to the end of the item.
fn test_regions(path: &str, code: &str) -> Vec<Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    if is_test_file(path) {
        return std::iter::once(0..code.len()).collect();
    }
    let mut regions = Vec::new();
    let mut from = 0;
    while let Some(found) = code[from..].find(ATTRIBUTE) {
        let start = from + found;
        let end = match body_start(code, start + ATTRIBUTE.len()) {
            Some(body) if code.as_bytes()[body] == b'{' => after_closing(code, body),
            Some(semicolon) => semicolon + 1,
            None => code.len(),
        };
        regions.push(start..end);
        from = end;
    }
    regions
}

fn blanked(code: &str, regions: &[Range<usize>]) -> String {
    let mut bytes = code.as_bytes().to_vec();
    for region in regions {
        bytes[region.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|b| *b = b' ');
    }
    String::from_utf8(bytes).expect("blanking keeps whole characters")
}

struct Scan<'a> {
    text: &'a str,
    out: Vec<u8>,
    at: usize,
    comments: Vec<(usize, String)>,
    strings: Vec<(usize, String)>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let out = text.as_bytes().to_vec();
        Self { text, out, at: 0, comments: Vec::new(), strings: Vec::new() }
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            if rest.starts_with("//") {
                let end = rest.find('\n').unwrap_or(rest.len());
                self.comment(end);
            } else if rest.starts_with("/*") {
                let end = block_comment_length(rest);
                self.comment(end);
            } else if let Some((open, content, close)) = self.literal(rest) {
                self.strings.push((self.at, rest[open..open + content].to_owned()));
                self.blank(self.at + open, content);
                self.at += open + content + close;
            } else if let Some(content) = character_length(rest) {
                self.blank(self.at + 1, content);
                self.at += content + 2;
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
    }

    fn comment(&mut self, length: usize) {
        self.comments.push((self.at, self.text[self.at..self.at + length].to_owned()));
        self.blank(self.at, length);
        self.at += length;
    }

    fn blank(&mut self, from: usize, length: usize) {
        let bytes = self.out[from..from + length].iter_mut();
        bytes.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }

    /// The lengths of the opening, content and closing of a string literal that begins here.
    fn literal(&self, rest: &str) -> Option<(usize, usize, usize)> {
        if let Some(inner) = rest.strip_prefix('"') {
            let content = plain_string_length(inner);
            return Some((1, content, 1.min(inner.len() - content)));
        }
        let before = self.text[..self.at].chars().next_back();
        let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let raw = ["r", "br", "cr"].iter().find(|prefix| {
            rest.strip_prefix(**prefix).is_some_and(|r| r.trim_start_matches('#').starts_with('"'))
        })?;
        if in_word {
            return None;
        }
        let hashes = rest[raw.len()..].bytes().take_while(|byte| *byte == b'#').count();
        let open = raw.len() + hashes + 1;
        let closing = format!("\"{}", "#".repeat(hashes));
        let content = rest[open..].find(&closing).unwrap_or(rest.len() - open);
        Some((open, content, closing.len().min(rest.len() - open - content)))
    }
}

fn block_comment_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => depth += 1,
            Some(b"*/") => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn plain_string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// The length of the content of a character literal; nothing for a lifetime or another byte.
fn character_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    if inner.starts_with('\\') {
        return inner.get(2..)?.find('\'').map(|end| end + 2);
    }
    let first = inner.chars().next()?;
    inner[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_told_from_code() {
        let text = "let a = \"x // \\\" y\"; // why {\n\
                    let b = r#\"q\" {\"#; /* a /* b */ c */ let c = 'x';";

        let source = Source::new("src/x.rs", text);

        let texts: Vec<&str> = source.strings.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, ["x // \\\" y", "q\" {"]);
        let comments: Vec<&str> = source.comments.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(comments, ["// why {", "/* a /* b */ c */"]);
        assert!(!source.code.contains('{'));
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.strings[1].line, 2);
    }

    #[test]
    fn a_lifetime_is_no_character() {
        let source =
            Source::new("src/x.rs", "fn f<'a>(x: &'a str, q: char) { q == '\"' || q == '\\'' }");

        assert!(source.strings.is_empty());
        assert!(source.code.contains("<'a>(x: &'a str"));
    }

    #[test]
    fn test_code_is_blanked_from_the_production_code() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";

        let source = Source::new("src/x.rs", text);

        assert!(source.production.contains("fn a"));
        assert!(!source.production.contains("fn b"));
        assert!(source.production.contains("fn c"));
        assert_eq!(source.production_lines, 2);
    }

    #[test]
    fn an_outside_test_module_ends_at_its_semicolon() {
        let source = Source::new("src/x.rs", "#[cfg(test)]\nmod tests;\nfn c() {}\n");

        assert_eq!(source.production_lines, 1);
        assert!(source.production.contains("fn c"));
    }

    #[test]
    fn a_literal_that_never_ends_does_not_stop_the_scan() {
        for text in ["\"abc", "r#\"abc", "/* abc", "'", "'\\", "r\"", "b'"] {
            assert_eq!(Source::new("src/x.rs", text).code.len(), text.len(), "{text}");
        }
    }
}
