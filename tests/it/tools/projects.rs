//! `update_project`: what it takes, what it refuses and whom.

use assay::accounts::KeyScope;
use serde_json::{Value, json};

use crate::harness::TestApp;

#[tokio::test]
async fn parts_of_the_settings_are_replaced_and_the_rest_stays() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let update = async |mut args: Value| {
        args["confirm"] = json!(true);
        caller.call("update_project", args).await
    };

    let first = update(json!({ "settings": { "approvals": { "plan": true } },
        "description": "About it", "repository": "" }))
    .await;
    let second = update(json!({ "settings": { "limits": { "concurrency": 9 } } })).await;
    let third = update(json!({ "settings": {}, "replaceSettings": true })).await;

    assert_eq!(first["description"], "About it");
    let codes = |answer: &Value| answer["health"]["blockers"][0]["code"].clone();
    assert_eq!(codes(&first), "no_repository");
    assert_eq!(second["settings"]["approvals"]["plan"], true);
    assert_eq!(second["settings"]["limits"]["concurrency"], 9);
    assert_eq!(third["settings"]["limits"]["concurrency"], 2);
    assert_eq!((&third["agents"], &third["name"]), (&json!([]), &json!("Acme")));
    let audit = app.audit();
    let updates = audit.iter().filter(|row| row.contains("update_project")).count();
    assert_eq!(updates, 3, "{audit:?}");
}

#[tokio::test]
async fn environments_are_added_renamed_swapped_and_removed() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let set = async |all: Value| {
        let args = json!({ "environments": all, "confirm": true });
        caller.call("update_project", args).await
    };

    let two = set(json!([{ "name": "Live", "baseUrl": "https://a.example" },
        { "name": "Test", "baseUrl": "https://b.example", "isDefault": true }]))
    .await;
    let by = |name: &str| {
        let all = two["environments"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap()["id"].clone()
    };
    let swapped = set(json!([
        { "id": by("Live"), "name": "Test", "baseUrl": "https://a.example" },
        { "id": by("Test"), "name": "Live", "baseUrl": "https://c.example" }]))
    .await;
    let none = set(json!([])).await;

    assert_eq!(
        (&two["baseUrl"], &two["environment"]["slug"]),
        (&json!("https://b.example"), &json!("test"))
    );
    assert_eq!(
        (&swapped["baseUrl"], &swapped["environment"]["id"]),
        (&json!("https://a.example"), &by("Live"))
    );
    assert_eq!((&none["baseUrl"], &none["environments"]), (&json!(null), &json!([])));
    let wrong = [
        (json!([{ "name": "A", "baseUrl": "x" }]), "environments[0].baseUrl"),
        (
            json!([{ "name": "A", "baseUrl": "https://a.example" },
            { "name": "a", "baseUrl": "https://a.example" }]),
            "environments[1].name",
        ),
        (
            json!([{ "id": by("Live"), "name": "A", "baseUrl": "https://a.example" }]),
            "environments[0].id",
        ),
    ];
    for (all, path) in wrong {
        let args = json!({ "environments": all, "confirm": true });
        assert_eq!(caller.refusal("update_project", args).await.paths, [path]);
    }
}

#[tokio::test]
async fn every_problem_names_the_path_of_its_setting() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let wrong = json!({ "confirm": true, "settings": {
        "limits": { "concurrency": 0 }, "verify": [{ "name": "t", "command": " " }] } });

    let refusal = caller.refusal("update_project", wrong).await;

    assert_eq!(refusal.code, "INVALID_ARGUMENT");
    assert_eq!(refusal.paths, ["settings.verify[0].command", "settings.limits.concurrency"]);
    let unread = json!({ "confirm": true, "settings": { "limits": 1, "colour": true } });
    let mut paths = caller.refusal("update_project", unread).await.paths;
    paths.sort_unstable();
    assert_eq!(paths, ["settings.colour", "settings.limits"]);
    assert_eq!(caller.refusal("update_project", json!({ "name": "X" })).await.status, 400);
}

#[tokio::test]
async fn a_change_of_what_was_changed_meanwhile_is_refused() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let seen = caller.call("get_project", json!({})).await["updatedAt"].clone();
    let rename =
        |name: &str, seen: &Value| json!({ "name": name, "seenUpdatedAt": seen, "confirm": true });

    let first = caller.call("update_project", rename("First", &seen)).await;
    let late = caller.refusal("update_project", rename("Second", &seen)).await;
    let third = caller.call("update_project", rename("Third", &first["updatedAt"])).await;

    assert_eq!((first["name"].as_str(), third["name"].as_str()), (Some("First"), Some("Third")));
    assert_eq!(late.code, "CONFLICT");
    assert!(late.message.contains("Read it again"), "{}", late.message);
    let odd = json!({ "seenUpdatedAt": "yesterday", "confirm": true });
    assert_eq!(caller.refusal("update_project", odd).await.paths, ["seenUpdatedAt"]);
}

#[tokio::test]
async fn who_may_not_change_a_project_does_not_and_sees_no_settings() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let project = tenant.project("Acme", "ACME").await;
    let full = tenant.key(KeyScope::McpFull).await;
    let ticket = full.dispatch(json!({ "title": "T" })).await;
    let agent = tenant.agent_key(project, ticket["id"].as_str().unwrap()).await;
    let limited = tenant.limited_key(KeyScope::McpFull, &[project]).await;
    let reader = tenant.key(KeyScope::McpRead).await;

    for (who, caller) in [("agent", agent), ("limited", limited), ("reader", reader)] {
        for tool in ["update_project", "try_agent"] {
            let refusal = caller.refusal(tool, json!({ "confirm": true })).await;
            assert_eq!(refusal.status, 403, "{who} {tool}: {}", refusal.message);
        }
        let seen = caller.call("get_project", json!({})).await;
        assert!(seen.get("settings").is_none() && seen["updatedAt"].is_string(), "{who}: {seen}");
    }
    let seen = full.call("get_project", json!({})).await;
    assert!(seen["settings"]["agents"]["profiles"]["none"].is_object(), "{seen}");
}
