//! Names that say nothing, and comments that should not be there.

use regex::Regex;

use super::Offence;
use super::source::{Piece, Source};
use super::tree::File;

const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "common", "misc", "manager"];

/// The marks of work put off, put together here so that this file does not hold them.
const MARKS: &str = concat!(r"\b(TO", "DO|FIX", "ME|XX", r"X)\b");

/// Calls and attributes of unfinished code.
const UNFINISHED: &str =
    r"\b(todo|unimplemented|dbg)!|#\[\s*(ignore|should_panic)\b|#!?\[\s*allow\s*\(";

/// A run of signs that draws a line.
const RULE: &str = r"-{5,}|={5,}|\*{5,}|#{5,}|~{5,}|/{5,}|_{5,}|[─━═]{3,}";

/// A file or folder whose name says nothing of what it holds.
pub(crate) fn path_names(path: &str) -> Vec<Offence> {
    let empty = path.split(['/', '.', '_', '-']).filter(|part| is_empty_name(part));
    empty.map(|name| Offence::new(path, 1, name_advice(name))).collect()
}

/// A module whose name says nothing of what it holds.
pub(crate) fn module_names(source: &Source) -> Vec<Offence> {
    let module = pattern(r"\bmod\s+(\w+)");
    let mut offences = Vec::new();
    for found in module.captures_iter(&source.code) {
        let name = found.get(1).expect("the pattern has one group");
        let line = source.line(name.start());
        let empty = name.as_str().split('_').filter(|part| is_empty_name(part));
        offences.extend(empty.map(|part| Offence::new(&source.path, line, name_advice(part))));
    }
    offences
}

fn is_empty_name(part: &str) -> bool {
    EMPTY_NAMES.iter().any(|name| part.eq_ignore_ascii_case(name))
}

fn name_advice(name: &str) -> String {
    format!("`{name}` says nothing; name the thing that the file is about")
}

/// Marks of work put off in comments, unfinished calls, and attributes that hide a problem.
pub(crate) fn unfinished(source: &Source) -> Vec<Offence> {
    let marks = pattern(MARKS);
    let comments = source.comments.iter().filter(|comment| marks.is_match(&comment.text));
    let put_off = comments.map(|comment| {
        let text = "work put off in a comment; do it, or file it where work is planned";
        Offence::new(&source.path, comment.line, text)
    });
    let unfinished = pattern(UNFINISHED);
    let calls = unfinished.find_iter(&source.code).map(|found| {
        let text = format!("`{}` does not belong in finished code", found.as_str());
        Offence::new(&source.path, source.line(found.start()), text)
    });
    put_off.chain(calls).collect()
}

/// Marks of work put off in templates, assets, statements and scripts.
pub(crate) fn unfinished_text(file: &File) -> Vec<Offence> {
    if !is_hand_written(file) {
        return Vec::new();
    }
    let marks = pattern(MARKS);
    let text = "work put off; do it, or file it where work is planned";
    let lines = file.lines().filter(|(_, line)| marks.is_match(line));
    lines.map(|(number, _)| Offence::new(&file.path, number, text)).collect()
}

/// Comments that hold code: a `//` line that ends as a statement or the head of a block does.
pub(crate) fn dead_code(source: &Source) -> Vec<Offence> {
    let text = "looks like commented-out code; delete it, git remembers";
    plain_comments(source)
        .filter(|comment| comment.text.trim_end().ends_with([';', '{', '}']))
        .map(|comment| Offence::new(&source.path, comment.line, text))
        .collect()
}

/// Comments that only draw a line.
pub(crate) fn banners(source: &Source) -> Vec<Offence> {
    let rule = pattern(RULE);
    plain_comments(source)
        .filter(|comment| rule.is_match(&comment.text))
        .map(|comment| Offence::new(&source.path, comment.line, BANNER_ADVICE))
        .collect()
}

/// Comments that only draw a line, in assets, statements and scripts.
pub(crate) fn text_banners(file: &File) -> Vec<Offence> {
    if !is_hand_written(file) {
        return Vec::new();
    }
    let rule = pattern(RULE);
    let is_comment = |line: &str| {
        ["//", "/*", "*", "--", "#", "<!--", "{#"].iter().any(|start| line.starts_with(start))
    };
    file.lines()
        .filter(|(_, line)| is_comment(line.trim_start()) && rule.is_match(line))
        .map(|(number, _)| Offence::new(&file.path, number, BANNER_ADVICE))
        .collect()
}

const BANNER_ADVICE: &str = "a banner; if the file has sections, they want files of their own";

fn plain_comments(source: &Source) -> impl Iterator<Item = &Piece> {
    let is_doc =
        |text: &str| ["///", "//!", "/**", "/*!"].iter().any(|mark| text.starts_with(mark));
    let is_drawn = |text: &str| text.starts_with("////") || text.starts_with("/***");
    source.comments.iter().filter(move |c| !is_doc(&c.text) || is_drawn(&c.text))
}

fn is_hand_written(file: &File) -> bool {
    let by_name = matches!(file.extension(), "sql" | "css" | "js" | "mjs" | "html" | "toml" | "sh");
    by_name || file.is_script()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: &str = concat!("TO", "DO");

    #[test]
    fn a_name_that_says_nothing_offends() {
        for (path, expected) in [
            ("src/utils.rs", 1),
            ("src/common/x.rs", 1),
            ("src/session_manager.rs", 1),
            ("assets/helpers.js", 1),
            ("src/commons.rs", 0),
            ("src/store/tx.rs", 0),
        ] {
            assert_eq!(path_names(path).len(), expected, "{path}");
        }
        assert_eq!(module_names(&Source::new("src/x.rs", "mod a;\npub mod misc {}"))[0].line, 2);
    }

    #[test]
    fn unfinished_work_offends() {
        for (text, expected) in [
            (format!("// {LATER}: later\n"), 1),
            (format!("/// A doc, {LATER}.\nfn f() {{}}"), 1),
            ("fn f() { todo!() }".to_owned(), 1),
            ("fn f() { unimplemented!(); dbg!(a); }".to_owned(), 2),
            ("#[test]\n#[ignore = \"slow\"]\nfn f() {}".to_owned(), 1),
            ("#[should_panic(expected = \"a\")]\nfn f() {}".to_owned(), 1),
            ("#[allow(dead_code)]\nfn f() {}".to_owned(), 1),
            (format!("const A: &str = \"{LATER}\";"), 0),
        ] {
            let found = unfinished(&Source::new("src/x.rs", &text));

            assert_eq!(found.len(), expected, "{text}: {found:?}");
        }
        assert_eq!(unfinished_text(&File::new("assets/a.css", &format!("/* {LATER} */"))).len(), 1);
        assert!(unfinished_text(&File::new("README.md", LATER)).is_empty());
    }

    #[test]
    fn commented_out_code_offends_and_prose_and_documentation_do_not() {
        for (text, expected) in [
            ("// let a = 1;\n", 1),
            ("fn f() {\n    // if a {\n    // }\n}\n", 2),
            ("// It says why.\n", 0),
            ("/// let a = 1;\n", 0),
            ("//! fn f() {\n", 0),
            ("let a = \"// b;\";\n", 0),
        ] {
            let found = dead_code(&Source::new("src/x.rs", text));

            assert_eq!(found.len(), expected, "{text}: {found:?}");
        }
    }

    #[test]
    fn banners_offend() {
        let line = "-".repeat(20);
        for (text, expected) in [
            (format!("// {line}\n// Part\n"), 1),
            (format!("{}\n", "/".repeat(40)), 1),
            ("/// | a | b |\n/// |-------|-------|\n".to_owned(), 0),
            ("// One sentence - and a dash.\n".to_owned(), 0),
        ] {
            let found = banners(&Source::new("src/x.rs", &text));

            assert_eq!(found.len(), expected, "{text}: {found:?}");
        }
        assert_eq!(text_banners(&File::new("sql/a.sql", &format!("{line}\n"))).len(), 1);
        assert!(text_banners(&File::new("assets/a.css", "a { --b: c }")).is_empty());
    }
}
