//! Stripe's notices as they arrive at the webhook: signed JSON.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bytes::Bytes;
use hornbook::api::call::Progress;
use hornbook::mount::{Mount, MountRequest};
use hornbook::payments::Secret;
use hornbook::payments::webhook::{WEBHOOK_PATH, Webhook};
use hornbook::web_origin::RequestOrigin;
use hornbook_accounts::records::DisputeState;
use hornbook_accounts::tier::PackName;
use hornbook_base::clock::ManualClock;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::fixture::PaymentFixture;
use crate::stripe::{WEBHOOK_SECRET, signature};

/// What Stripe reports on a page or on one of its payments.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Paid,
    Expired,
    /// The total of all refunds.
    Refunded(u64),
    Disputed {
        dispute: String,
        cents: u64,
        state: DisputeState,
    },
    RefundFailed {
        refund: String,
        cents: u64,
    },
}

/// A page and the payment on it that a notice is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) checkout: &'a str,
    pub(crate) session: &'a str,
    pub(crate) payment: &'a str,
    pub(crate) price: u64,
}

/// The notice of an event. Refunds fail a second after all totals, which Stripe writes at second 0.
pub(crate) fn notice(subject: Subject<'_>, event: &Event) -> String {
    let Subject { checkout, session, payment, price } = subject;
    let metadata = json!({ "hornbook_checkout": checkout });
    let page = |status: &str, payment: Value| {
        json!({
            "id": session, "mode": "payment", "payment_status": status, "payment_intent": payment, "amount_total": price,
            "currency": "usd", "metadata": metadata,
        })
    };
    let (kind, object) = match event {
        Event::Paid => ("checkout.session.completed", page("paid", json!(payment))),
        Event::Expired => ("checkout.session.expired", page("unpaid", Value::Null)),
        Event::Refunded(cents) => {
            let charge = json!({ "payment_intent": payment, "amount_refunded": cents, "metadata": metadata });
            ("charge.refunded", charge)
        }
        Event::Disputed { dispute, cents, state } => {
            let (kind, status) = match state {
                DisputeState::Open => ("charge.dispute.created", "needs_response"),
                DisputeState::Won => ("charge.dispute.closed", "won"),
                DisputeState::Lost => ("charge.dispute.closed", "lost"),
            };
            let object = json!({
                "id": dispute, "payment_intent": payment, "amount": cents, "currency": "usd", "status": status,
            });
            (kind, object)
        }
        Event::RefundFailed { refund, cents } => {
            let object = json!({ "id": refund, "payment_intent": payment, "amount": cents, "status": "failed" });
            ("refund.failed", object)
        }
    };
    envelope(kind, u64::from(kind == "refund.failed"), &object)
}

fn envelope(kind: &str, created: u64, object: &Value) -> String {
    json!({ "id": "evt_1", "type": kind, "created": created, "data": { "object": object } }).to_string()
}

/// Notices about other services of the same Stripe account.
pub(crate) fn foreign_notices() -> Vec<String> {
    let mut notices = Vec::new();
    for payment in [json!("pi_foreign"), Value::Null] {
        for (kind, id, status) in
            [("charge.dispute.created", "dp_1", "needs_response"), ("refund.failed", "re_1", "failed")]
        {
            let object =
                json!({ "id": id, "payment_intent": payment, "amount": 500, "currency": "usd", "status": status });
            notices.push(envelope(kind, 0, &object));
        }
        for metadata in [Value::Null, json!({}), json!({ "hornbook_checkout": "17" })] {
            let session = json!({ "id": "cs_foreign", "payment_intent": payment, "metadata": metadata });
            notices.push(envelope("checkout.session.completed", 0, &session));
            notices.push(envelope("charge.refunded", 0, &session));
        }
    }
    let unknown = "6f6c2ab2-8ce5-4f3e-9d1b-1c7a52a0c9d4";
    let subject = Subject { checkout: unknown, session: "cs_foreign", payment: "pi_foreign", price: 500 };
    notices.extend([Event::Paid, Event::Expired, Event::Refunded(500)].map(|event| notice(subject, &event)));
    notices
}

/// How a notice is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signing {
    Genuine,
    /// With another secret.
    Forged,
    /// With the right secret, but longer ago than a notice may be.
    Old,
    /// With the right secret, but for another body.
    OfAnotherBody,
}

/// Calls the webhook without a network.
pub(crate) struct Sender {
    runtime: Runtime,
}

impl Sender {
    pub(crate) fn new() -> Self {
        Self { runtime: Builder::new_current_thread().build().unwrap() }
    }

    pub(crate) fn send(&self, shop: &PaymentFixture, body: &str, signing: Signing) -> StatusCode {
        let now = u64::try_from(shop.now.wall.0 / 1000).unwrap();
        let signature = match signing {
            Signing::Genuine => signature(WEBHOOK_SECRET, now, body),
            Signing::Forged => signature("whsec_another_secret", now, body),
            Signing::Old => signature(WEBHOOK_SECRET, now - 301, body),
            Signing::OfAnotherBody => signature(WEBHOOK_SECRET, now, &format!("{body} ")),
        };
        let clock = Arc::new(ManualClock::at(shop.now.wall));
        let webhook = Webhook::new(Arc::clone(&shop.accounts), clock, Secret::new(WEBHOOK_SECRET));
        let mut headers = HeaderMap::new();
        headers.insert("stripe-signature", signature.parse().unwrap());
        let body = Bytes::copy_from_slice(body.as_bytes());
        let (origin, progress) = (RequestOrigin::default(), Progress::default());
        let answered = webhook.answer(MountRequest {
            method: &Method::POST,
            path: WEBHOOK_PATH,
            segments: &[],
            query: None,
            parameters: &[],
            headers: &headers,
            origin: &origin,
            body: &body,
            client: IpAddr::V4(Ipv4Addr::LOCALHOST),
            id: "test",
            progress: &progress,
        });
        self.runtime.block_on(answered).response.status()
    }
}

/// A refused notice is repeated by Stripe for days, so those of other services are accepted.
#[test]
fn notices_about_other_services_are_accepted_and_change_nothing() {
    let (shop, sender) = (PaymentFixture::without_free_units(), Sender::new());
    shop.buy(PackName::Starter, 1);
    let before = (shop.accounts.purchases().unwrap(), shop.accounts.checkouts().unwrap());
    for body in foreign_notices() {
        assert_eq!(sender.send(&shop, &body, Signing::Genuine), StatusCode::OK, "{body}");
        for signing in [Signing::Forged, Signing::Old, Signing::OfAnotherBody] {
            assert_eq!(sender.send(&shop, &body, signing), StatusCode::BAD_REQUEST, "{signing:?} {body}");
        }
    }
    assert_eq!((shop.accounts.purchases().unwrap(), shop.accounts.checkouts().unwrap()), before);
    assert_eq!(shop.wallet(), 0);
}
