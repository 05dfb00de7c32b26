//! Splits text into words and computes the keys by which places are looked up.

use std::ops::Range;

/// No name begins with a longer word.
pub(super) const WORD_BYTES_MAX: usize = 24;

/// A word of a query. Its key is in small letters and has no dots.
#[derive(Clone, Debug)]
pub(super) struct PlaceWord {
    pub bytes: Range<usize>,
    pub key: String,
    pub case: Case,
    /// Whether it is an abbreviation with dots, such as `D.C.`.
    pub is_dotted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Small,
    /// The first letter is a capital, and there are small letters.
    Capital,
    Capitals,
}

impl PlaceWord {
    pub(super) fn of(text: &str, bytes: Range<usize>) -> Self {
        let word = &text[bytes.clone()];
        let is_first_capital = word.starts_with(char::is_uppercase);
        let case = match is_first_capital {
            false => Case::Small,
            true if word.contains(char::is_lowercase) => Case::Capital,
            true => Case::Capitals,
        };
        let is_dotted = word.contains('.');
        let key = word.chars().filter(|&letter| letter != '.').flat_map(char::to_lowercase).collect();
        Self { bytes, key, case, is_dotted }
    }
}

/// The next word at or after a byte of a text. Single letters with dots between them form one word.
pub(super) fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].find(char::is_alphanumeric)?;
    let mut end = end_of_run(text, start);
    let mut letter = start;
    while is_one_letter(&text[letter..end]) && text[end..].starts_with('.') {
        let next = end + 1;
        let next_end = end_of_run(text, next);
        if !is_one_letter(&text[next..next_end]) {
            // The dot after the last letter belongs to an abbreviation; the dot after a single initial
            // does not.
            return Some(start..if letter > start { next } else { end });
        }
        (letter, end) = (next, next_end);
    }
    Some(start..end)
}

fn end_of_run(text: &str, from: usize) -> usize {
    text[from..].find(|sign: char| !sign.is_alphanumeric()).map_or(text.len(), |len| from + len)
}

fn is_one_letter(word: &str) -> bool {
    word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic()
}

/// Writes the key of a word to a buffer. `None` if the word is too long or has characters beyond ASCII:
/// no name begins with such a word.
pub(super) fn key_in<'b>(word: &str, buffer: &'b mut [u8; WORD_BYTES_MAX]) -> Option<&'b str> {
    let mut len = 0;
    for byte in word.bytes().filter(|&byte| byte != b'.') {
        if len == WORD_BYTES_MAX || !byte.is_ascii() {
            return None;
        }
        buffer[len] = byte.to_ascii_lowercase();
        len += 1;
    }
    std::str::from_utf8(&buffer[..len]).ok()
}

/// The keys of all words of a text.
pub(super) fn keys_of(text: &str) -> Vec<String> {
    words_in(text, 0..text.len()).into_iter().map(|word| word.key).collect()
}

pub(super) fn words_in(text: &str, piece: Range<usize>) -> Vec<PlaceWord> {
    let text = &text[..piece.end];
    let mut words = Vec::new();
    let mut at = piece.start;
    while let Some(bytes) = next_word(text, at) {
        at = bytes.end;
        words.push(PlaceWord::of(text, bytes));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_with_dots_are_one_word() {
        assert_eq!(keys_of("weed in D.C."), ["weed", "in", "dc"]);
        assert_eq!(keys_of("U.S. Code, 42 U.S.C. § 1"), ["us", "code", "42", "usc", "1"]);
        assert_eq!(keys_of("Roe v. Wade. A. b"), ["roe", "v", "wade", "a", "b"]);
        assert_eq!(keys_of("Washington's"), ["washington", "s"]);
        assert_eq!(keys_of(" ... "), Vec::<String>::new());
    }

    #[test]
    fn keys_are_written_without_allocation() {
        let mut buffer = [0; WORD_BYTES_MAX];
        assert_eq!(key_in("D.C.", &mut buffer), Some("dc"));
        assert_eq!(key_in(&"a".repeat(WORD_BYTES_MAX), &mut buffer).map(str::len), Some(WORD_BYTES_MAX));
        assert_eq!(key_in(&"a".repeat(WORD_BYTES_MAX + 1), &mut buffer), None);
        assert_eq!(key_in("Cañon", &mut buffer), None);
    }
}
