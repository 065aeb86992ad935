//! Every failure that the contract names and this version serves, as both doors say it.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use super::{still, titled};
use crate::harness::{Refusal, TestApp};

/// Arguments that file a ticket, with one more.
fn with(name: &str, value: Value) -> Value {
    let mut args = titled("Say hello");
    args[name] = value;
    args
}

/// What a failure must be: code, JSON-RPC status, envelope code, HTTP status, paths.
type Expected = (&'static str, u64, &'static str, u16, &'static [&'static str]);

fn is(refusal: &Refusal, (code, status, envelope, http, paths): Expected) {
    let found = (refusal.code.as_str(), refusal.status, refusal.envelope.as_str(), refusal.http);
    assert_eq!(found, (code, status, envelope, http), "{refusal:?}");
    assert_eq!(refusal.paths, paths, "{refusal:?}");
    assert!(!refusal.message.is_empty());
}

#[tokio::test]
async fn every_argument_of_dispatch_that_has_a_code_is_refused_with_it() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Open")).await;
    let file = json!([{ "key": "k", "original_name": "a.pdf", "content_type": "application/pdf",
        "size_bytes": 1 }]);
    let cases: [(Value, Expected); 11] = [
        (with("kind", json!("epic")), ("INVALID_KIND", 400, "validation_error", 400, &["kind"])),
        (with("kind", json!(7)), ("INVALID_KIND", 400, "validation_error", 400, &["kind"])),
        (
            with("preset", json!("turbo")),
            ("INVALID_PRESET", 400, "validation_error", 400, &["preset"]),
        ),
        (
            with("pass_profile", json!("half")),
            ("INVALID_PASS_PROFILE", 400, "validation_error", 400, &["pass_profile"]),
        ),
        (
            with("depends_on", json!(["#1"])),
            ("DEPENDS_ON_REASON_REQUIRED", 400, "validation_error", 400, &["depends_on_reason"]),
        ),
        (with("attachments", file), ("MISSING_JOB_ID", 400, "validation_error", 400, &["job_id"])),
        (
            with("seed_from_ref", json!("--upload-pack=x")),
            ("INVALID_SEED_FROM_REF", 400, "validation_error", 400, &["seed_from_ref"]),
        ),
        (
            with("seed_from_ref", json!("a b")),
            ("INVALID_SEED_FROM_REF", 400, "validation_error", 400, &["seed_from_ref"]),
        ),
        (
            with("replaces", json!("#1")),
            ("REPLACES_NOT_CANCELLED", 400, "tool_error", 422, &["replaces"]),
        ),
        (with("replaces", json!("ACME-9")), ("NOT_FOUND", 404, "tool_error", 422, &[])),
        (
            json!({ "title": "T", "project": "Nothing" }),
            ("NOT_FOUND", 404, "project_resolution_error", 422, &[]),
        ),
    ];

    for (args, expected) in cases {
        is(&caller.refusal("dispatch_ticket", args).await, expected);
    }
    let listed = caller.call("list_tickets", json!({})).await;
    assert_eq!(listed["count"], 1, "a refused call files nothing");
}

#[tokio::test]
async fn a_short_reason_is_none() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Open")).await;

    for reason in ["", "too short", "         a         "] {
        let mut args = with("depends_on", json!(["#1"]));
        args["depends_on_reason"] = json!(reason);
        let refusal = caller.refusal("dispatch_ticket", args).await;

        assert_eq!(refusal.code, "DEPENDS_ON_REASON_REQUIRED", "{reason:?}");
    }
}

#[tokio::test]
async fn arguments_that_ask_for_nothing_are_not_refused() {
    let (_app, caller) = still().await;
    let empty = [
        ("attachments", json!([])),
        ("conversation", json!([])),
        ("replaces", json!("")),
        ("seed_from_ref", Value::Null),
        ("job_id", Value::Null),
    ];

    for (name, value) in empty {
        let ticket = caller.dispatch(with(name, value)).await;

        assert_eq!(ticket["status"], "queued", "{name}");
    }
}

#[tokio::test]
async fn each_other_tool_refuses_with_the_code_of_the_contract() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("Open")).await;
    caller.dispatch(titled("Ended")).await;
    caller.call("cancel_ticket", json!({ "ticket": "ACME-2" })).await;
    let (one, two) = (json!({ "ticket": "ACME-1" }), json!({ "ticket": "ACME-2" }));
    let reply = json!({ "ticket": "ACME-1", "message": "Yes." });
    let category = json!({ "category": "Auth" });
    let node = json!({ "ticket": "ACME-1", "node": "nothing-1" });
    let cases: [(&str, Value, Expected); 6] = [
        (
            "list_tickets",
            category,
            ("CATEGORY_FILTER_REQUIRES_PROJECT", 400, "validation_error", 400, &["project_id"]),
        ),
        ("cancel_ticket", two, ("NOT_CANCELLABLE", 409, "tool_error", 422, &[])),
        ("retry_ticket", one, ("NOT_RETRYABLE", 409, "tool_error", 422, &[])),
        ("reply_ticket", reply, ("NOT_AWAITING_INPUT", 409, "tool_error", 422, &[])),
        ("get_ticket_reports", node, ("NOT_FOUND", 404, "tool_error", 422, &["node"])),
        (
            "get_ticket",
            json!({ "ticket": "A-1-b" }),
            ("INVALID_ARGUMENT", 400, "validation_error", 400, &["ticket"]),
        ),
    ];

    for (tool, args, expected) in cases {
        is(&caller.refusal(tool, args).await, expected);
    }
}

#[tokio::test]
async fn a_project_that_is_not_ready_says_what_it_lacks() {
    let (_app, caller) = still().await;
    caller.call("create_project", json!({ "name": "Bare", "confirm": true })).await;

    let args = json!({ "title": "Say hello", "project": "bare" });
    let refusal = caller.refusal("dispatch_ticket", args.clone()).await;

    is(&refusal, ("PROJECT_NOT_READY", 409, "tool_error", 422, &[]));
    assert!(refusal.message.contains("repository"), "{refusal:?}");
    let params = json!({ "name": "dispatch_ticket", "arguments": args });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let said = caller.post("/mcp?errors=object", &call).await.body.to_string();
    let page = said.find("/projects/bare/settings/repository");
    assert!(page.unwrap() < said.find("assay project set BARE").unwrap(), "{said}");
}

#[tokio::test]
async fn without_a_project_the_only_one_is_meant_and_of_several_one_must_be_named() {
    let (_app, caller) = still().await;
    let only = caller.dispatch(json!({ "title": "Say hello" })).await;
    caller.call("create_project", json!({ "name": "Other", "confirm": true })).await;

    let refusal = caller.refusal("dispatch_ticket", json!({ "title": "Say hello" })).await;

    assert_eq!(only["ticketRef"], "ACME-1");
    is(&refusal, ("MISSING_PROJECT", 400, "project_resolution_error", 422, &[]));
    assert!(refusal.message.contains("ACME") && refusal.message.contains("OTHER"), "{refusal:?}");
}

#[tokio::test]
async fn a_key_that_is_none_is_unauthenticated_at_both_doors() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let revoked = tenant.key(KeyScope::McpFull).await;
    revoked.call("list_tickets", json!({})).await;
    tenant.revoke_keys().await;

    for caller in [app.caller(""), app.caller("alch_unknown"), revoked] {
        let said = caller.invoke("list_tickets", &json!({})).await;
        let rpc = caller.mcp("tools/call", &json!({ "name": "list_tickets" })).await;

        assert_eq!((said.status, rpc.status), (401, 401));
        assert_eq!(said.body["error"]["code"], "unauthenticated");
        assert_eq!(said.body["recoverable"], false);
        assert_eq!(rpc.body["error"]["code"], -32600);
        let data = json!({ "code": "UNAUTHENTICATED", "statusCode": 401 });
        assert_eq!(rpc.body["error"]["data"], data);
        for said in [said, rpc] {
            assert!(said.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
        }
    }
}

#[tokio::test]
async fn a_limited_key_is_forbidden_what_lies_beyond_it() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    let far = tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near]).await;
    let far_args = json!({ "title": "Far away", "project": "FAR", "operation_key": "far" });
    let beyond = whole.dispatch(far_args).await;
    limited.dispatch(json!({ "title": "Near by" })).await;
    let waits = json!({ "title": "T", "project": "NEAR", "depends_on": ["FAR-1"],
        "depends_on_reason": "It builds on the far one." });
    let cases = [
        ("get_ticket", json!({ "ticket": beyond["id"] })),
        ("get_ticket_graph", json!({ "ticket": "FAR-1" })),
        ("get_ticket_reports", json!({ "ticket": "FAR-1" })),
        ("cancel_ticket", json!({ "ticket": "FAR-1" })),
        ("retry_ticket", json!({ "ticket": "FAR-1" })),
        ("reply_ticket", json!({ "ticket": "FAR-1", "message": "Yes." })),
        ("get_project", json!({ "project": "FAR" })),
        ("list_tickets", json!({ "project_id": far })),
        ("dispatch_ticket", json!({ "title": "T", "project_id": far })),
        ("dispatch_ticket", json!({ "title": "T", "project": "NEAR", "operation_key": "far" })),
        ("dispatch_ticket", json!({ "title": "T", "project": "NEAR", "replaces": "FAR-1" })),
        ("dispatch_ticket", waits),
    ];

    for (tool, args) in cases {
        let refusal = limited.refusal(tool, args.clone()).await;

        let found = (refusal.code.as_str(), refusal.status, refusal.envelope.as_str());
        assert_eq!(found, ("FORBIDDEN", 403, "scope_denied"), "{tool} {args}");
        assert_eq!(refusal.http, 403);
        assert!(!refusal.message.contains("Far away"), "{refusal:?}");
    }
    let job = limited.refusal("get_job_status", json!({ "jobId": beyond["id"] })).await;
    assert_eq!(job.code, "NOT_FOUND");
    let own = limited.call("get_ticket", json!({ "ticket": "1" })).await;
    assert_eq!(own["ticket"]["ticketRef"], "NEAR-1");
}

#[tokio::test]
async fn a_limited_key_hears_nothing_of_tickets_beyond_it() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    let other = tenant.project("Other", "OTHER").await;
    tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near, other]).await;
    for (title, project) in [("Far away", "FAR"), ("Near by", "NEAR"), ("Beside", "OTHER")] {
        whole.dispatch(json!({ "title": title, "project": project })).await;
    }
    let reason = "It builds on that one.";
    for (project, parent) in [("NEAR", "FAR-1"), ("FAR", "NEAR-1"), ("OTHER", "NEAR-1")] {
        let args = json!({ "title": "T", "project": project, "depends_on": [parent],
            "depends_on_reason": reason });
        whole.dispatch(args).await;
    }

    let child = limited.call("get_ticket", json!({ "ticket": "NEAR-2" })).await;
    let parent = limited.call("get_ticket", json!({ "ticket": "NEAR-1" })).await;
    let number = limited.refusal("get_ticket", json!({ "ticket": "#1" })).await;
    let told = whole.refusal("get_ticket", json!({ "ticket": "#1" })).await;

    assert_eq!(child.get("dependsOnTickets"), None);
    let follows = parent["followOnTickets"].as_array().unwrap();
    assert_eq!((follows.len(), &follows[0]["ticketRef"]), (1, &json!("OTHER-2")));
    for refusal in [&number, &told] {
        is(refusal, ("AMBIGUOUS_TICKET_REF", 400, "tool_error", 422, &[]));
    }
    assert!(!number.message.contains("Far away"), "{number:?}");
    assert!(told.message.contains("Far away") && told.message.contains("NEAR-1"), "{told:?}");
}
