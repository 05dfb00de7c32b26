//! A payment counts once, whatever it pays.

use crate::accounts::error::ChangeError;
use crate::accounts::ledger::poster::Poster;
use crate::accounts::records::{OrderRecord, PurchaseRecord, from_json};
use crate::state::Table;

/// Refuses a payment that paid something already.
pub(super) fn refuse_counted(poster: &Poster<'_>, reference: Option<&str>) -> Result<(), ChangeError> {
    let Some(reference) = reference else { return Ok(()) };
    let mut paid = None;
    poster.writing.scan(Table::Purchases, &[], &mut |key, payload| {
        let record: PurchaseRecord = from_json(Table::Purchases, key, payload)?;
        if record.payment_reference.as_deref() == Some(reference) {
            paid = Some((record.id.to_string(), "purchase list"));
        }
        Ok(paid.is_none())
    })?;
    poster.writing.scan(Table::Orders, &[], &mut |key, payload| {
        let record: OrderRecord = from_json(Table::Orders, key, payload)?;
        if record.payment.is_some_and(|payment| payment.reference.as_deref() == Some(reference)) {
            paid = Some((format!("order {}", record.id), "order list"));
        }
        Ok(paid.is_none())
    })?;
    let Some((paid, list)) = paid else { return Ok(()) };
    Err(ChangeError::Refused(format!(
        "the payment {reference} paid {paid} already; a payment counts once, look at both with '{list}'"
    )))
}
