//! Reports of what each account used, for a biller outside: which entries of the ledger each report covers, and how far
//! the reports are delivered.
//!
//! A report covers the entries after those of the report before it, up to the end of an hour, so every entry is in
//! exactly one report, whatever its time. Which entries they are is stored before a report is first sent: a retry, a
//! restart or another server sends the same report with the same ids. Entries that are not delivered are not rolled up.

use std::collections::BTreeMap;

use hornbook_base::clock::UnixMillis;
use hornbook_base::hex;
use serde::{Deserialize, Serialize};

use super::Accounts;
use super::changes::no_memory_effect;
use super::error::ChangeError;
use super::ids::{AccountId, EntryNumber};
use super::ledger::load::LedgerHead;
use super::ledger::poster::LedgerTransaction;
use super::ledger::rollup::Checkpoint;
pub use super::ledger::usage::AccountUsage;
use super::ledger::usage::{SETTLED_AFTER_MILLIS, end_of_hour, sums_of};
use super::records::{get_json, put_json, read_json};
use crate::state::{StateError, StateReader, StateTable};

/// A part of a report has at most this many accounts.
pub const ACCOUNTS_PER_PART: usize = 500;

/// Reports of this many hours wait at most, about a month. The last of them then covers more than an hour.
pub const WAITING_HOURS_MAX: usize = 750;

pub const HOUR_MILLIS: i64 = 3_600_000;

const PROGRESS_KEY: &[u8] = b"usage-reports";

/// How far the ledger is reported.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageProgress {
    /// Entries up to this one are delivered, or are older than the first report.
    pub delivered: EntryNumber,
    /// The hours before this time are delivered or waiting.
    pub until: UnixMillis,
    /// The oldest first.
    pub waiting: Vec<WaitingUsage>,
}

/// The entries of a report that is not completely delivered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingUsage {
    /// The last entry. The first one follows the last entry of the report before.
    pub through: EntryNumber,
    /// The hash of the last entry, which no other ledger has.
    pub hash: String,
    pub since: UnixMillis,
    pub until: UnixMillis,
    /// It may have been sent, so its entries stay the same.
    pub is_fixed: bool,
    pub parts_delivered: u32,
    /// Some of its entries were rolled up before it was delivered, so its sums are lost.
    pub is_rolled_up: bool,
}

/// A report to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageReport {
    pub first: EntryNumber,
    pub range: WaitingUsage,
    /// In the order of their numbers.
    pub accounts: Vec<(AccountId, AccountUsage)>,
}

impl UsageReport {
    /// The id of the whole report. Only the ledger decides it: the numbers of the first and the last entry, and the
    /// beginning of the hash of the last one. A receiver may have parts of a report whose sums were lost later.
    pub fn id(&self) -> String {
        let WaitingUsage { through, hash, is_rolled_up, .. } = &self.range;
        let lost = if *is_rolled_up { "-rolled-up" } else { "" };
        format!("usage-{}-{}-{}{lost}", self.first.0, through.0, hash.get(..16).unwrap_or(hash))
    }

    /// The id of what an account used.
    pub fn usage_id(&self, account: AccountId) -> String {
        format!("{}-{account}", self.id())
    }

    /// At least one.
    pub fn parts(&self) -> u32 {
        u32::try_from(self.accounts.len().div_ceil(ACCOUNTS_PER_PART)).unwrap_or(u32::MAX).max(1)
    }

    /// The accounts of a part; the first part is 0.
    pub fn part(&self, number: u32) -> &[(AccountId, AccountUsage)] {
        self.accounts.chunks(ACCOUNTS_PER_PART).nth(number as usize).unwrap_or_default()
    }

    /// The number of hours that it covers: more than one if the service stood still, or had no biller.
    pub fn hours(&self) -> i64 {
        (self.range.until.0 - self.range.since.0) / HOUR_MILLIS
    }
}

impl UsageProgress {
    fn read(reading: &StateReader) -> Result<Option<Self>, StateError> {
        read_json(reading, StateTable::Meta, PROGRESS_KEY)
    }

    /// The end of the oldest hour that is not delivered.
    pub fn oldest_waiting(&self) -> Option<UnixMillis> {
        self.waiting.first().map(|range| range.until)
    }

    /// Adds a report of the hours that have ended.
    fn mark(&mut self, reading: &StateReader, now: UnixMillis) -> Result<(), StateError> {
        let until = ended_hour(now);
        // After a clock that was ahead was set back, hours begin again.
        let is_ahead = self.until.0 > now.0 + HOUR_MILLIS;
        if until <= self.until && !is_ahead {
            return Ok(());
        }
        let since = if is_ahead { until.plus_millis(-HOUR_MILLIS) } else { self.until };
        let after = self.waiting.last().map_or(self.delivered, |range| range.through);
        self.until = until;
        let Some(end) = end_of_hour(reading, after, until, now)? else { return Ok(()) };
        let (through, hash) = (EntryNumber(end.entries), hex::encode(&end.hash));
        let is_full = self.waiting.len() >= WAITING_HOURS_MAX;
        match self.waiting.last_mut().filter(|last| is_full && !last.is_fixed) {
            Some(last) => *last = WaitingUsage { through, hash, until, ..last.clone() },
            None => self.waiting.push(WaitingUsage::new((through, hash), since, until)),
        }
        Ok(())
    }

    /// Fixes the entries of the oldest report. Entries that were rolled up get a report without sums.
    fn fix_oldest(&mut self, checkpoint: &Checkpoint) {
        let rolled_up = EntryNumber(checkpoint.through);
        let is_lost = rolled_up > self.delivered;
        let Some(oldest) = self.waiting.first_mut() else { return };
        if is_lost && !oldest.is_rolled_up {
            if oldest.is_fixed || oldest.through <= rolled_up {
                (oldest.is_rolled_up, oldest.parts_delivered) = (true, 0);
            } else {
                let end = (rolled_up, hex::encode(&checkpoint.hash));
                let lost = WaitingUsage { is_rolled_up: true, ..WaitingUsage::new(end, oldest.since, oldest.until) };
                self.waiting.insert(0, lost);
            }
        }
        self.waiting[0].is_fixed = true;
    }
}

impl WaitingUsage {
    fn new((through, hash): (EntryNumber, String), since: UnixMillis, until: UnixMillis) -> Self {
        Self { through, hash, since, until, is_fixed: false, parts_delivered: 0, is_rolled_up: false }
    }
}

/// The end of the last hour of which all calls should be in the ledger.
fn ended_hour(now: UnixMillis) -> UnixMillis {
    UnixMillis((now.0 - SETTLED_AFTER_MILLIS).div_euclid(HOUR_MILLIS) * HOUR_MILLIS)
}

/// The entries up to this one may be rolled up. None: all.
pub(crate) fn rolled_up_at_most(poster: &LedgerTransaction<'_>) -> Result<Option<EntryNumber>, StateError> {
    let progress: Option<UsageProgress> = get_json(&poster.writing, StateTable::Meta, PROGRESS_KEY)?;
    Ok(progress.map(|progress| progress.delivered))
}

impl Accounts {
    /// Stores which entries belong to the hours that have ended. The first call only stores where the ledger ends:
    /// reports begin there.
    pub fn mark_usage_hours(&self, now: UnixMillis) -> Result<UsageProgress, ChangeError> {
        let (found, marked) = self.shared.with_reading(|reading| {
            let Some(found) = UsageProgress::read(reading)? else {
                let delivered = EntryNumber(LedgerHead::read(reading)?.entries);
                return Ok((None, UsageProgress { delivered, until: ended_hour(now), waiting: Vec::new() }));
            };
            let mut marked = found.clone();
            marked.mark(reading, now)?;
            Ok((Some(found), marked))
        })?;
        self.replace_usage_progress(found, &marked)?;
        Ok(marked)
    }

    /// The oldest report that is not delivered, with the sums of its entries, which stay the same from now on.
    pub fn due_usage_report(&self) -> Result<Option<UsageReport>, ChangeError> {
        let planned = self.shared.with_reading(|reading| {
            let Some(found) = UsageProgress::read(reading)? else { return Ok(None) };
            let mut fixed = found.clone();
            fixed.fix_oldest(&Checkpoint::read(reading)?);
            let Some(range) = fixed.waiting.first().cloned() else { return Ok(None) };
            let sums =
                if range.is_rolled_up { BTreeMap::new() } else { sums_of(reading, fixed.delivered, range.through)? };
            let first = EntryNumber(fixed.delivered.0 + 1);
            Ok(Some((found, fixed, UsageReport { first, range, accounts: sums.into_iter().collect() })))
        })?;
        let Some((found, fixed, report)) = planned else { return Ok(None) };
        // Another server may have been faster; then its progress is read the next time.
        Ok(self.replace_usage_progress(Some(found), &fixed)?.then_some(report))
    }

    /// Records that the next part of a report was delivered, unless another server did.
    pub fn usage_part_delivered(&self, report: &UsageReport, part: u32) -> Result<(), ChangeError> {
        let (range, is_last) = (report.range.clone(), part + 1 >= report.parts());
        self.change(move |poster| {
            let found: Option<UsageProgress> = get_json(&poster.writing, StateTable::Meta, PROGRESS_KEY)?;
            let mut progress = found.unwrap_or_default();
            let is_next = |oldest: &&mut WaitingUsage| {
                (oldest.through, &oldest.hash, oldest.parts_delivered) == (range.through, &range.hash, part)
            };
            if let Some(oldest) = progress.waiting.first_mut().filter(is_next) {
                oldest.parts_delivered += 1;
                if is_last {
                    progress.delivered = progress.waiting.remove(0).through;
                }
                put_json(&mut poster.writing, StateTable::Meta, PROGRESS_KEY, &progress)?;
            }
            Ok(((), no_memory_effect()))
        })
    }

    /// Returns whether nothing else was stored meanwhile.
    fn replace_usage_progress(&self, found: Option<UsageProgress>, new: &UsageProgress) -> Result<bool, ChangeError> {
        if found.as_ref() == Some(new) {
            return Ok(true);
        }
        let new = new.clone();
        self.change(move |poster| {
            let present: Option<UsageProgress> = get_json(&poster.writing, StateTable::Meta, PROGRESS_KEY)?;
            let is_same = present == found;
            if is_same {
                put_json(&mut poster.writing, StateTable::Meta, PROGRESS_KEY, &new)?;
            }
            Ok((is_same, no_memory_effect()))
        })
    }
}
