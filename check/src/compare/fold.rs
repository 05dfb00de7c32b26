//! Text without typography, to be searched as bytes.

use std::cell::{Cell, OnceCell};
use std::ops::Range;

use memchr::memmem;

/// Receives the bytes of a folded text, each with the offset of the character that it comes from.
trait FoldSink {
    fn push(&mut self, byte: u8, at: usize);

    /// ASCII words with one space between them, as they are in the text.
    fn push_run(&mut self, run: &[u8], at: usize);
}

impl FoldSink for Vec<u8> {
    fn push(&mut self, byte: u8, _at: usize) {
        Self::push(self, byte);
    }

    fn push_run(&mut self, run: &[u8], _at: usize) {
        let start = self.len();
        self.extend_from_slice(run);
        self[start..].make_ascii_lowercase();
    }
}

/// The offsets of the bytes.
impl FoldSink for Vec<u32> {
    fn push(&mut self, _byte: u8, at: usize) {
        Self::push(self, at as u32);
    }

    fn push_run(&mut self, run: &[u8], at: usize) {
        self.extend(at as u32..(at + run.len()) as u32);
    }
}

/// Folds a text.
///
/// Letters are lower case, white space is one space, all quotation marks are `'`. Dashes and hyphens are left out with
/// the white space around them, and so are white space beside brackets and before punctuation, and invisible characters.
fn fold_into(text: &str, sink: &mut impl FoldSink) {
    let bytes = text.as_bytes();
    let (mut last_is_quote, mut has_space, mut joins) = (false, false, true);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if IS_WORD[usize::from(byte)] {
            let length = run_length(&bytes[at..]);
            if has_space && !joins {
                sink.push(b' ', at);
            }
            sink.push_run(&bytes[at..at + length], at);
            (last_is_quote, has_space, joins) = (false, false, false);
            at += length;
            continue;
        }
        let letter = if byte.is_ascii() { char::from(byte) } else { text[at..].chars().next().unwrap_or(' ') };
        let class = class_of(letter);
        let is_spaced = has_space && !joins;
        match class {
            SignClass::Space => has_space = true,
            SignClass::Invisible => {}
            SignClass::Dash => (has_space, joins) = (false, true),
            SignClass::Quote => {
                if is_spaced {
                    sink.push(b' ', at);
                }
                if is_spaced || has_space || !last_is_quote {
                    sink.push(b'\'', at);
                }
                (last_is_quote, has_space, joins) = (true, false, false);
            }
            SignClass::Closing => {
                sink.push(byte, at);
                (last_is_quote, has_space, joins) = (false, false, letter == ')');
            }
            SignClass::Opening => {
                if is_spaced {
                    sink.push(b' ', at);
                }
                push_letter(letter, at, sink);
                (last_is_quote, has_space, joins) = (false, false, true);
            }
            SignClass::Letter => {
                if is_spaced {
                    sink.push(b' ', at);
                }
                push_letter(letter, at, sink);
                (last_is_quote, has_space, joins) = (false, false, false);
            }
        }
        at += letter.len_utf8();
    }
}

/// The length of the words with one space between them at the beginning of a text.
fn run_length(text: &[u8]) -> usize {
    let is_word = |at: usize| text.get(at).is_some_and(|byte| IS_WORD[usize::from(*byte)]);
    let mut end = 0;
    while is_word(end) || text.get(end) == Some(&b' ') && is_word(end + 1) {
        end += 1;
    }
    end
}

/// Whether a byte is an ASCII letter or digit.
static IS_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

fn push_letter(letter: char, at: usize, sink: &mut impl FoldSink) {
    if let Some(plain) = ligature(letter) {
        plain.bytes().for_each(|byte| sink.push(byte, at));
        return;
    }
    for lower in letter.to_lowercase() {
        let mut bytes = [0; 4];
        lower.encode_utf8(&mut bytes).bytes().for_each(|byte| sink.push(byte, at));
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
    fold_into(text, &mut bytes);
    bytes
}

/// A passage of the law that a quotation repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPassage {
    /// Its bytes in the folded law; [`FoldedLaw::range_of`] has those in the law itself.
    pub(super) folded: Range<usize>,
    /// Whether brackets or ellipses announce changes.
    pub(crate) is_marked: bool,
}

/// A text of the law, folded once for all quotations that are sought in it.
pub(crate) struct FoldedLaw<'t> {
    text: &'t str,
    bytes: Vec<u8>,
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

    /// The bytes of a passage in the text.
    pub(crate) fn range_of(&self, passage: &FoundPassage) -> Range<usize> {
        let last = self.offset(passage.folded.end.saturating_sub(1));
        let length = self.text[last..].chars().next().map_or(0, char::len_utf8);
        self.offset(passage.folded.start)..last + length
    }

    /// The offset in the text of a folded byte; the length of the text after the last one.
    pub(super) fn offset(&self, at: usize) -> usize {
        let offsets = self.offsets.get_or_init(|| {
            let mut offsets: Vec<u32> = Vec::with_capacity(self.bytes.len());
            fold_into(self.text, &mut offsets);
            offsets
        });
        offsets.get(at).map_or(self.text.len(), |&offset| offset as usize)
    }
}
