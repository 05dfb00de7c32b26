//! Misspells queries by rule, to measure what typing errors cost. The same seed gives the same errors.

use std::ops::Range;

use hornbook_base::random::SplitMix64;

/// Shorter words stay unchanged: nobody could recognise them with an error.
const LETTERS_MIN: usize = 5;

/// The maximum number of misspelt words in a query.
const WORDS_MAX: usize = 2;

const ROWS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// Makes one typing error in one or two of the longer words. Words with digits and queries with quotes
/// stay unchanged.
pub fn add_typos(query: &str, seed: u64) -> String {
    let mut random = SplitMix64(query.bytes().fold(seed, |hash, byte| hash.rotate_left(5) ^ u64::from(byte)));
    let mut words = words_in(query);
    let wanted = 1 + random.index(WORDS_MAX);
    while words.len() > wanted {
        words.remove(random.index(words.len()));
    }
    let mut misspelt = query.to_owned();
    for place in words.into_iter().rev() {
        let typo = typo_in(&query[place.clone()], &mut random);
        misspelt.replace_range(place, &typo);
    }
    misspelt
}

fn words_in(query: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    if query.contains('"') {
        return words;
    }
    let mut start = 0;
    for (end, sign) in query.char_indices().chain([(query.len(), ' ')]) {
        if !sign.is_alphanumeric() {
            let word = &query[start..end];
            if word.len() >= LETTERS_MIN && word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                words.push(start..end);
            }
            start = end + sign.len_utf8();
        }
    }
    words
}

/// Swaps two letters, drops or doubles one, or replaces one by a neighbouring key. The first letter
/// never changes.
fn typo_in(word: &str, random: &mut SplitMix64) -> String {
    let mut letters = word.as_bytes().to_vec();
    let at = 1 + random.index(letters.len() - 2);
    match random.index(4) {
        0 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        1 => {
            letters.remove(at);
        }
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = neighbour_of(letters[at], random),
    }
    String::from_utf8(letters).unwrap_or_else(|_| word.to_owned())
}

fn neighbour_of(letter: u8, random: &mut SplitMix64) -> u8 {
    let key = letter.to_ascii_lowercase();
    let row = ROWS.iter().find(|row| row.contains(&key)).copied().unwrap_or(ROWS[0]);
    let place = row.iter().position(|&other| other == key).unwrap_or_default();
    let is_last = place + 1 == row.len();
    if is_last || (place > 0 && random.index(2) == 0) { row[place - 1] } else { row[place + 1] }
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::edits::edit_distance;

    use super::*;

    #[test]
    fn one_or_two_words_get_one_typo_each() {
        let query = "how long may a landlord keep the security deposit after 30days of 10b-5";
        for seed in 0..200 {
            let slipped = add_typos(query, seed);
            assert_eq!(slipped, add_typos(query, seed));
            let pairs = query.split(' ').zip(slipped.split(' '));
            let changed: Vec<(&str, &str)> = pairs.filter(|(word, slipped)| word != slipped).collect();
            assert!((1..=WORDS_MAX).contains(&changed.len()), "{slipped}");
            for (word, slipped) in changed {
                assert_eq!(edit_distance(word, slipped, 3), Some(1), "{word} {slipped}");
                assert!(word.len() >= LETTERS_MIN && word[..1] == slipped[..1], "{word} {slipped}");
            }
        }
        assert_eq!(add_typos("\"security deposit\"", 1), "\"security deposit\"");
        assert_eq!(add_typos("42 USC 1983", 1), "42 USC 1983");
    }
}
