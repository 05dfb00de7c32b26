//! The state that the endpoints and the page share.

use std::sync::Arc;

use hornbook_accounts::Accounts;
use hornbook_accounts::blocking;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::ChangeError;
use tokio::sync::Semaphore;

use super::client::ClientIds;
use super::error::OAuthError;
use super::request::{AuthorizationRequest, RequestError};
use crate::api::service::Service;

/// The maximum number of exchanges that wait for the ledger's writer at once.
const EXCHANGES_MAX: usize = 32;

/// Sign-in for agents at one service.
pub struct SignIn {
    pub(super) service: Arc<Service>,
    pub(super) clients: ClientIds,
    exchanges: Arc<Semaphore>,
}

impl SignIn {
    /// Reads the key that signs the ids of clients, or creates it. None if agents cannot sign in at the base URL.
    pub fn open(service: Arc<Service>) -> Result<Option<Arc<Self>>, ChangeError> {
        if !is_possible_at(service.base_url()) {
            return Ok(None);
        }
        let clients = ClientIds::new(&service.accounts().client_id_key(&mut SystemEntropy)?);
        let exchanges = Arc::new(Semaphore::new(EXCHANGES_MAX));
        Ok(Some(Arc::new(Self { clients, exchanges, service })))
    }

    /// Reads what a client asks of a person.
    pub fn request(&self, parameters: &[(String, String)]) -> Result<AuthorizationRequest, RequestError> {
        AuthorizationRequest::read(parameters, &self.clients, self.service.base_url())
    }

    /// Runs work that changes the state, on a thread that may block. It ends even if the client disconnects.
    pub(super) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Accounts) -> Result<T, ChangeError> + Send + 'static,
    ) -> Result<Result<T, ChangeError>, OAuthError> {
        let Ok(place) = Arc::clone(&self.exchanges).try_acquire_owned() else {
            return Err(OAuthError::unavailable("too many exchanges are waiting".to_owned()));
        };
        let accounts = Arc::clone(self.service.accounts());
        let done = tokio::task::spawn_blocking(move || {
            // Given back when the work ends, not when the client disconnects.
            let _place = place;
            blocking::allowed(|| work(&accounts))
        });
        done.await.map_err(|error| OAuthError::unavailable(error.to_string()))
    }
}

/// Whether agents can sign in at this base URL. Tokens must not cross a network unencrypted. With a path, clients
/// would look for the metadata at addresses that are not ours.
fn is_possible_at(base_url: &str) -> bool {
    let (scheme, rest) = base_url.split_once("://").unwrap_or_default();
    let is_here = ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|name| rest.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':')));
    !rest.contains('/') && (scheme == "https" || scheme == "http" && is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_cross_a_network_unencrypted() {
        for base in [
            "https://law.example",
            "https://law.example:8443",
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:1",
        ] {
            assert!(is_possible_at(base), "{base}");
        }
        for base in [
            "http://law.example",
            "http://0.0.0.0:8080",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil",
            "https://law.example/hornbook",
            "",
        ] {
            assert!(!is_possible_at(base), "{base}");
        }
    }
}
