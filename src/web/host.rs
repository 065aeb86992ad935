//! Which hosts and origins the server answers to. A page on the web can make a browser send
//! requests to this machine under a name of its own (DNS rebinding), so every request must name a
//! host that is ours, and a request that a browser makes for a page must come from our own pages.
//! One guard for all doors, the dashboard included; only the health checks stand outside.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};

use crate::base::text::{cut, printable};
use crate::base::{Code, Fault};
use crate::contract::envelope;

/// Paths that answer whatever the host is called: those who probe them know no name.
const EXEMPT: [&str; 2] = ["/healthz", "/readyz"];

/// Where the forms lead of pages that keep their address to themselves.
const WITHOUT_ORIGIN: &str = "/secrets/";

/// The hosts and origins that are ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    names: Vec<Name>,
    /// Origins beyond our own, as a browser writes them: `chrome-extension://id`.
    origins: Vec<String>,
    /// Whether any host is taken: the operator said `*`.
    any: bool,
}

/// One name that is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    /// Lower case, without brackets and without the trailing dot; with a leading dot where the
    /// whole domain below it is meant.
    host: String,
    /// The only port, where one is demanded.
    port: Option<u16>,
}

/// What a `Host` or an origin says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

impl Hosts {
    /// The hosts that follow from the settings: loopback always, the address that is listened on,
    /// the public address, and what the operator allows (`name`, `name:port`, `*.domain`, an origin
    /// with its scheme, or `*`).
    #[must_use]
    pub fn new(public_url: Option<&str>, allowed: &[String], listen: SocketAddr) -> Self {
        let mut hosts = Self::default();
        // A name that means this machine cannot have been rebound.
        for host in ["localhost", "127.0.0.1", "::1"] {
            hosts.name(host, None);
        }
        if !listen.ip().is_unspecified() {
            hosts.name(&listen.ip().to_string(), None);
        }
        let public = public_url.and_then(|url| url.parse::<Uri>().ok());
        if let Some(place) = public.as_ref().and_then(Uri::authority).and_then(place) {
            hosts.name(&place.host, None);
        }
        for entry in allowed.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()) {
            hosts.allow(entry);
        }
        hosts
    }

    fn name(&mut self, host: &str, port: Option<u16>) {
        let name = Name { host: host.to_owned(), port };
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn allow(&mut self, entry: &str) {
        if entry == "*" {
            self.any = true;
        } else if entry.contains("://") {
            self.origins.push(entry.trim_end_matches('/').to_ascii_lowercase());
        } else if let Some(place) = read_host(entry.trim_start_matches('*')) {
            self.name(&place.host, place.port);
        }
    }

    /// Whether a `Host` header, or the authority of an absolute address, names us.
    #[must_use]
    pub fn takes_host(&self, host: &str) -> bool {
        read_host(host).is_some_and(|place| self.takes(&place))
    }

    /// Whether a browser's request made from a page of `origin` to `host` is one of our own.
    #[must_use]
    pub fn takes_origin(&self, origin: &str, host: &str) -> bool {
        let origin = origin.trim().to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let Some((scheme, rest)) = origin.split_once("://") else { return false };
        let default = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        let (Some(from), Some(to)) = (read_host(rest), read_host(host)) else { return false };
        // Behind a proxy the scheme of the host is not known, so a port that is left out is the
        // default of the origin's scheme on both sides.
        let own =
            from.host == to.host && from.port.unwrap_or(default) == to.port.unwrap_or(default);
        own || (!is_loopback(&from.host) && self.takes(&from))
    }

    fn takes(&self, place: &Place) -> bool {
        self.any
            || self.names.iter().any(|name| {
                let host = if name.host.starts_with('.') {
                    place.host.ends_with(&name.host) && place.host.len() > name.host.len()
                } else {
                    place.host == name.host
                };
                host && name.port.is_none_or(|port| place.port == Some(port))
            })
    }

    /// Whether a request may go on; if not, what to say.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Fault> {
        let mut given = headers.get_all(HOST).iter();
        let header = match (given.next(), given.next()) {
            (Some(one), None) => one.to_str().ok(),
            (None, _) => uri.authority().map(Authority::as_str),
            _ => None,
        };
        let Some(host) = header else {
            let said = "The request must name its host exactly once in the Host header.";
            return Err(Fault::new(Code::BadRequest, said));
        };
        for name in [Some(host), uri.authority().map(Authority::as_str)].into_iter().flatten() {
            if !self.takes_host(name) {
                return Err(refusal("host", name));
            }
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or("?");
            // A page that tells nobody its address tells no origin with its form either. What is
            // sent there is held by the address itself and by the token of the form.
            if origin == "null" && uri.path().starts_with(WITHOUT_ORIGIN) {
                continue;
            }
            if !self.takes_origin(origin, host) {
                return Err(refusal("origin", origin));
            }
        }
        Ok(())
    }
}

fn refusal(what: &str, name: &str) -> Fault {
    let name = cut(&printable(name), 100);
    Fault::new(
        Code::BadRequest,
        format!(
            "This server does not answer to the {what} {name:?}. If it is yours, start the server \
             with --public-url (ASSAY_PUBLIC_URL) set to the address people use, or add the name \
             with --allowed-host (ASSAY_ALLOWED_HOST)."
        ),
    )
}

/// Lets only requests through that name a host and an origin of ours; others get HTTP 403.
pub async fn guard(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    if !EXEMPT.contains(&request.uri().path())
        && let Err(fault) = hosts.check(request.uri(), request.headers())
    {
        tracing::warn!("Refused a request: {fault}");
        return refused(&fault);
    }
    next.run(request).await
}

/// The refusal as the envelope, which a person reads as well as a program.
fn refused(fault: &Fault) -> Response {
    let (_, said) = envelope::failure("", fault);
    let body = serde_json::to_string(&said).expect("an envelope holds texts and JSON");
    (StatusCode::FORBIDDEN, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn read_host(text: &str) -> Option<Place> {
    let text = text.trim();
    // An IPv6 address without brackets has no port.
    if let Ok(IpAddr::V6(address)) = text.parse() {
        return Some(Place { host: address.to_string(), port: None });
    }
    if text.contains('@') {
        return None;
    }
    place(&text.parse::<Authority>().ok()?)
}

fn place(authority: &Authority) -> Option<Place> {
    let text = authority.as_str();
    let port = match text.rsplit_once(':') {
        Some((_, port)) if !port.contains(']') => match port {
            "" => None,
            digits => Some(digits.parse().ok()?),
        },
        _ => None,
    };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if host.is_empty() {
        return None;
    }
    // Several spellings of one address must compare equal.
    let host = host.parse::<IpAddr>().map_or(host, |address| address.to_string());
    Some(Place { host, port })
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn hosts(public_url: Option<&str>, allowed: &[&str], listen: &str) -> Hosts {
        let allowed: Vec<String> = allowed.iter().map(|&entry| entry.to_owned()).collect();
        Hosts::new(public_url, &allowed, listen.parse().expect("an address"))
    }

    #[test]
    fn hosts_are_taken_by_name_whatever_their_case_dot_and_port() {
        let local = hosts(None, &[], "127.0.0.1:7171");
        let public = hosts(
            Some("https://qa.example.com"),
            &["mcp:8080", "*.corp.example", "[fd00::1]:9000", "2001:db8::1"],
            "0.0.0.0:7171",
        );
        let lan = hosts(None, &[], "192.168.1.5:7171");
        let all = hosts(None, &["*"], "127.0.0.1:7171");
        let cases = [
            (&local, "localhost", true),
            (&local, "LOCALHOST:7171", true),
            (&local, "localhost.:7171", true),
            (&local, "127.0.0.1:9999", true),
            (&local, "[::1]:7171", true),
            (&local, "[0:0:0:0:0:0:0:1]:7171", true),
            (&local, "::1", true),
            (&local, "localhost:", true),
            (&local, "evil.example", false),
            (&local, "localhost.evil.example", false),
            (&local, "127.0.0.1.evil.example", false),
            (&local, "localhost@evil.example", false),
            (&local, "evil@localhost", false),
            (&local, "192.168.1.5", false),
            (&local, "localhost:70000", false),
            (&local, "localhost:x", false),
            (&local, "", false),
            (&local, ".", false),
            (&public, "qa.example.com", true),
            (&public, "QA.Example.com.:443", true),
            (&public, "example.com", false),
            (&public, "evil-qa.example.com", false),
            (&public, "mcp:8080", true),
            (&public, "mcp", false),
            (&public, "mcp:8081", false),
            (&public, "a.corp.example", true),
            (&public, "a.b.corp.example:1", true),
            (&public, "corp.example", false),
            (&public, "evilcorp.example", false),
            (&public, "[fd00::1]:9000", true),
            (&public, "[fd00::1]", false),
            (&public, "[2001:db8::1]:1", true),
            (&public, "localhost:7171", true),
            (&public, "0.0.0.0:7171", false),
            (&lan, "192.168.1.5:7171", true),
            (&all, "anything.example", true),
            (&all, "not a host", false),
        ];

        for (hosts, host, taken) in cases {
            assert_eq!(hosts.takes_host(host), taken, "{host}");
        }
    }

    #[test]
    fn origins_are_our_own_pages_and_those_that_are_allowed() {
        let local = hosts(None, &[], "127.0.0.1:7171");
        let public = hosts(
            Some("https://qa.example.com"),
            &["chrome-extension://abc", "tools.example.com"],
            "0.0.0.0:7171",
        );
        let cases = [
            (&local, "http://localhost:7171", "localhost:7171", true),
            (&local, "HTTP://LocalHost:7171", "localhost:7171", true),
            (&local, "http://localhost", "localhost", true),
            (&local, "http://localhost", "localhost:80", true),
            (&local, "http://[::1]:7171", "[::1]:7171", true),
            (&local, "http://localhost:3000", "localhost:7171", false),
            (&local, "http://127.0.0.1:7171", "localhost:7171", false),
            (&local, "https://evil.example", "127.0.0.1:7171", false),
            (&local, "null", "localhost:7171", false),
            (&local, "file://", "localhost:7171", false),
            (&local, "", "localhost:7171", false),
            (&public, "https://qa.example.com", "qa.example.com", true),
            // The proxy in front passes its own name on.
            (&public, "https://qa.example.com", "localhost:7171", true),
            (&public, "https://tools.example.com", "qa.example.com", true),
            (&public, "chrome-extension://abc", "qa.example.com", true),
            (&public, "chrome-extension://abd", "qa.example.com", false),
            (&public, "http://localhost:3000", "qa.example.com", false),
        ];

        for (hosts, origin, host, taken) in cases {
            assert_eq!(hosts.takes_origin(origin, host), taken, "{origin} at {host}");
        }
    }

    #[test]
    fn a_refusal_names_the_settings_and_two_hosts_are_one_too_many() {
        let local = hosts(None, &[], "127.0.0.1:7171");
        let ask = |uri: &str, given: &[&str]| {
            let mut headers = HeaderMap::new();
            for &host in given {
                headers.append(HOST, HeaderValue::from_str(host).expect("a header"));
            }
            local.check(&uri.parse().expect("an address"), &headers).err().map(|f| f.message)
        };

        let evil = ask("/", &["evil.example"]).expect("a refusal");
        assert!(evil.contains("--public-url") && evil.contains("ASSAY_ALLOWED_HOST"), "{evil}");
        assert!(ask("/", &[]).is_some());
        assert!(ask("/", &["localhost", "localhost"]).is_some());
        assert!(ask("http://evil.example/", &["localhost"]).is_some());
        assert!(ask("http://localhost/", &[]).is_none());
        assert!(ask("/", &["localhost:7171"]).is_none());
    }
}
