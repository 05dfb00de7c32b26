//! The `Date` header, from the service's own clock.
//!
//! hyper could set it, but from the machine's clock alone, and it panics beyond the year 9999, which the format cannot
//! write. A server without a usable clock leaves the header out (RFC 9110, section 6.6.1), and so does this one.

use std::cell::RefCell;

use hyper::header::HeaderValue;

use crate::clock::UnixMillis;
use crate::decimal::write_padded;

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const YEAR_10_000: UnixMillis = UnixMillis(253_402_300_800_000);

thread_local! {
    /// The last second for which this thread was asked, and its header.
    static LAST: RefCell<(i64, Option<HeaderValue>)> = const { RefCell::new((i64::MIN, None)) };
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`; nothing for a time that this form cannot write.
pub(super) fn http_date(at: UnixMillis) -> Option<HeaderValue> {
    // Never that of the first value: milliseconds do not go back so far.
    let second = at.0.div_euclid(1000);
    LAST.with_borrow_mut(|(last, date)| {
        if *last != second {
            (*last, *date) = (second, written(at));
        }
        date.clone()
    })
}

/// Whether the form has room for the year.
pub(super) fn has_http_date(at: UnixMillis) -> bool {
    at < YEAR_10_000
}

fn written(at: UnixMillis) -> Option<HeaderValue> {
    let day = at.day();
    let (year, month, day_of_month) = day.civil();
    let (year, month) = (u32::try_from(year).ok().filter(|year| *year <= 9999)?, MONTHS.get(month as usize - 1)?);
    let weekday = WEEKDAYS.get(day.0.rem_euclid(7) as usize)?;
    let second = at.0.saturating_sub(day.start().0) / 1000;
    let second = u32::try_from(second).ok()?;

    let mut text = [b' '; 29];
    text[..3].copy_from_slice(weekday.as_bytes());
    text[3] = b',';
    write_padded(day_of_month, &mut text[5..7]);
    text[8..11].copy_from_slice(month.as_bytes());
    write_padded(year, &mut text[12..16]);
    write_padded(second / 3600, &mut text[17..19]);
    text[19] = b':';
    write_padded(second / 60 % 60, &mut text[20..22]);
    text[22] = b':';
    write_padded(second % 60, &mut text[23..25]);
    text[26..].copy_from_slice(b"GMT");
    HeaderValue::from_bytes(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Day;

    fn text(at: UnixMillis) -> Option<String> {
        http_date(at).map(|date| date.to_str().unwrap().to_owned())
    }

    #[test]
    fn dates_are_those_of_rfc_9110() {
        for (at, expected) in [
            (784_111_777_999, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (253_402_300_799_999, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] {
            assert_eq!(text(UnixMillis(at)).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_time_that_has_no_such_form_has_no_date() {
        for at in [253_402_300_800_000, i64::MAX, i64::MIN, Day::from_civil(-1, 12, 31).start().0] {
            assert_eq!(text(UnixMillis(at)), None, "{at}");
        }
        assert!(has_http_date(UnixMillis(253_402_300_799_999)) && !has_http_date(UnixMillis(253_402_300_800_000)));
    }
}
