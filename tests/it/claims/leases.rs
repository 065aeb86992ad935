//! Leases by a clock that stands.

use std::time::Duration;

use assay::accounts::KeyScope;
use assay::jobs::{self, Enqueue};
use assay::tickets::jobs::SweepTickets;
use serde_json::{Value, json};

use crate::harness::{Caller, TestApp, script};

/// Nodes of the project wait for an editor.
const FOR_EDITORS: &str = r#"UPDATE projects SET settings = '{"agents":{"default":"editor"}}'"#;

pub(super) async fn a_ticket() -> (TestApp, Caller) {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project_with_repo("Acme", "ACME", script("exit 1")).await;
    app.app.env().db.raw(FOR_EDITORS).unwrap();
    let caller = tenant.key(KeyScope::McpFull).await;
    caller.dispatch(json!({ "title": "T", "preset": "trivial", "pass_profile": "minimal" })).await;
    (app, caller)
}

async fn claim(caller: &Caller) -> Value {
    caller.call("claim_ticket_node", json!({ "lease_seconds": 60 })).await
}

async fn sweep(app: &TestApp) {
    let job = SweepTickets::default();
    let asked = app.app.env().db.write(move |tx| jobs::enqueue(tx, &job, Enqueue::default()));
    asked.await.unwrap();
    app.app.worker().drain().await.unwrap();
}

const FIRST: &str = "SELECT status || ' ' || attempt || ' ' || (offered_at IS NOT NULL)
    FROM nodes ORDER BY position LIMIT 1";

#[tokio::test]
async fn the_sweep_returns_a_node_whose_lease_lapsed_and_counts_it() {
    let (app, caller) = a_ticket().await;
    let claimed = claim(&caller).await;
    let id = claimed["claim"]["id"].clone();
    let said = json!({ "claim_id": id, "message": "At it", "usage": { "turns": 4 } });
    app.app.env().clock.advance(Duration::from_secs(59));
    sweep(&app).await;
    assert_eq!(app.column(FIRST), ["running 1 0"]);
    caller.call("report_node_progress", said.clone()).await;
    app.app.env().clock.advance(Duration::from_secs(59));
    sweep(&app).await;
    assert_eq!(app.column(FIRST), ["running 1 0"], "the report extended it");

    app.app.env().clock.advance(Duration::from_secs(1));
    let late = caller.refusal("report_node_progress", said.clone()).await;
    sweep(&app).await;

    assert_eq!(late.code, "CONFLICT");
    assert!(late.message.contains("lapsed"), "{late:?}");
    assert_eq!(app.column(FIRST), ["queued 1 1"]);
    assert_eq!(app.column("SELECT ended_as FROM claims"), ["lapsed"]);
    let digest = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;
    assert_eq!(
        (&digest["graphAmbientInterruptCount"], &digest["turnsUsed"]),
        (&json!(1), &json!(4))
    );
    assert_eq!(app.column("SELECT log_lines || '' FROM nodes ORDER BY position LIMIT 1"), ["1"]);
    let late = json!({ "claim_id": id, "outcome": "succeeded", "summary": "Late." });
    assert_eq!(caller.refusal("submit_node_report", late).await.code, "CONFLICT");
    let again = claim(&caller).await;
    assert_ne!(again["claim"]["id"], id);
    assert_eq!(app.column(FIRST), ["running 2 0"]);
}

#[tokio::test]
async fn so_many_lapses_end_the_ticket() {
    let (app, caller) = a_ticket().await;

    for _ in 0..11 {
        assert!(claim(&caller).await["claim"].is_object());
        app.app.env().clock.advance(Duration::from_mins(1));
    }

    assert!(claim(&caller).await["claim"].is_null());
    let digest = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;
    assert_eq!(digest["ticket"]["status"], "failed");
    let reason = digest["ticket"]["failureReason"].as_str().unwrap();
    assert!(reason.contains("interrupted 10 times") && reason.contains("lapsed"), "{reason}");
}

#[tokio::test]
async fn a_project_that_changes_its_mind_moves_its_nodes_over() {
    let (app, caller) = a_ticket().await;
    let nodes = "SELECT count(*) || '' FROM nodes WHERE offered_at IS NOT NULL";
    let jobs = "SELECT count(*) || '' FROM jobs WHERE kind = 'run_node' AND state = 'ready'";
    assert_eq!((app.column(nodes), app.column(jobs)), (vec!["1".into()], vec!["0".into()]));

    let by_process = r#"UPDATE projects SET settings =
        '{"agents":{"profiles":{"a":{"command":["sh","-c","exit 1"]}}}}'"#;
    app.app.env().db.raw(by_process).unwrap();
    sweep(&app).await;

    assert_eq!(app.column(nodes), ["0"]);
    let digest = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;
    assert_eq!(digest["ticket"]["status"], "failed", "its process ran, and gave up");

    app.app.env().db.raw(FOR_EDITORS).unwrap();
    caller.call("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    assert_eq!(app.column(nodes), ["1"]);
}

#[tokio::test]
async fn a_key_claims_within_its_reach_and_what_it_asks_for() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project_with_repo("One", "ONE", script("exit 1")).await;
    tenant.project_with_repo("Two", "TWO", script("exit 1")).await;
    app.app.env().db.raw(FOR_EDITORS).unwrap();
    let all = tenant.key(KeyScope::McpFull).await;
    for project in ["ONE", "TWO", "TWO"] {
        let trivial = json!({ "title": "T", "project": project, "preset": "trivial",
            "pass_profile": "minimal", "override_duplicate": true });
        all.dispatch(trivial).await;
    }
    let two = app
        .column(
            "SELECT substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4)
        || '-' || substr(h, 17, 4) || '-' || substr(h, 21)
        FROM (SELECT lower(hex(id)) AS h FROM projects WHERE key = 'TWO')",
        )
        .remove(0);
    let limited = tenant
        .limited_key(KeyScope::McpFull, &[assay::base::ProjectId::parse(&two).unwrap()])
        .await;

    let one = |args: Value| {
        let caller = limited.clone();
        async move { caller.call("claim_ticket_node", args).await["ticket"]["ticketRef"].clone() }
    };
    assert_eq!(one(json!({ "kinds": ["review"] })).await, Value::Null);
    assert_eq!(one(json!({ "ticket": "TWO-2" })).await, "TWO-2");
    assert_eq!(one(json!({})).await, "TWO-1");
    assert_eq!(one(json!({})).await, Value::Null, "ONE is out of its reach");
    let refusal = limited.refusal("claim_ticket_node", json!({ "project": "ONE" })).await;
    assert_eq!(refusal.http, 403, "{refusal:?}");
    let named = json!({ "project": "ONE", "kinds": ["contract"] });
    assert_eq!(all.call("claim_ticket_node", named).await["ticket"]["ticketRef"], "ONE-1");
}
