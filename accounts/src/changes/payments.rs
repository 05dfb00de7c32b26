//! Ensures that a payment counts once, whatever it pays for. Each credit for money has a row under its
//! payment's reference, also the one that an operator confirms by hand.

use crate::error::ChangeError;
use crate::ledger::poster::LedgerTransaction;
use crate::records::{Payable, get_json, put_json};
use crate::state::StateTable;
use crate::visible_text::VisibleText;

/// The beginning of the references of payments that the operator confirmed without one.
const BY_HAND: &str = "by hand: ";

/// The operator's confirmation that something was paid.
pub(super) struct ConfirmedByHand {
    reference: Option<String>,
}

impl ConfirmedByHand {
    pub(super) fn new(reference: Option<String>) -> Result<Self, ChangeError> {
        if let Some(reference) = &reference {
            VisibleText::check("payment reference", reference)?;
            if reference.starts_with(BY_HAND) {
                return Err(ChangeError::Refused(format!(
                    "a payment reference cannot begin with '{BY_HAND}', which marks payments without a reference; give \
                     the id of the payment"
                )));
            }
        }
        Ok(Self { reference })
    }

    /// Whether this confirms again what was counted under this reference.
    pub(super) fn repeats(&self, counted: Option<&str>) -> bool {
        self.reference.is_some() && self.reference.as_deref() == counted
    }

    /// The reference under which the payment counts. Without a given one, it is unique to what was
    /// paid. If there is a payment page for it, the payer may have used that page, so a reference
    /// must tell whether the provider reports the same payment later.
    pub(super) fn reference_for(self, pays: Payable, has_page: bool) -> Result<String, ChangeError> {
        match self.reference {
            Some(reference) => Ok(reference),
            None if has_page => Err(ChangeError::Refused(format!(
                "{pays} has a page for payments by card, so a confirmation without a reference could count a payment \
                 twice; give a reference: the payment's id at the provider ('pi_...') if it was paid there, otherwise \
                 that of the bank transfer or receipt"
            ))),
            None => Ok(format!("{BY_HAND}{pays}")),
        }
    }
}

/// What a payment has already paid for.
pub(super) fn paid_by(poster: &LedgerTransaction<'_>, reference: &str) -> Result<Option<Payable>, ChangeError> {
    Ok(get_json(&poster.writing, StateTable::Payments, reference.as_bytes())?)
}

/// Records what a payment pays for, and refuses a payment that already paid for something. All code
/// that gives credits or moves an order on for a payment calls this; nothing else writes the table.
pub(super) fn count(poster: &mut LedgerTransaction<'_>, reference: &str, pays: Payable) -> Result<(), ChangeError> {
    if let Some(paid) = paid_by(poster, reference)? {
        return Err(ChangeError::Refused(already_paid(reference, paid)));
    }
    Ok(put_json(&mut poster.writing, StateTable::Payments, reference.as_bytes(), &pays)?)
}

pub(super) fn already_paid(reference: &str, paid: Payable) -> String {
    let list = match paid {
        Payable::Purchase(_) => "purchase list",
        Payable::Order(_) => "order list",
    };
    format!("payment {reference} was already used for {}; a payment counts once, check both with '{list}'", named(paid))
}

/// What the operator should do about a payment by card of something that was marked as paid before:
/// the program cannot know whether both are the same payment.
pub(super) fn paid_before(payment: &str, counted: Option<&str>) -> String {
    match counted.filter(|counted| !counted.starts_with(BY_HAND)) {
        Some(counted) => format!(
            "it was paid by {payment}, but it was already marked as paid by {counted}; refund {payment}, unless both are \
             the same payment"
        ),
        None => format!(
            "it was paid by {payment}, but it was already marked as paid by hand, without a reference; refund {payment}, \
             unless it is the payment that was confirmed"
        ),
    }
}

pub(super) fn named(pays: Payable) -> String {
    match pays {
        Payable::Purchase(id) => id.to_string(),
        Payable::Order(id) => format!("order {id}"),
    }
}
