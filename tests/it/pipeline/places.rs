//! Agent profiles that do no more than so many nodes at once.

use assay::projects::settings::Settings;
use serde_json::json;

use super::stage::Stage;

/// An agent that notes how many of it run, and ends its work once `go` is told. One with `QUICK`
/// set waits for nobody.
const COUNTS: &str = r#"
if is implement && [ -z "$QUICK" ]; then
  : >"$STAGE/run-$$"
  ls "$STAGE" | grep -c '^run-' >>"$STAGE/counts"
  await go
  rm "$STAGE/run-$$"
fi
if is implement; then echo hello >"hello-$$.txt"; fi"#;

/// One of the script at once, and any number of a quick one that does the preset `high`.
fn one_at_once(settings: &mut Settings) {
    settings.limits.concurrency = 4;
    let profiles = &mut settings.agents.profiles;
    let mut quick = profiles["script"].clone();
    quick.set.insert("QUICK".to_owned(), "yes".to_owned());
    profiles.insert("quick".to_owned(), quick);
    profiles.get_mut("script").unwrap().max_concurrent = Some(1);
    settings.agents.default = Some("script".to_owned());
    settings.agents.presets.insert("high".to_owned(), "quick".to_owned());
}

async fn dispatch_quick(stage: &Stage) -> String {
    let args = json!({ "title": "Draw a map of the town", "preset": "high" });
    let filed = stage.call("dispatch_ticket", args).await;
    filed["ticket"]["ticketRef"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_profile_does_no_more_nodes_at_once_than_it_may_and_holds_up_no_other() {
    let stage = Stage::with(COUNTS, |settings, _| one_at_once(settings)).await;
    let first = stage.dispatch("Say hello").await;
    stage.told("counts").await;
    let second = stage.dispatch("Count the birds on the roof").await;
    let third = stage.dispatch("Paint every door blue").await;

    let quick = dispatch_quick(&stage).await;

    stage.until(&quick, "succeeded").await;
    assert_eq!(stage.digest(&first).await.status(), "running");
    assert_eq!(stage.digest(&second).await.status(), "queued");
    assert_eq!(stage.digest(&third).await.status(), "queued");
    let said = stage.column("SELECT text FROM ticket_events WHERE kind = 'held'");
    assert_eq!(said.len(), 2, "{said:?}");
    let turn = "waits for its turn: the agent profile script does 1 at once (maxConcurrent).";
    assert!(said.iter().all(|said| said.ends_with(turn)), "{said:?}");

    stage.tell("go");

    for ticket in [&first, &second, &third] {
        stage.until(ticket, "succeeded").await;
    }
    let counts = std::fs::read_to_string(stage.path("counts")).unwrap();
    assert_eq!(counts, "1\n1\n1\n");
    let began = "SELECT t.seq || '' FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id
        WHERE e.kind = 'node_started' AND e.node_ref = 'implement-1' AND t.seq < 4 ORDER BY e.n";
    assert_eq!(stage.column(began), ["1", "2", "3"]);
    // Without its project a node would take no turn with those of other projects.
    let turnless = "SELECT id FROM jobs WHERE kind = 'run_node' AND project_id IS NULL";
    assert!(stage.column(turnless).is_empty());
    stage.close().await;
}

#[tokio::test]
async fn a_ticket_that_waits_for_a_profile_can_be_cancelled_and_tried_again() {
    let stage = Stage::with(COUNTS, |settings, _| one_at_once(settings)).await;
    let first = stage.dispatch("Say hello").await;
    stage.told("counts").await;
    let second = stage.dispatch("Count the birds on the roof").await;

    stage.call("cancel_ticket", json!({ "ticket": second, "confirm": true })).await;
    stage.call("retry_ticket", json!({ "ticket": second })).await;
    assert_eq!(stage.digest(&second).await.status(), "queued");
    stage.tell("go");

    for ticket in [&first, &second] {
        stage.until(ticket, "succeeded").await;
    }
    assert_eq!(stage.column("SELECT id FROM tickets WHERE held_for IS NOT NULL"), [""; 0]);
    stage.close().await;
}

#[tokio::test]
async fn a_limit_that_is_lifted_lets_those_go_on_that_waited() {
    let stage = Stage::with(COUNTS, |settings, _| one_at_once(settings)).await;
    let first = stage.dispatch("Say hello").await;
    stage.told("counts").await;
    let second = stage.dispatch("Count the birds on the roof").await;
    let project = stage.call("get_project", json!({})).await;
    let mut agents = project["settings"]["agents"].clone();
    agents["profiles"]["script"]["maxConcurrent"] = json!(2);

    let change = json!({ "settings": { "agents": agents }, "confirm": true });
    stage.call("update_project", change).await;

    stage.until(&second, "running").await;
    stage.tell("go");
    for ticket in [&first, &second] {
        stage.until(ticket, "succeeded").await;
    }
    stage.close().await;
}
