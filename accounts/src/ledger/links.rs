//! The hash chain at any entry: whether the ledger contains what a mark names.

use super::load::{LedgerHead, block_entries, parse_block};
use super::rollup::Checkpoint;
use crate::ids::EntryNumber;
use crate::state::{LedgerMark, StateError, StateReader, StateTable};

/// Whether the ledger contains the entries up to this mark. Others may follow it.
pub(crate) fn contains(reading: &StateReader, mark: LedgerMark) -> Result<bool, StateError> {
    let head = LedgerHead::read(reading)?;
    if head.entries <= mark.entries {
        return Ok(head.mark() == mark);
    }
    Ok(hash_of(reading, EntryNumber(mark.entries))? == Some(mark.hash))
}

/// The hash of an entry. None if the ledger does not contain it, or the entry after it was rolled up too.
pub(crate) fn hash_of(reading: &StateReader, number: EntryNumber) -> Result<Option<[u8; 32]>, StateError> {
    let Some((key, payload)) = reading.at_or_before(StateTable::Ledger, &number.to_key())? else {
        let checkpoint = Checkpoint::read(reading)?;
        let is_last_rolled_up = checkpoint.through == number.0 && number.0 > 0;
        return Ok(is_last_rolled_up.then_some(checkpoint.hash));
    };
    // The hash before the block is stored in the block before it.
    let first = parse_block(&key, &payload)?.first;
    let before = EntryNumber(first.0.saturating_sub(1));
    let mut hash = match reading.at_or_before(StateTable::Ledger, &before.to_key())? {
        Some((key, payload)) => parse_block(&key, &payload)?.hash,
        // No block, or those before were rolled up.
        None => Checkpoint::read(reading)?.hash,
    };
    let mut found = None;
    for entry in block_entries(&key, &payload)?.iter().take_while(|entry| entry.number <= number) {
        hash = entry.hash_after(&hash);
        found = (entry.number == number).then_some(hash);
    }
    Ok(found)
}
