//! Opens pages of Stripe Checkout. Requests go only to the configured address, with limits on time
//! and size, from a thread that holds no lock, no transaction and no permit.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use hornbook_accounts::records::{CheckoutPage, CheckoutRecord};
use serde::Deserialize;
use tokio::runtime::Handle;

use super::Secret;
use super::event::METADATA_KEY;
use crate::api::cards::{CardError, CardPayments, CheckoutItem};
use crate::client::{ClientError, ClientResponse, Request, RequestLimits, ServerAddress, send_once};
use crate::percent;
use crate::tls_client::Trust;

/// For one attempt, with the lookup of the name. The response is a few kilobytes long.
const LIMITS: RequestLimits =
    RequestLimits { connect: Duration::from_secs(5), total: Duration::from_secs(15), body_bytes_max: 256 << 10 };

/// The second attempt has the same idempotency key, so that it opens no second page.
const ATTEMPTS: usize = 2;
const PAUSE: Duration = Duration::from_millis(500);

/// The Stripe API version that this file was written for.
const VERSION: &str = "2024-06-20";

pub struct Stripe {
    server: ServerAddress,
    secret_key: Secret,
    /// The address to which customers return.
    base_url: String,
    limits: RequestLimits,
}

/// Why Stripe cannot be used as configured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct StripeError(String);

impl Stripe {
    /// `api` is the address of Stripe, or of a test server in its place.
    pub fn new(api: &str, secret_key: Secret) -> Result<Self, StripeError> {
        let unusable = |why: &dyn fmt::Display| StripeError(format!("payments.stripe_api: {why}"));
        let server = ServerAddress::parse(api, &Trust::System).map_err(|error| unusable(&error))?;
        if !server.is_encrypted() && !is_loopback_address(server.address()) {
            return Err(unusable(&"the secret key would cross the network unencrypted; write it with https://"));
        }
        Ok(Self { server, secret_key, base_url: String::new(), limits: LIMITS })
    }

    /// Sets the address of this service, to which customers return.
    #[must_use]
    pub fn returning_to(self, base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), ..self }
    }

    fn request(&self, checkout: &CheckoutRecord, sold: &CheckoutItem) -> Request {
        let id = checkout.id.to_string();
        let page = |name: &str| format!("{}{}", self.base_url, name);
        let marks = [format!("metadata[{METADATA_KEY}]"), format!("payment_intent_data[metadata][{METADATA_KEY}]")];
        let fields = [
            ("mode", "payment".to_owned()),
            ("client_reference_id", id.clone()),
            (marks[0].as_str(), id.clone()),
            // Charges get the metadata of their payment.
            (marks[1].as_str(), id.clone()),
            ("line_items[0][quantity]", "1".to_owned()),
            ("line_items[0][price_data][currency]", "usd".to_owned()),
            ("line_items[0][price_data][unit_amount]", checkout.amount_cents.to_string()),
            ("line_items[0][price_data][product_data][name]", sold.name.clone()),
            ("success_url", page(&sold.paid_path)),
            ("cancel_url", page(&sold.cancelled_path)),
        ];
        let form: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", percent::encoded(name), percent::encoded(value)))
            .collect();
        Request::post("/v1/checkout/sessions", "application/x-www-form-urlencoded", form.join("&"))
            .header("authorization", format!("Bearer {}", self.secret_key.reveal()))
            .header("idempotency-key", format!("hornbook-{id}"))
            .header("stripe-version", VERSION)
    }

    async fn open(&self, checkout: &CheckoutRecord, sold: &CheckoutItem) -> Result<CheckoutPage, CardError> {
        let mut attempt = 1;
        loop {
            let answered = send_once(&self.server, self.limits, self.request(checkout, sold)).await;
            match outcome(answered) {
                Err(CardError::Unavailable(_)) if attempt < ATTEMPTS => tokio::time::sleep(PAUSE).await,
                done => return done,
            }
            attempt += 1;
        }
    }
}

impl CardPayments for Stripe {
    fn open_page(&self, checkout: &CheckoutRecord, sold: &CheckoutItem) -> Result<CheckoutPage, CardError> {
        // Uses the server's runtime: a separate one would not end before a name lookup that hangs.
        let runtime = Handle::try_current();
        let runtime = runtime.map_err(|error| CardError::Unavailable(format!("no runtime: {error}")))?;
        runtime.block_on(self.open(checkout, sold))
    }
}

#[derive(Deserialize)]
struct Session {
    id: String,
    url: String,
}

#[derive(Default, Deserialize)]
struct StripeErrorBody {
    #[serde(default)]
    error: Reason,
}

#[derive(Default, Deserialize)]
struct Reason {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    code: String,
}

fn outcome(answered: Result<ClientResponse, ClientError>) -> Result<CheckoutPage, CardError> {
    let answer = answered.map_err(|error| CardError::Unavailable(format!("Stripe: {error}")))?;
    if answer.status == 200 {
        let session: Option<Session> = serde_json::from_slice(&answer.body).ok();
        let session = session.filter(|session| session.url.starts_with("http"));
        return session
            .map(|session| CheckoutPage { session: session.id, url: session.url })
            .ok_or_else(|| CardError::Refused("Stripe answered 200 without a payment page".to_owned()));
    }
    // Without Stripe's message, which repeats the request.
    let StripeErrorBody { error } = serde_json::from_slice(&answer.body).unwrap_or_default();
    let request = answer.header("request-id").unwrap_or("unknown");
    let why = format!("Stripe answered {} {} {}; its request id is {request}", answer.status, error.kind, error.code);
    match answer.status {
        409 | 429 | 500.. => Err(CardError::Unavailable(why)),
        _ => Err(CardError::Refused(why)),
    }
}

/// Whether an address, host and port, is on this machine.
fn is_loopback_address(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use hornbook_accounts::ids::{AccountId, CheckoutId, PurchaseId};
    use hornbook_accounts::records::Payable;
    use hornbook_base::clock::UnixMillis;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_secret_key_crosses_a_network_only_encrypted() {
        let stripe = |api: &str| Stripe::new(api, Secret::new("sk_test_x")).map(drop);
        for good in ["http://127.0.0.1:9", "http://[::1]:9", "http://localhost:9"] {
            assert_eq!(stripe(good), Ok(()), "{good}");
        }
        for bad in ["http://api.stripe.com", "http://10.0.0.1:9", "https://api.stripe.com/v1", "ftp://x"] {
            let error = stripe(bad).unwrap_err().to_string();
            assert!(error.starts_with("payments.stripe_api: ") && !error.contains("sk_test"), "{error}");
        }
    }

    #[test]
    fn secrets_do_not_print() {
        assert_eq!(format!("{:?}", Secret::new("sk_live_x")), "Secret(..)");
    }

    fn checkout() -> CheckoutRecord {
        CheckoutRecord {
            id: CheckoutId(Uuid::from_u128(1)),
            pays: Payable::Purchase(PurchaseId(1)),
            account: AccountId(1),
            amount_cents: 500,
            opened_at: UnixMillis(0),
            page: None,
            payment: None,
            refunded_cents: 0,
            refunded_at_sec: 0,
            failed_refunds: Vec::new(),
            disputes: Vec::new(),
            problems: Vec::new(),
        }
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_after_both_attempts() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let stripe =
            Stripe::new(&format!("http://{}", silent.local_addr().unwrap()), Secret::new("sk_test_x")).unwrap();
        let limits = RequestLimits { total: Duration::from_millis(50), ..LIMITS };
        let item = |text: &str| text.to_owned();
        let sold = CheckoutItem { name: item("Credits"), paid_path: item("/paid"), cancelled_path: item("/left") };
        let stripe = Stripe { limits, ..stripe };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(stripe.open(&checkout(), &sold)).unwrap_err();
        assert!(matches!(error, CardError::Unavailable(_)), "{error}");
        silent.set_nonblocking(true).unwrap();
        let connections = std::iter::from_fn(|| silent.accept().ok()).count();
        assert_eq!(connections, ATTEMPTS);
    }
}
