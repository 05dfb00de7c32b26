//! A calendar day, as laws and requests write it: `2026-01-31`.

use std::fmt;
use std::str::FromStr;

use bytemuck::{Pod, Zeroable};

/// A day, stored as a number such as `20260131`, so that days compare in date order. 0 is not a day.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Pod,
    Zeroable,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
#[repr(transparent)]
pub struct Day(u32);

impl Day {
    /// The last day, later than any day that laws name.
    pub const LAST: Self = Self(99_991_231);

    /// The day with this year, month and day of the month. `None` if there is no such day.
    pub fn from_parts(year: u32, month: u32, day: u32) -> Option<Self> {
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u32::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Self(year * 10_000 + month * 100 + day))
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    /// The day of a number read from a file. `None` if there is no such day.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::from_parts(number / 10_000, number / 100 % 100, number % 100)
    }

    /// The same day one year later. For February 29 it is March 1.
    #[must_use]
    pub fn one_year_later(self) -> Self {
        let (year, month, day) = (self.0 / 10_000 + 1, self.0 / 100 % 100, self.0 % 100);
        Self::from_parts(year, month, day).or_else(|| Self::from_parts(year, 3, 1)).unwrap_or(self)
    }
}

/// The error for a text that is not a calendar day written as `2026-01-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a day; write it as 2026-01-31")]
pub struct ParseDayError;

impl FromStr for Day {
    type Err = ParseDayError;

    fn from_str(text: &str) -> Result<Self, ParseDayError> {
        let bytes = text.as_bytes();
        let is_date = bytes.len() == 10
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let number = |range: std::ops::Range<usize>| text.get(range).and_then(|digits| digits.parse().ok());
        let parts = if is_date { number(0..4).zip(number(5..7)).zip(number(8..10)) } else { None };
        parts.and_then(|((year, month), day)| Self::from_parts(year, month, day)).ok_or(ParseDayError)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0 / 10_000, self.0 / 100 % 100, self.0 % 100)
    }
}

impl<'de> serde::Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in ["2024-02-29", "2026-12-31", "0001-01-01"] {
            assert_eq!(day.parse::<Day>().unwrap().to_string(), day);
            assert_eq!(Day::from_number(day.parse::<Day>().unwrap().number()), day.parse().ok());
        }
        for bad in [
            "2026-02-29",
            "2026-13-01",
            "2026-1-01",
            "26-01-01",
            "2026-01-00",
            "2026-01-01-01",
            "+026-01-01",
            "é026-01-0",
        ] {
            assert_eq!(bad.parse::<Day>(), Err(ParseDayError), "{bad}");
        }
        assert_eq!(Day::from_number(0), None);
    }

    #[test]
    fn a_year_later_is_a_day_too() {
        let later = |day: &str| day.parse::<Day>().unwrap().one_year_later().to_string();
        assert_eq!((later("2024-02-29"), later("2023-07-01")), ("2025-03-01".into(), "2024-07-01".into()));
    }
}
