//! Periodic work: storing the counters of uncharged calls, expiry, roll-ups.

use hornbook_base::clock::{Now, SteadyMicros, UnixMillis};

use super::Accounts;
use super::changes::{drafts, no_memory_effect};
use super::directory::{Directory, lock};
use super::error::ChangeError;
use super::idempotency;
use super::ledger::load::calls_since;
use super::ledger::rollup::{self, RollUpLimit};
use super::usage_reports::rolled_up_at_most;
use crate::state::{StateError, StateReader, StateTable};

const MINUTE_MILLIS: i64 = 60_000;

/// Records per transaction. It is small enough that no debit waits long for its turn.
const STEP: usize = 10_000;

impl Accounts {
    /// To be called every half minute. Each step is a separate change; debits continue between them.
    pub fn maintain(&self, now: Now) -> Result<(), ChangeError> {
        self.store_counters()?;
        let retried_before = now.wall.plus_millis(-self.settings().retry_horizon_millis());
        while self.step(move |writing| idempotency::expire(writing, retried_before, STEP))? {}
        // In small steps, because calls wait for this lock.
        while lock(&self.shared.retries).expire(retried_before, STEP / 10) {}
        self.maintain_sessions(now.wall)?;
        self.expire_links(now.wall)?;
        self.expire_early_reports(now.wall)?;
        self.expire_sign_ups(now.wall)?;
        while self.step(move |writing| drafts::expire(writing, now.wall, STEP))? {}
        if let Some(days) = self.settings().rollup_after_days {
            let before = now.wall.plus_millis(-i64::from(days) * 24 * 60 * MINUTE_MILLIS);
            self.roll_up(before, now.wall)?;
        }
        Ok(())
    }

    /// Rolls up usage entries from before `before` into daily rows. Returns the number of entries removed. Entries that
    /// are still to be reported to a biller stay.
    pub fn roll_up(&self, before: UnixMillis, now: UnixMillis) -> Result<u64, ChangeError> {
        let (mut rolled_up, reports_usage) = (0, self.settings().reports_usage);
        loop {
            let entries = self.change(move |poster| {
                let last = if reports_usage { rolled_up_at_most(poster)? } else { None };
                Ok((rollup::step(poster, RollUpLimit { before, last }, now)?, no_memory_effect()))
            })?;
            rolled_up += entries;
            if entries == 0 {
                return Ok(rolled_up);
            }
        }
    }

    /// Stores the counters of calls that were not charged. The counters of charged calls are stored
    /// with their debits.
    pub(super) fn store_counters(&self) -> Result<(), ChangeError> {
        let directory = self.shared.directory();
        let dirty: Vec<_> = directory.keys().filter(|key| key.take_dirty()).cloned().collect();
        drop(directory);
        if dirty.is_empty() {
            return Ok(());
        }
        let stored = dirty.clone();
        let result = self.change(move |poster| {
            let records = dirty.iter().map(|key| (key.id.to_key(), key.counter().to_bytes()));
            poster.writing.put_all(StateTable::Counters, records)?;
            Ok(((), no_memory_effect()))
        });
        if result.is_err() {
            for key in stored {
                key.mark_dirty();
            }
        }
        result
    }

    fn step(
        &self,
        run: impl FnOnce(&mut crate::state::StateWriter) -> Result<bool, StateError> + Send + 'static,
    ) -> Result<bool, ChangeError> {
        self.change(move |poster| Ok((run(&mut poster.writing)?, no_memory_effect())))
    }
}

impl Directory {
    /// Restores the calls of the last minute after a restart. The ledger contains the times of the
    /// charged ones.
    pub(crate) fn refill_windows(&self, reading: &StateReader, now: Now) -> Result<(), StateError> {
        let since = now.wall.plus_millis(-MINUTE_MILLIS);
        let mut recent = calls_since(reading, since)?;
        recent.sort_by_key(|(at, _)| *at);
        for (at, key) in recent.into_iter().filter(|(at, _)| *at <= now.wall) {
            let Some(key) = self.key(key) else { continue };
            let ago_micros = now.wall.0.abs_diff(at.0) * 1000;
            key.rate_limiter().restore_call(SteadyMicros(now.steady.0.saturating_sub(ago_micros)));
        }
        Ok(())
    }
}
