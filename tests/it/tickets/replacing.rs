//! `replaces`: a cancelled ticket is refiled, and what waited for it waits for the new one.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use super::{still, titled};
use crate::golden;
use crate::harness::{Caller, TestApp, placed, script};

fn after(title: &str, parents: &[&str]) -> Value {
    json!({ "title": title, "project": "ACME", "depends_on": parents,
        "depends_on_reason": "It builds on what its parents land." })
}

fn replacing(named: &str) -> Value {
    json!({ "title": "Anew", "project": "ACME", "replaces": named, "operation_key": "anew" })
}

async fn standing(caller: &Caller, named: &str) -> (Value, Value) {
    let ticket = caller.call("get_ticket", json!({ "ticket": named })).await["ticket"].clone();
    (ticket["status"].clone(), ticket["dependsOn"].clone())
}

#[tokio::test]
async fn what_waited_for_a_cancelled_ticket_waits_for_its_replacement() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Old")).await;
    caller.dispatch(after("Child", &["#1"])).await;
    caller.dispatch(after("By hand", &["#1"])).await;
    for named in ["#3", "#1"] {
        caller.call("cancel_ticket", json!({ "ticket": named })).await;
    }

    let answer = caller.call("dispatch_ticket", replacing("#1")).await;
    let again = caller.call("dispatch_ticket", replacing("#1")).await;

    golden::matches("tickets/dispatch_replaces.json", &placed(&answer));
    let new = answer["ticket"]["id"].clone();
    assert_eq!(standing(&caller, "#2").await, (json!("blocked"), json!([new])));
    assert_eq!(standing(&caller, "#3").await.0, "cancelled");
    assert_eq!(again["ticket"]["id"], new);
    assert_eq!(again["repointed_dependents"], answer["repointed_dependents"]);
    let moved: Vec<String> =
        app.audit().into_iter().filter(|row| row.contains("dispatch")).collect();
    assert_eq!(moved.len(), 3 + 1 + 1 + 1 + 1, "each move has its row: {moved:?}");
}

#[tokio::test]
async fn all_that_waited_is_moved_however_much_it_is() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Old")).await;
    for n in 0..205 {
        caller.dispatch(after(&format!("Child {n} of many"), &["#1"])).await;
    }
    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;

    let answer = caller.call("dispatch_ticket", replacing("#1")).await;

    let results = answer["repointed_dependents"].as_array().unwrap();
    assert_eq!(results.len(), 205);
    assert!(results.iter().all(|result| result["ok"] == true), "{answer}");
    assert_eq!(standing(&caller, "#206").await.0, "blocked");
}

#[tokio::test]
async fn a_move_that_would_close_a_cycle_is_left_out_alone() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Old")).await;
    caller.dispatch(after("Child", &["#1"])).await;
    caller.dispatch(after("Other", &["#1"])).await;
    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;
    let mut args = after("Anew", &["#2"]);
    args["replaces"] = json!("ACME-1");

    let answer = caller.call("dispatch_ticket", args).await;

    let results = answer["repointed_dependents"].as_array().unwrap();
    let ok: Vec<&Value> = results.iter().map(|result| &result["ok"]).collect();
    assert_eq!(ok, [&json!(false), &json!(true)]);
    assert!(results[0]["reason"].as_str().unwrap().contains("cycle"), "{answer}");
    assert_eq!(results[1].get("reason"), None);
    assert_eq!(standing(&caller, "#3").await.1, json!([answer["ticket"]["id"]]));
}

#[tokio::test]
async fn what_was_cancelled_for_its_parents_sake_comes_back_and_lands() {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    let mark = app.dir().join("works");
    let line = format!(
        "[ -e {0} ] || exit 7; \
         [ \"$ASSAY_NODE\" != implement ] || echo '<!-- '$ASSAY_TICKET' -->' >>index.html; \
         echo '{{\"outcome\":\"done\",\"summary\":\"Done.\",\"verdict\":\"approve\"}}' \
         >$ASSAY_REPORT",
        mark.display()
    );
    tenant.project_with_repo("Acme Widgets", "ACME", script(&line)).await;
    let caller = tenant.key(KeyScope::McpFull).await;
    caller.dispatch(titled("Fails")).await;
    caller.dispatch(after("Middle", &["#1"])).await;
    caller.dispatch(after("Last", &["#2"])).await;
    caller.wait_for("ACME-1", "failed").await;
    caller.wait_for("ACME-3", "cancelled").await;
    std::fs::write(mark, "").unwrap();

    // The middle one is filed anew without the parent that failed.
    let answer = caller.call("dispatch_ticket", replacing("#2")).await;

    assert_eq!(answer["repointed_dependents"][0]["ok"], true, "{answer}");
    let last = caller.wait_for("ACME-3", "succeeded").await;
    assert_eq!(last["dependsOnTickets"][0]["ticketRef"], "ACME-4");
    assert_eq!(last["dependsOnTickets"][0]["status"], "succeeded");
}

#[tokio::test]
async fn only_what_the_caller_reaches_is_moved_and_told_of() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near]).await;
    whole.dispatch(json!({ "title": "Old", "project": "NEAR" })).await;
    let far = json!({ "title": "Far", "project": "FAR", "depends_on": ["NEAR-1"],
        "depends_on_reason": "It builds on that one." });
    whole.dispatch(far).await;
    whole.call("cancel_ticket", json!({ "ticket": "NEAR-1" })).await;

    let args = json!({ "title": "Anew", "project": "NEAR", "replaces": "NEAR-1" });
    let answer = limited.call("dispatch_ticket", args).await;

    assert_eq!(answer["repointed_dependents"], json!([]));
    let far = whole.call("get_ticket", json!({ "ticket": "FAR-1" })).await;
    assert_eq!(far["dependsOnTickets"][0]["ticketRef"], "NEAR-1");
}
