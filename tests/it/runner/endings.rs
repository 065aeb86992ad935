//! How runs end, whichever way: nothing of them is left.

use super::*;

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
    let script = "printf 'Continue? [y/N] '; echo > begun; exec sleep 60";
    let (mut launch, _lines) = place.script(script);
    launch.clock = Clock::fake(Millis(0));
    launch.limits.total = Duration::MAX;
    let (clock, begun) = (launch.clock.clone(), place.tree().join("begun"));

    let time_passes = async {
        written(&begun).await;
        loop {
            clock.advance(LONG);
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::select! {
        ended = ends(&place, launch) => ended,
        () = time_passes => unreachable!("time does not end"),
    };

    assert_eq!(ended.exit, Exit::Silent);
    let said = ended.failure().unwrap();
    assert!(said.starts_with("The agent printed nothing for "), "{said}");
    assert!(said.ends_with("(idleTimeoutSecs of its profile).\n\nContinue? [y/N] "), "{said}");
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
