//! A page as an answer: rendered, and guarded by its headers.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// What a page may load: our own scripts, styles and images, and nothing written inside the page.
/// Where the browser knows Trusted Types, no script of ours makes markup or code from a text, but
/// for the pages that `assets/live.js` fetches and reads.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types assay-page";

/// The headers that go with everything a browser is given.
#[must_use]
pub fn guards() -> [(HeaderName, HeaderValue); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ]
}

/// A template as a page of status 200 that no cache keeps.
pub struct Page<T>(pub T);

/// A template as a page of another status, such as a form that could not be taken (422).
pub struct PageWith<T>(pub StatusCode, pub T);

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        PageWith(StatusCode::OK, self.0).into_response()
    }
}

impl<T: Template> IntoResponse for PageWith<T> {
    fn into_response(self) -> Response {
        let kept = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
        match self.1.render() {
            Ok(text) => (self.0, guards(), kept, Html(text)).into_response(),
            Err(cause) => {
                tracing::error!(%cause, "a page could not be rendered");
                let said = "Something went wrong on the server.";
                (StatusCode::INTERNAL_SERVER_ERROR, guards(), kept, said).into_response()
            }
        }
    }
}

/// Sends the browser on to an address of ours after a form was taken (303).
#[must_use]
pub fn go_to(address: &str) -> Response {
    let local = address.starts_with('/') && !address.starts_with("//");
    // A browser leaves tabs out before it reads an address, and takes a backslash for a slash.
    let odd = |c: char| c == '\\' || c.is_control();
    let target = if local && !address.contains(odd) { address } else { "/" };
    let location = HeaderValue::try_from(target).unwrap_or(HeaderValue::from_static("/"));
    let kept = (header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (StatusCode::SEE_OTHER, guards(), [(header::LOCATION, location), kept]).into_response()
}

/// A text in the query of an address.
#[must_use]
pub fn in_query(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Template)]
    #[template(source = "<p>{{ name }}</p>", ext = "html")]
    struct Greeting {
        name: &'static str,
    }

    #[test]
    fn a_page_is_guarded_and_kept_by_nobody() {
        let reply = Page(Greeting { name: "<b>" }).into_response();

        let header = |name: HeaderName| reply.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header(header::CACHE_CONTROL), "no-store");
        assert_eq!(header(header::CONTENT_TYPE), "text/html; charset=utf-8");
        assert!(header(header::CONTENT_SECURITY_POLICY).starts_with("default-src 'none';"));
        assert!(!POLICY.contains("unsafe"));
    }

    #[test]
    fn a_text_in_a_query_is_escaped() {
        assert_eq!(in_query("/tickets?a=é&b"), "%2Ftickets%3Fa%3D%C3%A9%26b");
    }

    #[test]
    fn a_form_leads_only_to_addresses_of_ours() {
        let target = |address| go_to(address).headers()[header::LOCATION].clone();

        assert_eq!(target("/tickets/ACME-1"), "/tickets/ACME-1");
        for other in
            ["https://evil.test/", "//evil.test", "/\\evil.test", "", "/a\r\nb: c", "/\t/evil.test"]
        {
            assert_eq!(target(other), "/", "{other:?}");
        }
    }
}
