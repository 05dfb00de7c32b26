//! Ensures that a payment counts once, whatever it pays for.

use crate::error::ChangeError;
use crate::ledger::poster::LedgerTransaction;
use crate::records::{Payable, get_json, put_json};
use crate::state::StateTable;

/// What a payment has already paid for.
pub(super) fn paid_by(poster: &LedgerTransaction<'_>, reference: &str) -> Result<Option<Payable>, ChangeError> {
    Ok(get_json(&poster.writing, StateTable::Payments, reference.as_bytes())?)
}

/// Records what a payment pays for, and refuses a payment that already paid for something. All code
/// that gives credits or moves an order on for a payment calls this; nothing else writes the table.
pub(super) fn count(
    poster: &mut LedgerTransaction<'_>,
    reference: Option<&str>,
    pays: Payable,
) -> Result<(), ChangeError> {
    let Some(reference) = reference else { return Ok(()) };
    if let Some(paid) = paid_by(poster, reference)? {
        return Err(ChangeError::Refused(already_paid(reference, paid)));
    }
    Ok(put_json(&mut poster.writing, StateTable::Payments, reference.as_bytes(), &pays)?)
}

pub(super) fn already_paid(reference: &str, paid: Payable) -> String {
    let (paid, list) = match paid {
        Payable::Purchase(id) => (id.to_string(), "purchase list"),
        Payable::Order(id) => (format!("order {id}"), "order list"),
    };
    format!("payment {reference} was already used for {paid}; a payment counts once, check both with '{list}'")
}
