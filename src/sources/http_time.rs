//! Times in response headers: `Last-Modified` and `Retry-After`.

use std::time::{Duration, SystemTime};

use hornbook_base::clock::UnixMillis;

/// `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the older forms that RFC 9110 allows.
pub(crate) fn parse_http_date(text: &str) -> Option<UnixMillis> {
    let time = httpdate::parse_http_date(text.trim()).ok()?;
    let since_1970 = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(UnixMillis(i64::try_from(since_1970.as_millis()).ok()?))
}

/// Reads `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(text: &str, now: UnixMillis) -> Option<Duration> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let until = parse_http_date(text)?;
    Some(Duration::from_millis(u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_others_are_not() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(parse_http_date(date), Some(UnixMillis(784_111_777_000)), "{date}");
        }
        for bad in [
            "",
            "Sun, 06 Nov 1994 08:49:37 EST",
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
