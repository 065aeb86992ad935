//! The API key that comes with a request, in either of the two headers that clients use.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::base::Secret;

/// The key: the bearer token, or else what stands in `X-API-Key`. A proxy in front may use the
/// `Authorization` header for a scheme of its own, so another scheme there does not count.
#[must_use]
pub fn sent(headers: &HeaderMap) -> Option<Secret> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.trim().split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let plain = || headers.get("x-api-key").and_then(|value| Some(value.to_str().ok()?.trim()));
    bearer.or_else(plain).filter(|key| !key.is_empty()).map(Secret::new)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn the_key_is_found_in_either_header() {
        type Sent = &'static [(&'static str, &'static str)];
        let cases: [(Sent, Option<&str>); 9] = [
            (&[("authorization", "Bearer abc")], Some("abc")),
            (&[("authorization", "bearer  abc ")], Some("abc")),
            (&[("x-api-key", " abc ")], Some("abc")),
            (&[("authorization", "Bearer abc"), ("x-api-key", "def")], Some("abc")),
            (&[("authorization", "Basic dTpw"), ("x-api-key", "def")], Some("def")),
            (&[("authorization", "Bearer"), ("x-api-key", "def")], Some("def")),
            (&[("authorization", "Bearer ")], None),
            (&[("x-api-key", "")], None),
            (&[], None),
        ];

        for (sent_headers, key) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in sent_headers {
                headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            let found = sent(&headers);
            assert_eq!(found.as_ref().map(Secret::reveal), key, "{sent_headers:?}");
        }
    }
}
