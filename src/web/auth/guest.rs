//! Somebody who is not signed in and fills a form: the form's token must be the cookie's, which
//! another site can neither read nor set.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::request::Parts;
use http::{HeaderName, HeaderValue, header};

use crate::base::secret::same;
use crate::base::{Code, Fault};
use crate::web::site::Site;

/// The most characters of a token that is looked at.
const TOKEN_MAX: usize = 64;

/// Somebody who is not signed in, with the token of their forms.
pub struct Guest {
    /// What the form carries.
    pub csrf: String,
    fresh: Option<HeaderValue>,
}

impl FromRequestParts<Site> for Guest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Infallible> {
        let cookies = site.cookies();
        let known = cookies.guest(&parts.headers).filter(|token| is_token(token));
        if let Some(token) = known {
            return Ok(Self { csrf: token.to_owned(), fresh: None });
        }
        let csrf = URL_SAFE_NO_PAD.encode(site.entropy().bytes::<32>());
        let fresh = Some(cookies.set_guest(&csrf));
        Ok(Self { csrf, fresh })
    }
}

fn is_token(text: &str) -> bool {
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.len() <= TOKEN_MAX && text.chars().all(usable)
}

impl Guest {
    /// Refuses a form that did not come from a page of ours.
    pub fn check(&self, token: &str) -> Result<(), Fault> {
        if self.fresh.is_none() && same(self.csrf.as_bytes(), token.as_bytes()) {
            return Ok(());
        }
        let said = "The form was open for too long, or the browser keeps no cookies. Go back, load \
                    the page again and send it once more.";
        Err(Fault::new(Code::Forbidden, said))
    }

    /// The header that makes the browser keep the token, where it has none yet.
    #[must_use]
    pub fn headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        self.fresh.iter().map(|set| (header::SET_COOKIE, set.clone())).collect()
    }
}
