//! Where a webhook may lead: the form of its address, and which machines it may reach. Whoever may
//! name an address could otherwise have this server call what only this server can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::base::{Code, Fault};

/// Characters of an address at most.
const URL_MAX: usize = 500;

/// What sort of machine an address of the network means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anybody's.
    Public,
    /// This machine, or one of its own network.
    Private,
    /// None that a webhook could mean: link-local, where clouds keep the credentials of a machine,
    /// multicast, reserved.
    Never,
}

/// The address that a text names, if a webhook may have it at all. What its name leads to is looked
/// at when it is called, see [`may_reach`].
///
/// # Errors
/// Says what is wrong with the text.
pub fn parse(text: &str, is_private: bool) -> Result<Url, Fault> {
    let wrong = |said: &str| Fault::argument("url", said.to_owned());
    let text = text.trim();
    if text.chars().count() > URL_MAX {
        return Err(wrong("it is longer than 500 characters."));
    }
    let url = Url::parse(text);
    let url = url.map_err(|_| wrong("expected an address such as https://chat.example/hook."))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("leave user and password out; the signature says who calls."));
    }
    if url.fragment().is_some() {
        return Err(wrong("leave out what follows the #; it is never sent."));
    }
    let (Some(host), true) = (url.host_str(), HeaderValue::from_str(url.as_str()).is_ok()) else {
        return Err(wrong("it names no host."));
    };
    match url.scheme() {
        "https" => {}
        "http" if is_private => {}
        "http" => return Err(wrong("expected https://; http is for private addresses.")),
        _ => return Err(wrong("expected an address that starts with https://.")),
    }
    if let Ok(ip) = host.trim_matches(['[', ']']).parse() {
        may_reach(&url, is_private, &[ip])?;
    }
    Ok(url)
}

/// Whether a webhook may call the machines that its name leads to at this moment. All of them must
/// do: a name that means several is not asked which of them it will be.
///
/// # Errors
/// Says which machine it is, and who can allow it where anybody can.
pub fn may_reach(url: &Url, is_private: bool, machines: &[IpAddr]) -> Result<(), Fault> {
    let refused = |said: String| Err(Fault::new(Code::Forbidden, said));
    for machine in machines {
        match kind(*machine) {
            Kind::Public if url.scheme() == "http" => {
                return refused(format!(
                    "{machine} is reached over a public network; what is sent there needs https."
                ));
            }
            Kind::Private if !is_private => {
                return refused(format!(
                    "{machine} is this machine or one of its own network. An owner can allow it: \
                     remove the webhook and add it with --private."
                ));
            }
            Kind::Never => {
                return refused(format!(
                    "{machine} is link-local or reserved, and never called: machines keep their \
                     credentials at such addresses."
                ));
            }
            Kind::Public | Kind::Private => {}
        }
    }
    if machines.is_empty() {
        return Err(Fault::new(Code::Upstream, "The name leads to no address."));
    }
    Ok(())
}

fn kind(machine: IpAddr) -> Kind {
    match machine {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => match within(v6) {
            Some(v4) => kind_v4(v4),
            None => kind_v6(v6),
        },
    }
}

/// The address of the older protocol that one of the newer stands for: mapped, compatible,
/// translated (`64:ff9b::/96`) or tunnelled (`2002::/16`).
fn within(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(v4(high, low))
        }
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

fn kind_v4(v4: Ipv4Addr) -> Kind {
    let [a, b, c, _] = v4.octets();
    // Where a large cloud keeps the credentials of a machine, within a range of private addresses.
    let is_metadata = v4 == Ipv4Addr::new(100, 100, 100, 200);
    let is_odd = a == 0 || a >= 224 || v4.is_link_local() || v4.is_documentation();
    if is_metadata || is_odd || (a, b, c) == (192, 0, 0) {
        return Kind::Never;
    }
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_bench = a == 198 && (18..20).contains(&b);
    if v4.is_loopback() || v4.is_private() || is_shared || is_bench {
        return Kind::Private;
    }
    Kind::Public
}

fn kind_v6(v6: Ipv6Addr) -> Kind {
    let [first, second, ..] = v6.segments();
    let is_metadata = v6 == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    if v6.is_unspecified() || v6.is_multicast() || is_metadata || first & 0xffc0 == 0xfe80 {
        return Kind::Never;
    }
    if v6.is_loopback() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 {
        return Kind::Private;
    }
    // 2000::/3 is what is given out; of it, documentation and Teredo's tunnels are nobody's.
    match (first & 0xe000, first, second) {
        (0x2000, 0x2001, 0 | 0xdb8) => Kind::Never,
        (0x2000, ..) => Kind::Public,
        _ => Kind::Never,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_machine_is_of_one_kind() {
        for (machine, expected) in [
            ("8.8.8.8", Kind::Public),
            ("172.32.0.1", Kind::Public),
            ("2606:4700::1111", Kind::Public),
            ("::ffff:8.8.8.8", Kind::Public),
            ("127.0.0.1", Kind::Private),
            ("10.1.2.3", Kind::Private),
            ("172.31.255.255", Kind::Private),
            ("192.168.0.1", Kind::Private),
            ("100.64.0.1", Kind::Private),
            ("::1", Kind::Private),
            ("fd12::1", Kind::Private),
            ("::ffff:10.0.0.1", Kind::Private),
            ("64:ff9b::7f00:1", Kind::Private),
            ("2002:7f00:1::", Kind::Private),
            ("169.254.169.254", Kind::Never),
            ("::ffff:169.254.169.254", Kind::Never),
            ("64:ff9b::a9fe:a9fe", Kind::Never),
            ("2002:a9fe:a9fe::1", Kind::Never),
            ("::a9fe:a9fe", Kind::Never),
            ("100.100.100.200", Kind::Never),
            ("fd00:ec2::254", Kind::Never),
            ("fe80::1", Kind::Never),
            ("0.0.0.0", Kind::Never),
            ("::", Kind::Never),
            ("224.0.0.1", Kind::Never),
            ("255.255.255.255", Kind::Never),
            ("ff02::1", Kind::Never),
            ("64:ff9b:1::1", Kind::Never),
        ] {
            assert_eq!(kind(machine.parse().unwrap()), expected, "{machine}");
        }
    }

    #[test]
    fn an_address_is_https_unless_it_is_private() {
        for (text, is_private, taken) in [
            ("https://chat.example/hook?a=b", false, true),
            ("https://chat.example:8443", false, true),
            ("http://chat.example/hook", false, false),
            ("http://chat.example/hook", true, true),
            ("http://127.0.0.1:8080/", true, true),
            ("http://8.8.8.8/", true, false),
            ("https://127.0.0.1/", false, false),
            ("https://0x7f.1/", false, false),
            ("https://2130706433/", false, false),
            ("https://[::1]/", false, false),
            ("https://[::ffff:a9fe:a9fe]/", true, false),
            ("https://169.254.169.254/latest", true, false),
            ("https://user:pass@chat.example/", false, false),
            ("https://chat.example/#part", false, false),
            ("ftp://chat.example/", true, false),
            ("file:///etc/passwd", true, false),
            ("chat.example", false, false),
            ("", false, false),
        ] {
            assert_eq!(parse(text, is_private).is_ok(), taken, "{text} {is_private}");
        }
    }

    #[test]
    fn a_name_that_leads_to_one_wrong_machine_is_not_called() {
        let url = Url::parse("https://chat.example/").unwrap();
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();

        assert!(may_reach(&url, false, &[ip("8.8.8.8")]).is_ok());
        assert!(may_reach(&url, false, &[ip("8.8.8.8"), ip("10.0.0.1")]).is_err());
        assert!(may_reach(&url, true, &[ip("8.8.8.8"), ip("10.0.0.1")]).is_ok());
        assert!(may_reach(&url, true, &[ip("8.8.8.8"), ip("169.254.169.254")]).is_err());
        assert!(may_reach(&url, true, &[]).is_err());
    }

    proptest! {
        #[test]
        fn an_address_is_of_the_same_kind_however_it_is_wrapped(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = v4.octets().map(u16::from);
            let (high, low) = ((a << 8) | b, (c << 8) | d);

            prop_assert_eq!(kind(v4.to_ipv6_mapped().into()), kind_v4(v4));
            let translated = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low);
            prop_assert_eq!(kind(translated.into()), kind_v4(v4));
            let tunnelled = Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1);
            prop_assert_eq!(kind(tunnelled.into()), kind_v4(v4));
        }
    }
}
