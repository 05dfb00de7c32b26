//! IP networks: an address and the number of its leading bits that count, written as `10.0.0.0/8` or
//! as a single address.

use std::net::IpAddr;
use std::str::FromStr;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// The text is neither an address nor a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not an address or network, such as 10.0.0.0/8 or ::1")]
pub struct ParseNetworkError;

impl FromStr for Network {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, ParseNetworkError> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| ParseNetworkError)?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), |bits| bits.parse().map_err(|_| ParseNetworkError))?;
        if bits <= all { Ok(Self { address, bits }) } else { Err(ParseNetworkError) }
    }
}

impl Network {
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differing = own.to_bits() ^ other.to_bits();
                differing.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

/// Whether an address is one of the public internet: not of this machine, a private network, a network of a provider,
/// an example, or a group. Of IPv6 only what is handed out to networks, without those that lead to IPv4.
pub(crate) fn is_public(address: IpAddr) -> bool {
    const NOT_PUBLIC: &[&str] = &[
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    ];
    let is_in = |network: &str, address| network.parse::<Network>().is_ok_and(|network| network.contains(address));
    let address = address.to_canonical();
    let may_be = address.is_ipv4() || is_in("2000::/3", address);
    may_be && !NOT_PUBLIC.iter().any(|network| is_in(network, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_leading_bits_count() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(network("0.0.0.0/0").contains(address("8.8.8.8")) && !network("0.0.0.0/0").contains(address("::1")));
        assert!(network("10.0.0.0/31").contains(address("10.0.0.1")));
        assert!(!network("10.0.0.0/31").contains(address("10.0.0.2")));
        assert!(network("2001:db8::/32").contains(address("2001:db8::7")) && !network("::1").contains(address("::2")));
        for bad in ["10.0.0.0/33", "::/129", "a", "10.0.0.0/", "10.0.0/8", ""] {
            assert_eq!(bad.parse::<Network>(), Err(ParseNetworkError), "{bad}");
        }
    }

    #[test]
    fn internal_addresses_are_not_public() {
        for public in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for internal in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "fec0::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(internal.parse().unwrap()), "{internal}");
        }
    }
}
