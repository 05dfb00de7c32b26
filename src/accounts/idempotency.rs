//! A retry that carries the same `Idempotency-Key` is answered without a second debit, for 24 hours and per API key.
//!
//! The record of a debit is written in the debit's own commit. Until the call has ended a [`Claim`] in memory stands
//! before it: two copies of a request under way at once cannot both be charged, and a copy cannot be answered from the
//! record of a call whose work then fails and whose debit is given back. A call that is answered before its commit
//! (`window` mode) leaves its receipt in the claim, so that a retry need not wait for the disk either.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::Shared;
use super::directory::lock;
use super::error::{LedgerError, Refusal};
use super::ids::{Credits, EntryNumber, KeyId};
use super::ledger::poster::Poster;
use super::purse::Remaining;
use super::records::IdempotencyRecord;
use crate::clock::UnixMillis;
use crate::state::{Reading, StateError, Table, Writing};

const KEPT_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A caller's idempotency key with the request it came with, both as digests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Idempotency {
    key: [u8; 16],
    request: [u8; 16],
}

impl Idempotency {
    /// `request` is whatever makes two requests the same: method, path and parameters.
    pub fn new(key: &str, request: &str) -> Self {
        Self { key: digest(key), request: digest(request) }
    }
}

fn digest(text: &str) -> [u8; 16] {
    let full: [u8; 32] = Sha256::digest(text).into();
    let mut half = [0; 16];
    half.copy_from_slice(&full[..16]);
    half
}

/// Identifies a record: the API key, then the digest of the idempotency key.
pub(crate) type RecordKey = [u8; 20];

fn record_key(api_key: KeyId, key: [u8; 16]) -> RecordKey {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&api_key.to_key());
    bytes[4..].copy_from_slice(&key);
    bytes
}

fn age_key(at: UnixMillis, record: &RecordKey) -> [u8; 28] {
    let mut bytes = [0; 28];
    bytes[..8].copy_from_slice(&((at.0 as u64) ^ 1 << 63).to_be_bytes());
    bytes[8..].copy_from_slice(record);
    bytes
}

/// The right to be the one debit of an idempotency key; dropped, it is free again.
pub(crate) struct Claim {
    shared: Arc<Shared>,
    record: RecordKey,
    request: [u8; 16],
    at: UnixMillis,
}

pub(crate) enum Claimed {
    First(Claim),
    Replay(Charged),
}

/// What a retry is told of the debit that was made before it.
#[derive(Clone, Copy)]
pub(crate) struct Charged {
    pub(crate) cost: Credits,
    pub(crate) remaining: Remaining,
    /// None where its commit is still to come.
    pub(crate) entry: Option<EntryNumber>,
}

impl From<&IdempotencyRecord> for Charged {
    fn from(record: &IdempotencyRecord) -> Self {
        let remaining = Remaining { wallet: record.wallet, allotment: record.allotment };
        Self { cost: record.cost, remaining, entry: Some(record.entry) }
    }
}

/// A claim as others see it.
pub(crate) struct Claiming {
    request: [u8; 16],
    /// Set once the call was answered, while its record is not yet in the file.
    answered: Option<Charged>,
}

impl Claim {
    pub(crate) fn take(
        shared: &Arc<Shared>,
        api_key: KeyId,
        idempotency: Idempotency,
        now: UnixMillis,
    ) -> Result<Claimed, Refusal> {
        let record = record_key(api_key, idempotency.key);
        let request = idempotency.request;
        match lock(&shared.claims).entry(record) {
            std::collections::hash_map::Entry::Occupied(other) => {
                let Claiming { request: claimed, answered } = other.get();
                return match answered {
                    _ if *claimed != request => Err(Refusal::OtherRequest),
                    Some(charged) => Ok(Claimed::Replay(*charged)),
                    None => Err(Refusal::SameRequestUnderWay),
                };
            }
            std::collections::hash_map::Entry::Vacant(free) => free.insert(Claiming { request, answered: None }),
        };
        let claim = Self { shared: Arc::clone(shared), record, request, at: now };
        match claim.find(now)? {
            None => Ok(Claimed::First(claim)),
            Some(found) if found.request == request => Ok(Claimed::Replay((&found).into())),
            Some(_) => Err(Refusal::OtherRequest),
        }
    }

    fn find(&self, now: UnixMillis) -> Result<Option<IdempotencyRecord>, Refusal> {
        let found = self.shared.with_reading(|reading| read(reading, &self.record));
        let found = found.map_err(|_| Refusal::Ledger(LedgerError::Unavailable))?;
        Ok(found.filter(|record| now.0.saturating_sub(record.at.0) < KEPT_MILLIS))
    }

    /// The call was answered before its commit; from here on a retry gets the same receipt.
    pub(crate) fn answered(&self, charged: Charged) {
        if let Some(claiming) = lock(&self.shared.claims).get_mut(&self.record) {
            claiming.answered = Some(charged);
        }
    }

    pub(crate) fn request(&self) -> [u8; 16] {
        self.request
    }

    pub(crate) fn store(&self, poster: &mut Poster<'_>, record: &IdempotencyRecord) -> Result<(), StateError> {
        debug_assert_eq!(record.at, self.at, "the record expires by the time under which it is filed");
        poster.writing.put(Table::Idempotency, &self.record, &record.to_bytes())?;
        poster.writing.put(Table::IdempotencyAges, &age_key(record.at, &self.record), &[])
    }

    /// The debit is given back, so a retry is charged again.
    pub(crate) fn forget(&self, poster: &mut Poster<'_>) -> Result<(), StateError> {
        poster.writing.remove(Table::Idempotency, &self.record)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&self.shared.claims).remove(&self.record);
    }
}

fn read(reading: &Reading, key: &RecordKey) -> Result<Option<IdempotencyRecord>, StateError> {
    let Some(bytes) = reading.get(Table::Idempotency, key)? else { return Ok(None) };
    let record = IdempotencyRecord::from_bytes(&bytes);
    record.map(Some).map_err(|_| StateError::bad_record(Table::Idempotency.name(), key))
}

/// Removes up to `most` records older than a day; true when more may be left.
pub(crate) fn expire(writing: &mut Writing, now: UnixMillis, most: usize) -> Result<bool, StateError> {
    let limit = ((now.0.saturating_sub(KEPT_MILLIS)) as u64 ^ 1 << 63).to_be_bytes();
    let mut expired: Vec<Vec<u8>> = Vec::new();
    writing.scan(Table::IdempotencyAges, &[], &mut |key, _| {
        let due = key.len() == 28 && key[..8] < limit[..] && expired.len() < most;
        if due {
            expired.push(key.to_vec());
        }
        Ok(due)
    })?;
    for age in &expired {
        let record = &age[8..];
        // The key may have been used again since; then its record is younger than this age.
        let stored = writing.get(Table::Idempotency, record)?;
        let stored = stored.and_then(|bytes| IdempotencyRecord::from_bytes(&bytes).ok());
        if stored.is_some_and(|found| ((found.at.0 as u64) ^ 1 << 63).to_be_bytes() < limit) {
            writing.remove(Table::Idempotency, record)?;
        }
        writing.remove(Table::IdempotencyAges, age)?;
    }
    Ok(expired.len() == most)
}
