//! Changes of live data: a script, a dry run, a person's approval, one application.

use assay::base::Code;
use serde_json::{Value, json};

use super::stage::{Digest, Stage};

/// An agent that writes a script. Applied, the script adds a line to the data.
const SCRIPT: &str = r#"if is implement; then mkdir -p data-operations
    cat >"data-operations/$ASSAY_TICKET.sh" <<'SCRIPT'
if [ "$1" = --dry-run ]; then echo would add a line; exit 0; fi
echo adding a line
echo line >>"$STAGE/live"
SCRIPT
    sed -i "s|.STAGE|$STAGE|" "data-operations/$ASSAY_TICKET.sh"; fi"#;

fn asks() -> Value {
    json!({ "title": "Add a line", "kind": "data_operation", "preset": "trivial",
        "pass_profile": "minimal" })
}

async fn dispatched(stage: &Stage, status: &str) -> Digest {
    let filed = stage.call("dispatch_ticket", asks()).await;
    stage.until(filed["ticket"]["ticketRef"].as_str().unwrap(), status).await
}

fn approve(ticket: &str) -> Value {
    json!({ "ticket": ticket, "step": "apply", "decision": "approve" })
}

fn live(stage: &Stage) -> String {
    std::fs::read_to_string(stage.path("live")).unwrap_or_default()
}

#[tokio::test]
async fn a_script_is_tried_approved_by_an_admin_applied_once_and_landed() {
    let stage = Stage::new(SCRIPT).await;

    let asked = dispatched(&stage, "awaiting_input").await;

    assert_eq!(live(&stage), "", "a dry run changes nothing");
    let graph = stage.call("get_ticket_graph", json!({ "ticket": asked.name() })).await;
    let text = graph["question"]["text"].as_str().unwrap();
    assert!(text.contains("would add a line"), "{text}");
    let member = stage.caller("user nobody@acme.test", None).await;
    let refused = stage.call_as(&member, "approve_ticket", approve(asked.name())).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);

    stage.call("approve_ticket", approve(asked.name())).await;

    let digest = stage.until(asked.name(), "succeeded").await;
    assert_eq!(live(&stage), "line\n");
    assert_eq!((digest.outcome(), digest.merge()), ("fully_verified", "merged"));
    let proofs = stage.column("SELECT claim || ': ' || verdict FROM proofs ORDER BY n");
    let expected = [
        "The dry run of data-operations/ACME-1.sh ends well: proven",
        "data-operations/ACME-1.sh is applied: proven",
    ];
    assert_eq!(proofs, expected);
    assert!(stage.read("data-operations/ACME-1.sh").contains("adding a line"));
    stage.close().await;
}

#[tokio::test]
async fn others_land_while_a_script_is_applied() {
    let waits = "echo line >>\"$STAGE/live\"; : >$STAGE/applying
        while [ ! -e \"$STAGE/go\" ]; do sleep 0.01; done";
    let script = SCRIPT.replace("echo line >>\"$STAGE/live\"", waits);
    let script = script.replace("s|.STAGE|$STAGE|", "s|.STAGE|$STAGE|g");
    let other = "case $prompt in *hello*) echo hello >hello.txt; exit ;; esac\n";
    let stage = Stage::new(&format!("{other}{script}")).await;
    let asked = dispatched(&stage, "awaiting_input").await;
    stage.call("approve_ticket", approve(asked.name())).await;
    stage.told("applying").await;

    stage.ends("succeeded").await;

    assert_eq!(stage.digest(asked.name()).await.status(), "running");
    stage.tell("go");
    stage.until(asked.name(), "succeeded").await;
    assert_eq!(live(&stage), "line\n");
    assert_eq!(stage.landings(asked.name()), 1);
    stage.close().await;
}

#[tokio::test]
async fn a_dry_run_that_finds_fault_is_never_applied() {
    let script =
        SCRIPT.replace("echo would add a line; exit 0", "echo 3 rows lack a theme; exit 1");
    let stage = Stage::with(&script, |settings, _| settings.limits.implement_rounds = 1).await;

    let digest = dispatched(&stage, "failed").await;

    assert!(digest.reason().contains("3 rows lack a theme"), "{}", digest.reason());
    let act = digest.human_actions();
    assert!(act.contains("3 rows lack a theme (exit code 1)"), "{act}");
    assert_eq!(live(&stage), "");
    let refused = stage.try_call("approve_ticket", approve(digest.name())).await.unwrap_err();
    assert_eq!(refused.code, Code::NotAwaitingInput);
    stage.close().await;
}

#[tokio::test]
async fn a_script_that_fails_on_live_data_is_run_again_only_after_another_approval() {
    let script = SCRIPT.replace("echo adding a line", "test -e \"$STAGE/ok\" || exit 4");
    let stage = Stage::new(&script).await;
    let asked = dispatched(&stage, "awaiting_input").await;

    stage.call("approve_ticket", approve(asked.name())).await;
    let digest = stage.until(asked.name(), "failed").await;

    assert!(digest.reason().contains("on live data (exit code 4)"), "{}", digest.reason());
    assert!(digest.human_actions().contains("Look at its output"), "{}", digest.human_actions());
    assert_eq!(stage.landings(asked.name()), 0);

    stage.tell("ok");
    stage.call("retry_ticket", json!({ "ticket": asked.name() })).await;
    stage.until(asked.name(), "awaiting_input").await;
    assert_eq!(live(&stage), "");
    stage.call("approve_ticket", approve(asked.name())).await;
    stage.until(asked.name(), "succeeded").await;
    assert_eq!(live(&stage), "line\n");
    stage.close().await;
}

#[tokio::test]
async fn without_its_script_a_data_operation_gets_no_further() {
    let stage = Stage::with(super::stage::ADDS_A_FILE, |settings, _| {
        settings.limits.implement_rounds = 1;
    })
    .await;

    let digest = dispatched(&stage, "failed").await;

    assert!(digest.reason().contains("data-operations/ACME-1.sh"), "{}", digest.reason());
    assert_eq!(stage.landings(digest.name()), 0);
    stage.close().await;
}
