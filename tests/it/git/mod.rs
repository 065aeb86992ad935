//! Git on real repositories, each made for its test and gone after it.

mod inspecting;
mod landings;
mod planted;
mod racing;
mod remotes;
mod worktrees;

use std::path::{Path, PathBuf};

use assay::base::Millis;
use assay::projects::git::commit::{Author, Message, commit_all};
use assay::projects::git::landing::{Request, Strategy};
use assay::projects::git::{BranchName, CommitId, Git, Location, Place, Repository, worktree};
use tempfile::TempDir;

/// A moment for all commits of these tests.
const AT: Millis = Millis(1_785_333_600_000);

/// A directory with a person's repository in it, and room for ours.
struct Bench {
    dir: TempDir,
    git: Git,
}

impl Bench {
    /// A repository at [`Bench::person`] with one commit on `main`, which is checked out.
    fn new() -> Self {
        let bench = Self::empty();
        bench.write("README.md", "One\nTwo\nThree\n");
        bench.person_commits("First");
        bench
    }

    /// The same without any commit.
    fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let bench = Self { dir, git: Git::default() };
        std::fs::create_dir(bench.person()).expect("a directory");
        bench.run(&["init", "--quiet", "--initial-branch=main"]);
        bench
    }

    /// The path of something in the bench's directory, without links.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("it is there").join(name)
    }

    /// The person's repository.
    fn person(&self) -> PathBuf {
        self.path("person")
    }

    /// Where our worktrees are.
    fn root(&self) -> PathBuf {
        self.path("worktrees")
    }

    /// Runs git as the person would, in their repository.
    fn run(&self, args: &[&str]) -> String {
        run_in(&self.person(), args)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.person().join(name), text);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.person().join(name)).unwrap_or_default()
    }

    fn person_commits(&self, subject: &str) -> CommitId {
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.tip("main")
    }

    /// The tip of a branch of the person's repository.
    fn tip(&self, branch: &str) -> CommitId {
        tip_in(&self.person(), branch)
    }

    async fn open(&self) -> Repository {
        self.open_at(self.person().to_str().expect("a plain path")).await
    }

    async fn open_at(&self, location: &str) -> Repository {
        let location = Location::parse(location).expect("a location");
        let opened = Repository::open(&self.git, &location, &self.path("repos"), "p1").await;
        opened.expect("it opens")
    }

    /// A bare copy of the person's repository.
    fn bare(&self) -> PathBuf {
        let bare = self.path("bare.git");
        self.run(&["clone", "--quiet", "--bare", ".", bare.to_str().expect("a plain path")]);
        bare
    }

    /// Does a ticket's work: its worktree, one file, one commit. Returns the branch's tip.
    async fn work(
        &self,
        repository: &Repository,
        ticket: &str,
        file: &str,
        text: &str,
    ) -> CommitId {
        let place = self.place(ticket);
        let base = repository.tip(&branch("main")).await.expect("the base is there");
        let made = worktree::ensure(repository, &place, &base).await.expect("a worktree");
        write(&made.path.join(file), text);
        self.commit(repository, &place).await
    }

    fn place(&self, ticket: &str) -> Place {
        Place::of_ticket(&self.root(), ticket).expect("a place")
    }

    async fn commit(&self, repository: &Repository, place: &Place) -> CommitId {
        let committed = commit_all(repository, place, &author(), &message(), AT).await;
        committed.expect("it commits").0
    }
}

fn request(tip: CommitId, strategy: Strategy) -> Request {
    Request { base: branch("main"), tip, strategy, author: author(), message: message(), at: AT }
}

fn branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("a branch name")
}

fn author() -> Author {
    Author { name: "Ada <agent>".to_owned(), email: "ada@example.org".to_owned() }
}

fn message() -> Message {
    let trailers = vec![("Assay-Ticket".to_owned(), "ACME-1".to_owned())];
    Message { text: "Add a button".to_owned(), trailers }
}

fn write(path: &Path, text: &str) {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).expect("a directory");
    }
    std::fs::write(path, text).expect("it writes");
}

fn tip_in(directory: &Path, branch: &str) -> CommitId {
    let text = run_in(directory, &["rev-parse", &format!("refs/heads/{branch}")]);
    CommitId::parse(&text).expect("a commit")
}

/// Runs git in a directory as a person with a name and no settings of their own.
pub(crate) fn run_in(directory: &Path, args: &[&str]) -> String {
    let output = assert_cmd::Command::new("git")
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Pat")
        .env("GIT_AUTHOR_EMAIL", "pat@example.org")
        .env("GIT_COMMITTER_NAME", "Pat")
        .env("GIT_COMMITTER_EMAIL", "pat@example.org")
        .assert()
        .success();
    String::from_utf8_lossy(&output.get_output().stdout).trim().to_owned()
}
