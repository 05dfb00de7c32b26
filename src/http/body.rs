//! Request bodies: read completely, or refused. The bytes of all bodies in memory are limited, in total
//! and for each client.
//!
//! A body counts only for the bytes that have arrived, whatever length its head declares. They count
//! until its request is answered.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use super::rules::{BODY_BYTES_MAX, body_too_large};
use crate::api::error::{ApiError, ErrorCode};
use crate::network::ClientNetwork;

/// The size of 1,024 bodies of JSON of maximum length, or of 42 documents. Most bodies have a hundredth of that length.
const ALL_BYTES_MAX: usize = 1024 * BODY_BYTES_MAX;

/// A limit for each client, so that no client can shut the others out.
const CLIENT_BYTES_MAX: usize = ALL_BYTES_MAX / 6;

/// Additional room for the path that must not wait: a payment provider that is refused reports later, or never.
const ADDITIONAL_BODY_BYTES: usize = 16 * BODY_BYTES_MAX;

/// Reads a body to its end and counts its bytes in its share. Over HTTP/1 the guard has read it and
/// counted it already.
pub(super) async fn whole(
    body: Incoming,
    bytes_max: usize,
    within: Duration,
    share: Option<&mut BodyShare>,
) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    timeout(within, collected(body, bytes_max, share)).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn collected(body: Incoming, bytes_max: usize, mut share: Option<&mut BodyShare>) -> Result<Bytes, ApiError> {
    let mut body = Limited::new(body, bytes_max);
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => body_too_large(bytes_max),
            false => ApiError::new(ErrorCode::BadRequest, "the body ended early; send all of it"),
        })?;
        let Ok(bytes) = frame.into_data() else { continue };
        whole.extend_from_slice(&bytes);
        if let Some(share) = &mut share {
            share.grow_to(whole.len())?;
        }
    }
    Ok(whole.into())
}

fn too_slow() -> ApiError {
    ApiError::new(ErrorCode::RequestTimeout, "the body took too long to arrive; send it in one piece")
}

/// Counts the bytes of all request bodies in memory.
#[derive(Default)]
pub(super) struct BodyBudget(Mutex<BudgetUsage>);

#[derive(Default)]
struct BudgetUsage {
    all: usize,
    by_client: HashMap<ClientNetwork, usize>,
}

impl BodyBudget {
    /// The share of a body, which has no bytes yet. A client is an IPv4 address or an IPv6 network of 48
    /// bits, the usual size of a customer's network. A connection from a proxy has no client.
    pub(super) fn share(self: &Arc<Self>, client: Option<IpAddr>, is_kept: bool) -> BodyShare {
        let client = client.map(|client| ClientNetwork::of(client).site());
        BodyShare { room: Arc::clone(self), client, bytes: 0, may_use_reserve: is_kept }
    }

    fn lock(&self) -> MutexGuard<'_, BudgetUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many() -> ApiError {
    let message = "too many request bodies are in progress; try again in 1 second. Nothing was charged";
    ApiError { retry_after_sec: Some(1), ..ApiError::new(ErrorCode::Overloaded, message) }
}

/// The bytes that one body counts for, until this is dropped.
pub(super) struct BodyShare {
    room: Arc<BodyBudget>,
    client: Option<ClientNetwork>,
    bytes: usize,
    /// Whether it may use the additional room.
    may_use_reserve: bool,
}

impl BodyShare {
    /// Takes room until the share has this many bytes.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let mut taken = self.room.lock();
        let all = taken.all + more;
        let of_client = self.client.map_or(0, |client| taken.by_client.get(&client).copied().unwrap_or(0) + more);
        let is_too_much = match self.may_use_reserve {
            true => all > ALL_BYTES_MAX + ADDITIONAL_BODY_BYTES,
            false => all > ALL_BYTES_MAX || of_client > CLIENT_BYTES_MAX,
        };
        if is_too_much {
            return Err(too_many());
        }
        taken.all = all;
        if let Some(client) = self.client {
            taken.by_client.insert(client, of_client);
        }
        drop(taken);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        let mut taken = self.room.lock();
        taken.all -= self.bytes;
        let Some(client) = self.client else { return };
        match taken.by_client.get(&client).map_or(0, |bytes| bytes.saturating_sub(self.bytes)) {
            0 => taken.by_client.remove(&client),
            left => taken.by_client.insert(client, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_bounded_in_total_and_by_client_and_give_their_room_back() {
        let room = Arc::new(BodyBudget::default());
        let client = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        let take = |client: Option<IpAddr>, bytes: usize| {
            let mut share = room.share(client, false);
            share.grow_to(bytes).map(|()| share)
        };
        let mut held = Vec::new();
        while let Ok(share) = take(client(1), BODY_BYTES_MAX) {
            held.push(share);
        }
        assert_eq!(held.len(), CLIENT_BYTES_MAX / BODY_BYTES_MAX);
        for last in 2..=6 {
            held.extend((0..CLIENT_BYTES_MAX / BODY_BYTES_MAX).map(|_| take(client(last), BODY_BYTES_MAX).unwrap()));
        }
        let left = ALL_BYTES_MAX - held.len() * BODY_BYTES_MAX;
        held.push(take(None, left).unwrap());
        for other in [client(7), None] {
            let refused = take(other, 1).err().unwrap();
            assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::Overloaded, Some(1)));
            assert!(take(other, 0).is_ok(), "a request without a body needs no room");
        }
        let mut notice = room.share(client(7), true);
        assert!(notice.grow_to(BODY_BYTES_MAX).is_ok(), "room is kept for it");
        drop((held, notice));
        assert!(take(client(1), CLIENT_BYTES_MAX).is_ok());
        let taken = room.lock();
        assert_eq!((taken.all, taken.by_client.len()), (0, 0));
    }

    #[test]
    fn bytes_that_are_promised_take_no_room_and_networks_of_one_customer_count_as_one() {
        let room = Arc::new(BodyBudget::default());
        let of = |text: &str| room.share(Some(text.parse().unwrap()), false);
        let _stalled: Vec<BodyShare> = (0..100_000).map(|_| of("2001:db8:1::1")).collect();
        let mut first = of("2001:db8:1:2::1");
        first.grow_to(1).unwrap();
        first.grow_to(CLIENT_BYTES_MAX).unwrap();
        first.grow_to(CLIENT_BYTES_MAX).unwrap();
        assert!(of("2001:db8:1:ffff::1").grow_to(1).is_err());
        assert!(of("2001:db8:2::1").grow_to(1).is_ok());
    }
}
