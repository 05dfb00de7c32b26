//! A call as the journal stores it.

use hornbook_base::clock::UnixMillis;

use super::local::{Amounts, LeaseId};
use crate::ids::{AccountId, Credits, KeyId};
use crate::state::codec::{Decoder, Malformed, RecordEncoder};

/// A debit that was answered from a lease, or the refund of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JournalRecord {
    /// The number of the debit in the journal, if this is its refund.
    pub(crate) refund_of: Option<u64>,
    pub(crate) account: AccountId,
    pub(crate) key: KeyId,
    pub(crate) operation: String,
    pub(crate) cost: Credits,
    pub(crate) at: UnixMillis,
    pub(crate) month: i32,
    pub(crate) split: Amounts,
    pub(crate) lease: LeaseId,
}

impl JournalRecord {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        // Numbers in the journal begin at 1.
        encoder.unsigned(self.refund_of.unwrap_or(0));
        encoder.unsigned(self.account.0.into());
        encoder.unsigned(self.key.0.into());
        encoder.text(&self.operation);
        encoder.unsigned(self.cost.0.into());
        encoder.signed(self.at.0);
        encoder.signed(self.month.into());
        encoder.unsigned(self.split.units.into());
        encoder.unsigned(self.split.credits.into());
        encoder.raw(&self.lease.0.to_le_bytes());
        encoder.bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let record = Self {
            refund_of: Some(decoder.unsigned()?).filter(|debit| *debit > 0),
            account: AccountId(decoder.number()?),
            key: KeyId(decoder.number()?),
            operation: decoder.text()?.to_owned(),
            cost: Credits(decoder.number()?),
            at: UnixMillis(decoder.signed()?),
            month: decoder.integer()?,
            split: Amounts { units: decoder.number()?, credits: decoder.number()? },
            lease: LeaseId(u64::from_le_bytes(decoder.array()?)),
        };
        decoder.finish()?;
        Ok(record)
    }
}
