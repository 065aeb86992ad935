//! What a branch changed since it left the base: counts, files and the text, all bounded.

use std::fmt::Display;

use super::CommitId;
use super::repository::Repository;
use crate::base::Fault;

/// How many files a [`Summary`] names.
pub const FILES_MAX: usize = 2_000;

/// Bytes that the numbers of all files may take before the text of a [`whole`] change.
const NUMBERS_MAX: usize = 1 << 20;

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path now, or before it was deleted.
    pub path: String,
    /// Its path before, where it was renamed.
    pub renamed_from: Option<String>,
    /// Lines that came; `None` for a binary file.
    pub added: Option<u64>,
    /// Lines that went; `None` for a binary file.
    pub deleted: Option<u64>,
}

/// All that a branch changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The changed files in order of path, at most [`FILES_MAX`].
    pub files: Vec<FileChange>,
    /// How many there are.
    pub file_count: usize,
    /// Lines that came, in all files.
    pub added: u64,
    /// Lines that went, in all files.
    pub deleted: u64,
}

/// How many commits `tip` has that `base` has not.
pub async fn commits_ahead(
    repository: &Repository,
    base: &CommitId,
    tip: &CommitId,
) -> Result<u64, Fault> {
    // What came in with a merge of the base is not the branch's own.
    let count = ["rev-list", "--first-parent", "--count", &format!("{base}..{tip}"), "--"];
    Ok(repository.call().args(count).text().await?.parse().unwrap_or(0))
}

/// The commit that another was made on, as the other functions take it for a base, and as git finds
/// it by itself: for a commit that landed, the base's tip then. See [`parent`].
#[must_use]
pub fn parent_of(id: &CommitId) -> String {
    format!("{id}^1")
}

/// What changed between the place where `tip` left `base` and `tip`.
pub async fn summary(
    repository: &Repository,
    base: &impl Display,
    tip: &CommitId,
) -> Result<Summary, Fault> {
    let range = format!("{base}...{tip}");
    let how = ["--numstat", "-z", "--find-renames", "--no-ext-diff", "--no-textconv"];
    let diff = repository.call().args(["diff"]).args(how).args([range.as_str(), "--"]);
    let output = diff.slow().succeed().await?;
    Ok(parse_numstat(output.fields()))
}

/// The commit that another was made on; the base's tip for a commit that landed. `None` for a
/// commit that is the first of all, or is not here.
pub async fn parent(repository: &Repository, id: &CommitId) -> Result<Option<CommitId>, Fault> {
    let question = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    let output =
        repository.call().args(question).args([format!("{id}^1^{{commit}}")]).run().await?;
    Ok(CommitId::parse(&output.text()).filter(|_| output.code == 0))
}

/// The same change as text, in at most `max_bytes`, and whether there was more. Only of the files
/// at `paths`, where any are named.
pub async fn text(
    repository: &Repository,
    base: &impl Display,
    tip: &CommitId,
    paths: &[&str],
    max_bytes: usize,
) -> Result<(String, bool), Fault> {
    let range = format!("{base}...{tip}");
    let how = ["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames"];
    let diff = repository.call().args(["diff"]).args(how).args([range.as_str(), "--"]).args(paths);
    // A name may hold what git takes for a pattern.
    let output = diff.env("GIT_LITERAL_PATHSPECS", "1").slow().at_most(max_bytes).succeed().await?;
    Ok((text_of(&output.stdout, output.is_cut), output.is_cut))
}

/// A [`summary`] and the [`text`] of all files, in one call.
pub async fn whole(
    repository: &Repository,
    base: &impl Display,
    tip: &CommitId,
    max_bytes: usize,
) -> Result<(Summary, String), Fault> {
    let range = format!("{base}...{tip}");
    let how = ["-z", "--numstat", "--patch", "--no-color", "--no-ext-diff", "--no-textconv"];
    let diff = repository.call().args(["diff"]).args(how);
    let diff = diff.args(["--find-renames", range.as_str(), "--"]);
    let output = diff.slow().at_most(NUMBERS_MAX + max_bytes).succeed().await?;
    let bytes = output.stdout.as_slice();
    // The numbers come first, and no path is empty.
    let Some(end) = bytes.windows(2).position(|two| two == b"\0\0") else {
        return Ok((summary(repository, base, tip).await?, String::new()));
    };
    let (numbers, text) = (&bytes[..end], &bytes[end + 2..]);
    let (text, is_cut) = match text.get(..max_bytes) {
        Some(head) if text.len() > max_bytes => (head, true),
        _ => (text, output.is_cut),
    };
    Ok((parse_numstat(numbers.split(|byte| *byte == 0)), text_of(text, is_cut)))
}

/// The lines of a text, whole ones only.
fn text_of(bytes: &[u8], is_cut: bool) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if is_cut {
        // The last line, and maybe its last character, is not whole.
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    }
    text
}

/// Reads `git diff --numstat -z`: `added⇥deleted⇥path`, and for a rename an empty path with the two
/// paths as fields of their own.
fn parse_numstat<'a>(mut fields: impl Iterator<Item = &'a [u8]>) -> Summary {
    let mut out = Summary { files: Vec::new(), file_count: 0, added: 0, deleted: 0 };
    while let Some(field) = fields.next() {
        let field = String::from_utf8_lossy(field);
        let mut parts = field.splitn(3, '\t');
        let (added, deleted, path) = (parts.next(), parts.next(), parts.next().unwrap_or(""));
        let mut name = || fields.next().map(|name| String::from_utf8_lossy(name).into_owned());
        let (renamed_from, path) = match path {
            "" => (name(), name().unwrap_or_default()),
            path => (None, path.to_owned()),
        };
        let count = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
        let change =
            FileChange { path, renamed_from, added: count(added), deleted: count(deleted) };
        out.file_count += 1;
        out.added += change.added.unwrap_or(0);
        out.deleted += change.deleted.unwrap_or(0);
        if out.files.len() < FILES_MAX {
            out.files.push(change);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_binaries_and_renames_are_read() {
        let text = "3\t1\tsrc/a b.rs\0-\t-\tlogo.png\0\u{30}\t2\t\0old\tname\0new\0";
        let fields = text.trim_end_matches('\0').split('\0').map(str::as_bytes);

        let summary = parse_numstat(fields);

        assert_eq!((summary.file_count, summary.added, summary.deleted), (3, 3, 3));
        assert_eq!(summary.files[1].added, None);
        assert_eq!(summary.files[2].renamed_from.as_deref(), Some("old\tname"));
        assert_eq!(summary.files[2].path, "new");
    }
}
