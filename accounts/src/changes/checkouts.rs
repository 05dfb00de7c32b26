//! Checkouts: pages on which a payment provider takes payments for us. There is one for each
//! purchase by card, and one at a time for each unpaid order.

use hornbook_base::clock::UnixMillis;

use super::act::{ActContext, audit};
use super::orders::random_uuid;
use super::run::no_memory_effect;
use crate::Accounts;
use crate::entropy::Entropy;
use crate::error::ChangeError;
use crate::ids::{AccountId, CheckoutId, OrderId};
use crate::ledger::poster::LedgerTransaction;
use crate::records::{CheckoutPage, CheckoutRecord, OrderRecord, Payable, get_json, owned_json, put_json};
use crate::state::{Index, StateTable};
use crate::visible_text::VisibleText;

/// A provider's page is open for a day; an older page than this is not handed out any more.
const PAGE_USED_MILLIS: i64 = 23 * 3_600_000;

impl Accounts {
    /// Returns a checkout for an order that waits for its payment: an existing one whose page is
    /// still open, or a new one.
    pub fn open_order_checkout(
        &self,
        id: OrderId,
        amount_cents: u32,
        at: UnixMillis,
        entropy: &mut dyn Entropy,
    ) -> Result<CheckoutRecord, ChangeError> {
        let fresh = new_checkout_id(entropy)?;
        self.change(move |poster| {
            let found: Option<OrderRecord> = get_json(&poster.writing, StateTable::Orders, id.0.as_bytes())?;
            let ordered = found.ok_or_else(|| ChangeError::not_found("order", id))?;
            if let Some(payment) = &ordered.payment {
                return Err(ChangeError::Refused(format!("order {id} was already paid, on {}", payment.at)));
            }
            let known: Vec<CheckoutRecord> = owned_json(&poster.writing, Index::CheckoutsByOrder, &id)?;
            let open = known.into_iter().find(|known| {
                let is_open = at < known.opened_at.plus_millis(PAGE_USED_MILLIS);
                known.payment.is_none() && known.amount_cents == amount_cents && is_open
            });
            let record = match open {
                Some(open) => open,
                None => open_checkout(poster, fresh, Payable::Order(id), ordered.account, amount_cents, at)?,
            };
            Ok((record, no_memory_effect()))
        })
    }

    /// Stores the page that the provider created.
    pub fn store_checkout_page(&self, id: CheckoutId, page: CheckoutPage) -> Result<CheckoutRecord, ChangeError> {
        VisibleText::check("id of the provider's page", &page.session)?;
        self.change(move |poster| {
            let mut record = checkout(poster, id)?.ok_or_else(|| ChangeError::not_found("checkout", id))?;
            record.page.get_or_insert(page);
            put_checkout(poster, &record)?;
            Ok((record, no_memory_effect()))
        })
    }

    /// Closes the first `shown` problems of a payment, which the operator has solved. Others may
    /// have been added since.
    pub fn close_payment_problems(
        &self,
        id: CheckoutId,
        shown: usize,
        act: &ActContext,
    ) -> Result<CheckoutRecord, ChangeError> {
        let act = act.clone();
        self.change(move |poster| {
            let mut record = checkout(poster, id)?.ok_or_else(|| ChangeError::not_found("checkout", id))?;
            let closed = record.problems.drain(..shown.min(record.problems.len())).count();
            if closed == 0 {
                return Err(ChangeError::Refused(format!(
                    "the checkout {id} has no problem; 'inbox' shows those that have"
                )));
            }
            put_checkout(poster, &record)?;
            audit(poster, &act, "inbox --done", &[&record.pays, &" of ", &record.account])?;
            Ok((record, no_memory_effect()))
        })
    }
}

pub(super) fn new_checkout_id(entropy: &mut dyn Entropy) -> Result<CheckoutId, ChangeError> {
    Ok(CheckoutId(random_uuid(entropy)?))
}

pub(super) fn open_checkout(
    poster: &mut LedgerTransaction<'_>,
    id: CheckoutId,
    pays: Payable,
    account: AccountId,
    amount_cents: u32,
    at: UnixMillis,
) -> Result<CheckoutRecord, ChangeError> {
    let record = CheckoutRecord {
        id,
        pays,
        account,
        amount_cents,
        opened_at: at,
        page: None,
        payment: None,
        refunded_cents: 0,
        refunded_at_sec: 0,
        failed_refunds: Vec::new(),
        disputes: Vec::new(),
        problems: Vec::new(),
    };
    put_checkout(poster, &record)?;
    Ok(record)
}

pub(super) fn checkout(poster: &LedgerTransaction<'_>, id: CheckoutId) -> Result<Option<CheckoutRecord>, ChangeError> {
    Ok(get_json(&poster.writing, StateTable::Checkouts, id.0.as_bytes())?)
}

pub(super) fn put_checkout(poster: &mut LedgerTransaction<'_>, record: &CheckoutRecord) -> Result<(), ChangeError> {
    Ok(put_json(&mut poster.writing, StateTable::Checkouts, record.id.0.as_bytes(), record)?)
}
