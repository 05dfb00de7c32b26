//! Limits how often a client may send. Every request is counted before it is read. Messages that cost
//! nothing (handshakes, lists, errors) are counted once more.
//!
//! The limits are loose, because agents open many connections at once. They apply to each valid key, and
//! to each address if there is no valid key.

use std::net::IpAddr;

use hornbook_accounts::Accounts;
use hornbook_accounts::ids::KeyId;
use hornbook_base::client_network::ClientNetwork;
use hornbook_base::clock::Now;

use crate::api::error::{ApiError, ErrorCode};
use crate::token_buckets::{ClientRate, TokenBuckets};

pub(super) struct FreeMessageLimit {
    per_minute: u32,
    /// Messages that cost nothing, without and with a valid key.
    of_addresses: ClientRate,
    of_keys: TokenBuckets<KeyId>,
    /// All requests with a valid key. Paid calls have the limits of their key.
    keyed: TokenBuckets<KeyId>,
}

/// How many requests with a valid key are allowed for each message that costs nothing.
const KEYED_FACTOR: u32 = 10;

/// The key or the address whose messages are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
        Self {
            per_minute,
            of_addresses: ClientRate::new(per_minute, None),
            of_keys: TokenBuckets::new(per_minute),
            keyed: TokenBuckets::new(per_minute.saturating_mul(KEYED_FACTOR)),
        }
    }

    /// Counts a request before it is read. The error states how long to wait.
    pub(super) fn take_request(&self, sender: RateKey, now: Now) -> Result<(), ApiError> {
        match sender {
            RateKey::Key(key) => self.keyed.take(key, now.steady).map_err(|seconds| self.rate_error(seconds)),
            // Without a valid key nothing is paid for.
            RateKey::Address(_) => self.take_free(sender, now),
        }
    }

    /// Counts a message that costs nothing. The first message of a request without a valid key was
    /// counted with the request.
    pub(super) fn take_message(&self, sender: RateKey, is_first: bool, now: Now) -> Result<(), ApiError> {
        if is_first && matches!(sender, RateKey::Address(_)) {
            return Ok(());
        }
        self.take_free(sender, now)
    }

    fn take_free(&self, sender: RateKey, now: Now) -> Result<(), ApiError> {
        let taken = match sender {
            RateKey::Key(key) => self.of_keys.take(key, now.steady),
            RateKey::Address(network) => {
                self.of_addresses.take_for(network, now.steady).map_err(|exceeded| exceeded.wait_seconds)
            }
        };
        taken.map_err(|seconds| self.rate_error(seconds))
    }

    fn rate_error(&self, seconds: u64) -> ApiError {
        let message = format!(
            "more than {} free messages per minute; try again in {seconds} seconds, and cache lists: they \
             change only with the program",
            self.per_minute
        );
        ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
    }
}
