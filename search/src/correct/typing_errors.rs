//! The cost of typing errors: how unlikely it is that one word was typed for another.

/// A wrong, missing or extra consonant, or a vowel in place of a consonant or the reverse. Hardly
/// any slip is less likely.
const LETTER: f32 = 1.2;

/// A missing or extra vowel.
const VOWEL: f32 = 0.8;

/// Two adjacent letters in the wrong order.
const SWAPPED: f32 = 0.5;

/// `ie` for `ei`, or the reverse.
const IE_SWAPPED: f32 = 0.25;

/// A neighbouring key, pressed instead of the right one or in addition to it.
const NEIGHBOURING_KEY: f32 = 0.75;

/// A consonant that is easily confused with the right one, or another vowel after the first vowel
/// of the word. Also an alternative spelling of a sound.
const SOUND: f32 = 0.55;

/// Another vowel up to the first vowel of the word. This vowel is spoken clearly, so errors are
/// rarer.
const CLEAR_VOWEL: f32 = 0.75;

/// A single letter instead of a double one, or the reverse.
const DOUBLED: f32 = 0.5;

/// A missing or extra silent letter.
const SILENT: f32 = 0.55;

/// Added for an error in the first letter, which is rare.
const FIRST_LETTER: f32 = 0.5;

/// Pairs of letters of which the first, or the second, is silent: `switch`, `foreign`, `debt`.
const FIRST_SILENT: [&[u8; 2]; 27] = [
    b"bt", b"ck", b"cq", b"dg", b"dj", b"gm", b"gn", b"kn", b"lf", b"lk", b"lm", b"lv", b"ld", b"mn", b"nm", b"pn",
    b"ps", b"pt", b"rp", b"tc", b"wr", b"wh", b"hm", b"ht", b"gh", b"xc", b"st",
];
const SECOND_SILENT: [&[u8; 2]; 14] =
    [b"bu", b"ch", b"ck", b"gh", b"gu", b"kh", b"mb", b"mn", b"qu", b"rh", b"sc", b"th", b"wh", b"xc"];

/// Consonants that are often written for one another.
const ALIKE: [&[u8; 2]; 12] = [b"cs", b"sz", b"ck", b"gj", b"cq", b"kq", b"dt", b"mn", b"fv", b"bp", b"cz", b"st"];

const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// Different letters for the same sound.
const SOUNDS: [(&str, &str); 2] = [("f", "ph"), ("ph", "f")];

/// Two spellings of the same vowel sound before a consonant: with an `e` at the end, as in `sale`,
/// or with two vowels, as in `sail`.
const LONG_VOWELS: [(u8, &str); 3] = [(b'a', "ai"), (b'e', "ea"), (b'o', "oa")];

/// The word as it was typed, and with alternative spellings of one of its sounds, each with its
/// cost. Only the first few places are tried, because each spelling is looked up.
pub(super) fn alternative_spellings(word: &str) -> Vec<(String, f32)> {
    const PLACES_MAX: usize = 2;
    let places = SOUNDS.iter().flat_map(|(typed, meant)| word.match_indices(typed).map(move |found| (found, meant)));
    let other = places
        .take(PLACES_MAX)
        .map(|((at, typed), meant)| (format!("{}{meant}{}", &word[..at], &word[at + typed.len()..]), SOUND));
    [(word.to_owned(), 0.0)].into_iter().chain(other).chain(long_vowel(word).map(|word| (word, SOUND))).collect()
}

/// For example `jail` for `jale`.
fn long_vowel(word: &str) -> Option<String> {
    let &[.., vowel, consonant, b'e'] = word.as_bytes() else { return None };
    let (_, pair) = LONG_VOWELS.iter().find(|&&(long, _)| long == vowel)?;
    let end = word.len() - 3;
    (!is_vowel(consonant)).then(|| format!("{}{pair}{}", &word[..end], char::from(consonant)))
}

/// The cost of typing one word for another: about 1 for each wrong letter, and less for easy slips.
/// Both words must be English letters in lower case.
pub(super) fn typing_error_cost(typed: &str, meant: &str) -> f32 {
    let (typed, meant) = (typed.as_bytes(), meant.as_bytes());
    let width = meant.len() + 1;
    // Vowels up to this column are spoken clearly.
    let first_vowel = meant.iter().position(|&letter| is_vowel(letter)).map_or(0, |at| at + 1);
    let mut costs = vec![0.0_f32; (typed.len() + 1) * width];
    for row in 0..=typed.len() {
        for column in 0..=meant.len() {
            let at = row * width + column;
            let mut least = if at == 0 { 0.0 } else { f32::MAX };
            if row > 0 {
                least = least.min(costs[at - width] + insertion_cost(typed, row - 1));
            }
            if column > 0 {
                least = least.min(costs[at - 1] + deletion_cost(meant, column - 1));
            }
            if row > 0 && column > 0 {
                let cost = match is_doubled_instead(typed, row - 1, meant, column - 1) {
                    true => DOUBLED,
                    false => substitution_cost(typed[row - 1], meant[column - 1], row == 1, column <= first_vowel),
                };
                least = least.min(costs[at - width - 1] + cost);
            }
            let is_swapped =
                row > 1 && column > 1 && typed[row - 1] == meant[column - 2] && typed[row - 2] == meant[column - 1];
            if is_swapped {
                let is_ie = matches!([typed[row - 2], typed[row - 1]], [b'i', b'e'] | [b'e', b'i']);
                let cost = if is_ie { IE_SWAPPED } else { SWAPPED } + if row == 2 { FIRST_LETTER } else { 0.0 };
                least = least.min(costs[at - 2 * width - 2] + cost);
            }
            costs[at] = least;
        }
    }
    costs.last().copied().unwrap_or_default()
}

fn insertion_cost(typed: &[u8], at: usize) -> f32 {
    let beside = |other: Option<&u8>| other.is_some_and(|&other| is_neighbour(typed[at], other));
    match at {
        0 => LETTER + FIRST_LETTER,
        _ if beside(typed.get(at - 1)) || beside(typed.get(at + 1)) => {
            extra_or_missing_cost(typed, at).min(NEIGHBOURING_KEY)
        }
        _ => extra_or_missing_cost(typed, at),
    }
}

fn deletion_cost(meant: &[u8], at: usize) -> f32 {
    extra_or_missing_cost(meant, at) + if at == 0 { FIRST_LETTER } else { 0.0 }
}

/// The cost of leaving out a letter of a word, or of adding it.
fn extra_or_missing_cost(word: &[u8], at: usize) -> f32 {
    let (letter, after) = (word[at], word.get(at + 1).copied());
    let before = if at == 0 { 0 } else { word[at - 1] };
    let is_pair = |pairs: &[&[u8; 2]], pair: [u8; 2]| pairs.contains(&&pair);
    let is_silent = after.is_some_and(|after| is_pair(&FIRST_SILENT, [letter, after]))
        || is_pair(&SECOND_SILENT, [before, letter])
        || (letter == b'e' && after.is_none_or(|after| b"dlmns".contains(&after)));
    match letter {
        _ if letter == before => DOUBLED,
        _ if is_silent => SILENT,
        _ if is_vowel(letter) => VOWEL,
        _ => LETTER,
    }
}

/// Whether the typed word doubles the wrong letter, as in `refugge` for `refugee`.
fn is_doubled_instead(typed: &[u8], row: usize, meant: &[u8], column: usize) -> bool {
    let is_twice = |word: &[u8], at: usize| at > 0 && word[at] == word[at - 1];
    is_twice(typed, row)
        && typed[row] != meant[column]
        && (is_twice(meant, column) || meant.get(column + 1) == Some(&meant[column]))
}

fn substitution_cost(typed: u8, meant: u8, is_first: bool, is_clear: bool) -> f32 {
    let first = if is_first { FIRST_LETTER } else { 0.0 };
    let is_alike = ALIKE.contains(&&[typed.min(meant), typed.max(meant)]);
    match typed == meant {
        true => 0.0,
        false if is_vowel(typed) && is_vowel(meant) => first + if is_clear { CLEAR_VOWEL } else { SOUND },
        false if is_alike => first + SOUND,
        false if is_neighbour(typed, meant) => first + NEIGHBOURING_KEY,
        false => first + LETTER,
    }
}

fn is_vowel(letter: u8) -> bool {
    b"aeiouy".contains(&letter)
}

/// Whether two keys are adjacent: side by side in one row, or in the next row directly below or
/// half a key to the left.
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
            ("tenent", "tenant", SOUND),
            ("tenznt", "tenant", NEIGHBOURING_KEY),
            ("tebant", "tebant", 0.0),
            ("tepant", "tenant", LETTER),
            ("kenant", "tenant", LETTER + FIRST_LETTER),
            ("enant", "tenant", LETTER + FIRST_LETTER),
            ("theif", "thief", IE_SWAPPED),
            ("lisence", "license", 2.0 * SOUND),
            ("furnise", "furnace", 2.0 * SOUND),
            ("swiched", "switched", SILENT),
            ("elecktion", "election", SILENT),
            ("colledge", "college", SILENT),
            ("nife", "knife", SILENT + FIRST_LETTER),
            ("refugge", "refugee", DOUBLED),
            ("intrest", "interest", VOWEL),
            ("berning", "burning", CLEAR_VOWEL),
        ] {
            assert!(
                (typing_error_cost(typed, meant) - cost).abs() < 1e-6,
                "{typed} {meant} {}",
                typing_error_cost(typed, meant)
            );
        }
    }

    #[test]
    fn sounds_have_several_spellings() {
        let spelt =
            |word: &str| -> Vec<String> { alternative_spellings(word).into_iter().map(|(spelt, _)| spelt).collect() };
        assert_eq!(spelt("rent"), ["rent"]);
        assert_eq!(spelt("dolfins"), ["dolfins", "dolphins"]);
        assert_eq!(spelt("phosfate"), ["phosfate", "phosphate", "fosfate", "phosfait"]);
        assert_eq!(spelt("jale"), ["jale", "jail"]);
        assert_eq!(spelt("lone"), ["lone", "loan"]);
        assert_eq!(spelt("rye"), ["rye"]);
        assert_eq!(spelt("fffff").len(), 3, "each spelling costs a lookup");
    }

    proptest! {
        /// The cost stays within the bounds that the plain edit distance sets.
        #[test]
        fn a_cost_stays_near_the_distance(typed in "[a-e]{1,9}", meant in "[a-e]{1,9}") {
            let distance = f32::from(edit_distance(&typed, &meant, 20).unwrap());
            let cost = typing_error_cost(&typed, &meant);
            prop_assert!(cost <= distance * LETTER + 2.0 * FIRST_LETTER + 1e-4, "{} of {}", cost, distance);
            prop_assert!(cost >= distance * SWAPPED - 1e-4, "{} of {}", cost, distance);
        }
    }
}
