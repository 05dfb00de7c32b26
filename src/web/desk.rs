//! Work of pages that reads or writes the state, on threads that may wait. Passwords have a turn of their own: one is
//! checked at a time and few wait, so that sign-ins cannot starve searches.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::trouble::Trouble;
use crate::accounts::blocking;
use crate::accounts::error::ChangeError;
use crate::accounts::key::KeyDigest;
use crate::api::error::ApiError;
use crate::api::service::Service;
use crate::network::ClientNetwork;
use crate::rate::Buckets;

/// Sign-ins that wait for the one under way, about 20 ms each.
const WAITING_MAX: usize = 32;

/// Attempts a minute from one address, and for one name whether anybody has it or not.
const ATTEMPTS_PER_ADDRESS: u32 = 20;
const ATTEMPTS_PER_NAME: u32 = 6;

pub(super) struct Desk {
    service: Arc<Service>,
    turn: Arc<Semaphore>,
    /// For work that reads a whole snapshot.
    long: Arc<Semaphore>,
    waiting: Semaphore,
    by_address: Buckets<ClientNetwork>,
    by_name: Buckets<u128>,
}

impl Desk {
    pub(super) fn new(service: Arc<Service>) -> Self {
        Self {
            service,
            turn: Arc::new(Semaphore::new(1)),
            long: Arc::new(Semaphore::new(1)),
            waiting: Semaphore::new(WAITING_MAX),
            by_address: Buckets::new(ATTEMPTS_PER_ADDRESS),
            by_name: Buckets::new(ATTEMPTS_PER_NAME),
        }
    }

    /// Work on the state, in the queue in which calls wait.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, Trouble> {
        match self.service.heavy(move || Ok(work())).await {
            Ok(done) => done.map_err(Trouble::from),
            Err(ApiError { internal: Some(why), .. }) => Err(Trouble::Failed(why)),
            Err(_) => Err(Trouble::Busy),
        }
    }

    /// Work that takes minutes, one at a time. It takes no thread away from calls.
    pub(super) async fn long_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, Trouble> {
        let only = Arc::clone(&self.long).try_acquire_owned().map_err(|_| Trouble::Busy)?;
        on_thread(only, work).await
    }

    /// Work that hashes a password, at the request of this address, for this name.
    pub(super) async fn password_work<T: Send + 'static>(
        &self,
        client: IpAddr,
        name: &str,
        work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<T, Trouble> {
        let now = self.service.now().steady;
        let name = KeyDigest::of_secret(&name.trim().to_ascii_lowercase()).bucket();
        let counted = self.by_address.take(ClientNetwork::of(client), now).and_then(|()| self.by_name.take(name, now));
        counted.map_err(|seconds| Trouble::TooFast { seconds })?;
        let _place = self.waiting.try_acquire().map_err(|_| Trouble::Busy)?;
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| Trouble::Busy)?;
        on_thread(turn, work).await
    }
}

async fn on_thread<T: Send + 'static>(
    permit: tokio::sync::OwnedSemaphorePermit,
    work: impl FnOnce() -> Result<T, ChangeError> + Send + 'static,
) -> Result<T, Trouble> {
    let thread = tokio::task::spawn_blocking(move || {
        // Given back when the work ends, not when the browser disconnects.
        let _permit = permit;
        blocking::allowed(work)
    });
    thread
        .await
        .unwrap_or_else(|error| Err(ChangeError::Refused(format!("the work ended: {error}"))))
        .map_err(Trouble::from)
}
