//! Committing what an agent left in its worktree, so that nothing is lost and the author is named.

use super::repository::Repository;
use super::settle::{is_merging, settle};
use super::worktree::check;
use super::{CommitId, program::Call};
use super::{Place, registered::private_dir};
use crate::base::text::printable;
use crate::base::{Fault, Millis};

/// Who commits: always Assay, whoever wrote.
pub const COMMITTER: (&str, &str) = ("Assay", "assay@localhost");

/// Who wrote the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// A name to show, such as the agent's.
    pub name: String,
    /// An e-mail address; git wants one, and it need not exist.
    pub email: String,
}

/// What a commit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The subject, and after an empty line the body.
    pub text: String,
    /// The last lines, `Assay-Ticket: ACME-1` and the like, as (key, value).
    pub trailers: Vec<(String, String)>,
}

impl Message {
    /// The message as git stores it.
    #[must_use]
    pub fn show(&self) -> String {
        let text = printable(&self.text.replace('\r', ""));
        let mut out = match text.trim() {
            "" => "Work".to_owned(),
            text => text.to_owned(),
        };
        for (at, (key, value)) in self.trailers.iter().enumerate() {
            let value: Vec<&str> = value.split_whitespace().collect();
            out.push_str(if at == 0 { "\n\n" } else { "\n" });
            out.extend([key.as_str(), ": ", &value.join(" ")]);
        }
        out.push('\n');
        out
    }
}

/// Sets who wrote and who commits. `at` is the time of both.
pub(super) fn signed<'a>(call: Call<'a>, author: &Author, at: Millis) -> Call<'a> {
    let plain = |text: &str, otherwise: &str| {
        // Git strips these and then refuses a name of which nothing is left.
        let kept: String =
            text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
        let is_empty = !kept.chars().any(char::is_alphanumeric);
        if is_empty { otherwise.to_owned() } else { kept }
    };
    let date = format!("@{} +0000", at.0.div_euclid(1_000));
    call.env("GIT_AUTHOR_NAME", plain(&author.name, COMMITTER.0))
        .env("GIT_AUTHOR_EMAIL", plain(&author.email, COMMITTER.1))
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_NAME", COMMITTER.0)
        .env("GIT_COMMITTER_EMAIL", COMMITTER.1)
        .env("GIT_COMMITTER_DATE", &date)
}

/// Commits everything that changed in the worktree, new and deleted files included, onto its
/// branch. Returns the branch's tip and whether it is a commit of this call. What the agent left
/// half done is put in order first, as by [`ensure`](super::worktree::ensure). Only while nobody
/// works in the worktree.
///
/// # Errors
/// `ProjectNotReady` where the worktree is gone or not what it must be.
pub async fn commit_all(
    repository: &Repository,
    place: &Place,
    author: &Author,
    message: &Message,
    at: Millis,
) -> Result<(CommitId, bool), Fault> {
    let path = place.existing_path(repository).await?;
    {
        let _turn = repository.in_turn().await;
        settle(repository, &path, place.branch()).await?;
    }
    let before = check(repository, place).await?;
    repository.call_in(&path).args(["add", "--all"]).slow().succeed().await?;
    let compare = ["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD"];
    let is_same = repository.call_in(&path).args(compare).slow().asks().await?;
    if is_same && !is_merging(&private_dir(repository, &path).await?).await {
        return Ok((before.head, false));
    }
    let commit = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
    let call = repository.call_in(&path).args(commit).slow().stdin(message.show());
    signed(call, author, at).succeed().await?;
    Ok((check(repository, place).await?.head, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_with_its_trailers_each_on_one_line() {
        let message = Message {
            text: "  Add a button\r\n\r\nIt was asked for.\0\n\n".to_owned(),
            trailers: vec![
                ("Assay-Ticket".to_owned(), "ACME-1\nEvil: yes".to_owned()),
                ("Assay-Node".to_owned(), "implement".to_owned()),
            ],
        };

        assert_eq!(
            message.show(),
            "Add a button\n\nIt was asked for.\n\n\
             Assay-Ticket: ACME-1 Evil: yes\nAssay-Node: implement\n"
        );
    }

    #[test]
    fn an_empty_message_still_says_something() {
        let message = Message { text: " \n".to_owned(), trailers: Vec::new() };

        assert_eq!(message.show(), "Work\n");
    }
}
