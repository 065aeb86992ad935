//! Our two cookies: one holds the token of a login, one guards the forms before it.

use http::{HeaderMap, HeaderValue, header};

/// How long a browser keeps the cookie of a login, in seconds. The login itself ends earlier when
/// it is not used; a cookie that outlives it opens nothing.
const LOGIN_AGE_SECS: u32 = 90 * 24 * 60 * 60;

/// How cookies are named and set, which depends on whether people come over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookies {
    /// Whether the address that people use is `https`, be it that a proxy in front speaks TLS.
    pub is_secure: bool,
}

impl Cookies {
    /// The token of the login, where the browser has one.
    #[must_use]
    pub fn login(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, &self.name("assay"))
    }

    /// The token of the forms of somebody who is not signed in.
    #[must_use]
    pub fn guest(self, headers: &HeaderMap) -> Option<&str> {
        find(headers, &self.name("assay-guest"))
    }

    /// Sets the token of a login.
    #[must_use]
    pub fn set_login(self, token: &str) -> HeaderValue {
        self.set(&self.name("assay"), token, &format!("; Max-Age={LOGIN_AGE_SECS}"))
    }

    /// Takes the token of a login away.
    #[must_use]
    pub fn clear_login(self) -> HeaderValue {
        self.set(&self.name("assay"), "", "; Max-Age=0")
    }

    /// Sets the token of the forms of somebody who is not signed in, until the browser closes.
    #[must_use]
    pub fn set_guest(self, token: &str) -> HeaderValue {
        self.set(&self.name("assay-guest"), token, "")
    }

    /// With TLS, the name itself makes browsers refuse the cookie from anywhere but this host.
    fn name(self, plain: &str) -> String {
        if self.is_secure { format!("__Host-{plain}") } else { plain.to_owned() }
    }

    /// `Lax` and not `Strict`, which would show a signed-out page to who follows a link to a
    /// ticket. Every form that changes something carries a token besides.
    fn set(self, name: &str, token: &str, age: &str) -> HeaderValue {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={token}; Path=/; HttpOnly; SameSite=Lax{age}{secure}");
        HeaderValue::try_from(text).expect("tokens are URL-safe base64")
    }
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name && !value.is_empty()).then_some(value)
    });
    pairs.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(line: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(line))])
    }

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let plain = Cookies { is_secure: false };

        assert_eq!(plain.login(&sent("a=1; assay=token; assay-guest=g")), Some("token"));
        assert_eq!(plain.guest(&sent("a=1; assay=token; assay-guest=g")), Some("g"));
        for line in ["xassay=token", "assay=", "assay", "__Host-assay=token", ""] {
            assert_eq!(plain.login(&sent(line)), None, "{line}");
        }
    }

    #[test]
    fn behind_tls_the_cookie_belongs_to_this_host_alone() {
        let set = Cookies { is_secure: true }.set_login("token");

        let set = set.to_str().unwrap();
        assert!(set.starts_with("__Host-assay=token; Path=/; HttpOnly; SameSite=Lax"), "{set}");
        assert!(set.ends_with("; Secure") && !set.contains("Domain"), "{set}");
        let plain = Cookies { is_secure: false }.set_login("token");
        assert!(!plain.to_str().unwrap().contains("Secure"));
    }
}
