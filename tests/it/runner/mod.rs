//! Agents run through the real binary, behaving in all the ways that agents do.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay::base::{Clock, Code, Entropy, Fault, Millis, Secret};
use assay::projects::agents::{Permissions, Profile, PromptBy};
use assay::tickets::runner::report::Outcome;
use assay::tickets::runner::{
    Access, Ended, Exit, Handed, Launch, Limits, LogLine, ProcessId, Stream, end_orphan, run,
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

mod endings;
mod handing_over;
mod talking;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// Short enough for a test, long enough for a shell to start on a busy machine.
const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(30);

/// A worktree and a place for the run beside it.
struct Place {
    folder: TempDir,
    marker: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tree/.git")).unwrap();
        let marker = u128::from_le_bytes(Entropy::system().bytes());
        Self { folder, marker: format!("{marker:032x}") }
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A run of a shell script.
    fn script(&self, script: &str) -> (Launch, mpsc::Receiver<LogLine>) {
        self.agent(&["sh", "-c", script])
    }

    fn agent(&self, command: &[&str]) -> (Launch, mpsc::Receiver<LogLine>) {
        let profile = Profile::script(command.iter().map(|&word| word.to_owned()).collect());
        let (log, lines) = mpsc::channel(10_000);
        let limits = Limits { total: LONG, idle: LONG, output_bytes: 1 << 20, grace: SHORT };
        let launch = Launch {
            assay: ASSAY.into(),
            profile,
            limits,
            ticket: "ACME-1".to_owned(),
            node: "implement".to_owned(),
            branch: "agent/1".to_owned(),
            prompt: "Node: implement\nTicket: ACME-1\nTitle: Say hello\n".to_owned(),
            worktree: self.tree(),
            folder: self.file("run"),
            attachments: None,
            permissions: Permissions::default(),
            answers: Vec::new(),
            access: Some(Access { url: "http://here".to_owned(), key: Secret::new("alch_k3y") }),
            secrets: Vec::new(),
            marker: self.marker.clone(),
            clock: Clock::system(),
            redact: Arc::new(|text| text.replace("hunter2", "[redacted]")),
            in_place: Arc::new(|| true),
            bound: None,
            log,
        };
        (launch, lines)
    }

    /// The processes that carry this place's marker.
    fn left(&self) -> Vec<u32> {
        let wanted = format!("ASSAY_RUN={}", self.marker);
        let running = |pid: &u32| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|bytes| bytes.split(|&b| b == 0).any(|set| set == wanted.as_bytes()))
        };
        let all = fs::read_dir("/proc").unwrap();
        let pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(running).collect()
    }
}

async fn recorded(_: ProcessId) -> Result<(), Fault> {
    Ok(())
}

/// Runs to the end and checks that nothing of it is left.
async fn ends(place: &Place, launch: Launch) -> Ended {
    let ended = run(launch, recorded, CancellationToken::new()).await.unwrap();
    assert_eq!(place.left(), Vec::<u32>::new());
    ended
}

/// Waits until the agent has come as far as to write a file. Whoever waits has a limit.
async fn written(path: &Path) {
    let wait = async {
        while !path.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, wait).await.expect("the agent comes this far");
}
