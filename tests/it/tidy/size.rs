//! How long and how deep things may grow.

use regex::Regex;

use super::Offence;
use super::source::{Source, after_closing, body_start};
use super::tree::File;

const COLUMNS: usize = 100;
const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 400;
const NESTING: usize = 4;

/// Lines of more than 100 columns in what people write by hand.
pub(crate) fn columns(file: &File) -> Vec<Offence> {
    let by_name = matches!(file.extension(), "rs" | "sql" | "css" | "js" | "mjs" | "sh");
    if !by_name && !file.is_script() {
        return Vec::new();
    }
    file.lines()
        .filter_map(|(number, line)| {
            let width = line.chars().count();
            let text = format!("{width} columns; break the line at {COLUMNS}");
            (width > COLUMNS).then(|| Offence::new(&file.path, number, text))
        })
        .collect()
}

/// A file of more than 400 lines without its tests. Test files are bound by the same number.
pub(crate) fn file_length(source: &Source) -> Vec<Offence> {
    let lines =
        if source.is_test() { source.code.lines().count() } else { source.production_lines };
    if lines <= FILE_LINES {
        return Vec::new();
    }
    let text = format!("{lines} lines, the limit is {FILE_LINES}; split it by noun");
    vec![Offence::new(&source.path, 1, text)]
}

/// Functions of more than 70 lines, from `fn` to the closing brace.
pub(crate) fn functions(source: &Source) -> Vec<Offence> {
    let mut offences = Vec::new();
    for function in find_functions(source) {
        let first = source.line(function.start);
        let lines = source.line(function.end - 1) + 1 - first;
        if lines > FUNCTION_LINES {
            let text = format!(
                "`{}` has {lines} lines, the limit is {FUNCTION_LINES}; \
                 give a part of it a name of its own",
                function.name,
            );
            offences.push(Offence::new(&source.path, first, text));
        }
    }
    offences
}

/// Blocks nested more than 4 deep in a function. The body itself is level 0; each brace that
/// opens a block of more than one line adds a level: `if`, `for`, `match`, a match arm, a
/// closure. Braces of struct literals and patterns and of JSON in a macro do not count.
pub(crate) fn nesting(source: &Source) -> Vec<Offence> {
    let mut offences = Vec::new();
    for function in find_functions(source) {
        if let Some((depth, at)) = deepest_block(source, &function) {
            let text = format!(
                "`{}` nests {depth} blocks, the limit is {NESTING}; return early, \
                 or move the inner part into a function",
                function.name,
            );
            offences.push(Offence::new(&source.path, source.line(at), text));
        }
    }
    offences
}

struct Function {
    name: String,
    start: usize,
    body: usize,
    end: usize,
}

fn find_functions(source: &Source) -> Vec<Function> {
    let head = Regex::new(r"\bfn\s+(\w+)").expect("the pattern is valid");
    let function = |found: regex::Captures<'_>| {
        let whole = found.get(0).expect("a match has a whole");
        let body = body_start(&source.code, whole.end())?;
        let end = after_closing(&source.code, body);
        let is_body = source.code.as_bytes()[body] == b'{';
        let name = found[1].to_owned();
        is_body.then_some(Function { name, start: whole.start(), body, end })
    };
    head.captures_iter(&source.code).filter_map(function).collect()
}

/// The first block deeper than the limit: its depth and where it opens.
fn deepest_block(source: &Source, function: &Function) -> Option<(usize, usize)> {
    let code = &source.code;
    let mut open: Vec<bool> = Vec::new();
    let mut worst: Option<(usize, usize)> = None;
    for at in function.body + 1..function.end - 1 {
        match code.as_bytes()[at] {
            b'{' => open.push(opens_block(source, at)),
            b'}' => drop(open.pop()),
            _ => continue,
        }
        let depth = open.iter().filter(|block| **block).count();
        if depth > NESTING && worst.is_none_or(|(deepest, _)| depth > deepest) {
            worst = Some((depth, at));
        }
    }
    worst
}

fn opens_block(source: &Source, at: usize) -> bool {
    let code = &source.code;
    let one_line = source.line(at) == source.line(after_closing(code, at) - 1);
    let before = code[..at].trim_end();
    let in_literal = before.ends_with(['(', '[', ',', ':']);
    !one_line && !in_literal && !ends_with_type(before)
}

/// Whether a brace after this text belongs to a struct: the last word is a type's name and the
/// statement has no keyword whose block could begin here.
fn ends_with_type(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let is_type = word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
    let statement = before.rsplit([';', '{', '}']).next().unwrap_or(before);
    let statement = statement.rsplit("=>").next().unwrap_or(statement);
    let mut words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
    is_type && !words.any(|word| matches!(word, "if" | "while" | "for" | "match"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(inner: &str) -> Source {
        Source::new("src/x.rs", &format!("fn f() {{\n{inner}\n}}\n"))
    }

    #[test]
    fn a_line_of_101_columns_offends_and_one_of_100_does_not() {
        let text = format!("{}\n{}\n", "é".repeat(100), "é".repeat(101));

        let found = columns(&File::new("src/x.rs", &text));

        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
        assert_eq!(columns(&File::new("tests/run", &format!("#!/bin/sh\n{text}"))).len(), 1);
        assert!(columns(&File::new("templates/x.html", &text)).is_empty());
    }

    #[test]
    fn a_file_is_measured_without_its_tests() {
        let code = "// A line.\n".repeat(400);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{code}}}\n");

        assert!(file_length(&Source::new("src/x.rs", &format!("{code}{tests}"))).is_empty());
        assert_eq!(file_length(&Source::new("src/x.rs", &format!("{code}// b\n{tests}"))).len(), 1);
        assert_eq!(file_length(&Source::new("tests/it/x.rs", &format!("{code}{code}"))).len(), 1);
    }

    #[test]
    fn a_function_of_71_lines_offends_and_one_of_70_does_not() {
        assert!(functions(&wrap(&["a();"; 68].join("\n"))).is_empty());

        let found = functions(&wrap(&["a();"; 69].join("\n")));

        assert_eq!(found.len(), 1);
        assert!(found[0].text.contains("`f` has 71 lines"), "{}", found[0]);
    }

    #[test]
    fn a_function_without_a_body_is_not_measured() {
        let text = format!("trait T {{ fn f(x: [u8; 3]);\n{}}}", "type A;\n".repeat(80));

        assert!(functions(&Source::new("src/x.rs", &text)).is_empty());
    }

    #[test]
    fn the_fifth_block_offends() {
        let four = "for a in b {\nif a {\nmatch a {\nA => {\nc();\n}\n}\n}\n}";
        let five = four.replace("c();", "if x == Kind::Agent {\nc();\n}");

        assert!(nesting(&wrap(four)).is_empty());
        assert_eq!(nesting(&wrap(&five)).len(), 1);
        assert_eq!(nesting(&wrap(&five))[0].line, 6);
    }

    #[test]
    fn struct_literals_and_one_line_blocks_are_no_nesting() {
        let four = "for a in b {\nif a {\nmatch a {\nA => {\nc();\n}\n}\n}\n}";
        for inner in [
            "let x = Row {\na: Inner {\nb\n},\n};",
            "if let A { b } = c { d(); }",
            "let v = json!({\n\"a\": {\n\"b\": 1\n}\n});",
            "call(Row {\na\n});",
        ] {
            let found = nesting(&wrap(&four.replace("c();", inner)));

            assert!(found.is_empty(), "{inner}: {found:?}");
        }
    }
}
