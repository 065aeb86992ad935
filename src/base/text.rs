//! Small rules for text: cutting, listing, naming.

/// The text in at most `max` characters; what is longer ends with `…`, which counts.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let keep = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    if max == 0 { String::new() } else { format!("{}…", &text[..keep]) }
}

/// `a, b or c`.
#[must_use]
pub fn or_list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [start @ .., last] => format!("{} or {last}", start.join(", ")),
    }
}

/// A text as one word of a shell's command line, quoted where it must be.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Lower case, with every run of white space as one space: how names are compared.
#[must_use]
pub fn normalised(name: &str) -> String {
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// A name as it can stand in an address: lower-case ASCII letters, digits and single hyphens.
#[must_use]
pub fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

/// The text without control characters, other than line feeds and tabs.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

/// The first line that says something, trimmed.
#[must_use]
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_text_ends_with_an_ellipsis_that_counts() {
        assert_eq!(cut("héllo", 5), "héllo");
        assert_eq!(cut("héllo!", 5), "héll…");
        assert_eq!(cut("ab", 1), "…");
        assert_eq!(cut("ab", 0), "");
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        assert_eq!(or_list(&["a"]), "a");
        assert_eq!(or_list(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn names_compare_without_case_and_space() {
        assert_eq!(normalised("  Auth &\tBilling "), "auth & billing");
        assert_eq!(slug("Acme  Widgets, Inc."), "acme-widgets-inc");
    }

    proptest! {
        #[test]
        fn a_cut_never_exceeds_its_limit(text in "\\PC{0,40}", max in 0_usize..50) {
            prop_assert!(cut(&text, max).chars().count() <= max);
        }
    }
}
