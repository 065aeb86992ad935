//! Files that nothing uses.

use std::collections::BTreeSet;

use regex::Regex;

use super::Offence;
use super::source::Source;
use super::tree::File;

/// The files that cargo builds a program or a library from.
const ROOTS: [&str; 4] =
    ["src/lib.rs", "src/main.rs", "tests/it/main.rs", "tests/conformance/main.rs"];

/// Rust files that no `mod` line reaches.
pub(crate) fn modules(files: &[File]) -> Vec<Offence> {
    let sources: Vec<Source> = files
        .iter()
        .filter(|file| file.extension() == "rs")
        .map(|file| Source::new(&file.path, &file.text))
        .collect();
    let mut reached: BTreeSet<String> = ROOTS.map(str::to_owned).into();
    loop {
        let known = reached.len();
        for source in sources.iter().filter(|s| reached.contains(&s.path)).collect::<Vec<_>>() {
            reached.extend(named_modules(source));
        }
        if reached.len() == known {
            break;
        }
    }
    let text = "no `mod` line reaches this file; add one, or delete the file";
    let lost = sources.iter().filter(|source| !reached.contains(&source.path));
    lost.map(|source| Offence::new(&source.path, 1, text)).collect()
}

/// The paths at which the modules that a file declares may lie.
fn named_modules(source: &Source) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = match name.trim_end_matches(".rs") {
        "lib" | "main" | "mod" => folder.to_owned(),
        module => format!("{folder}/{module}"),
    };
    let module = Regex::new(r"\bmod\s+(\w+)\s*;").expect("the pattern is valid");
    module
        .captures_iter(&source.code)
        .flat_map(|found| {
            let name = &found[1];
            [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]
        })
        .collect()
}

/// Templates that no page names and no other template includes, extends or imports.
pub(crate) fn templates(files: &[File]) -> Vec<Offence> {
    let named: BTreeSet<String> = strings(files).collect();
    let call = Regex::new(r#"\{%[-+~]?\s*(?:include|extends|import)\s+"([^"]+)""#)
        .expect("the pattern is valid");
    let mut called = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with("templates/")) {
        for found in call.captures_iter(&file.text) {
            called.insert(found[1].to_owned());
        }
    }
    let text = "no page names this template and no template uses it; use it, or delete it";
    let lost = below(files, "templates/")
        .filter(|(_, name)| !named.contains(*name) && !called.contains(*name));
    lost.map(|(file, _)| Offence::new(&file.path, 1, text)).collect()
}

/// Assets that no code, template or other asset names.
pub(crate) fn assets(files: &[File]) -> Vec<Offence> {
    let users: Vec<&File> = files
        .iter()
        .filter(|file| ["src/", "templates/", "assets/"].iter().any(|d| file.path.starts_with(d)))
        .collect();
    let text = "no code, template or asset names this asset; use it, or delete it";
    let used = |path: &str, name: &str| {
        users.iter().any(|user| user.path != path && user.text.contains(name))
    };
    below(files, "assets/")
        .filter(|(file, name)| !used(&file.path, name))
        .map(|(file, _)| Offence::new(&file.path, 1, text))
        .collect()
}

/// Files of statements, and migrations, that no code names.
pub(crate) fn sql_files(files: &[File]) -> Vec<Offence> {
    let named: BTreeSet<String> = strings(files).collect();
    let text = "no code names this file; use it, or delete it";
    let is_used = |name: &str| named.iter().any(|string| string.ends_with(name));
    below(files, "sql/")
        .filter(|(_, name)| !is_used(name))
        .map(|(file, _)| Offence::new(&file.path, 1, text))
        .collect()
}

/// The files of a folder, with their names inside it.
fn below<'a>(files: &'a [File], folder: &'a str) -> impl Iterator<Item = (&'a File, &'a str)> {
    files.iter().filter_map(move |file| Some((file, file.path.strip_prefix(folder)?)))
}

/// Every string literal of `src` outside tests.
fn strings(files: &[File]) -> impl Iterator<Item = String> {
    below(files, "src/").filter(|(file, _)| file.extension() == "rs").flat_map(|(file, _)| {
        let strings = Source::new(&file.path, &file.text).strings;
        strings.into_iter().filter(|string| !string.in_test).map(|string| string.text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(offences: &[Offence]) -> Vec<&str> {
        offences.iter().map(|offence| offence.path.as_str()).collect()
    }

    #[test]
    fn a_file_without_a_mod_line_is_lost() {
        let files = [
            File::new("src/lib.rs", "pub mod a;\n// mod lost;\n"),
            File::new("src/a/mod.rs", "mod b;"),
            File::new("src/a/b.rs", "#[cfg(test)]\nmod tests;"),
            File::new("src/a/b/tests.rs", ""),
            File::new("src/lost.rs", "mod worse;"),
            File::new("src/lost/worse.rs", ""),
            File::new("tests/it/main.rs", "mod x;"),
            File::new("tests/it/x.rs", ""),
            File::new("tests/it/y.rs", ""),
        ];

        let found = modules(&files);

        assert_eq!(paths(&found), ["src/lost.rs", "src/lost/worse.rs", "tests/it/y.rs"]);
    }

    #[test]
    fn a_template_that_nobody_names_is_lost() {
        let files = [
            File::new("src/web/a.rs", "#[template(path = \"a.html\")]\nstruct A;"),
            File::new(
                "templates/a.html",
                "{% extends \"layout.html\" %}{%- include \"p/x.html\" %}",
            ),
            File::new("templates/layout.html", ""),
            File::new("templates/p/x.html", ""),
            File::new("templates/p/lost.html", ""),
        ];

        assert_eq!(paths(&templates(&files)), ["templates/p/lost.html"]);
    }

    #[test]
    fn an_asset_that_nobody_names_is_lost() {
        let files = [
            File::new("src/web/assets.rs", "const CSS: &str = \"app.css\";"),
            File::new("templates/a.html", "{{ asset(\"icons/a.svg\") }}"),
            File::new("assets/app.css", "@font-face { src: url(\"text.woff2\") }"),
            File::new("assets/icons/a.svg", ""),
            File::new("assets/text.woff2", ""),
            File::new("assets/lost.js", "import \"lost.js\";"),
        ];

        assert_eq!(paths(&assets(&files)), ["assets/lost.js"]);
    }

    #[test]
    fn a_sql_file_that_nobody_names_is_lost() {
        let files = [
            File::new("src/jobs/mod.rs", "const A: &str = sql!(\"jobs.sql\", \"claim\");"),
            File::new("src/store/migrate.rs", "include_str!(\"../../sql/schema/0001_base.sql\")"),
            File::new("sql/jobs.sql", ""),
            File::new("sql/schema/0001_base.sql", ""),
            File::new("sql/lost.sql", ""),
        ];

        assert_eq!(paths(&sql_files(&files)), ["sql/lost.sql"]);
    }
}
