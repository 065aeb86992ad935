//! Checks of short texts that people give: names, addresses, labels.

use super::fault::Fault;

/// `text` as one trimmed line of 1 to `max` characters, or a fault that names `path`.
pub fn line(path: &str, text: &str, max: usize) -> Result<String, Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::argument(path, "it is empty."));
    }
    if text.chars().any(char::is_control) {
        return Err(Fault::argument(path, "it holds a line break or another control character."));
    }
    at_most(path, text, max)
}

/// `text` as one trimmed line, or nothing where it is blank.
pub fn optional_line(path: &str, text: &str, max: usize) -> Result<Option<String>, Fault> {
    if text.trim().is_empty() { Ok(None) } else { line(path, text, max).map(Some) }
}

/// `text`, trimmed, of any number of lines and at most `max` characters.
pub fn prose(path: &str, text: &str, max: usize) -> Result<String, Fault> {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if text.contains(odd) {
        return Err(Fault::argument(path, "it holds a control character."));
    }
    at_most(path, text.trim(), max)
}

fn at_most(path: &str, text: &str, max: usize) -> Result<String, Fault> {
    match text.chars().count() {
        n if n > max => {
            Err(Fault::argument(path, format!("it has {n} characters; {max} are the most.")))
        }
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_trimmed_and_holds_no_control_character() {
        assert_eq!(line("name", "  ci bot ", 6).ok().as_deref(), Some("ci bot"));
        for bad in ["", "  ", "a\nb", "a\u{1b}[0m", "ci bots"] {
            let fault = line("name", bad, 6).expect_err(bad);

            assert_eq!(fault.issues[0].path, "name", "{bad:?}");
        }
    }

    #[test]
    fn prose_keeps_its_lines() {
        assert_eq!(prose("text", "a\n\tb\n", 10).ok().as_deref(), Some("a\n\tb"));
        assert!(prose("text", "a\0", 10).is_err());
    }
}
