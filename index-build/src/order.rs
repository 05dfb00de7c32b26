//! Code order: the order in which a code numbers its provisions, whatever the order of their files.
//!
//! A `SortKey` is made from a citation or number. Comparing the bytes of two keys compares
//! provisions as a code prints them: numbers by value, letter suffixes by length before alphabet
//! (`300z` before `300aa`), `31` before `31-1` before `31a`, roman numerals by value. Containers
//! sort by their first provision, so that the numbering of the code decides, not the spelling of
//! its headings.

/// A sort key whose byte order is the code order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(Box<[u8]>);

const SEPARATOR: u8 = 1;
const NUMBER: u8 = 2;
const LETTERS: u8 = 3;
/// Separates the words of a citation, so that `App.` does not merge with the number after it.
const WORD: u8 = 0;

impl SortKey {
    /// The key of a citation. Words without a digit name the code, not the place, and are skipped,
    /// except roman numerals and `App.`.
    pub fn of_citation(citation: &str) -> Self {
        let mut bytes = Vec::with_capacity(24);
        for word in citation.split(|c: char| c.is_whitespace() || matches!(c, '§' | ',' | '[' | ']')) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if bare.chars().any(|c| c.is_ascii_digit()) {
                push_number(&mut bytes, bare);
            } else if let Some(value) = roman(bare) {
                push_digits(&mut bytes, &value.to_string());
            } else if bare.eq_ignore_ascii_case("app") {
                push_letters(&mut bytes, bare);
            } else {
                continue;
            }
            bytes.push(WORD);
        }
        Self(bytes.into())
    }

    /// The key of a bare number such as `12-2-104a`, `IV` or `B`.
    pub fn of_number(number: &str) -> Self {
        let mut bytes = Vec::with_capacity(16);
        let bare = number.trim_matches(|c: char| !c.is_alphanumeric());
        match roman(bare) {
            Some(value) => push_digits(&mut bytes, &value.to_string()),
            None => push_number(&mut bytes, bare),
        }
        Self(bytes.into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn push_number(bytes: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same_kind =
            |c: char| c.is_ascii_digit() == first.is_ascii_digit() && c.is_alphabetic() == first.is_alphabetic();
        let end = rest.find(|c: char| !same_kind(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        if first.is_ascii_digit() {
            push_digits(bytes, run);
        } else if first.is_alphabetic() {
            push_letters(bytes, run);
        } else {
            bytes.push(SEPARATOR);
        }
        rest = tail;
    }
}

/// Digits sort by value, whatever their number, then by length, so that `01` and `1` differ but
/// stay next to each other.
fn push_digits(bytes: &mut Vec<u8>, digits: &str) {
    let significant = digits.trim_start_matches('0');
    bytes.extend([NUMBER, significant.len().min(255) as u8]);
    bytes.extend_from_slice(significant.as_bytes());
    // The last byte sorts below every other token, and sorts `1` before `01`.
    bytes.push((digits.len() - significant.len()).min(255) as u8);
}

fn push_letters(bytes: &mut Vec<u8>, letters: &str) {
    let folded = letters.to_lowercase();
    bytes.extend([LETTERS, folded.len().min(255) as u8]);
    bytes.extend_from_slice(folded.as_bytes());
}

/// The value of a roman numeral as legislatures write them: upper case, from I to the low hundreds.
fn roman(text: &str) -> Option<u32> {
    let value = |c| match c {
        'I' => Some(1),
        'V' => Some(5),
        'X' => Some(10),
        'L' => Some(50),
        'C' => Some(100),
        _ => None,
    };
    let digits: Vec<u32> = text.chars().map(value).collect::<Option<_>>()?;
    // A lone C, D, L or M is a letter, not a roman numeral.
    if digits.is_empty() || text == "C" || text == "L" {
        return None;
    }
    let total = (0..digits.len())
        .map(|i| {
            if digits.get(i + 1).is_some_and(|&next| next > digits[i]) {
                -i64::from(digits[i])
            } else {
                i64::from(digits[i])
            }
        })
        .sum::<i64>();
    u32::try_from(total).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_ascending(keys: &[&str], key: fn(&str) -> SortKey) {
        for pair in keys.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{} should come before {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn citations_sort_as_a_code_prints_them() {
        assert_ascending(
            &[
                "1 U.S.C. § 1",
                "2 U.S.C. § 31",
                "2 U.S.C. § 31–1",
                "2 U.S.C. § 31–2",
                "2 U.S.C. § 31a",
                "2 U.S.C. § 31a–1",
                "5 U.S.C. § 9",
                "5 U.S.C. § 10",
                "5 U.S.C. App. § 2",
                "5 U.S.C. App. § 8",
                "5 U.S.C. App. § 8G",
                "5 U.S.C. App. § 10",
                "42 U.S.C. § 300z",
                "42 U.S.C. § 300aa",
                "42 U.S.C. § 300aa–1",
                "42 U.S.C. § 300aa–10",
                "42 U.S.C. § 300bb",
                "42 U.S.C. § 1395w–4",
                "42 U.S.C. § 1395x",
                "42 U.S.C. § 1395ww",
            ],
            SortKey::of_citation,
        );
        assert_ascending(
            &[
                "Va. Code § 1-1",
                "Va. Code § 8.1A-101",
                "Va. Code § 8.9A-101",
                "Va. Code § 10.1-408",
                "Va. Code § 20-13",
            ],
            SortKey::of_citation,
        );
        assert_ascending(
            &["COMAR 01.01.2025.19", "COMAR 13A.01.01.01", "COMAR 13B.01.01.01", "COMAR 26.08.02.01"],
            SortKey::of_citation,
        );
        assert_ascending(
            &["XA Const. art. I, § 2", "XA Const. art. II, § 1", "XA Const. art. IX, § 1", "XA Const. art. X, § 1"],
            SortKey::of_citation,
        );
        assert_ascending(
            &["D.C. Code § 3-1210.11", "D.C. Code § [3-1210.12]", "D.C. Code § 3-1211.01"],
            SortKey::of_citation,
        );
    }

    #[test]
    fn container_numbers_sort_by_value_letters_and_romans() {
        assert_ascending(&["1", "1A", "2", "10", "10.1", "11"], SortKey::of_number);
        assert_ascending(&["I", "II", "IV", "V", "IX", "X", "XL"], SortKey::of_number);
        assert_ascending(&["A", "B", "C", "D", "E"], SortKey::of_number);
    }

    #[test]
    fn numbers_of_any_length_compare_by_value() {
        let long = "9".repeat(300);
        assert!(SortKey::of_number("99999999999999999999") < SortKey::of_number("100000000000000000000"));
        assert!(SortKey::of_number("1") < SortKey::of_number(&long));
    }
}
