//! What the agent of a node does with the key that Assay gave it: file, ask, show, and nothing to
//! its own record.

use std::fs;

use assay::base::{Code, Secret};
use serde_json::{Value, json};

use super::stage::{Digest, Stage};

/// An agent that hands its key to the test and goes on once it is told.
const LENDS_ITS_KEY: &str = r#"
    if is implement; then
        echo "$ASSAY_KEY" >"$STAGE/key.part"; mv "$STAGE/key.part" "$STAGE/key"
        echo hello >hello.txt; await go
        [ -e "$STAGE/silent" ] && rm "$STAGE/silent" && exit 0
    fi
    report '{ "outcome": "done", "summary": "Done." }'"#;

async fn lent(stage: &Stage) -> Secret {
    stage.told("key").await;
    Secret::new(fs::read_to_string(stage.path("key")).unwrap().trim().to_owned())
}

async fn ended(stage: &Stage, ticket: &str) -> Digest {
    stage.tell("go");
    stage.until(ticket, "succeeded").await
}

#[tokio::test]
async fn an_agent_files_ten_children_and_they_wait_for_nothing() {
    let stage = Stage::new(LENDS_ITS_KEY).await;
    let ticket = stage.dispatch("Say hello").await;
    let key = lent(&stage).await;
    let child = |n: usize| json!({ "title": format!("More {n}"), "description": "Do more." });
    let mut refs = Vec::new();

    for n in 0..10 {
        let said = stage.call_with(&key, "file_child_ticket", child(n)).await.unwrap();
        assert_eq!((&said["parent_ref"], &said["left"]), (&json!(ticket), &json!(9 - n)));
        refs.push(said["ticket"]["ticketRef"].clone());
    }

    let again = stage.call_with(&key, "file_child_ticket", child(3)).await.unwrap();
    assert_eq!(again["ticket"]["ticketRef"], refs[3], "the same title is the same child");
    let eleventh = stage.call_with(&key, "file_child_ticket", child(10)).await.unwrap_err();
    assert_eq!(eleventh.code, Code::Conflict);
    let waits = "SELECT count(*) || '' FROM ticket_dependencies";
    assert_eq!(stage.column(waits), ["0"]);
    let noted = "SELECT count(*) || '' FROM ticket_events WHERE kind = 'child_filed'";
    assert_eq!(stage.column(noted), ["10"]);
    for named in refs {
        stage.call("cancel_ticket", json!({ "ticket": named })).await;
    }
    ended(&stage, &ticket).await;
    stage.close().await;
}

#[tokio::test]
async fn what_an_agent_shows_is_kept_without_its_key_and_proves_nothing() {
    let stage = Stage::new(LENDS_ITS_KEY).await;
    let ticket = stage.dispatch("Say hello").await;
    let key = lent(&stage).await;
    let show = |more: Value| {
        let mut args = json!({ "claim": "It says hello.", "label": "output" });
        for (name, value) in more.as_object().unwrap() {
            args[name] = value.clone();
        }
        args
    };

    let text = show(json!({ "text": format!("Used {}", key.reveal()) }));
    stage.call_with(&key, "attach_evidence", text).await.unwrap();
    let file = show(json!({ "path": "hello.txt" }));
    let said = stage.call_with(&key, "attach_evidence", file).await.unwrap();
    assert_eq!(said["size_bytes"], 6);
    for bad in ["../../assay.db", "/etc/passwd", ".git", "none"] {
        let fault = stage.call_with(&key, "attach_evidence", show(json!({ "path": bad }))).await;
        assert_eq!(fault.unwrap_err().issues[0].path, "path", "{bad}");
    }
    let both = show(json!({ "path": "hello.txt", "text": "x" }));
    assert!(stage.call_with(&key, "attach_evidence", both).await.is_err());

    let kept = "SELECT p.verdict || ' ' || e.size_bytes FROM proofs p
                JOIN proof_evidence e ON e.proof_id = p.id WHERE p.kind = 'exhibit' ORDER BY p.n";
    assert_eq!(stage.column(kept), ["inconclusive 15", "inconclusive 6"]);
    for _ in 2..20 {
        let text = show(json!({ "text": "x" }));
        stage.call_with(&key, "attach_evidence", text).await.unwrap();
    }
    let more = stage.call_with(&key, "attach_evidence", show(json!({ "text": "x" }))).await;
    assert_eq!(more.unwrap_err().code, Code::Conflict);
    let digest = ended(&stage, &ticket).await;
    assert_eq!(digest.outcome(), "implementation_succeeded", "nothing was verified by it");
    stage.close().await;
}

#[tokio::test]
async fn a_question_by_the_tool_opens_once_the_agent_ends_without_a_report() {
    let stage = Stage::new(LENDS_ITS_KEY).await;
    let ticket = stage.dispatch("Say hello").await;
    let key = lent(&stage).await;
    let asked = json!({ "question": "In which tongue?", "choices": ["French"] });
    stage.call_with(&key, "ask_person", asked).await.unwrap();
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert!(graph["question"].is_null(), "it is open once the node ends");
    stage.tell("silent");
    stage.tell("go");

    stage.until(&ticket, "awaiting_input").await;

    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(graph["question"]["text"], "In which tongue?");
    let own = json!({ "ticket": ticket, "message": "French, I say" });
    let refused = stage.call_with(&key, "reply_ticket", own).await.unwrap_err();
    assert_eq!(refused.code, Code::Unauthenticated, "the key ended with its node");
    stage.call("reply_ticket", json!({ "ticket": ticket, "message": "French" })).await;
    stage.until(&ticket, "succeeded").await;
    stage.close().await;
}

#[tokio::test]
async fn an_agent_does_nothing_to_its_own_record() {
    let stage = Stage::new(LENDS_ITS_KEY).await;
    let ticket = stage.dispatch("Say hello").await;
    let key = lent(&stage).await;

    for tool in ["cancel_ticket", "retry_ticket", "reply_ticket", "dispatch_ticket"] {
        let own = json!({ "ticket": ticket, "message": "Yes", "title": "T" });
        let fault = stage.call_with(&key, tool, own).await.unwrap_err();
        assert_eq!(fault.code, Code::ScopeDenied, "{tool}");
    }

    let digest = stage.call_with(&key, "get_ticket", json!({ "ticket": ticket })).await.unwrap();
    assert_eq!(digest["ticket"]["status"], "running");
    ended(&stage, &ticket).await;
    stage.close().await;
}
