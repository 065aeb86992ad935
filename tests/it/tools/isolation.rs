//! What is another tenant's is answered like what is not there, by every tool, at both doors.

use assay::accounts::KeyScope;
use assay::tools::Registry;
use serde_json::{Value, json};

use super::samples::{Named, naming};
use crate::harness::{Caller, TestApp, placed};

/// An id as callers write it.
fn dashed(hex: &str) -> String {
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The ticket's first node, as if somebody did it from an editor.
const CLAIMED: &str = "
    INSERT INTO claims (id, tenant_id, ticket_id, node_id, attempt, holder, agent, lease_ms,
        lease_until, claimed_at)
    SELECT id, tenant_id, ticket_id, id, 1, 'somebody', 'editor', 60000, 9000000000000, 1
    FROM nodes ORDER BY position LIMIT 1";

/// A tenant with one of everything that can be named, and the names.
async fn somebody(app: &TestApp) -> (Caller, Named) {
    let tenant = app.tenant("Somebody").await;
    let project = tenant.project("Theirs Only", "THEIRS").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let ticket = caller
        .dispatch(json!({
            "title": "Their secret plan",
            "operation_key": "their-key",
            "category": "Shared name",
        }))
        .await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let job = app.column("SELECT lower(hex(id)) FROM jobs").remove(0);
    app.app.env().db.raw(CLAIMED).unwrap();
    let named = Named {
        claim: dashed(&app.column("SELECT lower(hex(id)) FROM claims").remove(0)),
        project: project.to_string(),
        project_key: "THEIRS".to_owned(),
        project_slug: "theirs-only".to_owned(),
        project_name: "Theirs Only".to_owned(),
        ticket: text(&ticket["id"]),
        ticket_ref: "THEIRS-1".to_owned(),
        category: text(&ticket["categoryId"]),
        job: dashed(&job),
        operation_key: "their-key".to_owned(),
    };
    (caller, named)
}

/// Names of the same form that nobody has.
fn nobody() -> Named {
    let id = |last: char| format!("0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7{last}");
    Named {
        project: id('1'),
        project_key: "ABSENT".to_owned(),
        project_slug: "absent-only".to_owned(),
        project_name: "Absent Only".to_owned(),
        ticket: id('2'),
        ticket_ref: "ABSENT-1".to_owned(),
        category: id('3'),
        job: id('4'),
        claim: id('5'),
        operation_key: "absent-key".to_owned(),
    }
}

#[tokio::test]
async fn what_is_anothers_and_what_is_absent_are_answered_alike_to_the_byte() {
    let app = TestApp::still().await;
    let (owner, theirs) = somebody(&app).await;
    let absent = nobody();
    let before = owner.call("get_ticket", json!({ "ticket": theirs.ticket })).await;

    for tool in Registry::new().all() {
        let calls = naming(tool.name, &theirs).into_iter().zip(naming(tool.name, &absent));
        for (of_theirs, of_absent) in calls {
            // Two strangers alike, so that neither sees what the other's calls left.
            let mut said = Vec::new();
            for (args, names) in [(of_theirs, &theirs), (of_absent, &absent)] {
                said.push(as_a_stranger(&app, tool.name, args, names).await);
            }

            assert_eq!(said[0], said[1], "{}", tool.name);
            let [one, _] = said.try_into().unwrap();
            assert!(!one.contains("secret plan"), "{one}");
        }
    }

    let after = owner.call("get_ticket", json!({ "ticket": theirs.ticket })).await;
    assert_eq!(before, after);
    assert_eq!(owner.call("list_projects", json!({})).await["count"], 1);
}

#[tokio::test]
async fn a_resource_of_another_tenant_is_answered_like_an_absent_one() {
    let app = TestApp::still().await;
    let (owner, theirs) = somebody(&app).await;
    let absent = nobody();
    let tenant = app.tenant("Stranger").await;
    let stranger = tenant.key(KeyScope::McpFull).await;
    let uri = |named: &str| json!({ "uri": format!("assay://tickets/{named}") });

    let own = owner.mcp("resources/read", &uri(&theirs.ticket_ref)).await;
    assert!(own.body["result"]["contents"][0]["text"].is_string(), "{}", own.body);
    for (name, none) in [(&theirs.ticket, &absent.ticket), (&theirs.ticket_ref, &absent.ticket_ref)]
    {
        let of_theirs = stranger.mcp("resources/read", &uri(name)).await;
        let of_absent = stranger.mcp("resources/read", &uri(none)).await;

        assert!(of_theirs.body["error"].is_object(), "{}", of_theirs.body);
        let hidden = theirs.hide(&of_theirs.body.to_string());
        assert_eq!(hidden, absent.hide(&of_absent.body.to_string()));
    }
}

/// What a fresh tenant is answered at both doors, with the names it used taken out.
async fn as_a_stranger(app: &TestApp, tool: &str, args: Value, names: &Named) -> String {
    let mut said = Vec::new();
    for door in ["invoke", "mcp"] {
        let tenant = app.tenant(stranger_name(app)).await;
        tenant.project("Mine", "MINE").await;
        let caller = tenant.key(KeyScope::McpFull).await;
        let answer = match door {
            "invoke" => caller.invoke(tool, &args).await,
            _ => caller.mcp("tools/call", &json!({ "name": tool, "arguments": args })).await,
        };
        let body = names.hide(&answer.body.to_string());
        let body: Value = serde_json::from_str(&body).unwrap();
        said.push(format!("{door} {} {}", answer.status, placed(&body)));
    }
    said.concat()
}

/// A name that no tenant has yet.
fn stranger_name(app: &TestApp) -> &'static str {
    let count = app.column("SELECT count(*) || '' FROM tenants").remove(0);
    Box::leak(format!("Stranger {count}").into_boxed_str())
}
