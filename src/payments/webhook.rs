//! The mount at which Stripe's notices arrive. A notice is answered with 200 once its content is on
//! disk. After any other response, Stripe sends it again, for three days.

use std::sync::Arc;

use ::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ::http::{HeaderValue, Response, StatusCode};
use bytes::Bytes;
use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::blocking;
use hornbook_accounts::changes::{ActContext, ReportResult};
use hornbook_accounts::error::ChangeError;
use hornbook_base::clock::Clock;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::Secret;
use super::event::{EventMeaning, read};
use super::signature::{SignatureCheck, verify};
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};

/// The path to which Stripe sends its notices.
pub const WEBHOOK_PATH: &str = "/api/v1/billing/webhook";

/// The maximum number of notices that wait for the ledger at once. Stripe sends the others again.
const WAITING_MAX: usize = 8;

pub struct Webhook {
    accounts: Arc<Accounts>,
    clock: Arc<dyn Clock>,
    secret: Secret,
    waiting: Semaphore,
}

/// The response, and the message for the log.
struct WebhookOutcome {
    status: StatusCode,
    body: Value,
    error: Option<&'static str>,
    internal: Option<String>,
}

impl WebhookOutcome {
    fn received() -> Self {
        Self { status: StatusCode::OK, body: json!({ "received": true }), error: None, internal: None }
    }

    fn refused(status: StatusCode, code: &'static str, message: &str) -> Self {
        let mut body = json!({ "error": code, "message": message });
        if status == StatusCode::SERVICE_UNAVAILABLE {
            body["retryAfterSec"] = json!(RETRY_SEC);
        }
        Self { status, body, error: Some(code), internal: None }
    }

    fn noting(self, internal: String) -> Self {
        Self { internal: Some(internal), ..self }
    }
}

const RETRY_SEC: u32 = 10;

impl Webhook {
    pub fn new(accounts: Arc<Accounts>, clock: Arc<dyn Clock>, secret: Secret) -> Self {
        Self { accounts, clock, secret, waiting: Semaphore::new(WAITING_MAX) }
    }

    async fn take(&self, request: &MountRequest<'_>) -> WebhookOutcome {
        let now = self.clock.now();
        let now_sec = now.wall.0.div_euclid(1000);
        let signature = request.headers.get("stripe-signature").and_then(|value| value.to_str().ok());
        let why = match verify(&self.secret, signature, request.body, now_sec) {
            SignatureCheck::Genuine => None,
            SignatureCheck::Unsigned => Some("the header Stripe-Signature is missing or cannot be read"),
            SignatureCheck::Forged => {
                Some("the signature does not match; check that payments.stripe_webhook_secret belongs to this address")
            }
            SignatureCheck::Stale => {
                Some("the notice was signed more than 300 seconds ago or ahead; check both clocks")
            }
        };
        if let Some(why) = why {
            return WebhookOutcome::refused(StatusCode::BAD_REQUEST, "bad_request", why).noting(why.to_owned());
        }
        let Some(event) = read(request.body) else {
            let why = "the notice is signed, but its form is unknown";
            return WebhookOutcome::refused(StatusCode::BAD_REQUEST, "bad_request", why).noting(why.to_owned());
        };
        let EventMeaning::Report(report) = event.meaning else { return WebhookOutcome::received() };
        let Ok(_place) = self.waiting.try_acquire() else {
            let why = "too many notices are waiting; send it again";
            return WebhookOutcome::refused(StatusCode::SERVICE_UNAVAILABLE, "overloaded", why);
        };
        let (accounts, act) =
            (Arc::clone(&self.accounts), ActContext { actor: Actor::program("stripe"), at: now.wall });
        let reported =
            tokio::task::spawn_blocking(move || blocking::allowed(|| accounts.report_payment(report, &act))).await;
        let about = format!("{} {}", event.kind, event.id);
        match reported {
            Ok(Ok(ReportResult::Applied | ReportResult::Known)) => WebhookOutcome::received(),
            Ok(Ok(ReportResult::Problem(why))) => WebhookOutcome::received().noting(format!("{about}: {why}")),
            Ok(Ok(ReportResult::Kept)) => WebhookOutcome::received().noting(format!(
                "{about}: its payment is not known yet; the notice is kept until the payment is reported"
            )),
            Ok(Ok(ReportResult::Unknown)) => {
                WebhookOutcome::received().noting(format!("{about}: its checkout does not belong to this service"))
            }
            Ok(Err(ChangeError::Refused(why))) => WebhookOutcome::refused(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal_error",
                "the notice cannot be applied",
            )
            .noting(format!("{about}: {why}")),
            Ok(Err(error)) => retry_response(&format!("{about}: {error}")),
            Err(error) => retry_response(&format!("{about}: {error}")),
        }
    }
}

/// Makes Stripe send the notice again. This is safe whether or not the change was made.
fn retry_response(internal: &str) -> WebhookOutcome {
    let why = "the ledger cannot be written at the moment; send it again";
    WebhookOutcome::refused(StatusCode::SERVICE_UNAVAILABLE, "ledger_unavailable", why).noting(internal.to_owned())
}

impl Mount for Webhook {
    fn matches_path(&self, path: &str) -> bool {
        path == WEBHOOK_PATH
    }

    fn methods(&self, _: &str) -> Methods {
        Methods::Post
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(async move {
            let WebhookOutcome { status, body, error, internal } = self.take(&request).await;
            let mut response = Response::new(Bytes::from(body.to_string()));
            *response.status_mut() = status;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            if status == StatusCode::SERVICE_UNAVAILABLE {
                response.headers_mut().insert(RETRY_AFTER, RETRY_SEC.into());
            }
            MountResponse { error, internal, ..MountResponse::from(response) }
        })
    }
}
