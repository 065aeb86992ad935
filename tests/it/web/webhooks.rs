//! The webhooks on a project's page.

use assay::accounts::Role;
use http::StatusCode;

use super::{Browser, Server};

const PAGE: &str = "/projects/acme-widgets";
const ADD: &str = "/projects/acme-widgets/webhooks";
const CHANGE: &str = "/projects/acme-widgets/webhooks/change";

/// The value that follows a mark in a page.
fn after(body: &str, mark: &str) -> String {
    let (_, rest) = body.split_once(mark).unwrap_or_else(|| panic!("{mark} is not there"));
    rest.split(['"', '<']).next().unwrap().to_owned()
}

async fn add(browser: &Browser, fields: &[(&str, &str)]) -> super::Said {
    browser.submit(PAGE, ADD, fields).await
}

#[tokio::test]
async fn an_owner_adds_tries_and_removes_a_webhook() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let wrong = add(&ada, &[("url", "http://chat.example/<b>")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("expected https://") && !wrong.body.contains("/<b>"));
    let inside = add(&ada, &[("url", "https://127.0.0.1/hook")]).await;
    assert_eq!(inside.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(inside.body.contains("is this machine"), "{}", inside.body);

    let url = "http://127.0.0.1:9/hook";
    let added = add(&ada, &[("url", url), ("private", "yes"), ("events", "ticket.failed")]).await;
    assert_eq!(added.location(), "/projects/acme-widgets?did=webhook-added#webhooks");
    let shown = ada.get("/projects/acme-widgets?did=webhook-added").await.body;
    let secret = after(&shown, "id=\"fresh-secret\">");
    assert!(secret.starts_with("whsec_"), "{secret}");
    let again = ada.get("/projects/acme-widgets?did=webhook-added").await.body;
    assert!(!again.contains(&secret) && again.contains(url), "it is shown once");

    let id = after(&shown, "name=\"webhook\" value=\"");
    for (act, did) in
        [("test", "webhook-sent"), ("disable", "webhook-off"), ("enable", "webhook-on")]
    {
        let said = ada.submit(PAGE, CHANGE, &[("webhook", &id), ("act", act)]).await;
        assert_eq!(said.location(), format!("/projects/acme-widgets?did={did}#webhooks"));
    }
    ada.submit(PAGE, CHANGE, &[("webhook", &id), ("act", "test")]).await;
    server.app.worker().drain().await.unwrap();
    let page = ada.get(PAGE).await.body;
    assert!(page.contains("It cannot be connected to"), "{page}");
    let message = after(&page, "name=\"message\" value=\"");
    let replay = [("webhook", &*id), ("act", "replay"), ("message", &*message)];
    let said = ada.submit(PAGE, CHANGE, &replay).await;
    assert_eq!(said.status, StatusCode::SEE_OTHER, "{}", said.body);
    ada.submit(PAGE, CHANGE, &[("webhook", &id), ("act", "remove")]).await;
    assert!(!ada.get(PAGE).await.body.contains(url));

    let db = &server.app.env().db;
    let audit = db.raw_column("SELECT action FROM audit WHERE action LIKE '%webhook' ORDER BY n");
    let expected = ["create", "test", "disable", "enable", "test", "replay", "remove"];
    assert_eq!(audit.unwrap(), expected.map(|verb| format!("{verb}_webhook")));
}

#[tokio::test]
async fn only_who_manages_the_team_sees_and_changes_webhooks_and_only_of_the_team() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    add(&ada, &[("url", "https://chat.example/secret-path")]).await;
    let id = after(&ada.get(PAGE).await.body, "name=\"webhook\" value=\"");

    for (team, email, role) in [
        ("Admins", "adam@example.com", Role::Admin),
        ("Members", "mia@example.com", Role::Member),
        ("Viewers", "vic@example.com", Role::Viewer),
    ] {
        server.team(team, email, role).await;
        let browser = server.signed_in(email).await;
        let manages = role == Role::Admin;

        let page = browser.get(PAGE).await.body;
        assert!(!page.contains("secret-path"), "{role}");
        assert_eq!(page.contains("id=\"webhooks\""), manages, "{role}");
        assert!(!page.contains("name=\"private\""), "{role}");
        let private = [("url", "http://127.0.0.1:9/"), ("private", "yes")];
        let status = add(&browser, &private).await.status;
        assert!(status.is_client_error(), "{role}: {status}");
        let added = add(&browser, &[("url", "https://chat.example/")]).await.status;
        let expected = if manages { StatusCode::SEE_OTHER } else { StatusCode::FORBIDDEN };
        assert_eq!(added, expected, "{role}");
        let remove = [("webhook", &*id), ("act", "remove")];
        let removed = browser.submit(PAGE, CHANGE, &remove).await.status;
        let expected = if manages { StatusCode::NOT_FOUND } else { StatusCode::FORBIDDEN };
        assert_eq!(removed, expected, "{role}");
    }
    assert!(ada.get(PAGE).await.body.contains("secret-path"));
}
