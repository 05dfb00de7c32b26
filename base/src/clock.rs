//! Time as an argument. Everything that depends on the time takes a [`Now`]; only [`SystemClock`]
//! reads the machine's clocks, and only the outermost code of the program creates one. Days and
//! months are in UTC and are computed only here.
//!
//! A [`Now`] carries two readings: the wall clock, which an administrator or a bad battery may move
//! in either direction, and a monotonic clock. Calendars use the first, rate limits the second.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::decimal::write_padded;

pub const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// Milliseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub i64);

/// Microseconds of a clock that never goes back; its zero has no meaning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct SteadyMicros(pub u64);

/// One reading of both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    pub wall: UnixMillis,
    pub steady: SteadyMicros,
}

/// Days since 1970-01-01, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixDay(pub i32);

/// Months since January 1970, UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Month(pub i32);

impl UnixMillis {
    pub fn day(self) -> UnixDay {
        let day = self.0.div_euclid(MILLIS_PER_DAY);
        UnixDay(i32::try_from(day).unwrap_or(if day < 0 { i32::MIN } else { i32::MAX }))
    }

    pub fn month(self) -> Month {
        let (year, month, _) = self.day().civil();
        Month((year - 1970) * 12 + month as i32 - 1)
    }

    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Whole seconds from `self` until `later`, rounded up, at least one.
    pub fn seconds_until(self, later: Self) -> u64 {
        let millis = later.0.saturating_sub(self.0).max(1);
        u64::try_from(millis).unwrap_or(1).div_ceil(1000)
    }
}

/// `2026-02-28T23:59:59.250Z`.
impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.rem_euclid(MILLIS_PER_DAY) as u32;
        let (hour, minute, second) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60);
        let mut time = *b"T00:00:00.000Z";
        for (place, number) in [(1..3, hour), (4..6, minute), (7..9, second), (10..13, millis % 1000)] {
            write_padded(number, &mut time[place]);
        }
        self.day().fmt(f)?;
        f.write_str(str::from_utf8(&time).unwrap_or_default())
    }
}

impl UnixDay {
    pub fn start(self) -> UnixMillis {
        UnixMillis(i64::from(self.0) * MILLIS_PER_DAY)
    }

    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Year, month (1-12) and day of the month in the proleptic Gregorian calendar. Counts in eras
    /// of 400 years that begin on 1 March, so that the leap day is the last day of a year.
    pub fn civil(self) -> (i32, u32, u32) {
        let days = i64::from(self.0) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (year as i32, month as u32, day as u32)
    }

    pub fn from_civil(year: i32, month: u32, day: u32) -> Self {
        let year = i64::from(year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let shifted_month = (i64::from(month) + 9) % 12;
        let day_of_year = (153 * shifted_month + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Self((era * 146_097 + day_of_era - 719_468) as i32)
    }
}

impl fmt::Display for UnixDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        let Some(short_year) = u32::try_from(year).ok().filter(|year| *year <= 9999) else {
            return write!(f, "{year:04}-{month:02}-{day:02}");
        };
        // Avoids the formatting machinery: each line of the log contains a date.
        let mut date = *b"0000-00-00";
        for (place, number) in [(0..4, short_year), (5..7, month), (8..10, day)] {
            write_padded(number, &mut date[place]);
        }
        f.write_str(str::from_utf8(&date).unwrap_or_default())
    }
}

impl SteadyMicros {
    pub fn plus_micros(self, micros: u64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    pub fn micros_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Source of the time: the machine's clocks, or a clock set by a test.
pub trait Clock: Send + Sync {
    fn now(&self) -> Now;
}

/// The steady reading at the start of the process. It is not zero, because events shortly before a
/// restart need a reading too.
const STEADY_AT_START: SteadyMicros = SteadyMicros(3_600_000_000);

/// The machine's clocks.
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the time")]
    fn now(&self) -> Now {
        // A time before 1970 comes from a clock that was never set; zero is as good as any other wrong time.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now {
            wall: UnixMillis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)),
            steady: STEADY_AT_START.plus_micros(u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)),
        }
    }
}

/// A clock that moves only when its methods are called.
pub struct ManualClock {
    wall: AtomicI64,
    steady: AtomicU64,
}

impl ManualClock {
    pub fn at(wall: UnixMillis) -> Self {
        Self { wall: AtomicI64::new(wall.0), steady: AtomicU64::new(1_000_000_000) }
    }

    /// Moves both clocks forward.
    pub fn advance_millis(&self, millis: u64) {
        self.wall.fetch_add(millis as i64, Ordering::Relaxed);
        self.steady.fetch_add(millis * 1000, Ordering::Relaxed);
    }

    /// Sets the wall clock, forward or back; the steady clock does not change.
    pub fn set_wall(&self, wall: UnixMillis) {
        self.wall.store(wall.0, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Now {
        Now {
            wall: UnixMillis(self.wall.load(Ordering::Relaxed)),
            steady: SteadyMicros(self.steady.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut expected = (1969, 12, 31);
        for number in -1..150_000 {
            let day = UnixDay(number);
            assert_eq!(day.civil(), expected, "day {number}");
            assert_eq!(UnixDay::from_civil(expected.0, expected.1, expected.2), day);
            expected = tomorrow(expected);
        }
    }

    fn tomorrow((year, month, day): (i32, u32, u32)) -> (i32, u32, u32) {
        let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        let length = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        match (day < length, month < 12) {
            (true, _) => (year, month, day + 1),
            (false, true) => (year, month + 1, 1),
            (false, false) => (year + 1, 1, 1),
        }
    }

    #[test]
    fn months_turn_at_midnight_utc() {
        let march = UnixDay::from_civil(2028, 3, 1).start();
        assert_eq!(march.plus_millis(-1).to_string(), "2028-02-29T23:59:59.999Z");
        assert_eq!(march.plus_millis(-1).month().0 + 1, march.month().0);
        assert_eq!(UnixMillis(0).month(), Month(0));
        assert_eq!(UnixMillis(-1).month(), Month(-1));
    }

    #[test]
    fn a_wait_is_rounded_up_to_whole_seconds() {
        assert_eq!(UnixMillis(0).seconds_until(UnixMillis(1)), 1);
        assert_eq!(UnixMillis(0).seconds_until(UnixMillis(1000)), 1);
        assert_eq!(UnixMillis(0).seconds_until(UnixMillis(1001)), 2);
        assert_eq!(UnixMillis(5000).seconds_until(UnixMillis(1)), 1);
    }
}
