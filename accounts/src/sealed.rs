//! Lists the sealed data in the state, with or without its key: open drafts, and the intakes of orders.

use hornbook_base::clock::UnixMillis;

use super::ids::OrderId;
use super::records::{DraftRecord, DraftState, OrderRecord, from_json};
use crate::state::{StateError, StateReader, StateTable};

/// The number of sealed records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SealedCount {
    pub drafts: usize,
    pub intakes: usize,
}

impl SealedCount {
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// The records that are sealed or contain sealed data.
#[derive(Default)]
pub(crate) struct SealedRecords {
    /// The key and the expiry time of each open draft.
    pub(crate) drafts: Vec<(Vec<u8>, UnixMillis)>,
    /// The orders with an intake.
    pub(crate) intakes: Vec<OrderId>,
}

impl SealedRecords {
    pub(crate) fn read(reading: &StateReader) -> Result<Self, StateError> {
        let mut sealed = Self::default();
        reading.scan(StateTable::Drafts, &[], &mut |key, payload| {
            let draft: DraftRecord = from_json(StateTable::Drafts, key, payload)?;
            if matches!(draft.state, DraftState::Open(_)) {
                sealed.drafts.push((key.to_vec(), draft.expires_at));
            }
            Ok(true)
        })?;
        reading.scan(StateTable::Orders, &[], &mut |key, payload| {
            let order: OrderRecord = from_json(StateTable::Orders, key, payload)?;
            sealed.intakes.extend(order.intake.is_some().then_some(order.id));
            Ok(true)
        })?;
        Ok(sealed)
    }

    pub(crate) fn count(&self) -> SealedCount {
        SealedCount { drafts: self.drafts.len(), intakes: self.intakes.len() }
    }
}
