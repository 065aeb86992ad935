//! Running checks in a work tree: shell lines, and files that must be there.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use tokio::sync::mpsc;

use super::agent_log::{AgentLog, keep_bytes, remove_folder};
use super::env::Env;
use super::insist::excuse;
use super::recorded;
use super::run_node::Task;
use super::secrets;
use crate::base::redact::Redactor;
use crate::base::stops::{self, Stop};
use crate::base::{Fault, RunId, text};
use crate::jobs::Ctx;
use crate::projects::agents::{Permissions, Profile, verbatim};
use crate::proofs::{Evidence, Verdict};
use crate::store::Hash;
use crate::tickets::runner::{Exit, Launch, Limits, LogLine};
use crate::tickets::states::AssertionState;

/// How long a check of an assertion may take.
const ASSERTION_TIME: Duration = Duration::from_mins(10);

/// Bytes of a file that a check looks through at most.
const FILE_MAX: u64 = 4 << 20;

/// What a shell line came to.
pub(super) struct Ran {
    pub(super) exit: Exit,
    pub(super) duration_ms: u64,
    pub(super) tail: Vec<String>,
    pub(super) log: Hash,
    pub(super) log_bytes: u64,
}

impl Ran {
    pub(super) const fn passed(&self) -> bool {
        matches!(self.exit, Exit::Code(0))
    }

    pub(super) const fn verdict(&self) -> Verdict {
        match self.exit {
            Exit::Code(0) => Verdict::Proven,
            Exit::Code(_) => Verdict::Failed,
            _ => Verdict::Inconclusive,
        }
    }

    /// How it ended, in a few words.
    pub(super) fn ending(&self) -> String {
        match self.exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(signal) => format!("ended by signal {signal}"),
            Exit::TimedOut => "did not end within its time".to_owned(),
            Exit::Silent => "printed nothing for too long".to_owned(),
            Exit::OutputFlood => "printed more than it may".to_owned(),
            Exit::Cancelled | Exit::OverLimit => "was stopped".to_owned(),
            // A check is a command; nobody talks with it.
            Exit::Answered | Exit::Broke(_) => "ended".to_owned(),
        }
    }

    pub(super) fn evidence(&self, label: &str) -> Evidence {
        Evidence {
            label: label.to_owned(),
            media_type: "text/plain; charset=utf-8".to_owned(),
            hash: self.log,
            size_bytes: self.log_bytes,
        }
    }
}

/// A shell line and where to run it.
pub(super) struct Line<'a> {
    pub(super) command: &'a str,
    pub(super) time: Duration,
    pub(super) tree: &'a Path,
}

impl<'a> Line<'a> {
    /// The line of an assertion's check.
    pub(super) const fn of_assertion(command: &'a str, tree: &'a Path) -> Self {
        Self { command, time: ASSERTION_TIME, tree }
    }
}

/// Runs a shell line as a recorded process group of its own. Its output goes to the node's log and
/// is kept as evidence.
pub(super) async fn run(
    env: &Arc<Env>,
    task: &Task,
    line: &Line<'_>,
    log: &AgentLog,
    ctx: &Ctx,
) -> Result<Ran, Fault> {
    let redactor = secrets::redactor(env, task).await?;
    let shown = redactor.redact(line.command).into_owned();
    log.say(env, format!("$ {shown}")).await;
    let (lines, waiting) = mpsc::channel(1_000);
    let run: RunId = env.entropy.id(env.clock.now());
    let launch = launch(env, task, line, run, lines, redactor);
    let folder = launch.folder.clone();
    let copied = tokio::spawn(copy(waiting, log.lines(), shown));
    let ended = recorded::run(env, ctx, (task.tenant, Some(task.node.id)), run, launch).await;
    let excuse = ended.as_ref().ok().and_then(|ended| excuse(env, ended.exit));
    remove_folder(&folder).await;
    let output = copied.await.map_err(Fault::internal)?;
    let ended = ended?;
    if let Some(fault) = excuse {
        return Err(fault);
    }
    let mut ran = Ran {
        exit: ended.exit,
        duration_ms: ended.duration_ms,
        tail: ended.tail,
        log: Hash::of(b""),
        log_bytes: output.len() as u64,
    };
    log.say(env, format!("→ {}", ran.ending())).await;
    ran.log = keep_bytes(env, ctx, output).await?;
    stops::reach(Stop::CheckEnded);
    Ok(ran)
}

fn launch(
    env: &Env,
    task: &Task,
    line: &Line<'_>,
    run: RunId,
    log: mpsc::Sender<LogLine>,
    redactor: Redactor,
) -> Launch {
    let shell = vec!["sh".to_owned(), "-c".to_owned(), verbatim(line.command)];
    let mut profile = Profile::script(shell);
    profile.timeout_secs = line.time.as_secs();
    // A check may be silent while it works; its own time is the limit.
    profile.idle_timeout_secs = line.time.as_secs();
    Launch {
        assay: env.assay.clone(),
        limits: Limits::of(&profile),
        profile,
        ticket: task.ticket.reference(),
        node: task.node.kind.word().to_owned(),
        branch: task.ticket.working_branch(),
        prompt: String::new(),
        worktree: line.tree.to_owned(),
        folder: env.paths.runs().join(format!("check-{run}")),
        attachments: None,
        permissions: Permissions::default(),
        answers: Vec::new(),
        access: None,
        marker: run.to_string(),
        clock: env.clock.clone(),
        secrets: Vec::new(),
        redact: Arc::new(move |text| redactor.redact(text).into_owned()),
        in_place: env.in_place(),
        bound: None,
        log,
    }
}

/// Copies a check's output into the node's log, and keeps it as a text of its own.
async fn copy(
    mut waiting: mpsc::Receiver<LogLine>,
    log: mpsc::Sender<LogLine>,
    command: String,
) -> Vec<u8> {
    let mut output = format!("$ {command}\n");
    while let Some(line) = waiting.recv().await {
        writeln!(output, "{}", line.text).expect("writing to a string");
        drop(log.send(line).await);
    }
    output.into_bytes()
}

/// Whether a file of the work tree is there, and contains what it must.
pub(super) async fn look_at_file(
    tree: &Path,
    path: &str,
    contains: Option<&str>,
) -> (AssertionState, String) {
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !inside || path.is_empty() {
        let said = format!("{} does not lead into the repository.", text::cut(path, 200));
        return (AssertionState::Unconfirmed, said);
    }
    let full = tree.join(path);
    let (root, found) = (tokio::fs::canonicalize(tree).await, tokio::fs::canonicalize(&full).await);
    let is_inside = match (&root, &found) {
        (Ok(root), Ok(found)) => found.starts_with(root),
        _ => false,
    };
    if !is_inside {
        return (AssertionState::Unconfirmed, format!("There is no file {path}."));
    }
    let Some(wanted) = contains else {
        return (AssertionState::Confirmed, format!("The file {path} is there."));
    };
    match read_head(found.as_deref().unwrap_or(&full)).await {
        Ok(content) if content.contains(wanted) => {
            (AssertionState::Confirmed, format!("The file {path} contains the text."))
        }
        Ok(_) => (
            AssertionState::Partial,
            format!("The file {path} is there but does not contain the text."),
        ),
        Err(_) => (AssertionState::Partial, format!("{path} is there but cannot be read.")),
    }
}

/// The start of a plain file. An agent may have left a pipe there, which would never end.
async fn read_head(path: &Path) -> std::io::Result<String> {
    use tokio::io::AsyncReadExt;
    let path = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || -> std::io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = std::fs::File::from(rustix::fs::open(&path, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
    });
    let file = opened.await.map_err(std::io::Error::other)??;
    let mut bytes = Vec::new();
    tokio::fs::File::from_std(file).take(FILE_MAX).read_to_end(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pipe_in_place_of_a_file_is_looked_at_without_waiting() {
        let tree = tempfile::tempdir().unwrap();
        let pipe = tree.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();

        let (state, said) = look_at_file(tree.path(), "pipe", Some("x")).await;

        assert_eq!(
            (state, said.as_str()),
            (AssertionState::Partial, "pipe is there but cannot be read.",)
        );
    }
}
