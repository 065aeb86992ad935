//! How a tool's outcome, and a refusal of the door, is said over MCP.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};
use serde::Serialize;
use serde_json::{Value, json};

use super::address::Dialect;
use super::body::Unreadable;
use crate::base::{Code, Fault, RequestId};
use crate::contract::{code, envelope, error_object, jsonrpc};
use crate::tools::Reply;

/// The outcome of a tool in a dialect: a result, or the error of the protocol. `public_url` is
/// this server's own address.
pub(super) fn outcome(
    dialect: Dialect,
    public_url: &str,
    tool: &str,
    outcome: Result<Reply, Fault>,
) -> Result<CallToolResult, ErrorData> {
    match (dialect, outcome) {
        (Dialect::Envelope, Ok(reply)) => {
            let Reply { summary, data, warnings, next } = reply;
            let said = envelope::success(tool, &summary, &data, &warnings, &next);
            Ok(structured(plain(&said)))
        }
        (Dialect::Jsonrpc | Dialect::Object, Ok(reply)) => Ok(structured(reply.data)),
        (Dialect::Jsonrpc, Err(fault)) => Err(rpc_error(&fault)),
        (Dialect::Envelope, Err(fault)) => {
            Ok(failed(plain(&envelope::failure(tool, &fault).1).to_string()))
        }
        (Dialect::Object, Err(fault)) => {
            Ok(failed(error_object::encode(&fault, public_url).to_text()))
        }
    }
}

/// Logs the cause of a fault, which the caller never sees.
pub(super) fn log(fault: &Fault, request: RequestId) {
    if fault.cause().is_some() {
        tracing::error!(?fault, %request, "A call over MCP failed");
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

/// A success: the value for programs, and the same as text for models.
fn structured(value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// A failure that the model reads: text alone, for a client would hold structured content against
/// the schema of success and hide the failure behind its own.
fn failed(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
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
