//! Agents run through the real binary, behaving in all the ways that agents do.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay::base::{Clock, Code, Entropy, Fault, Secret};
use assay::projects::agents::{Profile, PromptBy};
use assay::tickets::runner::report::Outcome;
use assay::tickets::runner::{
    Access, Ended, Exit, Handed, Launch, Limits, LogLine, ProcessId, Stream, end_orphan, run,
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

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
            access: Some(Access { url: "http://here".to_owned(), key: Secret::new("alch_k3y") }),
            marker: self.marker.clone(),
            clock: Clock::system(),
            redact: Arc::new(|text| text.replace("hunter2", "[redacted]")),
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

#[tokio::test]
async fn an_agent_gets_its_prompt_and_environment_and_hands_back_its_report() {
    let place = Place::new();
    let (launch, mut lines) = place.script(
        "cat > prompt; env > env; pwd > cwd; echo said hunter2 and $ASSAY_KEY; \
         echo oops >&2; echo '{\"outcome\":\"done\",\"summary\":\"key: '$ASSAY_KEY'\"}' \
         > \"$ASSAY_REPORT\"",
    );
    let prompt = launch.prompt.clone();

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.failure()), (Exit::Code(0), None));
    let Handed::Report(report) = ended.report else { panic!("{:?}", ended.report) };
    assert_eq!((report.outcome, report.summary.as_str()), (Outcome::Done, "key: [key]"));
    let read = |name: &str| fs::read_to_string(place.tree().join(name)).unwrap();
    assert_eq!(read("prompt"), prompt);
    assert_eq!(Path::new(read("cwd").trim_end()), place.tree().canonicalize().unwrap());
    let names = read("env");
    assert!(names.contains("ASSAY_URL=http://here") && names.contains("PATH="), "{names}");
    assert!(!names.contains("CARGO"), "{names}");
    let mut log = Vec::new();
    while let Some(line) = lines.recv().await {
        log.push((line.stream, line.text));
    }
    log.sort();
    let expected = [(Stream::Stdout, "said [redacted] and [key]"), (Stream::Stderr, "oops")];
    assert_eq!(log, expected.map(|(stream, text)| (stream, text.to_owned())));
}

#[tokio::test]
async fn a_prompt_longer_than_a_pipe_holds_does_not_wait_for_an_agent_that_reads_nothing() {
    let place = Place::new();
    let (mut launch, _lines) = place.script("echo no thanks");
    launch.prompt = "x".repeat(1 << 20);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.tail), (Exit::Code(0), vec!["no thanks".to_owned()]));
}

#[tokio::test]
async fn a_prompt_can_come_in_a_file_or_as_an_argument() {
    for (by, placeholder) in [(PromptBy::File, "{promptFile}"), (PromptBy::Argument, "{prompt}")] {
        let place = Place::new();
        let show = r#"if [ -f "$1" ]; then cat "$1"; else printf %s "$1"; fi; cat"#;
        let (mut launch, _lines) = place.agent(&["sh", "-c", show, "sh", placeholder]);
        launch.profile.prompt = by;

        let ended = ends(&place, launch).await;

        assert_eq!(ended.tail, ["Node: implement", "Ticket: ACME-1", "Title: Say hello"]);
    }
}

#[tokio::test]
async fn a_missing_agent_is_exit_code_127_and_says_what_to_do() {
    let place = Place::new();
    let (launch, _lines) = place.agent(&["no-such-agent-here", "--flag"]);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, &ended.report), (Exit::Code(127), &Handed::Missing));
    let failure = ended.failure().unwrap();
    assert!(failure.contains("no-such-agent-here"), "{failure}");
    assert!(failure.contains("Check that it is installed"), "{failure}");
}

#[tokio::test]
async fn an_agent_that_hangs_is_ended_at_its_time_limit() {
    let place = Place::new();
    let (mut launch, _lines) = place.script("while :; do echo busy; sleep 0.02; done");
    launch.limits.total = SHORT;

    assert_eq!(ends(&place, launch).await.exit, Exit::TimedOut);
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_ended_and_its_last_words_are_kept() {
    let place = Place::new();
    let (mut launch, _lines) = place.script("printf 'Continue? [y/N] '; exec sleep 60");
    launch.limits.idle = SHORT;

    let ended = ends(&place, launch).await;

    assert_eq!(ended.exit, Exit::Silent);
    assert_eq!(
        ended.failure().unwrap(),
        "The agent printed nothing for too long.\n\nContinue? [y/N] "
    );
}

#[tokio::test]
async fn an_agent_that_floods_its_output_is_ended() {
    let place = Place::new();
    let (mut launch, lines) = place.script("exec yes");
    launch.limits.output_bytes = 100_000;
    drop(lines);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.tail.len()), (Exit::OutputFlood, 40));
}

#[tokio::test]
async fn an_agent_that_ends_well_without_a_report_left_none() {
    let place = Place::new();
    fs::create_dir(place.file("run")).unwrap();
    fs::write(place.file("run/report.json"), r#"{"outcome":"done"}"#).unwrap();
    let (launch, _lines) = place.script("true");

    let ended = ends(&place, launch).await;

    // The report of an earlier run is not taken for this one's.
    assert_eq!((ended.exit, &ended.report), (Exit::Code(0), &Handed::Missing));
    assert_eq!(ended.report.problem().unwrap(), "The agent left no report.");
}

#[tokio::test]
async fn an_invalid_report_names_its_problems_and_a_text_stands_for_one() {
    for (text, problem) in [
        ("{\"outcome\":\"great\"}", Some("outcome: must be done, failed, needs_input or")),
        ("{\"outcome\":", Some("It is not valid JSON")),
        ("# Did it", None),
    ] {
        let place = Place::new();
        let (mut launch, _lines) = place.script("printf %s \"$TEXT\" > \"$ASSAY_REPORT\"");
        launch.profile.set.insert("TEXT".to_owned(), text.to_owned());

        let report = ends(&place, launch).await.report;

        let said = report.problem();
        match problem {
            Some(part) => assert!(said.as_deref().unwrap().contains(part), "{said:?}"),
            None => assert_eq!(report.settle(true).unwrap().summary, "# Did it"),
        }
    }
}

#[tokio::test]
async fn children_that_ignore_or_escape_do_not_outlive_the_run() {
    let place = Place::new();
    let (launch, _lines) = place.script(
        "(trap '' TERM; while :; do sleep 1; done) & \
         setsid sh -c 'trap \"\" TERM; echo > escaped; while :; do sleep 1; done' & \
         while ! [ -e escaped ]; do sleep 0.01; done",
    );

    let ended = ends(&place, launch).await;

    assert_eq!(ended.exit, Exit::Code(0));
    assert!(place.tree().join("escaped").exists());
}

#[tokio::test]
async fn a_cancelled_run_ends_with_all_its_processes_and_keeps_what_was_handed_back() {
    let place = Place::new();
    let (launch, _lines) = place.script(
        "echo '{\"outcome\":\"failed\",\"summary\":\"half\"}' > \"$ASSAY_REPORT\"; \
         echo > begun; trap '' TERM; sleep 60 & wait; wait",
    );
    let cancel = CancellationToken::new();
    let begun = place.tree().join("begun");

    let stopper = async {
        written(&begun).await;
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(run(launch, recorded, cancel.clone()), stopper);

    let ended = ended.unwrap();
    assert_eq!(ended.exit, Exit::Cancelled);
    assert_eq!(ended.report.settle(false).unwrap().summary, "half");
    assert_eq!(place.left(), Vec::<u32>::new());
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_no_process() {
    let place = Place::new();
    let (launch, _lines) = place.script("setsid sleep 60 & echo > begun; exec sleep 60");
    let begun = place.tree().join("begun");

    tokio::select! {
        _ = run(launch, recorded, CancellationToken::new()) => panic!("it was to hang"),
        () = written(&begun) => {}
    }

    // A killed process is still listed until it has been taken down.
    let gone = async {
        while !place.left().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, gone).await.expect("every process is gone");
}

#[tokio::test]
async fn a_process_that_could_not_be_recorded_never_becomes_the_agent() {
    let place = Place::new();
    let (launch, _lines) = place.script("echo > begun");
    let alive = AtomicBool::new(false);
    let record = |process: ProcessId| {
        alive.store(process.is_alive(), Ordering::Relaxed);
        async { Err(Fault::new(Code::StorageFull, "No room.")) }
    };

    let fault = run(launch, record, CancellationToken::new()).await.unwrap_err();

    assert_eq!(fault.code, Code::StorageFull);
    assert!(alive.load(Ordering::Relaxed));
    assert!(!place.tree().join("begun").exists());
    assert_eq!(place.left(), Vec::<u32>::new());
}

#[tokio::test]
async fn a_run_cancelled_while_it_is_recorded_never_becomes_the_agent() {
    let place = Place::new();
    let (launch, _lines) = place.script("echo > begun");
    let cancel = CancellationToken::new();
    let record = |_| {
        cancel.cancel();
        async { Ok(()) }
    };

    let ended = run(launch, record, cancel.clone()).await.unwrap();

    assert_eq!(ended.exit, Exit::Cancelled);
    assert!(!place.tree().join("begun").exists());
}

#[tokio::test]
async fn no_agent_starts_outside_a_worktree() {
    let place = Place::new();
    let spoil: [fn(&Path); 3] = [
        |tree| fs::remove_dir_all(tree).unwrap(),
        |tree| fs::create_dir(tree).unwrap(),
        |tree| {
            fs::remove_dir(tree).unwrap();
            fs::create_dir_all(tree.with_file_name("other/.git")).unwrap();
            std::os::unix::fs::symlink("other", tree).unwrap();
        },
    ];

    for (spoil, why) in spoil.iter().zip(["does not exist", "has no .git", "not a folder"]) {
        spoil(&place.tree());
        let (launch, _lines) = place.script("echo > ../begun");
        let fault = run(launch, recorded, CancellationToken::new()).await.unwrap_err();
        assert!(fault.message.contains(why), "{fault}");
    }
    assert!(!place.file("begun").exists());
}

#[tokio::test]
async fn an_agent_that_deletes_its_worktree_is_told_of() {
    let place = Place::new();
    let (launch, _lines) = place.script("rm -rf \"$PWD\"");

    let ended = ends(&place, launch).await;

    assert!(ended.worktree_gone);
    assert_eq!(ended.failure().unwrap(), "The agent deleted its worktree.");
}

#[tokio::test]
async fn what_a_dead_server_left_is_ended_but_never_a_process_with_a_recycled_number() {
    let place = Place::new();
    // The shell stands for the server: it starts an agent in a group of its own and is gone.
    let start = "setsid sh -c 'setsid sleep 60 & echo $$ > pid.new; mv pid.new pid; exec sleep 60' \
                 > /dev/null 2>&1 < /dev/null &";
    let mut server = assert_cmd::Command::new("sh");
    server.args(["-c", start]).current_dir(place.tree()).env("ASSAY_RUN", &place.marker);
    server.assert().success();
    written(&place.tree().join("pid")).await;
    let pid = fs::read_to_string(place.tree().join("pid")).unwrap().trim().parse().unwrap();
    let agent = ProcessId::of(pid).unwrap();

    let recycled = ProcessId { started: agent.started + 1, ..agent };
    assert!(!end_orphan(recycled, "another run", SHORT).await.unwrap());
    assert!(agent.is_alive());

    assert!(end_orphan(agent, &place.marker, SHORT).await.unwrap());
    assert!(!agent.is_alive());
    assert_eq!(place.left(), Vec::<u32>::new());
    assert!(!end_orphan(agent, &place.marker, SHORT).await.unwrap());
}

#[test]
fn a_shim_whose_server_ends_first_becomes_nothing() {
    let place = Place::new();
    let mut shim = assert_cmd::Command::new(ASSAY);

    let run = shim.args(["agent-shim", "--", "touch", "begun"]).current_dir(place.tree());

    run.write_stdin("").assert().code(1);
    assert!(!place.tree().join("begun").exists());
}

#[tokio::test]
async fn the_demonstration_agent_edits_the_page_and_reports() {
    let place = Place::new();
    fs::write(place.tree().join("index.html"), "<body>\n</body>\n").unwrap();
    let (mut launch, _lines) = place.script("");
    launch.profile = Profile::demonstration(ASSAY);

    let ended = ends(&place, launch).await;

    assert_eq!((ended.exit, ended.failure()), (Exit::Code(0), None));
    assert_eq!(ended.report.settle(true).unwrap().outcome, Outcome::Done);
    let page = fs::read_to_string(place.tree().join("index.html")).unwrap();
    assert!(page.contains("<h2>Say hello</h2>"), "{page}");
}
