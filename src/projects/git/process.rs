//! Following a process to its end: fed, read within bounds, and stopped with all it started.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;

/// How much of the end of git's complaints is kept.
const SAID_BYTES: usize = 4 << 10;
/// How long git may take to put its lock files away after it was told to stop.
const STOP_WITHIN: Duration = Duration::from_secs(2);

/// What came of a call.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit code; −1 where a signal ended git.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// Whether there was more of it than the call takes.
    pub is_cut: bool,
    /// The end of what it wrote to standard error.
    pub said: String,
}

impl Output {
    /// Standard output as text, without white space at its ends.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim().to_owned()
    }

    /// The fields of output that ends each with a NUL, as `-z` writes it.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let bytes = self.stdout.strip_suffix(b"\0").unwrap_or(&self.stdout);
        let nothing = bytes.is_empty();
        bytes.split(|b| *b == 0).filter(move |_| !nothing)
    }
}

/// Feeds and reads a process until it ends.
pub(super) async fn attend(child: &mut Child, input: Vec<u8>, max: usize) -> io::Result<Output> {
    let stdin = child.stdin.take();
    let feed = async move {
        if let Some(mut pipe) = stdin {
            // A process that ends without reading is told by its exit code, not by the pipe.
            drop(pipe.write_all(&input).await);
        }
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ((), read, said) = tokio::join!(feed, read_start(stdout, max), read_end(stderr));
    let (stdout, is_cut) = read?;
    let code = child.wait().await?.code().unwrap_or(-1);
    let said = String::from_utf8_lossy(&said?).into_owned();
    Ok(Output { code, stdout, is_cut, said })
}

/// The first `max` bytes, and whether there were more. Dropping the pipe then ends the writer.
async fn read_start(
    pipe: Option<impl AsyncRead + Unpin>,
    max: usize,
) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        let one_more = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        pipe.take(one_more).read_to_end(&mut bytes).await?;
    }
    let is_cut = bytes.len() > max;
    bytes.truncate(max);
    Ok((bytes, is_cut))
}

/// The last bytes, however many came.
async fn read_end(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(kept) };
    let mut buffer = vec![0; SAID_BYTES];
    loop {
        let count = pipe.read(&mut buffer).await?;
        if count == 0 {
            return Ok(kept);
        }
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(SAID_BYTES));
    }
}

/// Git and the programs it started (ssh, a credential helper). Dropped before its end, as when a
/// call is given up, it is told to stop.
pub(super) struct Group(Option<Pid>);

impl Group {
    pub(super) fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    /// After this its number may belong to others and must not be signalled.
    pub(super) fn has_ended(&mut self) {
        self.0 = None;
    }

    /// Asks first, as git then removes its lock files, and insists after a while.
    pub(super) async fn stop(&mut self, child: &mut Child) {
        self.signal(Signal::TERM);
        drop(tokio::time::timeout(STOP_WITHIN, child.wait()).await);
        self.signal(Signal::KILL);
        drop(child.wait().await);
        self.has_ended();
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // The only failure is that nobody is left to signal.
            kill_process_group(pid, signal).unwrap_or_default();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}
