//! The operation key: a call that is repeated makes nothing new.

use std::collections::HashSet;

use assay::accounts::KeyScope;
use futures_util::future::join_all;
use serde_json::json;

use super::{still, titled};
use crate::harness::TestApp;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_equal_calls_at_once_make_one_ticket() {
    let (app, caller) = still().await;
    let mut args = titled("Say hello");
    args["operation_key"] = json!("scope-abc123:node-0");
    args["category"] = json!("Greetings");

    let calls = (0..32).map(|_| caller.call("dispatch_ticket", args.clone()));
    let answers = join_all(calls).await;

    let ids: HashSet<&str> =
        answers.iter().map(|answer| answer["ticket"]["id"].as_str().unwrap()).collect();
    let first: Vec<_> = answers.iter().filter(|it| it.get("duplicate").is_none()).collect();
    assert_eq!((ids.len(), first.len()), (1, 1));
    let replayed = answers.iter().filter_map(|answer| answer.get("duplicate"));
    for duplicate in replayed {
        assert_eq!(duplicate["source"], "operation_key");
        assert_eq!(duplicate["existing_job_id"], first[0]["ticket"]["id"]);
        assert_eq!(duplicate["existing_ticket_ref"], "ACME-1");
    }
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["1"]);
    assert_eq!(app.column("SELECT count(*) || '' FROM categories"), ["1"]);
    assert_eq!(app.column("SELECT count(DISTINCT ticket_id) || '' FROM nodes"), ["1"]);
}

#[tokio::test]
async fn a_replay_is_answered_whatever_else_the_call_now_says() {
    let (_app, caller) = still().await;
    let mut args = titled("Say hello");
    args["operation_key"] = json!("k");
    let first = caller.dispatch(args.clone()).await;
    caller.call("cancel_ticket", json!({ "ticket": first["id"] })).await;
    args["title"] = json!("Something else");
    args["project"] = json!("No such project");

    let again = caller.call("dispatch_ticket", args).await;

    assert_eq!(again["ticket"]["id"], first["id"]);
    assert_eq!(again["ticket"]["title"], "Say hello");
    assert_eq!(again["ticket"]["status"], "cancelled");
}

#[tokio::test]
async fn a_key_of_one_tenant_means_nothing_to_another() {
    let app = TestApp::still().await;
    let mut ids = HashSet::new();
    for name in ["Acme", "Other"] {
        let tenant = app.tenant(name).await;
        tenant.project("Acme Widgets", "ACME").await;
        let mut args = titled("Say hello");
        args["operation_key"] = json!("k");

        let answer = tenant.key(KeyScope::McpFull).await.call("dispatch_ticket", args).await;

        assert!(answer.get("duplicate").is_none(), "{answer}");
        assert_eq!(answer["ticket"]["ticketRef"], "ACME-1");
        ids.insert(answer["ticket"]["id"].to_string());
    }
    assert_eq!(ids.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tickets_filed_at_once_have_numbers_without_gaps() {
    let (_app, caller) = still().await;

    let calls = (0..24).map(|n| caller.dispatch(titled(&format!("Say hello {n}"))));
    let tickets = join_all(calls).await;

    let mut numbers: Vec<u64> =
        tickets.iter().map(|ticket| ticket["projectSeq"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=24).collect::<Vec<u64>>());
}
