//! A call that asks for what is there already is answered with it.

use assay::tickets::duplicates::{self, Place};
use assay::tickets::indexing;
use serde_json::{Value, json};

use super::likeness::pairs;
use super::still;
use crate::golden;
use crate::harness::placed;

fn brief(title: &str, description: &str) -> Value {
    json!({ "title": title, "description": description, "project": "ACME" })
}

/// The header work, and the same in other words.
const HEADER: (&str, &str) = (
    "Add a dark mode toggle to the header",
    "The header should have a toggle that switches between the light and the dark theme. The \
     choice is kept over a reload.",
);
const AGAIN: (&str, &str) = (
    "Implement dark-mode toggle in the header",
    "The choice is kept over a reload. The header has a toggle to switch between light and dark \
     theme.",
);

#[tokio::test]
async fn a_brief_in_other_words_is_answered_with_the_ticket_that_is_there() {
    let (app, caller) = still().await;
    let first = caller.dispatch(brief(HEADER.0, HEADER.1)).await;

    let again = caller.call("dispatch_ticket", brief(AGAIN.0, AGAIN.1)).await;
    let invoked = caller.invoke("dispatch_ticket", &brief(HEADER.0, HEADER.1)).await;

    assert_eq!(again["ticket"], first);
    golden::matches("tickets/dispatch_near_duplicate.json", &placed(&again));
    let summary = invoked.body["summary"].as_str().unwrap();
    assert!(summary.starts_with("ACME-1, which is queued, asks for the same"), "{summary}");
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["1"]);
}

#[tokio::test]
async fn an_override_files_it_and_the_audit_and_the_timeline_say_so() {
    let (app, caller) = still().await;
    caller.dispatch(brief(HEADER.0, HEADER.1)).await;
    let mut meant = brief(AGAIN.0, AGAIN.1);
    meant["override_duplicate"] = json!(true);

    let answer = caller.call("dispatch_ticket", meant).await;

    assert_eq!(answer["ticket"]["ticketRef"], "ACME-2");
    assert!(answer.get("duplicate").is_none(), "{answer}");
    let subject = "SELECT subject FROM audit WHERE action = 'dispatch_ticket' ORDER BY n DESC";
    assert_eq!(app.column(subject)[0], "ACME-2 (override_duplicate of ACME-1)");
    let said = "SELECT text FROM ticket_events ORDER BY n DESC";
    let expected = "Filed although ACME-1 asks for the same (override_duplicate).";
    assert_eq!(app.column(said)[0], expected);
}

#[tokio::test]
async fn a_cancelled_ticket_is_refiled_with_the_very_words_it_had() {
    let (app, caller) = still().await;
    caller.dispatch(brief(HEADER.0, HEADER.1)).await;
    caller.call("cancel_ticket", json!({ "ticket": "ACME-1" })).await;
    let mut anew = brief(HEADER.0, HEADER.1);
    anew["replaces"] = json!("ACME-1");

    let filed = caller.call("dispatch_ticket", anew.clone()).await;
    let again = caller.call("dispatch_ticket", anew).await;

    assert_eq!(filed["ticket"]["ticketRef"], "ACME-2", "{filed}");
    assert!(filed.get("duplicate").is_none(), "{filed}");
    assert_eq!(again["ticket"]["ticketRef"], "ACME-2", "that one asks for the same");
    assert_eq!(app.column("SELECT count(*) || '' FROM tickets"), ["2"]);
}

#[tokio::test]
async fn words_of_tickets_that_ended_long_ago_are_forgotten_until_a_retry() {
    let (app, caller) = still().await;
    caller.dispatch(brief(HEADER.0, HEADER.1)).await;
    caller.dispatch(brief("Write the footer", "With the year.")).await;
    let known = || app.column("SELECT DISTINCT ticket_n || '' FROM ticket_keys ORDER BY 1");
    caller.call("cancel_ticket", json!({ "ticket": "ACME-1" })).await;
    let db = &app.app.env().db;
    let sweep = || db.write(|tx| duplicates::sweep(tx, Place::START));
    db.write(indexing::fill).await.unwrap();
    sweep().await.unwrap();
    assert_eq!(known(), ["1", "2"], "it may be compared with for two weeks");

    app.raw("UPDATE tickets SET completed_at = completed_at - 1296000000 WHERE seq = 1");
    let next = sweep().await.unwrap();

    assert_eq!((known(), next), (vec!["2".to_owned()], Place::START));
    caller.call("retry_ticket", json!({ "ticket": "ACME-1" })).await;
    let again = caller.call("dispatch_ticket", brief(AGAIN.0, AGAIN.1)).await;
    assert_eq!(again["ticket"]["ticketRef"], "ACME-1", "{again}");
}

#[tokio::test]
async fn an_override_of_nothing_is_not_said() {
    let (app, caller) = still().await;
    let mut alone = brief(HEADER.0, HEADER.1);
    alone["override_duplicate"] = json!(true);

    caller.dispatch(alone).await;

    let subject = "SELECT subject FROM audit WHERE action = 'dispatch_ticket'";
    assert_eq!(app.column(subject), ["ACME-1"]);
    assert_eq!(app.column("SELECT text FROM ticket_events"), ["Filed."]);
}

#[tokio::test]
async fn the_operation_key_wins_over_the_content_and_over_the_override() {
    let (_app, caller) = still().await;
    let mut first = brief(HEADER.0, HEADER.1);
    first["operation_key"] = json!("k");
    caller.dispatch(first).await;
    caller.dispatch(brief("Write the footer", "With the year.")).await;
    let mut again = brief("Write the footer", "With the year.");
    again["operation_key"] = json!("k");
    again["override_duplicate"] = json!(true);

    let answer = caller.call("dispatch_ticket", again).await;

    assert_eq!(answer["duplicate"]["source"], "operation_key");
    assert_eq!(answer["ticket"]["ticketRef"], "ACME-1");
}

#[tokio::test]
async fn cancelled_and_long_ended_tickets_are_no_duplicates_and_failed_ones_say_what_to_do() {
    let (app, caller) = still().await;
    let day = 24 * 60 * 60 * 1_000_i64;
    caller.dispatch(brief(HEADER.0, HEADER.1)).await;
    let ends = |status: &str, days: i64| {
        app.raw(&format!(
            "UPDATE tickets SET status = '{status}', completed_at = created_at - {}",
            days * day
        ));
    };

    for (status, days, is_same) in [
        ("succeeded", 13, true),
        ("failed", 1, true),
        ("timeout", 13, true),
        ("succeeded", 15, false),
        ("failed", 15, false),
        ("cancelled", 0, false),
    ] {
        ends(status, days);

        let mut again = brief(AGAIN.0, AGAIN.1);
        again["depends_on"] = json!([]);
        let answer = caller.call("dispatch_ticket", again).await;

        assert_eq!(answer.get("duplicate").is_some(), is_same, "{status} {days}: {answer}");
        if is_same {
            let reason = answer["duplicate"]["match_reason"].as_str().unwrap();
            let helps = reason.contains("retry_ticket");
            assert_eq!(helps, status != "succeeded", "{status}: {reason}");
        } else {
            // What was filed now must not be met by the next round.
            let last = "UPDATE tickets SET status = 'cancelled', completed_at = created_at \
                        WHERE n = (SELECT max(n) FROM tickets)";
            app.raw(last);
        }
    }
}

#[tokio::test]
async fn projects_do_not_meet_and_a_threshold_of_0_compares_nothing() {
    let app = crate::harness::TestApp::still().await;
    let tenant = app.tenant("Acme").await;
    for key in ["ONE", "TWO"] {
        tenant.project(key, key).await;
    }
    let caller = tenant.key(assay::accounts::KeyScope::McpFull).await;
    let mut args = brief(HEADER.0, HEADER.1);
    for key in ["ONE", "TWO"] {
        args["project"] = json!(key);
        assert!(caller.call("dispatch_ticket", args.clone()).await.get("duplicate").is_none());
    }
    app.raw(
        "UPDATE projects SET settings = \
         json_set(settings, '$.dispatch', json('{\"duplicateThreshold\": 0}'))",
    );

    let again = caller.call("dispatch_ticket", args).await;

    assert!(again.get("duplicate").is_none(), "{again}");
}

#[tokio::test]
async fn a_secret_in_a_title_is_not_told_by_a_duplicate() {
    let (_app, caller) = still().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let named = brief(&format!("Use the token {secret} for releases"), "It works.");
    caller.dispatch(named.clone()).await;

    let again = caller.call("dispatch_ticket", named).await;

    assert_eq!(again["duplicate"]["source"], "near_duplicate");
    assert!(!again.to_string().contains(secret), "{again}");
}

#[tokio::test]
async fn the_judged_pairs_are_told_apart_through_the_door() {
    for pair in pairs() {
        if pair.sort == "reworded much" {
            continue;
        }
        let (_app, caller) = still().await;
        caller.dispatch(brief(&pair.one.0, &pair.one.1)).await;

        let answer = caller.call("dispatch_ticket", brief(&pair.other.0, &pair.other.1)).await;

        let taken = answer.get("duplicate").is_some();
        assert!(pair.same || !taken, "{} / {}", pair.one.0, pair.other.0);
    }
}

#[tokio::test]
async fn what_is_looked_at_is_bounded_whatever_the_project_holds() {
    let (app, _caller) = still().await;
    let sql = include_str!("../../../sql/duplicates.sql");
    let statement = |name: &str| {
        let start = sql.find(&format!("-- name: {name}\n")).unwrap();
        sql[start..].split_inclusive(';').next().unwrap().to_owned()
    };
    let explain = |name: &str| app.app.env().db.explain(&statement(name)).unwrap().join("; ");

    let (met, candidate) = (explain("met"), explain("candidate"));

    // The newest of one key, by the key alone, without sorting; then one ticket by its row.
    assert_eq!(met, "SEARCH ticket_keys USING PRIMARY KEY (key=?)");
    assert!(candidate.starts_with("SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"), "{candidate}");
    assert!(!met.contains("SCAN") && !candidate.contains("SCAN"), "{met}; {candidate}");
    assert!(statement("met").contains("LIMIT :limit"));
}

#[tokio::test]
async fn tickets_are_met_and_found_before_and_after_the_indexes_are_filled() {
    let (app, caller) = still().await;
    let first = caller.dispatch(brief(HEADER.0, HEADER.1)).await;
    let db = &app.app.env().db;
    let behind = || db.read(indexing::behind);
    assert_eq!(behind().await.unwrap(), 1);

    let unfilled = caller.call("dispatch_ticket", brief(AGAIN.0, AGAIN.1)).await;
    db.write(indexing::fill).await.unwrap();
    assert_eq!(behind().await.unwrap(), 0);
    let filled = caller.call("dispatch_ticket", brief(AGAIN.0, AGAIN.1)).await;
    caller.dispatch(brief("Show the delivery date", "It stands in the basket.")).await;
    let found = caller.call("search_tickets", json!({ "query": "delivery" })).await;

    assert_eq!((&unfilled["ticket"], &filled["ticket"]), (&first, &first));
    assert_eq!((&found["count"], behind().await.unwrap()), (&json!(1), 0));
}
