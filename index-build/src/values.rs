//! What keys and dates in plans and sources look like.

/// Parts of lower-case letters, digits, `.`, `-`, `_` and `~`, separated by slashes.
pub(crate) fn is_source_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'~');
    key.len() <= 300 && key.split('/').all(|part| !part.is_empty() && part.bytes().all(plain))
}

/// A calendar date as `2026-01-31`.
pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| (part.len(), part.parse::<u32>().ok()));
    let shape = (parts.next(), parts.next(), parts.next(), parts.next());
    let (Some((4, Some(year))), Some((2, Some(month))), Some((2, Some(day))), None) = shape else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    text.bytes().all(|b| b.is_ascii_digit() || b == b'-') && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_real_days() {
        assert!(is_date("2024-02-29") && is_date("2026-12-31"));
        for bad in ["2026-02-29", "2026-13-01", "2026-1-01", "26-01-01", "2026-01-00", "2026-01-01-01", "+026-01-01"] {
            assert!(!is_date(bad), "{bad}");
        }
    }
}
