//! Tickets that wait for tickets: released when a parent lands, ended when it does not.

use assay::accounts::KeyScope;
use assay::base::{Code, TenantId, TicketId};
use assay::projects::agents::Profile;
use assay::tickets::dependencies;
use serde_json::{Value, json};

use super::{still, titled};
use crate::harness::{TestApp, script};

/// A ticket that waits for another.
fn after(title: &str, parents: &Value) -> Value {
    json!({
        "title": title,
        "project": "ACME",
        "depends_on": parents,
        "depends_on_reason": "It builds on what its parents land.",
    })
}

#[tokio::test]
async fn a_child_is_blocked_until_its_parent_lands_and_then_lands_on_top_of_it() {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    let agent = Profile::demonstration(env!("CARGO_BIN_EXE_assay"));
    tenant.project_with_repo("Acme Widgets", "ACME", agent).await;
    let caller = tenant.key(KeyScope::McpFull).await;

    let parent = caller.dispatch(titled("Add a footer with the year")).await;
    let child = caller.dispatch(after("Add a dark mode toggle", &json!(["ACME-1"]))).await;
    assert_eq!(child["status"], "blocked");
    assert_eq!(child["dependsOn"], json!([parent["id"]]));
    let landed = caller.wait_for("ACME-1", "succeeded").await;
    let follows = caller.wait_for("ACME-2", "succeeded").await;

    let ended = landed["ticket"]["completedAt"].as_str().unwrap();
    assert!(follows["ticket"]["startedAt"].as_str().unwrap() >= ended);
    assert_eq!(follows["dependsOnTickets"][0]["status"], "succeeded");
    assert_eq!(landed["followOnTickets"][0]["ticketRef"], "ACME-2");
}

#[tokio::test]
async fn a_parent_that_fails_ends_everything_that_waits_for_it() {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    tenant.project_with_repo("Acme Widgets", "ACME", script("sleep 0.3; exit 7")).await;
    let caller = tenant.key(KeyScope::McpFull).await;
    caller.dispatch(titled("Parent")).await;
    caller.dispatch(after("Child", &json!(["#1"]))).await;
    caller.dispatch(after("Grandchild", &json!(["#2"]))).await;

    let failed = caller.wait_for("ACME-1", "failed").await;
    let child = caller.wait_for("ACME-2", "cancelled").await;
    let grandchild = caller.wait_for("ACME-3", "cancelled").await;

    assert!(failed["ticket"]["failureReason"].is_string(), "{failed}");
    assert!(child["completionSummary"].as_str().unwrap().contains("ACME-1"), "{child}");
    assert!(grandchild["completionSummary"].as_str().unwrap().contains("ACME-2"));
    assert_eq!(child["ticket"]["startedAt"], Value::Null);
}

#[tokio::test]
async fn a_parent_that_cannot_land_any_more_is_refused() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Dropped")).await;
    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;

    let refusal = caller.refusal("dispatch_ticket", after("Child", &json!(["#1"]))).await;

    assert_eq!((refusal.code.as_str(), refusal.status), ("INVALID_DEPENDS_ON", 400));
    assert_eq!(refusal.paths, ["depends_on[0]"]);
}

#[tokio::test]
async fn a_parent_that_is_not_there_is_named_by_its_place() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Parent")).await;

    let refusal = caller.refusal("dispatch_ticket", after("Child", &json!(["#1", "#9"]))).await;

    assert_eq!(
        (refusal.code.as_str(), refusal.paths),
        ("NOT_FOUND", vec!["depends_on[1]".to_owned()])
    );
}

#[tokio::test]
async fn a_parent_named_twice_is_one_and_an_empty_list_is_none() {
    let (_app, caller) = still().await;
    let parent = caller.dispatch(titled("Parent")).await;

    let twice = caller.dispatch(after("Twice", &json!(["#1", "ACME-1", parent["id"]]))).await;
    let none = caller.dispatch(json!({ "title": "None", "depends_on": [] })).await;

    assert_eq!(twice["dependsOn"], json!([parent["id"]]));
    assert_eq!((&none["status"], &none["dependsOn"]), (&json!("queued"), &json!([])));
}

#[tokio::test]
async fn a_cancelled_parent_leaves_its_children_blocked_until_it_is_tried_again() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Parent")).await;
    caller.dispatch(after("Child", &json!(["#1"]))).await;

    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;
    let waits = caller.call("get_ticket", json!({ "ticket": "#2" })).await;
    let again = caller.call("retry_ticket", json!({ "ticket": "#1" })).await;

    assert_eq!(waits["ticket"]["status"], "blocked");
    assert_eq!(again["ticket"]["status"], "queued");
}

#[tokio::test]
async fn no_ticket_waits_for_itself_however_far_round() {
    let (app, caller) = still().await;
    let tenant = TenantId::parse(&tenant_of(&app)).unwrap();
    let mut ids = Vec::new();
    for args in [titled("A"), after("B", &json!(["#1"])), after("C", &json!(["#2"]))] {
        let ticket = caller.dispatch(args).await;
        ids.push(TicketId::parse(ticket["id"].as_str().unwrap()).unwrap());
    }
    let [a, b, c] = ids.try_into().unwrap();
    let db = &app.app.env().db;
    let wait = |ticket, parent| db.write(move |tx| dependencies::add(tx, tenant, ticket, parent));

    for (ticket, parent) in [(a, a), (a, b), (a, c), (b, c)] {
        assert_eq!(wait(ticket, parent).await.unwrap_err().code, Code::DependencyCycle);
    }
    wait(c, a).await.unwrap();
    let unchanged = caller.call("get_ticket", json!({ "ticket": "#1" })).await;
    assert_eq!(unchanged["ticket"]["dependsOn"], json!([]));
}

/// The only tenant's id.
fn tenant_of(app: &TestApp) -> String {
    let hex = app.column("SELECT lower(hex(id)) FROM tenants").remove(0);
    let cuts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    cuts.join("-")
}
