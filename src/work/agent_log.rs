//! A run's log: written to a file as it comes, told to whoever watches, kept as a blob at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufWriter};
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

/// A log that is being written.
pub(super) struct AgentLog {
    lines: mpsc::Sender<LogLine>,
    written: JoinHandle<(File, std::io::Result<u64>)>,
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
        let file = options.open(folder.join("log.txt")).await.map_err(unusable)?;
        let (lines, waiting) = mpsc::channel(WAITING_MAX);
        let about = About {
            env: env.clone(),
            tenant: task.tenant.uuid(),
            ticket: task.ticket.id.uuid(),
            node: task.node.name.as_str().into(),
        };
        let written = tokio::spawn(write(file, waiting, about));
        Ok(Self { lines, written, folder })
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
        let (mut file, written) = match self.written.await {
            Ok(ended) => ended,
            Err(error) => {
                tracing::warn!(%error, "A log was not written");
                return (None, 0);
            }
        };
        let lines = written.unwrap_or_else(|error| {
            tracing::warn!(%error, "A log was not written whole");
            0
        });
        // Read through the handle: an agent may have put anything at the path.
        let kept = match read_back(&mut file).await {
            Ok(bytes) => keep_bytes(env, ctx, bytes).await,
            Err(error) => Err(Fault::internal(error)),
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

async fn read_back(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind().await?;
    file.read_to_end(&mut bytes).await?;
    Ok(bytes)
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

/// Writes lines as they come, and gives the file back at the end.
async fn write(
    mut file: File,
    waiting: mpsc::Receiver<LogLine>,
    about: About,
) -> (File, std::io::Result<u64>) {
    let written = write_to(&mut file, waiting, &about).await;
    (file, written)
}

async fn write_to(
    file: &mut File,
    mut waiting: mpsc::Receiver<LogLine>,
    about: &About,
) -> std::io::Result<u64> {
    let mut file = BufWriter::new(file);
    let (mut count, mut batch) = (0, Vec::new());
    while waiting.recv_many(&mut batch, TOLD_MAX).await > 0 {
        let lines: Arc<[String]> = batch.drain(..).map(|line| line.text).collect();
        for line in lines.iter() {
            file.write_all(line.as_bytes()).await?;
            file.write_all(b"\n").await?;
        }
        file.flush().await?;
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
