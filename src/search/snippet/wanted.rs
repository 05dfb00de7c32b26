//! What of a query is looked for in a text, and which words of a text are worth analysing for it.
//!
//! Analysing every word of a passage costs more than finding the provision did. A word is analysed only if its first two
//! letters are those of a term: stems keep them, but for `dying` and its kind, which is why `i` and `y` count as one.

use std::collections::HashMap;
use std::io;

use crate::search::keyword::KeywordLeg;
use crate::search::understand::{QueryKind, QueryWord};

/// So many words are looked for, the rarest.
const WORDS_MAX: usize = 32;

/// Weights are whole numbers, so that sums do not depend on their order.
const WEIGHT_UNIT: f32 = 1024.0;

/// Letters, then digits; then what is neither, and what is not ASCII.
const CLASSES: usize = 36;
const NO_CLASS: u8 = CLASSES as u8;
const BEYOND_ASCII: u8 = NO_CLASS + 1;

const fn classes() -> [u8; 256] {
    let mut classes = [NO_CLASS; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            letter @ b'a'..=b'z' => letter - b'a',
            letter @ b'A'..=b'Z' => letter - b'A',
            digit @ b'0'..=b'9' => 26 + digit - b'0',
            0x80..=0xff => BEYOND_ASCII,
            _ => NO_CLASS,
        };
        byte += 1;
    }
    classes
}

static CLASS_OF: [u8; 256] = classes();

/// The words of a query, ready to be found in texts.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Which word a term stands for.
    word_of: HashMap<String, u8>,
    /// In the order of the query.
    words: Vec<WantedWord>,
    /// For each first letter the second ones, and at [`NO_CLASS`] whether a term ends with the first.
    openings: [u64; CLASSES],
    /// Places in `words`, rarest first.
    rarest_first: Vec<u8>,
    /// Whether the words themselves are looked for or what they mean.
    pub kind: QueryKind,
}

#[derive(Clone, Debug)]
struct WantedWord {
    weight: u32,
    /// The inside of its longest part, which stands in a text as it stands in the stem; with the letter before it.
    anchor: (u8, Box<[u8]>),
}

impl Wanted {
    pub(super) fn new(keyword: &KeywordLeg, words: &[QueryWord], kind: QueryKind) -> io::Result<Self> {
        let mut weighed = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let mut weight: Option<f32> = None;
            for term in word.whole.iter().chain(&word.parts) {
                let found = keyword.weight_of(term)?;
                weight = weight.into_iter().chain(found).reduce(f32::max);
            }
            weighed.extend(weight.map(|weight| ((weight * WEIGHT_UNIT) as u32 + 1, place)));
        }
        weighed.sort_by_key(|&(weight, place)| (std::cmp::Reverse(weight), place));
        weighed.truncate(WORDS_MAX);
        weighed.sort_by_key(|&(_, place)| place);
        Ok(Self::of(weighed.into_iter().map(|(weight, place)| (&words[place], weight)), kind))
    }

    /// Nothing: every text is shown from its beginning.
    pub(super) fn nothing(kind: QueryKind) -> Self {
        Self::of(std::iter::empty(), kind)
    }

    pub(super) fn of<'q>(words: impl Iterator<Item = (&'q QueryWord, u32)>, kind: QueryKind) -> Self {
        let mut wanted =
            Self { word_of: HashMap::new(), words: Vec::new(), openings: [0; CLASSES], rarest_first: Vec::new(), kind };
        for (number, (word, weight)) in (0_u8..).zip(words.take(WORDS_MAX)) {
            for term in word.whole.iter().chain(&word.parts) {
                wanted.word_of.entry(term.clone()).or_insert(number);
                wanted.add_opening(term.as_bytes());
            }
            wanted.words.push(WantedWord { weight, anchor: anchor_of(word) });
        }
        let mut rarest_first: Vec<u8> = (0..wanted.words.len() as u8).collect();
        rarest_first.sort_by_key(|&word| std::cmp::Reverse(wanted.weight(word)));
        Self { rarest_first, ..wanted }
    }

    fn add_opening(&mut self, term: &[u8]) {
        let first = term.first().map_or(NO_CLASS, |&byte| CLASS_OF[usize::from(byte)]);
        if let Some(seconds) = self.openings.get_mut(usize::from(first)) {
            *seconds |= 1 << second_class(term.get(1).copied());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Which word of the query a term is.
    pub(super) fn word_of(&self, term: &str) -> Option<u8> {
        self.word_of.get(term).copied()
    }

    pub(super) fn weight(&self, word: u8) -> u32 {
        self.words[usize::from(word)].weight
    }

    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Where words that may be one of the query's begin, in order; `text` is read from `at` on.
    #[inline]
    pub(super) fn next_candidate(&self, text: &[u8], mut at: usize) -> Option<usize> {
        while let Some(&byte) = text.get(at) {
            match CLASS_OF[usize::from(byte)] {
                NO_CLASS => at += 1,
                BEYOND_ASCII => {
                    if may_be_letter(byte, text.get(at + 1).copied()) {
                        return Some(at);
                    }
                    at += character_len(byte);
                }
                first => {
                    let seconds = self.openings[usize::from(first)];
                    if seconds != 0 && admits(seconds, text.get(at + 1).copied()) {
                        return Some(at);
                    }
                    at = end_of_run(text, at);
                }
            }
        }
        None
    }

    /// What to look for in a long text, the rarest word first.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Anchor<'_>> {
        self.rarest_first.iter().map(|&word| {
            let (first, inside) = &self.words[usize::from(word)].anchor;
            Anchor { first: *first, inside }
        })
    }
}

/// What a word has in common with its stem, for looking through long texts.
pub(super) struct Anchor<'w> {
    first: u8,
    inside: &'w [u8],
}

impl Anchor<'_> {
    /// Where words that go on like this begin.
    pub(super) fn places(&self, text: &[u8]) -> impl Iterator<Item = usize> {
        let begins = move |at: usize| {
            let start = at.checked_sub(1)?;
            let is_first = text[start].eq_ignore_ascii_case(&self.first);
            let before = start.checked_sub(1).map_or(b' ', |before| text[before]);
            (is_first && !before.is_ascii_alphanumeric()).then_some(start)
        };
        // A single letter or digit leads nowhere in a long text.
        let text = if self.inside.is_empty() { &[] } else { text };
        memchr::memmem::find_iter(text, self.inside).filter_map(begins)
    }
}

/// The longest part of a word without its first letter, which may be a capital, and its last, which stemming may change.
fn anchor_of(word: &QueryWord) -> (u8, Box<[u8]>) {
    let longest = word.parts.iter().chain(&word.whole).max_by_key(|part| part.len());
    let bytes = longest.map_or(&[][..], |part| part.as_bytes());
    let end = if bytes.len() > 4 { bytes.len() - 1 } else { bytes.len() };
    (bytes.first().copied().unwrap_or(b' '), bytes.get(1..end).unwrap_or_default().into())
}

fn admits(seconds: u64, second: Option<u8>) -> bool {
    // What joins letters into one word hides which the second is.
    matches!(second, Some(b'.' | b'-' | b'\'' | 0x80..)) || seconds >> second_class(second) & 1 == 1
}

fn second_class(second: Option<u8>) -> u8 {
    match second.map_or(NO_CLASS, |byte| CLASS_OF[usize::from(byte)]) {
        class if class == b'y' - b'a' => b'i' - b'a',
        class => class,
    }
}

/// Past the letters and digits that begin at `at`.
fn end_of_run(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        match CLASS_OF[usize::from(byte)] {
            NO_CLASS => break,
            BEYOND_ASCII if !may_be_letter(byte, text.get(at + 1).copied()) => break,
            BEYOND_ASCII => at += character_len(byte),
            _ => at += 1,
        }
    }
    at
}

/// Whether a character beyond ASCII that begins with these bytes may be a letter or a fraction: signs such as § and the
/// dashes and quotes are not.
fn may_be_letter(first: u8, second: Option<u8>) -> bool {
    match (first, second) {
        (0xc2, second) => matches!(second, Some(0xbc..=0xbe)),
        (0xe2, second) => second == Some(0x85),
        _ => first >= 0xc3,
    }
}

fn character_len(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}
