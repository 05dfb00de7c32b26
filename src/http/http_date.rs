//! The `Date` header, from the service's own clock.
//!
//! hyper could set it, but only from the machine's clock. A server without a usable clock leaves the header out (RFC 9110, section
//! 6.6.1), and so does this one.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use hornbook_base::clock::UnixMillis;
use hyper::header::HeaderValue;

/// The first time that an HTTP date cannot express.
const YEAR_10_000: UnixMillis = UnixMillis(253_402_300_800_000);

thread_local! {
    /// The last second that this thread has formatted, and its header.
    static LATEST: RefCell<(i64, Option<HeaderValue>)> = const { RefCell::new((i64::MIN, None)) };
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`. `None` before 1970 and after 9999.
pub(super) fn http_date(at: UnixMillis) -> Option<HeaderValue> {
    // Never equal to the initial value: milliseconds do not go back that far.
    let second = at.0.div_euclid(1000);
    LATEST.with_borrow_mut(|(latest, date)| {
        if *latest != second {
            (*latest, *date) = (second, formatted(at));
        }
        date.clone()
    })
}

/// Whether the format can represent the year.
pub(super) fn has_http_date(at: UnixMillis) -> bool {
    at < YEAR_10_000
}

fn formatted(at: UnixMillis) -> Option<HeaderValue> {
    let since_1970 = u64::try_from(at.0).ok().filter(|_| has_http_date(at))?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(since_1970);
    HeaderValue::try_from(httpdate::fmt_http_date(time)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hornbook_base::clock::UnixDay;

    fn text(at: UnixMillis) -> Option<String> {
        http_date(at).map(|date| date.to_str().unwrap().to_owned())
    }

    #[test]
    fn dates_are_those_of_rfc_9110() {
        for (at, expected) in [
            (784_111_777_999, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (253_402_300_799_999, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(text(UnixMillis(at)).as_deref(), Some(expected));
        }
    }

    #[test]
    fn times_before_1970_and_after_9999_have_no_date() {
        for at in [-1, 253_402_300_800_000, i64::MAX, i64::MIN, UnixDay::from_civil(-1, 12, 31).start().0] {
            assert_eq!(text(UnixMillis(at)), None, "{at}");
        }
        assert!(has_http_date(UnixMillis(253_402_300_799_999)) && !has_http_date(UnixMillis(253_402_300_800_000)));
    }
}
