//! The format of dates in plans and sources.

use hornbook_corpus::day::Day;

/// Whether a text is a calendar date such as `2026-01-31`.
pub(crate) fn is_date(text: &str) -> bool {
    text.parse::<Day>().is_ok()
}
