//! Drafting by a language model: what it is sent, what is taken of it, and that the rule drafts
//! whatever goes wrong with it. The model is a stand-in on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::accounts::KeyScope;
use assay::base::Secret;
use assay::work::model::Endpoint;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::{Caller, TestApp, Written};

/// The key that the endpoint wants.
const KEY: &str = "model-key-0123456789";

/// A credential that somebody says in a conversation.
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What the endpoint does with a request.
#[derive(Clone)]
enum Does {
    /// Answers with a status and a body.
    Says(u16, String),
    /// Sends the caller elsewhere.
    Redirects,
    /// Never answers.
    Hangs,
    /// Begins an answer and never ends it.
    Drips,
}

/// A stand-in for an endpoint.
#[derive(Clone)]
struct StandIn {
    does: Does,
    /// What came: the authorization and the body.
    came: Arc<Mutex<Vec<(String, Value)>>>,
}

async fn answer(State(model): State<StandIn>, headers: HeaderMap, body: String) -> Response {
    let key = headers.get(header::AUTHORIZATION).map_or("", |key| key.to_str().unwrap());
    let sent = serde_json::from_str(&body).unwrap();
    model.came.lock().unwrap().push((key.to_owned(), sent));
    let (status, body) = match model.does {
        Does::Says(status, body) => (status, Body::from(body)),
        Does::Redirects => (307, Body::empty()),
        Does::Hangs => std::future::pending().await,
        Does::Drips => {
            let begun = futures_util::stream::once(async { Ok::<_, std::io::Error>("{") });
            let rest = futures_util::stream::pending();
            (200, Body::from_stream(futures_util::StreamExt::chain(begun, rest)))
        }
    };
    let response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    response.header(header::LOCATION, "/elsewhere").body(body).unwrap()
}

/// An app with a model that does so, a caller, and the model.
async fn with_model(does: Does) -> (TestApp, Caller, StandIn) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let model = StandIn { does, came: Arc::default() };
    let router = Router::new().fallback(answer).with_state(model.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (app, caller) = with_endpoint(url).await;
    (app, caller, model)
}

async fn with_endpoint(url: String) -> (TestApp, Caller) {
    let key = Some(Secret::new(KEY));
    let app = TestApp::still_with_model(Endpoint { url, model: "small-1".to_owned(), key }).await;
    let tenant = app.tenant("Acme").await;
    tenant.project("Acme Widgets", "ACME").await;
    let caller = tenant.key(KeyScope::McpFull).await;
    (app, caller)
}

/// An answer whose only choice says this.
fn says(content: &str) -> Does {
    let choices = json!([{ "index": 0, "message": { "role": "assistant", "content": content } }]);
    Does::Says(200, json!({ "id": "x", "choices": choices }).to_string())
}

fn talk() -> Value {
    json!({ "title": "Header", "project": "ACME", "description": "For nights.", "conversation": [
        { "role": "system", "content": "The admin is called Zoe." },
        { "role": "user", "content": format!("Add a toggle to the header. My token is {TOKEN}.") },
    ] })
}

#[tokio::test]
async fn a_model_drafts_title_kind_and_description_of_what_it_may_know() {
    let draft = json!({ "title": " Fix the\nheader's toggle ", "kind": "fix",
        "description": "## Goal\n\nA toggle." });
    let (app, caller, model) = with_model(says(&format!("```json\n{draft}\n```"))).await;

    let answer = caller.call("dispatch_ticket", talk()).await;

    assert_eq!(answer["ticket"]["title"], "Fix the header's toggle");
    let kept = app.column("SELECT drafted_by FROM ticket_conversations");
    assert_eq!(kept, ["model"]);
    let rows = app.column("SELECT kind || ' ' || description FROM tickets");
    assert_eq!(rows, ["fix ## Goal\n\nA toggle."]);
    let came = model.came.lock().unwrap().clone();
    let (key, sent) = &came[0];
    assert_eq!((came.len(), key.as_str()), (1, &*format!("Bearer {KEY}")));
    assert_eq!(sent["model"], "small-1");
    let material = sent["messages"][1]["content"].as_str().unwrap();
    assert!(material.contains("Add a toggle") && material.contains("For nights."), "{material}");
    assert!(!sent.to_string().contains("Zoe") && !sent.to_string().contains(TOKEN), "{sent}");
}

#[tokio::test]
async fn the_caller_s_kind_wins_and_nobody_is_asked_for_what_is_not_drafted() {
    let draft = json!({ "title": "A title", "kind": "fix", "description": "A brief." });
    let (app, caller, model) = with_model(says(&draft.to_string())).await;
    let mut asked = talk();
    asked["kind"] = json!("refactor");
    asked["operation_key"] = json!("once");

    caller.call("dispatch_ticket", asked.clone()).await;
    caller.call("dispatch_ticket", asked).await;
    let as_is = json!({ "title": "Another", "project": "ACME", "predrafted": true,
        "conversation": talk()["conversation"] });
    caller.call("dispatch_ticket", as_is).await;
    let mut nowhere = talk();
    nowhere["project"] = json!("NONE");
    caller.refusal("dispatch_ticket", nowhere).await;
    let rules = json!([{ "role": "system", "content": "Be kind." }]);
    let rules = json!({ "title": "A third one", "project": "ACME", "conversation": rules });
    caller.call("dispatch_ticket", rules).await;

    assert_eq!(model.came.lock().unwrap().len(), 1);
    let kinds = app.column("SELECT kind FROM tickets ORDER BY seq");
    assert_eq!(kinds[0], "refactor");
    let by = "SELECT ifnull(drafted_by, 'nobody') FROM ticket_conversations c
        JOIN tickets t ON t.id = c.ticket_id ORDER BY t.seq";
    assert_eq!(app.column(by), ["model", "nobody", "nobody"]);
}

#[tokio::test]
async fn whatever_goes_wrong_with_it_the_rule_drafts() {
    let draft = |title: &str, kind: &str, description: &str| {
        says(&json!({ "title": title, "kind": kind, "description": description }).to_string())
    };
    let wordy = "x".repeat(501);
    let broken: Vec<(Does, &str)> = vec![
        (Does::Says(500, format!("no {KEY}")), "HTTP status 500"),
        (Does::Says(401, String::new()), "HTTP status 401"),
        (Does::Redirects, "HTTP status 307"),
        (Does::Says(200, "<html>".to_owned()), "not of the expected form"),
        (Does::Says(200, "{}".to_owned()), "not of the expected form"),
        (Does::Says(200, r#"{"choices":[]}"#.to_owned()), "not of the expected form"),
        (Does::Says(200, "[".repeat(2 << 20)), "larger than"),
        (Does::Says(200, "[".repeat(100_000)), "not of the expected form"),
        (says("Sure! Here is your ticket."), "another form"),
        (says("{\"title\": \"T\"}"), "another form"),
        (draft("T", "dance", "D"), "an unknown kind"),
        (draft(" \n", "fix", "D"), "no title"),
        (draft("T", "fix", " "), "no description"),
        (draft(&wordy, "fix", "D"), "too long a title"),
        (draft("T", "fix", &"y ".repeat(50_001)), "too long a description"),
    ];

    for (does, why) in broken {
        let (log, _logging) = Written::take(tracing::Level::INFO);
        let (app, caller, model) = with_model(does).await;
        let answer = caller.call("dispatch_ticket", talk()).await;

        assert_eq!(answer["ticket"]["title"], "Add a toggle to the header", "{why}");
        assert_eq!(app.column("SELECT drafted_by FROM ticket_conversations"), ["rule"], "{why}");
        assert_eq!(model.came.lock().unwrap().len(), 1, "{why}");
        let log = log.text();
        let line = log.lines().find(|line| line.contains("The rule drafts a ticket"));
        assert!(line.is_some_and(|line| line.contains(why)), "{why}: {log}");
        assert!(!log.contains(KEY) && !log.contains(TOKEN), "{log}");
    }
}

#[tokio::test]
async fn a_model_that_is_away_or_too_slow_holds_nobody_up() {
    // A port that was just free, and that nobody listens on.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (app, caller) = with_endpoint(format!("http://{free}/v1")).await;
    caller.call("dispatch_ticket", talk()).await;
    assert_eq!(app.column("SELECT drafted_by FROM ticket_conversations"), ["rule"]);

    for does in [Does::Hangs, Does::Drips] {
        let (app, caller, model) = with_model(does).await;
        let late = async {
            while model.came.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            // Others are not held up by it.
            let plain = json!({ "title": "Something else", "project": "ACME" });
            caller.call("dispatch_ticket", plain).await;
            app.app.env().clock.advance(Duration::from_secs(8));
        };

        // At one door: the other would be asked once more.
        let asked = talk();
        let call = caller.invoke("dispatch_ticket", &asked);
        let (said, ()) = tokio::join!(call, late);

        assert_eq!(said.body["data"]["ticket"]["title"], "Add a toggle to the header");
        assert_eq!(app.column("SELECT drafted_by FROM ticket_conversations"), ["rule"]);
    }
}
