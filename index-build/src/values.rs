//! What keys and dates in plans and sources look like.

use hornbook_corpus::day::Day;

/// Parts of lower-case letters, digits, `.`, `-`, `_` and `~`, separated by slashes.
pub(crate) fn is_source_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'~');
    key.len() <= 300 && key.split('/').all(|part| !part.is_empty() && part.bytes().all(plain))
}

/// A calendar date as `2026-01-31`.
pub(crate) fn is_date(text: &str) -> bool {
    text.parse::<Day>().is_ok()
}
