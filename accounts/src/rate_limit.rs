//! Rate limits of a key: calls in a sliding minute and in a UTC day.
//!
//! The minute is exact: the times of the last calls are stored, so no period of 60 seconds has more
//! calls than the limit. It uses the monotonic clock. The day uses the wall clock. The counts of
//! the last few days are kept, so that a clock that jumps and comes back neither frees a used-up
//! day nor leaves a key with the count of another year.

use std::collections::VecDeque;

use hornbook_base::clock::{Now, SteadyMicros, UnixDay, UnixMillis};

const MINUTE_MICROS: u64 = 60 * 1_000_000;
const MINUTE_MILLIS: i64 = 60_000;

/// Days kept per key; the most recently used is the last.
const DAYS_KEPT: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimits {
    pub per_minute: u32,
    pub per_day: u32,
}

/// The calls that a key has left after the current call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateRemaining {
    pub limits: RateLimits,
    pub in_minute: u32,
    /// Seconds until the oldest counted call leaves the minute, so that one more call is possible.
    pub minute_reset_sec: u64,
    pub in_day: u32,
    /// Seconds until midnight UTC.
    pub day_reset_sec: u64,
}

/// The call is refused. Waiting this long succeeds, unless other calls with the same key are faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimitExceeded {
    pub retry_after_sec: u64,
    pub left: RateRemaining,
    pub window: RateWindow,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateWindow {
    Minute,
    Day,
}

/// Calls on one day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DayCount {
    pub day: UnixDay,
    pub calls: u32,
}

#[derive(Default)]
pub(crate) struct KeyRateLimiter {
    /// The times of the accepted calls of the last minute, oldest first.
    minute: VecDeque<SteadyMicros>,
    days: [DayCount; DAYS_KEPT],
    /// The latest reading so far. Two callers may arrive in a different order than they read the clock.
    latest: SteadyMicros,
    dirty: bool,
    /// The times of calls that other servers charged, which are not in `minute` yet. They are of the wall clock: the
    /// monotonic clocks of two machines cannot be compared.
    elsewhere: Vec<UnixMillis>,
}

impl KeyRateLimiter {
    pub(crate) fn resume(stored: &[DayCount]) -> Self {
        let mut pace = Self::default();
        // The most recently used day is the last.
        for (place, count) in pace.days.iter_mut().rev().zip(stored.iter().rev()) {
            *place = *count;
        }
        pace
    }

    /// Counts one call. Returns how many are left, or how long to wait.
    pub(crate) fn take(&mut self, limits: RateLimits, now: Now) -> Result<RateRemaining, RateLimitExceeded> {
        self.latest = self.latest.max(now.steady);
        let now = Now { steady: self.latest, ..now };
        self.advance(now);
        let minute_wait = self.minute_wait(limits.per_minute, now.steady);
        let day_wait = self.day_wait(limits.per_day, now);
        let wait = minute_wait.max(day_wait);
        if let Some(retry_after_sec) = wait {
            let window = if day_wait == wait { RateWindow::Day } else { RateWindow::Minute };
            return Err(RateLimitExceeded { retry_after_sec, left: self.left(limits, now), window });
        }
        self.minute.push_back(now.steady);
        self.today(now.wall.day()).calls += 1;
        self.dirty = true;
        Ok(self.left(limits, now))
    }

    /// Brings the minute up to date.
    fn advance(&mut self, now: Now) {
        if !self.elsewhere.is_empty() {
            self.merge_elsewhere(now);
        }
        while self.minute.front().is_some_and(|first| now.steady.micros_since(*first) >= MINUTE_MICROS) {
            self.minute.pop_front();
        }
    }

    fn left(&self, limits: RateLimits, now: Now) -> RateRemaining {
        let today = now.wall.day();
        let counted = u32::try_from(self.minute.len()).unwrap_or(u32::MAX);
        let oldest = self.minute.front().copied().unwrap_or(now.steady);
        let until_free_micros = oldest.plus_micros(MINUTE_MICROS).micros_since(now.steady);
        RateRemaining {
            limits,
            in_minute: limits.per_minute.saturating_sub(counted),
            minute_reset_sec: until_free_micros.div_ceil(1_000_000),
            in_day: limits.per_day.saturating_sub(self.calls_on(today)),
            day_reset_sec: now.wall.seconds_until(today.next().start()),
        }
    }

    fn minute_wait(&self, limit: u32, now: SteadyMicros) -> Option<u64> {
        // After the limit was lowered, the window may have more calls than it allows: wait until
        // enough of them have left.
        let surplus = (self.minute.len() + 1).checked_sub(limit as usize).filter(|surplus| *surplus > 0)?;
        let last_in_the_way = self.minute.get(surplus - 1).or(self.minute.back()).copied().unwrap_or(now);
        let free_at = last_in_the_way.plus_micros(MINUTE_MICROS);
        Some(free_at.micros_since(now).div_ceil(1_000_000).max(1))
    }

    fn day_wait(&self, limit: u32, now: Now) -> Option<u64> {
        let today = now.wall.day();
        (self.calls_on(today) >= limit).then(|| now.wall.seconds_until(today.next().start()))
    }

    fn calls_on(&self, day: UnixDay) -> u32 {
        // Unused places have day 0 and no calls.
        self.days.iter().filter(|count| count.day == day).map(|count| count.calls).sum()
    }

    fn today(&mut self, day: UnixDay) -> &mut DayCount {
        // A new day replaces the least recently used one.
        let found = self.days.iter().position(|count| count.day == day && count.calls > 0);
        self.days[found.unwrap_or(0)..].rotate_left(1);
        let last = &mut self.days[DAYS_KEPT - 1];
        if found.is_none() {
            *last = DayCount { day, calls: 0 };
        }
        last
    }

    /// Counts a call that another server charged.
    pub(crate) fn count_elsewhere(&mut self, at: UnixMillis) {
        self.today(at.day()).calls += 1;
        // A key that is not used here must not gather the calls of days.
        self.elsewhere.retain(|earlier| at.0 - earlier.0 < MINUTE_MILLIS);
        self.elsewhere.push(at);
    }

    fn merge_elsewhere(&mut self, now: Now) {
        for at in self.elsewhere.drain(..) {
            let ago_micros = u64::try_from(now.wall.0 - at.0).unwrap_or(0) * 1000;
            self.minute.push_back(SteadyMicros(now.steady.0.saturating_sub(ago_micros)));
        }
        self.minute.make_contiguous().sort_unstable();
    }

    /// Takes back the count of a call at this time, if calls of other servers that became known since exceed the limits
    /// with it. Returns whether they do.
    pub(crate) fn take_back_excess(&mut self, limits: RateLimits, at: UnixMillis) -> bool {
        let now = Now { wall: at, steady: self.latest };
        self.advance(now);
        let exceeds = self.minute.len() > limits.per_minute as usize || self.calls_on(at.day()) > limits.per_day;
        if exceeds {
            self.minute.pop_back();
            let today = self.today(at.day());
            today.calls = today.calls.saturating_sub(1);
        }
        exceeds
    }

    /// Adds a charged call of the last minute, found in the ledger, to the window after a restart.
    pub(crate) fn restore_call(&mut self, at: SteadyMicros) {
        self.minute.push_back(at);
    }

    pub(crate) fn days(&self) -> Vec<DayCount> {
        self.days.into_iter().filter(|count| count.calls > 0).collect()
    }

    /// Returns whether calls were counted since the last call of this method.
    pub(crate) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    pub(crate) fn mark_dirty(&mut self) {
        self.dirty = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Now {
        Now { wall: UnixMillis(millis as i64), steady: SteadyMicros(millis * 1000) }
    }

    fn limits(per_minute: u32, per_day: u32) -> RateLimits {
        RateLimits { per_minute, per_day }
    }

    #[test]
    fn calls_of_other_servers_count_in_the_minute_and_the_day() {
        let mut limiter = KeyRateLimiter::default();
        limiter.take(limits(5, 100), at(100_000)).unwrap();
        // One is over a minute old, two are recent, and one comes from a clock that is ahead.
        for millis in [41_000, 105_000, 106_000, 112_000] {
            limiter.count_elsewhere(UnixMillis(millis));
        }
        let left = limiter.take(limits(5, 100), at(110_000)).unwrap();
        assert_eq!((left.in_minute, left.in_day), (0, 94));
        assert_eq!(limiter.take(limits(5, 100), at(111_000)).unwrap_err().retry_after_sec, 49);
        // The oldest of the minute leaves it first.
        assert_eq!(limiter.take(limits(5, 100), at(160_000)).unwrap().in_minute, 0);
    }

    proptest! {
        /// Compares with a model that looks at every pair of calls: no period of 60 seconds has
        /// more calls than the limit, and no call is refused needlessly.
        #[test]
        fn no_sliding_minute_exceeds_the_limit(gaps in prop::collection::vec(0u64..9_000, 1..300), limit in 1u32..20) {
            let mut pace = KeyRateLimiter::default();
            let mut let_through: Vec<u64> = Vec::new();
            let mut now = 0;
            for gap in gaps {
                now += gap;
                let in_window = let_through.iter().filter(|&&then| now - then < 60_000).count();
                match pace.take(limits(limit, u32::MAX), at(now)) {
                    Ok(left) => {
                        prop_assert!(in_window < limit as usize);
                        prop_assert_eq!(left.in_minute as usize, limit as usize - in_window - 1);
                        let counted = |at: u64| let_through.iter().chain([&now]).filter(|&&c| at < c + 60_000).count();
                        let reset = now + left.minute_reset_sec * 1000;
                        prop_assert!(counted(reset) < counted(now), "no room after {} s", left.minute_reset_sec);
                        prop_assert_eq!(counted(reset - 1000), counted(now), "one second less would be enough");
                        let_through.push(now);
                    }
                    Err(refused) => {
                        prop_assert!(in_window >= limit as usize);
                        let later = now + refused.retry_after_sec * 1000;
                        let then = let_through.iter().filter(|&&call| later - call < 60_000).count();
                        prop_assert!(then < limit as usize, "waiting {} s does not help", refused.retry_after_sec);
                        let sooner = later - 1000;
                        let then = let_through.iter().filter(|&&call| sooner - call < 60_000).count();
                        prop_assert!(then >= limit as usize, "one second less would be enough");
                    }
                }
            }
        }
    }

    #[test]
    fn the_window_edge_never_lets_two_limits_through() {
        let mut pace = KeyRateLimiter::default();
        for _ in 0..30 {
            pace.take(limits(30, 1000), at(59_999)).unwrap();
        }
        let refused = pace.take(limits(30, 1000), at(60_001)).unwrap_err();
        assert_eq!((refused.retry_after_sec, refused.window), (60, RateWindow::Minute));
        assert!(pace.take(limits(30, 1000), at(119_998)).is_err());
        assert!(pace.take(limits(30, 1000), at(119_999)).is_ok());
    }

    #[test]
    fn a_spent_day_ends_at_midnight() {
        let mut pace = KeyRateLimiter::default();
        let evening = 86_400_000 - 90_500;
        pace.take(limits(5, 1), at(evening)).unwrap();
        let refused = pace.take(limits(5, 1), at(evening)).unwrap_err();
        assert_eq!((refused.retry_after_sec, refused.window), (91, RateWindow::Day));
        assert!(pace.take(limits(5, 1), at(evening + 90_000)).is_err());
        assert!(pace.take(limits(5, 1), at(evening + 91_000)).is_ok());
    }

    #[test]
    fn a_jump_of_400_days_and_back_neither_frees_nor_blocks_a_day() {
        let mut pace = KeyRateLimiter::default();
        let jump = 400 * 86_400_000;
        pace.take(limits(9, 1), at(1000)).unwrap();
        let jumped = Now { wall: UnixMillis(jump), ..at(2000) };
        pace.take(limits(9, 1), jumped).unwrap();
        assert!(pace.take(limits(9, 1), jumped).is_err());
        let back = pace.take(limits(9, 1), at(3000)).unwrap_err();
        assert!(back.retry_after_sec <= 86_400);
        let resumed = KeyRateLimiter::resume(&pace.days()).take(limits(9, 1), at(4000)).unwrap_err();
        assert_eq!((resumed.retry_after_sec, resumed.left.in_day), (86_396, 0));
    }

    #[test]
    fn a_lowered_limit_waits_for_enough_calls_to_leave() {
        let mut pace = KeyRateLimiter::default();
        for second in 0..10 {
            pace.take(limits(10, 99), at(second * 1000)).unwrap();
        }
        let refused = pace.take(limits(3, 99), at(10_000)).unwrap_err();
        assert_eq!(refused.retry_after_sec, 57);
        assert!(pace.take(limits(3, 99), at(10_000 + 57_000)).is_ok());
    }
}
