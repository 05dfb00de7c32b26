//! Normalises numbers of containers and sections for comparison: capital letters, no leading zeros.

/// The separators between the parts of a number.
pub(super) const SEPARATORS: [char; 3] = ['.', '-', ':'];

/// Converts a number to capital letters and removes the leading zeros that some publishers write:
/// `26.08.02` becomes `26.8.2`.
pub(super) fn normalize_number(number: &str) -> Box<str> {
    let mut folded = String::with_capacity(number.len());
    for piece in number.split_inclusive(SEPARATORS) {
        let zeros = piece.bytes().take_while(|byte| *byte == b'0').count();
        let digits = piece.as_bytes().get(zeros).is_some_and(u8::is_ascii_digit);
        folded.push_str(&piece[if digits { zeros } else { zeros.saturating_sub(1) }..].to_ascii_uppercase());
    }
    folded.into()
}

/// Whether a number continues another one after a separator.
pub(super) fn follows(number: &str, outer: &str) -> bool {
    number.strip_prefix(outer).is_some_and(|rest| rest.starts_with(SEPARATORS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_without_leading_zeros() {
        for (written, expected) in
            [("26.08.02", "26.8.2"), ("43-03", "43-3"), ("0", "0"), ("7a", "7A"), ("10.50", "10.50"), ("00A", "0A")]
        {
            assert_eq!(&*normalize_number(written), expected);
        }
    }

    #[test]
    fn a_number_follows_another_after_a_sign() {
        assert!(follows("43-32-1", "43-32") && follows("13.1-345", "13.1"));
        assert!(!follows("43-321", "43-32") && !follows("43-32", "43-32"));
    }
}
