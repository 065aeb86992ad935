//! Whose word is taken on who calls. A proxy in front names the caller in `X-Forwarded-For`, and so
//! can anybody else: it counts only where the connection comes from a proxy that is ours.

use std::net::IpAddr;

use http::HeaderMap;

use crate::base::Network;

/// The proxies that are ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<Network>);

impl Proxies {
    /// These and no others.
    #[must_use]
    pub const fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    /// Programs of this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self(Network::LOOPBACK.to_vec())
    }

    fn hold(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.holds(address))
    }

    /// Where a request comes from: the other end of the connection, or, as long as that is a proxy
    /// of ours, who the proxy says it got the request from. What stands before that in the header
    /// is the caller's own word, and nobody's.
    pub(super) fn caller(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let lists = headers.get_all("x-forwarded-for").iter().rev();
        let mut hops = lists.flat_map(|list| list.to_str().unwrap_or("?").rsplit(','));
        let mut caller = peer.to_canonical();
        while self.hold(caller) {
            let Some(before) = hops.next().and_then(read) else { break };
            caller = before.to_canonical();
        }
        caller
    }
}

/// An address as proxies write it, some with the port.
fn read(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.trim_start_matches('[').split(']').next().unwrap_or_default();
    let without_port = || hop.split_once(':').map_or(hop, |(host, _)| host);
    bare.parse().or_else(|_| without_port().parse()).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn caller(proxies: &[&str], peer: &str, lists: &[&'static str]) -> String {
        let networks = proxies.iter().map(|text| text.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for list in lists {
            headers.append("x-forwarded-for", HeaderValue::from_static(list));
        }
        Proxies::new(networks).caller(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_a_proxy_of_ours_is_believed_and_only_about_its_own_caller() {
        let ours = ["127.0.0.0/8", "10.0.0.7", "fd00::/8"];
        for (peer, lists, from) in [
            ("127.0.0.1", &["203.0.113.9"][..], "203.0.113.9"),
            ("127.0.0.1", &["6.6.6.6, 203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", &["6.6.6.6", "203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", &["6.6.6.6, 203.0.113.9, 10.0.0.7"], "203.0.113.9"),
            ("127.0.0.1", &["203.0.113.9:4711"], "203.0.113.9"),
            ("127.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("fd00::1", &["2001:db8::1"], "2001:db8::1"),
            ("::ffff:127.0.0.1", &["::ffff:203.0.113.9"], "203.0.113.9"),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("127.0.0.1", &["unknown"], "127.0.0.1"),
            ("127.0.0.1", &["6.6.6.6, unknown"], "127.0.0.1"),
            ("10.0.0.8", &["6.6.6.6"], "10.0.0.8"),
            ("203.0.113.9", &["127.0.0.1"], "203.0.113.9"),
        ] {
            assert_eq!(caller(&ours, peer, lists), from, "{peer} {lists:?}");
        }
        assert_eq!(caller(&[], "127.0.0.1", &["6.6.6.6"]), "127.0.0.1");
    }
}
