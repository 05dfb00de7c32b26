//! The stored records of accounts, keys, purchases, orders and administrative acts. They are JSON,
//! so that fields can be added. Counters and idempotency records change with every call and are
//! binary.

use std::fmt;

use hornbook_base::clock::{UnixDay, UnixMillis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::budget::KeyBudget;
use super::grant::Grant;
use super::ids::{AccountId, CheckoutId, Credits, DraftId, EntryNumber, KeyId, OrderId, PurchaseId};
use super::key::{KeyDigest, KeyKind};
use super::rate_limit::DayCount;
use super::scope::ScopeSet;
use super::sealing::Sealed;
use super::tier::{PackName, Tier};
use crate::actor::Actor;
use crate::state::codec::{Decoder, Malformed, RecordEncoder};
use crate::state::{Index, StateError, StateReader, StateTable, StateWriter};
use crate::visible_text::VisibleText;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountStatus {
    /// Created, not yet approved.
    Pending,
    Approved,
    Disabled,
    /// Its person deleted it; it is never restored.
    Deleted,
}

impl AccountStatus {
    /// Whether its owner may still sign in, at least to see its status.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Approved)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountRecord {
    pub id: AccountId,
    pub name: VisibleText,
    pub status: AccountStatus,
    pub tier: Tier,
    pub company_formed: bool,
    pub created_at: UnixMillis,
    /// Its person created it on the web pages, without the operator.
    #[serde(default)]
    pub signed_up: bool,
    /// Set once: the approval grant is given with it and never again.
    pub approved_at: Option<UnixMillis>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRecord {
    pub id: KeyId,
    pub account: AccountId,
    pub name: VisibleText,
    pub kind: KeyKind,
    pub prefix: String,
    pub digest: KeyDigest,
    pub scopes: ScopeSet,
    pub created_at: UnixMillis,
    pub expires_at: Option<UnixMillis>,
    pub revoked_at: Option<UnixMillis>,
    pub replaces: Option<KeyId>,
    /// The key that created this one. It bounds what this one may spend, and both end together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<KeyId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<KeyBudget>,
    /// How an agent gets its next access token. Only keys of the kind [`KeyKind::Agent`] have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PurchaseStatus {
    Requested,
    Paid,
    Cancelled,
    Refunded,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurchaseRecord {
    pub id: PurchaseId,
    pub account: AccountId,
    pub pack: PackName,
    /// Price and credits are those at the time of the request.
    pub price_cents: u32,
    pub credits: Credits,
    pub status: PurchaseStatus,
    pub requested_at: UnixMillis,
    pub settled_at: Option<UnixMillis>,
    pub entry: Option<EntryNumber>,
    /// The payment provider's own id, so that the same payment never counts twice.
    pub payment_reference: Option<String>,
    /// Credits taken back because of refunds and disputes.
    #[serde(default)]
    pub reversed: Credits,
    /// SHA-256 of the account and the idempotency key of the request. A repeated request finds this
    /// purchase by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<String>,
    /// The status is `Refunded` because of a report of the provider. It is undone if that refund fails.
    #[serde(default)]
    pub refunded_by_provider: bool,
    /// The checkout at which it is paid by card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
}

/// What a checkout pays for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Payable {
    Purchase(PurchaseId),
    Order(OrderId),
}

impl fmt::Display for Payable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Purchase(id) => id.fmt(f),
            Self::Order(id) => id.fmt(f),
        }
    }
}

/// A page on which a payment provider takes a payment for us, and the provider's reports on that payment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckoutRecord {
    pub id: CheckoutId,
    pub pays: Payable,
    pub account: AccountId,
    /// The amount to pay, in US cents.
    pub amount_cents: u32,
    pub opened_at: UnixMillis,
    /// None until the provider has created it.
    pub page: Option<CheckoutPage>,
    /// The provider's id of the payment, once the payment arrived.
    pub payment: Option<String>,
    /// The total that went back to the payer, from the provider's latest report.
    pub refunded_cents: u32,
    /// When the provider wrote that total, in seconds by its clock.
    #[serde(default)]
    pub refunded_at_sec: i64,
    #[serde(default)]
    pub failed_refunds: Vec<FailedRefund>,
    pub disputes: Vec<DisputeRecord>,
    /// Problems that the operator must look at, oldest first.
    pub problems: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckoutPage {
    /// The provider's id.
    pub session: String,
    /// The URL at which the customer pays.
    pub url: String,
}

/// A refund that failed: its money came back to us.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedRefund {
    /// The provider's id.
    pub id: String,
    pub cents: u32,
    /// When it failed, in seconds by the provider's clock.
    pub at_sec: i64,
}

/// Reports on a payment that arrived before the report of the payment itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EarlyReports {
    /// When the last report arrived.
    pub at: UnixMillis,
    pub reports: Vec<PaymentEvent>,
    /// Kept by payment, not in the checkout: a page may be paid twice, and only one payment counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refunded: Option<RefundedTotal>,
}

/// A total of refunds by the provider's clock. The later one counts, and of the same second the larger.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundedTotal {
    pub at_sec: i64,
    pub cents: u32,
}

/// An event of a payment that the provider reports by the payment's id alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PaymentEvent {
    /// The payer claims the money back through the bank. No amount means the whole payment.
    Disputed { dispute: String, amount: Option<u64>, state: DisputeState },
    /// A refund failed and its money came back to us.
    RefundFailed { refund: String, amount: u64, at_sec: i64 },
}

/// A dispute: the payer claims the money back through the bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DisputeRecord {
    /// The provider's id.
    pub id: String,
    pub cents: u32,
    pub state: DisputeState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DisputeState {
    /// The bank holds the money.
    Open,
    Won,
    Lost,
}

impl CheckoutRecord {
    /// The part of the payment that is not ours any more, for now or for good: refunds, and
    /// disputes that are not won.
    pub fn reversed_cents(&self) -> u32 {
        let disputed = self.disputes.iter().filter(|dispute| dispute.state != DisputeState::Won);
        let disputed = disputed.fold(0, |sum: u32, dispute| sum.saturating_add(dispute.cents));
        self.went_back_cents().saturating_add(disputed).min(self.amount_cents)
    }

    /// The amount that went back to the payer and stayed there. A refund that failed before the
    /// provider's latest total is not in that total.
    pub fn went_back_cents(&self) -> u32 {
        let failed = self.failed_refunds.iter().filter(|refund| refund.at_sec >= self.refunded_at_sec);
        failed.fold(self.refunded_cents, |left, refund| left.saturating_sub(refund.cents))
    }

    /// The part of the credits that is taken back for it, rounded in the customer's favour.
    pub(crate) fn reversed_credits(&self, credits: Credits) -> Credits {
        match u64::from(self.amount_cents) {
            0 => Credits(0),
            amount => {
                let reversed = u64::from(credits.0) * u64::from(self.reversed_cents()) / amount;
                Credits(u32::try_from(reversed).unwrap_or(u32::MAX))
            }
        }
    }
}

impl PurchaseRecord {
    /// Credits that were taken back. For a refunded purchase, these are all its credits, even if it
    /// was stored before `reversed` existed.
    pub(crate) fn taken_back(&self) -> Credits {
        if self.status == PurchaseStatus::Refunded { self.credits } else { self.reversed }
    }
}

/// The stages of a formation order, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderStage {
    Details,
    Payment,
    Setup,
    FinalReview,
    Filing,
    Completed,
}

impl OrderStage {
    pub const ALL: [Self; 6] =
        [Self::Details, Self::Payment, Self::Setup, Self::FinalReview, Self::Filing, Self::Completed];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Details => "details",
            Self::Payment => "payment",
            Self::Setup => "setup",
            Self::FinalReview => "final_review",
            Self::Filing => "filing",
            Self::Completed => "completed",
        }
    }

    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|stage| stage.name() == text);
        found.ok_or_else(|| format!("'{text}' is not a stage; the stages are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderRecord {
    pub id: OrderId,
    pub account: AccountId,
    pub entity_name: VisibleText,
    pub entity_type: String,
    pub jurisdiction: String,
    /// When each stage was reached; the last is the current one.
    pub stages: Vec<StageReached>,
    /// SHA-256 of the tracking token, which was shown once.
    pub token: KeyDigest,
    /// The intake that was handed over; None for an order that the operator opened.
    #[serde(default)]
    pub intake: Option<Sealed>,
    /// The price that was shown, in US cents; None if no price was shown.
    #[serde(default)]
    pub price_cents: Option<u32>,
    #[serde(default)]
    pub payment: Option<OrderPayment>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StageReached {
    pub stage: OrderStage,
    pub at: UnixMillis,
    /// Who moved the order to this stage; unknown for moves from before this was recorded.
    #[serde(default)]
    pub actor: Option<Actor>,
}

/// The payment of an order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OrderPayment {
    pub at: UnixMillis,
    /// Who confirmed the payment.
    pub actor: Actor,
    /// The payment provider's own id, so that the same payment never counts twice.
    pub reference: Option<String>,
}

impl OrderRecord {
    pub fn stage(&self) -> OrderStage {
        self.stages.last().map_or(OrderStage::Details, |reached| reached.stage)
    }
}

/// An intake that waits for a person to review it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftRecord {
    pub id: DraftId,
    pub account: AccountId,
    pub created_at: UnixMillis,
    pub expires_at: UnixMillis,
    pub state: DraftState,
    /// For a draft with an idempotency key: a keyed fingerprint of its intake. It recognizes a
    /// repeated request and reveals nothing about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DraftState {
    Open(Sealed),
    /// The content belongs to the order now. Kept until the draft would have expired, for anyone
    /// who opens the link again.
    Accepted {
        order: OrderId,
        at: UnixMillis,
    },
}

/// The last number given to each kind of record.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct LastIds {
    pub(crate) account: u32,
    pub(crate) key: u32,
    pub(crate) purchase: u32,
    #[serde(default)]
    pub(crate) watch: u32,
}

pub(crate) const LAST_IDS_KEY: &[u8] = b"last-ids";

pub(crate) fn put_json<T: Serialize>(
    writing: &mut StateWriter,
    table: StateTable,
    key: &[u8],
    record: &T,
) -> Result<(), StateError> {
    // Records are structs of plain fields; serializing them to memory cannot fail.
    let json = serde_json::to_vec(record).map_err(|_| StateError::bad_record(table.name(), key))?;
    writing.put(table, key, &json)
}

pub(crate) fn from_json<T: DeserializeOwned>(table: StateTable, key: &[u8], payload: &[u8]) -> Result<T, StateError> {
    serde_json::from_slice(payload).map_err(|_| StateError::bad_record(table.name(), key))
}

pub(crate) fn get_json<T: DeserializeOwned>(
    writing: &StateWriter,
    table: StateTable,
    key: &[u8],
) -> Result<Option<T>, StateError> {
    writing.get(table, key)?.map(|payload| from_json(table, key, &payload)).transpose()
}

/// Reads the records that an index has for an owner.
pub(crate) fn owned_json<T: DeserializeOwned>(
    writing: &StateWriter,
    index: Index,
    owner: &impl fmt::Display,
) -> Result<Vec<T>, StateError> {
    all_from_json(index, &writing.owned_by(index, &owner.to_string())?)
}

/// Parses the records that an index found.
pub(crate) fn all_from_json<T: DeserializeOwned>(
    index: Index,
    found: &[(Vec<u8>, Vec<u8>)],
) -> Result<Vec<T>, StateError> {
    found.iter().map(|(key, payload)| from_json(index.table(), key, payload)).collect()
}

pub(crate) fn read_json<T: DeserializeOwned>(
    reading: &StateReader,
    table: StateTable,
    key: &[u8],
) -> Result<Option<T>, StateError> {
    reading.get(table, key)?.map(|payload| from_json(table, key, &payload)).transpose()
}

pub(crate) fn read_all_json<T: DeserializeOwned>(
    reading: &StateReader,
    table: StateTable,
) -> Result<Vec<T>, StateError> {
    let mut records = Vec::new();
    reading.scan(table, &[], &mut |key, payload| {
        records.push(from_json(table, key, payload)?);
        Ok(true)
    })?;
    Ok(records)
}

/// One record of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditRecord {
    /// RFC 3339, UTC.
    pub at: String,
    pub actor: Actor,
    /// Named as on the command line.
    pub act: String,
    /// The object of the act, with amounts and reasons.
    pub on: String,
}

/// How often a key was used on its last days, and when it was last used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CounterRecord {
    pub(crate) last_used: UnixMillis,
    pub(crate) days: Vec<DayCount>,
}

impl CounterRecord {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.signed(self.last_used.0);
        for count in &self.days {
            encoder.signed(count.day.0.into());
            encoder.unsigned(count.calls.into());
        }
        encoder.bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let last_used = UnixMillis(decoder.signed()?);
        let mut days = Vec::new();
        while !decoder.is_empty() {
            days.push(DayCount { day: UnixDay(decoder.integer()?), calls: decoder.number()? });
        }
        Ok(Self { last_used, days })
    }
}

/// The debit of an idempotency key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IdempotencyRecord {
    pub(crate) at: UnixMillis,
    pub(crate) request: [u8; 16],
    pub(crate) entry: EntryNumber,
    pub(crate) cost: Credits,
}

impl IdempotencyRecord {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.raw(&self.request);
        encoder.signed(self.at.0);
        encoder.unsigned(self.entry.0);
        encoder.unsigned(self.cost.0.into());
        encoder.bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let record = Self {
            request: decoder.array()?,
            at: UnixMillis(decoder.signed()?),
            entry: EntryNumber(decoder.unsigned()?),
            cost: Credits(decoder.number()?),
        };
        decoder.finish()?;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_records_round_trip() {
        let counter = CounterRecord {
            last_used: UnixMillis(1_700_000_000_000),
            days: vec![DayCount { day: UnixDay(-3), calls: 7 }, DayCount { day: UnixDay(20_000), calls: 1000 }],
        };
        assert_eq!(CounterRecord::from_bytes(&counter.to_bytes()), Ok(counter));
        let record = IdempotencyRecord { at: UnixMillis(5), request: [3; 16], entry: EntryNumber(9), cost: Credits(5) };
        assert_eq!(IdempotencyRecord::from_bytes(&record.to_bytes()), Ok(record));
        assert_eq!(IdempotencyRecord::from_bytes(&record.to_bytes()[1..]), Err(Malformed));
    }
}
