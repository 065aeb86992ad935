//! A fault on its way to a person: handlers return it, and one layer logs it and makes it a page.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::dashboard::error::ErrorPage;
use super::dashboard::new_ticket;
use super::page::PageWith;
use super::reading;
use super::site::Site;
use super::trace::shown;
use crate::base::{Code, Fault, RequestId};
use crate::contract::code::wire;

/// The largest form that is read, in bytes.
const FORM_MAX: usize = 1 << 20;

/// A fault that ends a request.
#[derive(Debug)]
pub struct Trouble(pub Fault);

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let mut response = status_of(&self.0).into_response();
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

fn status_of(fault: &Fault) -> StatusCode {
    let status = match fault.code {
        Code::StorageFull => 507,
        code => wire(code).status,
    };
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Gives every request its id, and makes a page of a fault, with that id on it.
pub async fn layer(State(site): State<Site>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let id = site.request_id(&parts);
    let read = if parts.method == Method::POST {
        let has_files = new_ticket::takes_files(&parts, &site).await;
        let max = if has_files { new_ticket::FORM_MAX } else { FORM_MAX };
        reading::collect(&parts.headers, body, max).await
    } else {
        Ok(Bytes::new())
    };
    let path = shown(parts.uri.path());
    let response = match read {
        Ok(form) => {
            let mut request = Request::from_parts(parts, Body::from(form));
            request.extensions_mut().insert(id);
            next.run(request).await
        }
        Err(fault) => Trouble(fault).into_response(),
    };
    let Some(fault) = response.extensions().get::<Arc<Fault>>() else {
        return if is_bare(&response) { page(response.status(), "", id) } else { response };
    };
    if matches!(fault.code, Code::Internal | Code::StorageFull) {
        tracing::error!(?fault, request = %id, path, "A page failed");
    }
    let said = if fault.code == Code::Internal { "" } else { &fault.message };
    let mut made = page(response.status(), said, id);
    if let Some(wait_ms) = fault.retry_after_ms {
        let seconds = HeaderValue::from(wait_ms.div_ceil(1_000));
        made.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    keep_cookies(response.headers(), made.headers_mut());
    made
}

/// Whether it is a refusal of the framework's own: of a method, or of a form that cannot be read.
/// What a script of ours is told is JSON.
fn is_bare(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_ours = |kind: &str| kind.starts_with("text/html") || kind == "application/json";
    response.status().is_client_error() && !kind.is_some_and(is_ours)
}

fn page(status: StatusCode, said: &str, id: RequestId) -> Response {
    PageWith(status, ErrorPage::new(status.as_u16(), said, &id.to_string())).into_response()
}

fn keep_cookies(from: &HeaderMap, to: &mut HeaderMap) {
    for cookie in from.get_all(header::SET_COOKIE) {
        to.append(header::SET_COOKIE, cookie.clone());
    }
}

/// The answer to an address that no page has.
pub async fn not_found() -> Trouble {
    Trouble(Fault::new(Code::NotFound, ""))
}
