//! A webhook: an address that receives signed POST requests, and how one is sent.

use std::time::Duration;

use hornbook_base::hex;
use ring::hmac;

use crate::client::{ClientError, Request, RequestLimits, ServerAddress, send_once};

const LIMITS: RequestLimits =
    RequestLimits { connect: Duration::from_secs(5), total: Duration::from_secs(10), body_bytes_max: 64 << 10 };

/// The header with time and signature: `t=1700000000,v1=5257...`. The signature is the HMAC-SHA256
/// of the time, a full stop and the body.
const SIGNATURE: &str = "hornbook-signature";

/// An address with the key that signs what is sent to it.
pub(crate) struct SignedWebhook {
    server: ServerAddress,
    path: String,
    key: hmac::Key,
}

impl SignedWebhook {
    pub(crate) fn new((server, path): (ServerAddress, String), secret: &str) -> Self {
        Self { server, path, key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()) }
    }

    /// Sends a JSON object. An answer other than 2xx is an error, and redirects are not followed.
    pub(crate) async fn post(&self, body: &str, now_sec: i64) -> Result<(), WebhookError> {
        let tag = hmac::sign(&self.key, format!("{now_sec}.{body}").as_bytes());
        let signature = format!("t={now_sec},v1={}", hex::encode(tag.as_ref()));
        let request = Request::post(&self.path, "application/json", body.to_owned()).header(SIGNATURE, signature);
        match send_once(&self.server, LIMITS, request).await? {
            answer if (200..300).contains(&answer.status) => Ok(()),
            answer => Err(WebhookError::Status(answer.status)),
        }
    }
}

/// Why something was not delivered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebhookError {
    #[error("it answered {0}")]
    Status(u16),
    #[error("{0}")]
    Client(#[from] ClientError),
}
