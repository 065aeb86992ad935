//! Tickets: a ticket's page, its buttons, its logs, and whose it is.

use assay::accounts::Role;
use assay::base::{TenantId, TicketId};
use assay::tickets::node;
use assay::tickets::pipeline::decide::Verdict;
use assay::tickets::pipeline::record::{self, Left};
use assay::tickets::questions::Asking;
use assay::tickets::reference;
use assay::tickets::secrets::links::LASTS;
use axum::body::Body;
use http::{Method, StatusCode, header};
use serde_json::json;

use super::Server;

/// Runs the ticket's first node by hand: it starts, and ends as `end` says.
async fn first_node(
    server: &Server,
    tenant: TenantId,
    end: impl FnOnce(&mut assay::store::Tx<'_>, &node::Node) -> Result<(), assay::base::Fault>
    + Send
    + 'static,
) {
    server
        .write(move |tx| {
            let ticket = reference::resolve(tx, tenant, None, "ACME-1")?;
            let first = node::list(tx, tenant, ticket.id)?.remove(0);
            let started = record::start(tx, tenant, first.id, Some("script"))?;
            end(tx, &started.expect("the node may start").1)
        })
        .await;
}

#[tokio::test]
async fn a_ticket_s_page_tells_what_is_known_of_it() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Add a <toggle>").await;
    first_node(&server, acme.id, |_, _| Ok(())).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/tickets/acme-1").await.body;

    for part in [
        "Add a &#60;toggle&#62;",
        "<strong>Why</strong>",
        "href=\"#node-plan-1\"",
        "id=\"node-plan-1\" open",
        "plan-1 is at work.",
        "data-events=\"/events?ticket=",
        "plan-1 started with agent script.",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
}

#[tokio::test]
async fn the_conversation_of_a_ticket_stands_folded_without_what_a_model_was_told() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let talked = json!({
        "title": "Header",
        "project": "Acme Widgets",
        "conversation": [
            { "role": "system", "content": "Be discreet about Zoe." },
            { "role": "user", "content": "Please add a <toggle> to the header." },
            { "role": "assistant", "content": "I will keep the **choice**." },
        ],
    });
    server.call(&acme, "dispatch_ticket", talked).await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/tickets/acme-1").await.body;

    for part in [
        "3 turns, drafted by rule",
        "Sent under the title “Header”",
        "keep the <strong>choice</strong>",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    assert!(!page.contains("Zoe") && !page.contains("<toggle>"), "{page}");
}

#[tokio::test]
async fn a_question_is_answered_by_a_choice_and_words() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Ask me").await;
    let tenant = acme.id;
    first_node(&server, tenant, move |tx, node| {
        let choices = vec!["Blue".to_owned(), "Green".to_owned()];
        let asking =
            Asking { text: "Which <colour>?".to_owned(), choices, pause: None, secret: None };
        record::ask(tx, tenant, node, &Left::default(), &asking)?;
        Ok(())
    })
    .await;
    let ada = server.signed_in("ada@example.com").await;

    let home = ada.get("/").await.body;
    assert!(home.contains("href=\"/tickets/ACME-1#question\""), "{home}");
    let page = ada.get("/tickets/ACME-1").await.body;
    assert!(page.contains("value=\"Blue\"") && page.contains("plan-1 asks a question"), "{page}");
    let empty = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/answer", &[("text", " ")]).await;
    assert_eq!(empty.status, StatusCode::BAD_REQUEST);
    let answer = [("choice", "Green"), ("text", "but\r\ndark")];
    let sent = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/answer", &answer).await;

    assert_eq!(sent.location(), "/tickets/ACME-1?did=answered");
    let after = ada.get(sent.location()).await.body;
    assert!(after.contains("The answer is on its way"), "{after}");
    assert!(after.contains("Green") && !after.contains("id=\"question\""), "{after}");
    let late = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/answer", &answer).await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.body.contains("waits for no answer"), "{}", late.body);
}

#[tokio::test]
async fn a_plan_is_shown_approved_or_sent_back_with_a_reason() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    let wants = "UPDATE projects
        SET settings = json_set(settings, '$.approvals', json('{\"plan\":true}'))";
    server.app.env().db.raw(wants).unwrap();
    server.dispatch(&acme, "Plan me").await;
    let tenant = acme.id;
    first_node(&server, tenant, move |tx, node| {
        let plan = Some("Touch **one** file".to_owned());
        let left = Left { summary: plan, ..Left::default() };
        record::finish(tx, tenant, node, Verdict::Good, &left).map(drop)
    })
    .await;
    let ada = server.signed_in("ada@example.com").await;
    let (page, path) = ("/tickets/ACME-1", "/tickets/ACME-1/decide");

    let home = ada.get("/").await.body;
    assert!(home.contains("#question") && home.contains("Decide"), "{home}");
    let shown = ada.get(page).await.body;
    assert!(shown.contains("The plan waits for an approval"), "{shown}");
    assert!(shown.contains("Touch <strong>one</strong> file"), "{shown}");
    let reject = [("step", "plan"), ("decision", "reject"), ("reason", " ")];
    let refused = ada.submit(page, path, &reject).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    let other = [("step", "land"), ("decision", "approve")];
    assert_eq!(ada.submit(page, path, &other).await.status, StatusCode::CONFLICT);
    let sent = ada.submit(page, path, &[("step", "plan"), ("decision", "approve")]).await;

    assert_eq!(sent.location(), "/tickets/ACME-1?did=decided");
    let after = ada.get(sent.location()).await.body;
    assert!(after.contains("The decision is noted"), "{after}");
    assert!(after.contains("Approved (plan)") && !after.contains("id=\"question\""), "{after}");
}

#[tokio::test]
async fn buttons_cancel_and_retry_and_leave_their_trace() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Cancel me").await;
    let ada = server.signed_in("ada@example.com").await;

    let cancelled = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/cancel", &[]).await;
    assert_eq!(cancelled.location(), "/tickets/ACME-1?did=cancelled");
    let page = ada.get("/tickets/ACME-1").await.body;
    assert!(page.contains("Cancelled") && page.contains("/retry\"") && !page.contains("/cancel\""));
    let again = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/cancel", &[]).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    let retried = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/retry", &[]).await;
    assert_eq!(retried.location(), "/tickets/ACME-1?did=retried");

    let sql = "SELECT via || ' ' || action || ' ' || outcome || ' ' || actor FROM audit \
               WHERE via = 'browser' ORDER BY n";
    let audit = server.app.env().db.raw_column(sql).unwrap();
    assert_eq!(audit[0], "browser cancel_ticket ok user ada@example.com");
    assert_eq!(audit[1], "browser cancel_ticket NotCancellable user ada@example.com");
    assert_eq!(audit[2], "browser retry_ticket ok user ada@example.com");
}

#[tokio::test]
async fn another_team_s_ticket_and_an_absent_one_are_the_same_page() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Secret plan").await;
    let ids = server.app.env().db.raw_column("SELECT lower(hex(id)) FROM tickets").unwrap();
    let id = TicketId::from_uuid(uuid::Uuid::parse_str(&ids[0]).unwrap());
    let absent = TicketId::from_uuid(uuid::Uuid::from_u128(7));
    let eve = server.signed_in("eve@example.com").await;

    for rest in ["", "/nodes/plan-1/log"] {
        let theirs = eve.get(&format!("/tickets/{id}{rest}")).await;
        let none = eve.get(&format!("/tickets/{absent}{rest}")).await;

        assert_eq!(theirs.status, StatusCode::NOT_FOUND);
        let without_id = |body: &str| body.split("Request <code>").next().unwrap().to_owned();
        assert_eq!(without_id(&theirs.body), without_id(&none.body));
    }
    let events = eve.get(&format!("/events?ticket={id}")).await;
    assert_eq!(events.status, StatusCode::NOT_FOUND);
    let pressed = eve.submit("/keys", &format!("/tickets/{id}/cancel"), &[]).await;
    assert_eq!(pressed.status, StatusCode::NOT_FOUND);
    assert!(!eve.get("/tickets").await.body.contains("Secret plan"));
}

#[tokio::test]
async fn a_log_is_read_in_pages_with_its_colours_and_as_plain_text() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Log much").await;
    let lines: Vec<String> =
        (1..=2_500).map(|n| format!("\u{1b}[31mline {n}\u{1b}[0m <b>")).collect();
    let hash = server.app.env().blobs.put(lines.join("\n").as_bytes()).unwrap();
    let tenant = acme.id;
    first_node(&server, tenant, move |tx, node| {
        let left = Left { log: Some(hash), log_lines: 2_500, ..Left::default() };
        record::finish(tx, tenant, node, Verdict::Good, &left)?;
        Ok(())
    })
    .await;
    let ada = server.signed_in("ada@example.com").await;

    let first = ada.get("/tickets/ACME-1/nodes/plan-1/log").await.body;
    assert!(first.contains("<span class=\"a-f1\">line 1</span> &#60;b&#62;"), "colours");
    assert!(first.contains("2,500 lines") && !first.contains("line 2001<"));
    let second = ada.get("/tickets/ACME-1/nodes/plan-1/log?from=2001").await.body;
    assert!(second.contains("id=\"L2500\"") && second.contains("Earlier lines"));
    let raw = ada.get("/tickets/ACME-1/nodes/plan-1/log?raw=1").await;
    assert_eq!(raw.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(raw.body.lines().count(), 2_500);
    let none = ada.get("/tickets/ACME-1/nodes/land-9/log").await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_file_is_shown_with_its_ticket_and_saved_by_its_tenant_alone() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    let page = "<script>alert(1)</script>";
    let name = "brief \"<b>.html";
    let announce = json!({ "project": "Acme Widgets", "original_name": name,
        "content_type": "text/html", "size_bytes": page.len() });
    let minted = server.call(&acme, "mint_attachment_upload_url", announce).await;
    let url = minted["upload_url"].as_str().unwrap();
    let path = url.strip_prefix("http://127.0.0.1:7171").unwrap().to_owned();
    let ada = server.signed_in("ada@example.com").await;
    let mut put = ada.request(Method::PUT, &path, Body::from(page));
    put.headers_mut().insert(header::CONTENT_TYPE, "text/html".parse().unwrap());
    assert_eq!(ada.send(put).await.status, StatusCode::OK);
    let dispatch = json!({ "title": "Build it", "project": "Acme Widgets",
        "job_id": minted["job_id"], "attachments": [{ "key": minted["key"],
            "original_name": name, "content_type": "text/html", "size_bytes": page.len() }] });
    server.call(&acme, "dispatch_ticket", dispatch).await;

    let shown = ada.get("/tickets/ACME-1").await.body;
    let href = shown.split("href=\"").find(|part| part.contains("/attachments/")).unwrap();
    let href = href.split('"').next().unwrap().to_owned();
    let saved = ada.get(&href).await;
    let other = format!("/tickets/{}", href.rsplit_once('/').unwrap().1);
    let absent = ada.get(&href.replace("ACME-1", "ACME-2")).await;
    let eve = server.signed_in("eve@example.com").await;
    let by_eve = eve.get(&href).await;
    let unsigned = server.browser().get(&href).await;

    assert!(shown.contains("brief &#34;&#60;b&#62;.html") && shown.contains("text/html, 25 B"));
    assert!(shown.contains(&assay::store::Hash::of(page.as_bytes()).to_string()));
    assert_eq!((saved.status, &*saved.body), (StatusCode::OK, page));
    let header = |name: &str| saved.headers[name].to_str().unwrap();
    assert_eq!(header("content-type"), "text/html");
    assert_eq!(header("content-disposition"), "attachment; filename*=UTF-8''brief___b_.html");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-security-policy").starts_with("sandbox;"));
    assert_eq!((by_eve.status, absent.status), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_ne!(unsigned.status, StatusCode::OK);
    assert_eq!(ada.get(&other).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_secret_is_given_from_the_ticket_s_page_by_who_may_and_in_time() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    server.dispatch(&acme, "Wire the webhook").await;
    let tenant = acme.id;
    first_node(&server, tenant, move |tx, node| {
        let (text, secret) = ("Its **signing** key?".to_owned(), Some("WEBHOOK_KEY".to_owned()));
        let asking = Asking { text, choices: Vec::new(), pause: None, secret };
        record::ask(tx, tenant, node, &Left::default(), &asking)?;
        Ok(())
    })
    .await;
    let (ada, eve) =
        (server.signed_in("ada@example.com").await, server.signed_in("eve@example.com").await);
    let (page, path) = ("/tickets/ACME-1", "/tickets/ACME-1/secret-link");
    let home = ada.get("/").await.body;
    assert!(home.contains("Give it"), "{home}");
    let shown = ada.get(page).await.body;
    assert!(shown.contains("plan-1 needs WEBHOOK_KEY") && !shown.contains("<textarea"), "{shown}");
    let ids = server.app.env().db.raw_column("SELECT lower(hex(id)) FROM tickets").unwrap();
    let id = TicketId::from_uuid(uuid::Uuid::parse_str(&ids[0]).unwrap());
    let theirs = eve.submit("/keys", &format!("/tickets/{id}/secret-link"), &[]).await;
    assert_eq!(theirs.status, StatusCode::NOT_FOUND);
    let answer = [("text", "the value itself")];
    let refused = ada.submit(page, "/tickets/ACME-1/answer", &answer).await;
    assert!(refused.status == StatusCode::CONFLICT && !refused.body.contains("value itself"));

    let late = ada.submit(page, path, &[]).await.location().to_owned();
    server.clock.advance(LASTS);
    let fresh = ada.submit(page, path, &[]).await.location().to_owned();

    assert_eq!(ada.get(&late).await.status, StatusCode::GONE);
    // The link is the permission: somebody else may hold it, and no login is asked for.
    let guest = server.browser();
    let form = guest.get(&fresh).await;
    assert!(form.body.contains("Its <strong>signing</strong> key?"), "{}", form.body);
    assert_eq!(form.headers[header::REFERRER_POLICY], "no-referrer");
    let forged = guest.post(&fresh, &[("csrf", "x"), ("value", "long enough")]).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let given = guest.submit(&fresh, &fresh, &[("value", "long enough")]).await;
    assert_eq!(given.status, StatusCode::OK, "{}", given.body);
    let after = ada.get(page).await.body;
    assert!(after.contains("WEBHOOK_KEY was given through its link"), "{after}");
    assert!(!after.contains("long enough") && !after.contains("id=\"question\""), "{after}");
}

#[tokio::test]
async fn who_only_looks_makes_no_link_for_a_secret() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Wire the webhook").await;
    let tenant = acme.id;
    first_node(&server, tenant, move |tx, node| {
        let secret = Some("WEBHOOK_KEY".to_owned());
        let asking = Asking { text: "It?".to_owned(), choices: Vec::new(), pause: None, secret };
        record::ask(tx, tenant, node, &Left::default(), &asking)?;
        Ok(())
    })
    .await;
    let ada = server.signed_in("ada@example.com").await;

    let page = ada.get("/tickets/ACME-1").await.body;
    let pressed = ada.submit("/tickets/ACME-1", "/tickets/ACME-1/secret-link", &[]).await;

    assert!(page.contains("Your role only looks"), "{page}");
    assert_eq!(pressed.status, StatusCode::FORBIDDEN);
}
