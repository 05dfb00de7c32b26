//! How often a client may send what costs nothing: handshakes, lists, what is wrong.
//!
//! Loose, for agents open many connections at once; counted for each key that is good, else for each address.

use std::net::IpAddr;

use crate::accounts::Accounts;
use crate::accounts::ids::KeyId;
use crate::api::error::{ApiError, ErrorCode};
use crate::clock::Now;
use crate::network::ClientNetwork;
use crate::rate::Buckets;

pub(super) struct FreeLimit {
    per_minute: u32,
    buckets: Buckets<Sender>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sender {
    Key(KeyId),
    Address(ClientNetwork),
}

impl FreeLimit {
    pub(super) fn new(per_minute: u32) -> Self {
        Self { per_minute, buckets: Buckets::new(per_minute) }
    }

    /// Counts a message, or says how long to wait.
    pub(super) fn take(
        &self,
        accounts: &Accounts,
        key: Option<&str>,
        address: IpAddr,
        now: Now,
    ) -> Result<(), ApiError> {
        let good = key.and_then(|key| accounts.authenticate(Some(key), now).ok());
        let sender = good.map_or(Sender::Address(ClientNetwork::of(address)), |caller| Sender::Key(caller.key()));
        self.buckets.take(sender, now.steady).map_err(|seconds| {
            let message = format!(
                "more than {} messages a minute that cost nothing; try again in {seconds} seconds, and keep lists: they \
                 change only with the program",
                self.per_minute
            );
            ApiError { retry_after_sec: Some(seconds), ..ApiError::new(ErrorCode::RateLimited, message) }
        })
    }
}
