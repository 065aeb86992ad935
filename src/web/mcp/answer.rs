//! How a tool's outcome, and a refusal of the door, is said over MCP.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::address::Dialect;
use super::body::Unreadable;
use crate::base::{Code, Fault, RequestId};
use crate::contract::{code, envelope, error_object, jsonrpc};
use crate::tools::Reply;

/// What a tool came to, as a client is told it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A success: the value for programs, and the same as text for models.
    Success(Box<RawValue>),
    /// A failure that the model reads: text alone, for a client would hold structured content
    /// against the schema of success and hide the failure behind its own.
    Failure(String),
}

/// An outcome as it is written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl Outcome {
    /// The result; the newer era has each say that it is complete.
    pub(super) fn result(&self, newer: bool) -> ToolResult<'_> {
        let (text, structured) = match self {
            Self::Success(written) => (written.get(), Some(&**written)),
            Self::Failure(said) => (said.as_str(), None),
        };
        ToolResult {
            result_type: newer.then_some("complete"),
            content: [Text { kind: "text", text }],
            structured_content: structured,
            is_error: structured.is_none(),
        }
    }
}

impl From<Outcome> for CallToolResult {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success(written) => {
                let mut result = Self::success(vec![ContentBlock::text(written.get())]);
                result.structured_content = serde_json::from_str(written.get()).ok();
                result
            }
            Outcome::Failure(said) => Self::error(vec![ContentBlock::text(said)]),
        }
    }
}

/// The outcome of a tool in a dialect, or the error of the protocol. `public_url` is this server's
/// own address.
pub(super) fn outcome(
    dialect: Dialect,
    public_url: &str,
    tool: &str,
    outcome: Result<Reply, Fault>,
) -> Result<Outcome, ErrorData> {
    match (dialect, outcome) {
        (Dialect::Envelope, Ok(reply)) => {
            let Reply { summary, data, warnings, next } = reply;
            let said = envelope::success(tool, &summary, data, warnings, &next);
            Ok(Outcome::Success(to_raw_value(&said).expect("an envelope is JSON")))
        }
        (Dialect::Jsonrpc | Dialect::Object, Ok(reply)) => Ok(Outcome::Success(reply.data)),
        (Dialect::Jsonrpc, Err(fault)) => Err(rpc_error(&fault)),
        (Dialect::Envelope, Err(fault)) => {
            Ok(Outcome::Failure(plain(&envelope::failure(tool, &fault).1).to_string()))
        }
        (Dialect::Object, Err(fault)) => {
            Ok(Outcome::Failure(error_object::encode(&fault, public_url).to_text()))
        }
    }
}

/// Logs the cause of a fault, which the caller never sees.
pub(in crate::web) fn log(fault: &Fault, request: RequestId) {
    if fault.cause().is_some() {
        tracing::error!(?fault, %request, "A call failed");
    }
}

/// A wire value as JSON.
fn plain(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("wire values hold texts, numbers and JSON")
}

/// A fault as the error of the protocol.
pub(super) fn rpc_error(fault: &Fault) -> ErrorData {
    let said = jsonrpc::error(fault);
    ErrorData::new(ErrorCode(said.code), said.message, Some(plain(&said.data)))
}

/// The answer of HTTP to a request that the door does not let in, with the id it was sent under
/// where that could be read.
pub(super) fn refused(fault: &Fault, id: Option<&Value>) -> Response {
    let status = StatusCode::from_u16(code::wire(fault.code).http);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = error(status, &plain(&jsonrpc::error(fault)), id);
    if fault.code == Code::Unauthenticated {
        let challenge = HeaderValue::from_static("Bearer realm=\"assay\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The answer to a body that is no message.
pub(super) fn unreadable(why: Unreadable) -> Response {
    let (code, said) = why.say();
    error(StatusCode::BAD_REQUEST, &json!({ "code": code, "message": said }), None)
}

/// A refusal of the library, which says it in plain text.
pub(super) fn library(status: StatusCode, said: &str, id: Option<&Value>) -> Response {
    if status.is_server_error() {
        tracing::error!(status = status.as_u16(), "The MCP library failed: {said}");
        let said = "Something went wrong on the server.";
        return error(status, &json!({ "code": -32603, "message": said }), id);
    }
    // What cannot be read as a message is the sender's mistake, not a matter of media types.
    let unread = said.contains("deserialize");
    let status = if unread { StatusCode::BAD_REQUEST } else { status };
    let said = if unread { UNREAD } else { said };
    error(status, &json!({ "code": -32600, "message": said }), id)
}

/// What the library could not read although it is a message by its members.
const UNREAD: &str = "The message cannot be read: its id or its params have the wrong shape, or \
                      it is nested too deeply.";

fn error(status: StatusCode, error: &Value, id: Option<&Value>) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "https://assay.example";

    fn reply() -> Reply {
        Reply {
            summary: "Found it.".to_owned(),
            data: to_raw_value(&json!({ "count": 1 })).expect("plain data"),
            warnings: vec![],
            next: vec![],
        }
    }

    /// The parts of a result: structured content, the only text as JSON, whether it is an error.
    fn parts(outcome: Outcome) -> (Option<Value>, Value, bool) {
        let written = serde_json::to_value(outcome.result(true)).expect("plain data");
        let wire = serde_json::to_value(CallToolResult::from(outcome)).expect("plain data");
        assert_eq!(written, wire, "both ways of writing it say the same");
        let blocks = wire["content"].as_array().expect("content");
        assert_eq!(blocks.len(), 1);
        let text = blocks[0]["text"].as_str().expect("a text");
        let text = serde_json::from_str(text).expect("the text is JSON");
        (wire.get("structuredContent").cloned(), text, wire["isError"] == true)
    }

    #[test]
    fn a_success_is_told_to_programs_and_as_the_same_text_to_models() {
        for dialect in Dialect::ALL {
            let result = outcome(*dialect, HERE, "count", Ok(reply())).expect("a result");

            let (structured, text, is_error) = parts(result);
            assert_eq!((structured, is_error), (Some(text.clone()), false), "{dialect}");
            let data = if *dialect == Dialect::Envelope { &text["data"] } else { &text };
            assert_eq!(data, &json!({ "count": 1 }));
        }
    }

    #[test]
    fn a_failure_is_told_in_its_dialect_and_never_as_structured_content() {
        let fail = |dialect| {
            outcome(dialect, HERE, "count", Err(Fault::new(Code::NotFound, "No such ticket.")))
        };

        let rpc = fail(Dialect::Jsonrpc).expect_err("an error of the protocol");
        assert_eq!((rpc.code.0, rpc.message.as_ref()), (-32600, "No such ticket."));
        assert_eq!(rpc.data, Some(json!({ "code": "NOT_FOUND", "statusCode": 404 })));

        let (structured, text, is_error) = parts(fail(Dialect::Envelope).expect("a result"));
        assert_eq!((structured, is_error), (None, true));
        assert_eq!((&text["ok"], &text["tool"]), (&json!(false), &json!("count")));

        let (structured, text, is_error) = parts(fail(Dialect::Object).expect("a result"));
        assert_eq!((structured, is_error), (None, true));
        assert_eq!(text["format"], "cora-mcp-error");
        let docs = text["docsUrl"].as_str().expect("an address");
        assert!(docs.starts_with("https://assay.example/docs/errors#"), "{docs}");
    }

    #[test]
    fn who_has_no_key_is_told_how_at_both_levels() {
        let fault = Fault::new(Code::Unauthenticated, "No key came with the call.");

        let response = refused(&fault, Some(&json!("a")));

        assert_eq!(response.status(), 401);
        assert!(
            response.headers()[WWW_AUTHENTICATE].to_str().is_ok_and(|v| v.starts_with("Bearer"))
        );
    }
}
