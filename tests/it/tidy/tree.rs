//! The files of the repository.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use super::source::Source;

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Its path from the root, with `/` between the parts.
    pub(crate) path: String,
    /// The whole of it.
    pub(crate) text: String,
}

impl File {
    /// A file of an example.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// What follows the last dot of the name, or nothing.
    pub(crate) fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Whether it is one of the scripts that go without an extension.
    pub(crate) fn is_script(&self) -> bool {
        self.extension().is_empty() && self.text.starts_with("#!")
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// The folder that holds `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every path that is committed or would be, sorted.
pub(crate) fn paths() -> Vec<String> {
    let mut paths = listed_by_git().unwrap_or_else(|| {
        let mut found = Vec::new();
        walk(root(), "", &mut found);
        found
    });
    paths.retain(|path| root().join(path).is_file());
    paths.sort();
    paths
}

/// Every text file. A file that is not UTF-8 is taken for a picture or a font, and left out.
pub(crate) fn files() -> &'static [File] {
    static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
        let read = |path: String| {
            let bytes = fs::read(root().join(&path)).ok()?;
            Some(File { path, text: String::from_utf8(bytes).ok()? })
        };
        paths().into_iter().filter_map(read).collect()
    });
    &FILES
}

/// The Rust files of `src` and `tests`.
pub(crate) fn rust_sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let rust = files().iter().filter(|file| file.extension() == "rs");
        rust.map(|file| Source::new(&file.path, &file.text)).collect()
    });
    &SOURCES
}

/// What git knows and does not ignore, new files included; nothing where there is no git or the
/// sources were unpacked from an archive.
#[expect(clippy::disallowed_methods, reason = "a test asks git what is committed")]
fn listed_by_git() -> Option<Vec<String>> {
    let done = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    let paths: Vec<String> =
        text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    let whole = done.status.success() && paths.iter().any(|path| path == "Cargo.toml");
    whole.then_some(paths)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    let entries = fs::read_dir(folder).expect("a folder of the repository can be read");
    for entry in entries {
        let entry = entry.expect("a folder of the repository can be read");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if matches!(path.as_str(), "target" | ".git" | "assay-data") {
            continue;
        }
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{path}/"), found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_walk_finds_what_git_lists() {
    let mut walked = Vec::new();

    walk(root(), "", &mut walked);

    assert!(walked.iter().any(|path| path == "src/lib.rs"));
    for path in listed_by_git().into_iter().flatten() {
        let gone = !root().join(&path).is_file();
        assert!(gone || walked.contains(&path), "the walk missed {path}");
    }
}

#[test]
fn an_extension_is_what_follows_the_last_dot_of_the_name() {
    let table =
        [("a.b/run", ""), ("a/b.tar.gz", "gz"), ("x.rs", "rs"), (".gitignore", "gitignore")];

    for (path, expected) in table {
        assert_eq!(File::new(path, "").extension(), expected, "{path}");
    }
}
