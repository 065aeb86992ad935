//! What is written down of each request: method, path, status, time. Never headers, bodies or the
//! query, which may hold secrets; a path that is a secret itself, as a set-up link, the address of
//! an upload or the form of a secret, is shortened.

use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::metrics::Meter;

/// Requests that take longer are worth a line of their own.
const SLOW: Duration = Duration::from_secs(2);

/// Logs a request once it is answered, and counts it.
pub async fn layer(State(meter): State<Meter>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let uri = request.uri().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let began = tokio::time::Instant::now();
    let response = next.run(request).await;
    let took = began.elapsed();
    meter.count(route.as_ref().map(MatchedPath::as_str), response.status().as_u16(), took);
    let (status, took_ms) = (response.status().as_u16(), took.as_secs_f64() * 1e3);
    let is_slow = took > SLOW && !uri.path().starts_with("/events");
    if status < 500 && !is_slow && !tracing::enabled!(tracing::Level::DEBUG) {
        return response;
    }
    let path = shown(uri.path());
    if status >= 500 {
        tracing::error!(%method, path, status, took_ms, "A request failed");
    } else if is_slow {
        tracing::warn!(%method, path, status, took_ms, "A request was slow");
    } else {
        tracing::debug!(%method, path, status, took_ms, "Answered");
    }
    response
}

/// The beginnings of paths whose ends open something.
const OPENING: [&str; 4] = ["/setup/", "/join/", "/uploads/", "/secrets/"];

/// A path as it may be logged: what opens something is left out.
pub(super) fn shown(path: &str) -> String {
    match OPENING.into_iter().find(|start| path.starts_with(start)) {
        Some(start) => format!("{start}…"),
        None => crate::base::text::cut(&crate::base::redact::redact(path), 200),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_opens_something_is_not_logged() {
        assert_eq!(shown("/join/abc"), "/join/…");
        assert_eq!(shown("/setup/abc"), "/setup/…");
        assert_eq!(shown("/uploads/abc"), "/uploads/…");
        assert_eq!(shown("/secrets/abc"), "/secrets/…");
        assert_eq!(shown("/tickets/ACME-1"), "/tickets/ACME-1");
    }
}
