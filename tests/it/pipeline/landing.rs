//! Landing where others work on the same branch.

use assay::projects::settings::{LandingStrategy, VerifyCommand};
use serde_json::json;

use super::stage::{ADDS_A_FILE, Stage};

/// An agent that waits, in its worktree, for the person.
const WAITS: &str = "if is implement; then echo hello >hello.txt; tell ready; await go; fi";

#[tokio::test]
async fn a_conflict_fails_with_the_files_and_leaves_the_base_alone() {
    let stage = Stage::new(WAITS).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("hello.txt", "good day\n");
    let tip = stage.git(&["rev-parse", "main"]);
    stage.tell("go");

    let digest = stage.until(&ticket, "failed").await;

    assert!(digest.reason().contains("conflicts with main in hello.txt"), "{}", digest.reason());
    assert_eq!(digest.0["autoMergeStatus"], "conflicts");
    assert!(digest.human_actions().contains("resolve hello.txt"), "{}", digest.human_actions());
    assert_eq!(stage.git(&["rev-parse", "main"]), tip);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert_eq!(stage.read("hello.txt"), "good day\n");

    let tree = stage.path("data/worktrees").join(digest.id());
    let merge = ["merge", "--quiet", "-X", "ours", "-m", "Resolve", "main"];
    crate::git::run_in(&tree, &merge);
    stage.call("retry_ticket", json!({ "ticket": ticket })).await;
    let digest = stage.until(&ticket, "succeeded").await;
    assert_eq!(digest.0["autoMergeStatus"], "merged");
    assert_eq!(stage.read("hello.txt"), "hello\n");
    assert_eq!(stage.landings(&ticket), 1);
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

#[tokio::test]
async fn what_fails_together_with_a_moved_base_does_not_land() {
    let stage = Stage::with(WAITS, |settings, _| {
        settings
            .verify
            .push(VerifyCommand::new("alone", "test ! -e other.txt || test ! -e hello.txt"));
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;
    stage.person_commits("other.txt", "other\n");
    stage.tell("go");

    let digest = stage.until(&ticket, "failed").await;

    assert_eq!(digest.0["autoMergeStatus"], "verification_failed");
    assert!(digest.reason().contains("main has moved"), "{}", digest.reason());
    assert!(digest.reason().contains("\"alone\""), "{}", digest.reason());
    assert_eq!(stage.landings(&ticket), 0);
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
async fn a_checkout_with_changes_is_never_touched_and_a_retry_lands() {
    let stage = Stage::new(ADDS_A_FILE).await;
    std::fs::write(stage.person().join("README.md"), "Mine\n").unwrap();
    let tip = stage.git(&["rev-parse", "main"]);

    let digest = stage.ends("failed").await;

    assert_eq!(digest.0["autoMergeStatus"], "checkout_dirty");
    assert!(digest.human_actions().contains("retry the ticket"), "{}", digest.human_actions());
    assert_eq!(
        (stage.git(&["rev-parse", "main"]), stage.read("README.md")),
        (tip, "Mine\n".into())
    );

    stage.git(&["checkout", "--quiet", "README.md"]);
    stage.call("retry_ticket", json!({ "ticket": digest.name() })).await;
    let landed = stage.until(digest.name(), "succeeded").await;
    assert_eq!(landed.0["humanActions"], json!([]));
    assert_eq!(stage.read("hello.txt"), "hello\n");
    stage.close().await;
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
