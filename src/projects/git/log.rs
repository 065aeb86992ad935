//! The commits of a branch, newest first.

use super::CommitId;
use super::repository::Repository;
use crate::base::{Fault, Millis};

/// One commit, for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its full id.
    pub id: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it.
    pub author: String,
    /// When it was committed.
    pub at: Millis,
}

/// The commits that `tip` has and `base` has not, newest first, at most `limit`, and whether there
/// are more.
pub async fn list(
    repository: &Repository,
    base: &CommitId,
    tip: &CommitId,
    limit: usize,
) -> Result<(Vec<Commit>, bool), Fault> {
    let count = format!("--max-count={}", limit.saturating_add(1));
    let range = format!("{base}..{tip}");
    let format = "--format=%H%x00%ct%x00%an%x00%s";
    let log = ["log", "-z", "--no-show-signature", "--no-color", format, &count, &range, "--"];
    let output = repository.call().args(log).succeed().await?;
    let mut commits = parse(&output.fields().collect::<Vec<_>>());
    let has_more = commits.len() > limit;
    commits.truncate(limit);
    Ok((commits, has_more))
}

/// What each of the commits that `tip` has and `base` has not says and changed, binary files as
/// they are, at most `max_bytes` of it, and whether there is more. Of a merge it is what neither
/// side had.
pub async fn patches(
    repository: &Repository,
    base: &CommitId,
    tip: &CommitId,
    max_bytes: usize,
) -> Result<(String, bool), Fault> {
    let range = format!("{base}..{tip}");
    let how = ["--patch", "--cc", "--text", "--no-renames", "--no-color", "--no-ext-diff"];
    let log = repository.call().args(["log", "--no-show-signature", "--no-textconv"]).args(how);
    let log = log.args([range.as_str(), "--"]).slow().at_most(max_bytes);
    let output = log.succeed().await?;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.is_cut))
}

/// Reads four fields a commit: id, seconds, author, subject.
fn parse(fields: &[&[u8]]) -> Vec<Commit> {
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let commit = |fields: &[&[u8]]| {
        let [id, seconds, author, subject] = fields else { return None };
        let seconds: i64 = text(seconds).parse().ok()?;
        Some(Commit {
            id: CommitId::parse(&text(id))?,
            subject: text(subject),
            author: text(author),
            at: Millis(seconds.saturating_mul(1_000)),
        })
    };
    fields.chunks(4).filter_map(commit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_without_subject_does_not_shift_the_next() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let fields = [one.as_str(), "10", "Ada", "", &two, "20", "Bob", "Second"];

        let commits = parse(&fields.map(str::as_bytes));

        assert_eq!(commits.len(), 2);
        assert_eq!(commits[0].subject, "");
        assert_eq!((commits[1].subject.as_str(), commits[1].at), ("Second", Millis(20_000)));
    }
}
