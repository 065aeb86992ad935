//! The gate: scope, plan, rate limit and audit hold for every tool, at both doors.

use assay::accounts::scope::AGENT_WRITES;
use assay::accounts::{KeyScope, Plan};
use assay::tools::{Effect, Entry, Registry};
use serde_json::{Value, json};

use super::samples::usual;
use crate::harness::{Caller, Refusal, TestApp};

fn is_refused_as(refusal: &Refusal, code: &str, envelope: &str, tool: &Entry) {
    let found = (refusal.code.as_str(), refusal.envelope.as_str(), refusal.status, refusal.http);
    assert_eq!(found, (code, envelope, 403, 403), "{}: {refusal:?}", tool.name);
}

/// Whether a call that the tool takes was let through to it.
async fn lets_through(caller: &Caller, tool: &Entry) {
    let said = caller.invoke(tool.name, &usual(tool.name)).await;
    assert!(matches!(said.status, 200 | 422), "{}: {}", tool.name, said.body);
}

#[tokio::test]
async fn a_key_that_reads_calls_every_tool_that_reads_and_no_other() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Mine", "MINE").await;
    let reader = tenant.key(KeyScope::McpRead).await;

    for tool in Registry::new().all() {
        if tool.effect == Effect::Reads {
            lets_through(&reader, tool).await;
            continue;
        }
        // The scope is looked at before the arguments are.
        for args in [usual(tool.name), json!({ "nonsense": 1 })] {
            let refusal = reader.refusal(tool.name, args).await;

            is_refused_as(&refusal, "SCOPE_DENIED", "scope_denied", tool);
            assert!(refusal.message.contains("mcp_full"), "{refusal:?}");
        }
    }
    assert_eq!(app.audit(), Vec::<String>::new(), "nothing was written");
    assert_eq!(app.column("SELECT count(*) || '' FROM projects"), ["1"]);
}

#[tokio::test]
async fn an_agent_s_key_reads_and_writes_by_its_own_tools_and_no_other() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    let project = tenant.project("Mine", "MINE").await;
    let owner = tenant.key(KeyScope::McpFull).await;
    let ticket = owner.dispatch(usual("dispatch_ticket")).await;
    let agent = tenant.agent_key(project, ticket["id"].as_str().unwrap()).await;
    let before = app.column("SELECT count(*) || '' FROM audit");
    let mut own = Vec::new();

    for tool in Registry::new().all() {
        if tool.effect == Effect::Reads {
            lets_through(&agent, tool).await;
        } else if AGENT_WRITES.contains(&tool.name) {
            // Nothing of the ticket runs, which only the tool itself can tell.
            let refusal = agent.refusal(tool.name, usual(tool.name)).await;
            assert_eq!(refusal.code, "CONFLICT", "{}: {refusal:?}", tool.name);
            own.push(tool.name);
        } else {
            let refusal = agent.refusal(tool.name, usual(tool.name)).await;
            is_refused_as(&refusal, "SCOPE_DENIED", "scope_denied", tool);
        }
    }

    own.sort_unstable();
    let mut known = AGENT_WRITES.to_vec();
    known.sort_unstable();
    assert_eq!(own, known, "each of the agent's tools is there");
    let refused = app.column("SELECT count(*) || '' FROM audit WHERE outcome = 'Conflict'");
    assert_eq!((before, refused), (vec!["1".to_owned()], vec!["6".to_owned()]));
    let said = owner.call("get_ticket", json!({ "ticket": "MINE-1" })).await;
    assert_eq!(said["ticket"]["status"], "queued", "nothing was done to it");
}

#[tokio::test]
async fn a_key_for_ci_calls_no_tool_at_all() {
    let app = TestApp::still().await;
    let ci = app.tenant("Acme").await.key(KeyScope::Ci).await;

    for tool in Registry::new().all() {
        let said = ci.invoke(tool.name, &usual(tool.name)).await;
        let params = json!({ "name": tool.name, "arguments": usual(tool.name) });
        let rpc = ci.mcp("tools/call", &params).await;

        assert_eq!((said.status, rpc.status), (403, 403), "{}", tool.name);
        assert_eq!(said.body["error"]["code"], "scope_denied");
        let data = json!({ "code": "SCOPE_DENIED", "statusCode": 403 });
        assert_eq!(rpc.body["error"]["data"], data);
    }
}

#[tokio::test]
async fn a_plan_that_only_reads_refuses_every_write() {
    let app = TestApp::still().await;
    let tenant = app.tenant_with("Acme", Plan::ReadOnly).await;
    tenant.project("Mine", "MINE").await;
    let caller = tenant.key(KeyScope::McpFull).await;

    for tool in Registry::new().all() {
        if tool.effect == Effect::Reads {
            lets_through(&caller, tool).await;
        } else {
            let refusal = caller.refusal(tool.name, usual(tool.name)).await;

            is_refused_as(&refusal, "PLAN_GATE", "plan_gate", tool);
            assert!(refusal.message.contains("read_only"), "{refusal:?}");
        }
    }
}

#[tokio::test]
async fn what_must_be_confirmed_is_not_done_before_it_is() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Mine", "MINE").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let registry = Registry::new();
    let wanting: Vec<&Entry> = registry.all().iter().filter(|tool| tool.confirm).collect();
    assert!(!wanting.is_empty());

    for tool in wanting {
        for confirm in [Value::Null, json!(false), json!("false"), json!("yes")] {
            let mut args = usual(tool.name);
            args["confirm"] = confirm;
            let refusal = caller.refusal(tool.name, args).await;

            let found = (refusal.code.as_str(), refusal.envelope.as_str(), refusal.http);
            assert_eq!(found, ("CONFIRM_REQUIRED", "confirm_required", 400), "{}", tool.name);
            let said = format!("confirm must be true to execute write tool {}", tool.name);
            assert_eq!(refusal.message, said);
        }
        let mut args = usual(tool.name);
        args["confirm"] = json!("true");
        assert_eq!(caller.invoke(tool.name, &args).await.status, 200);
    }
    let done = registry.all().iter().filter(|tool| tool.confirm).count();
    assert_eq!(app.audit().len(), done, "only what was confirmed was done");
}

#[tokio::test]
async fn a_key_over_its_limit_hears_when_to_come_back_and_others_go_on() {
    let app = TestApp::limited_to(2).await;
    let tenant = app.tenant("Acme").await;
    let (busy, other) = (tenant.key(KeyScope::McpFull).await, tenant.key(KeyScope::McpFull).await);
    busy.call("list_tickets", json!({})).await;
    busy.call("list_tickets", json!({})).await;

    let said = busy.invoke("list_tickets", &json!({})).await;
    let rpc = busy.mcp("tools/call", &json!({ "name": "list_tickets" })).await;

    assert_eq!(said.status, 429);
    assert_eq!(said.body["error"]["code"], "rate_limit");
    assert_eq!(said.body["recoverable"], true);
    let wait_ms = said.body["retryAfterMs"].as_u64().unwrap();
    assert!((1..=30_000).contains(&wait_ms), "{wait_ms}");
    let seconds: u64 = said.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(seconds, wait_ms.div_ceil(1_000));
    let data = json!({ "code": "RATE_LIMITED", "statusCode": 429, "retryAfterMs": wait_ms });
    assert_eq!(rpc.body["error"]["data"], data, "{}", rpc.body);
    other.call("list_tickets", json!({})).await;
    app.app.env().clock.advance(std::time::Duration::from_millis(wait_ms));
    busy.call("list_tickets", json!({})).await;
}

#[tokio::test]
async fn every_write_leaves_its_row_in_the_audit_log_and_a_reading_call_none() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Mine", "MINE").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let ticket = json!({ "ticket": "MINE-1" });
    let taken = json!({ "name": "New", "key": "MINE", "confirm": true });
    let writes = [
        ("dispatch_ticket", usual("dispatch_ticket"), "ok"),
        ("retry_ticket", ticket.clone(), "NotRetryable"),
        ("reply_ticket", usual("reply_ticket"), "NotAwaitingInput"),
        ("create_secret_link", ticket.clone(), "NotAwaitingInput"),
        ("approve_ticket", usual("approve_ticket"), "NotAwaitingInput"),
        ("cancel_ticket", ticket.clone(), "ok"),
        ("cancel_ticket", ticket.clone(), "NotCancellable"),
        ("retry_ticket", ticket, "ok"),
        ("dispatch_ticket_graph", usual("dispatch_ticket_graph"), "ok"),
        ("mint_attachment_upload_url", usual("mint_attachment_upload_url"), "ok"),
        ("rename_category", usual("rename_category"), "NotFound"),
        ("delete_category", usual("delete_category"), "NotFound"),
        ("claim_ticket_node", usual("claim_ticket_node"), "ok"),
        ("report_node_progress", usual("report_node_progress"), "NotFound"),
        ("submit_node_report", usual("submit_node_report"), "NotFound"),
        ("release_node", usual("release_node"), "NotFound"),
        ("file_child_ticket", usual("file_child_ticket"), "InvalidArgument"),
        ("ask_person", usual("ask_person"), "InvalidArgument"),
        ("attach_evidence", usual("attach_evidence"), "InvalidArgument"),
        ("create_project", usual("create_project"), "ok"),
        ("create_project", taken, "Conflict"),
        ("update_project", usual("update_project"), "ok"),
        ("try_agent", usual("try_agent"), "ok"),
    ];
    for tool in Registry::new().all().iter().filter(|tool| tool.effect != Effect::Reads) {
        assert!(writes.iter().any(|(name, ..)| *name == tool.name), "{} is missing", tool.name);
    }
    let mut expected = Vec::new();

    for (tool, args, outcome) in writes {
        caller.invoke(tool, &args).await;
        expected.push(format!("{tool} invoke {outcome}"));
    }
    let rpc = json!({ "name": "dispatch_ticket", "arguments": usual("dispatch_ticket") });
    caller.mcp("tools/call", &rpc).await;
    expected.push("dispatch_ticket mcp ok".to_owned());
    for tool in Registry::new().all().iter().filter(|tool| tool.effect == Effect::Reads) {
        caller.invoke(tool.name, &usual(tool.name)).await;
    }

    assert_eq!(app.audit(), expected);
    let subjects = app.column("SELECT subject FROM audit ORDER BY n");
    assert_eq!((subjects[0].as_str(), subjects[5].as_str()), ("MINE-1", "MINE-1"));
    let actors = app.column("SELECT DISTINCT actor FROM audit");
    assert_eq!(actors.len(), 1);
    let requests = app.column("SELECT count(DISTINCT request_id) || '' FROM audit");
    assert_eq!(requests, [expected.len().to_string()]);
}

#[tokio::test]
async fn a_refused_call_changes_nothing() {
    let app = TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Mine", "MINE").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    let mut args = usual("dispatch_ticket");
    args["category"] = json!("New one");
    args["depends_on"] = json!(["MINE-9"]);
    args["depends_on_reason"] = json!("It builds on the ninth.");

    let refusal = caller.refusal("dispatch_ticket", args).await;

    assert_eq!(refusal.code, "NOT_FOUND");
    for table in ["tickets", "categories", "nodes", "jobs"] {
        let rows = app.column(&format!("SELECT count(*) || '' FROM {table}"));
        assert_eq!(rows, ["0"], "{table}");
    }
    let next = caller.dispatch(usual("dispatch_ticket")).await;
    assert_eq!(next["projectSeq"], json!(1), "no number is lost");
    assert_ne!(next["id"], Value::Null);
}
