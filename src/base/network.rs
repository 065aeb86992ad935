//! Addresses of the network, one or many.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An address, or a network of addresses: `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    /// How many of its first bits count.
    bits: u8,
}

impl Network {
    /// Every address that means this machine.
    pub const LOOPBACK: [Self; 2] = [
        Self { address: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), bits: 8 },
        Self { address: IpAddr::V6(Ipv6Addr::LOCALHOST), bits: 128 },
    ];

    /// Whether the address is one of the network's.
    #[must_use]
    pub fn holds(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                same_start(own.to_bits().into(), other.to_bits().into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                same_start(own.to_bits(), other.to_bits(), 128, self.bits)
            }
            _ => false,
        }
    }
}

fn same_start(own: u128, other: u128, width: u8, bits: u8) -> bool {
    bits == 0 || (own ^ other) >> (width - bits) == 0
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected an address such as 10.0.0.2 or a network such as \
                                10.0.0.0/8";
        let (address, bits) = text.trim().split_once('/').unwrap_or((text.trim(), ""));
        let address: IpAddr = address.parse().map_err(|_| EXPECTED)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            "" => width,
            bits => bits.parse().map_err(|_| EXPECTED)?,
        };
        if bits > width { Err(EXPECTED) } else { Ok(Self { address, bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_address_with_or_without_its_bits() {
        for (text, shown) in [
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("10.0.0.1", Some("10.0.0.1/32")),
            ("::1", Some("::1/128")),
            ("0.0.0.0/0", Some("0.0.0.0/0")),
            ("10.0.0.0/33", None),
            ("10.0.0.0/x", None),
            ("proxy", None),
            ("", None),
        ] {
            let network: Result<Network, _> = text.parse();
            assert_eq!(network.ok().map(|network| network.to_string()).as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn a_network_holds_the_addresses_that_start_like_it() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().holds(address.parse().unwrap())
        };

        assert!(holds("10.0.0.0/8", "10.255.0.1") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("0.0.0.0/0", "8.8.8.8") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("fd00::/8", "fdff::1") && !holds("fd00::/8", "fe80::1"));
        assert!(holds("10.0.0.1", "10.0.0.1") && !holds("10.0.0.1", "10.0.0.2"));
    }
}
