//! The price of an order.

use super::intake::Intake;
use super::requirements::{Figure, Requirements};

/// The fee of this service plus the fees of the state. None if a fee of the state is not known
/// exactly beforehand.
pub fn total_cents(requirements: &Requirements, intake: &Intake, service_fee_cents: u32) -> Option<u32> {
    let expedite = match &intake.expedite {
        None => 0,
        Some(wanted) => {
            let mut options = requirements.expedite_options.iter().flatten();
            exact(&options.find(|option| option.name.eq_ignore_ascii_case(wanted))?.fee)?
        }
    };
    let fees = exact(&requirements.filing_fee)?.checked_add(expedite)?;
    u32::try_from(fees).ok()?.checked_add(service_fee_cents)
}

fn exact(fee: &Figure) -> Option<u64> {
    fee.amount_cents.filter(|_| !fee.is_minimum)
}
