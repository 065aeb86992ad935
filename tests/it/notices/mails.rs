//! Mails to those who asked for tickets, by a mail server on loopback.

use std::time::Duration;

use assay::accounts::KeyScope;
use assay::app::{App, Opening};
use assay::base::{Clock, Entropy, MailServer, Millis, RateLimit};
use assay::notices::mails::HOURLY_MAX;
use assay::notices::outbox::ATTEMPTS_MAX;
use serde_json::{Value, json};

use crate::harness::{Caller, Manner, Postbox, TestApp, script};

/// An agent that asks.
const ASKS: &str = r#"printf '{"outcome":"needs_input","summary":"A sketch.",
    "question":{"text":"Which colour?","choices":["red","blue"]}}' >"$ASSAY_REPORT""#;

const MAILS: &str = "SELECT cast(count(*) AS TEXT) FROM mails";

const SENT: &str = "SELECT cast(count(*) AS TEXT) FROM mails WHERE state = 'sent'";

const UNTOLD: &str = "SELECT text FROM ticket_events WHERE kind = 'untold' ORDER BY n";

/// A still app whose mails go there, and a caller of a tenant with the project OWN.
async fn still(server: Option<MailServer>) -> (TestApp, Caller) {
    let app = TestApp::still_with_mail(server).await;
    let acme = app.tenant("Acme").await;
    acme.project("Own", "OWN").await;
    let caller = acme.key(KeyScope::McpFull).await;
    (app, caller)
}

/// Files a ticket for somebody and cancels it, so that they are told.
async fn cancelled(app: &TestApp, caller: &Caller, email: &str, title: &str) -> Value {
    let requester = json!({ "display_name": "Ada", "email": email });
    let asked = json!({ "title": title, "requester": requester, "override_duplicate": true });
    let filed = caller.dispatch(asked).await;
    let ticket = filed["ticketRef"].clone();
    caller.call("cancel_ticket", json!({ "ticket": ticket, "reason": "Not now." })).await;
    app.raw(
        "UPDATE jobs SET state = 'cancelled', finished_at = 1 WHERE kind = 'run_node' \
             AND state = 'ready'",
    );
    ticket
}

async fn drain(app: &TestApp) {
    app.app.worker().drain().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_mailed_with_what_is_asked_and_where() {
    let postbox = Postbox::start();
    let app = TestApp::start_with_mail(postbox.server()).await;
    let acme = app.tenant("Acme").await;
    acme.project_with_repo("Widgets", "ACME", script(ASKS)).await;
    let caller = acme.key(KeyScope::McpFull).await;
    let requester = json!({ "display_name": "Ada", "email": "ada@example.com" });

    let title = "Use the key alch_0123456789abcdefghij";
    caller.dispatch(json!({ "title": title, "preset": "trivial", "requester": requester })).await;
    caller.wait_for("ACME-1", "awaiting_input").await;
    app.until(SENT, "1").await;

    let mails = postbox.posted();
    assert_eq!(mails.len(), 1, "nobody is mailed before they are asked: {mails:#?}");
    let mail = &mails[0];
    assert_eq!(mail.to, ["RCPT TO:<ada@example.com>"]);
    assert_eq!(mail.header("To"), "ada@example.com");
    assert_eq!(mail.header("From"), "Assay <assay@example.com>");
    assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
    assert!(mail.header("Subject").starts_with("ACME-1 has a question: Use the key"), "{mail:#?}");
    assert!(mail.header("Message-ID").ends_with("@example.com>"), "{mail:#?}");
    for said in ["Which colour?", "- red\n- blue", "/tickets/ACME-1\n", "project Widgets."] {
        assert!(mail.text.contains(said), "{said}: {}", mail.text);
    }
    assert!(!format!("{mail:?}").contains("0123456789abcdef"), "{mail:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_is_mailed_with_what_came_of_it() {
    let postbox = Postbox::start();
    let app = TestApp::start_with_mail(postbox.server()).await;
    let acme = app.tenant("Acme").await;
    acme.project_with_repo("Widgets", "ACME", script("echo more >>index.html")).await;
    acme.project_with_repo("Broken", "BRK", script("exit 3")).await;
    let caller = acme.key(KeyScope::McpFull).await;

    for (project, status) in [("ACME", "succeeded"), ("BRK", "failed")] {
        let requester = json!({ "email": "ada@example.com" });
        let asked = json!({ "title": "Say hello", "preset": "trivial", "project": project,
            "requester": requester });
        caller.dispatch(asked).await;
        caller.wait_for(&format!("{project}-1"), status).await;
    }
    app.until(SENT, "2").await;

    let mails = postbox.posted();
    let about = |name: &str| {
        let found = mails.iter().find(|mail| mail.header("Subject").starts_with(name));
        found.unwrap_or_else(|| panic!("no mail about {name}: {mails:#?}"))
    };
    let (done, failed) = (about("ACME-1 is done: Say hello"), about("BRK-1 failed: Say hello"));
    assert!(done.text.contains("Its work is on main as "), "{}", done.text);
    assert!(failed.text.contains("exit code 3"), "{}", failed.text);
    assert_ne!(done.header("References"), failed.header("References"));
}

#[tokio::test]
async fn without_a_mail_server_or_an_address_nothing_is_written() {
    let (app, caller) = still(None).await;
    cancelled(&app, &caller, "ada@example.com", "First").await;
    assert_eq!(app.column(MAILS), ["0"]);
    assert_eq!(app.column("SELECT kind FROM jobs WHERE kind = 'send_mail'"), Vec::<String>::new());

    let (app, caller) = still(Some(Postbox::start().server())).await;
    caller.dispatch(json!({ "title": "First" })).await;
    caller.call("cancel_ticket", json!({ "ticket": "OWN-1" })).await;

    assert_eq!(app.column(MAILS), ["0"]);
    assert_eq!(app.column(UNTOLD), Vec::<String>::new());
}

#[tokio::test]
async fn the_same_is_mailed_once_in_ten_minutes() {
    let postbox = Postbox::start();
    let (app, caller) = still(Some(postbox.server())).await;
    let ticket = cancelled(&app, &caller, "ada@example.com", "First").await;
    let again = || async {
        caller.call("retry_ticket", json!({ "ticket": ticket })).await;
        caller.call("cancel_ticket", json!({ "ticket": ticket })).await;
    };

    app.app.env().clock.advance(Duration::from_secs(599));
    again().await;
    let untold = app.column(UNTOLD);
    assert_eq!(untold.len(), 1, "{untold:?}");
    assert!(untold[0].contains("less than 10 minutes old"), "{untold:?}");
    app.app.env().clock.advance(Duration::from_secs(1));
    again().await;

    assert_eq!(app.column(MAILS), ["2"]);
    assert_eq!(app.column(UNTOLD).len(), 1);
}

#[tokio::test]
async fn an_address_gets_so_many_mails_an_hour_from_a_tenant() {
    let (app, caller) = still(Some(Postbox::start().server())).await;
    for number in 0..=HOURLY_MAX {
        let email = if number % 2 == 0 { "ada@example.com" } else { "Ada@Example.com" };
        cancelled(&app, &caller, email, &format!("Wish {number}")).await;
    }
    assert_eq!(app.column(MAILS), [HOURLY_MAX.to_string()]);
    assert!(app.column(UNTOLD)[0].contains("20 mails within an hour"));
    cancelled(&app, &caller, "bob@example.com", "Another's").await;
    app.app.env().clock.advance(Duration::from_hours(1));
    cancelled(&app, &caller, "ada@example.com", "Later").await;

    assert_eq!(app.column(MAILS), [(HOURLY_MAX + 2).to_string()]);
}

#[tokio::test]
async fn what_cannot_be_sent_now_is_sent_later_as_the_same_mail() {
    let postbox = Postbox::treating(|number| match number {
        0 => Manner::Drops,
        1 => Manner::Says(451),
        2 => Manner::Hangs,
        _ => Manner::Takes,
    });
    let (app, caller) = still(Some(postbox.server())).await;
    cancelled(&app, &caller, "ada@example.com", "First").await;

    for (tries, wait) in [(1, 5), (2, 60), (3, 600)] {
        drain(&app).await;
        assert_eq!(app.column("SELECT state || attempts FROM mails"), [format!("pending{tries}")]);
        drain(&app).await;
        assert_eq!(postbox.calls(), tries, "the server is left alone for a while");
        app.app.env().clock.advance(Duration::from_secs(wait));
    }
    drain(&app).await;

    let mails = postbox.posted();
    assert_eq!(mails.len(), 1);
    let id = app.column("SELECT lower(hex(id)) FROM mails").remove(0);
    assert!(mails[0].header("Message-ID").replace('-', "").contains(&id), "{mails:#?}");
    let settled = app.column("SELECT state || attempts || answer FROM mails");
    assert_eq!(settled, ["sent4250 Taken as 4711"]);
    assert_eq!(app.column(UNTOLD), Vec::<String>::new());
}

#[tokio::test]
async fn a_mail_is_given_up_after_a_day_and_the_ticket_says_so() {
    let postbox = Postbox::treating(|_| Manner::Says(451));
    let (app, caller) = still(Some(postbox.server())).await;
    cancelled(&app, &caller, "ada@example.com", "First").await;

    for _ in 0..ATTEMPTS_MAX + 2 {
        drain(&app).await;
        app.app.env().clock.advance(Duration::from_hours(13));
    }

    assert_eq!(postbox.calls(), ATTEMPTS_MAX as usize);
    assert_eq!(app.column("SELECT state FROM mails"), ["given_up"]);
    let untold = app.column(UNTOLD).remove(0);
    assert!(untold.contains("8 times over a day") && untold.contains("451"), "{untold}");
}

#[tokio::test]
async fn what_is_refused_for_good_is_not_tried_again() {
    let postbox = Postbox::treating(|_| Manner::Says(550));
    let (app, caller) = still(Some(postbox.server())).await;
    cancelled(&app, &caller, "ada@example.com", "First").await;

    drain(&app).await;
    app.app.env().clock.advance(Duration::from_hours(13));
    drain(&app).await;

    assert_eq!(postbox.calls(), 1);
    assert_eq!(app.column("SELECT state FROM mails"), ["refused"]);
    let untold = app.column(UNTOLD).remove(0);
    assert!(untold.contains("550 No such mailbox"), "{untold}");
}

#[tokio::test]
async fn a_mail_server_that_hangs_keeps_no_ticket_waiting() {
    let postbox = Postbox::treating(|_| Manner::Hangs);
    let app = TestApp::start_with_mail(postbox.server()).await;
    let acme = app.tenant("Acme").await;
    acme.project_with_repo("Widgets", "ACME", script("echo more >>index.html")).await;
    let caller = acme.key(KeyScope::McpFull).await;
    for number in 1..=2 {
        let asked = json!({ "title": format!("Wish {number} of many"), "preset": "trivial",
            "requester": { "email": "ada@example.com" } });
        caller.dispatch(asked).await;
        caller.wait_for(&format!("ACME-{number}"), "succeeded").await;
    }

    app.until("SELECT iif(sum(attempts) > 0, 'tried', '') FROM mails", "tried").await;
    let said = app.column("SELECT answer FROM mails WHERE attempts > 0").remove(0);
    assert!(said.contains("no answer within 2 seconds"), "{said}");
}

#[tokio::test]
async fn nobody_writes_a_header_of_a_mail() {
    let postbox = Postbox::start();
    let (app, caller) = still(Some(postbox.server())).await;
    let title = "Hello\r\nBcc: eve@example.com\r\n\r\nBody ünd more";
    cancelled(&app, &caller, "ada@example.com", title).await;
    for email in ["ada@example.com\nBcc: eve@example.com", "ada@example.com, eve@example.com", "@"]
    {
        cancelled(&app, &caller, email, "Quiet").await;
    }

    drain(&app).await;

    let mails = postbox.posted();
    assert_eq!(mails.len(), 1, "{mails:#?}");
    assert_eq!(mails[0].to, ["RCPT TO:<ada@example.com>"]);
    let is_theirs = |line: &&String| line.to_lowercase().starts_with("bcc");
    assert_eq!(mails[0].headers.iter().find(is_theirs), None, "{mails:#?}");
    assert_eq!(app.column("SELECT state FROM mails WHERE state <> 'sent'"), ["refused"; 3]);
    let untold = app.column(UNTOLD);
    assert!(untold.iter().all(|text| text.contains("none that mail can be sent to")), "{untold:?}");
}

#[tokio::test]
async fn each_tenant_is_told_of_its_own_ticket() {
    let postbox = Postbox::start();
    let (app, caller) = still(Some(postbox.server())).await;
    let rival = app.tenant("Rival").await;
    rival.project("Theirs", "OWN").await;
    let theirs = rival.key(KeyScope::McpFull).await;
    cancelled(&app, &caller, "ada@example.com", "Ours alone").await;
    cancelled(&app, &theirs, "ada@example.com", "Theirs alone").await;

    drain(&app).await;

    let mut mails = postbox.posted();
    mails.sort_by_key(|mail| mail.header("Subject").to_owned());
    assert_eq!(mails.len(), 2, "a tenant's mails do not count against another's");
    for (mail, (own, other)) in mails.iter().zip([("Ours", "Theirs"), ("Theirs", "Ours")]) {
        assert!(mail.text.contains(own) && !mail.text.contains(other), "{mail:#?}");
        assert!(mail.text.contains("/tickets/OWN-1\n"), "{mail:#?}");
    }
}

#[tokio::test]
async fn a_question_that_was_answered_meanwhile_is_not_mailed() {
    let postbox = Postbox::treating(|_| Manner::Drops);
    let (app, caller) = still(Some(postbox.server())).await;
    cancelled(&app, &caller, "ada@example.com", "First").await;
    // As if it had been a question's, which somebody answered.
    app.raw(
        "INSERT INTO questions (id, tenant_id, ticket_id, node_id, text, choices, asked_at, \
             closed_at) SELECT randomblob(16), n.tenant_id, n.ticket_id, n.id, 'Which?', '[]', 1, \
             2 FROM nodes n LIMIT 1",
    );
    app.raw("UPDATE mails SET question_id = (SELECT id FROM questions)");

    drain(&app).await;

    assert_eq!(
        (postbox.calls(), app.column("SELECT state FROM mails")),
        (0, vec!["dropped".into()])
    );
}

#[tokio::test]
async fn a_mail_outlives_a_restart_and_is_dropped_where_there_is_no_server_then() {
    for has_server in [true, false] {
        let down = Postbox::treating(|_| Manner::Drops);
        let (app, caller) = still(Some(down.server())).await;
        cancelled(&app, &caller, "ada@example.com", "First").await;
        let copy = app.dir().join("copy");
        drain(&app).await;
        // What a restart finds is what is on disk.
        std::fs::create_dir(&copy).unwrap();
        app.raw(&format!("VACUUM INTO '{}'", copy.join("assay.db").display()));
        let postbox = Postbox::start();
        let after = Millis(app.app.env().clock.now().0 + 6_000);

        let again = App::open(Opening {
            data: copy,
            listen: "127.0.0.1:1".parse().unwrap(),
            public_url: Some("https://assay.example".to_owned()),
            allowed_hosts: Vec::new(),
            mail: has_server.then(|| postbox.server()),
            rate_limit: RateLimit::Off,
            assay: env!("CARGO_BIN_EXE_assay").into(),
            clock: Clock::fake(after),
            entropy: Entropy::seeded(2),
        });
        let again = again.unwrap();
        again.worker().drain().await.unwrap();

        let states = again.env().db.raw_column("SELECT state FROM mails").unwrap();
        assert_eq!(states, [if has_server { "sent" } else { "dropped" }]);
        let links: Vec<bool> = postbox
            .posted()
            .iter()
            .map(|mail| mail.text.contains("https://assay.example/tickets/OWN-1\n"))
            .collect();
        assert_eq!(links, vec![true; usize::from(has_server)]);
    }
}
