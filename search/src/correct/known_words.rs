//! English words and names that are spelt right, whether or not a law contains them.
//!
//! The lists are in `search/words`: `known-words.txt` comes from SCOWL, and `known-words.py` writes it;
//! `everyday-words.txt` is our own.

use std::sync::LazyLock;

use fst::Set;

static KNOWN_WORDS: LazyLock<Set<&[u8]>> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/known-words.fst"));
    Set::new(bytes).expect("the build script wrote this set")
});

/// Whether the list has a word in lower case. Apostrophes are left out: `womens`.
pub fn is_known_word(word: &str) -> bool {
    KNOWN_WORDS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_names_and_forms_without_apostrophe_are_known() {
        for word in ["manatee", "squatters", "feds", "womens", "dont", "tennessee", "embezzler", "ballplayer", "airbnb"]
        {
            assert!(is_known_word(word), "{word}");
        }
        for word in ["landlrod", "securty", "fone", "mony", "recieve", ""] {
            assert!(!is_known_word(word), "{word}");
        }
        assert!(KNOWN_WORDS.len() > 200_000);
    }
}
