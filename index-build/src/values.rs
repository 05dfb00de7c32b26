//! The format of keys and dates in plans and sources.

use hornbook_corpus::day::Day;

/// Whether a text consists of parts of lower-case letters, digits, `.`, `-`, `_` and `~`, separated by slashes.
pub(crate) fn is_source_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'~');
    key.len() <= 300 && key.split('/').all(|part| !part.is_empty() && part.bytes().all(plain))
}

/// Whether a text is a calendar date such as `2026-01-31`.
pub(crate) fn is_date(text: &str) -> bool {
    text.parse::<Day>().is_ok()
}
