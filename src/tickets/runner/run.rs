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
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::acp::{Bounds, PATIENCE, Said, Talk, Trouble, talk};
use super::ended::{Ended, Exit};
use super::output::{Feed, Stream};
use super::process::{ProcessId, end_group, kill_now};
use super::report::{self, Handed, Outcome, Report};
use super::spawn::{GO, Launch, Limits, refused, works_in};
use super::usage::{Meter, Metered};
use crate::base::stops::{self, Stop};
use crate::base::{Clock, Fault, Millis};

/// How long the last output may take to arrive once every process is gone.
const DRAIN: Duration = Duration::from_secs(2);
/// How long to wait for folders that were moved away before looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How long an agent that was talked with may take to end once nobody talks any more.
const PARTING: Duration = Duration::from_secs(1);
/// How many lines of an agent wait to be heard.
const LINES_WAITING: usize = 64;
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
    let over = if cancel.is_cancelled() {
        Over::Cut(Exit::Cancelled)
    } else {
        running.go(&launch, &worktree).await;
        stops::reach(Stop::ProcessWorks);
        running.wait(&launch.clock, launch.limits, &cancel).await
    };
    let over = running.take_leave(over).await;
    let status = running.end(launch.limits.grace).await?;
    running.drain().await;
    stops::reach(Stop::ProcessEnded);
    let said = running.heard().await;
    let exit = running.exit(over, status, said.as_ref());
    let (tail, mut metered) = running.feed.learned_so_far();
    let said = said.unwrap_or_default();
    if let (Exit::Broke(_), Some(detail)) = (exit, said.detail) {
        metered.complaint = Some(running.feed.cleaned_lines(&detail));
    }
    let mut ended = finish(&launch, worktree, started, exit, tail, metered).await?;
    ended.over = running.feed.over();
    if let (Exit::Answered, Some(question)) = (exit, said.question) {
        let summary = "It waits for a person's word before it goes on.".to_owned();
        let (outcome, question) = (Outcome::NeedsInput, Some(question));
        let report = Report { outcome, summary, question, ..Report::default() };
        ended.report = Handed::Report(Box::new(report));
    }
    Ok(ended)
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
        let said = if exit == Exit::Answered { metered.said.clone() } else { String::new() };
        let looked = tokio::task::spawn_blocking(move || {
            let report = match report::take(&path, &*redact) {
                Handed::Missing => report::in_words(&said, &*redact),
                report => report,
            };
            (report, !tree.join(".git").exists())
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

/// Why a run is over.
#[derive(Debug, Clone, Copy)]
enum Over {
    /// The leader has ended.
    Ended,
    /// Nobody talks any more.
    Talked,
    /// It is to end.
    Cut(Exit),
}

/// A conversation with the agent, in a task of its own.
struct Conversation {
    task: JoinSet<Said>,
    over: CancellationToken,
    stop: CancellationToken,
}

impl Conversation {
    fn start(launch: &Launch, tree: &Path, feed: Arc<Feed>, ends: Ends) -> Self {
        let (over, stop) = (CancellationToken::new(), CancellationToken::new());
        let about = Talk {
            prompt: launch.prompt.clone(),
            bounds: Bounds {
                tree: tree.to_owned(),
                report: launch.report(),
                attachments: launch.attachments.clone(),
            },
            permissions: launch.permissions,
            answers: launch.answers.clone(),
            authenticate: launch.profile.authenticate.clone(),
            clock: launch.clock.clone(),
            feed,
            stop: stop.clone(),
        };
        let mut task = JoinSet::new();
        let when_over = over.clone().drop_guard();
        task.spawn(async move {
            let said = talk(about, ends.lines, ends.stdin).await;
            drop(when_over);
            said
        });
        Self { task, over, stop }
    }
}

/// What a conversation reads from and writes to.
struct Ends {
    lines: mpsc::Receiver<String>,
    stdin: ChildStdin,
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
    /// What the agent says, where somebody is to talk with it.
    lines: Option<mpsc::Receiver<String>>,
    talk: Option<Conversation>,
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
            if launch.talks() { Meter::of_protocol() } else { Meter::new(launch.profile.output) },
            launch.limits.output_bytes,
        );
        let feed = Arc::new(feed.within(launch.bound.clone()));
        let (speaks, lines) = launch.talks().then(|| mpsc::channel(LINES_WAITING)).unzip();
        let mut streams = JoinSet::new();
        if let Some(stdout) = child.stdout.take() {
            let feed = feed.clone();
            streams.spawn(async move { feed.read(Stream::Stdout, stdout, speaks).await });
        }
        if let Some(stderr) = child.stderr.take() {
            let feed = feed.clone();
            streams.spawn(async move { feed.read(Stream::Stderr, stderr, None).await });
        }
        let stdin = child.stdin.take();
        Ok(Self { leash, process, stdin, child, feed, streams, lines, talk: None })
    }

    /// Gives the word to start, and then the prompt, which the agent may take its time to read.
    async fn go(&mut self, launch: &Launch, worktree: &Path) {
        let Some(mut stdin) = self.stdin.take() else { return };
        // A shim or agent that is gone shows in how the process ends.
        if stdin.write_all(&[GO]).await.is_err() {
            return;
        }
        if let Some(lines) = self.lines.take() {
            let ends = Ends { lines, stdin };
            self.talk = Some(Conversation::start(launch, worktree, self.feed.clone(), ends));
            return;
        }
        let input = launch.standard_input();
        self.streams.spawn(async move { drop(stdin.write_all(&input).await) });
    }

    /// Waits until the leader has ended or has answered, or says why it must end.
    async fn wait(&self, clock: &Clock, limits: Limits, cancel: &CancellationToken) -> Over {
        let talked = async {
            match &self.talk {
                Some(talk) => talk.over.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = exited(self.process) => Over::Ended,
            () = talked => Over::Talked,
            () = cancel.cancelled() => Over::Cut(Exit::Cancelled),
            () = self.feed.flooded().cancelled() => Over::Cut(Exit::OutputFlood),
            () = self.feed.crossed().cancelled() => Over::Cut(Exit::OverLimit),
            () = clock.sleep(limits.total) => Over::Cut(Exit::TimedOut),
            () = self.silence(clock, limits.idle) => Over::Cut(Exit::Silent),
        }
    }

    /// Lets an agent that was talked with end by itself, or cancels it as the protocol has it.
    async fn take_leave(&self, over: Over) -> Over {
        let Some(talk) = &self.talk else { return over };
        match over {
            Over::Talked => match tokio::time::timeout(PARTING, exited(self.process)).await {
                Ok(()) => Over::Ended,
                Err(_) => over,
            },
            Over::Cut(Exit::OutputFlood) | Over::Ended => over,
            Over::Cut(_) => {
                talk.stop.cancel();
                drop(tokio::time::timeout(PATIENCE, talk.over.cancelled()).await);
                over
            }
        }
    }

    /// What the conversation came to. Its lines have ended, so it has too.
    async fn heard(&mut self) -> Option<Said> {
        let talk = self.talk.as_mut()?;
        let said = tokio::time::timeout(DRAIN, talk.task.join_next()).await;
        let left = Said { trouble: Some(Trouble::Left), ..Said::default() };
        Some(said.ok().flatten().and_then(Result::ok).unwrap_or(left))
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

    fn exit(&self, over: Over, status: ExitStatus, said: Option<&Said>) -> Exit {
        if let Over::Cut(exit) = over {
            return exit;
        }
        if self.feed.flooded().is_cancelled() {
            return Exit::OutputFlood;
        }
        let by_status = match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or_default()),
        };
        match (said.map(|said| said.trouble), over) {
            (None, _) => by_status,
            (Some(None), _) => Exit::Answered,
            // How it ended says more, unless it was this side that ended it.
            (Some(Some(Trouble::Left)), Over::Ended) if by_status != Exit::Code(0) => by_status,
            (Some(Some(trouble)), _) => Exit::Broke(trouble),
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
