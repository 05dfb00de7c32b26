//! IP networks. A [`Network`] is an address and the number of its leading bits that count, written
//! as `10.0.0.0/8` or as a single address. A [`ClientNetwork`] is the unit for limits per client:
//! an IPv4 address, or an IPv6 network of 64 bits, because each customer has at least that many
//! addresses.

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

/// The first half of an IPv6 address. IPv4 addresses are mapped to `0:ffff::/32`, which no IPv6 network uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct ClientNetwork(u64);

impl ClientNetwork {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(0xffff << 32 | u64::from(address.to_bits())),
            IpAddr::V6(address) => Self((address.to_bits() >> 64) as u64),
        }
    }

    /// The IPv6 network of 48 bits that contains this one; a customer rarely gets a larger one. An
    /// IPv4 address stays alone.
    pub(crate) const fn site(self) -> Self {
        if self.0 >> 32 == 0xffff { self } else { Self(self.0 & !0xffff) }
    }
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
    fn ipv6_counts_by_64_and_mapped_addresses_count_as_ipv4() {
        let network = |text: &str| ClientNetwork::of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
