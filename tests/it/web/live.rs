//! The stream of changes.

use std::time::Duration;

use assay::accounts::Role;
use axum::body::BodyDataStream;
use futures_util::StreamExt;
use http::{Method, StatusCode, header};
use serde_json::json;
use tower::ServiceExt;

use super::{Browser, Server};

/// How long a frame may take on a busy machine before the test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

async fn open(browser: &Browser, path: &str) -> BodyDataStream {
    let request = browser.request(Method::GET, path, axum::body::Body::empty());
    let response = browser.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    response.into_body().into_data_stream()
}

/// The next frame; `None` where the stream has ended.
async fn next(stream: &mut BodyDataStream) -> Option<String> {
    let frame = tokio::time::timeout(PATIENCE, stream.next()).await.expect("a frame in time")?;
    Some(String::from_utf8(frame.unwrap().to_vec()).unwrap())
}

#[tokio::test]
async fn a_change_of_a_ticket_is_said_to_who_looks_at_it() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.dispatch(&acme, "First").await;
    server.dispatch(&acme, "Second").await;
    let ada = server.signed_in("ada@example.com").await;
    let mut of_one = open(&ada, "/events?ticket=ACME-1").await;
    let mut of_all = open(&ada, "/events").await;

    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-2" })).await;
    server.call(&acme, "cancel_ticket", json!({ "ticket": "ACME-1" })).await;

    assert!(next(&mut of_all).await.unwrap().contains("event: change"));
    assert!(next(&mut of_one).await.unwrap().contains("event: change"));
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let mut stream = open(&ada, "/events").await;

    server.stop.cancel();

    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn nobody_listens_without_a_login() {
    let server = Server::start();

    let refused = server.browser().get("/events").await;

    assert_eq!(refused.status, StatusCode::SEE_OTHER);
}
