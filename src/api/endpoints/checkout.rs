//! `checkout`: the packs of credits, and how to buy one on this server.

use hornbook_accounts::tier::{PackName, Tariff};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::error::ApiError;
use crate::api::operation::{Access, CHECKOUT_PATH, OpenCall, Operation, PreparedWork};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, route};
use crate::api::subject::Subject;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Checkout")]
pub(in crate::api) struct CheckoutReply {
    /// One-time purchases. Credits do not expire.
    packs: [PackReply; 3],
    how_to_buy: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Pack")]
struct PackReply {
    pack: PackName,
    price_cents: u32,
    credits: u32,
    requests_per_minute: u32,
    requests_per_day: u32,
}

const HOW_TO_BUY: &str = "Send POST to this address with your API key and {\"pack\": \"starter\"}, then pay the operator \
                          of this service as agreed with them and name the purchase. As soon as they confirm the \
                          payment, every key of the account can use the credits.";

const HOW_TO_BUY_BY_CARD: &str = "Send POST to this address with your API key and {\"pack\": \"starter\"}, then open the \
                                  checkoutUrl of the answer in a browser and pay there. The credits arrive within a \
                                  minute of the payment, for every key of the account.";

/// How to pay for a purchase that the operator has to confirm.
pub(super) const HOW_TO_PAY_AN_OPERATOR: &str = "Pay the operator of this service as agreed with them, and name this \
                                                 purchase. As soon as they confirm the payment, every key of the \
                                                 account can use the credits.";

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "checkout",
    subject: Subject::Account,
    summary: "The packs of credits and how to buy one",
    details: None,
    route: route(CHECKOUT_PATH, "/api/v1/billing/checkout"),
    tool: None,
    parameters: &[],
    body: None,
    formats: JSON,
    errors: &[],
    has_version: false,
    reply: |generator| generator.subschema_for::<CheckoutReply>(),
    model_text: None,
    access: Access::Open(prepare),
};

fn prepare(call: &OpenCall<'_>) -> Result<PreparedWork, ApiError> {
    let tariff = call.accounts.settings().tariff;
    let how_to_buy = if call.cards.is_some() { HOW_TO_BUY_BY_CARD } else { HOW_TO_BUY };
    Ok(PreparedWork::light(move || {
        Reply::json(&CheckoutReply { packs: PackName::ALL.map(|name| pack(&tariff, name)), how_to_buy })
    }))
}

fn pack(tariff: &Tariff, name: PackName) -> PackReply {
    let terms = tariff.pack(name);
    PackReply {
        pack: name,
        price_cents: terms.price_cents,
        credits: terms.credits.0,
        requests_per_minute: terms.limits.per_minute,
        requests_per_day: terms.limits.per_day,
    }
}
