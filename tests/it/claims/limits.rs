//! Limits of a node, a ticket and a project's month, by a clock that stands and by what claimers
//! say that they used.

use std::time::Duration;

use assay::jobs::{self, Enqueue};
use assay::tickets::jobs::SweepTickets;
use serde_json::{Value, json};

use super::leases::a_ticket;
use crate::harness::{Caller, TestApp};

async fn sweep(app: &TestApp) {
    let job = SweepTickets::default();
    let asked = app.app.env().db.write(move |tx| jobs::enqueue(tx, &job, Enqueue::default()));
    asked.await.unwrap();
    app.app.worker().drain().await.unwrap();
}

/// Gives the project of the test these limits.
fn limit(app: &TestApp, limits: &Value) {
    let mut limits = limits.clone();
    limits["concurrency"] = json!(5);
    let settings = json!({ "agents": { "default": "editor" }, "limits": limits });
    let changed = format!("UPDATE projects SET settings = '{settings}'");
    app.app.env().db.raw(&changed).unwrap();
}

async fn claim(caller: &Caller) -> Value {
    caller.call("claim_ticket_node", json!({ "lease_seconds": 14_400 })).await["claim"].clone()
}

fn done(claim: &Value, usage: &Value) -> Value {
    json!({ "claim_id": claim["id"], "outcome": "succeeded", "summary": "Done.", "usage": usage })
}

async fn ticket(caller: &Caller, named: &str) -> Value {
    caller.call("get_ticket", json!({ "ticket": named })).await
}

/// Demands that the ticket ran out of what it may use, and gives the reason.
async fn timed_out(caller: &Caller) -> String {
    let digest = ticket(caller, "ACME-1").await;
    assert_eq!(digest["ticket"]["status"], "timeout", "{digest:#}");
    assert_eq!(digest["outcome"], "timeout");
    digest["ticket"]["failureReason"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_report_of_progress_that_crosses_a_limit_ends_the_ticket_at_once() {
    let (app, caller) = a_ticket().await;
    limit(&app, &json!({ "ticket": { "tokens": 100 } }));
    let claimed = claim(&caller).await;
    let say = |input: u64, output: u64| {
        json!({ "claim_id": claimed["id"], "message": "At it",
            "usage": { "input_tokens": input, "output_tokens": output } })
    };
    caller.call("report_node_progress", say(60, 40)).await;

    let said = caller.invoke("report_node_progress", &say(60, 41)).await;

    assert_eq!(said.status, 422, "{}", said.body);
    let reason = timed_out(&caller).await;
    assert_eq!(reason, "ACME-1 has used 101 of 100 tokens (limits.ticket).");
    assert_eq!(ticket(&caller, "ACME-1").await["inputTokens"], 60, "it is counted all the same");
    let late = caller.refusal("report_node_progress", say(61, 41)).await;
    assert!(late.message.contains("Stop working"), "{late:?}");
}

#[tokio::test]
async fn each_limit_of_a_node_and_of_a_ticket_is_named_with_its_figures() {
    for (limits, usage, expected) in [
        (
            json!({ "node": { "turns": 3 } }),
            json!({ "turns": 4 }),
            "contract-1 has used 4 of 3 turns (limits.node).",
        ),
        (
            json!({ "node": { "costUsd": 0.5 } }),
            json!({ "cost_usd": 0.51 }),
            "contract-1 has used 0.5100 of 0.5000 US dollars (limits.node).",
        ),
        (
            json!({ "ticket": { "turns": 3, "costUsd": 1 } }),
            json!({ "turns": 3, "cost_usd": 1.25 }),
            "ACME-1 has used 1.2500 of 1.0000 US dollars (limits.ticket).",
        ),
    ] {
        let (app, caller) = a_ticket().await;
        limit(&app, &limits);
        let claimed = claim(&caller).await;

        caller.call("submit_node_report", done(&claimed, &usage)).await;

        assert_eq!(timed_out(&caller).await, expected);
    }
}

#[tokio::test]
async fn time_is_looked_at_by_the_sweep_and_a_retry_brings_as_much_again() {
    let (app, caller) = a_ticket().await;
    limit(&app, &json!({ "ticket": { "wallMinutes": 30 } }));
    claim(&caller).await;
    app.app.env().clock.advance(Duration::from_mins(29));
    sweep(&app).await;
    assert_eq!(ticket(&caller, "ACME-1").await["ticket"]["status"], "running");

    app.app.env().clock.advance(Duration::from_mins(1));
    sweep(&app).await;

    assert_eq!(timed_out(&caller).await, "ACME-1 has used 30 of 30 minutes (limits.ticket).");
    caller.call("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    claim(&caller).await;
    app.app.env().clock.advance(Duration::from_mins(29));
    sweep(&app).await;
    assert_eq!(ticket(&caller, "ACME-1").await["ticket"]["status"], "running");
    app.app.env().clock.advance(Duration::from_mins(1));
    sweep(&app).await;
    assert_eq!(timed_out(&caller).await, "ACME-1 has used 60 of 60 minutes (limits.ticket).");
}

#[tokio::test]
async fn a_month_that_is_used_up_holds_further_tickets_until_it_turns_or_is_raised() {
    let (app, caller) = a_ticket().await;
    let month = |tokens: u64| json!({ "projectMonth": { "tokens": tokens } });
    limit(&app, &month(100));
    let claimed = claim(&caller).await;
    let all = json!({ "input_tokens": 70, "output_tokens": 30 });
    caller.call("submit_node_report", done(&claimed, &all)).await;
    let trivial = json!({ "title": "Another", "preset": "trivial", "pass_profile": "minimal",
        "override_duplicate": true });

    caller.dispatch(trivial.clone()).await;
    sweep(&app).await;
    sweep(&app).await;

    let held = ticket(&caller, "ACME-2").await;
    assert_eq!(
        (&held["ticket"]["status"], &held["creditBlockCount"]),
        (&json!("queued"), &json!(1))
    );
    assert_eq!(ticket(&caller, "ACME-1").await["ticket"]["status"], "running", "it goes on");
    let why = app.column("SELECT text FROM ticket_events WHERE kind = 'held'");
    assert_eq!(why, ["Held: ACME has used 100 of 100 tokens in 2026-07 (limits.projectMonth)."]);
    let of_two = json!({ "ticket": "ACME-2" });
    assert!(caller.call("claim_ticket_node", of_two.clone()).await["claim"].is_null());
    limit(&app, &month(101));
    sweep(&app).await;
    assert!(caller.call("claim_ticket_node", of_two).await["claim"].is_object());

    limit(&app, &month(100));
    caller.dispatch(trivial).await;
    let of_three = json!({ "ticket": "ACME-3" });
    assert!(caller.call("claim_ticket_node", of_three.clone()).await["claim"].is_null());
    app.app.env().clock.advance(Duration::from_hours(24 * 3));
    sweep(&app).await;
    sweep(&app).await;
    assert!(caller.call("claim_ticket_node", of_three).await["claim"].is_object(), "August");
}
