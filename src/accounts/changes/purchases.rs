//! Purchases of packs: requested, then paid or cancelled, possibly refunded.

use super::credits::correction;
use super::{
    Act, account, check_amount, check_text, last_ids, note, nothing_more, put_account, record as audit, updated,
};
use crate::accounts::Accounts;
use crate::accounts::error::ChangeError;
use crate::accounts::ids::{AccountId, EntryNumber, PurchaseId};
use crate::accounts::ledger::entry::{EntryKind, Reference};
use crate::accounts::ledger::poster::Poster;
use crate::accounts::records::{
    LAST_IDS_KEY, PurchaseRecord, PurchaseStatus, from_json, get_json, put_json, read_json,
};
use crate::accounts::tier::PackName;
use crate::state::Table;

impl Accounts {
    pub fn request_purchase(&self, id: AccountId, pack: PackName, act: &Act) -> Result<PurchaseRecord, ChangeError> {
        let terms = *self.settings().tariff.pack(pack);
        check_amount(terms.credits)?;
        let (at, act) = (act.at, act.clone());
        self.change(move |poster| {
            account(poster, id)?;
            let mut ids = last_ids(poster)?;
            ids.purchase += 1;
            let record = PurchaseRecord {
                id: PurchaseId(ids.purchase),
                account: id,
                pack,
                price_cents: terms.price_cents,
                credits: terms.credits,
                status: PurchaseStatus::Requested,
                requested_at: at,
                settled_at: None,
                entry: None,
                payment_reference: None,
            };
            put_json(&mut poster.writing, Table::Meta, LAST_IDS_KEY, &ids)?;
            put_purchase(poster, &record)?;
            let on = format!("{} of {id}, pack {}", record.id, pack.tier());
            audit(poster, &act, "purchase request", on)?;
            Ok((record, nothing_more()))
        })
    }

    /// The payment arrived: credits and tier change with it, once. The same payment reported again changes nothing.
    pub fn pay_purchase(
        &self,
        id: PurchaseId,
        payment_reference: Option<String>,
        act: &Act,
    ) -> Result<PurchaseRecord, ChangeError> {
        if let Some(reference) = &payment_reference {
            check_text("payment reference", reference)?;
        }
        let act = act.clone();
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            match record.status {
                PurchaseStatus::Requested => {}
                PurchaseStatus::Paid
                    if payment_reference.is_some() && payment_reference == record.payment_reference =>
                {
                    return Ok((record, nothing_more()));
                }
                status => return Err(refuse_purchase(id, status, "paid")),
            }
            if let Some(other) = paid_by(poster, payment_reference.as_deref())? {
                return Err(ChangeError::Refused(format!(
                    "the payment {} paid {other} already; a payment counts once, look at both with 'purchase list'",
                    payment_reference.unwrap_or_default()
                )));
            }
            let credits = i64::from(record.credits.0);
            let note = note(&act, format!("pack {}", record.pack.tier()))?;
            let reference = Reference::Purchase(id);
            let entry =
                poster.append(correction(record.account, EntryKind::Purchase, credits, act.at, reference, note));
            record.status = PurchaseStatus::Paid;
            record.settled_at = Some(act.at);
            record.entry = Some(entry.number);
            record.payment_reference = payment_reference;
            put_purchase(poster, &record)?;
            audit(poster, &act, "purchase approve", format!("{id} of {}, {credits} credits", record.account))?;
            let mut account = account(poster, record.account)?;
            account.tier = account.tier.max(record.pack.tier());
            put_account(poster, &account)?;
            Ok((record, updated(account, credits)))
        })
    }

    pub fn cancel_purchase(&self, id: PurchaseId, act: &Act) -> Result<PurchaseRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Requested {
                return Err(refuse_purchase(id, record.status, "cancelled"));
            }
            record.status = PurchaseStatus::Cancelled;
            record.settled_at = Some(act.at);
            put_purchase(poster, &record)?;
            audit(poster, &act, "purchase cancel", format!("{id} of {}", record.account))?;
            Ok((record, nothing_more()))
        })
    }

    /// Takes the credits of a purchase back, if they are still there. The tier stays: it is the highest ever bought.
    pub fn refund_purchase(&self, id: PurchaseId, reason: String, act: &Act) -> Result<EntryNumber, ChangeError> {
        let found = self.shared.with_reading(|reading| read_json(reading, Table::Purchases, &id.to_key()))?;
        let record: PurchaseRecord = found.ok_or_else(|| ChangeError::not_found("purchase", id))?;
        let reference = Reference::Purchase(id);
        self.debit(record.account, EntryKind::Refund, record.credits, reference, reason, act, move |poster| {
            let mut record = purchase(poster, id)?;
            if record.status != PurchaseStatus::Paid {
                return Err(refuse_purchase(id, record.status, "refunded"));
            }
            record.status = PurchaseStatus::Refunded;
            put_purchase(poster, &record)?;
            Ok(())
        })
    }
}

fn purchase(poster: &Poster<'_>, id: PurchaseId) -> Result<PurchaseRecord, ChangeError> {
    get_json(&poster.writing, Table::Purchases, &id.to_key())?.ok_or_else(|| ChangeError::not_found("purchase", id))
}

/// The purchase that a payment paid, whatever became of that purchase.
fn paid_by(poster: &Poster<'_>, payment: Option<&str>) -> Result<Option<PurchaseId>, ChangeError> {
    let Some(payment) = payment else { return Ok(None) };
    let mut found = None;
    poster.writing.scan(Table::Purchases, &[], &mut |key, payload| {
        let record: PurchaseRecord = from_json(Table::Purchases, key, payload)?;
        if record.payment_reference.as_deref() == Some(payment) {
            found = Some(record.id);
        }
        Ok(found.is_none())
    })?;
    Ok(found)
}

fn put_purchase(poster: &mut Poster<'_>, record: &PurchaseRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, Table::Purchases, &record.id.to_key(), record)?)
}

fn refuse_purchase(id: PurchaseId, status: PurchaseStatus, wanted: &str) -> ChangeError {
    let status = format!("{status:?}").to_lowercase();
    ChangeError::Refused(format!(
        "purchase {id} is {status}, it cannot be {wanted}; 'purchase list' shows those that can"
    ))
}
