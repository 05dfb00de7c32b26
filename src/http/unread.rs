//! Counts each response as unread, for its address, its account and its HTTP/2 connection, until hyper
//! has written its last byte or has dropped it. Of a body in parts, the part in progress counts.

use std::sync::Arc;

use bytes::Bytes;

use super::reply::{HttpReply, PartCounter, ReplyBody};
use super::request_stream::ConnectionState;
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
    pub(super) fn keep(mut self, mut reply: HttpReply, timeouts: &Timeouts, state: &Arc<ConnectionState>) -> HttpReply {
        let account = reply.extensions_mut().remove::<AccountShare>();
        self.account = account.and_then(|AccountShare(share)| Arc::into_inner(share));
        let is_shared = reply.extensions().get::<SharedBytes>().is_some();
        if reply.body().is_in_parts() {
            state.set_has_more(true);
            let (timeouts, state) = (*timeouts, Arc::clone(state));
            reply.body_mut().count_parts(CountedParts { shares: self, timeouts, state });
            return reply;
        }
        let (head, body) = reply.into_parts();
        let bytes = body.into_bytes();
        self.count(if is_shared { 0 } else { bytes.len() }, bytes.len(), timeouts);
        let counted = Bytes::from_owner(CountedBytes { bytes, _shares: self });
        HttpReply::from_parts(head, ReplyBody::from(counted))
    }

    /// Counts these bytes instead of those before.
    fn count(&mut self, own: usize, bytes: usize, timeouts: &Timeouts) {
        if let Some(network) = &mut self.network {
            network.resize(own);
        }
        if let Some(account) = &mut self.account {
            account.resize(own);
        }
        if let Some(stream) = &mut self.stream {
            stream.answered(own, bytes, timeouts);
        }
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

struct CountedParts {
    shares: Shares,
    timeouts: Timeouts,
    state: Arc<ConnectionState>,
}

impl PartCounter for CountedParts {
    fn begin_part(&mut self, bytes: usize) {
        self.shares.count(bytes, bytes, &self.timeouts);
    }
}

impl Drop for CountedParts {
    fn drop(&mut self) {
        self.state.set_has_more(false);
    }
}
