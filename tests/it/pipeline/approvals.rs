//! Steps that start only after a person's word.

use assay::base::Code;
use serde_json::{Value, json};

use super::stage::{ADDS_A_FILE, Stage};

fn says(ticket: &str, step: &str, decision: &str, reason: &str) -> Value {
    json!({ "ticket": ticket, "step": step, "decision": decision, "reason": reason })
}

/// An agent that plans what it was told to, and does it.
const PLANS: &str = r#"
    if is plan; then case "$prompt" in
        *"In French"*) report '{"outcome":"done","summary":"Say bonjour"}';;
        *) report '{"outcome":"done","summary":"Say hello"}';; esac; fi
    if is implement; then case "$prompt" in
        *"Say bonjour"*) echo bonjour >hello.txt;; *) echo hello >hello.txt;; esac; fi"#;

#[tokio::test]
async fn a_plan_that_is_sent_back_is_made_anew_before_anything_is_done() {
    let stage = Stage::with(PLANS, |settings, _| settings.approvals.plan = true).await;
    let args = json!({ "title": "Greet", "pass_profile": "minimal" });
    let filed = stage.call("dispatch_ticket", args).await;
    let ticket = filed["ticket"]["ticketRef"].as_str().unwrap().to_owned();

    let asked = stage.until(&ticket, "awaiting_input").await;
    assert!(asked.human_actions().contains("step `plan`"), "{}", asked.human_actions());
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(graph["question"]["step"], "plan");
    assert!(graph["question"]["text"].as_str().unwrap().contains("Say hello"));
    let no_reason = json!({ "ticket": ticket, "step": "plan", "decision": "reject" });
    let refused = stage.try_call("approve_ticket", no_reason).await.unwrap_err();
    assert_eq!(refused.code, Code::InvalidArgument);

    stage.call("approve_ticket", says(&ticket, "plan", "reject", "In French")).await;
    stage
        .until_so("planned again", || {
            stage
                .column("SELECT ref FROM nodes WHERE ref = 'plan-2' AND status = 'succeeded'")
                .len()
                == 1
        })
        .await;
    stage.until(&ticket, "awaiting_input").await;
    stage.call("approve_ticket", says(&ticket, "plan", "approve", "Good")).await;

    stage.until(&ticket, "succeeded").await;
    assert_eq!(stage.read("hello.txt"), "bonjour\n");
    let audit = "SELECT actor || ': ' || subject FROM audit WHERE action = 'approve_ticket'
        AND outcome = 'ok' ORDER BY n";
    assert_eq!(
        stage.column(audit),
        ["key test: ACME-1 plan reject: In French", "key test: ACME-1 plan approve: Good"]
    );
    let told = "SELECT kind || ' ' || text FROM ticket_events
        WHERE kind IN ('approved', 'sent_back') ORDER BY n";
    let expected = ["sent_back Sent back (plan): In French", "approved Approved (plan): Good"];
    assert_eq!(stage.column(told), expected);
    stage.close().await;
}

#[tokio::test]
async fn nothing_lands_before_it_is_approved_and_what_is_sent_back_gets_another_round() {
    let script = r#"if is implement; then case "$prompt" in
        *"Louder"*) echo HELLO >hello.txt;; *) echo hello >hello.txt;; esac; fi"#;
    let stage = Stage::with(script, |settings, _| settings.approvals.land = true).await;

    let asked = stage.ends("awaiting_input").await;
    let ticket = asked.name();
    assert_eq!(stage.landings(ticket), 0);
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    let text = graph["question"]["text"].as_str().unwrap();
    assert!(text.contains("`hello.txt` +1"), "{text}");
    let answered = json!({ "ticket": ticket, "message": "Yes" });
    let refused = stage.try_call("reply_ticket", answered).await.unwrap_err();
    assert_eq!(refused.code, Code::NotAwaitingInput, "an answer is no approval");
    let other = stage.try_call("approve_ticket", says(ticket, "plan", "approve", "")).await;
    assert_eq!(other.unwrap_err().code, Code::NotAwaitingInput);

    stage.call("approve_ticket", says(ticket, "land", "reject", "Louder")).await;
    let again = "SELECT ref FROM nodes WHERE ref = 'verification-2' AND completed_at IS NOT NULL";
    stage.until_so("verified again", || stage.column(again).len() == 1).await;
    stage.until(ticket, "awaiting_input").await;
    stage.call("approve_ticket", says(ticket, "land", "approve", "Fine")).await;

    stage.until(ticket, "succeeded").await;
    assert_eq!(stage.read("hello.txt"), "HELLO\n");
    assert_eq!(stage.landings(ticket), 1);
    stage.close().await;
}

#[tokio::test]
async fn no_agent_approves_and_no_retry_leads_around_an_approval() {
    let stage = Stage::with(ADDS_A_FILE, |settings, _| settings.approvals.land = true).await;
    let asked = stage.ends("awaiting_input").await;
    let agent = stage.caller("assay", Some(asked.id())).await;

    let approve = says(asked.name(), "land", "approve", "");
    let refused = stage.call_as(&agent, "approve_ticket", approve).await.unwrap_err();
    assert_eq!(refused.code, Code::ScopeDenied);

    stage.call("cancel_ticket", json!({ "ticket": asked.name() })).await;
    stage.call("retry_ticket", json!({ "ticket": asked.name() })).await;
    stage.until(asked.name(), "awaiting_input").await;
    assert_eq!(stage.landings(asked.name()), 0);
    stage.call("approve_ticket", says(asked.name(), "land", "approve", "")).await;
    stage.until(asked.name(), "succeeded").await;
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_is_sent_back_too_often_fails_with_the_last_reason() {
    let stage = Stage::with(ADDS_A_FILE, |settings, _| {
        settings.approvals.land = true;
        settings.limits.implement_rounds = 1;
    })
    .await;
    let asked = stage.ends("awaiting_input").await;

    stage.call("approve_ticket", says(asked.name(), "land", "reject", "No")).await;

    let digest = stage.until(asked.name(), "failed").await;
    assert_eq!(digest.reason(), "It was sent back after 1 round: No");
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_waits_for_an_approval_leaves_its_place_to_the_next() {
    let stage = Stage::with(ADDS_A_FILE, |settings, _| {
        settings.approvals.land = true;
        settings.limits.concurrency = 1;
    })
    .await;
    let (one, two) = (stage.dispatch("One").await, stage.dispatch("Two").await);

    stage.until(&one, "awaiting_input").await;
    stage.until(&two, "awaiting_input").await;

    for ticket in [&one, &two] {
        stage.call("approve_ticket", says(ticket, "land", "approve", "")).await;
        stage.until(ticket, "succeeded").await;
    }
    stage.close().await;
}
