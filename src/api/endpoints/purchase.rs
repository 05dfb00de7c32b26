//! `purchase`: a request to buy a pack. It costs no credits. The price of the pack is in the tariff.

use std::borrow::Cow;
use std::sync::Arc;

use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::{ActContext, NewPurchase, OPEN_PURCHASES_MAX, OpenedPurchase};
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::error::Refusal;
use hornbook_accounts::ids::CheckoutId;
use hornbook_accounts::records::{PurchaseRecord, PurchaseStatus};
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tier::PackName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checkout::HOW_TO_PAY_AN_OPERATOR;
use super::me::accounts_error;
use crate::api::cards::{CHECKOUT_CANCELLED_PATH, CardError, CardPayments, CheckoutItem, PAID_PATH};
use crate::api::error::{ApiError, ErrorCode, Violation};
use crate::api::json::JsonObject;
use crate::api::operation::{BodySpec, CHECKOUT_PATH, CostUnit, MeteredCall, Method, Operation, PreparedWork, Route};
use crate::api::reply::Reply;
use crate::api::rows::{JSON, metered};
use crate::api::subject::Subject;

/// What to buy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PurchaseRequest")]
pub(in crate::api) struct PurchaseRequest {
    /// The name of a pack from `GET /api/v1/billing/checkout`.
    #[expect(dead_code, reason = "only its schema is used: `wanted` names every fault in its own words")]
    pack: PackName,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Purchase")]
pub struct PurchaseReply {
    /// The id of the purchase, such as `buy-17`.
    pub purchase: String,
    pub pack: PackName,
    pub price_cents: u32,
    pub credits: u32,
    /// The credits are available once this is `paid`.
    pub status: PurchaseStatus,
    pub how_to_pay: Cow<'static, str>,
    /// Where to pay by card, if card payments are possible and the purchase is not paid yet.
    pub checkout_url: Option<String>,
}

const HOW_TO_PAY_BY_CARD: &str = "Open checkoutUrl in a browser and pay there within a day. The credits arrive within \
                                  a minute of the payment, for every key of the account.";

const NOTHING_TO_PAY: &str = "No payment is due for this purchase.";

pub(in crate::api) const OPERATION: Operation = Operation {
    name: "purchase",
    subject: Subject::Account,
    summary: "Buy a pack of credits: the answer says how to pay",
    details: Some(
        "Send `{\"pack\": \"starter\"}`. A request repeated with the same `Idempotency-Key` returns the same purchase, \
         no matter how late.",
    ),
    route: Some(Route { method: Method::Post, path: CHECKOUT_PATH, example: "/api/v1/billing/checkout" }),
    tool: None,
    parameters: &[],
    body: Some(BodySpec {
        schema: |generator| generator.subschema_for::<PurchaseRequest>(),
        takes_documents: false,
        is_stored: true,
        example: r#"{"pack": "starter"}"#,
    }),
    formats: JSON,
    errors: &[ErrorCode::PaymentUnavailable],
    has_version: false,
    reply: |generator| generator.subschema_for::<PurchaseReply>(),
    model_text: None,
    access: metered(&Scope::ALL, 0, CostUnit::Call, prepare),
};

fn prepare(call: &MeteredCall<'_>) -> Result<PreparedWork, ApiError> {
    let cards = call.cards.cloned();
    let wish = NewPurchase {
        account: call.caller.account,
        pack: requested_pack(call.body)?,
        retry: call.idempotency_key.map(str::to_owned),
        by_card: cards.is_some(),
    };
    let (accounts, act) =
        (Arc::clone(call.accounts), ActContext { actor: Actor::program("customer"), at: call.now.wall });
    Ok(PreparedWork::external(move || buy(&accounts, cards.as_deref(), wish, &act)))
}

/// Reads the name of the pack. The error lists everything that is wrong with the body.
fn requested_pack(body: &JsonObject) -> Result<PackName, ApiError> {
    let mut violations: Vec<Violation> = body
        .keys()
        .filter(|name| *name != "pack")
        .map(|name| Violation::new(name, "there is no such field; send {\"pack\": \"starter\"}"))
        .collect();
    let pack = match body.get("pack").map(|pack| pack.as_str().map(PackName::parse)) {
        Some(Some(pack)) => pack,
        Some(None) => Err("pack is not text; send the name of a pack, such as \"starter\"".to_owned()),
        None => Err("pack is missing; send the name of a pack, such as \"starter\"".to_owned()),
    };
    match pack {
        Ok(pack) if violations.is_empty() => Ok(pack),
        pack => {
            violations.extend(pack.err().map(|message| Violation::new("pack", message)));
            Err(ApiError::invalid(violations))
        }
    }
}

fn buy(
    accounts: &Accounts,
    cards: Option<&dyn CardPayments>,
    wish: NewPurchase,
    act: &ActContext,
) -> Result<Reply, ApiError> {
    let is_repeatable = wish.retry.is_some();
    let opened = accounts.open_purchase(wish, act, &mut SystemEntropy).map_err(|error| accounts_error(&error))?;
    let purchase = match opened {
        OpenedPurchase::New(purchase) | OpenedPurchase::Known(purchase) => *purchase,
        OpenedPurchase::OtherPack => return Err(ApiError::from(&Refusal::OtherRequest)),
        OpenedPurchase::TooManyOpen => {
            let message = format!(
                "this account already has {OPEN_PURCHASES_MAX} unpaid purchases; pay one of them or ask the \
                 operator to cancel it"
            );
            return Err(ApiError::invalid_parameter("pack", message));
        }
    };
    let is_open = purchase.status == PurchaseStatus::Requested;
    let checkout_url = match (cards, purchase.checkout) {
        (Some(cards), Some(checkout)) if is_open => {
            let page = page(accounts, cards, checkout, &purchase);
            Some(page.or_else(|error| {
                // Without an idempotency key the caller cannot repeat the request, and so could never pay
                // for this purchase.
                if !is_repeatable {
                    accounts.cancel_purchase(purchase.id, act).map_err(|error| accounts_error(&error))?;
                }
                Err(error)
            })?)
        }
        _ => None,
    };
    let how_to_pay = match (is_open, &checkout_url) {
        (false, _) => NOTHING_TO_PAY,
        (true, None) => HOW_TO_PAY_AN_OPERATOR,
        (true, Some(_)) => HOW_TO_PAY_BY_CARD,
    };
    Reply::json(&PurchaseReply {
        purchase: purchase.id.to_string(),
        pack: purchase.pack,
        price_cents: purchase.price_cents,
        credits: purchase.credits.0,
        status: purchase.status,
        how_to_pay: how_to_pay.into(),
        checkout_url,
    })
}

/// The URL of the payment page of a checkout. Opens the page if there is none yet.
fn page(
    accounts: &Accounts,
    cards: &dyn CardPayments,
    id: CheckoutId,
    purchase: &PurchaseRecord,
) -> Result<String, ApiError> {
    let checkout = accounts.checkout(id).map_err(|error| accounts_error(&error))?;
    let checkout = checkout.ok_or_else(|| ApiError::internal(format!("{} has no checkout record", purchase.id)))?;
    if let Some(page) = checkout.page {
        return Ok(page.url);
    }
    let name = format!("{} pack: {} credits", purchase.pack.tier(), purchase.credits);
    let sold =
        CheckoutItem { name, paid_path: PAID_PATH.to_owned(), cancelled_path: CHECKOUT_CANCELLED_PATH.to_owned() };
    let page = cards.open_page(&checkout, &sold).map_err(|error| unavailable(&error))?;
    let noted = accounts.store_checkout_page(id, page.clone()).map_err(|error| accounts_error(&error))?;
    Ok(noted.page.unwrap_or(page).url)
}

pub(in crate::api) fn unavailable(error: &CardError) -> ApiError {
    let message = "the payment provider cannot be reached at the moment; nothing was charged, try again in 30 seconds";
    ApiError {
        retry_after_sec: Some(30),
        internal: Some(error.to_string()),
        ..ApiError::new(ErrorCode::PaymentUnavailable, message)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_of_the_body_is_named() {
        let read = |body: serde_json::Value| {
            requested_pack(body.as_object().unwrap()).map_err(|error| {
                error.details.into_iter().map(|violation| violation.parameter).collect::<Vec<_>>().join(", ")
            })
        };
        assert_eq!(read(json!({ "pack": "pro" })), Ok(PackName::Pro));
        assert_eq!(read(json!({})), Err("pack".to_owned()));
        assert_eq!(read(json!({ "pack": "gold" })), Err("pack".to_owned()));
        assert_eq!(read(json!({ "pack": 7 })), Err("pack".to_owned()));
        assert_eq!(read(json!({ "pack": "pro", "priceCents": 1 })), Err("priceCents".to_owned()));
        assert_eq!(read(json!({ "credits": 1 })), Err("credits, pack".to_owned()));
    }
}
