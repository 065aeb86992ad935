//! The protocol on HTTP: `rmcp` does the work, and around it stands what real clients need beyond
//! it. The door uses it with the handler of the product, the conformance program with fixtures.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::answer;
use super::body::{self, Message, Posted};

/// The header by which a client of the older era says which conversation it is in.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Whether the server keeps the sessions of the older era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// It keeps none: what the product does, so that a restart is not noticed.
    Off,
    /// It keeps them in memory: what the server needs that asks its client back in that era.
    Kept,
}

/// MCP over HTTP with one handler.
pub struct Transport<H> {
    service: Service<H>,
}

enum Service<H> {
    Stateless(StreamableHttpService<H, NeverSessionManager>),
    Kept(StreamableHttpService<H, LocalSessionManager>),
}

impl<H: ServerHandler + Clone + Sync> Transport<H> {
    /// A transport that answers with `handler`.
    #[must_use]
    pub fn new(handler: H, sessions: Sessions) -> Self {
        // Hosts and origins are the guard's, which stands before every door. The library's own
        // token of the server is left alone: cancelled, it fails the calls under way, and a server
        // that stops lets them finish. They end by themselves, and so does each one's stream.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_legacy_session_mode(sessions == Sessions::Kept)
            .with_json_response(true)
            .with_max_request_body_bytes(body::LIMIT);
        let make = move || Ok(handler.clone());
        let service = match sessions {
            Sessions::Off => {
                let manager = Arc::new(NeverSessionManager::default());
                Service::Stateless(StreamableHttpService::new(make, manager, config))
            }
            Sessions::Kept => {
                let manager = Arc::new(LocalSessionManager::default());
                Service::Kept(StreamableHttpService::new(make, manager, config))
            }
        };
        Self { service }
    }

    /// Answers any request of the protocol without asking for a key.
    pub async fn open(&self, request: Request<Body>) -> Response {
        let (parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return self.other(parts).await;
        }
        let bytes = match body::collect(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err(fault) => return answer::refused(&fault, None),
        };
        match Posted::read(&bytes) {
            Posted::Message(message) => self.message(parts, bytes, &message).await,
            Posted::Invoke => answer::unreadable(body::Unreadable::NotAMessage),
            Posted::Unreadable(why) => answer::unreadable(why),
        }
    }

    /// Answers a request that is not a POST: there is no stream to listen to and no session to
    /// end where none are kept.
    pub(super) async fn other(&self, parts: Parts) -> Response {
        match &self.service {
            Service::Stateless(_) => {
                (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")]).into_response()
            }
            Service::Kept(service) => {
                tidy(service.handle(Request::from_parts(parts, Body::empty())).await, None).await
            }
        }
    }

    /// Answers one message.
    pub(super) async fn message(
        &self,
        mut parts: Parts,
        bytes: Bytes,
        message: &Message,
    ) -> Response {
        if Accepted::of(&parts.headers).json {
            // A client that takes JSON gets JSON, and a stream only where it asked for progress.
            let both = HeaderValue::from_static("application/json, text/event-stream");
            parts.headers.insert(ACCEPT, both);
        }
        let request = Request::from_parts(parts, Body::from(bytes));
        let response = match &self.service {
            Service::Stateless(service) => service.handle(request).await,
            Service::Kept(service) => service.handle(request).await,
        };
        tidy(response, message.id.as_ref()).await
    }
}

/// What a client says it can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    /// JSON, by name or by a wildcard, or because it did not say.
    pub(super) json: bool,
    /// An event stream, by its name: a wildcard is what every script sends.
    pub(super) stream: bool,
}

impl Accepted {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut found = Self { json: !headers.contains_key(ACCEPT), stream: false };
        for value in headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()) {
            for entry in value.split(',') {
                let mut parts = entry.split(';').map(str::trim);
                let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
                let refused = parts.any(|part| {
                    let weight = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
                    weight.is_some_and(|q| q.parse() == Ok(0.0_f32))
                });
                if refused {
                    continue;
                }
                found.json |= matches!(kind.as_str(), "application/json" | "application/*" | "*/*");
                found.stream |= kind == "text/event-stream";
            }
        }
        found
    }
}

/// Makes a plain-text refusal of the library the JSON-RPC error that a client can read.
async fn tidy<B>(response: http::Response<B>, id: Option<&Value>) -> Response
where
    B: axum::body::HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let response = response.map(Body::new);
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with("application/json"));
    if !(status.is_client_error() || status.is_server_error()) || is_json {
        return response;
    }
    let allow = response.headers().get(ALLOW).cloned();
    let text = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    let mut answer = answer::library(status, &String::from_utf8_lossy(&text), id);
    if let Some(allow) = allow {
        answer.headers_mut().insert(ALLOW, allow);
    }
    answer
}

#[cfg(test)]
mod tests {
    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        ProgressNotificationParam, ServerCapabilities, ServerConfig,
    };
    use rmcp::service::RequestContext;
    use rmcp::{ErrorData, RoleServer};
    use serde_json::json;

    use super::*;

    /// Says its name, with a step before it where steps are asked for.
    #[derive(Clone)]
    struct Parrot;

    impl ServerHandler for Parrot {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            context: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            if let Some(token) = context.meta.get_progress_token() {
                let step = ProgressNotificationParam::new(token, 1.0);
                context.peer.notify_progress(step).await.expect("the client is there");
            }
            Ok(CallToolResult::success(vec![ContentBlock::text(request.name.into_owned())]).into())
        }
    }

    type Headers<'a> = &'a [(&'a str, &'a str)];

    /// Posts a body; gives the status, the content type and the body.
    async fn post(headers: Headers<'_>, body: &str) -> (u16, String, String) {
        let transport = Transport::new(Parrot, Sessions::Off);
        let mut request = Request::post("/mcp").header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        let response = transport.open(request).await;
        let status = response.status().as_u16();
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.map_or("", |kind| kind.to_str().expect("text")).to_owned();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
        (status, kind, String::from_utf8(body.to_vec()).expect("text"))
    }

    const JSON: (&str, &str) = ("content-type", "application/json");
    const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");

    fn call(id: u32, meta: &Value) -> String {
        let params = json!({ "name": "polly", "arguments": {}, "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    }

    #[tokio::test]
    async fn a_call_is_answered_in_json_whatever_session_it_names() {
        for session in ["", "of-a-server-that-was-killed"] {
            let headers = [JSON, BOTH, ("mcp-session-id", session)];

            let (status, kind, body) = post(&headers, &call(1, &json!({}))).await;

            assert_eq!((status, kind.as_str()), (200, "application/json"));
            assert!(body.contains("polly"), "{body}");
        }
    }

    #[tokio::test]
    async fn a_call_that_asks_for_progress_is_answered_as_a_stream() {
        let (status, kind, body) =
            post(&[JSON, BOTH], &call(1, &json!({ "progressToken": 7 }))).await;

        assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
        let step = body.find("notifications/progress").expect("a step");
        assert!(body.find("polly").is_some_and(|answer| answer > step), "{body}");
    }

    #[tokio::test]
    async fn the_newer_era_needs_no_handshake() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let version = ("mcp-protocol-version", "2026-07-28");
        let named = ("mcp-name", "polly");
        let good = [JSON, BOTH, version, ("mcp-method", "tools/call"), named];
        let bad = [JSON, BOTH, version, ("mcp-method", "tools/list"), named];

        let (status, _, body) = post(&good, &call(1, &meta)).await;
        let (refused, _, why) = post(&bad, &call(1, &meta)).await;

        assert_eq!(status, 200, "{body}");
        assert!(body.contains("\"resultType\":\"complete\""), "{body}");
        assert_eq!(refused, 400);
        assert!(why.contains("-32020"), "{why}");
    }

    #[tokio::test]
    async fn a_notification_is_taken_without_a_body_and_a_content_type() {
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

        assert_eq!(post(&[JSON, BOTH], body).await, (202, String::new(), String::new()));
    }

    #[tokio::test]
    async fn every_refusal_is_an_error_of_the_protocol_with_the_id_where_it_had_one() {
        let deep = "[".repeat(100_000);
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{deep}{}}}"#,
            deep.replace('[', "]")
        );
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let cases: [(Headers<'_>, &str, u16, i64, Value); 8] = [
            (&[JSON, BOTH], "{", 400, -32700, Value::Null),
            (&[JSON, BOTH], "[]", 400, -32600, Value::Null),
            (
                &[JSON, BOTH],
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                400,
                -32600,
                json!(1.5),
            ),
            (&[JSON, BOTH], &deep, 400, -32600, json!(1)),
            (&[BOTH], ping, 415, -32600, json!(1)),
            (&[JSON, ("accept", "text/html")], ping, 406, -32600, json!(1)),
            (&[JSON, ("mcp-protocol-version", "1999-01-01")], ping, 400, -32600, json!(1)),
            (&[JSON, ("content-length", "4194305")], ping, 413, -32600, Value::Null),
        ];

        for (headers, body, status, code, id) in cases {
            let (got, kind, said) = post(headers, body).await;

            let said: Value = serde_json::from_str(&said).expect("JSON");
            assert_eq!((got, kind.as_str()), (status, "application/json"), "{said}");
            assert_eq!((&said["error"]["code"], &said["id"]), (&json!(code), &id), "{said}");
        }
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_though_it_did_not_say_its_length() {
        let (status, _, said) = post(&[JSON, BOTH], &" ".repeat(body::LIMIT + 1)).await;

        assert_eq!(status, 413);
        assert!(said.contains("4 MiB"), "{said}");
    }

    #[test]
    fn what_a_client_reads_is_told_from_its_accept_headers() {
        let cases: [(&[&str], bool, bool); 9] = [
            (&[], true, false),
            (&["*/*"], true, false),
            (&["application/json"], true, false),
            (&["application/json, text/event-stream"], true, true),
            (&["application/json", "text/event-stream;q=0.5"], true, true),
            (&["text/event-stream"], false, true),
            (&["Text/Event-Stream ; q=1"], false, true),
            (&["application/json;q=0, text/html"], false, false),
            (&["application/json, text/event-stream;q=0.0"], true, false),
        ];

        for (accept, json, stream) in cases {
            let mut headers = HeaderMap::new();
            for &value in accept {
                headers.append(ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(Accepted::of(&headers), Accepted { json, stream }, "{accept:?}");
        }
    }
}
