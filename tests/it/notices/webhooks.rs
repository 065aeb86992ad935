//! What is told, to whom, and that it is signed.

use std::collections::BTreeSet;

use assay::accounts::KeyScope;
use assay::base::{Millis, Secret};
use assay::notices::webhooks::{MOST, create};
use assay::notices::{Event, signature};
use assay::work::webhook_body;
use serde_json::json;

use super::{hook, sole_project, wanted};
use crate::golden;
use crate::harness::{Answer, Heard, Receiver, TestApp, script};

/// The signature that a request ought to carry.
fn signed(secret: &Secret, heard: &Heard) -> String {
    let seconds: i64 = heard.header("webhook-timestamp").parse().unwrap();
    let id = heard.header("webhook-id");
    signature::sign(secret, id, Millis(seconds * 1_000), &heard.body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_life_of_a_ticket_is_told_signed_and_fits_the_schema() {
    let app = TestApp::start().await;
    let acme = app.tenant("Acme").await;
    acme.project_with_repo("Widgets", "ACME", script("echo more >>index.html")).await;
    let caller = acme.key(KeyScope::McpFull).await;
    let project = sole_project(&app);
    let receiver = Receiver::start();
    let hooked = hook(&app, (acme.id, project), &receiver, &[]).await;

    let title = "Use the key alch_0123456789abcdefghij";
    caller.dispatch(json!({ "title": title, "preset": "trivial" })).await;
    caller.wait_for("ACME-1", "succeeded").await;

    let is_resolved = |heard: &Heard| heard.json()["type"] == "ticket.resolved";
    let heard =
        tokio::task::spawn_blocking(move || receiver.until(|heard| heard.iter().any(is_resolved)));
    let heard = heard.await.unwrap();
    let told: Vec<String> =
        heard.iter().map(|one| one.json()["type"].as_str().unwrap().to_owned()).collect();
    let expected =
        ["ticket.queued", "ticket.running", "proof.made", "ticket.landed", "ticket.resolved"];
    assert_eq!(told, expected);
    let schema = caller.get("/schemas/webhook-event/v1.json").await;
    let schema = jsonschema::validator_for(&schema).unwrap();
    for one in &heard {
        assert_eq!(one.line, "POST /hook?key=k HTTP/1.1");
        assert_eq!(one.header("content-type"), "application/json");
        assert_eq!(one.header("webhook-signature"), signed(&hooked.secret, one));
        let problems: Vec<String> =
            schema.iter_errors(&one.json()).map(|problem| problem.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new());
        let text = String::from_utf8(one.body.clone()).unwrap();
        assert!(!text.contains("0123456789abcdef"), "{text}");
        assert!(!text.contains("whsec_") && one.body.len() < 4_096, "{text}");
    }
    let last = heard.last().unwrap().json();
    assert_eq!(last["data"]["ticket"]["ref"], "ACME-1");
    assert_eq!(last["data"]["ticket"]["status"], "succeeded");
    let url = last["data"]["ticket"]["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/tickets/ACME-1"), "{url}");
    assert!(last["data"]["ticket"]["commit"].is_string(), "{last}");
    assert_eq!(heard[2].json()["data"]["proof"]["verdict"], "proven");
    let ids: BTreeSet<&str> = heard.iter().map(|one| one.header("webhook-id")).collect();
    assert_eq!(ids.len(), heard.len(), "each message has an id of its own");
}

#[test]
fn the_published_schema_is_as_the_golden_says() {
    let text = serde_json::to_string_pretty(webhook_body::schema()).unwrap() + "\n";

    golden::matches("contract/webhook-event.v1.schema.json", &text);
}

#[tokio::test]
async fn a_webhook_is_told_what_it_chose_of_its_own_project() {
    let app = TestApp::still().await;
    let (acme, rival) = (app.tenant("Acme").await, app.tenant("Rival").await);
    let (own, other) = (acme.project("Own", "OWN").await, acme.project("Other", "OTH").await);
    let theirs = rival.project("Theirs", "THR").await;
    let receivers = [(); 3].map(|()| Receiver::start());
    hook(&app, (acme.id, own), &receivers[0], &[Event::TicketCancelled]).await;
    hook(&app, (acme.id, other), &receivers[1], &[]).await;
    hook(&app, (rival.id, theirs), &receivers[2], &[]).await;
    let caller = acme.key(KeyScope::McpFull).await;

    caller.dispatch(json!({ "title": "First", "project": "OWN" })).await;
    caller.call("cancel_ticket", json!({ "ticket": "OWN-1" })).await;
    let jobs = app.column("SELECT kind FROM jobs WHERE kind = 'tell_webhook'");
    assert_eq!(jobs.len(), 1, "one job for what the webhook is told");
    app.raw(
        "UPDATE jobs SET state = 'cancelled', finished_at = 1 WHERE kind = 'run_node' \
             AND state = 'ready'",
    );
    app.app.worker().drain().await.unwrap();

    let told: Vec<usize> = receivers.iter().map(|one| one.heard().len()).collect();
    assert_eq!(told, [1, 0, 0]);
    let said = receivers[0].heard()[0].json();
    assert_eq!(said["type"], "ticket.cancelled");
    assert_eq!(said["data"]["project"]["key"], "OWN");
}

#[tokio::test]
async fn what_waits_and_what_is_blocked_is_told() {
    let app = TestApp::still().await;
    let acme = app.tenant("Acme").await;
    let project = acme.project("Own", "OWN").await;
    let receiver = Receiver::start();
    hook(&app, (acme.id, project), &receiver, &[]).await;
    let caller = acme.key(KeyScope::McpFull).await;

    caller.dispatch(json!({ "title": "First" })).await;
    let why = "It needs what the first one lands.";
    let second = json!({ "title": "Second", "depends_on": ["OWN-1"], "depends_on_reason": why });
    caller.dispatch(second).await;

    let events = app.column("SELECT event FROM webhook_messages ORDER BY n");
    assert_eq!(events, ["ticket.queued", "ticket.blocked"]);
}

#[tokio::test]
async fn a_project_has_so_many_webhooks_and_no_more() {
    let app = TestApp::still().await;
    let acme = app.tenant("Acme").await;
    let project = acme.project("Own", "OWN").await;
    let (tenant, receiver) = (acme.id, Receiver::start());
    for _ in 0..MOST {
        hook(&app, (tenant, project), &receiver, &[]).await;
    }

    let new = wanted(project, receiver.url(), &[]);
    let refused = app.app.env().db.write(move |tx| create(tx, tenant, &new)).await;

    assert!(refused.unwrap_err().message.contains("may not have more"));
}

#[tokio::test]
async fn a_secret_is_sealed_in_the_database() {
    let app = TestApp::still().await;
    let acme = app.tenant("Acme").await;
    let project = acme.project("Own", "OWN").await;
    let receiver = Receiver::answering(|_| Answer::status(200));
    let hooked = hook(&app, (acme.id, project), &receiver, &[]).await;

    hooked.test(&app).await;
    app.app.worker().drain().await.unwrap();

    let random = hooked.secret.reveal().strip_prefix("whsec_").unwrap().to_owned();
    for file in ["assay.db", "assay.db-wal"] {
        let bytes = std::fs::read(app.dir().join("data").join(file)).unwrap_or_default();
        let found = bytes.windows(20).any(|part| part == &random.as_bytes()[..20]);
        assert!(!found, "{file} holds the secret");
    }
    // Another key file opens nothing, and the log says what to do.
    std::fs::remove_file(app.dir().join("data/secrets.key")).unwrap();
    hooked.test(&app).await;
    app.app.worker().drain().await.unwrap();
    let (_, last) = hooked.log(&app).await.remove(0);
    let said = last.unwrap().error.unwrap();
    assert!(said.contains("the key file of the data directory is another one"), "{said}");
    assert_eq!(receiver.heard().len(), 1);
}
