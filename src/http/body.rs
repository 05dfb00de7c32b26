//! Bodies of requests: whole, or refused. All bodies in memory together are bounded, and so are those of one client.
//!
//! A body takes its room when its head is there, before its bytes are, and gives it back when its request is answered.

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

/// The largest bodies of 1,024 requests at once; most have a hundredth of that.
const ALL_BYTES_MAX: usize = 1024 * BODY_BYTES_MAX;

/// No client can shut the others out.
const CLIENT_BYTES_MAX: usize = ALL_BYTES_MAX / 6;

/// Reads a body to its end. Over HTTP/1 the guard has it already.
pub(super) async fn whole(body: Incoming, within: Duration) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    match timeout(within, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(body_too_large()),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::BadRequest, "the body ended early; send all of it")),
        Err(_) => Err(too_slow()),
    }
}

fn too_slow() -> ApiError {
    ApiError::new(ErrorCode::RequestTimeout, "the body took too long to arrive; send it in one piece")
}

/// The room for bodies.
#[derive(Default)]
pub(super) struct BodyRoom(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    all: usize,
    by_client: HashMap<ClientNetwork, usize>,
}

impl BodyRoom {
    /// For a body of so many bytes. A proxy's connection has no client of its own.
    pub(super) fn take(self: &Arc<Self>, client: Option<IpAddr>, bytes: usize) -> Result<Option<BodyShare>, ApiError> {
        if bytes == 0 {
            return Ok(None);
        }
        let client = client.map(ClientNetwork::of);
        let mut taken = self.lock();
        let all = taken.all + bytes;
        let of_client = client.map_or(0, |client| taken.by_client.get(&client).copied().unwrap_or(0) + bytes);
        if all > ALL_BYTES_MAX || of_client > CLIENT_BYTES_MAX {
            return Err(too_many());
        }
        taken.all = all;
        if let Some(client) = client {
            taken.by_client.insert(client, of_client);
        }
        Ok(Some(BodyShare { room: Arc::clone(self), client, bytes }))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many() -> ApiError {
    let message = "too many bodies of requests are on their way; try again in 1 second. Nothing was charged";
    ApiError { retry_after_sec: Some(1), ..ApiError::new(ErrorCode::Overloaded, message) }
}

/// The room of one body, until it is dropped.
pub(super) struct BodyShare {
    room: Arc<BodyRoom>,
    client: Option<ClientNetwork>,
    bytes: usize,
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
        let room = Arc::new(BodyRoom::default());
        let client = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        let mut held = Vec::new();
        while let Ok(share) = room.take(client(1), BODY_BYTES_MAX) {
            held.push(share);
        }
        assert_eq!(held.len(), CLIENT_BYTES_MAX / BODY_BYTES_MAX);
        for last in 2..=6 {
            held.extend(
                (0..CLIENT_BYTES_MAX / BODY_BYTES_MAX).map(|_| room.take(client(last), BODY_BYTES_MAX).unwrap()),
            );
        }
        let left = ALL_BYTES_MAX - held.len() * BODY_BYTES_MAX;
        held.push(room.take(None, left).unwrap());
        for other in [client(7), None] {
            let refused = room.take(other, 1).err().unwrap();
            assert_eq!((refused.code, refused.retry_after_sec), (ErrorCode::Overloaded, Some(1)));
            assert!(room.take(other, 0).is_ok(), "a request without a body needs no room");
        }
        drop(held);
        assert!(room.take(client(1), CLIENT_BYTES_MAX).is_ok());
        let taken = room.lock();
        assert_eq!((taken.all, taken.by_client.len()), (0, 0));
    }
}
