//! A `tools/call` in the form that nearly every client sends, answered without the library: it
//! writes each answer through trees of values and a task of its own, which costs more than most of
//! the tools that only read. What is not exactly of this form goes to the library, which decides
//! about it; a test holds the two to the same answers.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, ErrorCode, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::{Outcome, ToolResult};
use super::transport::Accepted;

/// Revisions in which a request says nothing of itself beyond its header.
const OLDER: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision in which each request says what it is.
const NEWER: &str = "2026-07-28";
/// The method that is answered here.
const CALL: &str = "tools/call";

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A call of the plain form.
#[derive(Debug, PartialEq)]
pub(super) struct Plain {
    /// The tool.
    pub(super) tool: String,
    /// Its arguments; null where there are none.
    pub(super) args: Value,
    /// The id to answer to.
    pub(super) id: RequestId,
    era: Era,
}

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Older,
    Newer,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: Cow<'a, str>,
    id: RequestId,
    method: Cow<'a, str>,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: String,
    #[serde(rename = "io.modelcontextprotocol/clientInfo")]
    _client: Option<IgnoredAny>,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    _capabilities: ClientCapabilities,
}

impl Plain {
    /// Reads a call; none where it is of any other form.
    pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let json = Header::of(headers, &CONTENT_TYPE) == Header::One("application/json");
        if !json || !Accepted::of(headers).json {
            return None;
        }
        let message: Message<'_> = serde_json::from_slice(body).ok()?;
        if message.jsonrpc != "2.0" || message.method != CALL {
            return None;
        }
        let Params { name, arguments, meta } = message.params;
        let era = match (Header::of(headers, &VERSION), meta) {
            (Header::None, None) => Era::Older,
            (Header::One(version), None) if OLDER.contains(&version) => Era::Older,
            (Header::One(NEWER), Some(meta)) if meta.version == NEWER => Era::Newer,
            _ => return None,
        };
        let says = |header: &HeaderName, what| Header::of(headers, header) == Header::One(what);
        if era == Era::Newer && !(says(&METHOD, CALL) && says(&NAME, &name)) {
            return None;
        }
        let args = arguments.map_or(Value::Null, Value::Object);
        Some(Self { tool: name, args, id: message.id, era })
    }

    /// The answer to it.
    pub(super) fn answer(&self, outcome: &Result<Outcome, ErrorData>) -> Response {
        let newer = self.era == Era::Newer;
        let (status, told) = match outcome {
            Ok(outcome) => (StatusCode::OK, Told::Result(outcome.result(newer))),
            Err(error) if newer && error.code == ErrorCode::METHOD_NOT_FOUND => {
                (StatusCode::NOT_FOUND, Told::Error(error))
            }
            Err(error) => (StatusCode::OK, Told::Error(error)),
        };
        let answer = Answer { jsonrpc: "2.0", id: &self.id, told };
        let body = serde_json::to_vec(&answer).expect("an answer is JSON");
        (status, [(CONTENT_TYPE, "application/json")], body).into_response()
    }
}

/// What there is of a header.
#[derive(PartialEq)]
enum Header<'a> {
    None,
    One(&'a str),
    /// It came more than once, or is no text.
    Other,
}

impl<'a> Header<'a> {
    fn of(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        let mut values = headers.get_all(name).iter();
        match (values.next().map(|value| value.to_str()), values.next()) {
            (None, _) => Self::None,
            (Some(Ok(value)), None) => Self::One(value),
            _ => Self::Other,
        }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    #[serde(flatten)]
    told: Told<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Told<'a> {
    Result(ToolResult<'a>),
    Error(&'a ErrorData),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.append(CONTENT_TYPE, "application/json".parse().expect("a value"));
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    fn older(params: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 7, "method": CALL, "params": params })
    }

    fn newer(version: &str) -> Value {
        older(&json!({
            "name": "get_ticket",
            "arguments": { "ticket": "A-1" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
            },
        }))
    }

    fn read(pairs: &[(&'static str, &'static str)], body: &Value) -> Option<Plain> {
        Plain::read(&headers(pairs), body.to_string().as_bytes())
    }

    const NEWER_HEADERS: [(&str, &str); 3] =
        [("mcp-protocol-version", NEWER), ("mcp-method", CALL), ("mcp-name", "get_ticket")];

    #[test]
    fn the_plain_form_is_read_in_both_eras() {
        let body = older(&json!({ "name": "get_ticket", "arguments": { "ticket": "A-1" } }));
        for pairs in [&[][..], &[("mcp-protocol-version", "2025-11-25"), ("accept", "*/*")]] {
            let call = read(pairs, &body).expect("a plain call");
            assert_eq!((call.tool.as_str(), &call.args), ("get_ticket", &json!({"ticket": "A-1"})));
            assert_eq!((call.id, call.era), (RequestId::Number(7), Era::Older));
        }

        let call = read(&NEWER_HEADERS, &newer(NEWER)).expect("a plain call");
        assert_eq!(call.era, Era::Newer);
        let bare = read(&[], &older(&json!({ "name": "list_projects" }))).expect("a plain call");
        assert_eq!(bare.args, Value::Null);
    }

    #[test]
    fn any_other_form_is_left_to_the_library() {
        let plain = json!({ "name": "get_ticket", "arguments": {} });
        let with = |member: &str, value: Value| {
            let mut params = plain.clone();
            params[member] = value;
            older(&params)
        };
        for (pairs, body) in [
            (vec![("mcp-protocol-version", "1999-01-01")], older(&plain)),
            (vec![("mcp-protocol-version", NEWER)], older(&plain)),
            (vec![("mcp-protocol-version", "2025-06-18"); 2], older(&plain)),
            (vec![("content-type", "text/plain")], older(&plain)),
            (vec![("accept", "text/event-stream")], older(&plain)),
            (vec![], with("_meta", json!({ "progressToken": 1 }))),
            (vec![], with("task", json!({}))),
            (vec![], with("arguments", json!([]))),
            (vec![], json!({ "jsonrpc": "2.0", "method": CALL, "params": plain })),
            (vec![], json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": plain })),
            (vec![], json!({ "jsonrpc": "2.0", "id": 1.5, "method": CALL, "params": plain })),
            (NEWER_HEADERS.to_vec(), newer("2025-11-25")),
            (NEWER_HEADERS[..2].to_vec(), newer(NEWER)),
            (vec![NEWER_HEADERS[0], NEWER_HEADERS[1], ("mcp-name", "other")], newer(NEWER)),
            (vec![NEWER_HEADERS[0], ("mcp-method", "ping"), NEWER_HEADERS[2]], newer(NEWER)),
        ] {
            assert_eq!(read(&pairs, &body), None, "{pairs:?} {body}");
        }
    }
}
