//! What the tools answer, key by key: every answer stands in `tests/golden/tickets` as it goes
//! over the wire.

use serde_json::{Value, json};

use super::{still, titled};
use crate::golden;
use crate::harness::placed;

/// The fields of the contract's shared type, in its order.
const TICKET: [&str; 25] = [
    "id",
    "ticketRef",
    "projectSeq",
    "projectId",
    "title",
    "status",
    "kind",
    "currentPass",
    "commitSha",
    "branchName",
    "failureReason",
    "ticketSource",
    "createdAt",
    "startedAt",
    "completedAt",
    "dependsOn",
    "scopeId",
    "requesterDisplayName",
    "requesterEmail",
    "requesterAvatarUrl",
    "requesterChannel",
    "requesterExternalRef",
    "categoryId",
    "categoryLabel",
    "categoryDeleted",
];

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_ticket_has_every_field_of_the_contract_in_its_order_at_every_tool() {
    let (_app, caller) = still().await;

    let dispatched = caller.call("dispatch_ticket", titled("Say hello")).await;
    let listed = caller.call("list_tickets", json!({})).await;
    let got = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;
    let cancelled = caller.call("cancel_ticket", json!({ "ticket": "ACME-1" })).await;

    assert_eq!(keys(&dispatched), ["ticket"]);
    assert_eq!(keys(&listed), ["tickets", "count"]);
    let tickets = [&dispatched["ticket"], &listed["tickets"][0], &got["ticket"]];
    for ticket in tickets {
        assert_eq!(keys(ticket), TICKET);
        assert_eq!(ticket, tickets[0]);
    }
    assert_eq!(keys(&cancelled["ticket"]), TICKET);
}

#[tokio::test]
async fn the_least_that_files_a_ticket_leaves_the_rest_null() {
    let (_app, caller) = still().await;

    let answer = caller.call("dispatch_ticket", titled("Say hello")).await;

    golden::matches("tickets/dispatch_least.json", &placed(&answer));
}

#[tokio::test]
async fn everything_that_is_said_of_a_ticket_is_shown_and_a_replay_says_so() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("First")).await;
    let all = json!({
        "title": "  Add a dark\nmode toggle ",
        "project": "acme widgets",
        "description": "A button in the header.",
        "kind": "refactor",
        "preset": "max",
        "pass_profile": "full",
        "depends_on": ["#1"],
        "depends_on_reason": "It uses the header that the first one builds.",
        "predrafted": true,
        "no_split": true,
        "override_duplicate": true,
        "confirm_no_attachments": true,
        "requester": {
            "display_name": "Ada Builder",
            "email": "ada@example.com",
            "avatar_url": "https://example.com/ada.png",
            "channel": "slack",
            "external_ref": "U1/T2",
        },
        "category": "Auth & Billing",
        "operation_key": "scope-abc123:node-0",
    });

    let first = caller.call("dispatch_ticket", all.clone()).await;
    let again = caller.call("dispatch_ticket", all).await;

    golden::matches("tickets/dispatch_all.json", &placed(&first));
    golden::matches("tickets/dispatch_replay.json", &placed(&again));
}

#[tokio::test]
async fn a_list_is_tickets_and_their_count() {
    let (_app, caller) = still().await;
    let none = caller.call("list_tickets", json!({})).await;
    caller.dispatch(titled("First")).await;
    caller.dispatch(titled("Second")).await;

    let two = caller.call("list_tickets", json!({})).await;

    assert_eq!(none, json!({ "tickets": [], "count": 0 }));
    golden::matches("tickets/list.json", &placed(&two));
}

#[tokio::test]
async fn a_digest_leaves_out_what_the_contract_calls_optional() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("First")).await;
    let waits = json!({
        "title": "Second",
        "project": "ACME",
        "depends_on": ["ACME-1"],
        "depends_on_reason": "It builds on the first one.",
    });
    caller.dispatch(waits).await;

    let parent = caller.call("get_ticket", json!({ "ticket": "#1" })).await;
    let child = caller.call("get_ticket", json!({ "ticket": "2" })).await;
    let reason = json!({ "ticket": "ACME-1", "reason": "No longer wanted." });
    caller.call("cancel_ticket", reason).await;
    let cancelled = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;

    golden::matches("tickets/get_queued.json", &placed(&parent));
    golden::matches("tickets/get_blocked.json", &placed(&child));
    golden::matches("tickets/get_cancelled.json", &placed(&cancelled));
}

#[tokio::test]
async fn the_graph_and_the_reports_of_a_ticket_that_has_not_started() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("First")).await;

    let graph = caller.call("get_ticket_graph", json!({ "ticket": "ACME-1" })).await;
    let reports = caller.call("get_ticket_reports", json!({ "ticket": "ACME-1" })).await;

    golden::matches("tickets/graph_queued.json", &placed(&graph));
    assert_eq!((&reports["reports"], &reports["truncated"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn the_source_names_the_door() {
    let (_app, caller) = still().await;

    let mcp = caller.dispatch(titled("Over MCP")).await;
    let invoke = caller.invoke("dispatch_ticket", &titled("As JSON")).await;

    assert_eq!(mcp["ticketSource"], "mcp");
    assert_eq!(invoke.body["data"]["ticket"]["ticketSource"], "api");
    let next = &invoke.body["nextActions"][0];
    assert_eq!(
        (&next["tool"], &next["args"]),
        (&json!("get_ticket"), &json!({ "ticket": "ACME-2" }))
    );
}

#[tokio::test]
async fn every_spelling_of_a_ticket_finds_it() {
    let (_app, caller) = still().await;
    let ticket = caller.dispatch(titled("First")).await;

    for named in ["ACME-1", " acme-1 ", "#1", "1", ticket["id"].as_str().unwrap()] {
        let found = caller.call("get_ticket", json!({ "ticket": named })).await;

        assert_eq!(found["ticket"], ticket, "{named}");
    }
}
