//! Answers on their way: each counts as unread, for its address, its account and its HTTP/2 connection, until hyper has
//! written the last of its bytes or dropped it.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;

use super::Reply;
use super::streams::StreamShare;
use super::timeouts::Timeouts;
use crate::accounts::ids::AccountId;
use crate::api::unread::UnreadShare;

/// Whom connections and answers are counted for: an IPv4 address, or an IPv6 network of 64 bits, of which each customer
/// has at least one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ClientNetwork(IpAddr);

impl ClientNetwork {
    pub(super) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

/// Marks a response whose bytes lie in memory anyway, for others too.
#[derive(Clone, Copy)]
pub(super) struct SharedBytes;

/// Travels with a response until it is counted.
#[derive(Clone)]
pub(super) struct OfAccount(pub(super) Arc<UnreadShare<AccountId>>);

/// What an answer takes of the room of those it is counted for.
pub(super) struct Shares {
    pub(super) network: Option<UnreadShare<ClientNetwork>>,
    pub(super) account: Option<UnreadShare<AccountId>>,
    /// Over HTTP/2.
    pub(super) stream: Option<StreamShare>,
}

impl Shares {
    /// The reply, counted until its last byte is written.
    pub(super) fn keep(mut self, mut reply: Reply, timeouts: &Timeouts) -> Reply {
        let account = reply.extensions_mut().remove::<OfAccount>();
        self.account = account.and_then(|OfAccount(share)| Arc::into_inner(share));
        let is_shared = reply.extensions().get::<SharedBytes>().is_some();
        let (head, body) = reply.into_parts();
        let Some(bytes) = body.into_inner() else { return Reply::from_parts(head, Full::default()) };
        let own = if is_shared { 0 } else { bytes.len() };
        if let Some(network) = &mut self.network {
            network.resize(own);
        }
        if let Some(account) = &mut self.account {
            account.resize(own);
        }
        if let Some(stream) = &mut self.stream {
            stream.answered(own, bytes.len(), timeouts);
        }
        Reply::from_parts(head, Full::new(Bytes::from_owner(Counted { bytes, _shares: self })))
    }
}

struct Counted {
    bytes: Bytes,
    _shares: Shares,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_counts_by_64_bits_and_mapped_addresses_as_ipv4() {
        let network = |text: &str| ClientNetwork::of(text.parse().unwrap());
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
