//! Agents that are talked with over the Agent Client Protocol, well behaved and otherwise.

use assay::base::Millis;
use assay::tickets::runner::Trouble;
use assay::tickets::runner::report::Report;

use super::*;
use crate::acp_agent::profile;

impl Place {
    fn talks(&self, script: &str) -> (Launch, mpsc::Receiver<LogLine>) {
        let (mut launch, lines) = self.agent(&["unused"]);
        launch.profile = profile(script);
        launch.worktree = launch.worktree.canonicalize().unwrap();
        (launch, lines)
    }
}

async fn talked(script: &str) -> (Place, Ended, Vec<String>) {
    let place = Place::new();
    let (launch, mut lines) = place.talks(script);
    let ended = ends(&place, launch).await;
    let mut log = Vec::new();
    while let Ok(line) = lines.try_recv() {
        log.push(line.text);
    }
    (place, ended, log)
}

fn reported(ended: &Ended) -> Report {
    ended.report.clone().settle(true).unwrap_or_else(|| panic!("no report: {ended:?}"))
}

#[tokio::test]
async fn a_conversation_becomes_the_log_the_report_and_what_was_used() {
    let (place, ended, log) = talked("works").await;

    assert_eq!((ended.exit, ended.failure()), (Exit::Answered, None), "{log:?}");
    assert_eq!(reported(&ended).summary, "I wrote hello.");
    assert_eq!(fs::read_to_string(place.tree().join("made/hello.txt")).unwrap(), "hello\n");
    let has = |text: &str| log.iter().any(|line| line.contains(text));
    for text in [
        "▸ Write the file",
        "☐ Report",
        "I begin with [redacted].",
        "✓ allowed: Write made/hello.txt",
        "→ Write made/hello.txt",
        "hello.txt (+1 −0)",
    ] {
        assert!(has(text), "{text}: {log:?}");
    }
    let usage = &ended.usage;
    assert_eq!((usage.turns, usage.input_tokens, usage.output_tokens), (1, 100, 20));
    assert_eq!(usage.cost_micros, Some(500_000));
}

#[tokio::test]
async fn a_report_may_stand_at_the_end_of_the_last_message() {
    let (_place, ended, _) = talked("words").await;

    assert_eq!(reported(&ended).summary, "said");
}

#[tokio::test]
async fn what_reaches_beyond_the_work_tree_is_refused() {
    let (place, ended, log) = talked("escapes").await;

    assert_eq!(reported(&ended).summary, "line 2", "{log:?}");
    assert!(!place.file("secret").exists() && !place.tree().join(".git/secret").exists());
}

#[tokio::test]
async fn a_request_that_is_not_offered_is_answered_so_and_logged() {
    let (_place, ended, log) = talked("strange").await;

    assert!(reported(&ended).summary.contains("ethod not found"), "{ended:?}");
    let told = |line: &String| line.contains("`terminal/create`, which Assay does not offer");
    assert!(log.iter().any(told), "{log:?}");
}

#[tokio::test]
async fn permissions_follow_the_policy() {
    for (policy, chosen) in
        [(Permissions::Worktree, "no"), (Permissions::Deny, "no"), (Permissions::Allow, "yes")]
    {
        let place = Place::new();
        let (mut launch, _lines) = place.talks("outside");
        launch.permissions = policy;

        assert_eq!(reported(&ends(&place, launch).await).summary, chosen, "{policy}");
    }
}

#[tokio::test]
async fn a_person_is_asked_by_the_report_and_the_answer_goes_on() {
    let place = Place::new();
    let (mut launch, _lines) = place.talks("outside");
    launch.permissions = Permissions::Ask;
    let asked = reported(&ends(&place, launch).await);

    assert_eq!(asked.outcome, Outcome::NeedsInput);
    let question = asked.question.unwrap();
    assert!(question.text.contains("Fetch the manual"), "{}", question.text);
    let (mut launch, _lines) = place.talks("outside");
    launch.permissions = Permissions::Ask;
    launch.answers = vec![(question.text, question.choices[0].clone())];
    assert_eq!(reported(&ends(&place, launch).await).summary, "yes");
}

#[tokio::test]
async fn each_way_to_go_wrong_says_what_to_do() {
    for (script, exit, said) in [
        ("crash", Exit::Code(3), "exit code 3"),
        ("leave", Exit::Broke(Trouble::Left), "before it had answered"),
        ("garbage", Exit::Broke(Trouble::Malformed), "It wrote: {\"jsonrpc\": \"2.0\", oops"),
        ("chatter", Exit::Broke(Trouble::Malformed), "It wrote: Welcome!"),
        ("future", Exit::Broke(Trouble::Version), "It offers version 9."),
        ("login", Exit::Broke(Trouble::Login), "`test-login`"),
        ("declines", Exit::Broke(Trouble::Declined), "choose another agent"),
    ] {
        let (_place, ended, log) = talked(script).await;

        assert_eq!(ended.exit, exit, "{script}: {log:?}");
        let failure = ended.failure().unwrap();
        assert!(failure.contains(said), "{script}: {failure}");
    }
}

#[tokio::test]
async fn a_way_to_log_in_that_the_profile_names_is_taken() {
    let place = Place::new();
    let (mut launch, _lines) = place.talks("login");
    launch.profile.authenticate = Some("test-login".to_owned());

    assert_eq!(ends(&place, launch).await.exit, Exit::Answered);
}

#[tokio::test]
async fn one_that_does_not_say_hello_is_ended_in_time() {
    let place = Place::new();
    let (mut launch, _lines) = place.talks("mute");
    launch.clock = Clock::fake(Millis(0));
    (launch.limits.total, launch.limits.idle) = (Duration::MAX, Duration::MAX);
    let clock = launch.clock.clone();

    let time_passes = async {
        loop {
            clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::select! {
        ended = ends(&place, launch) => ended,
        () = time_passes => unreachable!("time does not end"),
    };

    assert_eq!(ended.exit, Exit::Broke(Trouble::NoAnswer));
    assert!(ended.failure().unwrap().contains("`initialize` was not answered in 120 s"));
}

#[tokio::test]
async fn a_flood_of_updates_is_ended() {
    let place = Place::new();
    let (launch, lines) = place.talks("flood");
    drop(lines);

    assert_eq!(ends(&place, launch).await.exit, Exit::OutputFlood);
}

/// Runs an agent that waits, cancels it, and says how long that took.
async fn cancelled(script: &str) -> (Place, Ended, Duration) {
    let place = Place::new();
    let (launch, _lines) = place.talks(script);
    let cancel = CancellationToken::new();
    let begun = place.tree().join("begun");
    let stopper = async {
        written(&begun).await;
        cancel.cancel();
        tokio::time::Instant::now()
    };
    let (ended, since) = tokio::join!(run(launch, recorded, cancel.clone()), stopper);
    assert_eq!(place.left(), Vec::<u32>::new());
    (place, ended.unwrap(), since.elapsed())
}

#[tokio::test]
async fn cancel_is_the_protocols_and_one_that_ignores_it_is_ended_all_the_same() {
    let (place, ended, _) = cancelled("polite").await;
    assert_eq!(ended.exit, Exit::Cancelled);
    assert!(place.tree().join("heard").exists());

    for script in ["hang", "deaf"] {
        let (_place, ended, took) = cancelled(script).await;
        assert_eq!(ended.exit, Exit::Cancelled);
        assert!(took < Duration::from_secs(10), "{script}: {took:?}");
    }
}
