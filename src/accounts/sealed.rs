//! What of the state is sealed, whether or not its key is there: open drafts, and the intakes of orders.

use super::records::{DraftRecord, DraftState, OrderRecord, from_json};
use crate::state::{Reading, StateError, Table};

/// How much is sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SealedCount {
    pub drafts: usize,
    pub intakes: usize,
}

impl SealedCount {
    pub(crate) fn of(reading: &Reading) -> Result<Self, StateError> {
        let mut count = Self::default();
        reading.scan(Table::Drafts, &[], &mut |key, payload| {
            let draft: DraftRecord = from_json(Table::Drafts, key, payload)?;
            count.drafts += usize::from(matches!(draft.state, DraftState::Open(_)));
            Ok(true)
        })?;
        reading.scan(Table::Orders, &[], &mut |key, payload| {
            let order: OrderRecord = from_json(Table::Orders, key, payload)?;
            count.intakes += usize::from(order.intake.is_some());
            Ok(true)
        })?;
        Ok(count)
    }

    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }
}
