//! What may be named only in certain places.

use regex::Regex;

use super::Offence;
use super::source::Source;
use super::tree::File;

/// Where a process may be started.
const PROCESS_PLACES: &[&str] =
    &["src/projects/git", "src/tickets/runner", "src/browser", "src/cli"];

/// What the root of the repository may hold beside dotfiles.
const ROOT: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "src",
    "templates",
    "assets",
    "sql",
    "tests",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
];

/// The database driver named outside the store.
pub(crate) fn driver(source: &Source) -> Vec<Offence> {
    if !source.path.starts_with("src/") || source.path.starts_with("src/store/") {
        return Vec::new();
    }
    matches(source, r"\brusqlite\b", "only src/store may name `rusqlite`; use what store offers")
}

/// A statement written in a string literal.
pub(crate) fn statements(source: &Source) -> Vec<Offence> {
    if !source.path.starts_with("src/") || source.path.starts_with("src/store/") {
        return Vec::new();
    }
    let statement = pattern(
        r"\bSELECT\s|\bINSERT\s+(OR\s+\w+\s+)?INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b",
    );
    let text = "SQL in a string; move the statement to a file in sql/ and take it with `sql!`";
    let strings = source.strings.iter().filter(|string| !string.in_test);
    strings
        .filter(|string| statement.is_match(&string.text))
        .map(|string| Offence::new(&source.path, string.line, text))
        .collect()
}

/// A process started where none may be.
pub(crate) fn processes(source: &Source) -> Vec<Offence> {
    let allowed = PROCESS_PLACES.iter().any(|place| source.path.starts_with(place));
    if !source.path.starts_with("src/") || allowed {
        return Vec::new();
    }
    let text = format!("processes start only under {}", PROCESS_PLACES.join(", "));
    matches(
        source,
        r"\btokio\s*::\s*process\b|\bprocess\s*::\s*Command\b|\bprocess\s*::\s*\{[^}]*\bCommand\b",
        &text,
    )
}

/// Entries of the root that the design does not name.
pub(crate) fn root_entries(paths: &[String]) -> Vec<Offence> {
    let entries = paths.iter().filter_map(|path| path.split('/').next());
    entries
        .filter(|entry| !entry.starts_with('.') && !ROOT.contains(entry))
        .map(|entry| {
            let text = format!("does not belong in the root; it holds {}", ROOT.join(", "));
            Offence::new(entry, 1, text)
        })
        .collect()
}

/// Absolute paths of the machine somebody works on.
pub(crate) fn machine_paths(file: &File) -> Vec<Offence> {
    let path = pattern(r#"(?:^|[\s"'`(\[<>=:,/])/(?:work|root|home)/"#);
    let text = "an absolute path of one machine; make it relative, or take it from a setting";
    file.lines()
        .filter(|(_, line)| path.is_match(line))
        .map(|(number, _)| Offence::new(&file.path, number, text))
        .collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

fn matches(source: &Source, regex: &str, text: &str) -> Vec<Offence> {
    pattern(regex)
        .find_iter(&source.production)
        .map(|found| Offence::new(&source.path, source.line(found.start()), text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(check: fn(&Source) -> Vec<Offence>, table: &[(&str, &str, usize)]) {
        for (path, text, expected) in table {
            let found = check(&Source::new(path, text));

            assert_eq!(found.len(), *expected, "{path}: {text}: {found:?}");
        }
    }

    #[test]
    fn the_driver_is_named_in_the_store_alone() {
        counts(
            driver,
            &[
                ("src/jobs/x.rs", "use rusqlite::Row;\nfn f(r: &rusqlite::Row) {}", 2),
                ("src/jobs/x.rs", "// rusqlite is named in the store alone.", 0),
                ("src/store/x.rs", "use rusqlite::Row;", 0),
            ],
        );
    }

    #[test]
    fn statements_in_strings_offend_outside_the_store() {
        counts(
            statements,
            &[
                ("src/jobs/x.rs", "f(\"SELECT id FROM jobs\");", 1),
                ("src/jobs/x.rs", "f(\"INSERT OR IGNORE INTO jobs\"); g(\"DELETE FROM jobs\");", 2),
                ("src/jobs/x.rs", "f(r#\"UPDATE jobs\nSET a = 1\"#);", 1),
                ("src/jobs/x.rs", "f(\"Select one, then update it.\");", 0),
                ("src/jobs/x.rs", "// SELECT id FROM jobs", 0),
                ("src/jobs/x.rs", "#[cfg(test)]\nmod tests { const A: &str = \"SELECT 1\"; }", 0),
                ("src/store/x.rs", "f(\"SELECT id FROM jobs\");", 0),
            ],
        );
    }

    #[test]
    fn processes_offend_outside_their_places() {
        counts(
            processes,
            &[
                ("src/web/x.rs", "use std::process::Command;", 1),
                ("src/web/x.rs", "use std::process::{Command, Stdio};", 1),
                ("src/web/x.rs", "tokio::process::Command::new(a)", 1),
                ("src/web/x.rs", "use std::process::ExitCode;", 0),
                ("src/projects/git.rs", "use std::process::Command;", 0),
                ("src/projects/git/run.rs", "use tokio::process;", 0),
                ("src/tickets/runner/x.rs", "use tokio::process::Command;", 0),
            ],
        );
    }

    #[test]
    fn the_root_refuses_what_is_not_named() {
        let paths =
            ["src/a.rs", ".ci/run", "docs/a.md", "Makefile", "README.md"].map(str::to_owned);

        let found: Vec<String> = root_entries(&paths).into_iter().map(|o| o.path).collect();

        assert_eq!(found, ["docs", "Makefile"]);
    }

    #[test]
    fn machine_paths_offend_and_names_of_folders_do_not() {
        for (line, expected) in [
            (format!("open {}/x", concat!("/wo", "rk")), 1),
            (format!("a = \"{}/me\"", concat!("/ho", "me")), 1),
            (format!("file://{}/x", concat!("/ro", "ot")), 1),
            (format!("src{}/x and tools{}/", concat!("/wo", "rk"), concat!("/wo", "rk")), 0),
        ] {
            assert_eq!(machine_paths(&File::new("a.md", &line)).len(), expected, "{line}");
        }
    }
}
