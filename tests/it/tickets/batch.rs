//! `dispatch_ticket_graph`: all of a graph or nothing of it.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use super::{still, titled};
use crate::golden;
use crate::harness::{TestApp, placed};

const REASON: &str = "It builds on what that one lands.";

fn member(name: &str, parents: &[&str]) -> Value {
    json!({ "name": name, "title": format!("Do {name}"), "depends_on": parents,
        "depends_on_reason": REASON })
}

fn graph(members: &[Value]) -> Value {
    json!({ "project": "ACME", "tickets": members })
}

#[tokio::test]
async fn a_graph_is_filed_parents_first_under_one_scope_and_a_replay_gives_the_same() {
    let (app, caller) = still().await;
    caller.dispatch(titled("There already")).await;
    let mut args = graph(&[
        member("top", &["left", "right", "left"]),
        member("left", &["base"]),
        member("right", &["base", "ACME-1"]),
        json!({ "name": "base", "title": "Do base", "kind": "refactor", "preset": "fast",
            "pass_profile": "minimal", "category": "Graph", "description": "All of it." }),
    ]);
    args["operation_key"] = json!("graph-1");
    args["requester"] = json!({ "display_name": "Ada" });

    let answer = caller.call("dispatch_ticket_graph", args.clone()).await;
    let replay = caller.call("dispatch_ticket_graph", args).await;

    golden::matches("tickets/dispatch_graph.json", &placed(&answer));
    assert_eq!((&replay["tickets"], &replay["replayed"]), (&answer["tickets"], &json!(true)));
    let statuses: Vec<&Value> =
        answer["tickets"].as_array().unwrap().iter().map(|it| &it["ticket"]["status"]).collect();
    assert_eq!(statuses, ["queued", "blocked", "blocked", "blocked"]);
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["5"]);
    let by_itself =
        caller.call("dispatch_ticket", json!({ "title": "T", "operation_key": "graph-1" }));
    assert_eq!(by_itself.await["duplicate"]["existing_ticket_ref"], "ACME-2");
}

#[tokio::test]
async fn every_problem_is_told_with_its_path_and_nothing_is_filed() {
    let (app, caller) = still().await;
    caller.dispatch(titled("Dropped")).await;
    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;
    let mut unreasoned = member("e", &["a"]);
    unreasoned["depends_on_reason"] = json!("short");

    let refusal = caller
        .refusal(
            "dispatch_ticket_graph",
            graph(&[
                member("a", &["c"]),
                member("b", &["a"]),
                member("c", &["b", "nothing"]),
                member("a", &["#1", "#9"]),
                unreasoned,
            ]),
        )
        .await;
    let cycle = graph(&[member("x", &[]), member("a", &["b"]), member("b", &["a", "x"])]);
    let cycle = caller.refusal("dispatch_ticket_graph", cycle).await;

    assert_eq!((refusal.code.as_str(), refusal.status), ("INVALID_ARGUMENT", 400));
    let paths = [
        "tickets[3].name",
        "tickets[2].depends_on[1]",
        "tickets[3].depends_on[0]",
        "tickets[3].depends_on[1]",
        "tickets[4].depends_on_reason",
        "tickets[0].depends_on",
    ];
    assert_eq!(refusal.paths, paths);
    assert!(refusal.message.contains("a → c → b → a"), "{refusal:?}");
    assert_eq!(cycle.code, "DEPENDENCY_CYCLE");
    assert!(cycle.message.contains("a → b → a"), "{cycle:?}");
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["1"]);
}

#[tokio::test]
async fn shapes_that_are_none_are_refused() {
    let (_app, caller) = still().await;
    caller.dispatch(json!({ "title": "T", "operation_key": "alone" })).await;
    let many: Vec<Value> = (0..51).map(|n| member(&n.to_string(), &[])).collect();
    let mut taken = graph(&[member("a", &[])]);
    taken["operation_key"] = json!("alone");
    let mut blank = member("a", &[]);
    blank["title"] = json!(" \n ");
    let mut odd = member("a", &[]);
    odd["replaces"] = json!("#1");
    let mut forgets = member("a", &[]);
    forgets["description"] = json!("Do what brief.pdf says.");
    for (args, code, path) in [
        (graph(&[]), "INVALID_ARGUMENT", "tickets"),
        (graph(&many), "INVALID_ARGUMENT", "tickets"),
        (graph(&[blank]), "INVALID_ARGUMENT", "tickets[0].title"),
        (graph(&[odd]), "INVALID_ARGUMENT", "tickets[0]"),
        (graph(&[forgets]), "ATTACHMENT_REFERENCE_WITHOUT_ATTACHMENTS", "attachments"),
        (taken, "CONFLICT", "operation_key"),
    ] {
        let refusal = caller.refusal("dispatch_ticket_graph", args).await;

        assert_eq!(refusal.code, code, "{refusal:?}");
        assert!(refusal.paths[0].starts_with(path), "{refusal:?}");
    }
}

#[tokio::test]
async fn a_limited_key_files_no_graph_beyond_it() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near]).await;
    let far = json!({ "project": "FAR", "operation_key": "far",
        "tickets": [{ "name": "a", "title": "Far away" }] });
    whole.call("dispatch_ticket_graph", far.clone()).await;
    let waits = json!({ "project": "NEAR", "tickets": [member("a", &["FAR-1"])] });

    for args in [far, waits] {
        let refusal = limited.refusal("dispatch_ticket_graph", args).await;

        assert_eq!((refusal.code.as_str(), refusal.status), ("FORBIDDEN", 403));
        assert!(!refusal.message.contains("Far away"), "{refusal:?}");
    }
}
