//! Where one request ends and the next begins. A proxy in front that reads that otherwise than this
//! server would let somebody put a request of their own before another's.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::{HeaderValue, StatusCode};

use crate::base::{Code, Fault};
use crate::contract::envelope;

/// Refuses a request that gives its length in two ways, and ends the connection after one whose
/// length only its body tells.
pub async fn layer(request: Request, next: Next) -> Response {
    let headers = request.headers();
    if !headers.contains_key(TRANSFER_ENCODING) {
        return next.run(request).await;
    }
    let mut response =
        if headers.contains_key(CONTENT_LENGTH) { refused() } else { next.run(request).await };
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn refused() -> Response {
    let said = "The request has both Content-Length and Transfer-Encoding. Send one of them.";
    let (_, said) = envelope::failure("", &Fault::new(Code::BadRequest, said));
    let body = serde_json::to_string(&said).expect("an envelope holds texts and JSON");
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], body).into_response()
}
