//! The unit for limits per client: an IPv4 address, or an IPv6 network of 64 bits, because each customer has at least that
//! many addresses.

use std::net::IpAddr;

/// The first half of an IPv6 address. IPv4 addresses are mapped to `0:ffff::/32`, which no IPv6 network uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ClientNetwork(u64);

impl ClientNetwork {
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(0xffff << 32 | u64::from(address.to_bits())),
            IpAddr::V6(address) => Self((address.to_bits() >> 64) as u64),
        }
    }

    /// The IPv6 network of 48 bits that contains this one; a customer rarely gets a larger one. An
    /// IPv4 address stays alone.
    pub const fn site(self) -> Self {
        if self.0 >> 32 == 0xffff { self } else { Self(self.0 & !0xffff) }
    }

    /// A number that no other network has.
    pub const fn number(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_counts_by_64_and_mapped_addresses_count_as_ipv4() {
        let network = |text: &str| ClientNetwork::of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
