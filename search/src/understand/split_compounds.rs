//! Finds compounds that the query writes as two words: `smoke free`, `child care`, `by laws`. The law
//! may write them as `smoke-free`, `childcare`, `bylaws`.
//!
//! The index contains a compound with a hyphen both as a whole and as its parts, so the spellings with
//! and without the hyphen find each other anyway.

use super::stop_words::is_stop_word;
use super::words::term_of;

/// The maximum number of pairs of neighbouring words to try.
const PAIRS_MAX: usize = 12;

/// The maximum number of letters of a compound.
const LETTERS_MAX: usize = 32;

/// A stop word that compounds can begin with.
const PREFIX: &str = "by";

/// Two neighbouring words of a query, and the term of their compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SplitCompound {
    pub words: [String; 2],
    pub whole: String,
}

/// A word as typed, in lower case, and its term.
pub(super) type TypedToken = (String, String);

/// The possible compounds of neighbouring words.
pub(super) fn split_compounds(row: &[TypedToken]) -> Vec<SplitCompound> {
    let is_word = |(word, _): &&TypedToken| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let pairs = row.windows(2).filter_map(|pair| {
        let [first, second] = pair else { return None };
        let length = first.0.len() + second.0.len();
        let may_join = first.0 == PREFIX || !(is_stop_word(&first.1) || is_stop_word(&second.1));
        let fits = length <= LETTERS_MAX && is_word(&first) && is_word(&second);
        (fits && may_join).then(|| SplitCompound {
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
            split_compounds(&row.iter().map(|word| typed(word)).collect::<Vec<_>>())
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
