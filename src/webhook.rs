//! A webhook: an address that receives signed POST requests, and how one is sent.

use std::time::Duration;

use hornbook_base::hex;
use ring::hmac;

use crate::client::{ClientError, Request, RequestLimits, ServerAddress, send_once};
use crate::tls_client::Trust;

const LIMITS: RequestLimits =
    RequestLimits { connect: Duration::from_secs(5), total: Duration::from_secs(10), body_bytes_max: 64 << 10 };

/// The header with time and signature: `t=1700000000,v1=5257...`. The signature is the HMAC-SHA256
/// of the time, a full stop and the body.
const SIGNATURE: &str = "hornbook-signature";

/// A webhook from the configuration.
pub struct WebhookTarget {
    webhook: SignedWebhook,
    first_pause: Duration,
}

impl WebhookTarget {
    pub fn new(url: &str, secret: &str) -> Result<Self, ClientError> {
        let webhook = SignedWebhook::new(ServerAddress::with_path(url, &Trust::System)?, secret);
        Ok(Self { webhook, first_pause: Duration::from_secs(1) })
    }

    /// Sets the pause after the first failure; each later pause is twice as long.
    #[must_use]
    pub fn first_pause(self, first_pause: Duration) -> Self {
        Self { first_pause, ..self }
    }

    pub(crate) async fn post(&self, body: &str, now_sec: i64) -> Result<(), WebhookError> {
        self.webhook.post(body, now_sec).await
    }

    /// The pause after this many attempts that failed.
    pub(crate) fn pause_after(&self, attempts: u32) -> Duration {
        pause_after(attempts, self.first_pause)
    }
}

/// The pause after this many attempts that failed, the first of which is followed by `first`.
pub(crate) fn pause_after(attempts: u32, first: Duration) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)))
}

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

#[cfg(test)]
pub(crate) mod test_receiver {
    //! Shared by the tests of what is sent to webhooks.

    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::sync::mpsc;

    use hornbook_base::hex;
    use ring::hmac;

    /// Starts a server that responds with these statuses in turn, then with 204. It sends each
    /// request to `shown`.
    pub(crate) fn receiver(statuses: &'static [u16], shown: mpsc::Sender<String>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hooks/hornbook", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut statuses = statuses.iter();
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap() > 0 {}
                let length = request.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                let mut body = vec![0; length.parse().unwrap()];
                reader.read_exact(&mut body).unwrap();
                let status = statuses.next().unwrap_or(&204);
                write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
                if shown.send(request + &String::from_utf8(body).unwrap()).is_err() {
                    return;
                }
            }
        });
        url
    }

    /// The header of a signature, computed as the documentation says.
    pub(crate) fn signature_line(time: i64, body: &str, secret: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, format!("{time}.{body}").as_bytes());
        format!("hornbook-signature: t={time},v1={}\r\n", hex::encode(tag.as_ref()))
    }
}
