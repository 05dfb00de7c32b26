//! Roman numerals.

const PARTS: [(u16, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// The largest number that has a numeral.
const ROMAN_MAX: u16 = 3_999;

/// The largest number that is read. In law, `CD`, `D` and `M` are letters.
pub const READ_MAX: u16 = 399;

/// The value of a well-formed numeral in capitals, up to [`READ_MAX`]. `IIII` and `VX` are not well-formed.
pub fn from_roman(numeral: &str) -> Option<u16> {
    let (mut rest, mut value) = (numeral, 0_u16);
    for (worth, part) in PARTS {
        while let Some(after) = rest.strip_prefix(part) {
            value = value.checked_add(worth)?;
            rest = after;
        }
    }
    (rest.is_empty() && value <= READ_MAX && to_roman(value)? == numeral).then_some(value)
}

/// The numeral of a number, in capitals. Zero and numbers above 3,999 have none.
pub fn to_roman(mut value: u16) -> Option<String> {
    if !(1..=ROMAN_MAX).contains(&value) {
        return None;
    }
    let mut numeral = String::new();
    for (worth, part) in PARTS {
        while value >= worth {
            numeral.push_str(part);
            value -= worth;
        }
    }
    Some(numeral)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_round_trip() {
        for value in 1..=ROMAN_MAX {
            assert_eq!(from_roman(&to_roman(value).unwrap()), Some(value).filter(|value| *value <= READ_MAX));
        }
        assert_eq!(to_roman(1_994).as_deref(), Some("MCMXCIV"));
        assert_eq!((to_roman(0), to_roman(4_000)), (None, None));
        let long = "M".repeat(100);
        for bad in ["", "IIII", "VX", "IC", "ABC", "XIIIC", "xiv", &long] {
            assert_eq!(from_roman(bad), None, "{bad}");
        }
    }
}
