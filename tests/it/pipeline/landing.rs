//! Landing where others work on the same branch.

use assay::projects::settings::{LandingStrategy, VerifyCommand};
use serde_json::json;

use super::stage::{ADDS_A_FILE, Stage};

/// An agent that waits, in its worktree, for the person.
const WAITS: &str = "if is implement; then echo hello >hello.txt; tell ready; await go; fi";

/// What both sides write into one file.
fn conflicting(repairs: &str) -> String {
    format!("{WAITS}\nif is merge_repair; then {repairs}; fi")
}

#[tokio::test]
async fn a_conflict_is_resolved_by_an_agent_and_verified_again() {
    let script = conflicting(
        r#"case "$prompt" in *"- hello.txt"*"By hand"*) ;; *) exit 9;; esac
        grep -q '<<<<<<<' hello.txt || exit 8
        printf 'good day\nhello\n' >hello.txt"#,
    );
    let stage = Stage::with(&script, |settings, _| {
        settings.verify.push(VerifyCommand::new("greets", "grep -q hello hello.txt"));
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("hello.txt", "good day\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "succeeded").await;

    assert_eq!((digest.merge(), digest.outcome()), ("merged", "fully_verified"));
    assert_eq!(stage.read("hello.txt"), "good day\nhello\n");
    assert_eq!(stage.landings(&ticket), 1);
    let expected = [
        "contract-1 skipped",
        "implement-1 succeeded",
        "review-1 skipped",
        "verification-1 succeeded",
        "land-1 failed",
        "merge_repair-1 succeeded",
        "verification-2 succeeded",
        "land-2 succeeded",
    ];
    assert_eq!(stage.nodes(&ticket).await, expected);
    stage.close().await;
}

#[tokio::test]
async fn repairs_that_a_moving_base_makes_stale_are_no_failed_ones() {
    let script = conflicting(
        r#"n=1; while [ -e "$STAGE/repair-$n" ]; do n=$((n + 1)); done
        tell "repair-$n"; echo "hello $n" >hello.txt; await "moved-$n""#,
    );
    let stage = Stage::new(&script).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("hello.txt", "good day\n");
    stage.tell("go");
    for n in 1..4 {
        stage.told(&format!("repair-{n}")).await;
        stage.person_commits("hello.txt", &format!("good day {n}\n"));
        stage.tell(&format!("moved-{n}"));
    }
    stage.told("repair-4").await;
    stage.tell("moved-4");

    let digest = stage.until(&ticket, "succeeded").await;

    assert_eq!((digest.merge(), stage.landings(&ticket)), ("merged", 1));
    assert_eq!(stage.read("hello.txt"), "hello 4\n");
    stage.close().await;
}

#[tokio::test]
async fn a_conflict_that_no_agent_resolves_waits_with_the_files_and_leaves_the_base_alone() {
    let stage = Stage::new(WAITS).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("hello.txt", "good day\n");
    let tip = stage.git(&["rev-parse", "main"]);
    stage.tell("go");

    let digest = stage.until(&ticket, "awaiting_input").await;

    assert_eq!(digest.merge(), "conflicts");
    let act = digest.human_actions();
    assert!(act.contains("conflicts with main in hello.txt"), "{act}");
    assert_eq!(stage.git(&["rev-parse", "main"]), tip);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.read("hello.txt"), "good day\n");

    let tree = stage.path("data/worktrees").join(digest.id());
    assert_eq!(crate::git::run_in(&tree, &["status", "--porcelain"]), "", "nothing half done");
    let merge = ["merge", "--quiet", "-X", "ours", "-m", "Resolve", "main"];
    crate::git::run_in(&tree, &merge);
    stage.call("reply_ticket", json!({ "ticket": ticket, "message": "Go on" })).await;
    let digest = stage.until(&ticket, "succeeded").await;
    assert_eq!(digest.merge(), "merged");
    assert_eq!(stage.read("hello.txt"), "hello\n");
    assert_eq!(stage.landings(&ticket), 1);
    stage.close().await;
}

#[tokio::test]
async fn what_a_person_commits_on_a_verified_branch_is_verified_before_it_lands() {
    let stage = Stage::with(ADDS_A_FILE, |settings, _| {
        settings.verify.push(VerifyCommand::new("clean", "test ! -e evil.txt"));
        settings.limits.implement_rounds = 1;
    })
    .await;
    std::fs::write(stage.person().join("README.md"), "Mine\n").unwrap();
    let held = stage.ends("awaiting_input").await;
    let tree = stage.path("data/worktrees").join(held.id());
    std::fs::write(tree.join("evil.txt"), "x\n").unwrap();
    crate::git::run_in(&tree, &["add", "--all"]);
    crate::git::run_in(&tree, &["commit", "--quiet", "-m", "Unseen"]);
    stage.git(&["checkout", "--quiet", "README.md"]);

    stage.call("retry_ticket", json!({ "ticket": held.name() })).await;

    let digest = stage.until(held.name(), "failed").await;
    assert!(digest.reason().contains("\"clean\""), "{}", digest.reason());
    assert_eq!(stage.landings(held.name()), 0);
    stage.close().await;
}

#[tokio::test]
async fn where_the_base_moved_the_merged_result_is_checked_before_it_lands() {
    let stage = Stage::with(WAITS, |settings, _| {
        settings.verify.push(VerifyCommand::new("files", "test -e hello.txt"));
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("other.txt", "other\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "succeeded").await;

    assert_eq!(digest.outcome(), "fully_verified");
    let proofs = stage.column("SELECT claim || ': ' || verdict FROM proofs ORDER BY n");
    assert_eq!(proofs, ["files passes: proven", "files passes on the moved base: proven"]);
    assert_eq!(
        (stage.read("hello.txt"), stage.read("other.txt")),
        ("hello\n".into(), "other\n".into())
    );
    let branches = stage.git(&["branch", "--list", "assay/*"]);
    assert_eq!(branches, "", "the checked merge leaves no branch");
    stage.close().await;
}

/// What holds with either side's file alone.
fn alone() -> VerifyCommand {
    VerifyCommand::new("alone", "test ! -e other.txt || test ! -e hello.txt || test -e both.txt")
}

#[tokio::test]
async fn what_fails_together_with_a_moved_base_does_not_land() {
    let stage = Stage::with(WAITS, |settings, _| {
        settings.verify.push(alone());
        settings.limits.implement_rounds = 1;
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("other.txt", "other\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "failed").await;

    assert_eq!(digest.merge(), "verification_failed");
    assert!(digest.reason().contains("\"alone\""), "{}", digest.reason());
    assert_eq!(stage.landings(&ticket), 0);
    stage.close().await;
}

#[tokio::test]
async fn a_moved_base_that_breaks_the_checks_is_reconciled_by_an_agent() {
    let script = format!(
        r#"{WAITS}
        if is reconcile; then case "$prompt" in *'"alone"'*) ;; *) exit 9;; esac
            test -e other.txt || exit 8; echo both >both.txt; fi"#
    );
    let stage = Stage::with(&script, |settings, _| settings.verify.push(alone())).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("other.txt", "other\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "succeeded").await;

    assert_eq!((digest.merge(), digest.outcome()), ("merged", "fully_verified"));
    assert_eq!(stage.read("both.txt"), "both\n");
    let nodes = stage.nodes(&ticket).await;
    assert!(nodes.contains(&"reconcile-1 succeeded".to_owned()), "{nodes:?}");
    stage.close().await;
}

#[tokio::test]
async fn assertions_are_checked_again_on_a_moved_base() {
    let script = format!(
        r#"{WAITS}
        if is contract; then report '{{"outcome":"done","assertions":[
            {{"text":"One greeting","check":{{"command":"test $(ls | grep -c txt) = 1"}}}}]}}'; fi"#
    );
    let stage = Stage::new(&script).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("other.txt", "other\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "failed").await;

    assert_eq!(stage.landings(digest.name()), 0);
    let proofs = "SELECT verdict FROM proofs WHERE claim = 'One greeting (on the moved base)'";
    assert_eq!(stage.column(proofs), ["failed"]);
    let nodes = stage.nodes(&ticket).await;
    assert!(nodes.contains(&"reconcile-1 skipped".to_owned()), "{nodes:?}");
    stage.close().await;
}

#[tokio::test]
async fn a_squash_lands_one_commit_with_one_parent() {
    let script = "if is implement; then for n in 1 2; do
        echo $n >$n.txt; git add .; git commit -qm $n; done; fi";
    let stage = Stage::with(script, |settings, _| {
        settings.landing.strategy = LandingStrategy::Squash;
    })
    .await;

    let digest = stage.ends("succeeded").await;

    let subjects = stage.git(&["log", "--format=%s", "main"]);
    assert_eq!(subjects, format!("{}: Say hello\nFirst", digest.name()));
    assert_eq!(stage.read("2.txt"), "2\n");
    stage.close().await;
}

#[tokio::test]
async fn a_clean_checkout_of_the_base_follows() {
    let stage = Stage::new(ADDS_A_FILE).await;

    stage.ends("succeeded").await;

    assert_eq!(stage.read("hello.txt"), "hello\n");
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    stage.close().await;
}

#[tokio::test]
async fn a_checkout_with_changes_is_never_touched_and_waited_for() {
    for (tool, message) in [("retry_ticket", None), ("reply_ticket", Some("It is clean"))] {
        let stage = Stage::new(ADDS_A_FILE).await;
        std::fs::write(stage.person().join("README.md"), "Mine\n").unwrap();
        let tip = stage.git(&["rev-parse", "main"]);

        let digest = stage.ends("awaiting_input").await;

        assert_eq!(digest.merge(), "checkout_dirty");
        assert!(digest.human_actions().contains("README.md"), "{}", digest.human_actions());
        assert_eq!(
            (stage.git(&["rev-parse", "main"]), stage.read("README.md")),
            (tip, "Mine\n".into())
        );

        stage.git(&["checkout", "--quiet", "README.md"]);
        let mut args = json!({ "ticket": digest.name() });
        if let Some(message) = message {
            args["message"] = message.into();
        }
        stage.call(tool, args).await;
        let landed = stage.until(digest.name(), "succeeded").await;
        assert_eq!(landed.0["humanActions"], json!([]));
        assert_eq!(stage.read("hello.txt"), "hello\n");
        stage.close().await;
    }
}

#[tokio::test]
async fn two_tickets_that_land_at_once_both_land_once() {
    let script =
        r#"if is implement; then echo x >"$ASSAY_TICKET.txt"; tell "$ASSAY_TICKET"; await go; fi"#;
    let stage = Stage::with(script, |settings, _| {
        settings.verify.push(VerifyCommand::new("tests", "true"));
    })
    .await;
    let (one, two) = (stage.dispatch("One").await, stage.dispatch("Two").await);
    stage.told(&one).await;
    stage.told(&two).await;
    stage.tell("go");

    for ticket in [&one, &two] {
        stage.until(ticket, "succeeded").await;
        assert_eq!(stage.landings(ticket), 1);
        assert_eq!(stage.read(&format!("{ticket}.txt")), "x\n");
    }
    stage.close().await;
}
