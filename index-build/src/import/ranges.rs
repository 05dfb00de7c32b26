//! Ranges of numbers, such as `1-6-24 to 1-6-28`, that one provision represents. The provision is
//! found by each number.

/// A longer range is a mistake of the source, or spans a whole title.
const NUMBERS_MAX: u32 = 500;

/// The numbers after the first up to the last, if the two differ only in their last digits.
pub(crate) fn numbers_after(first: &str, last: &str) -> Vec<String> {
    let last_digits = |number: &str| number.len() - number.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (first_stem, first_tail) = first.split_at(last_digits(first));
    let (last_stem, last_tail) = last.split_at(last_digits(last));
    let (Ok(from), Ok(to)) = (first_tail.parse::<u32>(), last_tail.parse::<u32>()) else {
        return vec![last.to_owned()];
    };
    if first_stem != last_stem || to <= from || to - from > NUMBERS_MAX {
        return vec![last.to_owned()];
    }
    let width = if first_tail.starts_with('0') { first_tail.len() } else { 0 };
    (from + 1..=to).map(|number| format!("{first_stem}{number:0width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_in_their_last_digits() {
        assert_eq!(numbers_after("1-6-24", "1-6-27"), ["1-6-25", "1-6-26", "1-6-27"]);
        assert_eq!(numbers_after("20-61.9", "20-61.10"), ["20-61.10"]);
        assert_eq!(numbers_after("20-61.1", "20-62"), ["20-62"]);
        assert_eq!(numbers_after("1-1", "1-99999"), ["1-99999"]);
        assert_eq!(numbers_after("1A", "1C"), ["1C"]);
        assert_eq!(numbers_after(".08", ".10"), [".09", ".10"]);
        assert_eq!(numbers_after("14-0", "14-2"), ["14-1", "14-2"]);
    }
}
