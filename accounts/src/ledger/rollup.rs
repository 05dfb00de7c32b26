//! Turns old usage entries into one row per day and account. Sums and the hash chain can still be
//! verified: a checkpoint keeps the number and hash of the last removed entry, and a digest covers
//! the rows that replaced the entries. Each roll-up appends an entry with this digest, so the chain
//! covers it.
//!
//! Entries other than usage are rare. They move to the archive unchanged.

use std::collections::BTreeMap;

use hornbook_base::clock::{UnixDay, UnixMillis};
use hornbook_base::hex;
use sha2::{Digest, Sha256};

use super::entry::{Draft, Entry, EntryKind, EntryNote, Reference};
use super::load::{CHECKPOINT_KEY, block_entries, parse_block};
use super::poster::LedgerTransaction;
use crate::error::ChangeError;
use crate::ids::{AccountId, EntryNumber};
use crate::state::codec::{Decoder, Malformed, RecordEncoder};
use crate::state::{StateError, StateReader, StateTable, StateWriter};

/// Some 30,000 entries per transaction, so that debits wait no longer for it than for a big commit.
const BLOCKS_PER_STEP: usize = 200;

/// The account to which the service posts its own notes.
pub(crate) const SERVICE_ACCOUNT: AccountId = AccountId(0);

/// The point where the remaining hash chain begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Checkpoint {
    pub(crate) step: u32,
    pub(crate) through: u64,
    pub(crate) hash: [u8; 32],
    pub(crate) archive: [u8; 32],
}

impl Checkpoint {
    fn to_bytes(self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.unsigned(self.step.into());
        encoder.unsigned(self.through);
        encoder.raw(&self.hash);
        encoder.raw(&self.archive);
        encoder.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let (step, through) = (decoder.number()?, decoder.unsigned()?);
        Ok(Self { step, through, hash: decoder.array()?, archive: decoder.array()? })
    }

    fn parse(bytes: Option<Vec<u8>>) -> Result<Self, StateError> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        Self::from_bytes(&bytes).map_err(|_| StateError::bad_record(StateTable::Meta.name(), CHECKPOINT_KEY))
    }

    pub(crate) fn read(reading: &StateReader) -> Result<Self, StateError> {
        Self::parse(reading.get(StateTable::Meta, CHECKPOINT_KEY)?)
    }
}

/// The usage of one account on one day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct DaySums {
    pub(crate) calls: u64,
    pub(crate) credits: i64,
    pub(crate) from_allotment: i64,
}

impl DaySums {
    fn add(&mut self, draft: &Draft) {
        self.calls += 1;
        self.credits += draft.credits;
        self.from_allotment += draft.from_allotment;
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.unsigned(self.calls);
        encoder.signed(self.credits);
        encoder.signed(self.from_allotment);
        encoder.bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let sums = Self { calls: decoder.unsigned()?, credits: decoder.signed()?, from_allotment: decoder.signed()? };
        decoder.finish()?;
        Ok(sums)
    }
}

/// Which entries are rolled up.
#[derive(Clone, Copy)]
pub(crate) struct RollUpLimit {
    pub(crate) before: UnixMillis,
    /// Entries after this one stay.
    pub(crate) last: Option<EntryNumber>,
}

/// Moves the oldest blocks whose entries are all within the limit into the archive. Returns the
/// number of entries moved.
pub(crate) fn step(poster: &mut LedgerTransaction<'_>, limit: RollUpLimit, at: UnixMillis) -> Result<u64, ChangeError> {
    let mut checkpoint = Checkpoint::parse(poster.writing.get(StateTable::Meta, CHECKPOINT_KEY)?)?;
    let tail = EntryNumber(poster.head().tail_first);
    let due = due_blocks(&poster.writing, limit, tail)?;
    let Some((last_key, last_payload)) = due.last() else { return Ok(0) };
    let last = parse_block(last_key, last_payload)?;
    checkpoint.step += 1;
    let entries = last.end().0 - 1 - checkpoint.through;
    checkpoint.through = last.end().0 - 1;
    checkpoint.hash = last.hash;

    let mut days: BTreeMap<(UnixDay, AccountId), DaySums> = BTreeMap::new();
    let mut kept = Vec::new();
    for (key, payload) in &due {
        for entry in block_entries(key, payload)? {
            if entry.draft.kind == EntryKind::Usage {
                days.entry((entry.draft.at.day(), entry.draft.account)).or_default().add(&entry.draft);
            } else {
                kept.push((entry_key(checkpoint.step, entry.number), encode_standalone(&entry)));
            }
        }
        poster.writing.remove(StateTable::Ledger, key)?;
    }
    let days: Vec<_> = days
        .into_iter()
        .map(|((day, account), sums)| (day_key(checkpoint.step, day, account), sums.to_bytes()))
        .collect();
    let mut digest = ArchiveDigest::after(checkpoint.archive);
    days.iter().for_each(|(key, payload)| digest.row(key, payload));
    kept.iter().for_each(|(key, payload)| digest.row(key, payload));
    checkpoint.archive = digest.finish();
    poster.writing.put_all(StateTable::ArchivedDays, days)?;
    poster.writing.put_all(StateTable::ArchivedEntries, kept)?;
    poster.writing.put(StateTable::Meta, CHECKPOINT_KEY, &checkpoint.to_bytes())?;
    poster.append(rollup_entry(&checkpoint, at));
    Ok(entries)
}

type StoredBlock = (Vec<u8>, Vec<u8>);

fn due_blocks(writing: &StateWriter, limit: RollUpLimit, tail: EntryNumber) -> Result<Vec<StoredBlock>, StateError> {
    let mut due = Vec::new();
    writing.scan(StateTable::Ledger, &[], &mut |key, payload| {
        let is_tail = key == tail.to_key();
        let is_within =
            |entry: &Entry| entry.draft.at < limit.before && limit.last.is_none_or(|last| entry.number <= last);
        let old = !is_tail && block_entries(key, payload)?.iter().all(is_within);
        if old {
            due.push((key.to_vec(), payload.to_vec()));
        }
        Ok(old && due.len() < BLOCKS_PER_STEP)
    })?;
    Ok(due)
}

fn rollup_entry(checkpoint: &Checkpoint, at: UnixMillis) -> Draft {
    let reason =
        format!("rolled up entries through {}, archive {}", checkpoint.through, hex::encode(&checkpoint.archive));
    Draft {
        at,
        kind: EntryKind::Adjustment,
        account: SERVICE_ACCOUNT,
        key: None,
        operation: None,
        credits: 0,
        from_allotment: 0,
        month: at.month(),
        reference: Reference::None,
        note: Some(EntryNote { actor: "system".to_owned(), reason }),
    }
}

/// Links the rows of a step to those of the steps before it.
pub(crate) struct ArchiveDigest(Sha256);

impl ArchiveDigest {
    pub(crate) fn after(before: [u8; 32]) -> Self {
        Self(Sha256::new().chain_update(before))
    }

    pub(crate) fn row(&mut self, key: &[u8], payload: &[u8]) {
        self.0.update((key.len() as u64).to_le_bytes());
        self.0.update(key);
        self.0.update((payload.len() as u64).to_le_bytes());
        self.0.update(payload);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

fn day_key(step: u32, day: UnixDay, account: AccountId) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&step.to_be_bytes());
    key[4..8].copy_from_slice(&((day.0 as u32) ^ 1 << 31).to_be_bytes());
    key[8..].copy_from_slice(&account.to_key());
    key
}

fn entry_key(step: u32, number: EntryNumber) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&step.to_be_bytes());
    key[4..].copy_from_slice(&number.to_key());
    key
}

fn encode_standalone(entry: &Entry) -> Vec<u8> {
    let mut encoder = RecordEncoder::default();
    entry.encode(UnixMillis(0), &mut encoder);
    encoder.bytes
}

/// One row of the archive.
pub(crate) enum Archived {
    Day { day: UnixDay, account: AccountId, sums: DaySums },
    Entry(Entry),
}

/// Called with the key, the payload and the parsed row.
pub(crate) type VisitRow<'v> = dyn FnMut(&[u8], &[u8], Archived) + 'v;

/// Visits the rows of one step in the order of the digest.
pub(crate) fn each_row(reading: &StateReader, step: u32, request: &mut VisitRow<'_>) -> Result<(), StateError> {
    let prefix = step.to_be_bytes();
    for table in [StateTable::ArchivedDays, StateTable::ArchivedEntries] {
        reading.scan(table, &prefix, &mut |key, payload| {
            if !key.starts_with(&prefix) {
                return Ok(false);
            }
            let row = parse_row(table, key, payload).map_err(|_| StateError::bad_record(table.name(), key))?;
            request(key, payload, row);
            Ok(true)
        })?;
    }
    Ok(())
}

fn parse_row(table: StateTable, key: &[u8], payload: &[u8]) -> Result<Archived, Malformed> {
    let mut decoder = Decoder::new(key);
    let _step: [u8; 4] = decoder.array()?;
    if table == StateTable::ArchivedEntries {
        let number = EntryNumber(u64::from_be_bytes(decoder.array()?));
        return Entry::decode(number, UnixMillis(0), &mut Decoder::new(payload)).map(Archived::Entry);
    }
    let day = UnixDay((u32::from_be_bytes(decoder.array()?) ^ 1 << 31) as i32);
    let account = AccountId(u32::from_be_bytes(decoder.array()?));
    Ok(Archived::Day { day, account, sums: DaySums::from_bytes(payload)? })
}
