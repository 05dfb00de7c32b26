//! Limits how often a client may send. Every request is counted before it is read. Messages that cost
//! nothing (handshakes, lists, errors) are counted once more.
//!
//! The limits are loose, because agents open many connections at once. They apply to each valid key, and
//! to each address if there is no valid key.

use std::net::IpAddr;

use hornbook_accounts::Accounts;
use hornbook_accounts::ids::KeyId;
use hornbook_base::clock::Now;

use crate::api::error::{ApiError, ErrorCode};
use crate::network::ClientNetwork;
use crate::token_buckets::TokenBuckets;

pub(super) struct FreeMessageLimit {
    per_minute: u32,
    free: TokenBuckets<RateKey>,
    /// Counts all requests with a valid key. Paid calls have the limits of their key.
    keyed: TokenBuckets<RateKey>,
}

/// How many requests with a valid key are allowed for each message that costs nothing.
const KEYED_FACTOR: u32 = 10;

/// The key or the address whose messages are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum RateKey {
    Key(KeyId),
    Address(ClientNetwork),
}

impl RateKey {
    pub(super) fn of(accounts: &Accounts, key: Option<&str>, address: IpAddr, now: Now) -> Self {
        let good = key.and_then(|key| accounts.authenticate_agent(Some(key), now).ok());
        good.map_or(Self::Address(ClientNetwork::of(address)), |caller| Self::Key(caller.key()))
    }
}

impl FreeMessageLimit {
    pub(super) fn new(per_minute: u32) -> Self {
        let keyed = TokenBuckets::new(per_minute.saturating_mul(KEYED_FACTOR));
        Self { per_minute, free: TokenBuckets::new(per_minute), keyed }
    }

    /// Counts a request before it is read. The error states how long to wait.
    pub(super) fn take_request(&self, sender: RateKey, now: Now) -> Result<(), ApiError> {
        match sender {
            RateKey::Key(_) => self.rate_error(self.keyed.take(sender, now.steady)),
            // Without a valid key nothing is paid for.
            RateKey::Address(_) => self.rate_error(self.free.take(sender, now.steady)),
        }
    }

    /// Counts a message that costs nothing. The first message of a request without a valid key was
    /// counted with the request.
    pub(super) fn take_message(&self, sender: RateKey, is_first: bool, now: Now) -> Result<(), ApiError> {
        if is_first && matches!(sender, RateKey::Address(_)) {
            return Ok(());
        }
        self.rate_error(self.free.take(sender, now.steady))
    }

    fn rate_error(&self, taken: Result<(), u64>) -> Result<(), ApiError> {
        taken.map_err(|seconds| {
            let message = format!(
                "more than {} free messages per minute; try again in {seconds} seconds, and cache lists: they \
                 change only with the program",
                self.per_minute
            );
            ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
        })
    }
}
