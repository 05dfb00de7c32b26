//! Leases and servers as stored in the shared state.

use hornbook_base::clock::UnixMillis;

use super::local::{Amounts, LeaseId};
use crate::ids::{AccountId, EntryNumber};
use crate::state::codec::{Decoder, Malformed, RecordEncoder};

/// A server, by the id in its journal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ServerId(pub(crate) [u8; 16]);

impl ServerId {
    pub(crate) fn from_key(key: &[u8]) -> Option<Self> {
        key.try_into().ok().map(Self)
    }
}

/// The part of an account that a server may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    pub(crate) id: LeaseId,
    pub(crate) month: i32,
    pub(crate) amounts: Amounts,
    /// By the clock of the database.
    pub(crate) ends_at: UnixMillis,
    /// Another server needs the credits: the lease is to be returned.
    pub(crate) is_recalled: bool,
}

impl Lease {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.raw(&self.id.0.to_le_bytes());
        encoder.signed(self.month.into());
        encoder.unsigned(self.amounts.units.into());
        encoder.unsigned(self.amounts.credits.into());
        encoder.signed(self.ends_at.0);
        encoder.byte(self.is_recalled.into());
        encoder.bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let id = LeaseId(u64::from_le_bytes(decoder.array()?));
        let month = decoder.integer()?;
        let amounts = Amounts { units: decoder.number()?, credits: decoder.number()? };
        let ends_at = UnixMillis(decoder.signed()?);
        let is_recalled = decoder.byte()? != 0;
        decoder.finish()?;
        Ok(Self { id, month, amounts, ends_at, is_recalled })
    }
}

/// The key of a lease: its account, then its server.
pub(crate) fn lease_key(account: AccountId, server: ServerId) -> [u8; 20] {
    let mut key = [0; 20];
    key[..4].copy_from_slice(&account.to_key());
    key[4..].copy_from_slice(&server.0);
    key
}

pub(crate) fn parse_lease_key(key: &[u8]) -> Option<(AccountId, ServerId)> {
    let (account, server) = key.split_at_checked(4)?;
    Some((AccountId::from_key(account)?, ServerId::from_key(server)?))
}

/// A server that shares the state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ServerRecord {
    /// The number of the last call of its journal that is in the ledger.
    pub(crate) reported: u64,
    /// The reported calls whose work was not over, so that they may still be refunded.
    pub(crate) open: Vec<UnfinishedCall>,
    /// When it last said that it is there, or that it leaves, by the clock of the database.
    pub(crate) seen_at: UnixMillis,
    pub(crate) has_left: bool,
}

/// A call of the journal, and its entry in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnfinishedCall {
    pub(crate) journal_number: u64,
    pub(crate) entry: EntryNumber,
    /// What it took from the allotment.
    pub(crate) units: u32,
}

impl ServerRecord {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.unsigned(self.reported);
        // The time at which it left is negative.
        encoder.signed(if self.has_left { -self.seen_at.0 } else { self.seen_at.0 });
        for call in &self.open {
            encoder.unsigned(call.journal_number);
            encoder.unsigned(call.entry.0);
            encoder.unsigned(call.units.into());
        }
        encoder.bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let (reported, seen_at) = (decoder.unsigned()?, decoder.signed()?);
        let seen = UnixMillis(seen_at.saturating_abs());
        let mut record = Self { reported, seen_at: seen, has_left: seen_at < 0, open: Vec::new() };
        while !decoder.is_empty() {
            let (journal_number, entry) = (decoder.unsigned()?, EntryNumber(decoder.unsigned()?));
            record.open.push(UnfinishedCall { journal_number, entry, units: decoder.number()? });
        }
        Ok(record)
    }
}
