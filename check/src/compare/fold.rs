//! Text without typography, to be searched as bytes.

use std::cell::{Cell, OnceCell};

use memchr::memmem;

/// Calls `push` with each byte of the folded text and the offset of the character that it comes from.
///
/// Letters are lower case, white space is one space, all quotation marks are `'`. Dashes and hyphens are left out with
/// the white space around them, and so are white space beside brackets and before punctuation, and invisible characters.
#[inline]
fn fold_with(text: &str, mut push: impl FnMut(u8, usize)) {
    let mut last = b' ';
    let mut has_space = false;
    let mut joins = true;
    let mut emit = |byte: u8, at: usize, last: &mut u8| {
        push(byte, at);
        *last = byte;
    };
    for (at, letter) in text.char_indices() {
        match class_of(letter) {
            SignClass::Space => has_space = true,
            SignClass::Invisible => {}
            SignClass::Dash => (has_space, joins) = (false, true),
            SignClass::Quote => {
                if has_space && !joins {
                    emit(b' ', at, &mut last);
                }
                if has_space || last != b'\'' {
                    emit(b'\'', at, &mut last);
                }
                (has_space, joins) = (false, false);
            }
            SignClass::Closing => {
                emit(letter as u8, at, &mut last);
                (has_space, joins) = (false, letter == ')');
            }
            SignClass::Opening => {
                if has_space && !joins {
                    emit(b' ', at, &mut last);
                }
                let mut bytes = [0; 4];
                letter.encode_utf8(&mut bytes).bytes().for_each(|byte| emit(byte, at, &mut last));
                (has_space, joins) = (false, true);
            }
            SignClass::Letter => {
                if has_space && !joins {
                    emit(b' ', at, &mut last);
                }
                (has_space, joins) = (false, false);
                if letter.is_ascii() {
                    emit(letter.to_ascii_lowercase() as u8, at, &mut last);
                } else if let Some(plain) = ligature(letter) {
                    plain.bytes().for_each(|byte| emit(byte, at, &mut last));
                } else {
                    for lower in letter.to_lowercase() {
                        let mut bytes = [0; 4];
                        lower.encode_utf8(&mut bytes).bytes().for_each(|byte| emit(byte, at, &mut last));
                    }
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum SignClass {
    Letter,
    Space,
    Invisible,
    Dash,
    Quote,
    /// Punctuation with no white space before it.
    Closing,
    /// A sign with no white space after it.
    Opening,
}

const fn class_of_ascii(byte: u8) -> SignClass {
    match byte {
        b' ' | b'\t'..=b'\r' => SignClass::Space,
        b'-' => SignClass::Dash,
        b'"' | b'\'' | b'`' => SignClass::Quote,
        b',' | b'.' | b';' | b':' | b')' | b']' | b'?' | b'!' => SignClass::Closing,
        b'(' | b'[' | b'$' => SignClass::Opening,
        0..=8 | 14..=31 | 127 => SignClass::Invisible,
        _ => SignClass::Letter,
    }
}

static ASCII: [SignClass; 128] = {
    let mut table = [SignClass::Letter; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = class_of_ascii(byte as u8);
        byte += 1;
    }
    table
};

#[inline]
fn class_of(letter: char) -> SignClass {
    if let Some(class) = ASCII.get(letter as usize) {
        return *class;
    }
    match letter {
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => SignClass::Dash,
        '‘' | '’' | '‚' | '‛' | '“' | '”' | '„' | '‟' | '′' | '″' | '´' => SignClass::Quote,
        '§' => SignClass::Opening,
        letter if letter.is_whitespace() => SignClass::Space,
        letter if hornbook_base::invisible::is_hidden(letter) => SignClass::Invisible,
        _ => SignClass::Letter,
    }
}

fn ligature(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => return None,
    })
}

/// A text without typography.
pub(super) fn folded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    fold_with(text, |byte, _| bytes.push(byte));
    bytes
}

/// A text of the law, folded once for all quotations that are sought in it.
pub(crate) struct FoldedLaw<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: Vec<u8>,
    /// The offset of each byte in the text, made when a passage is found.
    offsets: OnceCell<Vec<u32>>,
    /// The bytes that were searched.
    searched: Cell<u64>,
}

impl<'t> FoldedLaw<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, bytes: folded(text), offsets: OnceCell::new(), searched: Cell::new(0) }
    }

    /// The bytes that were searched since the last call.
    pub(crate) fn take_searched(&self) -> u64 {
        self.searched.take()
    }

    pub(super) fn searched(&self) -> u64 {
        self.searched.get()
    }

    /// The next occurrence of a folded passage, from a place on, that does not begin or end within a word. `is_open_at`
    /// says at which end it may: a bracket there replaces a part of the word.
    pub(super) fn find(&self, finder: &memmem::Finder<'_>, from: usize, is_open_at: [bool; 2]) -> Option<usize> {
        let length = finder.needle().len();
        let mut from = from;
        loop {
            let rest = self.bytes.get(from..)?;
            let found = finder.find(rest);
            self.searched.set(self.searched.get() + found.map_or(rest.len(), |at| at + length) as u64);
            let at = found?;
            let start = from + at;
            let begins = is_open_at[0] || self.is_boundary(start);
            if begins && (is_open_at[1] || self.is_boundary(start + length)) {
                return Some(start);
            }
            from = start + 1;
        }
    }

    /// Whether no word of the text goes on from the byte before to the byte at a place. Words that only a dash
    /// separates are joined in the folded text.
    fn is_boundary(&self, at: usize) -> bool {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let before = at.checked_sub(1).and_then(|before| self.bytes.get(before));
        if !is_word(before) || !is_word(self.bytes.get(at)) {
            return true;
        }
        let between = self.offset(at - 1)..self.offset(at);
        self.text.get(between).is_some_and(|between| between.chars().count() > 1)
    }

    /// The offset in the text of a folded byte; the length of the text after the last one.
    pub(super) fn offset(&self, at: usize) -> usize {
        let offsets = self.offsets.get_or_init(|| {
            let mut offsets = Vec::with_capacity(self.bytes.len());
            fold_with(self.text, |_, at| offsets.push(at as u32));
            offsets
        });
        offsets.get(at).map_or(self.text.len(), |&offset| offset as usize)
    }
}
