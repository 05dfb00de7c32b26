//! Blocks of some 150 ledger entries that fill one page. A commit writes a page anyway, so a debit
//! costs only its own 20 to 30 bytes, without the overhead of a row.
//!
//! Layout: entry count (u16), time of the first entry (i64), hash of the last entry (32 bytes),
//! then the entries. The hash of each entry is computed from the hash of the entry before; only the
//! last hash of a block is stored.

use hornbook_base::clock::UnixMillis;

use super::entry::Entry;
use crate::ids::EntryNumber;
use crate::state::codec::{Decoder, Malformed, RecordEncoder};

/// With key, checksum and page header, a block stays within one page of 4096 bytes.
const BLOCK_BYTES: usize = 4000;
const HEADER_BYTES: usize = 2 + 8 + 32;

/// The growing block, which contains the newest entries.
#[derive(Clone)]
pub(crate) struct TailBlock {
    pub(crate) first: EntryNumber,
    count: u16,
    first_at: UnixMillis,
    last_at: UnixMillis,
    hash: [u8; 32],
    entries: Vec<u8>,
}

impl TailBlock {
    pub(crate) fn empty(first: EntryNumber) -> Self {
        let epoch = UnixMillis(0);
        Self { first, count: 0, first_at: epoch, last_at: epoch, hash: [0; 32], entries: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the next entry. Returns false if the block is full.
    pub(crate) fn push(&mut self, entry: &Entry, hash: [u8; 32]) -> bool {
        let mut encoder = RecordEncoder::default();
        let first_at = if self.is_empty() { entry.draft.at } else { self.first_at };
        let after = if self.is_empty() { first_at } else { self.last_at };
        entry.encode(after, &mut encoder);
        // An entry with a long note may be larger than a block; then it gets its own block.
        let full = HEADER_BYTES + self.entries.len() + encoder.bytes.len() > BLOCK_BYTES;
        if !self.is_empty() && full {
            return false;
        }
        self.entries.extend_from_slice(&encoder.bytes);
        (self.first_at, self.last_at, self.hash) = (first_at, entry.draft.at, hash);
        self.count += 1;
        true
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.raw(&self.count.to_le_bytes());
        encoder.raw(&self.first_at.0.to_le_bytes());
        encoder.raw(&self.hash);
        encoder.raw(&self.entries);
        encoder.bytes
    }

    /// Loads a stored block to append to it.
    pub(crate) fn resume(first: EntryNumber, bytes: &[u8]) -> Result<Self, Malformed> {
        let block = Block::parse(first, bytes)?;
        let (hash, count, first_at) = (block.hash, block.count, block.first_at);
        let entries = block.entries.to_vec();
        let mut last_at = first_at;
        block.each(&mut |entry| last_at = entry.draft.at)?;
        Ok(Self { first, count, first_at, last_at, hash, entries })
    }
}

/// A stored block, for reading.
pub(crate) struct Block<'b> {
    pub(crate) first: EntryNumber,
    count: u16,
    first_at: UnixMillis,
    pub(crate) hash: [u8; 32],
    entries: &'b [u8],
}

impl<'b> Block<'b> {
    pub(crate) fn parse(first: EntryNumber, bytes: &'b [u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let count = u16::from_le_bytes(decoder.array()?);
        let first_at = UnixMillis(i64::from_le_bytes(decoder.array()?));
        let hash = decoder.array()?;
        Ok(Self { first, count, first_at, hash, entries: &bytes[HEADER_BYTES..] })
    }

    pub(crate) fn end(&self) -> EntryNumber {
        EntryNumber(self.first.0 + u64::from(self.count))
    }

    /// Visits every entry in order.
    pub(crate) fn each(&self, request: &mut dyn FnMut(Entry)) -> Result<(), Malformed> {
        let mut decoder = Decoder::new(self.entries);
        let mut after = self.first_at;
        for at in 0..u64::from(self.count) {
            let entry = Entry::decode(EntryNumber(self.first.0 + at), after, &mut decoder)?;
            after = entry.draft.at;
            request(entry);
        }
        decoder.finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{AccountId, KeyId, PurchaseId};
    use crate::ledger::entry::{Draft, EntryKind, EntryNote, OperationCode, Reference};
    use hornbook_base::clock::Month;

    fn entries() -> impl Strategy<Value = Draft> {
        let kinds = prop::sample::select(vec![
            EntryKind::Usage,
            EntryKind::Grant,
            EntryKind::Purchase,
            EntryKind::Refund,
            EntryKind::Adjustment,
        ]);
        let references = prop_oneof![
            Just(Reference::None),
            any::<u64>().prop_map(|number| Reference::Entry(EntryNumber(number))),
            any::<u32>().prop_map(|id| Reference::Purchase(PurchaseId(id))),
        ];
        let note = prop::option::of((".{0,20}", ".{0,300}").prop_map(|(actor, reason)| EntryNote { actor, reason }));
        let amounts = (any::<i32>(), any::<i32>(), -9000i32..9000);
        (kinds, any::<u32>(), any::<Option<u32>>(), any::<Option<u16>>(), any::<i64>(), amounts, references, note)
            .prop_map(|(kind, account, key, operation, at, (credits, free, month), reference, note)| Draft {
                at: UnixMillis(at / 1_000_000),
                kind,
                account: AccountId(account),
                key: key.map(KeyId),
                operation: operation.map(OperationCode),
                credits: credits.into(),
                from_allotment: free.into(),
                month: Month(month),
                reference,
                note,
            })
    }

    proptest! {
        #[test]
        fn blocks_round_trip(drafts in prop::collection::vec(entries(), 1..60), balance: i64) {
            let first = EntryNumber(100);
            let mut tail = TailBlock::empty(first);
            let mut pushed = Vec::new();
            let mut hash = [7; 32];
            for (at, draft) in drafts.into_iter().enumerate() {
                let number = EntryNumber(first.0 + at as u64);
                let previous = (at > 2).then(|| EntryNumber(number.0 - 3));
                let entry = Entry { number, draft, previous, balance_after: balance };
                let linked = entry.hash_after(&hash);
                if !tail.push(&entry, linked) {
                    break;
                }
                hash = linked;
                pushed.push(entry);
            }
            let bytes = tail.to_bytes();
            let block = Block::parse(first, &bytes).unwrap();
            let mut read = Vec::new();
            block.each(&mut |entry| read.push(entry)).unwrap();
            prop_assert_eq!(&read, &pushed);
            prop_assert_eq!(block.hash, hash);
            prop_assert_eq!(TailBlock::resume(first, &bytes).unwrap().to_bytes(), bytes);
        }

        #[test]
        fn invalid_bytes_give_an_error(bytes: Vec<u8>) {
            if let Ok(block) = Block::parse(EntryNumber(1), &bytes) {
                let _ = block.each(&mut |_| {});
            }
        }
    }

    #[test]
    fn every_field_is_part_of_the_link() {
        let draft = Draft {
            at: UnixMillis(5),
            kind: EntryKind::Usage,
            account: AccountId(1),
            key: Some(KeyId(1)),
            operation: Some(OperationCode(1)),
            credits: -5,
            from_allotment: 2,
            month: Month(0),
            reference: Reference::None,
            note: None,
        };
        let entry = Entry { number: EntryNumber(1), draft, previous: None, balance_after: 9 };
        type Change = fn(&mut Entry);
        let changes: [Change; 12] = [
            |e| e.number.0 += 1,
            |e| e.previous = Some(EntryNumber(1)),
            |e| e.balance_after += 1,
            |e| e.draft.at.0 += 1,
            |e| e.draft.kind = EntryKind::Grant,
            |e| e.draft.account.0 += 1,
            |e| e.draft.key = None,
            |e| e.draft.operation = None,
            |e| e.draft.credits += 1,
            |e| e.draft.from_allotment += 1,
            |e| e.draft.month.0 += 1,
            |e| e.draft.note = Some(EntryNote { actor: String::new(), reason: String::new() }),
        ];
        let mut hashes: Vec<_> = changes
            .iter()
            .map(|change| {
                let mut changed = entry.clone();
                change(&mut changed);
                changed.hash_after(&[0; 32])
            })
            .collect();
        hashes.push(entry.hash_after(&[0; 32]));
        hashes.push(entry.hash_after(&[1; 32]));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 14);
    }
}
