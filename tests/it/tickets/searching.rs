//! `search_tickets`: by words, by dates, a page at a time.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use super::{still, titled};
use crate::golden;
use crate::harness::{Caller, TestApp, placed};

async fn refs(caller: &Caller, args: Value) -> Vec<String> {
    let answer = caller.call("search_tickets", args).await;
    let tickets = answer["tickets"].as_array().unwrap();
    assert_eq!(answer["count"], tickets.len());
    tickets.iter().map(|ticket| ticket["ticketRef"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tickets_are_found_by_the_words_of_title_description_and_ref() {
    let (_app, caller) = still().await;
    for (title, description) in [
        ("Add a dark-mode toggle", "The header gets a button."),
        ("Réparer l'en-tête", "Le bouton « sombre » NOT here OR there."),
        ("Light mode", "Not dark at all; mode switches."),
    ] {
        let args = json!({ "title": title, "description": description, "project": "ACME" });
        caller.dispatch(args).await;
    }
    let cases: [(&str, &[&str]); 14] = [
        ("dark", &["ACME-3", "ACME-1"]),
        ("DARK mode", &["ACME-3", "ACME-1"]),
        ("dark-mode", &["ACME-1"]),
        ("\"dark mode\"", &["ACME-3", "ACME-1"]),
        ("reparer EN-TETE", &["ACME-2"]),
        ("bouton \u{ab}sombre\u{bb}", &["ACME-2"]),
        ("acme-2", &["ACME-2"]),
        ("ACME", &["ACME-3", "ACME-2", "ACME-1"]),
        ("dark OR button", &[]),
        ("NOT dark", &["ACME-3"]),
        ("dark*", &["ACME-3", "ACME-1"]),
        ("title:dark", &[]),
        ("owner : a", &[]),
        ("", &["ACME-3", "ACME-2", "ACME-1"]),
    ];

    for (query, expected) in cases {
        assert_eq!(refs(&caller, json!({ "query": query })).await, expected, "{query:?}");
    }
    for query in ["--", "( ) * \" :", "^"] {
        let refusal = caller.refusal("search_tickets", json!({ "query": query })).await;

        assert_eq!(
            (refusal.code.as_str(), refusal.paths),
            ("INVALID_ARGUMENT", vec!["query".to_owned()])
        );
    }
    golden::matches(
        "tickets/search.json",
        &placed(&caller.call("search_tickets", json!({ "query": "dark", "limit": 1 })).await),
    );
}

#[tokio::test]
async fn the_filters_and_the_dates_narrow() {
    let (app, caller) = still().await;
    let hour = std::time::Duration::from_hours(1);
    for category in ["Auth", "Billing", "Auth"] {
        let args = json!({ "title": "Say hello", "project": "ACME", "category": category,
            "override_duplicate": true });
        caller.dispatch(args).await;
        app.app.env().clock.advance(hour);
    }
    caller.call("cancel_ticket", json!({ "ticket": "#1" })).await;
    let project = caller.call("list_projects", json!({})).await["projects"][0]["id"].clone();
    let cases: [(Value, &[&str]); 10] = [
        (json!({ "query": "hello", "status": "cancelled" }), &["ACME-1"]),
        (
            json!({ "query": "hello", "project_id": project, "category": "auth" }),
            &["ACME-3", "ACME-1"],
        ),
        (json!({ "project_id": project, "category": "none" }), &[]),
        (json!({ "created_from": "2026-07-29T15:00:00Z" }), &["ACME-3", "ACME-2"]),
        (json!({ "created_before": "2026-07-29T15:00:00.000Z" }), &["ACME-1"]),
        (
            json!({ "created_from": "2026-07-29T17:00:00+02:00",
                "created_before": "2026-07-29T16:00:00Z" }),
            &["ACME-2"],
        ),
        (json!({ "created_from": "2026-07-30" }), &[]),
        (json!({ "completed_from": "2026-07-29" }), &["ACME-1"]),
        (json!({ "completed_before": "2026-07-29T17:00:00Z" }), &[]),
        (json!({ "completed_before": "2026-07-30", "query": "hello" }), &["ACME-1"]),
    ];

    for (args, expected) in cases {
        assert_eq!(refs(&caller, args.clone()).await, expected, "{args}");
    }
    let nameless = caller.refusal("search_tickets", json!({ "category": "Auth" })).await;
    assert_eq!(nameless.code, "CATEGORY_FILTER_REQUIRES_PROJECT");
    for name in ["created_from", "created_before", "completed_from", "completed_before"] {
        let refusal = caller.refusal("search_tickets", json!({ name: "yesterday" })).await;

        assert_eq!(refusal.paths, [name]);
    }
}

#[tokio::test]
async fn pages_follow_each_other_until_there_are_no_more() {
    let (_app, caller) = still().await;
    for n in 0..7 {
        caller.dispatch(titled(&format!("Say hello {n}"))).await;
    }
    let mut seen = Vec::new();
    let mut args = json!({ "query": "hello", "limit": 3 });
    loop {
        let page = caller.call("search_tickets", args.clone()).await;
        for ticket in page["tickets"].as_array().unwrap() {
            seen.push(ticket["projectSeq"].as_u64().unwrap());
        }
        let Some(next) = page.get("nextCursor") else { break };
        args["cursor"] = next.clone();
        // What is filed meanwhile is newer than every page that follows.
        caller.dispatch(titled("Say hello late")).await;
    }
    let cursor = args["cursor"].as_str().unwrap().to_owned();

    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1]);
    let elsewhere = [
        json!({ "query": "hello", "status": "queued", "cursor": cursor }),
        json!({ "query": "hello", "cursor": "nonsense" }),
        json!({ "query": "hello", "cursor": "é".repeat(20) }),
        json!({ "query": "hello", "cursor": &cursor[1..] }),
    ];
    for args in elsewhere {
        let refusal = caller.refusal("search_tickets", args).await;

        assert_eq!(
            (refusal.code.as_str(), refusal.paths),
            ("INVALID_ARGUMENT", vec!["cursor".to_owned()])
        );
    }
}

#[tokio::test]
async fn a_limited_key_and_another_tenant_find_what_is_theirs() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    let far = tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpRead, &[near]).await;
    let nowhere = tenant.limited_key(KeyScope::McpRead, &[]).await;
    for project in ["NEAR", "FAR"] {
        whole.dispatch(json!({ "title": "Say hello", "project": project })).await;
    }
    let other = app.tenant("Other").await;
    let stranger = other.key(KeyScope::McpFull).await;

    let hello = json!({ "query": "hello" });
    assert_eq!(refs(&whole, hello.clone()).await, ["FAR-1", "NEAR-1"]);
    assert_eq!(refs(&limited, hello.clone()).await, ["NEAR-1"]);
    assert_eq!(refs(&nowhere, hello.clone()).await, Vec::<String>::new());
    assert_eq!(refs(&stranger, hello).await, Vec::<String>::new());
    let beyond = limited.refusal("search_tickets", json!({ "project_id": far })).await;
    assert_eq!(beyond.code, "FORBIDDEN");
}
