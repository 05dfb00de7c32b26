//! Purchases of packs: requested, then paid or cancelled, possibly refunded.

use hornbook_base::clock::UnixMillis;
use hornbook_base::hex;
use sha2::{Digest, Sha256};

use super::act::{ActContext, audit, check_amount, note};
use super::checkouts::{new_checkout_id, open_checkout};
use super::payments::{self, ConfirmedByHand};
use super::run::{account, last_ids, no_memory_effect, put_account, update_account_after};
use crate::Accounts;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, Credits, EntryNumber, PurchaseId};
use crate::ledger::entry::{Draft, EntryKind, Reference};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{
    AccountRecord, AccountStatus, LAST_IDS_KEY, Payable, PurchaseRecord, PurchaseStatus, get_json, owned_json,
    put_json, read_json,
};
use crate::state::{Index, StateTable};
use crate::tier::{Pack, PackName};

/// The maximum number of purchases of an account that wait for their payment.
pub const OPEN_PURCHASES_MAX: usize = 10;

/// How long a provider's page is open. A payment at the last moment still counts.
const PAGE_MILLIS: i64 = 24 * 3_600_000;

/// A purchase that a customer requests.
#[derive(Clone, Debug)]
pub struct NewPurchase {
    pub account: AccountId,
    pub pack: PackName,
    /// The request's idempotency key.
    pub retry: Option<String>,
    /// Paid on a page of the payment provider, not by arrangement with the operator.
    pub by_card: bool,
}

/// The result of a purchase request.
#[derive(Clone, Debug)]
pub enum OpenedPurchase {
    New(Box<PurchaseRecord>),
    /// The idempotency key was used for this purchase before.
    Known(Box<PurchaseRecord>),
    /// The idempotency key was used for another pack.
    OtherPack,
    /// [`OPEN_PURCHASES_MAX`] purchases are already waiting.
    TooManyOpen,
}

impl Accounts {
    pub fn request_purchase(
        &self,
        id: AccountId,
        pack: PackName,
        act: &ActContext,
    ) -> Result<PurchaseRecord, ChangeError> {
        let terms = *self.settings().tariff.pack(pack);
        let act = act.clone();
        self.change(move |poster| {
            let record = new_purchase(poster, id, pack, &terms, &act)?;
            put_purchase(poster, &record)?;
            Ok((record, no_memory_effect()))
        })
    }

    /// Opens a purchase for a customer. The same request, sent again with its idempotency key,
    /// returns the same purchase.
    pub fn open_purchase(
        &self,
        wish: NewPurchase,
        act: &ActContext,
        entropy: &mut dyn Entropy,
    ) -> Result<OpenedPurchase, ChangeError> {
        let terms = *self.settings().tariff.pack(wish.pack);
        let checkout = if wish.by_card { Some(new_checkout_id(entropy)?) } else { None };
        let retry = wish.retry.map(|key| hex::encode(&Sha256::digest(format!("{}\0{key}", wish.account))));
        let act = act.clone();
        self.change(move |poster| {
            if let Some(retry) = &retry
                && let Some(mut known) =
                    owned_json::<PurchaseRecord>(&poster.writing, Index::PurchasesByRetry, retry)?.pop()
            {
                cancel_if_page_is_closed(poster, &mut known, act.at)?;
                let opened = match known.pack == wish.pack {
                    true => OpenedPurchase::Known(Box::new(known)),
                    false => OpenedPurchase::OtherPack,
                };
                return Ok((opened, no_memory_effect()));
            }
            let mut open = 0;
            let waiting: Vec<PurchaseRecord> = owned_json(&poster.writing, Index::WaitingPurchases, &wish.account)?;
            for mut known in waiting {
                cancel_if_page_is_closed(poster, &mut known, act.at)?;
                open += usize::from(known.status == PurchaseStatus::Requested);
            }
            if open >= OPEN_PURCHASES_MAX {
                return Ok((OpenedPurchase::TooManyOpen, no_memory_effect()));
            }
            let mut record = new_purchase(poster, wish.account, wish.pack, &terms, &act)?;
            record.retry = retry;
            record.checkout = checkout;
            put_purchase(poster, &record)?;
            if let Some(checkout) = checkout {
                open_checkout(
                    poster,
                    checkout,
                    Payable::Purchase(record.id),
                    record.account,
                    record.price_cents,
                    act.at,
                )?;
            }
            Ok((OpenedPurchase::New(Box::new(record)), no_memory_effect()))
        })
    }

    /// Records the payment of a purchase. Credits and tier change with it, once. The same payment
    /// reported again changes nothing. A purchase with a payment page needs a reference.
    pub fn pay_purchase(
        &self,
        id: PurchaseId,
        payment_reference: Option<String>,
        act: &ActContext,
    ) -> Result<PurchaseRecord, ChangeError> {
        let confirmed = ConfirmedByHand::new(payment_reference)?;
        let act = act.clone();
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            match record.status {
                PurchaseStatus::Requested => {}
                PurchaseStatus::Paid if confirmed.repeats(record.payment_reference.as_deref()) => {
                    return Ok((record, no_memory_effect()));
                }
                status => return Err(refuse_purchase(id, status, "paid")),
            }
            if account(poster, record.account)?.status == AccountStatus::Deleted {
                return Err(ChangeError::Refused(format!(
                    "{} was deleted by its owner, so the credits would be lost; refund the money",
                    record.account
                )));
            }
            let reference = confirmed.reference_for(Payable::Purchase(id), record.checkout.is_some())?;
            let account = credit(poster, &mut record, reference, &act)?;
            let credits = record.credits;
            audit(poster, &act, "purchase approve", &[&id, &" of ", &record.account, &", ", &credits, &" credits"])?;
            Ok((record, update_account_after(account, credits.0.into())))
        })
    }

    pub fn cancel_purchase(&self, id: PurchaseId, act: &ActContext) -> Result<PurchaseRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Requested {
                return Err(refuse_purchase(id, record.status, "cancelled"));
            }
            record.status = PurchaseStatus::Cancelled;
            record.settled_at = Some(act.at);
            put_purchase(poster, &record)?;
            audit(poster, &act, "purchase cancel", &[&id, &" of ", &record.account])?;
            Ok((record, no_memory_effect()))
        })
    }

    /// Takes the credits of a purchase back, if they are still there. The tier stays, because it is
    /// the highest ever bought.
    pub fn refund_purchase(
        &self,
        id: PurchaseId,
        reason: String,
        act: &ActContext,
    ) -> Result<EntryNumber, ChangeError> {
        let found = self.shared.with_reading(|reading| read_json(reading, StateTable::Purchases, &id.to_key()))?;
        let record: PurchaseRecord = found.ok_or_else(|| ChangeError::not_found("purchase", id))?;
        let reference = Reference::Purchase(id);
        self.debit(record.account, EntryKind::Refund, record.credits, reference, reason, act, move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Paid {
                return Err(refuse_purchase(id, record.status, "refunded"));
            }
            if record.reversed.0 > 0 {
                return Err(ChangeError::Refused(format!(
                    "{} credits of purchase {id} were already taken back with its payment; take back the rest with \
                     'ledger adjust'",
                    record.reversed
                )));
            }
            record.status = PurchaseStatus::Refunded;
            record.reversed = record.credits;
            put_purchase(poster, &record)?;
            Ok(())
        })
    }
}

fn new_purchase(
    poster: &mut LedgerTransaction<'_>,
    owner: AccountId,
    pack: PackName,
    terms: &Pack,
    act: &ActContext,
) -> Result<PurchaseRecord, ChangeError> {
    check_amount(terms.credits.0.into())?;
    account(poster, owner)?;
    let mut ids = last_ids(poster)?;
    ids.purchase += 1;
    put_json(&mut poster.writing, StateTable::Meta, LAST_IDS_KEY, &ids)?;
    let record = PurchaseRecord {
        id: PurchaseId(ids.purchase),
        account: owner,
        pack,
        price_cents: terms.price_cents,
        credits: terms.credits,
        status: PurchaseStatus::Requested,
        requested_at: act.at,
        settled_at: None,
        entry: None,
        payment_reference: None,
        reversed: Credits(0),
        retry: None,
        refunded_by_provider: false,
        checkout: None,
    };
    audit(poster, act, "purchase request", &[&record.id, &" of ", &owner, &", pack ", &pack.tier()])?;
    Ok(record)
}

/// Cancels a purchase whose page is closed: the provider's notice of that may have been lost.
fn cancel_if_page_is_closed(
    poster: &mut LedgerTransaction<'_>,
    known: &mut PurchaseRecord,
    at: UnixMillis,
) -> Result<(), ChangeError> {
    let is_closed = known.checkout.is_some() && known.requested_at.plus_millis(PAGE_MILLIS) < at;
    if known.status == PurchaseStatus::Requested && is_closed {
        known.status = PurchaseStatus::Cancelled;
        known.settled_at = Some(at);
        put_purchase(poster, known)?;
    }
    Ok(())
}

/// Posts the credits of a purchase, and raises the account's tier to that of the pack.
pub(super) fn credit(
    poster: &mut LedgerTransaction<'_>,
    record: &mut PurchaseRecord,
    payment_reference: String,
    act: &ActContext,
) -> Result<AccountRecord, ChangeError> {
    payments::count(poster, &payment_reference, Payable::Purchase(record.id))?;
    let note = note(act, format!("pack {}", record.pack.tier()))?;
    let (credits, reference) = (i64::from(record.credits.0), Reference::Purchase(record.id));
    let entry = poster.append(Draft::correction(record.account, EntryKind::Purchase, credits, act.at, reference, note));
    record.status = PurchaseStatus::Paid;
    record.settled_at = Some(act.at);
    record.entry = Some(entry.number);
    record.payment_reference = Some(payment_reference);
    put_purchase(poster, record)?;
    let mut account = account(poster, record.account)?;
    account.tier = account.tier.max(record.pack.tier());
    put_account(poster, &account)?;
    Ok(account)
}

pub(super) fn purchase(poster: &LedgerTransaction<'_>, id: PurchaseId) -> Result<PurchaseRecord, ChangeError> {
    get_json(&poster.writing, StateTable::Purchases, &id.to_key())?
        .ok_or_else(|| ChangeError::not_found("purchase", id))
}

pub(super) fn put_purchase(poster: &mut LedgerTransaction<'_>, record: &PurchaseRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, StateTable::Purchases, &record.id.to_key(), record)?)
}

fn refuse_purchase(id: PurchaseId, status: PurchaseStatus, wanted: &str) -> ChangeError {
    let status = format!("{status:?}").to_lowercase();
    ChangeError::Refused(format!(
        "purchase {id} is {status} and cannot be {wanted}; 'purchase list' shows the status of every purchase"
    ))
}
