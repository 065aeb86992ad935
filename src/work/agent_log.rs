//! A run's log: written to a file as it comes, told to whoever watches, kept as a blob at the end.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::fs;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::env::Env;
use super::insist::insist;
use super::run_node::Task;
use crate::base::Fault;
use crate::events::Event;
use crate::jobs::Ctx;
use crate::store::Hash;
use crate::tickets::runner::LogLine;

/// Lines that wait to be written; beyond that the agent waits.
const WAITING_MAX: usize = 1_000;

/// Lines told to watchers in one go at most.
const TOLD_MAX: usize = 200;

/// How soon lines are written again that a full disk did not take.
const ROOM_AGAIN: Duration = Duration::from_millis(500);

/// A log that is being written.
pub(super) struct AgentLog {
    lines: mpsc::Sender<LogLine>,
    written: JoinHandle<io::Result<u64>>,
    file: Arc<File>,
    /// The run's folder: prompt, report and log, as long as it lasts.
    folder: PathBuf,
}

impl AgentLog {
    /// Starts the log of a node's run.
    pub(super) async fn start(env: &Arc<Env>, task: &Task) -> Result<Self, Fault> {
        let folder = env.paths.run(task.node.id, task.node.attempt);
        let unusable = |error| Fault::of_folder(&folder, error);
        fs::create_dir_all(&folder).await.map_err(unusable)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).read(true).write(true);
        let file = Arc::new(options.open(folder.join("log.txt")).map_err(unusable)?);
        let (lines, waiting) = mpsc::channel(WAITING_MAX);
        let about = About {
            env: env.clone(),
            tenant: task.tenant.uuid(),
            ticket: task.ticket.id.uuid(),
            node: task.node.name.as_str().into(),
        };
        let written = tokio::spawn(write(file.clone(), waiting, about));
        Ok(Self { lines, written, file, folder })
    }

    /// Where lines go.
    pub(super) fn lines(&self) -> mpsc::Sender<LogLine> {
        self.lines.clone()
    }

    /// Writes a line of the server's own.
    pub(super) async fn say(&self, env: &Env, text: impl Into<String>) {
        let line = LogLine {
            stream: crate::tickets::runner::Stream::Stdout,
            text: text.into(),
            at: env.clock.now(),
        };
        // A writer that is gone has failed, and says so when the log is kept.
        drop(self.lines.send(line).await);
    }

    /// Ends the log, keeps it as a blob and removes the run's folder. A log that could not be kept
    /// is no reason to lose the run; its folder then stays until the next start.
    pub(super) async fn keep(self, env: &Env, ctx: &Ctx) -> (Option<Hash>, u64) {
        drop(self.lines);
        let written = self.written.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let lines = written.unwrap_or_else(|error| {
            tracing::warn!(%error, "A log was not written whole");
            0
        });
        // Read through the handle: an agent may have put anything at the path.
        let kept = match read_back(self.file).await {
            Ok(bytes) => keep_bytes(env, ctx, bytes).await,
            Err(error) => Err(Fault::of_folder(&self.folder, error)),
        };
        match kept {
            Ok(hash) => {
                remove_folder(&self.folder).await;
                (Some(hash), lines)
            }
            Err(fault) => {
                tracing::warn!(?fault, "A log was not kept");
                (None, lines)
            }
        }
    }
}

async fn read_back(file: Arc<File>) -> io::Result<Vec<u8>> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, 0).map(|()| bytes)
    });
    reading.await.map_err(io::Error::other)?
}

/// Removes a run's folder. What cannot be removed is tried again at the next start.
pub(super) async fn remove_folder(folder: &Path) {
    match fs::remove_dir_all(folder).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %folder.display(), "A run's folder was not removed");
        }
        _ => {}
    }
}

/// Keeps some bytes as a blob, off the threads that answer requests.
pub(super) async fn keep_bytes(env: &Env, ctx: &Ctx, bytes: Vec<u8>) -> Result<Hash, Fault> {
    let bytes = Arc::new(bytes);
    let put = || {
        let (blobs, bytes) = (env.blobs.clone(), bytes.clone());
        async move {
            let put = tokio::task::spawn_blocking(move || blobs.put(&bytes));
            put.await.map_err(Fault::internal)?
        }
    };
    insist(env, ctx, "keep a log", put).await
}

struct About {
    env: Arc<Env>,
    tenant: uuid::Uuid,
    ticket: uuid::Uuid,
    node: Arc<str>,
}

/// Writes lines as they come, and says how many at the end.
async fn write(
    file: Arc<File>,
    mut waiting: mpsc::Receiver<LogLine>,
    about: About,
) -> io::Result<u64> {
    let (mut count, mut size, mut batch) = (0, 0, Vec::new());
    while waiting.recv_many(&mut batch, TOLD_MAX).await > 0 {
        let lines: Arc<[String]> = batch.drain(..).map(|line| line.text).collect();
        let mut text = lines.join("\n").into_bytes();
        text.push(b'\n');
        size += write_at(&about.env, &file, text, size).await?;
        count += lines.len() as u64;
        about.env.bus.publish(Event::Log {
            tenant: about.tenant,
            ticket: about.ticket,
            node: about.node.clone(),
            lines,
        });
    }
    Ok(count)
}

/// Writes a piece of the log at its place and says how long it is. A full disk is waited for, and
/// with it the agent, once so many lines wait: what it said is not lost.
async fn write_at(env: &Env, file: &Arc<File>, text: Vec<u8>, at: u64) -> io::Result<u64> {
    let (text, mut is_known) = (Arc::new(text), false);
    loop {
        let (into, piece) = (file.clone(), text.clone());
        let writing = tokio::task::spawn_blocking(move || into.write_all_at(&piece, at));
        match writing.await.map_err(io::Error::other)? {
            Ok(()) => return Ok(text.len() as u64),
            Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                if !is_known {
                    tracing::warn!("The disk is full; a log waits for room");
                }
                is_known = true;
                env.clock.sleep(ROOM_AGAIN).await;
            }
            Err(error) => return Err(error),
        }
    }
}
