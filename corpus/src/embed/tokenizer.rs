//! Splits text into tokens, like the WordPiece tokeniser of BERT-uncased, but without `[CLS]` and `[SEP]`.
//!
//! The rules, in order: control characters are removed; each Han character is a word; canonical decomposition;
//! accents are removed; lower case; words end at white space; each punctuation character is a word. A word is split
//! from left to right into the longest tokens, or becomes the unknown token as a whole. Plain ASCII words, nearly
//! all words of legal text, take a fast path. A word with other characters is copied, normalised as a whole and
//! then split.

use unicode_normalization::UnicodeNormalization;

use super::char_class::{BYTE_CLASSES, ByteClass, is_accent, is_han, is_punctuation, is_removed};
use super::token::TokenId;
use super::vocabulary::{PiecePosition, Vocabulary};

/// Maximum length of a word in characters. A longer word becomes the unknown token.
const WORD_CHARS_MAX: usize = 100;

/// Appends the tokens of a text.
pub(super) fn tokenize(vocabulary: &Vocabulary, text: &str, out: &mut Vec<TokenId>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at = match BYTE_CLASSES[usize::from(byte)] {
            ByteClass::Space => at + 1,
            ByteClass::Punctuation => {
                push_word(vocabulary, &bytes[at..=at], out);
                at + 1
            }
            ByteClass::Word => plain_word(vocabulary, text, at, out),
            ByteClass::NonAscii => {
                wide_boundary(vocabulary, text, at, out).unwrap_or_else(|| unusual_word(vocabulary, text, at, out))
            }
            ByteClass::Removed => unusual_word(vocabulary, text, at, out),
        };
    }
}

/// Tokenises a word of ASCII letters and digits. Returns its end.
#[inline]
fn plain_word(vocabulary: &Vocabulary, text: &str, start: usize, out: &mut Vec<TokenId>) -> usize {
    let bytes = text.as_bytes();
    let mut lower = [0; WORD_CHARS_MAX];
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match BYTE_CLASSES[usize::from(byte)] {
            ByteClass::Word => {
                if let Some(slot) = lower.get_mut(at - start) {
                    *slot = byte.to_ascii_lowercase();
                }
            }
            ByteClass::Space | ByteClass::Punctuation => break,
            ByteClass::NonAscii if is_wide_boundary(text, at) => break,
            ByteClass::NonAscii | ByteClass::Removed => return unusual_word(vocabulary, text, start, out),
        }
        at += 1;
    }
    match lower.get(..at - start) {
        Some(word) => push_word(vocabulary, word, out),
        None => out.push(TokenId::UNKNOWN),
    }
    at
}

/// Takes one non-ASCII space or punctuation mark of the kinds that are frequent in legal text (§, “, —). Returns
/// its end.
fn wide_boundary(vocabulary: &Vocabulary, text: &str, start: usize, out: &mut Vec<TokenId>) -> Option<usize> {
    if !is_wide_boundary(text, start) {
        return None;
    }
    let c = text[start..].chars().next()?;
    let end = start + c.len_utf8();
    if !c.is_whitespace() {
        push_word(vocabulary, &text.as_bytes()[start..end], out);
    }
    Some(end)
}

/// Whether the character at `at` ends a word and is not changed by decomposition or lower case.
fn is_wide_boundary(text: &str, at: usize) -> bool {
    let Some(c) = text[at..].chars().next() else { return false };
    // These blocks contain the marks that are frequent in legal text. Others are handled as parts of unusual words.
    let common = matches!(c, '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{a0}');
    common && (c.is_whitespace() || is_punctuation(c))
}

/// Normalises the text from `start` to the next plain boundary and tokenises it. Returns its end.
#[cold]
fn unusual_word(vocabulary: &Vocabulary, text: &str, start: usize, out: &mut Vec<TokenId>) -> usize {
    let end = text[start..].char_indices().map(|(at, _)| start + at).find(|&at| ends_unusual(text, at));
    let end = end.unwrap_or(text.len());
    let mut word = String::new();
    for c in normalized(&text[start..end]) {
        if c.is_whitespace() || is_punctuation(c) {
            push_long_word(vocabulary, &word, out);
            word.clear();
        }
        if is_punctuation(c) {
            push_word(vocabulary, c.encode_utf8(&mut [0; 4]).as_bytes(), out);
        } else if !c.is_whitespace() {
            word.push(c);
        }
    }
    push_long_word(vocabulary, &word, out);
    end
}

/// Whether normalisation may stop at `at`: text after a plain boundary changes nothing before it.
fn ends_unusual(text: &str, at: usize) -> bool {
    match BYTE_CLASSES[usize::from(text.as_bytes()[at])] {
        ByteClass::Space | ByteClass::Punctuation => true,
        ByteClass::NonAscii => is_wide_boundary(text, at),
        ByteClass::Word | ByteClass::Removed => false,
    }
}

fn normalized(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .filter(|&c| !is_removed(c))
        .flat_map(|c| {
            let gap = is_han(c).then_some(' ');
            gap.into_iter().chain([c]).chain(gap)
        })
        .nfd()
        .filter(|&c| !is_accent(c))
        .flat_map(char::to_lowercase)
}

fn push_long_word(vocabulary: &Vocabulary, word: &str, out: &mut Vec<TokenId>) {
    let too_long = word.len() > WORD_CHARS_MAX && word.chars().count() > WORD_CHARS_MAX;
    if too_long {
        out.push(TokenId::UNKNOWN);
    } else {
        push_word(vocabulary, word.as_bytes(), out);
    }
}

/// Splits a normalised word into tokens.
#[inline]
fn push_word(vocabulary: &Vocabulary, word: &[u8], out: &mut Vec<TokenId>) {
    let first = out.len();
    let mut rest = word;
    let mut place = PiecePosition::Start;
    while !rest.is_empty() {
        let Some((token, length)) = vocabulary.longest(rest, place) else {
            out.truncate(first);
            out.push(TokenId::UNKNOWN);
            return;
        };
        out.push(token);
        rest = &rest[length..];
        place = PiecePosition::Continuation;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<TokenId> {
        let mut out = Vec::new();
        tokenize(&Vocabulary::compiled_in(), text, &mut out);
        out
    }

    /// Undoes the escapes of the golden file: `\n`, `\t` and `\uXXXX`.
    fn unescaped(text: &str) -> String {
        let mut parts = text.split('\\');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (c, rest) = match part.as_bytes()[0] {
                b'n' => ('\n', &part[1..]),
                b't' => ('\t', &part[1..]),
                b'u' => (u32::from_str_radix(&part[1..5], 16).unwrap().try_into().unwrap(), &part[5..]),
                other => panic!("unknown escape {other}"),
            };
            out.push(c);
            out.push_str(rest);
        }
        out
    }

    /// The expected numbers come from the reference tokeniser.
    #[test]
    fn golden_sentences_have_the_tokens_of_the_reference() {
        let mut sentences = 0;
        for line in include_str!("golden-tokens.tsv").lines() {
            let (text, expected) = line.split_once('\t').unwrap();
            let expected: Vec<TokenId> = expected.split_whitespace().map(|id| TokenId(id.parse().unwrap())).collect();
            assert_eq!(tokens(&unescaped(text)), expected, "{text}");
            sentences += 1;
        }
        assert_eq!(sentences, 20);
    }

    /// Applies the rules one after another to the whole text, without a fast path.
    fn naive_tokens(text: &str) -> Vec<TokenId> {
        let vocabulary = Vocabulary::compiled_in();
        let spaced: String = text.chars().map(|c| if c.is_whitespace() && !is_removed(c) { ' ' } else { c }).collect();
        let mut marked = String::new();
        for c in normalized(&spaced) {
            if is_punctuation(c) {
                marked.extend([' ', c, ' ']);
            } else {
                marked.push(c);
            }
        }
        let mut out = Vec::new();
        for word in marked.split_whitespace() {
            if word.chars().count() > WORD_CHARS_MAX {
                out.push(TokenId::UNKNOWN);
            } else {
                push_word(&vocabulary, word.as_bytes(), &mut out);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn the_fast_path_changes_nothing(text in any::<String>()) {
            prop_assert_eq!(tokens(&text), naive_tokens(&text));
        }

        #[test]
        fn the_fast_path_changes_nothing_in_text_like_law(
            text in "([a-zA-Z0-9]{1,12}|[ .,;()§“”’—\u{a0}\u{ad}\u{301}é½İ中\u{1}\u{2003}\n]){0,60}"
        ) {
            prop_assert_eq!(tokens(&text), naive_tokens(&text));
        }

        #[test]
        fn tokens_of_a_word_do_not_depend_on_neighbours(left in "[a-z§é(]{0,10}", right in "[a-z§é(]{0,10}") {
            let mut apart = tokens(&left);
            apart.extend(tokens(&right));
            prop_assert_eq!(tokens(&format!("{left} {right}")), apart);
        }
    }
}
