//! Rounds of work: what a check finds is what the next round is told.

use assay::projects::settings::VerifyCommand;

use super::stage::{ADDS_A_FILE, Stage};
use serde_json::json;

#[tokio::test]
async fn a_review_that_asks_for_changes_gets_them() {
    let script = r#"
        if is implement; then case "$prompt" in
            *"Greet the world"*) echo 'hello world' >hello.txt;; *) echo hello >hello.txt;; esac; fi
        if is review; then if grep -q world hello.txt
            then report '{"outcome":"done","verdict":"approve"}'
            else report '{"outcome":"done","verdict":"changes_requested","findings":[
                {"text":"Greet the world","severity":"blocking","file":"hello.txt"}]}'; fi; fi"#;
    let stage = Stage::new(script).await;

    let digest = stage.ends("succeeded").await;

    assert_eq!(stage.read("hello.txt"), "hello world\n");
    let expected = [
        "contract-1 skipped",
        "implement-1 succeeded",
        "review-1 failed",
        "implement-2 succeeded",
        "review-2 succeeded",
        "verification-1 skipped",
        "land-1 succeeded",
    ];
    assert_eq!(stage.nodes(digest.name()).await, expected);
    stage.close().await;
}

#[tokio::test]
async fn rounds_are_bounded_and_a_retry_adds_some() {
    let script = r#"
        if is implement; then echo more >>hello.txt; fi
        if is review; then if [ -e "$STAGE/content" ]; then report '{"outcome":"done"}'
            else report '{"outcome":"done","verdict":"changes_requested",
                "summary":"Not yet"}'; fi; fi"#;
    let stage = Stage::with(script, |settings, _| settings.limits.implement_rounds = 2).await;

    let digest = stage.ends("failed").await;
    assert_eq!(digest.reason(), "Review was not satisfied after 2 rounds: Not yet");
    assert_eq!(stage.landings(digest.name()), 0);

    stage.tell("content");
    stage.call("retry_ticket", json!({ "ticket": digest.name() })).await;
    stage.until(digest.name(), "succeeded").await;
    let nodes = stage.nodes(digest.name()).await;
    assert!(nodes.contains(&"implement-3 succeeded".to_owned()), "{nodes:?}");
    assert_eq!(stage.read("hello.txt"), "more\nmore\nmore\n");
    stage.close().await;
}

#[tokio::test]
async fn a_failed_verification_is_what_the_next_round_reads() {
    let script = r#"if is implement; then case "$prompt" in
        *"exit code 3"*"the greeting is missing"*) echo hello >hello.txt;;
        *) echo x >x.txt;; esac; fi"#;
    let stage = Stage::with(script, |settings, _| {
        let check = "test -e hello.txt || { echo the greeting is missing; exit 3; }";
        settings.verify.push(VerifyCommand::new("greeting", check));
    })
    .await;

    let digest = stage.ends("succeeded").await;

    assert_eq!(digest.outcome(), "fully_verified");
    let nodes = stage.nodes(digest.name()).await;
    assert!(nodes.contains(&"verification-1 failed".to_owned()), "{nodes:?}");
    assert!(nodes.contains(&"verification-2 succeeded".to_owned()), "{nodes:?}");
    let proofs = "SELECT verdict FROM proofs ORDER BY n";
    assert_eq!(stage.column(proofs), ["failed", "proven"]);
    stage.close().await;
}

#[tokio::test]
async fn a_verification_that_stays_bad_fails_and_lands_nothing() {
    let stage = Stage::with("if is implement; then date +%N >x.txt; fi", |settings, _| {
        settings.verify.push(VerifyCommand::new("tests", "echo 1 of 2 failed; false"));
        settings.limits.implement_rounds = 2;
    })
    .await;

    let digest = stage.ends("failed").await;

    assert!(digest.reason().starts_with("Verification was not satisfied after 2 rounds"));
    assert!(digest.reason().contains("1 of 2 failed"), "{}", digest.reason());
    assert!(digest.0["salvageNote"].as_str().unwrap().contains("retry_ticket"));
    assert_eq!(stage.landings(digest.name()), 0);

    stage.call("retry_ticket", json!({ "ticket": digest.name() })).await;
    stage.until(digest.name(), "failed").await;
    let nodes = stage.nodes(digest.name()).await;
    assert!(nodes.contains(&"implement-4 succeeded".to_owned()), "{nodes:?}");
    stage.close().await;
}

#[tokio::test]
async fn a_verify_command_cannot_change_what_lands() {
    let stage = Stage::with(ADDS_A_FILE, |settings, _| {
        let check =
            "echo evil >evil.txt; git add .; git -c user.name=x -c user.email=x@y commit -qm x";
        settings.verify.push(VerifyCommand::new("sly", check));
    })
    .await;

    stage.ends("succeeded").await;

    assert_eq!(stage.git(&["ls-tree", "--name-only", "main"]), "README.md\nhello.txt");
    stage.close().await;
}

#[tokio::test]
async fn what_nobody_could_confirm_is_a_gap() {
    let script = r#"
        if is contract; then report '{"outcome":"done","assertions":[
            {"text":"It greets","check":{"command":"grep -q hello hello.txt"}},
            {"text":"It looks kind","check":{"person":"Look at hello.txt"}}]}'; fi
        if is implement; then echo hello >hello.txt; fi"#;
    let stage = Stage::new(script).await;

    let digest = stage.ends("succeeded").await;

    assert_eq!(digest.outcome(), "partially_verified");
    let gaps = &digest.0["verificationGaps"];
    assert_eq!(gaps.as_array().unwrap().len(), 1, "{gaps}");
    assert_eq!(gaps[0]["assertion"], "It looks kind");
    stage.close().await;
}

#[tokio::test]
async fn without_anything_to_check_by_it_only_counts_as_implemented() {
    let stage = Stage::new(ADDS_A_FILE).await;

    let digest = stage.ends("succeeded").await;

    assert_eq!(digest.outcome(), "implementation_succeeded");
    assert_eq!(digest.0["ticket"]["commitSha"], stage.git(&["rev-parse", "main"]).as_str());
    stage.close().await;
}
