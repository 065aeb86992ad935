//! Receivers that fail, hang, redirect, flood, or are not where they should be.

use std::time::{Duration, Instant};

use assay::accounts::KeyScope;
use assay::base::Secret;
use assay::notices::Event;
use assay::notices::deliveries::State;
use assay::notices::outbox::{ATTEMPTS_MAX, PENDING_MAX};
use serde_json::json;

use super::{Hooked, hook, sole_project};
use crate::harness::{Answer, Receiver, TestApp, script};

/// A still app with a project, and a webhook to a receiver.
async fn told(app: &TestApp, receiver: &Receiver) -> Hooked {
    let acme = app.tenant("Acme").await;
    let project = acme.project("Own", "OWN").await;
    hook(app, (acme.id, project), receiver, &[]).await
}

/// Everything that is due now is done.
async fn drain(app: &TestApp) {
    app.app.worker().drain().await.unwrap();
}

#[tokio::test]
async fn what_was_not_taken_is_told_again_under_the_same_id() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|number| match number {
        0 => Answer::Says(500, "broken: password=hunter2hunter2".to_owned()),
        _ => Answer::status(200),
    });
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;

    drain(&app).await;
    let (message, last) = hooked.log(&app).await.remove(0);
    assert_eq!((message.state, message.attempts), (State::Pending, 1));
    let last = last.unwrap();
    assert_eq!((last.status, last.error.as_deref()), (Some(500), Some("It answered 500.")));
    assert!(last.answer.contains("broken") && !last.answer.contains("hunter2"), "{}", last.answer);
    drain(&app).await;
    assert_eq!(receiver.heard().len(), 1, "it is left alone for a while");
    app.app.env().clock.advance(Duration::from_secs(6));
    drain(&app).await;

    let heard = receiver.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].header("webhook-id"), heard[1].header("webhook-id"));
    assert_ne!(heard[0].header("webhook-timestamp"), heard[1].header("webhook-timestamp"));
    assert_ne!(heard[0].header("webhook-signature"), heard[1].header("webhook-signature"));
    assert_eq!(heard[0].body, heard[1].body);
    let (message, _) = hooked.log(&app).await.remove(0);
    assert_eq!((message.state, message.attempts), (State::Delivered, 2));
}

#[tokio::test]
async fn a_message_is_given_up_after_its_tries_and_told_again_when_somebody_asks() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|number| {
        Answer::status(if number < ATTEMPTS_MAX as usize { 400 } else { 200 })
    });
    let hooked = told(&app, &receiver).await;
    let message = hooked.test(&app).await;

    for _ in 0..ATTEMPTS_MAX + 2 {
        drain(&app).await;
        app.app.env().clock.advance(Duration::from_hours(13));
    }
    let (given_up, _) = hooked.log(&app).await.remove(0);
    assert_eq!((given_up.state, given_up.attempts), (State::GivenUp, ATTEMPTS_MAX));
    assert_eq!(receiver.heard().len(), ATTEMPTS_MAX as usize);
    hooked.send_again(&app, message).await.unwrap();
    drain(&app).await;

    let (delivered, _) = hooked.log(&app).await.remove(0);
    assert_eq!(delivered.state, State::Delivered);
    let heard = receiver.heard();
    assert_eq!(heard[0].header("webhook-id"), heard[heard.len() - 1].header("webhook-id"));
}

#[tokio::test]
async fn a_webhook_that_fails_for_days_is_switched_off_and_says_so() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|_| Answer::status(503));
    let hooked = told(&app, &receiver).await;

    for _ in 0..6 {
        hooked.test(&app).await;
        drain(&app).await;
        assert_eq!(hooked.off(&app).await, None);
        app.app.env().clock.advance(Duration::from_hours(23));
    }
    let message = hooked.test(&app).await;
    drain(&app).await;

    let why = hooked.off(&app).await.unwrap();
    assert_eq!(why, "It has failed for 5 days. It answered 503.");
    let pending = app.column("SELECT state FROM webhook_messages WHERE state = 'pending'");
    assert_eq!(pending, Vec::<String>::new());
    let refused = hooked.send_again(&app, message).await.unwrap_err();
    assert!(refused.message.contains("Switch it on"), "{refused}");
}

#[tokio::test]
async fn one_that_says_it_is_gone_is_switched_off_at_once() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|_| Answer::status(410));
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;

    drain(&app).await;

    let why = hooked.off(&app).await.unwrap();
    assert_eq!(why, "It answered that it is gone for good (410).");
}

#[tokio::test]
async fn a_receiver_that_asks_to_be_left_alone_is() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|number| match number {
        0 => Answer::With(429, "Retry-After: 3600".to_owned()),
        _ => Answer::status(200),
    });
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;
    drain(&app).await;

    app.app.env().clock.advance(Duration::from_mins(59));
    drain(&app).await;
    assert_eq!(receiver.heard().len(), 1);
    app.app.env().clock.advance(Duration::from_mins(2));
    drain(&app).await;

    assert_eq!(receiver.heard().len(), 2);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let app = TestApp::still().await;
    let other = Receiver::start();
    let location = format!("Location: {}", other.url());
    let receiver = Receiver::answering(move |_| Answer::With(307, location.clone()));
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;

    drain(&app).await;

    let (message, last) = hooked.log(&app).await.remove(0);
    assert_eq!(message.state, State::Pending);
    let said = last.unwrap().error.unwrap();
    assert_eq!(said, "It answered with a redirect (307), which is not followed.");
    assert_eq!((receiver.heard().len(), other.heard().len()), (1, 0));
}

#[tokio::test]
async fn of_a_gigabyte_the_beginning_is_read() {
    let app = TestApp::still().await;
    let receiver = Receiver::answering(|_| Answer::Flood);
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;

    drain(&app).await;

    let (message, last) = hooked.log(&app).await.remove(0);
    assert_eq!(message.state, State::Delivered);
    assert_eq!(last.unwrap().answer.chars().count(), 300);
    assert!(receiver.flooded() < 64 << 20, "{} bytes were taken", receiver.flooded());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_hangs_keeps_no_ticket_waiting_and_no_other_receiver() {
    let app = TestApp::start().await;
    let acme = app.tenant("Acme").await;
    acme.project_with_repo("Widgets", "ACME", script("echo more >>index.html")).await;
    let project = sole_project(&app);
    let (hanging, other) = (Receiver::answering(|_| Answer::Nothing), Receiver::start());
    let hooked = hook(&app, (acme.id, project), &hanging, &[]).await;
    hook(&app, (acme.id, project), &other, &[Event::TicketResolved]).await;
    let caller = acme.key(KeyScope::McpFull).await;
    let began = Instant::now();

    caller.dispatch(json!({ "title": "Say hello", "preset": "trivial" })).await;
    caller.wait_for("ACME-1", "succeeded").await;
    let other = tokio::task::spawn_blocking(move || other.until(|heard| heard.len() == 1));
    other.await.unwrap();
    let took = began.elapsed();

    app.until(
        "SELECT iif(count(*) > 0, 'some', 'none') FROM webhook_attempts WHERE status IS NULL",
        "some",
    )
    .await;
    let log = hooked.log(&app).await;
    let tried: Vec<_> = log.iter().filter_map(|(_, last)| last.as_ref()).collect();
    assert_eq!(tried[0].error.as_deref(), Some("No answer within 10 seconds."));
    assert!(tried[0].took >= Duration::from_secs(9), "{:?}", tried[0].took);
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert_eq!(hanging.heard().len(), 1, "it is asked one thing at a time");
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_called_only_where_an_owner_says_so() {
    let app = TestApp::still().await;
    let receiver = Receiver::start();
    let hooked = told(&app, &receiver).await;
    let port = receiver.address.port();
    for (url, private, expected) in [
        (format!("https://localhost:{port}/"), 0, "is this machine or one of its own network"),
        (format!("http://169.254.169.254:{port}/"), 1, "link-local or reserved"),
        ("https://assay.invalid/".to_owned(), 0, "cannot be looked up"),
    ] {
        app.raw(&format!(
            "UPDATE webhooks SET url = '{url}', is_private = {private}, \
                          paused_until = NULL"
        ));
        hooked.test(&app).await;
        drain(&app).await;
        app.app.env().clock.advance(Duration::from_hours(1));

        let (_, last) = hooked.log(&app).await.remove(0);
        let last = last.unwrap();
        let said = last.error.unwrap();
        assert!(said.contains(expected), "{url}: {said}");
        assert_eq!(last.status, None, "{url}");
        app.raw("UPDATE webhook_messages SET state = 'dropped', next_at = NULL, settled_at = 1");
    }
    assert_eq!(receiver.heard().len(), 0);
}

#[tokio::test]
async fn what_is_too_much_to_be_told_is_dropped_and_the_log_says_so() {
    let app = TestApp::still().await;
    let receiver = Receiver::start();
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;
    app.raw(&format!(
        "WITH RECURSIVE more (i) AS
             (SELECT 1 UNION ALL SELECT i + 1 FROM more WHERE i < {PENDING_MAX})
         INSERT INTO webhook_messages (id, tenant_id, webhook_id, event, facts, state, attempts_max,
             next_at, created_at)
         SELECT randomblob(16), tenant_id, webhook_id, event, facts, state, attempts_max, next_at,
             created_at FROM webhook_messages, more"
    ));
    let tenant = hooked.tenant;
    let key = app.app.env().db.write(move |tx| {
        let new = assay::accounts::keys::NewKey::plain("test", KeyScope::McpFull, "test");
        assay::accounts::keys::create(tx, tenant, &new)
    });
    let (_, key): (_, Secret) = key.await.unwrap();
    app.caller(key.reveal()).dispatch(json!({ "title": "One too many" })).await;

    let states = app.column("SELECT state FROM webhook_messages WHERE event = 'ticket.queued'");
    assert_eq!(states, ["dropped"]);
}

#[tokio::test]
async fn what_was_told_is_forgotten_after_a_while() {
    let app = TestApp::still().await;
    let receiver = Receiver::start();
    let hooked = told(&app, &receiver).await;
    hooked.test(&app).await;
    drain(&app).await;
    let tenant = hooked.tenant;
    let removing = assay::notices::webhooks::remove;
    let id = hooked.id;
    app.app.env().db.write(move |tx| removing(tx, tenant, id)).await.unwrap();
    let count = "SELECT (SELECT count(*) FROM webhooks) || (SELECT count(*) FROM webhook_messages)
                 || (SELECT count(*) FROM webhook_attempts)";
    app.app.env().clock.advance(Duration::from_hours(13 * 24));
    drain(&app).await;
    assert_eq!(app.column(count), ["111"]);

    app.app.env().clock.advance(Duration::from_hours(25));
    drain(&app).await;

    assert_eq!(app.column(count), ["000"]);
}
