//! The walk-through of the README, done as it stands there: its agent, its calls, its outcome.

use assay::projects::settings::VerifyCommand;
use serde_json::json;

use super::stage::Stage;

/// The agent of the README: what stands between the lines that make the file.
fn agent() -> &'static str {
    let readme = include_str!("../../../README.md");
    let (_, after) = readme.split_once("cat > greeter.sh <<'SH'\n").expect("the agent begins");
    let (agent, _) = after.split_once("\nSH\n").expect("the agent ends");
    agent
}

#[tokio::test]
async fn the_readmes_ticket_asks_fails_once_is_repaired_and_lands() {
    let script = r#"printf '%s' "$prompt" | sh "$STAGE/greeter.sh""#;
    let stage = Stage::with(script, |settings, _| {
        settings.verify.push(VerifyCommand::new("syntax", "sh -n greet.sh"));
    })
    .await;
    std::fs::write(stage.path("greeter.sh"), agent()).unwrap();
    let asked = json!({
        "title": "Add greet.sh",
        "project": "Acme",
        "description": "sh greet.sh NAME prints a greeting for NAME.",
    });

    let filed = stage.call("dispatch_ticket", asked).await;
    let ticket = filed["ticket"]["ticketRef"].as_str().unwrap().to_owned();
    let waiting = stage.until(&ticket, "awaiting_input").await.0;
    stage.call("reply_ticket", json!({ "ticket": ticket, "message": "Hello, world" })).await;
    let landed = stage.until(&ticket, "succeeded").await.0;

    let question = "Answer the agent's question: Whom does greet.sh greet without a name?";
    assert_eq!(waiting["humanActions"], json!([question]));
    assert_eq!(landed["outcome"], "fully_verified");
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    let nodes = graph["graph"]["nodes"].as_array().unwrap().iter();
    let went: Vec<String> =
        nodes.map(|node| format!("{} {}", node["ref"], node["status"]).replace('"', "")).collect();
    assert_eq!(
        went,
        [
            "plan-1 succeeded",
            "contract-1 succeeded",
            "implement-1 succeeded",
            "review-1 succeeded",
            "verification-1 failed",
            "implement-2 succeeded",
            "review-2 succeeded",
            "verification-2 succeeded",
            "land-1 succeeded",
        ]
    );
    assert_eq!(stage.read("greet.sh").trim(), "echo \"Hello, ${1:-world}\"");
}
