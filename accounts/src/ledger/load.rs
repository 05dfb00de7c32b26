//! The writer's view of the ledger in memory: the head, the growing block, every wallet, and the
//! use of every month.

use std::collections::{BTreeMap, HashMap};

use hornbook_base::clock::{Month, UnixDay, UnixMillis};

use crate::budget::SpendingWindow;
use crate::ids::{AccountId, EntryNumber, KeyId};
use crate::leases::record::{Lease, ServerId, ServerRecord, parse_lease_key};
pub(crate) use crate::state::check::HEAD_KEY;
use crate::state::codec::{Decoder, Malformed, RecordEncoder};
use crate::state::{LedgerMark, StateError, StateReader, StateTable};

use super::block::{Block, TailBlock};
use super::books::Books;
use super::entry::{Entry, EntryKind, OperationCode};

pub(crate) const CHECKPOINT_KEY: &[u8] = b"checkpoint";

/// The end of the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LedgerHead {
    pub(crate) entries: u64,
    pub(crate) hash: [u8; 32],
    pub(crate) tail_first: u64,
    pub(crate) books: Books,
}

impl LedgerHead {
    pub(crate) fn mark(&self) -> LedgerMark {
        LedgerMark { entries: self.entries, hash: self.hash }
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut encoder = RecordEncoder::default();
        encoder.raw(&self.entries.to_le_bytes());
        encoder.raw(&self.hash);
        encoder.raw(&self.tail_first.to_le_bytes());
        self.books.encode(&mut encoder);
        encoder.bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let entries = u64::from_le_bytes(decoder.array()?);
        let hash = decoder.array()?;
        let tail_first = u64::from_le_bytes(decoder.array()?);
        let books = Books::decode(&mut decoder)?;
        decoder.finish()?;
        Ok(Self { entries, hash, tail_first, books })
    }

    pub(crate) fn read(reading: &StateReader) -> Result<Self, StateError> {
        let Some(bytes) = reading.get(StateTable::Meta, HEAD_KEY)? else { return Ok(Self::default()) };
        Self::from_bytes(&bytes).map_err(|_| StateError::bad_record(StateTable::Meta.name(), HEAD_KEY))
    }
}

/// An account's posted balance and its newest entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wallet {
    /// Negative by at most the credits that were taken back.
    pub(crate) balance: i64,
    pub(crate) newest: Option<EntryNumber>,
    /// All bought credits that refunds and disputes ever took back, spent or not.
    pub(crate) taken_back: i64,
}

impl Wallet {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24);
        bytes.extend(self.balance.to_le_bytes());
        bytes.extend(self.newest.map_or(0, |number| number.0).to_le_bytes());
        if self.taken_back != 0 {
            bytes.extend(self.taken_back.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        let balance = i64::from_le_bytes(decoder.array()?);
        let newest = u64::from_le_bytes(decoder.array()?);
        let taken_back = if decoder.is_empty() { 0 } else { i64::from_le_bytes(decoder.array()?) };
        decoder.finish()?;
        Ok(Self { balance, newest: (newest > 0).then_some(EntryNumber(newest)), taken_back })
    }
}

/// Everything posted so far.
pub(crate) struct LedgerState {
    pub(crate) head: LedgerHead,
    pub(crate) tail: TailBlock,
    pub(crate) wallets: HashMap<AccountId, Wallet>,
    pub(crate) allotments: BTreeMap<(AccountId, Month), u32>,
    /// What keys with a budget spent.
    pub(crate) spending: BTreeMap<(KeyId, SpendingWindow), u64>,
    pub(crate) operations: HashMap<String, OperationCode>,
    /// What servers have leased, if several share the state.
    pub(crate) leases: BTreeMap<(AccountId, ServerId), Lease>,
    pub(crate) servers: BTreeMap<ServerId, ServerRecord>,
}

impl LedgerState {
    pub(crate) fn load(reading: &StateReader) -> Result<Self, StateError> {
        let head = LedgerHead::read(reading)?;
        let operations = read_operations(reading)?.into_iter().map(|(code, name)| (name, code)).collect();
        Ok(Self {
            tail: load_tail(reading, &head)?,
            wallets: read_wallets(reading)?,
            allotments: read_allotments(reading)?,
            spending: read_spending(reading)?,
            operations,
            leases: read_leases(reading)?,
            servers: read_servers(reading)?,
            head,
        })
    }

    /// The posted balance of one account.
    pub(crate) fn balance(&self, account: AccountId) -> i64 {
        self.wallets.get(&account).map_or(0, |wallet| wallet.balance)
    }

    /// The posted use of one account by month.
    pub(crate) fn months(&self, account: AccountId) -> impl Iterator<Item = (i32, u32)> + '_ {
        let range = (account, Month(i32::MIN))..=(account, Month(i32::MAX));
        self.allotments.range(range).map(|((_, month), used)| (month.0, *used))
    }

    /// The leases of one account.
    pub(crate) fn leases_of(&self, account: AccountId) -> impl Iterator<Item = (ServerId, Lease)> + Clone + '_ {
        let range = (account, ServerId([0; 16]))..=(account, ServerId([0xff; 16]));
        self.leases.range(range).map(|((_, server), lease)| (*server, *lease))
    }

    /// The posted spending of one key.
    pub(crate) fn spending_of(&self, key: KeyId) -> impl Iterator<Item = (SpendingWindow, u64)> + '_ {
        let last = *SpendingWindow::Day(UnixDay(i32::MAX)).of_kind().end();
        self.spending.range((key, SpendingWindow::Total)..=(key, last)).map(|((_, window), spent)| (*window, *spent))
    }
}

/// The charged calls after an entry, with their times and keys.
pub(crate) fn calls_after(reading: &StateReader, after: EntryNumber) -> Result<Vec<(UnixMillis, KeyId)>, StateError> {
    let block = reading.at_or_before(StateTable::Ledger, &after.to_key())?;
    let (start, mut calls) = (block.map_or_else(Vec::new, |(key, _)| key), Vec::new());
    reading.scan(StateTable::Ledger, &start, &mut |key, payload| {
        let new = block_entries(key, payload)?.into_iter().filter(|entry| entry.number > after);
        calls.extend(new.filter_map(|entry| entry.charged_call()));
        Ok(true)
    })?;
    Ok(calls)
}

fn load_tail(reading: &StateReader, head: &LedgerHead) -> Result<TailBlock, StateError> {
    let first = EntryNumber(head.tail_first);
    let Some(bytes) = reading.get(StateTable::Ledger, &first.to_key())? else {
        return Ok(TailBlock::empty(EntryNumber(head.entries + 1)));
    };
    TailBlock::resume(first, &bytes).map_err(|_| StateError::bad_record(StateTable::Ledger.name(), &first.to_key()))
}

pub(crate) fn read_wallets(reading: &StateReader) -> Result<HashMap<AccountId, Wallet>, StateError> {
    let mut wallets = HashMap::new();
    reading.scan(StateTable::Wallets, &[], &mut |key, payload| {
        let damaged = || StateError::bad_record(StateTable::Wallets.name(), key);
        let account = AccountId::from_key(key).ok_or_else(damaged)?;
        wallets.insert(account, Wallet::from_bytes(payload).map_err(|_| damaged())?);
        Ok(true)
    })?;
    Ok(wallets)
}

pub(crate) fn allotment_key(account: AccountId, month: Month) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&account.to_key());
    // With the sign bit flipped, months before 1970 sort first.
    key[4..].copy_from_slice(&((month.0 as u32) ^ 1 << 31).to_be_bytes());
    key
}

pub(super) fn parse_allotment_key(bytes: &[u8]) -> Option<(AccountId, Month)> {
    let [a1, a2, a3, a4, m1, m2, m3, m4] = *bytes else { return None };
    let month = Month((u32::from_be_bytes([m1, m2, m3, m4]) ^ 1 << 31) as i32);
    Some((AccountId(u32::from_be_bytes([a1, a2, a3, a4])), month))
}

pub(crate) fn read_allotments(reading: &StateReader) -> Result<BTreeMap<(AccountId, Month), u32>, StateError> {
    let mut allotments = BTreeMap::new();
    reading.scan(StateTable::Allotments, &[], &mut |key, payload| {
        let row = parse_allotment_key(key).zip(payload.try_into().ok());
        let (at, used) = row.ok_or_else(|| StateError::bad_record(StateTable::Allotments.name(), key))?;
        allotments.insert(at, u32::from_le_bytes(used));
        Ok(true)
    })?;
    Ok(allotments)
}

pub(crate) fn spending_key(key: KeyId, window: SpendingWindow) -> [u8; 9] {
    let (kind, number) = match window {
        SpendingWindow::Total => (0, 0),
        SpendingWindow::Month(month) => (1, month.0),
        SpendingWindow::Day(day) => (2, day.0),
    };
    let mut bytes = [0; 9];
    bytes[..4].copy_from_slice(&key.to_key());
    bytes[4] = kind;
    bytes[5..].copy_from_slice(&((number as u32) ^ 1 << 31).to_be_bytes());
    bytes
}

pub(super) fn parse_spending_key(bytes: &[u8]) -> Option<(KeyId, SpendingWindow)> {
    let [k1, k2, k3, k4, kind, n1, n2, n3, n4] = *bytes else { return None };
    let key = KeyId(u32::from_be_bytes([k1, k2, k3, k4]));
    let number = (u32::from_be_bytes([n1, n2, n3, n4]) ^ 1 << 31) as i32;
    let window = match kind {
        0 => SpendingWindow::Total,
        1 => SpendingWindow::Month(Month(number)),
        2 => SpendingWindow::Day(UnixDay(number)),
        _ => return None,
    };
    Some((key, window))
}

pub(crate) fn read_spending(reading: &StateReader) -> Result<BTreeMap<(KeyId, SpendingWindow), u64>, StateError> {
    let mut spending = BTreeMap::new();
    reading.scan(StateTable::Spending, &[], &mut |key, payload| {
        let row = parse_spending_key(key).zip(payload.try_into().ok());
        let (at, spent) = row.ok_or_else(|| StateError::bad_record(StateTable::Spending.name(), key))?;
        spending.insert(at, u64::from_le_bytes(spent));
        Ok(true)
    })?;
    Ok(spending)
}

pub(crate) fn read_operations(reading: &StateReader) -> Result<BTreeMap<OperationCode, String>, StateError> {
    let mut names = BTreeMap::new();
    reading.scan(StateTable::Operations, &[], &mut |key, payload| {
        let damaged = || StateError::bad_record(StateTable::Operations.name(), key);
        let code = u16::from_be_bytes(key.try_into().map_err(|_| damaged())?);
        let name = std::str::from_utf8(payload).map_err(|_| damaged())?;
        names.insert(OperationCode(code), name.to_owned());
        Ok(true)
    })?;
    Ok(names)
}

fn read_leases(reading: &StateReader) -> Result<BTreeMap<(AccountId, ServerId), Lease>, StateError> {
    let mut leases = BTreeMap::new();
    reading.scan(StateTable::Leases, &[], &mut |key, payload| {
        let row = parse_lease_key(key).zip(Lease::from_bytes(payload).ok());
        let (of, lease) = row.ok_or_else(|| StateError::bad_record(StateTable::Leases.name(), key))?;
        leases.insert(of, lease);
        Ok(true)
    })?;
    Ok(leases)
}

fn read_servers(reading: &StateReader) -> Result<BTreeMap<ServerId, ServerRecord>, StateError> {
    let mut servers = BTreeMap::new();
    reading.scan(StateTable::Servers, &[], &mut |key, payload| {
        let row = ServerId::from_key(key).zip(ServerRecord::from_bytes(payload).ok());
        let (server, record) = row.ok_or_else(|| StateError::bad_record(StateTable::Servers.name(), key))?;
        servers.insert(server, record);
        Ok(true)
    })?;
    Ok(servers)
}

/// The entries of one stored block.
pub(crate) fn block_entries(key: &[u8], payload: &[u8]) -> Result<Vec<Entry>, StateError> {
    let damaged = || StateError::bad_record(StateTable::Ledger.name(), key);
    let block = parse_block(key, payload)?;
    let mut entries = Vec::new();
    block.each(&mut |entry| entries.push(entry)).map_err(|_| damaged())?;
    Ok(entries)
}

pub(crate) fn parse_block<'b>(key: &[u8], payload: &'b [u8]) -> Result<Block<'b>, StateError> {
    let damaged = || StateError::bad_record(StateTable::Ledger.name(), key);
    let first = EntryNumber(u64::from_be_bytes(key.try_into().map_err(|_| damaged())?));
    Block::parse(first, payload).map_err(|_| damaged())
}

/// An account's newest entries, newest first.
pub(crate) fn newest_entries(
    reading: &StateReader,
    account: AccountId,
    count: usize,
) -> Result<Vec<Entry>, StateError> {
    entries_after(reading, account, EntryNumber(0), count)
}

/// The newest of an account's entries with higher numbers than `after`, newest first.
pub(crate) fn entries_after(
    reading: &StateReader,
    account: AccountId,
    after: EntryNumber,
    count: usize,
) -> Result<Vec<Entry>, StateError> {
    let bytes = reading.get(StateTable::Wallets, &account.to_key())?;
    let wallet = bytes.as_deref().map(Wallet::from_bytes).transpose();
    let wallet = wallet.map_err(|_| StateError::bad_record(StateTable::Wallets.name(), &account.to_key()))?;
    match wallet.and_then(|wallet| wallet.newest) {
        Some(newest) => follow(reading, account, newest, after, count),
        None => Ok(Vec::new()),
    }
}

/// The entries of an account from `from` on, newest first. Each entry links to the account's
/// previous one. Empty if `from` belongs to another account.
pub(crate) fn entries_from(
    reading: &StateReader,
    account: AccountId,
    from: EntryNumber,
    count: usize,
) -> Result<Vec<Entry>, StateError> {
    follow(reading, account, from, EntryNumber(0), count)
}

fn follow(
    reading: &StateReader,
    account: AccountId,
    from: EntryNumber,
    after: EntryNumber,
    count: usize,
) -> Result<Vec<Entry>, StateError> {
    let mut found = Vec::new();
    let mut next = Some(from);
    let mut block: Vec<Entry> = Vec::new();
    while let Some(number) = next.filter(|number| *number > after && found.len() < count) {
        if block.first().is_none_or(|first| first.number > number) {
            let Some((key, payload)) = reading.at_or_before(StateTable::Ledger, &number.to_key())? else { break };
            block = block_entries(&key, &payload)?;
        }
        // Entries before the last roll-up are no longer stored one by one.
        let Ok(at) = block.binary_search_by_key(&number, |entry| entry.number) else { break };
        if block[at].draft.account != account {
            break;
        }
        next = block[at].previous;
        found.push(block[at].clone());
    }
    Ok(found)
}

/// The maximum number of calls to read, so that the start does not wait long: nearly 17,000 a
/// second for a minute.
const RECENT_MAX: usize = 1_000_000;

/// The charged calls since `since` with their keys. They restore the rate windows after a restart.
/// Reads blocks backwards until one has no entry since then.
pub(crate) fn calls_since(reading: &StateReader, since: UnixMillis) -> Result<Vec<(UnixMillis, KeyId)>, StateError> {
    let mut found = Vec::new();
    let mut before = u64::MAX;
    while let Some((key, payload)) = reading.at_or_before(StateTable::Ledger, &before.to_be_bytes())? {
        let mut recent = false;
        let block = parse_block(&key, &payload)?;
        let visited = block.each(&mut |entry| {
            recent |= entry.draft.at >= since;
            if let (EntryKind::Usage, Some(key)) = (entry.draft.kind, entry.draft.key)
                && entry.draft.at >= since
            {
                found.push((entry.draft.at, key));
            }
        });
        visited.map_err(|_| StateError::bad_record(StateTable::Ledger.name(), &key))?;
        if !recent || block.first.0 <= 1 || found.len() >= RECENT_MAX {
            break;
        }
        before = block.first.0 - 1;
    }
    Ok(found)
}
