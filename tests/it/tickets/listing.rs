//! `list_tickets`: every filter, alone and together.

use assay::accounts::KeyScope;
use assay::base::ProjectId;
use serde_json::{Value, json};

use super::{still, titled};
use crate::harness::{Caller, TestApp};

/// Two projects; four tickets, of which some are sorted under a category or cancelled.
struct Filed {
    _app: TestApp,
    near: ProjectId,
    far: ProjectId,
    whole: Caller,
    limited: Caller,
    both: Caller,
}

async fn filed() -> Filed {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    let far = tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpRead, &[near]).await;
    let both = tenant.limited_key(KeyScope::McpRead, &[near, far]).await;
    for (project, category) in
        [("NEAR", "Auth & Billing"), ("FAR", "auth &  billing"), ("NEAR", ""), ("FAR", "Other")]
    {
        let title = format!("Of {category:?}");
        let args = json!({ "title": title, "project": project, "category": category });
        whole.dispatch(args).await;
    }
    whole.call("cancel_ticket", json!({ "ticket": "NEAR-2" })).await;
    Filed { _app: app, near, far, whole, limited, both }
}

/// The refs of the tickets that a call lists.
async fn refs(caller: &Caller, args: Value) -> Vec<String> {
    let answer = caller.call("list_tickets", args).await;
    let tickets = answer["tickets"].as_array().unwrap();
    assert_eq!(answer["count"], tickets.len());
    tickets.iter().map(|ticket| ticket["ticketRef"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tickets_are_listed_newest_first_and_each_filter_narrows() {
    let Filed { near, far, whole, _app, .. } = filed().await;
    let of_far = whole.call("list_tickets", json!({ "project_id": far })).await;
    let category = of_far["tickets"][1]["categoryId"].clone();
    let absent = "0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b";
    let cases: [(Value, &[&str]); 15] = [
        (json!({}), &["FAR-2", "NEAR-2", "FAR-1", "NEAR-1"]),
        (json!({ "limit": 2 }), &["FAR-2", "NEAR-2"]),
        (json!({ "project_id": near }), &["NEAR-2", "NEAR-1"]),
        (json!({ "project_id": near, "limit": 1 }), &["NEAR-2"]),
        (json!({ "status": "cancelled" }), &["NEAR-2"]),
        (json!({ "status": "queued" }), &["FAR-2", "FAR-1", "NEAR-1"]),
        (json!({ "status": "queued", "project_id": near }), &["NEAR-1"]),
        (json!({ "status": "awaiting_input" }), &[]),
        (json!({ "project_id": near, "category": " AUTH &\tbilling " }), &["NEAR-1"]),
        (json!({ "project_id": near, "category": "Other" }), &[]),
        (json!({ "category_id": category }), &["FAR-1"]),
        (json!({ "category_id": category, "project_id": far }), &["FAR-1"]),
        (json!({ "category_id": category, "project_id": near }), &[]),
        (json!({ "category_id": category, "status": "cancelled" }), &[]),
        (json!({ "category_id": absent }), &[]),
    ];

    for (args, expected) in cases {
        assert_eq!(refs(&whole, args.clone()).await, expected, "{args}");
    }
}

#[tokio::test]
async fn a_limited_key_sees_its_own_projects_and_misses_none_of_theirs() {
    let Filed { near, limited, both, whole, _app, .. } = filed().await;
    let far_category = whole.call("list_tickets", json!({})).await["tickets"][0].clone();

    assert_eq!(refs(&limited, json!({})).await, ["NEAR-2", "NEAR-1"]);
    assert_eq!(refs(&limited, json!({ "limit": 1 })).await, ["NEAR-2"]);
    assert_eq!(refs(&limited, json!({ "status": "queued" })).await, ["NEAR-1"]);
    assert_eq!(refs(&limited, json!({ "project_id": near })).await, ["NEAR-2", "NEAR-1"]);
    let elsewhere = json!({ "category_id": far_category["categoryId"] });
    assert_eq!(refs(&limited, elsewhere).await, Vec::<String>::new());
    assert_eq!(refs(&both, json!({})).await, ["FAR-2", "NEAR-2", "FAR-1", "NEAR-1"]);
    assert_eq!(refs(&both, json!({ "limit": 3 })).await, ["FAR-2", "NEAR-2", "FAR-1"]);
}

#[tokio::test]
async fn the_limit_is_twenty_and_lies_between_one_and_a_hundred() {
    let (_app, caller) = still().await;
    for n in 0..21 {
        caller.dispatch(titled(&format!("Say hello {n}"))).await;
    }

    assert_eq!(refs(&caller, json!({})).await.len(), 20);
    assert_eq!(refs(&caller, json!({ "limit": 100 })).await.len(), 21);
    for limit in [json!(0), json!(101), json!(-1), json!(1.5), json!("many")] {
        let refusal = caller.refusal("list_tickets", json!({ "limit": limit })).await;

        assert_eq!(
            (refusal.code.as_str(), refusal.paths),
            ("INVALID_ARGUMENT", vec!["limit".to_owned()])
        );
    }
}

#[tokio::test]
async fn words_and_ids_that_are_none_are_refused() {
    let (_app, caller) = still().await;

    for (name, value) in [("status", "done"), ("project_id", "ACME"), ("category_id", "Auth")] {
        let refusal = caller.refusal("list_tickets", json!({ name: value })).await;

        assert_eq!((refusal.http, refusal.paths), (400, vec![name.to_owned()]), "{name}");
    }
}
