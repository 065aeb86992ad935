//! Who may import whom.

use std::ops::Range;

use regex::Regex;

use super::Offence;
use super::source::{Source, after_closing};

/// The layers of `src`, lowest first. A module imports only from layers above it in this table,
/// so modules on one line never import each other. A new arrow is a change of the design: it
/// is made here, alone, with its reason in the commit.
const LAYERS: &[&[&str]] = &[
    &["base"],
    &["events", "contract", "browser", "config", "telemetry"],
    &["store"],
    &["accounts", "jobs"],
    &["notices"],
    &["projects", "proofs"],
    &["quality", "tickets"],
    &["tools", "work"],
    &["web"],
    &["app"],
    &["cli"],
    &["main", "lib"],
];

/// Modules that few may import, and who.
const RESERVED: &[(&str, &[&str])] = &[
    ("contract", &["web", "app", "cli", "main", "lib"]),
    ("config", &["work", "web", "app", "cli", "main", "lib"]),
    ("telemetry", &["work", "web", "app", "cli", "main", "lib"]),
];

/// Macros stand at the root of the crate whatever their home; this is their home.
const MACRO_HOMES: &[(&str, &str)] = &[("words", "base"), ("sql", "store"), ("params", "store")];

/// Imports against the arrows.
pub(crate) fn check(source: &Source) -> Vec<Offence> {
    let Some(home) = home(&source.path) else { return Vec::new() };
    imports(source)
        .into_iter()
        .filter_map(|(target, at)| {
            let target =
                MACRO_HOMES.iter().find(|(name, _)| *name == target).map_or(target, |m| m.1);
            refusal(home, target).map(|text| Offence::new(&source.path, source.line(at), text))
        })
        .collect()
}

/// The top-level module that a file of `src` belongs to.
fn home(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("src/")?;
    let first = inside.split('/').next()?;
    Some(first.strip_suffix(".rs").unwrap_or(first))
}

fn refusal(home: &str, target: &str) -> Option<String> {
    let layer = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    if home == target {
        return None;
    }
    let (Some(from), Some(to)) = (layer(home), layer(target)) else {
        let unknown = if layer(home).is_none() { home } else { target };
        return Some(format!(
            "`{unknown}` has no layer; name it in LAYERS (or MACRO_HOMES) of the arrows test, \
             which is a change of the design"
        ));
    };
    let reserved = RESERVED.iter().find(|(name, _)| *name == target);
    if let Some((_, users)) = reserved.filter(|(_, users)| !users.contains(&home)) {
        return Some(format!(
            "`{home}` imports `{target}`, which is for {} alone",
            users.join(", ")
        ));
    }
    if from == to {
        return Some(format!(
            "`{home}` imports its peer `{target}`; join the two in a module right of both"
        ));
    }
    (from < to).then(|| {
        format!(
            "`{home}` imports `{target}`, which stands right of it; \
             move what both need to the left, or pass it in as a value"
        )
    })
}

/// The top-level modules named in the code outside tests, and where.
fn imports(source: &Source) -> Vec<(&str, usize)> {
    let code = &source.production;
    let root = Regex::new(r"\bcrate\s*::\s*|\bassay\s*::\s*|(?:\bsuper\s*::\s*)+")
        .expect("the pattern is valid");
    let mut found = Vec::new();
    for path in root.find_iter(code) {
        let supers = path.as_str().matches("super").count();
        let inside_name = code[..path.start()].trim_end().ends_with("::");
        if inside_name || (supers > 0 && supers != depth(&source.path)) {
            continue;
        }
        let starts = if code[path.end()..].starts_with('{') {
            group_items(code, path.end()..after_closing(code, path.end()))
        } else {
            vec![path.end()]
        };
        found.extend(starts.into_iter().filter_map(|at| {
            let at = at + code[at..].find(|c: char| !c.is_whitespace())?;
            Some((first_word(&code[at..])?, at))
        }));
    }
    found
}

/// How many modules a file lies under the root of the crate.
fn depth(path: &str) -> usize {
    let parts: Vec<&str> = path.trim_start_matches("src/").split('/').collect();
    let is_root = matches!(parts.as_slice(), ["lib.rs" | "main.rs"]);
    let is_folder = parts.last() == Some(&"mod.rs");
    parts.len() - usize::from(is_root || is_folder)
}

/// Where the items of a `use` group begin, those of inner groups left out.
fn group_items(code: &str, group: Range<usize>) -> Vec<usize> {
    let mut starts = vec![group.start + 1];
    let mut depth = 0_usize;
    for (offset, byte) in code[group.clone()].bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 1 => starts.push(group.start + offset + 1),
            _ => {}
        }
    }
    starts
}

fn first_word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_to_the_left_are_free() {
        for (path, text) in [
            ("src/store/tx.rs", "use crate::base::{Fault, Id};"),
            ("src/tickets/mod.rs", "use crate::{accounts::Actor, store::{Tx, Read}, jobs};"),
            ("src/web/invoke.rs", "use crate::contract::envelope;"),
            ("src/tickets/graph.rs", "use crate::tickets::Node; use super::super::store::Tx;"),
            ("src/main.rs", "use assay::cli;"),
            ("src/cli/serve.rs", "use crate::{app::App, config, contract};"),
            ("src/work/mod.rs", "use crate::config::Config;"),
            ("src/base/x.rs", "crate::words! { }"),
            ("src/jobs/x.rs", "const A: &str = crate::sql!(\"jobs.sql\", \"claim\");"),
            ("tests/it/x.rs", "use crate::web::x;"),
        ] {
            assert_eq!(found(path, text), Vec::<String>::new(), "{path}: {text}");
        }
    }

    #[test]
    fn arrows_to_the_right_to_peers_and_to_reserved_modules_offend() {
        for (path, text, expected) in [
            ("src/base/x.rs", "use crate::store::Tx;", "`base` imports `store`"),
            ("src/base/x.rs", "use crate::sql;", "`base` imports `store`"),
            ("src/store/x.rs", "fn f(a: crate::web::A) {}", "`store` imports `web`"),
            ("src/quality/x.rs", "use crate::tickets::A;", "its peer `tickets`"),
            ("src/tickets/x.rs", "use crate::{base::A, quality::B};", "its peer `quality`"),
            ("src/tools/x.rs", "use crate::contract::A;", "`contract`, which is for web"),
            ("src/jobs/x.rs", "use crate::config::A;", "`config`, which is for work"),
            ("src/tickets/mod.rs", "use super::quality::A;", "its peer `quality`"),
            ("src/events.rs", "use super::browser::A;", "its peer `browser`"),
            ("src/tickets/a/b.rs", "use super::super::super::web::A;", "imports `web`"),
            ("src/web/x.rs", "use crate::novel::A;", "`novel` has no layer"),
            ("src/novel.rs", "use crate::base::A;", "`novel` has no layer"),
        ] {
            let offences = found(path, text);

            assert_eq!(offences.len(), 1, "{path}: {text}: {offences:?}");
            assert!(offences[0].contains(expected), "{path}: {text}: {offences:?}");
        }
    }

    #[test]
    fn every_wrong_arrow_is_reported_with_its_line() {
        let text = "use crate::{\n    web::A,\n    base::B,\n    app::{C, D},\n};\n";

        let offences = found("src/store/x.rs", text);

        assert_eq!(offences.len(), 2);
        assert!(offences[0].starts_with("src/store/x.rs:2: "), "{}", offences[0]);
        assert!(offences[1].starts_with("src/store/x.rs:4: "), "{}", offences[1]);
    }

    #[test]
    fn tests_comments_and_texts_may_name_anything() {
        let text = "// crate::web::A\nconst A: &str = \"crate::web\";\n\
                    #[cfg(test)]\nmod tests { use crate::web::A; }\n";

        assert_eq!(found("src/base/x.rs", text), Vec::<String>::new());
    }
}
