//! The time that the servers of one database have in common: the database's. The clocks of their machines may differ by
//! hours. Then a retry would seem too old to be answered again at another server, and calls of the last minute would not
//! count against its limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hornbook_base::clock::{Clock, Now, SystemClock, UnixMillis};

use super::Accounts;
use crate::state::{State, StateError, StateWriter};

/// Smaller differences are those of machines that set their clocks by the network. They are left alone, so that time does
/// not jump back and forth.
const TOLERATED_MILLIS: i64 = 1_000;

/// How far the database's clock is ahead of this machine's.
#[derive(Default)]
pub(crate) struct ClockDifference(AtomicI64);

impl ClockDifference {
    /// Begins a transaction, and learns from the database's clock at its beginning.
    pub(crate) fn begin(&self, state: &State) -> Result<StateWriter, StateError> {
        if state.medium().look_every().is_none() {
            return state.write();
        }
        let clock = SystemClock::start();
        let before = clock.now().wall;
        let writing = state.write()?;
        if let Some(of_database) = writing.time() {
            self.learn(of_database, before, clock.now().wall);
        }
        Ok(writing)
    }

    /// `before` and `after`: this machine's clock around the reading of the other.
    fn learn(&self, of_database: UnixMillis, before: UnixMillis, after: UnixMillis) {
        let (least, most) = (of_database.0 - after.0, of_database.0 - before.0);
        let known = self.0.load(Ordering::Relaxed);
        if known < least - TOLERATED_MILLIS || known > most + TOLERATED_MILLIS {
            self.0.store(least.midpoint(most), Ordering::Relaxed);
        }
    }

    pub(crate) fn correct(&self, now: Now) -> Now {
        Now { wall: now.wall.plus_millis(self.0.load(Ordering::Relaxed)), ..now }
    }
}

/// The clock of this machine, set by that of the database.
pub struct CommonClock {
    own: Arc<dyn Clock>,
    accounts: Arc<Accounts>,
}

impl CommonClock {
    /// The clock itself, if no other server uses the accounts.
    pub fn of(own: Arc<dyn Clock>, accounts: &Arc<Accounts>) -> Arc<dyn Clock> {
        if !accounts.is_shared() {
            return own;
        }
        Arc::new(Self { own, accounts: Arc::clone(accounts) })
    }
}

impl Clock for CommonClock {
    fn now(&self) -> Now {
        self.accounts.shared.clock_difference.correct(self.own.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_difference_that_a_slow_answer_does_not_explain_is_learned() {
        let difference = ClockDifference::default();
        let learn = |database, before, after| {
            difference.learn(UnixMillis(database), UnixMillis(before), UnixMillis(after));
            difference.0.load(Ordering::Relaxed)
        };
        assert_eq!(learn(10_900, 10_000, 10_001), 0, "machines that set their clocks by the network");
        assert_eq!(learn(10_000, 0, 20_000), 0, "nobody knows when it was read");
        assert_eq!(learn(3_610_000, 10_000, 10_010), 3_599_995);
        assert_eq!(learn(3_620_300, 20_000, 20_010), 3_599_995, "it is near enough");
        assert_eq!(learn(29_999, 30_000, 30_000), -1, "it was set right");
    }
}
