//! Double entry: every credit added to one book is taken from another, so the sum of all books is zero.

use serde::{Deserialize, Serialize};

use crate::state::codec::{Decoder, Malformed, RecordEncoder};

use super::entry::{Draft, EntryKind, Reference};

/// The balance of each book. Sources of credits count down, so the sum is always zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Books {
    pub granted: i64,
    pub sold: i64,
    pub adjusted: i64,
    pub allotted: i64,
    pub spent: i64,
    pub wallets: i64,
}

impl Books {
    pub(crate) fn post(&mut self, draft: &Draft) {
        self.wallets += draft.to_wallet();
        self.allotted -= draft.from_allotment;
        *self.counter_book(draft) -= draft.credits;
    }

    /// The book that the credits of an entry came from or went to.
    fn counter_book(&mut self, draft: &Draft) -> &mut i64 {
        match (draft.kind, draft.reference) {
            (EntryKind::Usage, _) | (EntryKind::Refund, Reference::None | Reference::Entry(_)) => &mut self.spent,
            (EntryKind::Purchase, _) | (EntryKind::Refund, Reference::Purchase(_)) => &mut self.sold,
            (EntryKind::Grant, _) => &mut self.granted,
            (EntryKind::Adjustment, _) => &mut self.adjusted,
        }
    }

    pub fn sum(&self) -> i64 {
        self.all().iter().sum()
    }

    const fn all(&self) -> [i64; 6] {
        [self.granted, self.sold, self.adjusted, self.allotted, self.spent, self.wallets]
    }

    pub(crate) fn encode(&self, to: &mut RecordEncoder) {
        for book in self.all() {
            to.raw(&book.to_le_bytes());
        }
    }

    pub(crate) fn decode(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let mut next = || from.array().map(i64::from_le_bytes);
        Ok(Self {
            granted: next()?,
            sold: next()?,
            adjusted: next()?,
            allotted: next()?,
            spent: next()?,
            wallets: next()?,
        })
    }
}
