//! Headers that disagree with the body, with each other, or with everything.

use axum::body::Body;
use http::{HeaderName, HeaderValue, Method, header};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::{Dice, House, request};

const NAMES: &[&str] = &[
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "accept",
    "content-type",
    "last-event-id",
    "authorization",
    "x-api-key",
    "origin",
    "cookie",
    "content-encoding",
    "accept-encoding",
    "expect",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-http-method-override",
    "mcp-param-title",
];
const VALUES: &[&[u8]] = &[
    b"",
    b"2025-06-18",
    b"2025-11-25",
    b"2026-07-28",
    b"1999-01-01",
    b"tools/call",
    b"tools/list",
    b"list_tickets",
    b"=?base64?4pyT?=",
    b"application/json",
    b"application/json;q=0",
    b"text/event-stream",
    b"text/html, */*;q=NaN",
    b"application/json; charset=utf-16",
    b"multipart/form-data; boundary=x",
    b"gzip",
    b"identity, gzip;q=2",
    b"Bearer",
    b"Bearer \xff\xfe",
    b"Basic YTpi",
    b"null",
    b"http://127.0.0.1:7171",
    b"assay=; assay=x; assay-guest=\x80",
    b"assay==;;;=",
    b"\xe2\x80\xae",
    b"%00%0d%0a",
    b"0190a5b2-7c3d-7e4f-8a1b-2c3d4e5f6a7b",
    b"100-continue",
    b"1, 2, 3",
];
const PATHS: &[&str] = &[
    "/mcp",
    "/api/mcp",
    "/api/mcp/v1/invoke",
    "/api/ci/projects",
    "/",
    "/login",
    "/tickets",
    "/events",
    "/schemas/",
];

#[test]
fn headers_of_any_kind_are_answered_by_every_door() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let house = runtime.block_on(House::start());
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };

    let ran = TestRunner::new(config).run(&(any::<u64>(), 1..6_usize), |(seed, count)| {
        let mut dice = Dice(seed);
        let path = dice.pick(PATHS);
        let method = if dice.one_in(2) { Method::GET } else { Method::POST };
        let mut request = request(method.clone(), path);
        if dice.one_in(2) {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", house.key));
        }
        for _ in 0..count {
            let value = HeaderValue::from_bytes(dice.pick(VALUES)).unwrap();
            request = request.header(HeaderName::from_static(dice.pick(NAMES)), value);
        }
        let version = dice.pick(&["2025-11-25", "2026-07-28", "x"]);
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
        let params = json!({ "name": "list_tickets", "arguments": {}, "_meta": meta });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let body = if method == Method::POST { message.to_string() } else { String::new() };
        let request = request.body(Body::from(body)).unwrap();
        runtime.block_on(async {
            let said = house.send(request).await;
            match path {
                // The guard of hosts and origins speaks to all alike.
                _ if said.status == 403 && said.text().contains("This server does not answer") => {
                    said.is_envelope();
                }
                "/mcp" | "/api/mcp" if method == Method::POST => said.is_of_mcp(),
                "/api/mcp/v1/invoke" => said.is_envelope(),
                "/login" | "/tickets" | "/" if said.status != 405 => said.is_page(),
                _ => {}
            }
        });
        Ok(())
    });

    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

#[tokio::test]
async fn in_the_newer_era_a_header_that_says_other_than_the_body_is_refused() {
    let house = House::start().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "list_tickets", "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let good = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "list_tickets"),
    ];
    let send = async |headers: &[(&'static str, &str)]| {
        let mut request = request(Method::POST, "/mcp")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::AUTHORIZATION, format!("Bearer {}", house.key));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        house.send(request.body(Body::from(body.to_string())).unwrap()).await
    };

    assert_eq!(send(&good).await.status, 200);
    for (at, other) in [(0, "2025-11-25"), (1, "tools/list"), (2, "create_project")] {
        let mut bad = good;
        bad[at].1 = other;
        let said = send(&bad).await;
        said.is_of_mcp();
        assert_eq!(said.status, 400, "{bad:?}: {}", said.text());
    }
}

#[tokio::test]
async fn a_host_or_an_origin_from_elsewhere_gets_nothing_from_any_door() {
    let house = House::start().await;
    let elsewhere = [
        (Some("evil.example"), None),
        (Some("127.0.0.1.evil.example:7171"), None),
        (Some("127.0.0.1:7171@evil.example"), None),
        (Some("[::ffff:10.0.0.1]"), None),
        (Some("127.0.0.1:7171"), Some("https://evil.example")),
        (Some("127.0.0.1:7171"), Some("http://127.0.0.1.evil.example")),
        (Some("127.0.0.1:7171"), Some("http://127.0.0.1:8080")),
        (Some("127.0.0.1:7171"), Some("null")),
        (None, None),
    ];
    for path in ["/", "/login", "/mcp", "/api/mcp/v1/invoke", "/api/ci/projects", "/events", "/x"] {
        for method in [Method::GET, Method::POST] {
            for (host, origin) in elsewhere {
                let mut request = http::Request::builder()
                    .method(method.clone())
                    .uri(path)
                    .header(header::COOKIE, &house.cookie)
                    .header(header::AUTHORIZATION, format!("Bearer {}", house.key));
                if let Some(host) = host {
                    request = request.header(header::HOST, host);
                }
                if let Some(origin) = origin {
                    request = request.header(header::ORIGIN, origin);
                }
                let said = house.send(request.body(Body::from("{}")).unwrap()).await;
                assert_eq!(said.status, 403, "{path} {host:?} {origin:?}");
                said.is_envelope();
                assert!(!said.headers.contains_key(header::SET_COOKIE));
                assert!(!said.headers.contains_key("access-control-allow-origin"));
            }
        }
    }
}
