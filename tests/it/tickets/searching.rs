//! `search_tickets`: by words, by dates, a page at a time.

use assay::accounts::KeyScope;
use assay::base::Millis;
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

/// Tickets of many days, some of them filed after the clock was set back, and how they ended.
async fn many_of_many_days(app: &TestApp, caller: &Caller) {
    let clock = &app.app.env().clock;
    for batch in 0..24 {
        let tickets: Vec<Value> = (0..50)
            .map(|n| json!({ "name": format!("t{n}"), "title": format!("Say {batch} {n}") }))
            .collect();
        caller
            .call("dispatch_ticket_graph", json!({ "project": "ACME", "tickets": tickets }))
            .await;
        match batch {
            9 => clock.set_back(std::time::Duration::from_hours(100)),
            _ => clock.advance(std::time::Duration::from_hours(13)),
        }
    }
    app.raw(
        "UPDATE tickets SET status = CASE WHEN n % 9 = 0 THEN 'failed' ELSE 'succeeded' END,
             completed_at = created_at + 3600000 * (n % 30) WHERE n % 40 <> 7 AND n <= 1180",
    );
}

#[tokio::test]
async fn few_and_many_are_found_by_status_and_dates_wherever_they_stand() {
    let (app, caller) = still().await;
    many_of_many_days(&app, &caller).await;
    let (day, then) = ("2026-07-31", "2026-08-03T10:00:00Z");
    let cases = [
        (json!({}), "1"),
        (json!({ "status": "queued" }), "status = 'queued'"),
        (json!({ "status": "succeeded" }), "status = 'succeeded'"),
        (
            json!({ "status": "failed", "query": "say 2" }),
            "status = 'failed' AND title || ' ' GLOB '* 2 *'",
        ),
        (json!({ "created_from": day }), "created_at >= :day"),
        (json!({ "created_before": then }), "created_at < :then"),
        (
            json!({ "created_from": day, "created_before": then }),
            "created_at BETWEEN :day AND :end",
        ),
        (json!({ "created_from": "2027-01-01" }), "0"),
        (json!({ "created_before": "2020-01-01", "status": "queued" }), "0"),
        (json!({ "completed_from": day }), "completed_at >= :day"),
        (json!({ "completed_before": then, "query": "say" }), "completed_at < :then"),
        (
            json!({ "completed_from": day, "completed_before": then, "status": "failed" }),
            "completed_at BETWEEN :day AND :end AND status = 'failed'",
        ),
        (
            json!({ "completed_from": then, "created_before": then, "query": "ACME" }),
            "completed_at >= :then AND created_at < :then",
        ),
    ];
    for (mut args, expected) in cases {
        let at = |text: &str| Millis::parse(text).unwrap().0;
        let expected = expected
            .replace(":day", &at(day).to_string())
            .replace(":then", &at(then).to_string())
            .replace(":end", &(at(then) - 1).to_string());
        let expected =
            format!("SELECT 'ACME-' || seq FROM tickets WHERE {expected} ORDER BY n DESC");
        let said = args.clone();
        let mut found = Vec::new();
        args["limit"] = json!(100);
        loop {
            let page = caller.call("search_tickets", args.clone()).await;
            let tickets = page["tickets"].as_array().unwrap();
            found.extend(tickets.iter().map(|it| it["ticketRef"].as_str().unwrap().to_owned()));
            let Some(next) = page.get("nextCursor") else { break };
            args["cursor"] = next.clone();
        }

        assert_eq!(found, app.column(&expected), "{said}");
    }
}
