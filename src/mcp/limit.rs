//! Limits how often a client may send. Every request is counted before it is read. Messages that cost
//! nothing (handshakes, lists, errors) are counted once more.
//!
//! The limits are loose, because agents open many connections at once. They apply to each valid key, and
//! to each address if there is no valid key.

use std::net::IpAddr;

use crate::accounts::Accounts;
use crate::accounts::ids::KeyId;
use crate::api::error::{ApiError, ErrorCode};
use crate::clock::Now;
use crate::network::ClientNetwork;
use crate::rate::Buckets;

pub(super) struct FreeLimit {
    per_minute: u32,
    free: Buckets<Counted>,
    /// Counts all requests with a valid key. Paid calls have the limits of their key.
    keyed: Buckets<Counted>,
}

/// How many requests with a valid key are allowed for each message that costs nothing.
const KEYED_SHARE: u32 = 10;

/// The key or the address whose messages are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Counted {
    Key(KeyId),
    Address(ClientNetwork),
}

impl Counted {
    pub(super) fn of(accounts: &Accounts, key: Option<&str>, address: IpAddr, now: Now) -> Self {
        let good = key.and_then(|key| accounts.authenticate(Some(key), now).ok());
        good.map_or(Self::Address(ClientNetwork::of(address)), |caller| Self::Key(caller.key()))
    }
}

impl FreeLimit {
    pub(super) fn new(per_minute: u32) -> Self {
        let keyed = Buckets::new(per_minute.saturating_mul(KEYED_SHARE));
        Self { per_minute, free: Buckets::new(per_minute), keyed }
    }

    /// Counts a request before it is read. The error states how long to wait.
    pub(super) fn take_request(&self, sender: Counted, now: Now) -> Result<(), ApiError> {
        match sender {
            Counted::Key(_) => self.told(self.keyed.take(sender, now.steady)),
            // Without a valid key nothing is paid for.
            Counted::Address(_) => self.told(self.free.take(sender, now.steady)),
        }
    }

    /// Counts a message that costs nothing. The first message of a request without a valid key was
    /// counted with the request.
    pub(super) fn take_message(&self, sender: Counted, is_first: bool, now: Now) -> Result<(), ApiError> {
        if is_first && matches!(sender, Counted::Address(_)) {
            return Ok(());
        }
        self.told(self.free.take(sender, now.steady))
    }

    fn told(&self, taken: Result<(), u64>) -> Result<(), ApiError> {
        taken.map_err(|seconds| {
            let message = format!(
                "more than {} messages a minute that cost nothing; try again in {seconds} seconds, and keep lists: they \
                 change only with the program",
                self.per_minute
            );
            ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
        })
    }
}
