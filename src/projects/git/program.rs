//! Running `git`: an argument vector and never a shell, asking nobody anything, running no program
//! that a repository would like to have run, within a time and an output limit.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Command;

use super::environment::{ALWAYS, environment, file_of};
use super::guard::{self, Reach};
pub use super::process::Output;
use super::process::{Group, attend};
use crate::base::text::{cut, printable};
use crate::base::{Code, Fault};

/// How much of what git writes is kept, unless a call says otherwise.
const OUTPUT_BYTES: usize = 16 << 20;
/// The oldest git that can merge without a work tree (`merge-tree --write-tree`).
const OLDEST: (u32, u32) = (2, 38);

/// The `git` program and how long it may take. One value, cloned, serves the whole process: its
/// clones take turns where git itself does not.
#[derive(Debug, Clone)]
pub struct Git {
    program: OsString,
    quick: Duration,
    slow: Duration,
    turns: Turns,
}

/// Whose turn it is to change a repository's worktrees, by the repository's directory. Git makes
/// a worktree in steps, and fails where it comes upon one that is half made.
type Turns = Arc<Mutex<HashMap<PathBuf, Turn>>>;
/// Held while worktrees of one repository are listed, made or removed.
pub(super) type Turn = Arc<tokio::sync::Mutex<()>>;

impl Default for Git {
    fn default() -> Self {
        Self::new("git")
    }
}

impl Git {
    /// This program: a name to look for on `PATH`, or a path. A minute for ordinary calls, ten for
    /// those that move a repository's content.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        let minute = Duration::from_mins(1);
        Self { program: program.into(), quick: minute, slow: minute * 10, turns: Turns::default() }
    }

    /// The same program with other time limits: for ordinary calls, and for those that move a
    /// repository's content.
    #[must_use]
    pub fn within(self, quick: Duration, slow: Duration) -> Self {
        Self { quick, slow, ..self }
    }

    /// The program's version, such as `2.47`.
    ///
    /// # Errors
    /// `ProjectNotReady` where git is not installed or too old; the message says what is needed.
    pub async fn version(&self) -> Result<(u32, u32), Fault> {
        let said = self.anywhere().args(["version"]).text().await?;
        match parse_version(&said) {
            Some(version) if version >= OLDEST => Ok(version),
            _ => Err(super::not_ready(format!(
                "Git {}.{} or newer is needed, and this machine has “{}”. Install a newer git.",
                OLDEST.0,
                OLDEST.1,
                cut(&said, 80)
            ))),
        }
    }

    /// The turn of the repository in this directory.
    pub(super) fn turn(&self, dir: &Path) -> Turn {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(dir.to_owned()).or_default().clone()
    }

    /// A call that needs no repository.
    #[must_use]
    pub fn anywhere(&self) -> Call<'_> {
        self.call(Path::new("/"), None)
    }

    /// A call on a repository, by the directory that holds its objects. Nothing is looked up, so a
    /// repository that went away is never mistaken for one around it.
    #[must_use]
    pub fn repository(&self, git_dir: &Path) -> Call<'_> {
        self.call(git_dir, Some(git_dir))
    }

    /// A call in a work tree, by its top directory. Git looks there and nowhere above.
    #[must_use]
    pub fn tree(&self, top: &Path) -> Call<'_> {
        let mut call = self.call(top, None);
        call.command.env("GIT_CEILING_DIRECTORIES", top.parent().unwrap_or(top));
        call
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts git")]
    fn call(&self, directory: &Path, git_dir: Option<&Path>) -> Call<'_> {
        let environment = environment(std::env::vars_os());
        let mut command = Command::new(file_of(&self.program, &environment));
        command.env_clear().envs(environment);
        command.current_dir(directory).process_group(0);
        if let Some(git_dir) = git_dir {
            let mut option = OsString::from("--git-dir=");
            option.push(git_dir);
            command.arg(option);
        }
        command.args(ALWAYS);
        let own_args = command.as_std().get_args().len();
        Call {
            git: self,
            command,
            directory: directory.to_owned(),
            git_dir: git_dir.map(Path::to_owned),
            own_args,
            verb: String::new(),
            stdin: Vec::new(),
            limit: self.quick,
            output_bytes: OUTPUT_BYTES,
            may_cut: false,
        }
    }
}

/// One call of git, not yet run.
pub struct Call<'a> {
    git: &'a Git,
    command: Command,
    directory: PathBuf,
    git_dir: Option<PathBuf>,
    /// How many of the arguments are ours and stand before the verb.
    own_args: usize,
    verb: String,
    stdin: Vec<u8>,
    limit: Duration,
    output_bytes: usize,
    may_cut: bool,
}

impl Call<'_> {
    /// Adds arguments. The first is the verb. Whatever comes from outside stands after `--` or
    /// cannot start with a hyphen.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        for arg in args {
            if self.verb.is_empty() {
                self.verb = arg.as_ref().to_string_lossy().into_owned();
            }
            self.command.arg(arg);
        }
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// What git reads on its standard input.
    #[must_use]
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Allows the time of a call that moves a repository's content.
    #[must_use]
    pub fn slow(mut self) -> Self {
        self.limit = self.git.slow;
        self
    }

    /// Takes no more than `bytes` of output; what is longer is cut there and git is ended.
    #[must_use]
    pub fn at_most(mut self, bytes: usize) -> Self {
        self.output_bytes = bytes;
        self.may_cut = true;
        self
    }

    /// Runs to the end, whatever the exit code.
    ///
    /// # Errors
    /// `Timeout`, or `ProjectNotReady` where git or the directory is missing or the repository's
    /// configuration names programs of its own, or `Upstream`.
    pub async fn run(mut self) -> Result<Output, Fault> {
        let reach = Reach::of(self.command.as_std().get_args().skip(self.own_args));
        let is_somewhere = self.directory != Path::new("/");
        if reach.starts_programs && is_somewhere && self.directory.is_dir() {
            let git_dir = self.git_dir.as_deref();
            let overrides = guard::overrides(self.git, &self.directory, git_dir, reach).await?;
            self.command.env("GIT_CONFIG_COUNT", overrides.len().to_string());
            for (n, (key, value)) in overrides.into_iter().enumerate() {
                self.command.env(format!("GIT_CONFIG_KEY_{n}"), key);
                self.command.env(format!("GIT_CONFIG_VALUE_{n}"), value);
            }
        } else {
            // Objects that a partial clone lacks would be fetched by programs that nobody weighed.
            self.command.env("GIT_NO_LAZY_FETCH", "1");
        }
        self.start().await
    }

    /// Runs without a look at what the repository's configuration would start: for calls that
    /// start nothing.
    pub(super) async fn start(mut self) -> Result<Output, Fault> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|cause| self.not_started(cause))?;
        let mut group = Group::of(&child);
        let attended = attend(&mut child, std::mem::take(&mut self.stdin), self.output_bytes);
        let ended = tokio::time::timeout(self.limit, attended).await;
        let output = match ended {
            Ok(Ok(output)) => output,
            Ok(Err(cause)) => {
                let message = format!("Git {} could not be followed to its end.", self.verb);
                return Err(Fault::new(Code::Upstream, message).because(cause));
            }
            Err(_) => {
                group.stop(&mut child).await;
                let seconds = self.limit.as_secs_f32();
                let message = format!("Git {} did not end within {seconds} seconds.", self.verb);
                return Err(Fault::new(Code::Timeout, message));
            }
        };
        group.has_ended();
        if output.is_cut && !self.may_cut {
            let megabytes = self.output_bytes >> 20;
            let message = format!("Git {} wrote more than {megabytes} MiB.", self.verb);
            return Err(Fault::new(Code::Upstream, message));
        }
        Ok(output)
    }

    /// Runs to the end and takes any exit code but 0 for a failure. Cut output is a success.
    pub async fn succeed(self) -> Result<Output, Fault> {
        let verb = self.verb.clone();
        let output = self.run().await?;
        if output.code == 0 || output.is_cut { Ok(output) } else { Err(failed(&verb, &output)) }
    }

    /// Runs to success and returns the trimmed text.
    pub async fn text(self) -> Result<String, Fault> {
        Ok(self.succeed().await?.text())
    }

    /// Runs a question: exit code 0 is yes, 1 is no.
    pub async fn asks(self) -> Result<bool, Fault> {
        let verb = self.verb.clone();
        let output = self.run().await?;
        match output.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(failed(&verb, &output)),
        }
    }

    fn not_started(&self, cause: io::Error) -> Fault {
        let message = if !self.directory.is_dir() {
            format!("The directory {} does not exist.", self.directory.display())
        } else if cause.kind() == io::ErrorKind::NotFound {
            let program = self.git.program.display();
            format!("The program “{program}” was not found. Install git and put it on the PATH.")
        } else {
            return Fault::new(Code::Upstream, "Git could not be started.").because(cause);
        };
        super::not_ready(message).because(cause)
    }
}

/// Git ended badly: its own last words, shortened.
pub(super) fn failed(verb: &str, output: &Output) -> Fault {
    let said = cut(printable(&output.said).trim(), 600);
    if said.contains("No space left on device") {
        let message = format!("The disk is full: git {verb} could not write. Free some space.");
        return Fault::new(Code::StorageFull, message);
    }
    let how = match output.code {
        ..0 => "was ended by a signal".to_owned(),
        code => format!("failed with exit code {code}"),
    };
    let message = match said.as_str() {
        "" => format!("Git {verb} {how} and said nothing."),
        said => format!("Git {verb} {how}: {said}"),
    };
    Fault::new(Code::Upstream, message)
}

/// `git version 2.47.3 (Apple Git-1)` as (2, 47).
fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::*;

    #[test]
    fn a_version_is_read_past_what_vendors_add() {
        assert_eq!(parse_version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(parse_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse_version("hub 2.0"), None);
    }

    #[test]
    fn a_full_disk_is_told_apart_from_a_failing_git() {
        let output = |said: &str| Output {
            code: 128,
            stdout: Vec::new(),
            is_cut: false,
            said: said.to_owned(),
        };

        let full = failed("commit", &output("error: write: No space left on device\n"));
        let other = failed("commit", &output("fatal: bad object\n"));

        assert_eq!(full.code, Code::StorageFull);
        assert_eq!(other.code, Code::Upstream);
        assert_eq!(other.message, "Git commit failed with exit code 128: fatal: bad object");
    }

    #[tokio::test]
    async fn a_missing_git_is_named() {
        let git = Git::new("/nonexistent/git");

        let fault = git.version().await.expect_err("there is no such program");

        assert_eq!(fault.code, Code::ProjectNotReady);
        assert!(fault.message.contains("/nonexistent/git"), "{fault}");
    }

    #[tokio::test]
    async fn a_git_that_hangs_is_ended_with_all_it_started() {
        let directory = tempfile::tempdir().expect("a directory");
        let pid_file = directory.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
        let git = Git::new("/bin/sh").within(Duration::from_secs(1), Duration::from_secs(1));
        // `sh` stands in for git: its own options make it skip ours and run the script.
        let mut call = git.anywhere();
        call.command = script_command(&script);

        let fault = call.args(["hang"]).run().await.expect_err("it hangs");

        assert_eq!(fault.code, Code::Timeout);
        let pid: i32 = std::fs::read_to_string(&pid_file)
            .expect("it started")
            .trim()
            .parse()
            .expect("a number");
        let pid = Pid::from_raw(pid).expect("a process number");
        assert!(is_gone(pid).await, "the sleeper lives on");
    }

    #[tokio::test]
    async fn output_is_bounded_and_a_flood_ends() {
        let git = Git::default();
        let mut call = git.anywhere();
        call.command = script_command("yes");

        let output = call.at_most(1_000).run().await.expect("it is cut");

        assert!(output.is_cut);
        assert_eq!(output.stdout.len(), 1_000);
    }

    #[expect(clippy::disallowed_methods, reason = "a stand-in for git")]
    fn script_command(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).process_group(0);
        command
    }

    /// Whether the process is gone, or a zombie that waits for its parent, within a second.
    async fn is_gone(pid: Pid) -> bool {
        for _ in 0..1_000 {
            let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
            let Ok(stat) = tokio::fs::read_to_string(path).await else { return true };
            if stat.contains(") Z ") {
                return true;
            }
            tokio::task::yield_now().await;
        }
        false
    }
}
