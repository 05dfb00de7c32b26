//! Parses Stripe's notices about our payments.

use hornbook_accounts::changes::PaymentReport;
use hornbook_accounts::ids::CheckoutId;
use hornbook_accounts::records::{DisputeState, PaymentEvent};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The entry of Stripe's `metadata` by which we recognize our payments.
pub(super) const METADATA_KEY: &str = "hornbook_checkout";

pub(super) struct Event {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) meaning: EventMeaning,
}

pub(super) enum EventMeaning {
    Report(PaymentReport),
    /// The notice is of another kind, or about a payment that is not ours.
    Nothing,
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    created: i64,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: Value,
}

#[derive(Deserialize)]
struct Session {
    id: String,
    mode: String,
    payment_status: String,
    payment_intent: Option<ObjectRef>,
    amount_total: Option<u64>,
    currency: Option<String>,
}

#[derive(Deserialize)]
struct StripeCharge {
    payment_intent: Option<ObjectRef>,
    amount_refunded: u64,
}

#[derive(Deserialize)]
struct Dispute {
    id: String,
    payment_intent: Option<ObjectRef>,
    amount: u64,
    currency: String,
    status: String,
}

#[derive(Deserialize)]
struct Refund {
    id: String,
    payment_intent: Option<ObjectRef>,
    amount: u64,
    status: Option<String>,
}

/// An object, given by its id or as a whole.
#[derive(Deserialize)]
#[serde(untagged)]
enum ObjectRef {
    Id(String),
    Whole { id: String },
}

impl ObjectRef {
    fn into_id(self) -> String {
        match self {
            Self::Id(id) | Self::Whole { id } => id,
        }
    }
}

/// Parses a notice whose signature was verified. None if Stripe would not send it in this form.
pub(super) fn read(body: &[u8]) -> Option<Event> {
    let Envelope { id, kind, created, data } = serde_json::from_slice(body).ok()?;
    let meaning = match kind.as_str() {
        "checkout.session.completed" | "checkout.session.async_payment_succeeded" => of_session(data.object, paid)?,
        "checkout.session.async_payment_failed" | "checkout.session.expired" => of_session(data.object, not_paid)?,
        "charge.refunded" => refunded(data.object, created)?,
        "charge.dispute.created" | "charge.dispute.closed" => disputed(typed(data.object)?)?,
        // Accounts with older settings send the first of these.
        "charge.refund.updated" | "refund.updated" | "refund.failed" => refund_changed(typed(data.object)?, created)?,
        _ => EventMeaning::Nothing,
    };
    Some(Event { id, kind, meaning })
}

fn typed<T: DeserializeOwned>(object: Value) -> Option<T> {
    serde_json::from_value(object).ok()
}

/// The checkout in the metadata of an object. Objects of other services have no metadata, or other
/// entries. They may have any form, so they are recognized before the object is parsed.
fn checkout_of(object: &Value) -> Option<CheckoutId> {
    object.get("metadata")?.get(METADATA_KEY)?.as_str()?.parse().ok()
}

fn of_session(object: Value, read: fn(Session, CheckoutId) -> Option<EventMeaning>) -> Option<EventMeaning> {
    let Some(checkout) = checkout_of(&object) else { return Some(EventMeaning::Nothing) };
    let session: Session = typed(object)?;
    if session.mode != "payment" {
        return Some(EventMeaning::Nothing);
    }
    read(session, checkout)
}

fn paid(session: Session, checkout: CheckoutId) -> Option<EventMeaning> {
    // The customer chose a slow way of payment: another notice reports whether the money arrived.
    if session.payment_status == "unpaid" {
        return Some(EventMeaning::Nothing);
    }
    Some(EventMeaning::Report(PaymentReport::Paid {
        checkout,
        session: session.id,
        payment: session.payment_intent?.into_id(),
        amount: session.amount_total?,
        currency: session.currency?.to_ascii_lowercase(),
    }))
}

fn not_paid(session: Session, checkout: CheckoutId) -> Option<EventMeaning> {
    Some(EventMeaning::Report(PaymentReport::NotPaid { checkout, session: session.id }))
}

fn refunded(object: Value, at_sec: i64) -> Option<EventMeaning> {
    let Some(checkout) = checkout_of(&object) else { return Some(EventMeaning::Nothing) };
    let charge: StripeCharge = typed(object)?;
    let payment = charge.payment_intent?.into_id();
    Some(EventMeaning::Report(PaymentReport::Refunded { checkout, payment, amount: charge.amount_refunded, at_sec }))
}

/// An event that names only its payment. Our payments always have a payment intent; a charge that
/// another service made without one is not ours. Stripe would repeat a refused notice for days.
fn of_payment(payment: Option<ObjectRef>, event: PaymentEvent) -> EventMeaning {
    match payment {
        Some(payment) => EventMeaning::Report(PaymentReport::Event { payment: payment.into_id(), event }),
        None => EventMeaning::Nothing,
    }
}

fn refund_changed(refund: Refund, at_sec: i64) -> Option<EventMeaning> {
    if !matches!(refund.status.as_deref(), Some("failed" | "canceled")) {
        return Some(EventMeaning::Nothing);
    }
    let event = PaymentEvent::RefundFailed { refund: refund.id, amount: refund.amount, at_sec };
    Some(of_payment(refund.payment_intent, event))
}

fn disputed(dispute: Dispute) -> Option<EventMeaning> {
    let state = match dispute.status.as_str() {
        "needs_response" | "under_review" => DisputeState::Open,
        "won" => DisputeState::Won,
        "lost" => DisputeState::Lost,
        // An inquiry of the bank: no money moves.
        _ => return Some(EventMeaning::Nothing),
    };
    // An amount in another currency cannot be compared with our price.
    let amount = (dispute.currency == "usd").then_some(dispute.amount);
    Some(of_payment(dispute.payment_intent, PaymentEvent::Disputed { dispute: dispute.id, amount, state }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CHECKOUT: &str = "6f6c2ab2-8ce5-4f3e-9d1b-1c7a52a0c9d4";

    fn report(kind: &str, object: &Value) -> Option<Option<PaymentReport>> {
        let notice =
            json!({ "id": "evt_1", "type": kind, "created": 1, "data": { "object": object }, "livemode": true });
        read(notice.to_string().as_bytes()).map(|event| match event.meaning {
            EventMeaning::Report(report) => Some(report),
            EventMeaning::Nothing => None,
        })
    }

    fn session(changes: &[(&str, Value)]) -> Value {
        let mut session = json!({
            "id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": "paid", "payment_intent": "pi_1",
            "amount_total": 500, "currency": "usd", "metadata": { METADATA_KEY: CHECKOUT }, "customer_details": { "email": "a@b.c" },
        });
        for (name, value) in changes {
            session[*name] = value.clone();
        }
        session
    }

    #[test]
    fn a_page_that_was_paid_is_reported_with_what_was_paid() {
        let checkout: CheckoutId = CHECKOUT.parse().unwrap();
        let expected = PaymentReport::Paid {
            checkout,
            session: "cs_1".to_owned(),
            payment: "pi_1".to_owned(),
            amount: 500,
            currency: "usd".to_owned(),
        };
        for kind in ["checkout.session.completed", "checkout.session.async_payment_succeeded"] {
            assert_eq!(report(kind, &session(&[])), Some(Some(expected.clone())));
            let whole = session(&[("payment_intent", json!({ "id": "pi_1", "object": "payment_intent" }))]);
            assert_eq!(report(kind, &whole), Some(Some(expected.clone())));
        }
        for kind in ["checkout.session.expired", "checkout.session.async_payment_failed"] {
            let expected = PaymentReport::NotPaid { checkout, session: "cs_1".to_owned() };
            assert_eq!(report(kind, &session(&[("payment_status", json!("unpaid"))])), Some(Some(expected)));
        }
    }

    #[test]
    fn foreign_and_unpaid_sessions_are_ignored() {
        let nothing = Some(None);
        let completed = "checkout.session.completed";
        assert_eq!(report(completed, &session(&[("payment_status", json!("unpaid"))])), nothing);
        assert_eq!(report(completed, &session(&[("mode", json!("subscription"))])), nothing);
        assert_eq!(report(completed, &session(&[("metadata", json!({ "other": "x" }))])), nothing);
        assert_eq!(report(completed, &session(&[("metadata", json!({ METADATA_KEY: "17" }))])), nothing);
        assert_eq!(report("customer.created", &json!({ "id": "cus_1" })), nothing);
        assert_eq!(report("charge.refunded", &json!({ "amount_refunded": 5, "metadata": {} })), nothing);
    }

    #[test]
    fn disputes_are_open_won_or_lost_and_questions_of_a_bank_are_none() {
        let dispute = |status: &str, currency: &str| {
            let dispute = json!({
                "id": "dp_1", "payment_intent": "pi_1", "amount": 300, "currency": currency, "status": status, "metadata": {},
            });
            match report("charge.dispute.closed", &dispute).unwrap() {
                Some(PaymentReport::Event { event: PaymentEvent::Disputed { amount, state, .. }, .. }) => {
                    Some((amount, state))
                }
                _ => None,
            }
        };
        assert_eq!(dispute("needs_response", "usd"), Some((Some(300), DisputeState::Open)));
        assert_eq!(dispute("won", "usd"), Some((Some(300), DisputeState::Won)));
        assert_eq!(dispute("lost", "eur"), Some((None, DisputeState::Lost)));
        assert_eq!(dispute("warning_needs_response", "usd"), None);
        assert_eq!(dispute("warning_closed", "usd"), None);
    }

    #[test]
    fn a_refund_counts_as_failed_only_when_it_says_so() {
        let refund = |kind: &str, status: &str| {
            report(kind, &json!({ "id": "re_1", "amount": 300, "payment_intent": "pi_1", "status": status })).unwrap()
        };
        let event = PaymentEvent::RefundFailed { refund: "re_1".to_owned(), amount: 300, at_sec: 1 };
        let failed = Some(PaymentReport::Event { payment: "pi_1".to_owned(), event });
        for kind in ["charge.refund.updated", "refund.updated", "refund.failed"] {
            assert_eq!((refund(kind, "failed"), refund(kind, "canceled")), (failed.clone(), failed.clone()), "{kind}");
            assert_eq!((refund(kind, "succeeded"), refund(kind, "pending")), (None, None), "{kind}");
        }
    }

    /// Other services of the same Stripe account make charges without a payment intent, and objects
    /// without metadata.
    #[test]
    fn foreign_objects_without_a_payment_intent_or_metadata_are_ignored() {
        let nothing = Some(None);
        for payment in [json!({}), json!({ "payment_intent": null })] {
            let with = |more: Value| {
                let mut object = payment.clone();
                object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                object
            };
            let dispute = with(json!({ "id": "dp_1", "amount": 300, "currency": "usd", "status": "lost" }));
            for kind in ["charge.dispute.created", "charge.dispute.closed"] {
                assert_eq!(report(kind, &dispute), nothing, "{kind} {dispute}");
            }
            let refund = with(json!({ "id": "re_1", "amount": 300, "status": "failed" }));
            for kind in ["charge.refund.updated", "refund.updated", "refund.failed"] {
                assert_eq!(report(kind, &refund), nothing, "{kind} {refund}");
            }
            let charge = with(json!({ "amount_refunded": 300, "metadata": null }));
            assert_eq!(report("charge.refunded", &charge), nothing, "{charge}");
        }
        for (name, value) in [("metadata", Value::Null), ("metadata", json!({ METADATA_KEY: 17 }))] {
            let foreign = session(&[(name, value), ("payment_intent", Value::Null), ("amount_total", json!(-5))]);
            assert_eq!(report("checkout.session.completed", &foreign), nothing, "{foreign}");
        }
    }

    #[test]
    fn malformed_notices_are_refused() {
        assert!(read(b"").is_none() && read(b"[]").is_none() && read(b"{\"id\":\"evt_1\"}").is_none());
        let completed = "checkout.session.completed";
        for (name, value) in
            [("payment_intent", Value::Null), ("amount_total", json!(-5)), ("currency", json!(7)), ("id", json!(1))]
        {
            assert_eq!(report(completed, &session(&[(name, value)])), None, "{name}");
        }
        let deep = format!("{{\"id\":{}", "[".repeat(50_000));
        assert!(read(deep.as_bytes()).is_none());
    }
}
