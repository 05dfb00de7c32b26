//! Times in the headers of publishers: `Last-Modified`, and how long `Retry-After` asks to wait.

use std::time::Duration;

use crate::clock::{Day, UnixMillis};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers write today.
pub(crate) fn parse_http_date(text: &str) -> Option<UnixMillis> {
    let (_, date) = text.trim().split_once(", ")?;
    let mut parts = date.split(' ');
    let (day, month, year, time, zone) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if zone != "GMT" || parts.next().is_some() {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
    let (day, year): (u32, i32) = (number(day)?, i32::try_from(number(year)?).ok()?);
    let mut time = time.split(':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    if time.next().is_some() || hour > 23 || minute > 59 || second > 60 || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = Day::from_civil(year, month, day).start();
    Some(midnight.plus_millis(i64::from(hour * 3600 + minute * 60 + second) * 1000))
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Seconds, or a date.
pub(crate) fn retry_after(text: &str, now: UnixMillis) -> Option<Duration> {
    if let Some(seconds) = number(text.trim()) {
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let until = parse_http_date(text)?;
    Some(Duration::from_millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_others_are_not() {
        assert_eq!(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(UnixMillis(784_111_777_000)));
        for bad in [
            "",
            "Sun, 06 Nov 1994 08:49:37 EST",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, -6 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse_http_date(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_wait_is_seconds_or_the_time_until_a_date() {
        let now = UnixMillis(784_111_777_000);
        assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:48:37 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
