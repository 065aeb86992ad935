//! Tickets that agents do: what the tools show of each way that one can go.

use assay::accounts::KeyScope;
use assay::projects::agents::Profile;
use serde_json::{Value, json};

use super::titled;
use crate::golden;
use crate::harness::{Caller, TestApp, placed, script};

/// A program with a project `ACME` whose tickets that agent does.
async fn with_agent(agent: Profile) -> (TestApp, Caller, std::path::PathBuf) {
    let app = TestApp::start().await;
    let tenant = app.tenant("Acme").await;
    let repository = tenant.project_with_repo("Acme Widgets", "ACME", agent).await;
    let caller = tenant.key(KeyScope::McpFull).await;
    (app, caller, repository)
}

fn demonstration() -> Profile {
    Profile::demonstration(env!("CARGO_BIN_EXE_assay"))
}

#[tokio::test]
async fn a_ticket_is_done_verified_and_landed() {
    let (app, caller, repository) = with_agent(demonstration()).await;

    caller.dispatch(titled("Add a footer with the year")).await;
    let digest = caller.wait_for("ACME-1", "succeeded").await;

    golden::matches("tickets/get_succeeded.json", &placed(&digest));
    assert_eq!(
        digest["ticket"]["branchName"],
        format!("agent/{}", digest["ticket"]["id"].as_str().unwrap())
    );
    let git = &app.app.env().git;
    let tip = git.tree(&repository).args(["rev-parse", "main"]).text().await.unwrap();
    assert_eq!(digest["ticket"]["commitSha"], tip.trim());
    let page = git.tree(&repository).args(["show", "main:index.html"]).text().await.unwrap();
    assert!(page.contains("<footer"), "{page}");
    let cancel = caller.refusal("cancel_ticket", json!({ "ticket": "ACME-1" })).await;
    let retry = caller.refusal("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    assert_eq!((cancel.code.as_str(), retry.code.as_str()), ("NOT_CANCELLABLE", "NOT_RETRYABLE"));
    look_at_everything(&caller, "completed").await;
}

/// The tools beside `get_ticket`, on a ticket that landed.
async fn look_at_everything(caller: &Caller, status: &str) {
    let ticket = json!({ "ticket": "ACME-1" });
    let graph = caller.call("get_ticket_graph", ticket.clone()).await;
    let reports = caller.call("get_ticket_reports", ticket.clone()).await;
    let one = json!({ "ticket": "ACME-1", "node": "implement-1" });
    let one = caller.call("get_ticket_reports", one).await;
    let job = caller.call("get_job_status", json!({ "jobId": graph["ticketId"] })).await;

    let nodes = graph["graph"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["status"] == "succeeded"), "{graph}");
    assert!(nodes.iter().all(|node| node["durationMs"].is_u64()), "{graph}");
    assert_eq!(reports["reports"].as_array().unwrap().len(), nodes.len());
    assert_eq!(one["reports"].as_array().unwrap().len(), 1);
    assert!(one["reports"][0]["report"].as_str().unwrap().contains("footer"), "{one}");
    assert_eq!(job["status"], status);
    assert!(job["result"]["commitSha"].is_string(), "{job}");
}

#[tokio::test]
async fn a_question_is_asked_answered_and_acted_on() {
    let (app, caller, repository) = with_agent(demonstration()).await;

    caller.dispatch(titled("Which accent colour should the page have?")).await;
    let asked = caller.wait_for("ACME-1", "awaiting_input").await;
    let graph = caller.call("get_ticket_graph", json!({ "ticket": "ACME-1" })).await;
    let no_secret = caller.refusal("create_secret_link", json!({ "ticket": "ACME-1" })).await;
    assert_eq!(no_secret.code, "NOT_AWAITING_INPUT");
    assert!(no_secret.message.ends_with("get_ticket says what it waits for."), "{no_secret:?}");
    let reply = json!({ "ticket": "ACME-1", "message": "green" });
    caller.call("reply_ticket", reply.clone()).await;
    let landed = caller.wait_for("ACME-1", "succeeded").await;

    golden::matches("tickets/get_awaiting_input.json", &placed(&asked));
    assert_eq!(graph["question"]["choices"], json!(["blue", "green", "purple"]));
    assert_eq!(
        (&landed["humanActionRequired"], &landed["humanActions"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(caller.refusal("reply_ticket", reply).await.code, "NOT_AWAITING_INPUT");
    let git = &app.app.env().git;
    let style = git.tree(&repository).args(["show", "main:style.css"]).text().await.unwrap();
    assert!(style.contains("green"), "{style}");
}

/// An agent that does its work and then cannot review it.
const HALF: &str = r#"
case "$ASSAY_NODE" in
  implement) echo more >> work.txt ;;
  review) exit 3 ;;
esac
echo '{"outcome":"done","summary":"Fine."}' > "$ASSAY_REPORT"
"#;

#[tokio::test]
async fn what_failed_says_why_and_how_to_go_on_and_can_be_tried_again() {
    let (_app, caller, _repository) = with_agent(script(HALF)).await;

    caller.dispatch(titled("Say hello")).await;
    let failed = caller.wait_for("ACME-1", "failed").await;
    let job = json!({ "jobId": failed["ticket"]["id"] });
    let job = caller.call("get_job_status", job).await;
    let again = caller.call("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    let second = caller.wait_for("ACME-1", "failed").await;

    golden::matches("tickets/get_failed.json", &placed(&failed));
    assert_eq!(
        (&job["status"], &job["error"]),
        (&json!("failed"), &failed["ticket"]["failureReason"])
    );
    assert_eq!(again["ticket"]["failureReason"], Value::Null);
    assert_eq!(again["ticket"]["branchName"], failed["ticket"]["branchName"]);
    let nodes = |digest: &Value| digest["graph"]["nodeCount"].as_u64().unwrap();
    assert_eq!(nodes(&second), nodes(&failed) + 1);
}

#[tokio::test]
async fn a_running_ticket_is_stopped_with_everything_it_started() {
    let (app, caller, _) = with_agent(script("echo started; sleep 600 & wait")).await;

    caller.dispatch(titled("Say hello")).await;
    let running = caller.wait_for("ACME-1", "running").await;
    let reason = json!({ "ticket": "ACME-1", "reason": "No longer wanted." });
    let cancelled = caller.call("cancel_ticket", reason).await;

    assert!(running["ticket"]["startedAt"].is_string());
    assert_eq!(cancelled["ticket"]["status"], "cancelled");
    assert_eq!(cancelled["ticket"]["failureReason"], Value::Null);
    let digest = caller.call("get_ticket", json!({ "ticket": "ACME-1" })).await;
    assert!(digest["completionSummary"].as_str().unwrap().contains("No longer wanted."));
    assert_eq!(
        (&digest["outcome"], &digest["graph"]["status"]),
        (&json!("failed"), &json!("cancelled"))
    );
    app.until("SELECT count(*) || '' FROM processes", "0").await;
}
