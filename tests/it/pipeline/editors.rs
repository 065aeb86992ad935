//! Nodes that agents in somebody's editor do, from the claim to the landed commit.

use std::fs;
use std::path::PathBuf;

use assay::base::Code;
use serde_json::{Value, json};

use super::stage::Stage;

/// A stage whose nodes wait for an editor.
async fn stage() -> Stage {
    Stage::with("exit 1", |settings, _| {
        settings.agents.profiles.clear();
        settings.agents.default = Some("editor".to_owned());
    })
    .await
}

/// Claims the next node, which must be of that kind.
async fn claim(stage: &Stage, kind: &str) -> Value {
    let said = stage.call("claim_ticket_node", json!({ "agent_name": "cursor" })).await;
    assert_eq!(said["node"]["kind"], kind, "{said:#}");
    said
}

fn report(claimed: &Value, outcome: &str, more: &Value) -> Value {
    let mut args = json!({
        "claim_id": claimed["claim"]["id"], "outcome": outcome, "summary": "It went so.",
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        args[name] = value.clone();
    }
    args
}

async fn submit(stage: &Stage, claimed: &Value, outcome: &str, more: Value) -> Value {
    stage.call("submit_node_report", report(claimed, outcome, &more)).await
}

fn tree(claimed: &Value) -> PathBuf {
    claimed["worktree_path"].as_str().unwrap().into()
}

/// Does the contract node, so that the next claim is that of the work.
async fn to_implement(stage: &Stage) -> Value {
    let contract = claim(stage, "contract").await;
    submit(stage, &contract, "succeeded", json!({})).await;
    claim(stage, "implement").await
}

#[tokio::test]
async fn a_ticket_is_done_from_an_editor_down_to_the_landed_commit() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let waiting = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(waiting["graph"]["nodes"][0]["status"], "queued");
    assert_eq!(waiting["graph"]["nodes"][0]["claim"]["state"], "waiting");

    let contract = claim(&stage, "contract").await;
    assert!(contract["prompt"].as_str().unwrap().contains("submit_node_report"));
    assert!(contract["prompt"].as_str().unwrap().contains("Say hello"));
    let fetch = contract["fetch"].as_str().unwrap();
    assert!(fetch.ends_with(contract["branch"].as_str().unwrap()), "{fetch}");
    let holds = json!([{ "text": "It says hello.", "file": "hello.txt", "contains": "hello" }]);
    submit(&stage, &contract, "succeeded", json!({ "assertions": holds })).await;
    let implement = claim(&stage, "implement").await;
    let half = json!({
        "claim_id": implement["claim"]["id"], "message": "Half of it", "percent": 50,
        "usage": { "turns": 2, "input_tokens": 10 },
    });
    // The figures are sums: the same report again adds nothing.
    stage.call("report_node_progress", half.clone()).await;
    stage.call("report_node_progress", half).await;
    let under_way = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    let node = &under_way["graph"]["nodes"][1];
    assert_eq!(
        (&node["claim"]["state"], &node["claim"]["percent"]),
        (&json!("claimed"), &json!(50))
    );
    fs::write(tree(&implement).join("hello.txt"), "hello\n").unwrap();
    let used = json!({ "report": "Wrote *hello*.", "usage": { "turns": 3, "input_tokens": 40 } });
    submit(&stage, &implement, "succeeded", used).await;
    let review = claim(&stage, "review").await;
    submit(&stage, &review, "succeeded", json!({})).await;

    let digest = stage.until(&ticket, "succeeded").await;
    assert_eq!((stage.read("hello.txt").as_str(), stage.landings(&ticket)), ("hello\n", 1));
    assert_eq!(digest.outcome(), "fully_verified");
    assert_eq!((&digest.0["turnsUsed"], &digest.0["inputTokens"]), (&json!(3), &json!(40)));
    let author = stage.git(&["log", "--format=%an", "main", "--", "hello.txt"]);
    assert!(author.contains("cursor (agent)"), "{author}");
    let reports = stage.call("get_ticket_reports", json!({ "ticket": ticket })).await;
    assert!(reports.to_string().contains("Wrote *hello*."), "{reports:#}");
    let log = "SELECT log_lines || '' FROM nodes WHERE ref = 'implement-1'";
    assert_eq!(stage.column(log), ["2"], "what was said is its log");
    let last = stage.call("claim_ticket_node", json!({})).await;
    assert!(last["claim"].is_null() && last["hint"].is_string(), "{last}");
    stage.close().await;
}

#[tokio::test]
async fn a_review_may_ask_for_another_round_and_no_other_node_may() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let implement = to_implement(&stage).await;
    fs::write(tree(&implement).join("hello.txt"), "hallo\n").unwrap();
    let refused = report(&implement, "needs_round", &json!({}));
    let refused = stage.try_call("submit_node_report", refused).await.unwrap_err();
    assert_eq!(refused.issues[0].path, "outcome");
    submit(&stage, &implement, "succeeded", json!({})).await;
    let review = claim(&stage, "review").await;
    // What a reader leaves is thrown away.
    fs::write(tree(&review).join("notes.txt"), "notes\n").unwrap();

    submit(&stage, &review, "needs_round", json!({ "findings": ["It says hallo."] })).await;

    let again = claim(&stage, "implement").await;
    assert!(again["prompt"].as_str().unwrap().contains("It says hallo."), "{again}");
    assert!(!tree(&again).join("notes.txt").exists());
    assert_eq!(stage.digest(&ticket).await.status(), "running");
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn a_report_without_a_change_is_refused_and_the_claim_holds() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let implement = to_implement(&stage).await;
    let idle = report(&implement, "succeeded", &json!({}));

    let refused = stage.try_call("submit_node_report", idle).await.unwrap_err();

    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.message.contains("no_changes"), "{}", refused.message);
    submit(&stage, &implement, "succeeded", json!({ "no_changes": true })).await;
    claim(&stage, "review").await;
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn only_the_key_that_claimed_a_node_reports_on_it() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let contract = claim(&stage, "contract").await;
    let other = stage.another_key().await;
    let id = &contract["claim"]["id"];

    for (tool, args) in [
        ("report_node_progress", json!({ "claim_id": id, "message": "Mine now" })),
        ("submit_node_report", report(&contract, "failed", &json!({}))),
        ("release_node", json!({ "claim_id": id, "reason": "Away with it" })),
        ("ask_person", json!({ "claim_id": id, "question": "Mine?" })),
        ("file_child_ticket", json!({ "claim_id": id, "title": "T", "description": "D" })),
        ("attach_evidence", json!({ "claim_id": id, "claim": "C", "label": "l", "text": "t" })),
    ] {
        let fault = stage.call_with(&other, tool, args).await.unwrap_err();
        assert_eq!(fault.code, Code::NotFound, "{tool}");
    }

    assert!(stage.call("claim_ticket_node", json!({})).await["claim"].is_null(), "it is taken");
    submit(&stage, &contract, "succeeded", json!({})).await;
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn a_released_node_waits_for_another_with_its_work_and_at_no_cost() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let first = to_implement(&stage).await;
    fs::write(tree(&first).join("hello.txt"), "hello\n").unwrap();
    let id = &first["claim"]["id"];

    stage.call("release_node", json!({ "claim_id": id, "reason": "Lunch" })).await;

    let late = json!({ "claim_id": id, "message": "Back" });
    let late = stage.try_call("report_node_progress", late).await.unwrap_err();
    assert_eq!(late.code, Code::Conflict);
    assert!(late.message.contains("claim_ticket_node"), "{}", late.message);
    let other = stage.another_key().await;
    let second = stage.call_with(&other, "claim_ticket_node", json!({})).await.unwrap();
    assert!(tree(&second).join("hello.txt").exists());
    let done = report(&second, "succeeded", &json!({}));
    stage.call_with(&other, "submit_node_report", done).await.unwrap();
    assert_eq!(stage.digest(&ticket).await.0["graphAmbientInterruptCount"], 0);
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn cancelling_a_ticket_ends_the_claim_and_the_next_report_says_so() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let implement = to_implement(&stage).await;
    fs::write(tree(&implement).join("hello.txt"), "hello\n").unwrap();

    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;

    let progress = json!({ "claim_id": implement["claim"]["id"], "message": "Nearly" });
    for (tool, args) in [
        ("report_node_progress", progress),
        ("submit_node_report", report(&implement, "succeeded", &json!({}))),
    ] {
        let fault = stage.try_call(tool, args).await.unwrap_err();
        assert_eq!(fault.code, Code::Conflict, "{tool}");
        assert!(fault.message.contains("Stop working"), "{}", fault.message);
    }
    stage.call("retry_ticket", json!({ "ticket": ticket })).await;
    claim(&stage, "implement").await;
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_the_node_is_claimed_again_with_it() {
    let stage = stage().await;
    let ticket = stage.dispatch("Say hello").await;
    let contract = claim(&stage, "contract").await;
    let unasked = report(&contract, "awaiting_input", &json!({}));
    let refused = stage.try_call("submit_node_report", unasked.clone()).await.unwrap_err();
    assert_eq!(refused.issues[0].path, "question");
    let asked = json!({
        "claim_id": contract["claim"]["id"], "question": "In which tongue?",
        "choices": ["French", "English"],
    });
    stage.call("ask_person", asked).await;
    stage.call("submit_node_report", unasked).await;

    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(graph["question"]["text"], "In which tongue?");
    assert_eq!(graph["question"]["choices"], json!(["French", "English"]));
    stage.call("reply_ticket", json!({ "ticket": ticket, "message": "French" })).await;
    let again = claim(&stage, "contract").await;
    assert!(again["prompt"].as_str().unwrap().contains("Answer: French"));
    submit(&stage, &again, "awaiting_input", json!({ "question": { "text": "Sure?" } })).await;
    assert_eq!(stage.digest(&ticket).await.status(), "awaiting_input");
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}

#[tokio::test]
async fn a_node_that_cannot_be_made_ready_ends_as_a_process_s_would() {
    let stage = Stage::with("exit 1", |settings, location| {
        settings.agents.profiles.clear();
        settings.agents.default = Some("editor".to_owned());
        location.push_str("/nowhere");
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;

    let fault = stage.try_call("claim_ticket_node", json!({})).await.unwrap_err();

    assert_eq!(fault.code, Code::ProjectNotReady);
    let digest = stage.until(&ticket, "failed").await;
    assert!(!digest.reason().is_empty());
    stage.close().await;
}

#[tokio::test]
async fn kinds_of_nodes_are_shared_between_editors_and_processes() {
    let stage = Stage::with(super::stage::ADDS_A_FILE, |settings, _| {
        settings.agents.default = Some("script".to_owned());
        settings.agents.nodes.insert("review".to_owned(), "editor".to_owned());
    })
    .await;
    let ticket = stage.dispatch("Say hello").await;
    let review = loop {
        let said = stage.call("claim_ticket_node", json!({ "kinds": ["review"] })).await;
        if !said["claim"].is_null() {
            break said;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };

    assert_eq!(fs::read_to_string(tree(&review).join("hello.txt")).unwrap(), "hello\n");
    submit(&stage, &review, "succeeded", json!({})).await;

    stage.until(&ticket, "succeeded").await;
    assert_eq!(stage.landings(&ticket), 1);
    stage.close().await;
}
