//! The three example answers of the published tickets contract, reproduced by agents that are
//! scripts: the fields, their presence and what they say, but for ids, times and what a model used.

use assay::projects::settings::VerifyCommand;
use serde_json::{Value, json};

use super::secrets::Holder;
use super::stage::Stage;

/// The top-level fields of an answer, without the ticket.
fn fields(answer: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = answer.as_object().unwrap().keys().map(String::as_str).collect();
    names.retain(|name| *name != "ticket");
    names.sort_unstable();
    names
}

/// What every answer has.
const ALWAYS: [&str; 14] = [
    "autoMergeStatus",
    "completionSummary",
    "creditBlockCount",
    "deferredItems",
    "followUpRecommendations",
    "graphAmbientInterruptCount",
    "humanActionRequired",
    "humanActions",
    "inputTokens",
    "outcome",
    "outputTokens",
    "partiallyVerifiedItems",
    "turnsUsed",
    "verificationGaps",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    let mut names: Vec<&str> = ALWAYS.iter().chain(more).copied().collect();
    names.sort_unstable();
    names
}

async fn filed(stage: &Stage, args: Value) -> String {
    let filed = stage.call("dispatch_ticket", args).await;
    filed["ticket"]["ticketRef"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_feature_that_succeeds() {
    let script = r#"
        if is plan; then report '{"outcome":"done","summary":"A toggle in the header"}'; fi
        if is contract; then report '{"outcome":"done","summary":"One assertion","assertions":[
            {"text":"The header has a toggle","check":{"file":"Header.svelte"}}]}'; fi
        if is implement; then echo toggle >Header.svelte
            report '{"outcome":"done","summary":"Added a sun/moon toggle to `Header.svelte`."}'; fi
        if is review; then report '{"outcome":"done","summary":"Good","verdict":"approve",
            "followUps":["Follow the system preference."]}'; fi"#;
    let stage = Stage::with(script, |settings, _| {
        settings.verify.push(VerifyCommand::new("tests", "test -s Header.svelte"));
    })
    .await;
    let ticket = filed(
        &stage,
        json!({
            "title": "Add dark-mode toggle to the dashboard header",
            "project": "Acme",
            "description": "The header should have a toggle that switches between light and dark. \
                Acceptance: it is shown at all widths, and the choice is kept.",
            "kind": "feature",
            "requester": { "display_name": "Ada Builder", "email": "ada@example.com",
                "channel": "mcp" },
            "operation_key": "scope-abc123:node-0"
        }),
    )
    .await;

    let answer = stage.until(&ticket, "succeeded").await.0;

    assert_eq!(fields(&answer), with(&["graph"]));
    let graph = &answer["graph"];
    assert_eq!(
        (&graph["origin"], &graph["status"], &graph["nodeCount"]),
        (&json!("dynamic"), &json!("succeeded"), &json!(6))
    );
    let kinds = ["plan", "contract", "implement", "review", "verification", "land"];
    let expected: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({ "ref": format!("{kind}-1"), "kind": kind, "status": "succeeded" }))
        .collect();
    assert_eq!(graph["nodes"], json!(expected));
    let commit = answer["ticket"]["commitSha"].as_str().unwrap();
    let summary = answer["completionSummary"].as_str().unwrap();
    assert!(summary.starts_with("Added a sun/moon toggle"), "{summary}");
    assert!(summary.ends_with(&format!("Merged to main at {}.", &commit[..12])), "{summary}");
    assert_eq!(
        (&answer["outcome"], &answer["autoMergeStatus"]),
        (&json!("fully_verified"), &json!("merged"))
    );
    assert_eq!(
        answer["followUpRecommendations"],
        json!([{ "text": "Follow the system preference.", "source": "review-1" }])
    );
    assert_eq!(answer["humanActions"], json!([]));
    stage.close().await;
}

#[tokio::test]
async fn a_data_operation_that_fails_with_a_note_on_how_to_go_on() {
    let reason = "Migration dry-run detected 3 rows that would violate the NOT NULL constraint on \
        preferences.theme. Manual review required before applying.";
    let act = "Review the 3 rows with null theme values in app.user_preferences and backfill a \
        default before retrying the migration.";
    let report = json!({ "outcome": "failed", "summary": reason, "humanActions": [act] });
    let script = format!(
        "if is implement; then for step in 1 2; do
            echo $step >$step.sql; git add .; git commit -qm \"Step $step\"; done
            report '{report}'; fi"
    );
    let stage = Stage::new(&script).await;
    let ticket = filed(
        &stage,
        json!({ "title": "Migrate user preferences to new schema",
        "kind": "data_operation", "pass_profile": "minimal" }),
    )
    .await;

    let answer = stage.until(&ticket, "failed").await.0;

    // The example leaves the graph out; for a planned graph the field table has it present.
    assert_eq!(fields(&answer), with(&["graph", "salvageNote"]));
    assert_eq!(answer["ticket"]["failureReason"], reason);
    assert_eq!(answer["ticket"]["commitSha"], Value::Null);
    assert_eq!(answer["humanActions"], json!([act]));
    assert_eq!(answer["humanActionRequired"], true);
    let null = Value::Null;
    assert_eq!((&answer["completionSummary"], &answer["autoMergeStatus"]), (&null, &null));
    let note = answer["salvageNote"].as_str().unwrap();
    assert!(note.contains("keeps 2 commits") && note.contains("retry_ticket"), "{note}");
    assert_eq!(answer["outcome"], "failed");
    stage.close().await;
}

#[tokio::test]
async fn a_feature_that_waits_for_a_secret() {
    let script = r#"if is implement; then
        if [ -n "$STRIPE_WEBHOOK_SECRET" ]; then echo wired >webhook.txt; exit 0; fi
        echo stub >webhook.txt
        report '{"outcome":"needs_input",
            "summary":"The webhook endpoint is scaffolded; its signature check needs the secret.",
            "question":{"text":"The signing secret of the Stripe webhook.",
                "secret":"STRIPE_WEBHOOK_SECRET"}}'; fi"#;
    let stage = Stage::new(script).await;
    let ticket = filed(
        &stage,
        json!({ "title": "Integrate Stripe Checkout for the Pro plan upgrade",
        "kind": "feature", "pass_profile": "minimal",
        "requester": { "display_name": "Ada Builder", "channel": "mcp" } }),
    )
    .await;

    let answer = stage.until(&ticket, "awaiting_input").await.0;

    assert_eq!(fields(&answer), with(&["graph", "latestPhaseSummary"]));
    let phase = "The webhook endpoint is scaffolded; its signature check needs the secret.";
    assert_eq!(answer["latestPhaseSummary"], phase);
    assert_eq!(answer["outcome"], "in_progress");
    assert_eq!(answer["humanActionRequired"], true);
    let actions = answer["humanActions"].as_array().unwrap();
    assert_eq!(actions.len(), 1);
    let act = actions[0].as_str().unwrap();
    assert!(act.starts_with("Give STRIPE_WEBHOOK_SECRET through the secure link on http"), "{act}");
    assert!(act.contains("/tickets/ACME-1 ") && act.contains("never paste the value"), "{act}");
    assert!(act.ends_with("The signing secret of the Stripe webhook."), "{act}");
    let null = Value::Null;
    assert_eq!((&answer["completionSummary"], &answer["autoMergeStatus"]), (&null, &null));
    assert_eq!((&answer["ticket"]["completedAt"], &answer["ticket"]["commitSha"]), (&null, &null));
    assert!(answer["ticket"]["branchName"].as_str().unwrap().starts_with("agent/"));

    let made = stage.call("create_secret_link", json!({ "ticket": ticket })).await;
    let (holder, ..) = Holder::open(made["url"].as_str().unwrap()).await;
    assert_eq!(holder.give("whsec_0123456789abcdef").await.0, 200);

    stage.until(&ticket, "succeeded").await;
    assert_eq!(stage.read("webhook.txt"), "wired\n");
    stage.close().await;
}

#[tokio::test]
async fn an_answer_to_a_plain_question_is_asked_for_in_words() {
    let script = r#"if is implement; then echo stub >webhook.txt
        report '{"outcome":"needs_input","summary":"The webhook endpoint is scaffolded.",
            "question":{"text":"Which account is the checkout for?"}}'; fi"#;
    let stage = Stage::new(script).await;
    let ticket = filed(
        &stage,
        json!({ "title": "Integrate Checkout for the Pro plan upgrade",
        "kind": "feature", "pass_profile": "minimal" }),
    )
    .await;

    let answer = stage.until(&ticket, "awaiting_input").await.0;

    assert_eq!(fields(&answer), with(&["graph", "latestPhaseSummary"]));
    assert_eq!(answer["latestPhaseSummary"], "The webhook endpoint is scaffolded.");
    assert_eq!(answer["outcome"], "in_progress");
    assert_eq!(answer["humanActionRequired"], true);
    let asked = "Answer the agent's question: Which account is the checkout for?";
    assert_eq!(answer["humanActions"], json!([asked]));
    assert_eq!(answer["ticket"]["completedAt"], Value::Null);
    assert!(answer["ticket"]["branchName"].as_str().unwrap().starts_with("agent/"));
    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;
    stage.close().await;
}
