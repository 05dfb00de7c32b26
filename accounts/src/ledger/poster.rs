//! Appends to the ledger, one transaction at a time. A poster that is dropped before its commit has
//! posted nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hornbook_base::clock::{Month, UnixMillis};

use super::block::TailBlock;
use super::entry::{Draft, Entry, OperationCode};
use super::load::{HEAD_KEY, LedgerHead, LedgerState, Wallet, allotment_key, spending_key};
use crate::budget::{SpendingWindow, WINDOWS_KEPT};
use crate::ids::{AccountId, EntryNumber, KeyId};
use crate::leases::record::{Lease, ServerId, ServerRecord, lease_key};
use crate::records::{AuditRecord, get_json, put_json};
use crate::state::{ChangeNumber, StateError, StateTable, StateWriter};

/// The number of acts recorded so far.
const ACTS_KEY: &[u8] = b"acts";

pub(crate) struct LedgerTransaction<'p> {
    pub(crate) writing: StateWriter,
    posted: &'p LedgerState,
    changes: Changes,
    full_blocks: Vec<TailBlock>,
}

/// The changes to the posted state, applied once the poster's commit is durable.
pub(crate) struct Changes {
    pub(super) head: LedgerHead,
    pub(super) tail: TailBlock,
    pub(super) wallets: HashMap<AccountId, Wallet>,
    pub(super) allotments: BTreeMap<(AccountId, Month), u32>,
    /// None for spending that is no longer kept.
    pub(super) spending: BTreeMap<(KeyId, SpendingWindow), Option<u64>>,
    pub(super) operations: HashMap<String, OperationCode>,
    /// None for leases that ended.
    pub(super) leases: BTreeMap<(AccountId, ServerId), Option<Lease>>,
    /// `None` removes a server.
    pub(super) servers: BTreeMap<ServerId, Option<ServerRecord>>,
    /// The administrative acts that this transaction records.
    pub(crate) acts: Vec<AuditRecord>,
}

impl Changes {
    /// None yet.
    pub(super) fn to(posted: &LedgerState) -> Self {
        Self {
            head: posted.head,
            tail: posted.tail.clone(),
            wallets: HashMap::new(),
            allotments: BTreeMap::new(),
            spending: BTreeMap::new(),
            operations: HashMap::new(),
            leases: BTreeMap::new(),
            servers: BTreeMap::new(),
            acts: Vec::new(),
        }
    }
}

/// Changes that are durable, and the number of their commit.
pub(crate) struct Committed {
    pub(crate) changes: Changes,
    pub(crate) number: ChangeNumber,
}

impl<'p> LedgerTransaction<'p> {
    pub(crate) fn new(writing: StateWriter, posted: &'p LedgerState) -> Self {
        Self { writing, posted, changes: Changes::to(posted), full_blocks: Vec::new() }
    }

    /// Appends a draft as the next entry. Admission held its credits before, so an overdrawn wallet
    /// is a bug, unless bought credits were taken back that had been spent or held.
    pub(crate) fn append(&mut self, draft: Draft) -> Entry {
        let mut wallet = self.wallet(draft.account);
        let balance_after = wallet.balance + draft.to_wallet();
        wallet.taken_back += draft.taken_back();
        assert!(
            balance_after >= -wallet.taken_back,
            "{} would be overdrawn to {balance_after} by {draft:?}",
            draft.account
        );
        // An entry that cannot be read back would make the whole ledger unreadable.
        let fits = |amount: i64| i32::try_from(amount).is_ok();
        assert!(fits(draft.credits) && fits(draft.from_allotment), "amounts that do not fit into an entry: {draft:?}");
        let changes = &mut self.changes;
        let number = EntryNumber(changes.head.entries + 1);
        let entry = Entry { number, previous: wallet.newest, balance_after, draft };
        let hash = entry.hash_after(&changes.head.hash);
        if !changes.tail.push(&entry, hash) {
            let full = std::mem::replace(&mut changes.tail, TailBlock::empty(number));
            self.full_blocks.push(full);
            changes.tail.push(&entry, hash);
        }
        changes.head.entries = number.0;
        changes.head.hash = hash;
        changes.head.tail_first = changes.tail.first.0;
        changes.head.books.post(&entry.draft);
        wallet.balance = balance_after;
        wallet.newest = Some(number);
        changes.wallets.insert(entry.draft.account, wallet);
        self.use_allotment(&entry.draft);
        entry
    }

    fn use_allotment(&mut self, draft: &Draft) {
        if draft.from_allotment == 0 {
            return;
        }
        let used = i64::from(self.allotment_used(draft.account, draft.month)) + draft.from_allotment;
        let used = u32::try_from(used).unwrap_or_else(|_| panic!("{used} units used of an allotment by {draft:?}"));
        self.changes.allotments.insert((draft.account, draft.month), used);
    }

    pub(crate) fn wallet(&self, account: AccountId) -> Wallet {
        let changed = self.changes.wallets.get(&account);
        changed.or_else(|| self.posted.wallets.get(&account)).copied().unwrap_or_default()
    }

    pub(crate) fn allotment_used(&self, account: AccountId, month: Month) -> u32 {
        let changed = self.changes.allotments.get(&(account, month));
        changed.or_else(|| self.posted.allotments.get(&(account, month))).copied().unwrap_or(0)
    }

    fn spent(&self, key: KeyId, window: SpendingWindow) -> Option<u64> {
        let changed = self.changes.spending.get(&(key, window)).copied();
        changed.unwrap_or_else(|| self.posted.spending.get(&(key, window)).copied())
    }

    /// Adds a debit to what a key with a budget spent.
    pub(crate) fn add_spending(&mut self, key: KeyId, credits: u32, at: UnixMillis) {
        for window in SpendingWindow::all_at(at) {
            let spent = self.spent(key, window);
            if spent.is_none() {
                self.forget_oldest_window(key, window);
            }
            self.changes.spending.insert((key, window), Some(spent.unwrap_or(0) + u64::from(credits)));
        }
    }

    /// Subtracts a refunded debit from it.
    pub(crate) fn subtract_spending(&mut self, key: KeyId, credits: u32, at: UnixMillis) {
        for window in SpendingWindow::all_at(at) {
            if let Some(spent) = self.spent(key, window) {
                let left = spent.saturating_sub(u64::from(credits));
                self.changes.spending.insert((key, window), Some(left));
            }
        }
    }

    /// Copies what a key spent to the key that replaces it.
    pub(crate) fn copy_spending(&mut self, from: KeyId, to: KeyId) {
        for (window, spent) in self.posted.spending_of(from) {
            self.changes.spending.insert((to, window), Some(spent));
        }
    }

    /// What a key spent, with the changes of this transaction.
    pub(crate) fn spending_of(&self, key: KeyId) -> Vec<(SpendingWindow, u64)> {
        let posted = self.posted.spending_of(key).map(|(window, _)| (key, window));
        let changed = self.changes.spending.keys().copied().filter(|(changed, _)| *changed == key);
        let windows: BTreeSet<_> = posted.chain(changed).collect();
        windows.into_iter().filter_map(|(key, window)| Some((window, self.spent(key, window)?))).collect()
    }

    /// The budget of a key ends.
    pub(crate) fn forget_spending(&mut self, key: KeyId) {
        let windows = self.posted.spending_of(key).map(|(window, _)| ((key, window), None));
        self.changes.spending.extend(windows);
    }

    /// Makes room for a new window of a key, so that it has few.
    fn forget_oldest_window(&mut self, key: KeyId, new: SpendingWindow) {
        let kind = new.of_kind();
        let (first, last) = ((key, *kind.start()), (key, *kind.end()));
        let kept = self.posted.spending.range(first..=last).map(|(at, _)| *at);
        let kept = kept.filter(|at| self.changes.spending.get(at).is_none_or(Option::is_some));
        let kept: Vec<_> = kept.collect();
        if kept.len() >= WINDOWS_KEPT
            && let Some(oldest) = kept.first()
        {
            self.changes.spending.insert(*oldest, None);
        }
    }

    pub(crate) fn operation(&mut self, name: &str) -> OperationCode {
        let known = self.changes.operations.get(name).or_else(|| self.posted.operations.get(name));
        if let Some(code) = known {
            return *code;
        }
        let count = self.posted.operations.len() + self.changes.operations.len();
        // Operations are rows of a table in the program; there are only dozens.
        let code = OperationCode(u16::try_from(count + 1).unwrap_or(u16::MAX));
        self.changes.operations.insert(name.to_owned(), code);
        code
    }

    pub(crate) fn lease(&self, account: AccountId, server: ServerId) -> Option<Lease> {
        let changed = self.changes.leases.get(&(account, server)).copied();
        changed.unwrap_or_else(|| self.posted.leases.get(&(account, server)).copied())
    }

    /// The leases of an account, with the changes of this transaction.
    pub(crate) fn leases_of(&self, account: AccountId) -> impl Iterator<Item = (ServerId, Lease)> {
        let posted = self.posted.leases_of(account).map(|(server, _)| server);
        let changed = self.changes.leases.keys().filter(move |(of, _)| *of == account).map(|(_, server)| *server);
        let servers: BTreeSet<ServerId> = posted.chain(changed).collect();
        servers.into_iter().filter_map(move |server| Some((server, self.lease(account, server)?)))
    }

    /// All leases that were there when this transaction began, as they are now.
    pub(crate) fn all_leases(&self) -> Vec<((AccountId, ServerId), Lease)> {
        let posted = self.posted.leases.keys();
        posted.filter_map(|(account, server)| Some(((*account, *server), self.lease(*account, *server)?))).collect()
    }

    pub(crate) fn put_lease(&mut self, account: AccountId, server: ServerId, lease: Option<Lease>) {
        if self.lease(account, server) != lease {
            self.changes.leases.insert((account, server), lease);
        }
    }

    pub(crate) fn server(&self, server: ServerId) -> Option<&ServerRecord> {
        self.posted.servers.get(&server)
    }

    pub(crate) fn put_server(&mut self, server: ServerId, record: ServerRecord) {
        self.changes.servers.insert(server, Some(record));
    }

    /// Removes servers that were last there before this time.
    pub(crate) fn forget_servers(&mut self, before: UnixMillis) {
        let old = self.posted.servers.iter().filter(|(_, record)| record.seen_at < before);
        self.changes.servers.extend(old.map(|(server, _)| (*server, None)));
    }

    pub(crate) fn record_act(&mut self, act: AuditRecord) {
        self.changes.acts.push(act);
    }

    pub(crate) fn head(&self) -> &LedgerHead {
        &self.changes.head
    }

    /// Writes the changes and commits. After an error other than [`StateError::ChangedElsewhere`], it is unknown whether
    /// the commit happened.
    pub(crate) fn commit(mut self) -> Result<Committed, StateError> {
        if self.changes.head.entries > self.posted.head.entries {
            self.write_entries()?;
        }
        self.write_spending()?;
        self.write_acts()?;
        self.write_leases()?;
        let number = self.writing.commit()?;
        Ok(Committed { changes: self.changes, number })
    }

    fn write_spending(&mut self) -> Result<(), StateError> {
        let (writing, changes) = (&mut self.writing, &self.changes);
        if changes.spending.is_empty() {
            return Ok(());
        }
        let kept = changes.spending.iter().filter_map(|((key, window), spent)| Some((*key, *window, (*spent)?)));
        let records = kept.map(|(key, window, spent)| (spending_key(key, window), spent.to_le_bytes()));
        writing.put_all(StateTable::Spending, records)?;
        for ((key, window), _) in changes.spending.iter().filter(|(_, spent)| spent.is_none()) {
            writing.remove(StateTable::Spending, &spending_key(*key, *window))?;
        }
        Ok(())
    }

    fn write_acts(&mut self) -> Result<(), StateError> {
        if self.changes.acts.is_empty() {
            return Ok(());
        }
        let writing = &mut self.writing;
        let mut number: u64 = get_json(writing, StateTable::Meta, ACTS_KEY)?.unwrap_or(0);
        for act in &self.changes.acts {
            number += 1;
            put_json(writing, StateTable::Acts, &number.to_be_bytes(), act)?;
        }
        put_json(writing, StateTable::Meta, ACTS_KEY, &number)
    }

    fn write_leases(&mut self) -> Result<(), StateError> {
        let (writing, changes) = (&mut self.writing, &self.changes);
        for ((account, server), lease) in &changes.leases {
            let key = lease_key(*account, *server);
            match lease {
                Some(lease) => writing.put(StateTable::Leases, &key, &lease.to_bytes())?,
                None => writing.remove(StateTable::Leases, &key)?,
            }
        }
        for (server, record) in &changes.servers {
            match record {
                Some(record) => writing.put(StateTable::Servers, &server.0, &record.to_bytes())?,
                None => writing.remove(StateTable::Servers, &server.0)?,
            }
        }
        Ok(())
    }

    fn write_entries(&mut self) -> Result<(), StateError> {
        let (writing, changes) = (&mut self.writing, &self.changes);
        let blocks = self.full_blocks.iter().chain([&changes.tail]);
        writing.put_all(StateTable::Ledger, blocks.map(|block| (block.first.to_key(), block.to_bytes())))?;
        writing.put(StateTable::Meta, HEAD_KEY, &changes.head.to_bytes())?;
        let wallets = changes.wallets.iter();
        writing.put_all(StateTable::Wallets, wallets.map(|(account, wallet)| (account.to_key(), wallet.to_bytes())))?;
        if !changes.allotments.is_empty() {
            let used = changes.allotments.iter();
            let records = used.map(|((account, month), used)| (allotment_key(*account, *month), used.to_le_bytes()));
            writing.put_all(StateTable::Allotments, records)?;
        }
        if !changes.operations.is_empty() {
            let names = changes.operations.iter();
            writing
                .put_all(StateTable::Operations, names.map(|(name, code)| (code.0.to_be_bytes(), name.as_bytes())))?;
        }
        Ok(())
    }
}

impl LedgerState {
    pub(crate) fn apply(&mut self, changes: Changes) {
        self.head = changes.head;
        self.tail = changes.tail;
        self.wallets.extend(changes.wallets);
        self.allotments.extend(changes.allotments);
        put_or_remove(&mut self.spending, changes.spending);
        self.operations.extend(changes.operations);
        put_or_remove(&mut self.leases, changes.leases);
        put_or_remove(&mut self.servers, changes.servers);
    }
}

/// Takes over changed records; `None` removes one.
fn put_or_remove<K: Ord, V>(records: &mut BTreeMap<K, V>, changes: BTreeMap<K, Option<V>>) {
    for (key, record) in changes {
        match record {
            Some(record) => records.insert(key, record),
            None => records.remove(&key),
        };
    }
}
