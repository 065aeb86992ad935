//! A brief in parts becomes a chain of tickets.

use serde_json::{Value, json};

use super::still;
use crate::golden;
use crate::harness::placed;

const BRIEF: &str = "The dashboard needs a dark theme. See web/src/theme.ts and docs/theme.md.\n\n\
    ## Phase 1: Add a toggle to the header\n\nIt switches between light and dark.\n\n\
    ## Phase 2: Keep the choice\n\nIn localStorage.\n\n\
    ## Phase 3: Follow the system\n\nWhere nobody chose.\n\n\
    ## Acceptance\n\n- The contrast is enough.\n- The choice survives a reload.\n";

fn large(title: &str) -> Value {
    json!({ "title": title, "project": "ACME", "description": BRIEF, "category": "Themes" })
}

#[tokio::test]
async fn a_large_brief_in_phases_becomes_a_chain_and_a_replay_returns_it() {
    let (app, caller) = still().await;
    let mut args = large("Add a dark theme");
    args["operation_key"] = json!("scope:1");

    let filed = caller.call("dispatch_ticket", args.clone()).await;
    let replayed = caller.call("dispatch_ticket", args).await;
    let second = caller.call("get_ticket", json!({ "ticket": "ACME-2" })).await;

    golden::matches("tickets/dispatch_chain.json", &placed(&filed));
    assert_eq!(replayed["chain"], filed["chain"]);
    assert_eq!(replayed["ticket"], filed["ticket"]);
    assert_eq!(replayed["duplicate"]["source"], "operation_key");
    assert_eq!(second["ticket"]["status"], "blocked");
    assert_eq!(second["ticket"]["categoryLabel"], "Themes");
    assert_eq!(second["ticket"]["dependsOn"], json!([filed["ticket"]["id"]]));
    let reasons = "SELECT ifnull(depends_on_reason, '') FROM tickets ORDER BY n";
    let expected = "Goes on from what ACME-1 landed: Phase 1: Add a toggle to the header";
    assert_eq!(app.column(reasons)[1], expected);
    let keys = "SELECT count(*) || '' FROM tickets WHERE operation_key IS NOT NULL";
    assert_eq!(app.column(keys), ["1"]);
    let said = app.column("SELECT text FROM ticket_events ORDER BY n");
    assert_eq!(said[0], "Filed. It is phase 1 of 3.");
    assert_eq!(said[2], "Filed. It is phase 3 of 3. Waits for ACME-2.");
}

#[tokio::test]
async fn a_phase_says_all_that_its_agent_must_know() {
    let (app, caller) = still().await;

    caller.dispatch(large("Add a dark theme")).await;

    let briefs = app.column("SELECT description FROM tickets ORDER BY n");
    for (at, brief) in briefs.iter().enumerate() {
        for said in ["needs a dark theme", "The contrast is enough.", "“Add a dark theme”"] {
            assert!(brief.contains(said), "{said}: {brief}");
        }
        let own = ["It switches between", "In localStorage.", "Where nobody chose."];
        for (other, said) in own.iter().enumerate() {
            assert_eq!(brief.contains(said), other == at, "{said}: {brief}");
        }
    }
}

#[tokio::test]
async fn the_parents_and_the_root_of_a_chain_are_what_was_asked() {
    let (_app, caller) = still().await;
    caller.dispatch(json!({ "title": "Choose the colours", "project": "ACME" })).await;
    let mut args = large("Add a dark theme");
    args["depends_on"] = json!(["#1"]);
    args["depends_on_reason"] = json!("It uses the colours that were chosen.");

    let filed = caller.call("dispatch_ticket", args).await;

    assert_eq!(filed["ticket"]["status"], "blocked");
    assert_eq!(filed["chain"][0]["depends_on"], json!([]));
    assert_eq!(filed["ticket"]["dependsOn"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_caller_and_a_project_may_forbid_it() {
    let (app, caller) = still().await;
    for (name, title) in [("no_split", "Dark theme"), ("predrafted", "The same, as it is")] {
        let mut args = large(title);
        args[name] = json!(true);
        args["override_duplicate"] = json!(true);

        let filed = caller.call("dispatch_ticket", args).await;

        assert!(filed.get("chain").is_none(), "{name}: {filed}");
        assert_eq!(filed["ticket"]["title"], title);
    }
    app.raw(
        "UPDATE projects SET settings = json_set(settings, '$.dispatch', \
         json('{\"splitAbove\": 20, \"duplicateThreshold\": 0}'))",
    );

    let filed = caller.call("dispatch_ticket", large("Dark theme")).await;

    assert!(filed.get("chain").is_none(), "{filed}");
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["3"]);
}

#[tokio::test]
async fn a_chain_is_compared_as_the_whole_that_was_asked_for() {
    let (app, caller) = still().await;
    let filed = caller.call("dispatch_ticket", large("Add a dark theme")).await;

    let again = caller.call("dispatch_ticket", large("Implement the dark theme")).await;

    assert_eq!(again["duplicate"]["source"], "near_duplicate");
    assert_eq!(again["chain"], filed["chain"]);
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["3"]);
}
