//! Counts each response as unread, for its address, its account and its HTTP/2 connection, until hyper
//! has written its last byte or has dropped it.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;

use super::reply::HttpReply;
use super::streams::StreamShare;
use super::timeouts::Timeouts;
use crate::api::unread::UnreadReservation;

/// Marks a response whose bytes are in memory anyway and shared with other responses.
#[derive(Clone, Copy)]
pub(super) struct SharedBytes;

/// The account's share, attached to a response until the response is counted.
#[derive(Clone)]
pub(super) struct AccountShare(pub(super) Arc<UnreadReservation>);

/// The shares of one response.
pub(super) struct Shares {
    pub(super) network: Option<UnreadReservation>,
    pub(super) account: Option<UnreadReservation>,
    /// Set over HTTP/2.
    pub(super) stream: Option<StreamShare>,
}

impl Shares {
    /// Counts the response until its last byte is written.
    pub(super) fn keep(mut self, mut reply: HttpReply, timeouts: &Timeouts) -> HttpReply {
        let account = reply.extensions_mut().remove::<AccountShare>();
        self.account = account.and_then(|AccountShare(share)| Arc::into_inner(share));
        let is_shared = reply.extensions().get::<SharedBytes>().is_some();
        let (head, body) = reply.into_parts();
        let Some(bytes) = body.into_inner() else { return HttpReply::from_parts(head, Full::default()) };
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
        HttpReply::from_parts(head, Full::new(Bytes::from_owner(CountedBytes { bytes, _shares: self })))
    }
}

struct CountedBytes {
    bytes: Bytes,
    _shares: Shares,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
