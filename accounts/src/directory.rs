//! All accounts, keys and signed-in people, in memory. A key is found by its digest in one lookup.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hornbook_base::clock::UnixMillis;

use super::balance::AccountBalance;
use super::budget::{KEYS_IN_LINE_MAX, KeySpending, SpendingWindow};
use super::ids::{AccountId, EntryNumber, KeyId};
use super::key::{KeyDigest, PlainKey};
use super::leases::record::ServerId;
use super::ledger::load::LedgerState;
use super::people::people_index::{PeopleIndex, StoredPeople};
use super::rate_limit::KeyRateLimiter;
use super::records::{AccountRecord, AccountStatus, CounterRecord, KeyRecord, read_all_json};
use super::tier::Tier;
use crate::state::{StateError, StateReader, StateTable};

/// Locks, even if the lock is poisoned: a panic happens only between two complete changes, so the
/// data is consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct AccountState {
    pub(crate) id: AccountId,
    pub(crate) balance: AccountBalance,
    /// Tier, approval and formation in one byte, which every call reads.
    standing: AtomicU8,
    record: Mutex<AccountRecord>,
}

/// The properties of an account that admission needs.
#[derive(Clone, Copy)]
pub(crate) struct AccountFlags {
    pub(crate) tier: Tier,
    pub(crate) approved: bool,
    pub(crate) company_formed: bool,
}

impl AccountFlags {
    fn of(record: &AccountRecord) -> Self {
        let approved = record.status == AccountStatus::Approved;
        Self { tier: record.tier, approved, company_formed: record.company_formed }
    }

    fn to_byte(self) -> u8 {
        self.tier as u8 | u8::from(self.approved) << 4 | u8::from(self.company_formed) << 5
    }

    fn from_byte(byte: u8) -> Self {
        Self { tier: Tier::from_index(byte & 15), approved: byte & 16 != 0, company_formed: byte & 32 != 0 }
    }
}

impl AccountState {
    pub(crate) fn new(record: AccountRecord, balance: AccountBalance) -> Self {
        let standing = AtomicU8::new(AccountFlags::of(&record).to_byte());
        Self { id: record.id, balance, standing, record: Mutex::new(record) }
    }

    pub(crate) fn standing(&self) -> AccountFlags {
        AccountFlags::from_byte(self.standing.load(Ordering::Acquire))
    }

    pub(crate) fn record(&self) -> AccountRecord {
        lock(&self.record).clone()
    }

    pub(crate) fn replace(&self, record: AccountRecord) {
        self.standing.store(AccountFlags::of(&record).to_byte(), Ordering::Release);
        *lock(&self.record) = record;
    }
}

pub(crate) struct KeyState {
    pub(crate) id: KeyId,
    pub(crate) account: Arc<AccountState>,
    /// The key that created this one.
    parent: Option<Arc<KeyState>>,
    pub(crate) spending: KeySpending,
    /// The first moment at which the key no longer works; `i64::MIN` if it is revoked.
    ends_at: AtomicI64,
    pace: Mutex<KeyRateLimiter>,
    /// Calls that are charged to a lease and not reported yet.
    unreported: AtomicU32,
    last_used: AtomicI64,
    last_used_stored: AtomicI64,
    /// Apart from the fields that every call reads: names and dates would push them out of the CPU cache.
    record: Box<Mutex<KeyRecord>>,
    pub(crate) scopes: super::scope::ScopeSet,
}

/// The stored time of last use is at most this far behind.
const LAST_USED_EVERY_MILLIS: i64 = 30_000;

impl KeyState {
    fn new(
        record: KeyRecord,
        account: Arc<AccountState>,
        parent: Option<Arc<Self>>,
        counter: &CounterRecord,
        spending: KeySpending,
    ) -> Self {
        Self {
            id: record.id,
            account,
            parent,
            spending,
            ends_at: AtomicI64::new(end_of(&record)),
            unreported: AtomicU32::new(0),
            last_used: AtomicI64::new(counter.last_used.0),
            last_used_stored: AtomicI64::new(counter.last_used.0),
            pace: Mutex::new(KeyRateLimiter::resume(&counter.days)),
            scopes: record.scopes,
            record: Box::new(Mutex::new(record)),
        }
    }

    /// Whether the key works. It ends with the key that created it.
    pub(crate) fn is_live(&self, now: UnixMillis) -> bool {
        self.line().all(|key| now.0 < key.ends_at.load(Ordering::Acquire))
    }

    /// The key, the key that created it, and so on.
    pub(crate) fn line(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |key| key.parent.as_deref()).take(KEYS_IN_LINE_MAX)
    }

    /// The keys of the line whose budgets count a debit.
    pub(crate) fn counted_by(&self, debit: EntryNumber) -> impl Iterator<Item = KeyId> {
        let counts = move |key: &&Self| key.spending.budget().is_some_and(|budget| debit > budget.since);
        self.line().filter(counts).map(|key| key.id)
    }

    /// The key whose rate limits apply. A key gets no further calls by creating keys.
    pub(crate) fn rate_limited(&self) -> &Self {
        self.line().last().unwrap_or(self)
    }

    /// Returns whether calls were counted since the last call of this method.
    pub(crate) fn take_dirty(&self) -> bool {
        lock(&self.pace).take_dirty()
    }

    pub(crate) fn mark_dirty(&self) {
        lock(&self.pace).mark_dirty();
    }

    /// The rate limiter that this key shares with the key that created it.
    pub(crate) fn rate_limiter(&self) -> MutexGuard<'_, KeyRateLimiter> {
        lock(&self.rate_limited().pace)
    }

    /// The calls, of this key and of all that share its limits, that are not reported yet.
    pub(crate) fn unreported(&self) -> u32 {
        self.rate_limited().unreported.load(Ordering::Relaxed)
    }

    pub(crate) fn count_unreported(&self) {
        self.rate_limited().unreported.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uncount_unreported(&self) {
        self.rate_limited().unreported.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn used(&self, at: UnixMillis) {
        self.last_used.fetch_max(at.0, Ordering::Relaxed);
    }

    pub(crate) fn last_used(&self) -> UnixMillis {
        UnixMillis(self.last_used.load(Ordering::Relaxed))
    }

    pub(crate) fn record(&self) -> KeyRecord {
        lock(&self.record).clone()
    }

    fn digest(&self) -> KeyDigest {
        lock(&self.record).digest
    }

    /// The public prefix of the key.
    pub(crate) fn prefix(&self) -> String {
        lock(&self.record).prefix.clone()
    }

    fn replace(&self, record: KeyRecord) {
        self.ends_at.store(end_of(&record), Ordering::Release);
        *lock(&self.record) = record;
    }

    /// The counter record to store now.
    pub(crate) fn counter(&self) -> CounterRecord {
        let (used, stored) = (self.last_used.load(Ordering::Relaxed), self.last_used_stored.load(Ordering::Relaxed));
        let last_used = if used - stored >= LAST_USED_EVERY_MILLIS { used } else { stored };
        self.last_used_stored.store(last_used, Ordering::Relaxed);
        CounterRecord { last_used: UnixMillis(last_used), days: lock(&self.pace).days() }
    }
}

fn end_of(record: &KeyRecord) -> i64 {
    if record.revoked_at.is_some() {
        return i64::MIN;
    }
    let access_ends_at = record.grant.as_ref().map(|grant| grant.access_ends_at);
    let ends = [record.expires_at, access_ends_at];
    ends.into_iter().flatten().map(|end| end.0).min().unwrap_or(i64::MAX)
}

/// A key, and the digest of its present text. A refresh of an agent's access changes the digest, and the key stays.
struct KeyByDigest {
    digest: KeyDigest,
    state: Arc<KeyState>,
}

#[derive(Default)]
pub(crate) struct Directory {
    accounts: HashMap<AccountId, Arc<AccountState>>,
    keys: HashMap<KeyId, Arc<KeyState>>,
    by_digest: HashMap<u128, KeyByDigest>,
    pub(crate) register: PeopleIndex,
    /// This server, if it shares the state with others.
    server: Option<ServerId>,
}

impl Directory {
    pub(crate) fn of_server(server: Option<ServerId>) -> Self {
        Self { server, ..Self::default() }
    }

    /// The keys that are stored but not in memory.
    pub(crate) fn missing(&self, stored: &Stored) -> Vec<KeyId> {
        stored.keys.iter().map(|record| record.id).filter(|id| !self.keys.contains_key(id)).collect()
    }

    /// Takes over the stored records. Calls in progress keep the states they hold. `counters` are
    /// those of the missing keys.
    pub(crate) fn take_over(&mut self, stored: Stored, counters: &HashMap<KeyId, CounterRecord>, posted: &LedgerState) {
        if let Some(people) = stored.people {
            self.register.take_over(people);
        }
        for record in stored.accounts {
            let id = record.id;
            let balance = posted.balance(id);
            match self.accounts.get(&id) {
                Some(state) => {
                    state.balance.reset_posted(balance, posted.months(id));
                    state.replace(record);
                }
                None => self.add_account(AccountState::new(record, AccountBalance::new(balance, posted.months(id)))),
            }
            if let Some(state) = self.accounts.get(&id) {
                self.take_over_leases(state, posted);
            }
        }
        for record in stored.keys {
            match self.keys.get(&record.id) {
                Some(state) => {
                    state.spending.replace(record.budget, posted.spending_of(record.id));
                    self.replace_key(record);
                }
                None => {
                    let counter = counters.get(&record.id).cloned().unwrap_or_default();
                    let spending = KeySpending::new(record.budget, posted.spending_of(record.id));
                    self.add_key(record, &counter, spending);
                }
            }
        }
    }

    pub(crate) fn add_account(&mut self, state: AccountState) {
        self.accounts.insert(state.id, Arc::new(state));
    }

    /// Adds a key that has not been used yet. A key that replaces another has its spending.
    pub(crate) fn add_new_key(&mut self, record: KeyRecord, spent: impl IntoIterator<Item = (SpendingWindow, u64)>) {
        let spending = KeySpending::new(record.budget, spent);
        self.add_key(record, &CounterRecord::default(), spending);
    }

    fn add_key(&mut self, record: KeyRecord, counter: &CounterRecord, spending: KeySpending) {
        // A key without its account or its parent cannot be used; the ledger check reports it.
        let Some(account) = self.accounts.get(&record.account) else { return };
        let parent = record.parent.map(|parent| self.keys.get(&parent).cloned());
        let Some(parent) = parent.map_or(Some(None), |found| found.map(Some)) else { return };
        let digest = record.digest;
        let state = Arc::new(KeyState::new(record, Arc::clone(account), parent, counter, spending));
        self.by_digest.insert(digest.bucket(), KeyByDigest { digest, state: Arc::clone(&state) });
        self.keys.insert(state.id, state);
    }

    /// Puts a changed record in place. If the text of the key changed, the old text no longer finds it.
    pub(crate) fn replace_key(&mut self, record: KeyRecord) {
        let Some(state) = self.keys.get(&record.id).cloned() else { return };
        let (before, digest) = (state.digest(), record.digest);
        state.replace(record);
        if !before.matches(&digest) {
            self.by_digest.remove(&before.bucket());
            self.by_digest.insert(digest.bucket(), KeyByDigest { digest, state });
        }
    }

    /// Takes over the posted balances of these accounts and the spending of these keys.
    pub(crate) fn take_over_balances(
        &self,
        accounts: impl IntoIterator<Item = AccountId>,
        keys: impl IntoIterator<Item = KeyId>,
        posted: &LedgerState,
    ) {
        for state in accounts.into_iter().filter_map(|account| self.account(account)) {
            state.balance.reset_posted(posted.balance(state.id), posted.months(state.id));
            self.take_over_leases(state, posted);
        }
        for state in keys.into_iter().filter_map(|key| self.key(key)) {
            state.spending.replace(state.record().budget, posted.spending_of(state.id));
        }
    }

    /// Takes over who has leased some of an account.
    fn take_over_leases(&self, state: &AccountState, posted: &LedgerState) {
        let Some(own) = self.server else { return };
        let leases = posted.leases_of(state.id);
        let elsewhere = leases.clone().filter(|(server, _)| *server != own);
        state.balance.set_elsewhere(elsewhere.map(|(_, lease)| (lease.month, lease.amounts)));
        let has_lease = |id| leases.clone().any(|(server, lease)| server == own && lease.id == id);
        if state.balance.lease().is_some_and(|lease| !has_lease(lease.id)) {
            state.balance.end_lease();
        }
    }

    pub(crate) fn remove_key(&mut self, id: KeyId) {
        if let Some(state) = self.keys.remove(&id) {
            self.by_digest.remove(&state.digest().bucket());
        }
    }

    /// Removes an account without keys as if it had never existed.
    pub(crate) fn remove_account(&mut self, id: AccountId) {
        self.accounts.remove(&id);
    }

    pub(crate) fn find(&self, key: &PlainKey) -> Option<&Arc<KeyState>> {
        let digest = key.digest();
        self.by_digest.get(&digest.bucket()).filter(|found| found.digest.matches(&digest)).map(|found| &found.state)
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&Arc<AccountState>> {
        self.accounts.get(&id)
    }

    pub(crate) fn key(&self, id: KeyId) -> Option<&Arc<KeyState>> {
        self.keys.get(&id)
    }

    pub(crate) fn accounts(&self) -> impl Iterator<Item = &Arc<AccountState>> {
        self.accounts.values()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<KeyState>> {
        self.keys.values()
    }
}

/// Accounts, keys and people as stored in the file, all of them or those that changed. They are read
/// before the directory is locked, because calls wait for that lock.
pub(crate) struct Stored {
    pub(crate) accounts: Vec<AccountRecord>,
    pub(crate) keys: Vec<KeyRecord>,
    /// None: they are as before.
    pub(crate) people: Option<StoredPeople>,
}

pub(crate) fn read_stored(reading: &StateReader) -> Result<Stored, StateError> {
    let (accounts, keys) = (read_all_json(reading, StateTable::Accounts)?, read_all_json(reading, StateTable::Keys)?);
    Ok(Stored { accounts, keys, people: Some(StoredPeople::read(reading)?) })
}

pub(crate) fn read_counters(
    reading: &StateReader,
    keys: &[KeyId],
) -> Result<HashMap<KeyId, CounterRecord>, StateError> {
    let mut counters = HashMap::with_capacity(keys.len());
    for key in keys {
        if let Some(bytes) = reading.get(StateTable::Counters, &key.to_key())? {
            let damaged = |_| StateError::bad_record(StateTable::Counters.name(), &key.to_key());
            counters.insert(*key, CounterRecord::from_bytes(&bytes).map_err(damaged)?);
        }
    }
    Ok(counters)
}
