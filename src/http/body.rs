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
use hornbook_base::client_network::ClientNetwork;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use super::rules::{BODY_BYTES_MAX, body_too_large};
use crate::api::error::{ApiError, ErrorCode};

/// The size of 1,024 bodies of JSON of maximum length, or of 42 documents. Most bodies have a hundredth of that length.
const ALL_BYTES_MAX: usize = 1024 * BODY_BYTES_MAX;

/// A limit for each client, so that no client can shut the others out.
const CLIENT_BYTES_MAX: usize = ALL_BYTES_MAX / 6;

/// Additional room for the path that must not wait: a payment provider that is refused reports later, or never. Its
/// bodies use the room of all others first.
const RESERVED_BYTES: usize = 64 * BODY_BYTES_MAX;
const RESERVED_BYTES_PER_CLIENT: usize = 2 * BODY_BYTES_MAX;

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

/// Gives bodies their room.
#[derive(Clone)]
pub(super) struct Bodies {
    budget: Arc<BodyBudget>,
    /// Bodies that are sent to this path may use the reserved room.
    reserved_path: &'static str,
}

impl Bodies {
    pub(super) fn new(reserved_path: &'static str) -> Self {
        Self { budget: Arc::default(), reserved_path }
    }

    /// The share of a body, which has no bytes yet. A client is an IPv4 address or an IPv6 network of 48
    /// bits, the usual size of a customer's network. A proxy that names no client has none.
    pub(super) fn share(&self, client: Option<IpAddr>, path: &str) -> BodyShare {
        let client = client.map(|client| ClientNetwork::of(client).site());
        let may_use_reserve = path == self.reserved_path;
        BodyShare { budget: Arc::clone(&self.budget), client, bytes: 0, reserved_bytes: 0, may_use_reserve }
    }
}

/// Counts the bytes of all request bodies in memory.
struct BodyBudget {
    common: Mutex<Room>,
    reserved: Mutex<Room>,
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self {
            common: Mutex::new(Room::new(ALL_BYTES_MAX, CLIENT_BYTES_MAX)),
            reserved: Mutex::new(Room::new(RESERVED_BYTES, RESERVED_BYTES_PER_CLIENT)),
        }
    }
}

fn lock(room: &Mutex<Room>) -> MutexGuard<'_, Room> {
    room.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room of which each client gets a part.
struct Room {
    bytes_max: usize,
    client_bytes_max: usize,
    taken: usize,
    by_client: HashMap<ClientNetwork, usize>,
}

impl Room {
    fn new(bytes_max: usize, client_bytes_max: usize) -> Self {
        Self { bytes_max, client_bytes_max, taken: 0, by_client: HashMap::new() }
    }

    fn take(&mut self, client: Option<ClientNetwork>, bytes: usize) -> bool {
        let all = self.taken + bytes;
        let of_client = client.and_then(|client| self.by_client.get(&client)).map_or(bytes, |taken| taken + bytes);
        if all > self.bytes_max || client.is_some() && of_client > self.client_bytes_max {
            return false;
        }
        self.taken = all;
        if let Some(client) = client {
            self.by_client.insert(client, of_client);
        }
        true
    }

    fn give_back(&mut self, client: Option<ClientNetwork>, bytes: usize) {
        self.taken -= bytes;
        let Some(client) = client else { return };
        match self.by_client.get(&client).map_or(0, |taken| taken.saturating_sub(bytes)) {
            0 => self.by_client.remove(&client),
            left => self.by_client.insert(client, left),
        };
    }
}

fn too_many() -> ApiError {
    let message = "too many request bodies are in progress; try again in 1 second. Nothing was charged";
    ApiError { retry_after_sec: Some(1), ..ApiError::new(ErrorCode::Overloaded, message) }
}

/// The bytes that one body counts for, until this is dropped.
pub(super) struct BodyShare {
    budget: Arc<BodyBudget>,
    client: Option<ClientNetwork>,
    /// In the common room.
    bytes: usize,
    /// In the reserved room.
    reserved_bytes: usize,
    may_use_reserve: bool,
}

impl BodyShare {
    /// Takes room until the share has this many bytes.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let more = bytes.saturating_sub(self.bytes + self.reserved_bytes);
        if more == 0 {
            return Ok(());
        }
        if lock(&self.budget.common).take(self.client, more) {
            self.bytes += more;
        } else if self.may_use_reserve && lock(&self.budget.reserved).take(self.client, more) {
            self.reserved_bytes += more;
        } else {
            return Err(too_many());
        }
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        lock(&self.budget.common).give_back(self.client, self.bytes);
        if self.reserved_bytes > 0 {
            lock(&self.budget.reserved).give_back(self.client, self.reserved_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_bounded_in_total_and_by_client_and_give_their_room_back() {
        let room = Bodies::new("/notices");
        let client = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        let take = |client: Option<IpAddr>, bytes: usize| {
            let mut share = room.share(client, "/a");
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
        let mut notice = room.share(client(7), "/notices");
        assert!(notice.grow_to(BODY_BYTES_MAX).is_ok(), "room is kept for it");
        drop((held, notice));
        assert!(take(client(1), CLIENT_BYTES_MAX).is_ok());
        for room in [&room.budget.common, &room.budget.reserved] {
            let room = lock(room);
            assert_eq!((room.taken, room.by_client.len()), (0, 0));
        }
    }

    #[test]
    fn a_client_that_sends_false_notices_takes_the_room_of_no_other_client() {
        let room = Bodies::new("/notices");
        let notice = |from: &str| {
            let mut share = room.share(Some(from.parse().unwrap()), "/notices");
            share.grow_to(BODY_BYTES_MAX).map(|()| share)
        };
        let stalled: Vec<_> = (0..5_000).map_while(|_| notice("2001:db8::1").ok()).collect();
        assert_eq!(stalled.len(), (CLIENT_BYTES_MAX + RESERVED_BYTES_PER_CLIENT) / BODY_BYTES_MAX);
        assert!(room.share(Some("192.0.2.1".parse().unwrap()), "/a").grow_to(BODY_BYTES_MAX).is_ok());
        // Others fill the common room; a notice of the payment provider still gets room.
        let others: Vec<_> = (0..9).map(|last| format!("198.51.100.{last}")).collect();
        let take = |from: &String| {
            let mut share = room.share(Some(from.parse().unwrap()), "/a");
            share.grow_to(BODY_BYTES_MAX).ok().map(|()| share)
        };
        let _held: Vec<_> = others.iter().flat_map(|from| (0..1_024).map_while(move |_| take(from))).collect();
        assert!(notice("198.51.100.200").is_ok());
    }

    #[test]
    fn bytes_that_are_promised_take_no_room_and_networks_of_one_customer_count_as_one() {
        let room = Bodies::new("/notices");
        let of = |text: &str| room.share(Some(text.parse().unwrap()), "/a");
        let _stalled: Vec<BodyShare> = (0..100_000).map(|_| of("2001:db8:1::1")).collect();
        let mut first = of("2001:db8:1:2::1");
        first.grow_to(1).unwrap();
        first.grow_to(CLIENT_BYTES_MAX).unwrap();
        first.grow_to(CLIENT_BYTES_MAX).unwrap();
        assert!(of("2001:db8:1:ffff::1").grow_to(1).is_err());
        assert!(of("2001:db8:2::1").grow_to(1).is_ok());
    }
}
