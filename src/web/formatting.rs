//! Formats amounts, times and statuses for people.

use hornbook_accounts::ids::Credits;
use hornbook_base::clock::UnixMillis;
use hornbook_base::thousands::grouped;
use hornbook_corpus::day::Day;
use hornbook_corpus::outline::Status;
use maud::{Markup, html};

use super::untrusted_text::UntrustedText;
use crate::api::as_of::AS_OF_NAME;

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

/// The length of a day in the ISO 8601 format.
const ISO_DAY_BYTES: usize = "2026-01-31".len();

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day as people write it: `May 24, 2004`. Programs read the element's attribute.
pub(super) fn written_day(day: Day) -> Markup {
    let iso = day.to_string();
    let mut parts = iso.split('-').map(|part| part.trim_start_matches('0'));
    let (year, month, number) = (parts.next(), parts.next(), parts.next());
    let name = month.and_then(|month| MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?));
    html! { time datetime=(iso) { (name.unwrap_or(&"")) " " (number.unwrap_or("")) ", " (year.unwrap_or("")) } }
}

/// A notice of the service, with its days as people write them.
pub(super) fn notice(text: &str) -> Markup {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((start, day)) = first_day(rest) {
        parts.push((&rest[..start], day));
        rest = &rest[start + ISO_DAY_BYTES..];
    }
    html! {
        @for (before, day) in parts { (UntrustedText(before)) (written_day(day)) }
        (UntrustedText(rest))
    }
}

/// The first day in a text, and where it begins.
fn first_day(text: &str) -> Option<(usize, Day)> {
    let day_at = |start: usize| text.get(start..start + ISO_DAY_BYTES)?.parse().ok();
    (0..text.len()).find_map(|start| Some((start, day_at(start)?)))
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

/// The status, if it is not "in force", and the days of a wording that has begun later or ends.
pub(super) fn status_of(status: Status, from: Option<Day>, to: Option<Day>) -> Markup {
    let is_in_force = status == Status::InForce;
    html! {
        @if !is_in_force { " " span.gone { (status.as_str()) } }
        @if (!is_in_force && from.is_some()) || to.is_some() { " " span.days { (days_of(from, to)) } }
    }
}

/// The known first and last days of a wording: `from July 1, 2026 until June 30, 2028`.
fn days_of(from: Option<Day>, to: Option<Day>) -> Markup {
    html! {
        @if let Some(from) = from { "from " (written_day(from)) }
        @if from.is_some() && to.is_some() { " " }
        @if let Some(to) = to { "until " (written_day(to)) }
    }
}

/// A form that opens the page `action` as of another day.
pub(super) fn day_form(action: &str, named_day: Option<&str>) -> Markup {
    html! {
        form.day method="get" action=(action) {
            label { "As of " input type="date" name=(AS_OF_NAME) value=[named_day]; }
            " " button type="submit" { "Show" }
        }
    }
}

/// A line about the editions of a list: through which day they are current, and what they do not know.
pub(super) fn currency_of(through: impl Iterator<Item = Option<Day>>, notices: &[String]) -> Markup {
    let mut days: Vec<Day> = through.flatten().collect();
    days.sort_unstable();
    days.dedup();
    html! {
        @match days[..] {
            [] => {}
            [day] => { p.also { "Current through " (written_day(day)) "." } }
            [first, .., last] => {
                p.also { "Current through days from " (written_day(first)) " to " (written_day(last)) ", by edition." }
            }
        }
        @for text in notices { p.also role="note" { (notice(text)) } }
    }
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
        let written = |day: &str| written_day(day.parse().unwrap()).into_string();
        assert_eq!(written("2004-05-24"), "<time datetime=\"2004-05-24\">May 24, 2004</time>");
        assert_eq!(written("1975-12-01"), "<time datetime=\"1975-12-01\">December 1, 1975</time>");
        let shown = notice("§ 2 is current through 2026-01-01, é not 2026-13-01.").into_string();
        let expected = "is current through <time datetime=\"2026-01-01\">January 1, 2026</time>, é not 2026-13-01.";
        assert!(shown.contains(expected), "{shown}");
        assert_eq!(to_the_second(&at.to_string()).into_string(), "<time>2023-11-14, 22:13:20 UTC</time>");
    }
}
