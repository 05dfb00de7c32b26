//! What other servers posted, record by record.

use std::collections::BTreeSet;

use hornbook_base::clock::{Month, UnixMillis};

use super::block::TailBlock;
use super::entry::OperationCode;
use super::load::{HEAD_KEY, LedgerHead, LedgerState, Wallet, block_entries, parse_allotment_key, parse_spending_key};
use crate::budget::SpendingWindow;
use crate::ids::{AccountId, EntryNumber, KeyId};
use crate::leases::record::{Lease, ServerId, ServerRecord, parse_lease_key};
use crate::state::{ChangedRecord, StateError, StateTable};

/// Records of the ledger that another server changed.
#[derive(Default)]
pub(crate) struct NewerEntries {
    head: Option<LedgerHead>,
    blocks: Vec<(Vec<u8>, Vec<u8>)>,
    wallets: Vec<(AccountId, Wallet)>,
    allotments: Vec<((AccountId, Month), u32)>,
    spending: Vec<((KeyId, SpendingWindow), Option<u64>)>,
    operations: Vec<(String, OperationCode)>,
    leases: Vec<((AccountId, ServerId), Option<Lease>)>,
    servers: Vec<(ServerId, ServerRecord)>,
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

    /// Adds a record of one of these tables.
    pub(crate) fn add(&mut self, changed: ChangedRecord, known: &LedgerState) -> Result<(), StateError> {
        let ChangedRecord { table, key, record } = changed;
        let damaged = || StateError::bad_record(table.name(), &key);
        match (table, record) {
            (StateTable::Meta, Some(bytes)) if key == HEAD_KEY => {
                self.head = Some(LedgerHead::from_bytes(&bytes).map_err(|_| damaged())?);
            }
            (StateTable::Ledger, Some(bytes)) => {
                let after = EntryNumber(known.head.entries);
                let new = block_entries(&key, &bytes)?.into_iter().filter(|entry| entry.number > after);
                self.calls.extend(new.filter_map(|entry| entry.charged_call()));
                self.blocks.push((key, bytes));
            }
            (StateTable::Wallets, Some(bytes)) => {
                let account = AccountId::from_key(&key).ok_or_else(damaged)?;
                self.wallets.push((account, Wallet::from_bytes(&bytes).map_err(|_| damaged())?));
            }
            (StateTable::Allotments, Some(bytes)) => {
                let row = parse_allotment_key(&key).zip(bytes.try_into().ok());
                let (at, used) = row.ok_or_else(damaged)?;
                self.allotments.push((at, u32::from_le_bytes(used)));
            }
            (StateTable::Spending, bytes) => {
                let spent = bytes.map(|bytes| bytes.try_into().map(u64::from_le_bytes)).transpose();
                let at = parse_spending_key(&key).ok_or_else(damaged)?;
                self.spending.push((at, spent.map_err(|_| damaged())?));
            }
            (StateTable::Operations, Some(bytes)) => {
                let code = key.as_slice().try_into().map_err(|_| damaged())?;
                let name = String::from_utf8(bytes).map_err(|_| damaged())?;
                self.operations.push((name, OperationCode(u16::from_be_bytes(code))));
            }
            (StateTable::Leases, bytes) => {
                let lease = bytes.map(|bytes| Lease::from_bytes(&bytes)).transpose();
                let of = parse_lease_key(&key).ok_or_else(damaged)?;
                self.leases.push((of, lease.map_err(|_| damaged())?));
            }
            (StateTable::Servers, Some(bytes)) => {
                let row = ServerId::from_key(&key).zip(ServerRecord::from_bytes(&bytes).ok());
                self.servers.push(row.ok_or_else(damaged)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// The accounts whose balance may have changed.
    pub(crate) fn accounts(&self) -> BTreeSet<AccountId> {
        let of_wallets = self.wallets.iter().map(|(account, _)| *account);
        let of_leases = self.leases.iter().map(|((account, _), _)| *account);
        of_wallets.chain(self.allotments.iter().map(|((account, _), _)| *account)).chain(of_leases).collect()
    }

    /// The keys whose spending may have changed.
    pub(crate) fn keys(&self) -> BTreeSet<KeyId> {
        self.spending.iter().map(|((key, _), _)| *key).collect()
    }

    /// Puts the records in place of those in memory. Without the tail of the ledger, nothing is changed.
    pub(crate) fn apply(self, posted: &mut LedgerState) -> Result<(), StateError> {
        if let Some(head) = self.head {
            let first = EntryNumber(head.tail_first);
            let tail = self.blocks.iter().find(|(key, _)| *key == first.to_key());
            let tail = tail.and_then(|(_, bytes)| TailBlock::resume(first, bytes).ok());
            posted.tail = match tail {
                Some(tail) => tail,
                None if head == posted.head => posted.tail.clone(),
                None => return Err(StateError::bad_record(StateTable::Ledger.name(), &first.to_key())),
            };
            posted.head = head;
        }
        posted.wallets.extend(self.wallets);
        posted.allotments.extend(self.allotments);
        for (at, spent) in self.spending {
            match spent {
                Some(spent) => posted.spending.insert(at, spent),
                None => posted.spending.remove(&at),
            };
        }
        posted.operations.extend(self.operations);
        for (of, lease) in self.leases {
            match lease {
                Some(lease) => posted.leases.insert(of, lease),
                None => posted.leases.remove(&of),
            };
        }
        posted.servers.extend(self.servers);
        Ok(())
    }
}
