//! Formats amounts, times and statuses for people.

use hornbook_accounts::ids::Credits;
use hornbook_base::clock::UnixMillis;
use hornbook_corpus::outline::Status;
use maud::{Markup, html};

use super::untrusted_text::grouped;

pub(super) fn dollars(cents: u32) -> String {
    format!("${}.{:02}", grouped(cents / 100), cents % 100)
}

/// The number of credits in a pack.
pub(super) fn credits(credits: Credits) -> String {
    grouped(credits.0)
}

/// A number of credits that may be negative, with a typographic minus sign.
pub(super) fn signed(credits: i64) -> String {
    let amount = grouped(u32::try_from(credits.unsigned_abs()).unwrap_or(u32::MAX));
    if credits < 0 { format!("−{amount}") } else { amount }
}

pub(super) fn day(at: UnixMillis) -> Markup {
    html! { time { (at.day()) } }
}

/// The time in UTC, to the minute.
pub(super) fn day_and_time(at: UnixMillis) -> Markup {
    up_to(&at.to_string(), "00:00".len())
}

/// The time in UTC, to the second, from a stored timestamp text.
pub(super) fn to_the_second(at: &str) -> Markup {
    up_to(at, "00:00:00".len())
}

fn up_to(at: &str, letters: usize) -> Markup {
    let (day, time) = at.split_once('T').unwrap_or((at, ""));
    html! { time { (day) ", " (time.get(..letters).unwrap_or_default()) " UTC" } }
}

/// The status, if it is not "in force".
pub(super) fn status_of(status: Status) -> Markup {
    html! { @if status != Status::InForce { " " span.gone { (status.as_str()) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_times_are_written_for_people() {
        assert_eq!((dollars(9005), dollars(123_456_700)), ("$90.05".to_owned(), "$1,234,567.00".to_owned()));
        assert_eq!(
            (signed(-1000), signed(15_000), signed(0)),
            ("−1,000".to_owned(), "15,000".to_owned(), "0".to_owned())
        );
        let at = UnixMillis(1_700_000_000_000);
        assert_eq!(day(at).into_string(), "<time>2023-11-14</time>");
        assert_eq!(day_and_time(at).into_string(), "<time>2023-11-14, 22:13 UTC</time>");
        assert_eq!(to_the_second(&at.to_string()).into_string(), "<time>2023-11-14, 22:13:20 UTC</time>");
    }
}
