//! `POST /api/mcp/v1/invoke`: any tool by name, answered with the envelope, whatever happens.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::mcp::body;
use super::{key, reading};
use crate::base::{Clock, Code, Entropy, Fault, RequestId};
use crate::contract::envelope::{self, Envelope};
use crate::tools::{CallContext, Gate, Reply};

/// What the invoke door works with.
#[derive(Clone)]
pub struct Invoke {
    gate: Arc<Gate>,
    clock: Clock,
    entropy: Entropy,
}

impl Invoke {
    /// The door to `gate`.
    #[must_use]
    pub const fn new(gate: Arc<Gate>, clock: Clock, entropy: Entropy) -> Self {
        Self { gate, clock, entropy }
    }

    /// Answers a request whose body has been read.
    pub async fn answer(&self, parts: Parts, body: Bytes) -> Response {
        let request: RequestId = self.entropy.id(self.clock.now());
        let (tool, outcome) = match called(&body) {
            Ok((tool, arguments)) => {
                let outcome = self.call(&parts.headers, &tool, arguments, request).await;
                (tool, outcome)
            }
            Err(fault) => (String::new(), Err(fault)),
        };
        let (status, envelope) = match outcome {
            Ok(Reply { summary, data, warnings, next }) => {
                (200, envelope::success(&tool, &summary, data, warnings, &next))
            }
            Err(fault) => {
                super::mcp::answer::log(&fault, request);
                envelope::failure(&tool, &fault)
            }
        };
        respond(status, &envelope)
    }

    async fn call(
        &self,
        headers: &HeaderMap,
        tool: &str,
        arguments: Value,
        request: RequestId,
    ) -> Result<Reply, Fault> {
        let caller = self.gate.caller(key::sent(headers).as_ref()).await?;
        let context = CallContext {
            via: "invoke",
            progress: None,
            cancel: CancellationToken::new(),
            request,
        };
        self.gate.call(&caller, tool, arguments, context).await
    }
}

/// The handler of the route.
pub async fn enter(State(invoke): State<Invoke>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        let fault = Fault::new(Code::BadRequest, "This address takes POST with a JSON body.");
        let mut response = respond(405, &envelope::failure("", &fault).1);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    if reading::is_large(&parts.headers)
        && let Err(fault) = invoke.gate.caller(key::sent(&parts.headers).as_ref()).await
    {
        reading::pass_over_body(body);
        let (status, envelope) = envelope::failure("", &fault);
        return respond(status, &envelope);
    }
    match body::collect(&parts.headers, body).await {
        Ok(bytes) => invoke.answer(parts, bytes).await,
        Err(fault) => {
            let (status, envelope) = envelope::failure("", &fault);
            respond(status, &envelope)
        }
    }
}

/// The tool and its arguments, from a body such as `{"tool": "…", "args": {…}}`.
fn called(body: &[u8]) -> Result<(String, Value), Fault> {
    let malformed = |why: &str| {
        let form = "{\"tool\": …, \"args\": {…}}";
        let message = format!("The body is not usable: {why}. Send {form}.");
        Fault::new(Code::InvalidArgument, message)
    };
    let sent: Value = serde_json::from_slice(body)
        .map_err(|error| malformed(&format!("it is not JSON ({error})")))?;
    let Value::Object(mut sent) = sent else { return Err(malformed("it is no JSON object")) };
    let arguments = sent.remove("args").unwrap_or(Value::Null);
    match sent.remove("tool") {
        Some(Value::String(tool)) => Ok((tool, arguments)),
        Some(_) => Err(malformed("tool is no string").issue("tool", "expected a string")),
        None => Err(malformed("tool is missing").issue("tool", "is missing")),
    }
}

fn respond(status: u16, envelope: &Envelope) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let text = serde_json::to_string(envelope).expect("an envelope is JSON");
    let mut response = (status, [(CONTENT_TYPE, "application/json")], text).into_response();
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"assay\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    if let Some(wait_ms) = envelope.retry_after_ms {
        let seconds = HeaderValue::from(wait_ms.div_ceil(1_000));
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_no_call_says_what_to_send() {
        for (body, says) in [
            ("", "not JSON"),
            ("[]", "no JSON object"),
            ("{}", "tool is missing"),
            (r#"{"tool": 1}"#, "tool is no string"),
        ] {
            let fault = called(body.as_bytes()).unwrap_err();
            assert!(fault.message.contains(says), "{body}: {fault:?}");
        }
    }

    #[test]
    fn absent_arguments_are_none() {
        let (tool, arguments) = called(br#"{"tool": "list_tickets"}"#).unwrap();

        assert_eq!((tool.as_str(), arguments), ("list_tickets", Value::Null));
    }
}
