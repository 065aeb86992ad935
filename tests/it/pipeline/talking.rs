//! Tickets whose agent speaks the Agent Client Protocol, from words to a landed commit.

use assay::projects::agents::Permissions;
use serde_json::json;

use super::stage::Stage;
use crate::acp_agent;

async fn stage(script: &str, permissions: Permissions) -> Stage {
    let profile = acp_agent::profile(script);
    Stage::with("", move |settings, _| {
        settings.agents.profiles.clear();
        settings.agents.profiles.insert("talks".to_owned(), profile);
        settings.agents.permissions = permissions;
    })
    .await
}

#[tokio::test]
async fn a_ticket_is_done_over_the_protocol_and_lands() {
    let stage = stage("works", Permissions::Worktree).await;

    let digest = stage.ends("succeeded").await;

    assert_eq!(stage.read("made/hello.txt"), "hello\n");
    assert_eq!(stage.landings(digest.name()), 1);
    let used = "SELECT input_tokens || ' ' || output_tokens || ' ' || cost_micros || ' ' || turns
        FROM nodes WHERE kind = 'implement'";
    assert_eq!(stage.column(used), ["100 20 500000 1"]);
    let kept = "SELECT kind FROM nodes WHERE kind = 'implement' AND log_hash IS NOT NULL";
    assert_eq!(stage.column(kept), ["implement"]);
    stage.close().await;
}

#[tokio::test]
async fn what_an_agent_asks_permission_for_waits_for_a_person_and_goes_on() {
    let stage = stage("outside", Permissions::Ask).await;
    let asked = stage.ends("awaiting_input").await;
    let graph = stage.call("get_ticket_graph", json!({ "ticket": asked.name() })).await;
    let question = &graph["question"];
    assert!(question["text"].as_str().unwrap().contains("Fetch the manual"), "{question}");

    stage.call("reply_ticket", json!({ "ticket": asked.name(), "message": "Allow" })).await;

    let digest = stage.until(asked.name(), "succeeded").await;
    assert_eq!(stage.read("answer.txt"), "yes\n");
    assert_eq!(stage.landings(digest.name()), 1);
    stage.close().await;
}

#[tokio::test]
async fn cancelling_a_ticket_cancels_the_conversation() {
    let stage = stage("polite", Permissions::Worktree).await;
    let ticket = stage.dispatch("Say hello").await;
    let running = "SELECT hex(run_id) FROM processes";
    stage.until_so("the agent runs", || !stage.column(running).is_empty()).await;

    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;

    stage.until(&ticket, "cancelled").await;
    stage.until_so("the agent is gone", || stage.column(running).is_empty()).await;
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_wants_a_login_fails_the_ticket_and_says_what_to_do() {
    let stage = stage("login", Permissions::Worktree).await;

    let digest = stage.ends("failed").await;

    let said = digest.0.to_string();
    assert!(said.contains("Log in once on the server's machine"), "{said}");
    stage.close().await;
}
