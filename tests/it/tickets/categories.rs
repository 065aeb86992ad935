//! Categories: listed with what is open under them, renamed, deleted and made anew.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use super::still;
use crate::golden;
use crate::harness::{TestApp, placed};

fn sorted(title: &str, category: &str) -> Value {
    json!({ "title": title, "project": "ACME", "category": category })
}

#[tokio::test]
async fn categories_are_listed_with_their_open_tickets_renamed_and_deleted() {
    let (_app, caller) = still().await;
    for (title, category) in [("A", "Auth"), ("B", " AUTH "), ("C", "auth"), ("D", "Billing")] {
        caller.dispatch(sorted(title, category)).await;
    }
    caller.call("cancel_ticket", json!({ "ticket": "#2" })).await;

    let listed = caller.call("list_categories", json!({ "project": "ACME" })).await;
    let name = json!({ "category": "auth", "name": " Log-in  & Auth" });
    let renamed = caller.call("rename_category", name).await;
    let deleted = caller.call("delete_category", json!({ "category": "billing" })).await;
    let all = json!({ "include_deleted": true });
    let after = caller.call("list_categories", all).await;
    let anew = caller.dispatch(sorted("E", "Billing")).await;

    golden::matches("tickets/list_categories.json", &placed(&listed));
    golden::matches("tickets/delete_category.json", &placed(&deleted));
    assert_eq!(renamed["category"]["name"], "Log-in  & Auth");
    assert_eq!(after["count"], 2);
    assert_eq!(after["categories"][0]["label"], "Billing (deleted)");
    let kept = caller.call("get_ticket", json!({ "ticket": "#4" })).await["ticket"].clone();
    assert_eq!(
        (&kept["categoryLabel"], &kept["categoryDeleted"]),
        (&json!("Billing (deleted)"), &json!(true))
    );
    let shown = caller.call("get_ticket", json!({ "ticket": "#1" })).await["ticket"].clone();
    assert_eq!(shown["categoryLabel"], "Log-in  & Auth");
    assert_ne!(anew["categoryId"], kept["categoryId"]);
    let by_id = json!({ "category_id": kept["categoryId"] });
    assert_eq!(caller.call("list_tickets", by_id.clone()).await["count"], 1);
    let again = caller.call("delete_category", by_id).await;
    assert_eq!(again["category"], deleted["category"]);
}

#[tokio::test]
async fn a_name_that_is_taken_and_a_category_that_is_gone_are_conflicts() {
    let (_app, caller) = still().await;
    let auth = caller.dispatch(sorted("A", "Auth")).await["categoryId"].clone();
    caller.dispatch(sorted("B", "Billing")).await;

    let taken = json!({ "category": "Auth", "name": "BILLING" });
    let taken = caller.refusal("rename_category", taken).await;
    let own = json!({ "category": "Auth", "name": "AUTH" });
    let own = caller.call("rename_category", own).await;
    caller.call("delete_category", json!({ "category_id": auth })).await;
    let gone = json!({ "category_id": auth, "name": "Back" });
    let gone = caller.refusal("rename_category", gone).await;
    let absent = caller.refusal("delete_category", json!({ "category": "Auth" })).await;
    let nameless = caller.refusal("delete_category", json!({})).await;

    assert_eq!((taken.code.as_str(), taken.status), ("CONFLICT", 409));
    assert_eq!(own["category"]["name"], "AUTH");
    assert_eq!(gone.code, "CONFLICT");
    assert_eq!((absent.code.as_str(), absent.status), ("NOT_FOUND", 404));
    assert_eq!(nameless.paths, ["category"]);
}

#[tokio::test]
async fn a_limited_key_changes_no_category_beyond_it() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let near = tenant.project("Near", "NEAR").await;
    tenant.project("Far", "FAR").await;
    let whole = tenant.key(KeyScope::McpFull).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[near]).await;
    let far = json!({ "title": "T", "project": "FAR", "category": "Auth" });
    let id = whole.dispatch(far).await["categoryId"].clone();

    for (tool, args) in [
        ("list_categories", json!({ "project": "FAR" })),
        ("rename_category", json!({ "category_id": id, "name": "Mine" })),
        ("delete_category", json!({ "category_id": id })),
        ("delete_category", json!({ "project": "FAR", "category": "Auth" })),
    ] {
        let refusal = limited.refusal(tool, args).await;

        assert_eq!((refusal.code.as_str(), refusal.status), ("FORBIDDEN", 403), "{tool}");
    }
}
