//! What comes in at the MCP address, told apart and let in or turned away.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};

use super::address::Address;
use super::body::{self, Message, Posted};
use super::calls::{Calls, Name};
use super::handler::{Handler, Visit};
use super::plain::Plain;
use super::transport::{Accepted, SESSION, Sessions, Transport};
use super::{answer, catalog};
use crate::base::{Clock, Code, Entropy, Fault, RequestId};
use crate::tools::{Caller, Gate};
use crate::web::{key, reading};

/// Answers a call that is in the shape of the invoke door.
pub type Invoke = Arc<dyn Fn(Parts, Bytes) -> BoxFuture<'static, Response> + Send + Sync>;

/// What the door takes from the program around it.
pub struct Setting {
    /// Answers what belongs to the invoke door.
    pub invoke: Invoke,
    /// This server's own address, without a slash at its end.
    pub public_url: String,
    /// The time.
    pub clock: Clock,
    /// Where session and request ids come from.
    pub entropy: Entropy,
}

/// The MCP door.
pub struct Door {
    gate: Arc<Gate>,
    handler: Handler,
    transport: Transport<Handler>,
    calls: Calls,
    invoke: Invoke,
    clock: Clock,
    entropy: Entropy,
}

/// The routes of the door, under both of its names.
pub fn routes(door: Arc<Door>) -> Router {
    Router::new().route("/api/mcp", any(enter)).route("/mcp", any(enter)).with_state(door)
}

async fn enter(State(door): State<Arc<Door>>, request: Request<Body>) -> Response {
    let (parts, body) = request.into_parts();
    match parts.method {
        Method::POST => door.post(parts, body).await,
        Method::GET | Method::HEAD if !Accepted::of(&parts.headers).stream => door.catalog(&parts),
        Method::DELETE => door.delete(&parts).await,
        // A client of the older era tries for a stream of its own; that there is none is no fault.
        Method::GET | Method::HEAD => door.transport.other(parts).await,
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, POST, DELETE")]).into_response(),
    }
}

impl Door {
    /// A door to `gate`.
    #[must_use]
    pub fn new(gate: Arc<Gate>, setting: Setting) -> Self {
        let Setting { invoke, public_url, clock, entropy } = setting;
        let calls = Calls::default();
        let handler = Handler::new(gate.clone(), calls.clone(), public_url.into());
        let transport = Transport::new(handler.clone(), Sessions::Off);
        Self { gate, handler, transport, calls, invoke, clock, entropy }
    }

    fn catalog(&self, parts: &Parts) -> Response {
        let address = match Address::parse(parts.uri.query(), self.gate.registry()) {
            Ok(address) => address,
            Err(fault) => return answer::refused(&fault, None),
        };
        let body = catalog::public(self.gate.registry(), &address, self.clock.now());
        let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
        (headers, body).into_response()
    }

    async fn post(&self, parts: Parts, body: Body) -> Response {
        if reading::is_large(&parts.headers)
            && let Err(fault) = self.gate.caller(key::sent(&parts.headers).as_ref()).await
        {
            reading::pass_over_body(body);
            return answer::refused(&fault, None);
        }
        let bytes = match body::collect(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err(fault) => return answer::refused(&fault, None),
        };
        match Posted::read(&bytes) {
            Posted::Invoke => (self.invoke)(parts, bytes).await,
            Posted::Unreadable(why) => match self.visit(&parts).await {
                Ok(_) => answer::unreadable(why),
                Err(fault) => answer::refused(&fault, None),
            },
            Posted::Message(message) => match self.visit(&parts).await {
                Ok(visit) => self.message(parts, bytes, &message, visit).await,
                Err(fault) => answer::refused(&fault, message.id.as_ref()),
            },
        }
    }

    /// Who is there; a fault if they may not use this door.
    async fn visit(&self, parts: &Parts) -> Result<Visit, Fault> {
        let request = self.request_id(parts);
        let caller = self.gate.caller(key::sent(&parts.headers).as_ref()).await;
        let caller = caller.inspect_err(|fault| answer::log(fault, request))?;
        may_enter(&caller)?;
        Ok(Visit {
            caller,
            address: Address::parse(parts.uri.query(), self.gate.registry())?,
            session: session(&parts.headers),
            streams: Accepted::of(&parts.headers).stream,
            request,
        })
    }

    /// The id that the request has in the logs; a fresh one where nobody gave it one.
    fn request_id(&self, parts: &Parts) -> RequestId {
        let given = parts.extensions.get::<RequestId>().copied();
        given.unwrap_or_else(|| self.entropy.id(self.clock.now()))
    }

    async fn message(
        &self,
        mut parts: Parts,
        bytes: Bytes,
        message: &Message,
        visit: Visit,
    ) -> Response {
        if let Some(call) = Plain::read(&parts.headers, &bytes)
            && let Some(response) = self.handler.plain(&visit, call).await
        {
            return response;
        }
        if message.method.as_deref() == Some("notifications/cancelled")
            && let Some(request) = body::cancelled_request(&bytes)
        {
            let key = visit.caller.actor.key();
            self.calls.cancel(&Name { key, session: visit.session.clone(), request });
        }
        parts.extensions.insert(visit);
        let mut response = self.transport.message(parts, bytes, message).await;
        if message.method.as_deref() == Some("initialize") && response.status().is_success() {
            // Not kept anywhere: it only tells this client's calls from another's of the same key.
            let id = format!("{:032x}", u128::from_le_bytes(self.entropy.bytes()));
            if let Ok(id) = HeaderValue::from_str(&id) {
                response.headers_mut().insert(SESSION, id);
            }
        }
        response
    }

    /// The end of a session: nothing is kept, but its calls are no longer wanted.
    async fn delete(&self, parts: &Parts) -> Response {
        match self.visit(parts).await {
            Ok(visit) => {
                if let Some(session) = &visit.session {
                    self.calls.end_session(visit.caller.actor.key(), session);
                }
                StatusCode::NO_CONTENT.into_response()
            }
            Err(fault) => answer::refused(&fault, None),
        }
    }
}

/// Keys made for continuous integration reach its own endpoints and no tool.
fn may_enter(caller: &Caller) -> Result<(), Fault> {
    if caller.actor.can_read() {
        return Ok(());
    }
    let said = format!(
        "A key of scope {} cannot use MCP. Use one that was created with --scope mcp_read or \
         --scope mcp_full.",
        caller.actor.scope
    );
    Err(Fault::new(Code::ScopeDenied, said))
}

/// The session id that came with a request, if it is one that could be ours.
fn session(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?.to_str().ok()?;
    (!id.is_empty() && id.len() <= 200).then(|| id.to_owned())
}
