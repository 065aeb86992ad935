//! The real program, killed between an event and the record that somebody was told of it.

use assay::base::stops::Stop;
use assay::base::{ProjectId, TenantId};
use assay::notices::Event;
use assay::notices::webhooks::{NewWebhook, create};
use rustix::process::Signal;

use super::house::{HELD, House, open, until};
use crate::harness::Receiver;
use crate::notices::id_of;

/// An agent that does something.
const AGENT: &str = "if is implement; then echo hello >hello.txt; fi";

/// Has a house's project tell a receiver of tickets that are filed.
fn hook(house: &House, receiver: &Receiver) {
    let url = receiver.url();
    let db = open(&house.path("data"));
    let project: ProjectId = id_of(&db.raw_column("SELECT hex(id) FROM projects").unwrap()[0]);
    let tenant: TenantId = id_of(&db.raw_column("SELECT hex(tenant_id) FROM projects").unwrap()[0]);
    let events = vec![Event::TicketQueued];
    let new = NewWebhook { project, url, events, is_private: true, by: "test".to_owned() };
    db.write_blocking(move |tx| create(tx, tenant, &new)).unwrap();
}

fn asked() -> serde_json::Value {
    serde_json::json!({ "title": "Say hello", "preset": "trivial", "pass_profile": "minimal" })
}

#[test]
fn killed_after_a_webhook_was_told_it_is_told_again_under_the_same_id() {
    let (house, receiver) = (House::new(AGENT), Receiver::start());
    hook(&house, &receiver);
    let server = house.serve_held(Stop::WebhookTold, 1);
    drop(server.try_call("dispatch_ticket", &asked()));
    until("the stop", || house.path(HELD).exists().then_some(()));
    assert_eq!(receiver.heard().len(), 1);
    server.signal(Signal::KILL);
    drop(server);

    let server = house.serve();

    let heard = receiver.until(|heard| heard.len() >= 2);
    assert_eq!(heard[0].header("webhook-id"), heard[1].header("webhook-id"));
    // The server has another port now, so the page of the ticket has another address.
    assert_eq!(heard[0].json()["timestamp"], heard[1].json()["timestamp"]);
    assert_eq!(heard[0].json()["data"]["text"], heard[1].json()["data"]["text"]);
    house.landed(&server.until("ACME-1", "succeeded"));
    house.close(server);
}

#[test]
fn killed_before_a_webhook_was_told_it_is_told_after_the_next_start() {
    let (house, receiver) = (House::new(AGENT), Receiver::start());
    hook(&house, &receiver);
    let server = house.serve_held(Stop::JobClaimed, 1);
    drop(server.try_call("dispatch_ticket", &asked()));
    until("the stop", || house.path(HELD).exists().then_some(()));
    server.signal(Signal::KILL);
    drop(server);

    let server = house.serve();

    receiver.until(|heard| !heard.is_empty());
    house.landed(&server.until("ACME-1", "succeeded"));
    house.close(server);
}
