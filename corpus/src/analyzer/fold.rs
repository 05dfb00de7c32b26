//! Character classes and character folding for text analysis.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The class of a character in or between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    /// A letter or digit, or a ligature of them.
    Alnum,
    /// Hyphen, en dash, minus: joins the parts of a word or number.
    Dash,
    /// Em dash: separates sentences, but also appears between two numbers.
    LongDash,
    Dot,
    Colon,
    Comma,
    Apostrophe,
    /// Soft hyphen, zero-width and direction characters: ignored.
    Ignorable,
    /// A combining accent: belongs to a word, but is dropped.
    Mark,
    /// A vulgar fraction such as ½: read as two numbers.
    Fraction,
    /// A plain space within a line.
    Space,
    Other,
}

const fn ascii_kinds() -> [CharClass; 128] {
    let mut kinds = [CharClass::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => CharClass::Alnum,
            b'-' => CharClass::Dash,
            b'.' => CharClass::Dot,
            b':' => CharClass::Colon,
            b',' => CharClass::Comma,
            b'\'' => CharClass::Apostrophe,
            b' ' => CharClass::Space,
            _ => CharClass::Other,
        };
        byte += 1;
    }
    kinds
}

static ASCII_KINDS: [CharClass; 128] = ascii_kinds();

/// Returns the class of the character at a byte offset, the character, and its length in bytes; `None` at the end
/// of the text.
pub(super) fn kind_at(text: &str, at: usize) -> Option<(CharClass, char, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 128 {
        return Some((ASCII_KINDS[byte as usize], byte as char, 1));
    }
    let c = text[at..].chars().next()?;
    Some((kind_of(c), c, c.len_utf8()))
}

fn kind_of(c: char) -> CharClass {
    match c {
        '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => CharClass::Dash,
        '\u{2014}' | '\u{2015}' | '\u{fe58}' => CharClass::LongDash,
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{02bc}' | '\u{ff07}' => CharClass::Apostrophe,
        '\u{00ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {
            CharClass::Ignorable
        }
        '\u{fe00}'..='\u{fe0f}' => CharClass::Ignorable,
        '\u{00a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' => CharClass::Space,
        // Footnote marks and trademark signs attached to a word are not part of it.
        '\u{00b2}' | '\u{00b3}' | '\u{00b9}' | '\u{2070}'..='\u{209c}' | '\u{2120}' | '\u{2122}' => CharClass::Other,
        '\u{00bc}'..='\u{00be}' | '\u{2150}'..='\u{215e}' | '\u{2189}' => CharClass::Fraction,
        _ if is_combining_mark(c) => CharClass::Mark,
        _ => kind_decomposed(c),
    }
}

fn kind_decomposed(c: char) -> CharClass {
    let mut decomposed = c.nfkd();
    let Some(first) = decomposed.next() else { return CharClass::Other };
    if first.is_alphanumeric() {
        return CharClass::Alnum;
    }
    let stands_for_one_ascii = first.is_ascii() && decomposed.next().is_none();
    if stands_for_one_ascii { ASCII_KINDS[first as usize] } else { CharClass::Other }
}

/// Calls `push` with each lower-case letter or digit that a character folds to.
pub(super) fn fold(c: char, mut push: impl FnMut(char)) {
    if c.is_ascii() {
        return push(c.to_ascii_lowercase());
    }
    for part in c.nfkd().flat_map(char::to_lowercase) {
        match part {
            'ß' => "ss".chars().for_each(&mut push),
            'æ' => "ae".chars().for_each(&mut push),
            'œ' => "oe".chars().for_each(&mut push),
            'þ' => "th".chars().for_each(&mut push),
            'ø' => push('o'),
            'ł' => push('l'),
            'đ' | 'ð' => push('d'),
            'ı' => push('i'),
            _ if part.is_alphanumeric() && !is_combining_mark(part) => push(part),
            _ => {}
        }
    }
}
