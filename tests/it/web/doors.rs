//! Getting in and out: the set-up link, signing in, tokens of forms, roles.

use std::time::Duration;

use assay::accounts::Role;
use http::{StatusCode, header};

use super::{PASSWORD, Server};

#[tokio::test]
async fn the_first_owner_comes_in_through_the_link_once() {
    let server = Server::start();
    let link = server.app.setup_link().await.unwrap().unwrap();
    let path = link.split_once("7171").unwrap().1.to_owned();
    let browser = server.browser();
    let form = |password| {
        [("tenant", "Acme"), ("name", "Ada"), ("email", "ada@example.com"), ("password", password)]
    };

    let short = browser.submit(&path, &path, &form("short")).await;
    let made = browser.submit(&path, &path, &form(PASSWORD)).await;

    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(short.body.contains("too short") && short.body.contains("value=\"Acme\""));
    assert_eq!((made.status, made.location()), (StatusCode::SEE_OTHER, "/"));
    let home = browser.get("/").await;
    assert!(home.body.contains("Welcome to Assay"), "{}", home.body);
    assert!(home.body.contains("Owner · Acme"));
    let again = server.browser().get(&path).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    assert!(again.body.contains("This link has been used"));
}

#[tokio::test]
async fn who_is_not_signed_in_is_led_to_the_door_and_back() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let browser = server.browser();

    let turned_away = browser.get("/tickets?status=failed&kind=fix").await;
    let door = browser.get(turned_away.location()).await;
    let csrf = door.csrf();
    let next = "/tickets?status=failed&kind=fix";
    assert!(door.body.contains("name=\"next\" value=\"/tickets?status=failed&#38;kind=fix\""));
    let fields =
        [("csrf", &*csrf), ("next", next), ("email", "ADA@example.com"), ("password", PASSWORD)];
    let inside = browser.post("/login", &fields).await;

    assert_eq!(turned_away.status, StatusCode::SEE_OTHER);
    assert_eq!((inside.status, inside.location()), (StatusCode::SEE_OTHER, next));
    let cookie = inside.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert_eq!(browser.get(next).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_password_says_nothing_of_the_address_and_is_counted() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let browser = server.browser();

    let known = browser.sign_in("ada@example.com", "wrong horse battery").await;
    let unknown = browser.sign_in("bob@example.com", "wrong horse battery").await;
    let mut last = known.status;
    for _ in 0..10 {
        last = browser.sign_in("ada@example.com", "wrong horse battery").await.status;
    }

    assert_eq!(known.status, StatusCode::UNAUTHORIZED);
    let same = |body: &str| body.replace("ada@", "").replace("bob@", "");
    assert_eq!(same(&known.body), same(&unknown.body));
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    let right = browser.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(right.status, StatusCode::TOO_MANY_REQUESTS);
    server.clock.advance(Duration::from_mins(16));
    let later = browser.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(later.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_form_without_the_token_of_its_login_changes_nothing() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "Keep me").await;
    let (ada, other) =
        (server.signed_in("ada@example.com").await, server.signed_in("ada@example.com").await);
    let foreign = other.get("/keys").await.csrf();

    for token in ["", "x", &*foreign] {
        for path in ["/tickets/ACME-1/cancel", "/keys/revoke", "/logout", "/keys"] {
            let fields = [("csrf", token), ("key", "k"), ("name", "n"), ("scope", "mcp_full")];
            let refused = ada.post(path, &fields).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path} with {token:?}");
        }
    }

    assert!(ada.get("/tickets/ACME-1").await.body.contains("Cancel…"));
    let login = [("csrf", "x"), ("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(server.browser().post("/login", &login).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn signing_out_ends_the_login_and_not_only_the_cookie() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let kept = ada.cookies.lock().unwrap().clone();

    let out = ada.submit("/keys", "/logout", &[]).await;

    assert_eq!(out.location(), "/login");
    *ada.cookies.lock().unwrap() = kept;
    assert_eq!(ada.get("/tickets").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_viewer_looks_and_cannot_press_buttons() {
    let server = Server::start();
    let acme = server.team("Acme", "vi@example.com", Role::Viewer).await;
    server.dispatch(&acme, "Look at me").await;
    let vi = server.signed_in("vi@example.com").await;

    let ticket = vi.get("/tickets/ACME-1").await;
    let keys = vi.get("/keys").await;

    assert!(ticket.body.contains("Look at me") && !ticket.body.contains("/cancel"));
    assert!(!keys.body.contains("Make the key"));
    let pressed = vi.submit("/keys", "/tickets/ACME-1/cancel", &[]).await;
    assert_eq!(pressed.status, StatusCode::FORBIDDEN);
    let key = [("name", "mine"), ("scope", "mcp_full")];
    let made = vi.submit("/keys", "/keys", &key).await;
    assert_eq!(made.status, StatusCode::FORBIDDEN);
}
