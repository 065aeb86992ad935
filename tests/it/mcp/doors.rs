//! Who is let in, and what an address is for.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::{Server, message};

fn get(address: &str, accept: &str) -> Request<Body> {
    let request = Request::get(address).header("host", "localhost").header("accept", accept);
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn the_catalog_is_public_and_a_stream_is_not_offered() {
    let server = Server::start().await;

    for address in ["/api/mcp", "/mcp"] {
        let catalog = server.send(get(address, "*/*")).await;
        let stream = server.send(get(address, "application/json, text/event-stream")).await;

        assert_eq!((catalog.status, &catalog.json()["version"]), (200, &json!(2)));
        assert_eq!((stream.status, stream.header("allow")), (405, Some("POST")));
    }
    let narrow = server.send(get("/api/mcp?tools=jobs", "application/json")).await.json();
    assert_eq!(narrow["tools"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn who_may_not_enter_is_told_so_by_http_and_by_the_protocol() {
    let server = Server::start().await;
    let ci = format!("Bearer {}", server.ci);
    let cases = [
        (vec![("authorization", "")], 401, "UNAUTHENTICATED"),
        (vec![("authorization", "Bearer alch_wrong")], 401, "UNAUTHENTICATED"),
        (vec![("authorization", ci.as_str())], 403, "SCOPE_DENIED"),
    ];

    for (headers, status, code) in cases {
        for method in ["initialize", "tools/list", "server/discover"] {
            let said = server.post("/api/mcp", &headers, &message(method, json!({}))).await;

            let body = said.json();
            assert_eq!(said.status, status, "{body}");
            assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)));
            assert_eq!(body["error"]["code"], -32600);
            let data = &body["error"]["data"];
            assert_eq!((&data["code"], &data["statusCode"]), (&json!(code), &json!(status)));
            let challenge =
                said.header("www-authenticate").is_some_and(|v| v.starts_with("Bearer"));
            assert_eq!(challenge, status == 401);
        }
    }
}

#[tokio::test]
async fn the_key_may_come_in_either_header_and_reads_or_writes_by_its_scope() {
    let server = Server::start().await;
    let headers = [("authorization", ""), ("x-api-key", server.read.as_str())];
    let call =
        |tool: &str, args: Value| message("tools/call", json!({ "name": tool, "arguments": args }));

    let list = server.post("/mcp", &headers, &call("list_projects", json!({}))).await.json();
    let create = server
        .post("/mcp", &headers, &call("create_project", json!({ "name": "A", "confirm": true })))
        .await
        .json();

    assert!(list["result"]["structuredContent"]["projects"].is_array(), "{list}");
    assert_eq!(create["error"]["data"]["code"], "SCOPE_DENIED", "{create}");
}

#[tokio::test]
async fn a_call_without_the_protocol_is_answered_with_the_envelope() {
    let server = Server::start().await;

    let good = server.post("/api/mcp", &[], &json!({ "tool": "list_projects" })).await;
    let none = server.post("/api/mcp", &[], &json!({ "tool": "nothing", "args": {} })).await;
    let keyless = server
        .post("/api/mcp", &[("authorization", "")], &json!({ "tool": "list_projects" }))
        .await;

    assert_eq!((good.status, &good.json()["ok"]), (200, &json!(true)));
    assert_eq!((none.status, &none.json()["error"]["code"]), (404, &json!("not_found")));
    assert_eq!((keyless.status, &keyless.json()["ok"]), (401, &json!(false)));
}

#[tokio::test]
async fn another_host_or_origin_is_refused_with_the_settings_named() {
    let server = Server::start().await;
    let ping = message("ping", json!({}));
    let cases: [(&[(&str, &str)], u16); 4] = [
        (&[("host", "evil.example")], 403),
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "http://localhost:7171")], 200),
        (&[], 200),
    ];

    for (headers, status) in cases {
        let said = server.post("/api/mcp", headers, &ping).await;

        assert_eq!(said.status, status, "{}", said.body);
        if status == 403 {
            assert!(said.body.contains("--allowed-host"), "{}", said.body);
            assert!(said.body.contains("ASSAY_PUBLIC_URL"), "{}", said.body);
        }
    }
}

#[tokio::test]
async fn hostile_bodies_are_refused_in_json() {
    let server = Server::start().await;
    let deep = "[".repeat(100_000);
    let bodies = [
        String::new(),
        "[]".to_owned(),
        "{\"jsonrpc\":".to_owned(),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{deep}"),
        format!("{{\"tool\":\"list_projects\",\"args\":{deep}{}}}", deep.replace('[', "]")),
        " ".repeat(5 * 1024 * 1024),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{0}\"}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":9e999,\"method\":\"ping\"}".to_owned(),
    ];

    for body in bodies {
        let request = Request::post("/api/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("x-api-key", &server.full)
            .body(Body::from(body.clone()))
            .unwrap();
        let said = server.send(request).await;

        let shown: String = body.chars().take(60).collect();
        assert!((400..500).contains(&said.status), "{} for {shown:?}", said.status);
        assert!(said.json().is_object(), "{shown:?}");
        assert_eq!(said.status == 413, body.len() > 4 * 1024 * 1024, "{shown:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_session_is_taken_although_none_is_kept() {
    let server = Server::start().await;
    let end = |key: &str| {
        let request = Request::delete("/api/mcp").header("host", "localhost");
        let request = request.header("mcp-session-id", "any").header("x-api-key", key);
        request.body(Body::empty()).unwrap()
    };

    assert_eq!(server.send(end(&server.full)).await.status, 204);
    assert_eq!(server.send(end("wrong")).await.status, 401);
}
