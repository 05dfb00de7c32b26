//! Compounds that are written apart: `smoke free`, `child care`, `by laws` where the law may have `smoke-free`, `childcare`, `bylaws`.
//!
//! The index has a compound with a hyphen by its whole and by its parts, so the other spellings find each other without help.

use super::stop_words::is_stop_word;
use super::words::term_of;

/// So many pairs of neighbouring words are tried.
const PAIRS_MAX: usize = 12;

/// The compound of two words has so many letters.
const LETTERS_MAX: usize = 32;

/// A stop word that begins compounds.
const PREFIX: &str = "by";

/// Two neighbouring words of a query, and the term of both in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct Apart {
    pub words: [String; 2],
    pub whole: String,
}

/// A word as it was typed, in lower case, and its term.
pub(super) type Typed = (String, String);

/// What the words of a query would be as compounds, two and two.
pub(super) fn apart(row: &[Typed]) -> Vec<Apart> {
    let is_word = |(word, _): &&Typed| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let pairs = row.windows(2).filter_map(|pair| {
        let [first, second] = pair else { return None };
        let length = first.0.len() + second.0.len();
        let may_join = first.0 == PREFIX || !(is_stop_word(&first.1) || is_stop_word(&second.1));
        let fits = length <= LETTERS_MAX && is_word(&first) && is_word(&second);
        (fits && may_join).then(|| Apart {
            words: [first.1.clone(), second.1.clone()],
            whole: term_of(&(first.0.clone() + &second.0)),
        })
    });
    pairs.take(PAIRS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_words_are_tried_as_compounds() {
        let typed = |word: &str| (word.to_owned(), term_of(word));
        let wholes = |row: &[&str]| -> Vec<String> {
            apart(&row.iter().map(|word| typed(word)).collect::<Vec<_>>())
                .into_iter()
                .map(|apart| apart.whole)
                .collect()
        };
        assert_eq!(wholes(&["smoke", "free", "workplace"]), [term_of("smokefree"), term_of("freeworkplace")]);
        assert_eq!(wholes(&["by", "laws"]), [term_of("bylaws")]);
        assert_eq!(wholes(&["fence", "of", "the", "neighbor", "30", "days"]), Vec::<String>::new());
        assert_eq!(wholes(&["care"; 40]).len(), PAIRS_MAX);
    }
}
