//! What other servers posted, record by record.

use std::collections::BTreeSet;

use hornbook_base::clock::UnixMillis;

use super::block::TailBlock;
use super::entry::OperationCode;
use super::load::{HEAD_KEY, LedgerHead, LedgerState, Wallet, block_entries, parse_allotment_key, parse_spending_key};
use super::poster::Changes;
use crate::ids::{AccountId, EntryNumber, KeyId};
use crate::leases::record::{Lease, ServerId, ServerRecord, parse_lease_key};
use crate::state::{ChangedRecord, StateError, StateTable};

/// Records of the ledger that other servers changed.
pub(crate) struct NewerEntries {
    changes: Changes,
    blocks: Vec<(Vec<u8>, Vec<u8>)>,
    /// The charged calls, with their times and keys.
    pub(crate) calls: Vec<(UnixMillis, KeyId)>,
}

impl NewerEntries {
    /// The tables that this reads.
    pub(crate) const TABLES: [StateTable; 8] = [
        StateTable::Meta,
        StateTable::Wallets,
        StateTable::Allotments,
        StateTable::Spending,
        StateTable::Ledger,
        StateTable::Operations,
        StateTable::Leases,
        StateTable::Servers,
    ];

    /// None yet, after what is known.
    pub(crate) fn after(known: &LedgerState) -> Self {
        Self { changes: Changes::to(known), blocks: Vec::new(), calls: Vec::new() }
    }

    /// Adds a record of one of these tables.
    pub(crate) fn add(&mut self, changed: ChangedRecord, known: &LedgerState) -> Result<(), StateError> {
        let ChangedRecord { table, key, record } = changed;
        let damaged = || StateError::bad_record(table.name(), &key);
        let changes = &mut self.changes;
        match (table, record) {
            (StateTable::Meta, Some(bytes)) if key == HEAD_KEY => {
                changes.head = LedgerHead::from_bytes(&bytes).map_err(|_| damaged())?;
            }
            (StateTable::Ledger, Some(bytes)) => {
                let after = EntryNumber(known.head.entries);
                let new = block_entries(&key, &bytes)?.into_iter().filter(|entry| entry.number > after);
                self.calls.extend(new.filter_map(|entry| entry.charged_call()));
                self.blocks.push((key, bytes));
            }
            (StateTable::Wallets, Some(bytes)) => {
                let account = AccountId::from_key(&key).ok_or_else(damaged)?;
                changes.wallets.insert(account, Wallet::from_bytes(&bytes).map_err(|_| damaged())?);
            }
            (StateTable::Allotments, Some(bytes)) => {
                let row = parse_allotment_key(&key).zip(bytes.try_into().ok());
                let (at, used) = row.ok_or_else(damaged)?;
                changes.allotments.insert(at, u32::from_le_bytes(used));
            }
            (StateTable::Spending, bytes) => {
                let spent = bytes.map(|bytes| bytes.try_into().map(u64::from_le_bytes)).transpose();
                let at = parse_spending_key(&key).ok_or_else(damaged)?;
                changes.spending.insert(at, spent.map_err(|_| damaged())?);
            }
            (StateTable::Operations, Some(bytes)) => {
                let code = key.as_slice().try_into().map_err(|_| damaged())?;
                let name = String::from_utf8(bytes).map_err(|_| damaged())?;
                changes.operations.insert(name, OperationCode(u16::from_be_bytes(code)));
            }
            (StateTable::Leases, bytes) => {
                let lease = bytes.map(|bytes| Lease::from_bytes(&bytes)).transpose();
                let of = parse_lease_key(&key).ok_or_else(damaged)?;
                changes.leases.insert(of, lease.map_err(|_| damaged())?);
            }
            (StateTable::Servers, bytes) => {
                let record = bytes.map(|bytes| ServerRecord::from_bytes(&bytes)).transpose();
                let server = ServerId::from_key(&key).ok_or_else(damaged)?;
                changes.servers.insert(server, record.map_err(|_| damaged())?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The accounts whose balance or leases may have changed.
    pub(crate) fn accounts(&self) -> BTreeSet<AccountId> {
        let changes = &self.changes;
        let of_wallets = changes.wallets.keys().copied();
        let of_allotments = changes.allotments.keys().map(|(account, _)| *account);
        of_wallets.chain(of_allotments).chain(changes.leases.keys().map(|(account, _)| *account)).collect()
    }

    /// The keys whose spending may have changed.
    pub(crate) fn keys(&self) -> BTreeSet<KeyId> {
        self.changes.spending.keys().map(|(key, _)| *key).collect()
    }

    /// Puts the records in place of those in memory. Without the tail of the ledger, nothing is changed.
    pub(crate) fn apply(mut self, posted: &mut LedgerState) -> Result<(), StateError> {
        if self.changes.head != posted.head {
            let first = EntryNumber(self.changes.head.tail_first);
            let tail = self.blocks.iter().find(|(key, _)| *key == first.to_key());
            let tail = tail.and_then(|(_, bytes)| TailBlock::resume(first, bytes).ok());
            let lost = || StateError::bad_record(StateTable::Ledger.name(), &first.to_key());
            self.changes.tail = tail.ok_or_else(lost)?;
        }
        posted.apply(self.changes);
        Ok(())
    }
}
