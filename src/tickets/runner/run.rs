//! One run of an agent, from the recorded start to the end of its last process.

use std::future::Future;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::output::{Feed, Stream, uncoloured};
use super::process::{ProcessId, end_group, kill_now};
use super::report::{self, Handed};
use super::spawn::{GO, Launch, Limits, NOT_FOUND, NOT_RUNNABLE, refused, works_in};
use super::usage::{Metered, Usage};
use crate::base::stops::{self, Stop};
use crate::base::{Clock, Fault, Millis};

/// How long the last output may take to arrive once every process is gone.
const DRAIN: Duration = Duration::from_secs(2);
/// How long to wait for folders that were moved away before looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How many of the last lines a failure quotes.
const QUOTED_LINES: usize = 10;

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The agent ended with this exit code.
    Code(i32),
    /// Somebody else ended the agent with this signal.
    Signal(i32),
    /// It was ended: the time was over.
    TimedOut,
    /// It was ended: it printed nothing for too long.
    Silent,
    /// It was ended: it printed too much.
    OutputFlood,
    /// It was ended: it told that it had used more than it may.
    OverLimit,
    /// It was ended: the caller cancelled it.
    Cancelled,
}

impl Exit {
    /// What happened, as a sentence; nothing where the agent ended well. A limit that was reached
    /// is named with the setting of the agent profile that sets it.
    #[must_use]
    pub fn problem(self, limits: Limits) -> Option<String> {
        let said = match self {
            Self::Code(0) => return None,
            Self::Code(code) if code == i32::from(NOT_FOUND) => {
                "The agent's command was not found (exit code 127).".to_owned()
            }
            Self::Code(code) if code == i32::from(NOT_RUNNABLE) => {
                "The agent's command could not be run (exit code 126).".to_owned()
            }
            Self::Code(code) => format!("The agent ended with exit code {code}."),
            Self::Signal(signal) => format!("The agent was ended by signal {signal}."),
            Self::TimedOut => format!(
                "The agent did not end within its time limit of {} s (timeoutSecs of its profile).",
                limits.total.as_secs_f64()
            ),
            Self::Silent => format!(
                "The agent printed nothing for {} s (idleTimeoutSecs of its profile).",
                limits.idle.as_secs_f64()
            ),
            Self::OutputFlood => format!(
                "The agent printed more than {} bytes (maxOutputBytes of its profile).",
                limits.output_bytes
            ),
            Self::OverLimit => "The agent has used more than it may.".to_owned(),
            Self::Cancelled => "The agent was stopped.".to_owned(),
        };
        Some(said)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why it ended.
    pub exit: Exit,
    /// How much it was allowed.
    pub limits: Limits,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What it used up, as far as the agent printed it.
    pub usage: Usage,
    /// The agent's own words for why it failed, where it said so.
    pub complaint: Option<String>,
    /// Which bound it crossed, in words, where that ended it.
    pub over: Option<String>,
    /// The last lines of its log.
    pub tail: Vec<String>,
    /// What it handed back. Read even where the run was ended, for what can be saved.
    pub report: Handed,
    /// Whether the worktree is gone, or no worktree any more.
    pub worktree_gone: bool,
}

impl Ended {
    /// Why the run failed, for people: a sentence, and below it what the agent said last.
    /// Nothing where the agent ended well in its worktree; whether a report must be there is the
    /// caller's to say.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let gone = || self.worktree_gone.then(|| "The agent deleted its worktree.".to_owned());
        let over = self.over.clone().filter(|_| self.exit == Exit::OverLimit);
        let mut said = over.or_else(|| self.exit.problem(self.limits)).or_else(gone)?;
        if let Some(complaint) = &self.complaint {
            said.push_str("\n\n");
            said.push_str(&uncoloured(complaint));
        } else {
            let from = self.tail.len().saturating_sub(QUOTED_LINES);
            for (at, line) in self.tail[from..].iter().enumerate() {
                said.push_str(if at == 0 { "\n\n" } else { "\n" });
                said.push_str(&uncoloured(line));
            }
        }
        Some(said)
    }
}

/// Runs an agent to its end. `spawned` is told of the process before anything of the agent runs,
/// and must have it on record when it returns; if it fails, the command never ran. Dropping the
/// future kills every process of the run.
///
/// # Errors
/// If the agent could not be started, was not started because `spawned` failed, or left a
/// process that nothing can end. What an agent does wrong is no error but an [`Exit`].
pub async fn run<Record, Recorded>(
    launch: Launch,
    spawned: Record,
    cancel: CancellationToken,
) -> Result<Ended, Fault>
where
    Record: FnOnce(ProcessId) -> Recorded,
    Recorded: Future<Output = Result<(), Fault>>,
{
    let launch = Arc::new(launch);
    let started = launch.clock.now();
    let place = launch.clone();
    let prepared = tokio::task::spawn_blocking(move || place.prepare());
    let worktree = prepared.await.map_err(Fault::internal)??;

    let mut running = Running::start(&launch, &worktree)?;
    stops::reach(Stop::ProcessSpawned);
    let recorded = if works_in(running.process.pid, &worktree) {
        spawned(running.process).await
    } else {
        Err(refused("Its process does not work in the worktree."))
    };
    if let Err(fault) = recorded {
        // Without the word to start, the shim has become nothing.
        running.stdin = None;
        running.end(Duration::ZERO).await?;
        return Err(fault);
    }
    stops::reach(Stop::ProcessRecorded);
    let cut_short = if cancel.is_cancelled() {
        Some(Exit::Cancelled)
    } else {
        running.go(launch.standard_input()).await;
        stops::reach(Stop::ProcessWorks);
        running.wait(&launch.clock, launch.limits, &cancel).await
    };
    let status = running.end(launch.limits.grace).await?;
    running.drain().await;
    stops::reach(Stop::ProcessEnded);
    let exit = cut_short.unwrap_or_else(|| running.exit(status));
    let (tail, metered) = running.feed.learned_so_far();
    let over = running.feed.over();
    let ended = finish(&launch, worktree, started, exit, tail, metered).await?;
    Ok(Ended { over, ..ended })
}

async fn finish(
    launch: &Arc<Launch>,
    worktree: PathBuf,
    started: Millis,
    exit: Exit,
    tail: Vec<String>,
    metered: Metered,
) -> Result<Ended, Fault> {
    let (report, worktree_gone) = loop {
        let (path, redact, tree) = (launch.report(), launch.redaction(), worktree.clone());
        let looked = tokio::task::spawn_blocking(move || {
            (report::take(&path, &*redact), !tree.join(".git").exists())
        });
        let looked = looked.await.map_err(Fault::internal)?;
        if (launch.in_place)() {
            break looked;
        }
        launch.clock.sleep(LOOK_AGAIN).await;
    };
    let took = launch.clock.now().since(started);
    Ok(Ended {
        exit,
        limits: launch.limits,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        usage: metered.usage,
        complaint: metered.complaint,
        over: None,
        tail,
        report,
        worktree_gone,
    })
}

/// A run whose processes may be alive. Fields are dropped in order: the leash kills the group
/// while the child still holds its number.
struct Running {
    leash: Leash,
    process: ProcessId,
    stdin: Option<ChildStdin>,
    child: Child,
    feed: Arc<Feed>,
    streams: JoinSet<()>,
}

impl Running {
    fn start(launch: &Launch, worktree: &Path) -> Result<Self, Fault> {
        let mut child = launch.spawn(worktree)?;
        let process = child.id().and_then(ProcessId::of);
        let process = process.ok_or_else(|| refused("Its process ended at once."))?;
        let leash = Leash { process, marker: launch.marker.clone(), held: true };
        let feed = Feed::new(
            launch.clock.clone(),
            launch.redaction(),
            launch.log.clone(),
            launch.profile.output,
            launch.limits.output_bytes,
        );
        let feed = Arc::new(feed.within(launch.bound.clone()));
        let mut streams = JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            let feed = feed.clone();
            streams.spawn(async move { feed.read(Stream::Stdout, stdout).await });
        }
        if let Some(stderr) = child.stderr.take() {
            let feed = feed.clone();
            streams.spawn(async move { feed.read(Stream::Stderr, stderr).await });
        }
        Ok(Self { leash, process, stdin: child.stdin.take(), child, feed, streams })
    }

    /// Gives the word to start, and then the prompt, which the agent may take its time to read.
    async fn go(&mut self, input: Vec<u8>) {
        let Some(mut stdin) = self.stdin.take() else { return };
        // A shim or agent that is gone shows in how the process ends.
        if stdin.write_all(&[GO]).await.is_ok() {
            self.streams.spawn(async move { drop(stdin.write_all(&input).await) });
        }
    }

    /// Waits until the leader has ended, or says why it must be.
    async fn wait(
        &self,
        clock: &Clock,
        limits: Limits,
        cancel: &CancellationToken,
    ) -> Option<Exit> {
        tokio::select! {
            biased;
            () = exited(self.process) => None,
            () = cancel.cancelled() => Some(Exit::Cancelled),
            () = self.feed.flooded().cancelled() => Some(Exit::OutputFlood),
            () = self.feed.crossed().cancelled() => Some(Exit::OverLimit),
            () = clock.sleep(limits.total) => Some(Exit::TimedOut),
            () = self.silence(clock, limits.idle) => Some(Exit::Silent),
        }
    }

    async fn silence(&self, clock: &Clock, most: Duration) {
        loop {
            let quiet = clock.now().since(self.feed.last_output());
            if quiet >= most {
                return;
            }
            clock.sleep(most.saturating_sub(quiet)).await;
        }
    }

    /// Ends every process and takes the leader's status. The leader is waited for last: as long
    /// as it is not, its number and its group's belong to nobody else.
    async fn end(&mut self, grace: Duration) -> Result<ExitStatus, Fault> {
        end_group(self.process, &self.leash.marker, grace).await?;
        let status = self.child.wait().await.map_err(Fault::internal)?;
        self.leash.held = false;
        Ok(status)
    }

    /// Takes what the processes printed before they ended. The prompt's writer ends with them.
    async fn drain(&mut self) {
        let all = async { while self.streams.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN, all).await.is_err() {
            // Somebody outside the run holds a stream open, or the log is not taken.
            self.streams.shutdown().await;
        }
    }

    fn exit(&self, status: ExitStatus) -> Exit {
        if self.feed.flooded().is_cancelled() {
            return Exit::OutputFlood;
        }
        match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        }
    }
}

/// Kills the run if it is dropped while processes may be alive.
struct Leash {
    process: ProcessId,
    marker: String,
    held: bool,
}

impl Drop for Leash {
    fn drop(&mut self) {
        if self.held {
            kill_now(self.process, &self.marker);
        }
    }
}

/// Waits until a child has ended, without taking its status: see [`Running::end`].
async fn exited(process: ProcessId) {
    let ended = tokio::task::spawn_blocking(move || {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let interrupted = || {
            let seen = rustix::process::waitid(WaitId::Pid(pid), options);
            matches!(seen, Err(rustix::io::Errno::INTR))
        };
        while interrupted() {}
    });
    // A panic is impossible there, and a runtime that shuts down ends the run anyway.
    drop(ended.await);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit: Exit, tail: &[&str]) -> Ended {
        let limits = Limits {
            total: Duration::from_hours(1),
            idle: Duration::from_mins(15),
            output_bytes: 1_024,
            grace: Duration::ZERO,
        };
        Ended {
            exit,
            limits,
            duration_ms: 1,
            usage: Usage::default(),
            complaint: None,
            over: None,
            tail: tail.iter().map(|&line| line.to_owned()).collect(),
            report: Handed::Missing,
            worktree_gone: false,
        }
    }

    #[test]
    fn a_failure_quotes_what_the_agent_said_last() {
        let run = ended(Exit::Code(2), &["\u{1b}[31mboom\u{1b}[0m", "at line 3"]);

        let expected = "The agent ended with exit code 2.\n\nboom\nat line 3";
        assert_eq!(run.failure().as_deref(), Some(expected));

        let run = Ended { complaint: Some("usage limit reached".to_owned()), ..run };
        let expected = "The agent ended with exit code 2.\n\nusage limit reached";
        assert_eq!(run.failure().as_deref(), Some(expected));
    }

    #[test]
    fn a_limit_that_was_reached_is_named_with_its_setting() {
        let said = |exit| ended(exit, &[]).failure().unwrap();

        let expected =
            "The agent did not end within its time limit of 3600 s (timeoutSecs of its profile).";
        assert_eq!(said(Exit::TimedOut), expected);
        assert!(said(Exit::Silent).contains("900 s (idleTimeoutSecs"));
        assert!(said(Exit::OutputFlood).contains("1024 bytes (maxOutputBytes"));
    }

    #[test]
    fn a_run_that_ended_well_has_no_failure_unless_its_worktree_is_gone() {
        let run = ended(Exit::Code(0), &["done"]);
        assert_eq!(run.failure(), None);

        let run = Ended { worktree_gone: true, tail: Vec::new(), ..run };
        assert_eq!(run.failure().as_deref(), Some("The agent deleted its worktree."));
    }
}
