//! How likely a slip of the fingers is: what lies behind a word that was typed for another.

/// A letter that is not the word's, or not where it belongs.
const LETTER: f32 = 1.0;

/// Two letters in the wrong order.
const SWAPPED: f32 = 0.5;

/// A neighbouring key, one vowel for another.
const EASILY: f32 = 0.75;

/// A letter once instead of twice, or twice instead of once.
const DOUBLED: f32 = 0.6;

/// Hardly anybody gets the first letter wrong.
const FIRST: f32 = 0.5;

const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// Letters that are written for the same sound.
const SOUNDS: [(&str, &str); 2] = [("f", "ph"), ("ph", "f")];

/// A word as it was typed, and with other letters for a sound in one place, each with what that costs. Only the first places,
/// because each spelling is looked up.
pub(super) fn sounds_like(word: &str) -> Vec<(String, f32)> {
    const PLACES_MAX: usize = 2;
    let places = SOUNDS.iter().flat_map(|(typed, meant)| word.match_indices(typed).map(move |found| (found, meant)));
    let other = places
        .take(PLACES_MAX)
        .map(|((at, typed), meant)| (format!("{}{meant}{}", &word[..at], &word[at + typed.len()..]), EASILY));
    [(word.to_owned(), 0.0)].into_iter().chain(other).collect()
}

/// The cost of typing a word for another: about one for each letter that is wrong, less for slips that are easily made. Both are
/// English letters in lower case.
pub(super) fn cost_of_slip(typed: &str, meant: &str) -> f32 {
    let (typed, meant) = (typed.as_bytes(), meant.as_bytes());
    let width = meant.len() + 1;
    let mut costs = vec![0.0_f32; (typed.len() + 1) * width];
    for row in 0..=typed.len() {
        for column in 0..=meant.len() {
            let at = row * width + column;
            let mut least = if at == 0 { 0.0 } else { f32::MAX };
            if row > 0 {
                least = least.min(costs[at - width] + put_in(typed, row - 1));
            }
            if column > 0 {
                least = least.min(costs[at - 1] + left_out(meant, column - 1));
            }
            if row > 0 && column > 0 {
                least = least.min(costs[at - width - 1] + exchanged(typed[row - 1], meant[column - 1], row == 1));
            }
            let is_swapped =
                row > 1 && column > 1 && typed[row - 1] == meant[column - 2] && typed[row - 2] == meant[column - 1];
            if is_swapped {
                least = least.min(costs[at - 2 * width - 2] + SWAPPED + if row == 2 { FIRST } else { 0.0 });
            }
            costs[at] = least;
        }
    }
    costs.last().copied().unwrap_or_default()
}

fn put_in(typed: &[u8], at: usize) -> f32 {
    let beside = |other: Option<&u8>| other.is_some_and(|&other| is_neighbour(typed[at], other));
    match at {
        0 => LETTER + FIRST,
        _ if typed[at] == typed[at - 1] => DOUBLED,
        _ if beside(typed.get(at - 1)) || beside(typed.get(at + 1)) => EASILY,
        _ => LETTER,
    }
}

fn left_out(meant: &[u8], at: usize) -> f32 {
    match at {
        0 => LETTER + FIRST,
        _ if meant[at] == meant[at - 1] => DOUBLED,
        _ => LETTER,
    }
}

fn exchanged(typed: u8, meant: u8, is_first: bool) -> f32 {
    let is_vowel = |letter: u8| b"aeiouy".contains(&letter);
    let first = if is_first { FIRST } else { 0.0 };
    match typed == meant {
        true => 0.0,
        false if is_neighbour(typed, meant) || (is_vowel(typed) && is_vowel(meant)) => EASILY + first,
        false => LETTER + first,
    }
}

/// Whether two keys touch: in a row next to each other, in the next row straight below or half a key to the left.
fn is_neighbour(one: u8, other: u8) -> bool {
    let place = |key: u8| {
        let found = ROWS.iter().enumerate().find_map(|(row, keys)| Some((row, keys.iter().position(|&k| k == key)?)));
        found.map(|(row, column)| (row as i32, column as i32))
    };
    let (Some(one), Some(other)) = (place(one), place(other)) else { return false };
    let (upper, lower) = if one.0 <= other.0 { (one, other) } else { (other, one) };
    match lower.0 - upper.0 {
        0 => (upper.1 - lower.1).abs() == 1,
        1 => upper.1 == lower.1 || upper.1 == lower.1 + 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::edits::edit_distance;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_that_touch_are_neighbours() {
        for (one, other) in
            [(b'q', b'w'), (b'w', b'a'), (b'w', b's'), (b'g', b'h'), (b'o', b'l'), (b'a', b'z'), (b's', b'z')]
        {
            assert!(is_neighbour(one, other) && is_neighbour(other, one), "{} {}", char::from(one), char::from(other));
        }
        for (one, other) in [(b'q', b'e'), (b'q', b's'), (b'q', b'z'), (b'a', b'a'), (b'p', b'm')] {
            assert!(!is_neighbour(one, other), "{} {}", char::from(one), char::from(other));
        }
    }

    #[test]
    fn easy_slips_cost_less() {
        for (typed, meant, cost) in [
            ("rent", "rent", 0.0),
            ("landlrod", "landlord", SWAPPED),
            ("depositt", "deposit", DOUBLED),
            ("comitee", "committee", 2.0 * DOUBLED),
            ("tenent", "tenant", EASILY),
            ("tenznt", "tenant", EASILY),
            ("tebant", "tebant", 0.0),
            ("tepant", "tenant", LETTER),
            ("kenant", "tenant", LETTER + FIRST),
            ("enant", "tenant", LETTER + FIRST),
        ] {
            assert!((cost_of_slip(typed, meant) - cost).abs() < 1e-6, "{typed} {meant} {}", cost_of_slip(typed, meant));
        }
    }

    #[test]
    fn sounds_have_several_spellings() {
        let spelt = |word: &str| -> Vec<String> { sounds_like(word).into_iter().map(|(spelt, _)| spelt).collect() };
        assert_eq!(spelt("rent"), ["rent"]);
        assert_eq!(spelt("dolfins"), ["dolfins", "dolphins"]);
        assert_eq!(spelt("phosfate"), ["phosfate", "phosphate", "fosfate"]);
        assert_eq!(spelt("fffff").len(), 3, "each costs a look-up");
    }

    proptest! {
        /// The cost orders words within the bounds that the plain distance sets.
        #[test]
        fn a_cost_stays_near_the_distance(typed in "[a-e]{1,9}", meant in "[a-e]{1,9}") {
            let distance = f32::from(edit_distance(&typed, &meant, 20).unwrap());
            let cost = cost_of_slip(&typed, &meant);
            prop_assert!(cost <= distance * LETTER + 2.0 * FIRST + 1e-4, "{} of {}", cost, distance);
            prop_assert!(cost >= distance * SWAPPED - 1e-4, "{} of {}", cost, distance);
        }
    }
}
