//! Answers a retry with the same `Idempotency-Key` again without a second debit. This works within
//! a short horizon, a limited number of times, per API key.
//!
//! The record of a debit is written in the same commit as the debit. [`IdempotencyIndex`] mirrors these
//! records in memory, so that a call never reads the file. While a call is in progress, its
//! [`Claim`] blocks copies of it: two copies at once cannot both be charged, and a copy cannot be
//! answered from the record of a call whose work then fails and whose debit is refunded. A call
//! that is answered before its commit (`window` mode) leaves its charge in the claim, so that a
//! retry need not wait for the disk either.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use hornbook_base::clock::UnixMillis;
use sha2::{Digest, Sha256};

use super::directory::lock;
use super::error::Refusal;
use super::ids::{Credits, EntryNumber, KeyId};
use super::ledger::poster::LedgerTransaction;
use super::records::IdempotencyRecord;
use crate::state::{StateError, StateReader, StateTable, StateWriter};

/// How many times a charged call is answered again at most. The count is kept in memory, so a
/// restart resets it.
pub const REPLAYS_MAX: u32 = 5;

/// A caller's idempotency key and the request it came with, both as digests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Idempotency {
    key: [u8; 16],
    request: [u8; 16],
}

impl Idempotency {
    /// `request` contains everything that makes two requests the same: method, path and parameters.
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

/// The earlier debit, as a retry needs it.
#[derive(Clone, Copy)]
pub(crate) struct EarlierCharge {
    request: [u8; 16],
    at: UnixMillis,
    pub(crate) cost: Credits,
    /// None until the debit is committed.
    pub(crate) entry: Option<EntryNumber>,
    replays: u32,
}

impl EarlierCharge {
    fn of(record: &IdempotencyRecord, replays: u32) -> Self {
        let IdempotencyRecord { at, request, entry, cost } = *record;
        Self { request, at, cost, entry: Some(entry), replays }
    }

    fn replay(&mut self) -> Result<Self, Refusal> {
        if self.replays >= REPLAYS_MAX {
            return Err(Refusal::TooManyReplays);
        }
        self.replays += 1;
        Ok(*self)
    }
}

/// A call in progress.
struct CallInProgress {
    request: [u8; 16],
    /// Set when the call is answered before its record is in the file.
    answered: Option<EarlierCharge>,
}

#[derive(Default)]
struct IdempotencySlot {
    under_way: Option<CallInProgress>,
    /// The charge as recorded in the file.
    charged: Option<EarlierCharge>,
}

/// Every idempotency key that has a call in progress or a record in the file.
#[derive(Default)]
pub(crate) struct IdempotencyIndex {
    slots: HashMap<RecordKey, IdempotencySlot>,
    /// The records by time, for expiry.
    ages: BTreeSet<(UnixMillis, RecordKey)>,
}

impl IdempotencyIndex {
    /// Takes over the records of the file. Calls in progress and the counts of replays are kept.
    pub(crate) fn reload(&mut self, records: impl IntoIterator<Item = (RecordKey, IdempotencyRecord)>) {
        let mut replays = HashMap::new();
        for (key, slot) in &mut self.slots {
            if let Some(charged) = slot.charged.take() {
                replays.insert((*key, charged.entry), charged.replays);
            }
        }
        self.slots.retain(|_, slot| slot.under_way.is_some());
        self.ages.clear();
        for (key, record) in records {
            let before = replays.get(&(key, Some(record.entry))).copied().unwrap_or(0);
            self.record(key, EarlierCharge::of(&record, before));
        }
    }

    /// Takes over records that another server stored or removed.
    pub(crate) fn take_over(&mut self, changed: Vec<(RecordKey, Option<IdempotencyRecord>)>) {
        for (key, record) in changed {
            let slot = self.slots.entry(key).or_default();
            let before = slot.charged.take();
            if let Some(record) = record {
                let same = before.filter(|before| before.entry == Some(record.entry));
                self.record(key, EarlierCharge::of(&record, same.map_or(0, |before| before.replays)));
            } else if slot.under_way.is_none() {
                self.slots.remove(&key);
            }
        }
    }

    fn record(&mut self, key: RecordKey, charged: EarlierCharge) {
        self.ages.insert((charged.at, key));
        self.slots.entry(key).or_default().charged = Some(charged);
    }

    /// Removes up to `most` records older than `before`. Returns true if more may be left.
    pub(crate) fn expire(&mut self, before: UnixMillis, most: usize) -> bool {
        for _ in 0..most {
            let Some((at, key)) = self.ages.first().copied().filter(|(at, _)| *at < before) else { return false };
            self.ages.remove(&(at, key));
            // The key may have been used again since; then its record is newer than this entry.
            if let Some(slot) = self.slots.get_mut(&key)
                && slot.charged.is_some_and(|charged| charged.at == at)
            {
                slot.charged = None;
                if slot.under_way.is_none() {
                    self.slots.remove(&key);
                }
            }
        }
        true
    }
}

/// The right to make the one debit of an idempotency key. Dropping it frees the key.
pub(crate) struct Claim {
    retries: Arc<Mutex<IdempotencyIndex>>,
    record: RecordKey,
    request: [u8; 16],
    at: UnixMillis,
    /// The debit of an earlier call whose horizon is over, if there was one.
    earlier: Option<EntryNumber>,
}

pub(crate) enum Claimed {
    First(Claim),
    Replay(ReplaySlot),
}

impl Claim {
    /// `horizon_millis` is how long a charged call can be answered again.
    pub(crate) fn take(
        retries: &Arc<Mutex<IdempotencyIndex>>,
        horizon_millis: i64,
        api_key: KeyId,
        idempotency: Idempotency,
        now: UnixMillis,
    ) -> Result<Claimed, Refusal> {
        let record = record_key(api_key, idempotency.key);
        let request = idempotency.request;
        let mut known_retries = lock(retries);
        let slot = known_retries.slots.entry(record).or_default();
        let known = match &mut slot.under_way {
            Some(other) if other.request != request => return Err(Refusal::OtherRequest),
            Some(other) => Some(other.answered.as_mut().ok_or(Refusal::SameRequestInProgress)?),
            None => slot.charged.as_mut().filter(|charged| now.0.saturating_sub(charged.at.0) < horizon_millis),
        };
        if let Some(charged) = known {
            if charged.request != request {
                return Err(Refusal::OtherRequest);
            }
            let charged = charged.replay()?;
            return Ok(Claimed::Replay(ReplaySlot {
                retries: Arc::clone(retries),
                record,
                charged,
                is_counted: false,
            }));
        }
        let earlier = slot.charged.and_then(|charged| charged.entry);
        slot.under_way = Some(CallInProgress { request, answered: None });
        Ok(Claimed::First(Self { retries: Arc::clone(retries), record, request, at: now, earlier }))
    }

    /// The call was answered before its commit. From now on, a retry is answered again.
    pub(crate) fn answered(&self, cost: Credits) {
        let charged = EarlierCharge { request: self.request, at: self.at, cost, entry: None, replays: 0 };
        if let Some(slot) = lock(&self.retries).slots.get_mut(&self.record)
            && let Some(under_way) = &mut slot.under_way
        {
            under_way.answered = Some(charged);
        }
    }

    /// The record that the commit of the debit stores.
    pub(crate) fn record_of(&self, entry: EntryNumber, cost: Credits) -> IdempotencyRecord {
        IdempotencyRecord { at: self.at, request: self.request, entry, cost }
    }

    pub(crate) fn store(
        &self,
        poster: &mut LedgerTransaction<'_>,
        record: &IdempotencyRecord,
    ) -> Result<(), StateError> {
        poster.writing.put(StateTable::Idempotency, &self.record, &record.to_bytes())?;
        poster.writing.put(StateTable::IdempotencyAges, &age_key(record.at, &self.record), &[])
    }

    /// Whether another server charged a call with the same idempotency key after this one began.
    pub(crate) fn is_charged_elsewhere(&self) -> bool {
        let charged = lock(&self.retries).slots.get(&self.record).and_then(|slot| slot.charged);
        charged.is_some_and(|charged| charged.entry != self.earlier)
    }

    /// The debit is refunded, so a retry is charged again.
    pub(crate) fn forget(&self, poster: &mut LedgerTransaction<'_>) -> Result<(), StateError> {
        poster.writing.remove(StateTable::Idempotency, &self.record)
    }

    /// Called when the commit that stored this record is durable.
    pub(crate) fn is_stored(&self, record: &IdempotencyRecord) {
        let mut retries = lock(&self.retries);
        let under_way = retries.slots.get(&self.record).and_then(|slot| slot.under_way.as_ref());
        let replays = under_way.and_then(|under_way| under_way.answered).map_or(0, |charged| charged.replays);
        retries.record(self.record, EarlierCharge::of(record, replays));
    }

    /// Called when the commit that removed the record is durable.
    pub(crate) fn is_forgotten(&self) {
        if let Some(slot) = lock(&self.retries).slots.get_mut(&self.record) {
            slot.charged = None;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut retries = lock(&self.retries);
        if let Some(slot) = retries.slots.get_mut(&self.record) {
            slot.under_way = None;
            if slot.charged.is_none() {
                retries.slots.remove(&self.record);
            }
        }
    }
}

/// One of the replays that a charged call may have. If dropped before its work begins, it does not count.
pub(crate) struct ReplaySlot {
    retries: Arc<Mutex<IdempotencyIndex>>,
    record: RecordKey,
    pub(crate) charged: EarlierCharge,
    is_counted: bool,
}

impl ReplaySlot {
    /// The work begins. From now on, a client that disconnects has used this replay.
    pub(crate) fn count(&mut self) {
        self.is_counted = true;
    }

    /// The work failed. A failed response does not count as a replay.
    pub(crate) fn give_back(mut self) {
        self.is_counted = false;
    }
}

impl Drop for ReplaySlot {
    fn drop(&mut self) {
        if self.is_counted {
            return;
        }
        if let Some(slot) = lock(&self.retries).slots.get_mut(&self.record) {
            let answered = slot.under_way.as_mut().and_then(|under_way| under_way.answered.as_mut());
            for charged in answered.into_iter().chain(&mut slot.charged) {
                charged.replays = charged.replays.saturating_sub(1);
            }
        }
    }
}

/// Reads all records, for [`IdempotencyIndex::reload`].
pub(crate) fn read_all(reading: &StateReader) -> Result<Vec<(RecordKey, IdempotencyRecord)>, StateError> {
    let mut records = Vec::new();
    reading.scan(StateTable::Idempotency, &[], &mut |key, payload| {
        let damaged = || StateError::bad_record(StateTable::Idempotency.name(), key);
        let record = IdempotencyRecord::from_bytes(payload).map_err(|_| damaged())?;
        records.push((key.try_into().map_err(|_| damaged())?, record));
        Ok(true)
    })?;
    Ok(records)
}

/// Removes up to `most` records older than `before` from the file. Returns true if more may be left.
pub(crate) fn expire(writing: &mut StateWriter, before: UnixMillis, most: usize) -> Result<bool, StateError> {
    let limit = (before.0 as u64 ^ 1 << 63).to_be_bytes();
    let expired = writing.keys_before(StateTable::IdempotencyAges, &limit, most)?;
    for age in &expired {
        let record = age.get(8..).unwrap_or_default();
        // The key may have been used again since; then its record is newer than this entry.
        let stored = writing.get(StateTable::Idempotency, record)?;
        let stored = stored.and_then(|bytes| IdempotencyRecord::from_bytes(&bytes).ok());
        if stored.is_some_and(|found| found.at < before) {
            writing.remove(StateTable::Idempotency, record)?;
        }
        writing.remove(StateTable::IdempotencyAges, age)?;
    }
    Ok(expired.len() == most)
}
