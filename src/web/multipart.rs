//! A form with files in it (`multipart/form-data`), read from a body that has come whole.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::base::{Code, Fault};

/// Parts of a form at most.
const PARTS_MAX: usize = 200;

/// Bytes of the lines above a part at most.
const HEAD_MAX: usize = 8 << 10;

/// A field or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The field.
    pub name: String,
    /// The name of the file; `None` for a field that is no file.
    pub file_name: Option<String>,
    /// What sort of file it says it is; empty where it does not say.
    pub media_type: String,
    /// What came.
    pub bytes: Bytes,
}

impl Part {
    /// The part as text, without its file.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Whether the body is such a form.
#[must_use]
pub fn is_form(headers: &HeaderMap) -> bool {
    boundary(headers).is_some()
}

/// The parts of the form.
///
/// # Errors
/// `BadRequest` where it is none, or broke off.
pub fn parts(headers: &HeaderMap, body: &Bytes) -> Result<Vec<Part>, Fault> {
    let Some(boundary) = boundary(headers) else { return Err(broken()) };
    let mark = format!("--{boundary}");
    // The first mark has no line before it.
    let mut at = if body.starts_with(mark.as_bytes()) {
        mark.len()
    } else {
        find(body, 0, format!("\r\n{mark}").as_bytes()).ok_or_else(broken)? + 2 + mark.len()
    };
    let mark = format!("\r\n{mark}");
    let mut parts = Vec::new();
    while !body[at..].starts_with(b"--") {
        if parts.len() == PARTS_MAX {
            let said = format!("A form has at most {PARTS_MAX} fields.");
            return Err(Fault::new(Code::BadRequest, said));
        }
        let head = at + body[at..].starts_with(b"\r\n").then_some(2).ok_or_else(broken)?;
        let blank = find(body, head.saturating_sub(2), b"\r\n\r\n").ok_or_else(broken)?;
        if blank.saturating_sub(head) > HEAD_MAX {
            return Err(broken());
        }
        let end = find(body, blank + 2, mark.as_bytes()).ok_or_else(broken)?;
        let start = (blank + 4).min(end);
        let lines = body.get(head..blank).unwrap_or_default();
        parts.push(part(&String::from_utf8_lossy(lines), body.slice(start..end))?);
        at = end + mark.len();
    }
    Ok(parts)
}

fn broken() -> Fault {
    Fault::new(Code::BadRequest, "The form ended before it was whole, or is none. Send it again.")
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let (kind, rest) = said.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let found = parameter(rest, "boundary")?;
    (1..=70).contains(&found.len()).then_some(found)
}

/// The value of `name="value"` among others, whatever their order.
fn parameter(said: &str, name: &str) -> Option<String> {
    let mut rest = said;
    while let Some((key, after)) = rest.split_once('=') {
        let (value, next) = value(after);
        if key
            .trim_start_matches(|c: char| c == ';' || c.is_whitespace())
            .trim_end()
            .eq_ignore_ascii_case(name)
        {
            return Some(value);
        }
        rest = next;
    }
    None
}

/// A value, in quotes or not, and what follows it.
fn value(said: &str) -> (String, &str) {
    if let Some(quoted) = said.strip_prefix('"') {
        let (value, next) = quoted.split_once('"').unwrap_or((quoted, ""));
        // Browsers write these three signs so, and no others.
        let plain = value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
        return (plain, next);
    }
    let (value, next) = said.split_once(';').unwrap_or((said, ""));
    (value.trim().to_owned(), next)
}

fn part(head: &str, bytes: Bytes) -> Result<Part, Fault> {
    let (mut name, mut file_name, mut media_type) = (None, None, String::new());
    for line in head.split("\r\n") {
        let Some((key, said)) = line.split_once(':') else { continue };
        if key.eq_ignore_ascii_case("content-disposition") {
            let said = said.split_once(';').map_or("", |(_, rest)| rest);
            name = parameter(said, "name");
            file_name = parameter(said, "filename");
        } else if key.eq_ignore_ascii_case("content-type") {
            said.trim().clone_into(&mut media_type);
        }
    }
    let name = name.ok_or_else(broken)?;
    Ok(Part { name, file_name, media_type, bytes })
}

/// Where `wanted` stands first, from `from` on.
fn find(body: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let rest = body.get(from..)?;
    let first = *wanted.first()?;
    let mut at = 0;
    while let Some(next) = rest[at..].iter().position(|byte| *byte == first) {
        if rest[at + next..].starts_with(wanted) {
            return Some(from + at + next);
        }
        at += next + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn headers(kind: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::try_from(kind).unwrap())])
    }

    fn written(parts: &[(String, Option<String>, Vec<u8>)]) -> Bytes {
        let mut body = Vec::new();
        for (name, file, bytes) in parts {
            body.extend(b"--XyZ\r\nContent-Disposition: form-data; name=\"");
            body.extend(name.replace('"', "%22").bytes());
            body.push(b'"');
            if let Some(file) = file {
                let file = file.replace('"', "%22");
                body.extend(format!("; filename=\"{file}\"\r\nContent-Type: text/plain").bytes());
            }
            body.extend(b"\r\n\r\n");
            body.extend(bytes);
            body.extend(b"\r\n");
        }
        body.extend(b"--XyZ--\r\n");
        body.into()
    }

    #[test]
    fn a_form_of_a_browser_is_read() {
        let body =
            b"------Web\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA \r\nB\r\n\
            ------Web\r\ncontent-disposition: form-data; name=\"file\"; filename=\"\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\r\n------Web--\r\n";
        let kind = headers("multipart/form-data; boundary=----Web");

        let read = parts(&kind, &Bytes::from_static(body)).unwrap();

        assert_eq!((read[0].name.as_str(), read[0].text().as_str()), ("title", "A \r\nB"));
        assert_eq!((read[1].file_name.as_deref(), read[1].bytes.len()), (Some(""), 0));
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn what_is_no_form_or_breaks_off_is_refused() {
        let kind = headers("multipart/form-data; boundary=XyZ");
        for body in [
            "",
            "--XyZ",
            "--XyZ\r\n",
            "--XyZ\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx",
            "--XyZ\r\n\r\nx\r\n--XyZ--",
            "--Xy--",
            "--XyZmore",
        ] {
            assert!(parts(&kind, &Bytes::from_static(body.as_bytes())).is_err(), "{body:?}");
        }
        assert!(!is_form(&headers("application/x-www-form-urlencoded")));
        assert!(!is_form(&headers("multipart/form-data")));
        let many: Vec<_> = (0..=PARTS_MAX).map(|n| (n.to_string(), None, Vec::new())).collect();
        assert!(parts(&kind, &written(&many)).is_err());
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            wanted in vec(("[a-z\"_]{1,8}", proptest::option::of("[^\\r\\n%\\pC]{0,12}"),
                vec(any::<u8>(), 0..60)), 0..6),
        ) {
            let kind = headers("multipart/form-data; charset=utf-8; boundary=\"XyZ\"");
            let body = written(&wanted);
            prop_assume!(wanted.iter().all(|(_, _, bytes)| find(bytes, 0, b"--XyZ").is_none()));

            let read = parts(&kind, &body).unwrap();

            prop_assert_eq!(read.len(), wanted.len());
            for (part, (name, file, bytes)) in read.iter().zip(&wanted) {
                prop_assert_eq!(&part.name, name);
                prop_assert_eq!(&part.file_name, file);
                prop_assert_eq!(&part.bytes[..], &bytes[..]);
            }
        }

        #[test]
        fn no_body_breaks_the_reader(
            body in vec(any::<u8>(), 0..200), tail in "[\\r\\n:;=\"XyZ-]{0,80}",
        ) {
            let kind = headers("multipart/form-data; boundary=XyZ");
            let mut whole = b"--XyZ\r\n".to_vec();
            whole.extend(tail.bytes());
            whole.extend(&body);

            drop(parts(&kind, &Bytes::from(whole)));
        }
    }
}
