//! What is taken as it was meant, and what is refused with every problem at once.

use serde_json::{Value, json};

use super::{still, titled};

#[tokio::test]
async fn arguments_whose_meaning_is_certain_are_taken() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("First")).await;
    let sent = json!({
        "title": "Second",
        "project": "ACME",
        "description": null,
        "kind": null,
        "depends_on": "[\"#1\"]",
        "depends_on_reason": "It builds on the first one.",
        "predrafted": "true",
        "requester": "{\"display_name\": \"Ada\", \"email\": null}",
        "confirm": true,
    });

    let ticket = caller.dispatch(sent).await;
    let listed = caller.call("list_tickets", json!({ "limit": "1", "status": null })).await;
    let whole = caller.call("list_tickets", json!({ "limit": 1.0 })).await;

    assert_eq!(ticket["requesterDisplayName"], "Ada");
    assert_eq!(ticket["requesterEmail"], Value::Null);
    assert_eq!(ticket["dependsOn"].as_array().unwrap().len(), 1);
    assert_eq!((&listed["count"], &whole["count"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_project_that_nobody_asked_for_is_tolerated_by_every_tool() {
    let (_app, caller) = still().await;
    caller.dispatch(titled("First")).await;

    let listed = caller.call("list_tickets", json!({ "project": "Elsewhere" })).await;
    let got = caller.call("get_ticket", json!({ "ticket": "1", "project": "ACME" })).await;
    let projects = caller.call("list_projects", json!({ "project": "ACME" })).await;

    assert_eq!((&listed["count"], &projects["count"]), (&json!(1), &json!(1)));
    assert_eq!(got["ticket"]["ticketRef"], "ACME-1");
}

#[tokio::test]
async fn absent_and_null_arguments_are_none() {
    let (_app, caller) = still().await;

    for body in [json!({ "tool": "list_tickets" }), json!({ "tool": "list_tickets", "args": null })]
    {
        assert_eq!(caller.invoke_body(&body).await.body["data"]["count"], 0);
    }
    let rpc = caller.mcp("tools/call", &json!({ "name": "list_tickets" })).await;
    assert_eq!(rpc.body["result"]["structuredContent"]["count"], 0);
}

#[tokio::test]
async fn all_problems_are_told_at_once_with_their_paths() {
    let (_app, caller) = still().await;
    let sent = json!({
        "titel": "Say hello",
        "project_id": "ACME",
        "depends_on": ["#1", 2],
        "requester": { "channel": "pigeon", "name": "Ada" },
        "operation_key": "",
        "description": 7,
    });

    let refusal = caller.refusal("dispatch_ticket", sent).await;

    assert_eq!((refusal.code.as_str(), refusal.status), ("INVALID_ARGUMENT", 400));
    assert_eq!((refusal.envelope.as_str(), refusal.http), ("validation_error", 400));
    let mut paths = refusal.paths.clone();
    paths.sort();
    let expected = [
        "depends_on[1]",
        "description",
        "operation_key",
        "project_id",
        "requester",
        "requester.channel",
        "titel",
        "title",
    ];
    assert_eq!(paths, expected, "{refusal:?}");
    assert!(refusal.message.contains("did you mean title?"), "{refusal:?}");
    for path in expected {
        assert!(refusal.message.contains(path), "{path}: {refusal:?}");
    }
}

#[tokio::test]
async fn an_unknown_argument_is_refused_with_the_nearest_name() {
    let (_app, caller) = still().await;

    let near = caller.refusal("list_tickets", json!({ "projectId": "x" })).await;
    let far = caller.refusal("list_tickets", json!({ "colour": "blue" })).await;

    assert!(near.message.contains("did you mean project_id?"), "{near:?}");
    assert_eq!((near.paths, far.paths), (vec!["projectId".to_owned()], vec!["colour".to_owned()]));
    assert!(!far.message.contains("did you mean"), "{}", far.message);
}

#[tokio::test]
async fn texts_are_held_to_their_lengths_in_characters() {
    let (_app, caller) = still().await;
    let long = |n: usize| "é".repeat(n);

    let most = caller.dispatch(titled(&long(500))).await;
    assert_eq!(most["title"], long(500));
    for (name, value) in [
        ("title", json!(long(501))),
        ("title", json!("")),
        ("title", json!(" \u{0} \n")),
        ("description", json!(long(100_001))),
        ("operation_key", json!(long(201))),
        ("operation_key", json!("  ")),
        ("category", json!(long(101))),
        ("depends_on", json!(vec!["#1"; 51])),
    ] {
        let mut args = titled("Say hello");
        args[name] = value;
        let refusal = caller.refusal("dispatch_ticket", args).await;

        assert_eq!((refusal.code.as_str(), refusal.http), ("INVALID_ARGUMENT", 400), "{name}");
        assert_eq!(refusal.paths, [name], "{refusal:?}");
    }
}

#[tokio::test]
async fn a_requester_is_checked_and_gives_no_rights() {
    let (_app, caller) = still().await;

    for (name, value) in [
        ("avatar_url", "http://example.com/a.png"),
        ("avatar_url", "javascript:alert(1)"),
        ("email", "nobody"),
    ] {
        let mut args = titled("Say hello");
        args["requester"] = json!({ name: value });
        let refusal = caller.refusal("dispatch_ticket", args).await;

        assert_eq!(refusal.paths, [format!("requester.{name}")], "{refusal:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_no_call_is_answered_with_the_envelope() {
    let (_app, caller) = still().await;
    let none = caller.invoke("no_such_tool", &json!({})).await;
    let near = caller.invoke("get_tickets", &json!({})).await;

    assert_eq!((none.status, &none.body["error"]["code"]), (404, &json!("not_found")));
    assert!(near.body["error"]["message"].as_str().unwrap().contains("Did you mean get_ticket?"));
    for body in [json!({}), json!({ "tool": 7 }), json!({ "tool": "list_tickets", "args": [1] })] {
        let said = caller.invoke_body(&body).await;

        assert_eq!((said.status, &said.body["error"]["code"]), (400, &json!("validation_error")));
    }
}
