//! What people do to a ticket while it runs: cancel, retry, answer; and tickets that wait for a
//! place.

use assay::base::Code;
use serde_json::json;

use super::stage::Stage;

/// An agent that waits the first time, takes a moment to end, and works the second time.
const WAITS_ONCE: &str = "if is implement; then echo half >half.txt
    if once first; then echo waiting; tell ready; trap 'sleep 0.3; exit 1' TERM; sleep 60; fi
    echo whole >whole.txt; fi";

#[tokio::test]
async fn cancelling_ends_the_agent_and_keeps_its_work_for_a_retry() {
    let stage = Stage::new(WAITS_ONCE).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;

    stage.call("cancel_ticket", json!({ "ticket": ticket, "reason": "Not now" })).await;
    let cancelled = stage.until(&ticket, "cancelled").await;
    // The retry comes while the agent is still being ended: two never work in one tree.
    stage.call("retry_ticket", json!({ "ticket": ticket })).await;

    let digest = stage.until(&ticket, "succeeded").await;
    assert_eq!(digest.branch(), cancelled.branch());
    assert_eq!(
        (stage.read("half.txt"), stage.read("whole.txt")),
        ("half\n".into(), "whole\n".into())
    );
    assert_eq!(stage.landings(&ticket), 1);
    let kept = "SELECT ref FROM nodes WHERE ref = 'implement-1' AND log_hash IS NOT NULL";
    assert_eq!(stage.column(kept), ["implement-1"], "the log of the cancelled run is kept");
    stage.close().await;
}

#[tokio::test]
async fn a_cancelled_ticket_says_how_to_go_on_from_its_branch() {
    let stage = Stage::new(WAITS_ONCE).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("ready").await;

    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;

    let digest = stage.digest(&ticket).await;
    let kept = "SELECT title FROM tickets WHERE checkpoint_commits = 1";
    stage.until_so("what was done is kept", || !stage.column(kept).is_empty()).await;
    assert_eq!(stage.git(&["show", &format!("{}:half.txt", digest.branch())]), "half");
    let digest = stage.digest(&ticket).await;
    assert!(digest.0["salvageNote"].as_str().unwrap().contains("keeps 1 commit"));
    assert_eq!(stage.landings(&ticket), 0);
    stage.close().await;
}

#[tokio::test]
async fn an_answer_goes_to_the_same_node_on_the_same_branch() {
    let script = r#"if is implement; then case "$prompt" in
        *"Answer: blue"*) echo blue >>colour.txt;;
        *) echo sketch >colour.txt; report '{"outcome":"needs_input","summary":"A sketch",
            "question":{"text":"Which colour?","choices":["blue","red"]}}';; esac; fi"#;
    let stage = Stage::new(script).await;
    let asked = stage.ends("awaiting_input").await;
    let graph = stage.call("get_ticket_graph", json!({ "ticket": asked.name() })).await;
    assert_eq!(graph["question"]["text"], "Which colour?");
    assert!(asked.human_actions().contains("Which colour?"));

    stage.call("reply_ticket", json!({ "ticket": asked.name(), "message": "blue" })).await;

    let digest = stage.until(asked.name(), "succeeded").await;
    assert_eq!(digest.branch(), asked.branch());
    assert_eq!(stage.read("colour.txt"), "sketch\nblue\n");
    let again = json!({ "ticket": asked.name(), "message": "red" });
    let refused = stage.try_call("reply_ticket", again).await.unwrap_err();
    assert_eq!(refused.code, Code::NotAwaitingInput);
    stage.close().await;
}

#[tokio::test]
async fn with_one_place_the_second_ticket_waits_until_the_first_ends_or_asks() {
    let script = r#"if is implement; then case "$ASSAY_TICKET $prompt" in
        "ACME-1 "*"Answer:"*) echo 1 >1.txt; tell answered; await land;;
        "ACME-1 "*) tell first; await ask
            report '{"outcome":"needs_input","question":{"text":"Really?"}}';;
        "ACME-2 "*) tell second; await end; echo 2 >2.txt;; esac; fi"#;
    let stage = Stage::with(script, |settings, _| settings.limits.concurrency = 1).await;
    let (one, two) = (stage.dispatch("One").await, stage.dispatch("Two").await);
    stage.told("first").await;
    assert_eq!(stage.digest(&two).await.status(), "queued");

    stage.tell("ask");
    stage.told("second").await;
    assert_eq!(stage.digest(&one).await.status(), "awaiting_input");
    stage.call("reply_ticket", json!({ "ticket": one, "message": "Yes" })).await;
    assert_eq!(stage.digest(&one).await.status(), "queued", "the place is taken");

    stage.tell("end");
    stage.until(&two, "succeeded").await;
    stage.told("answered").await;
    stage.tell("land");
    stage.until(&one, "succeeded").await;
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_ended_is_neither_cancelled_nor_tried_again() {
    let stage = Stage::new(super::stage::ADDS_A_FILE).await;
    let digest = stage.ends("succeeded").await;
    let of = json!({ "ticket": digest.name() });

    let cancelled = stage.try_call("cancel_ticket", of.clone()).await.unwrap_err();
    let retried = stage.try_call("retry_ticket", of).await.unwrap_err();

    assert_eq!([cancelled.code, retried.code], [Code::NotCancellable, Code::NotRetryable]);
    assert_eq!(stage.landings(digest.name()), 1);
    stage.close().await;
}
