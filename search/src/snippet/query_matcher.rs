//! The words of a query to look for in a text, and which words of the text need analysis.
//!
//! Analysing every word of a passage costs more than finding the provision. A word is analysed only if its first two
//! letters, or three for a longer term, are those of a term. Stems keep these letters, except in words such as `dying`,
//! so `i` and `y` count as the same letter.

use crate::understand::{QueryKind, QueryWord};

/// The maximum number of words to look for; the rarest are kept.
const WORDS_MAX: usize = 32;

/// Weights are whole numbers, so that sums do not depend on their order.
const WEIGHT_UNIT: f32 = 1024.0;

/// Stems of at least this length keep their third letter.
const LONG_TERM: usize = 5;

const THIRDS_LEN: usize = 32;

/// The number of byte classes for letters and digits; letters come first. The next two classes are for
/// other ASCII bytes and for bytes beyond ASCII.
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

/// The kinds of bytes in a text: a separator, a letter or digit, a letter or digit that a word of the
/// query begins with, the first byte of a character beyond ASCII, and a later byte of such a character.
const SPACE: u8 = 0;
const LETTER: u8 = 1;
const FIRST: u8 = LETTER | MAY_BEGIN;
const LEAD: u8 = 4;
const CONTINUED: u8 = 8;

/// The bit that marks a possible first letter. For the character before, it means that this was a letter.
const MAY_BEGIN: u8 = 2;

const fn kinds() -> [u8; 256] {
    let classes = classes();
    let mut kinds = [SPACE; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match (classes[byte], byte) {
            (NO_CLASS, _) => SPACE,
            (BEYOND_ASCII, 0x80..0xc0) => CONTINUED,
            (BEYOND_ASCII, _) => LEAD,
            _ => LETTER,
        };
        byte += 1;
    }
    kinds
}

/// The words of a query, prepared for finding them in texts.
#[derive(Clone, Debug)]
pub(super) struct QueryMatcher {
    /// The word that each term belongs to, sorted by term.
    word_of: Vec<(String, u8)>,
    /// In the order of the query.
    words: Vec<MatcherWord>,
    /// The kind of each byte for [`QueryMatcher::next_candidate`].
    kinds: [u8; 256],
    /// For each first letter, the set of second letters, with [`NO_CLASS`] if a term ends after the
    /// first letter.
    second_letters: [u64; CLASSES],
    /// The same, but only of terms that are too short for a reliable third letter.
    short_openings: [u64; CLASSES],
    /// A bit set of the hashes of the first three letters of each longer term.
    third_letter_hashes: [u64; THIRDS_LEN],
    /// Indexes into `words`, rarest first.
    rarest_first: Vec<u8>,
    /// The kind of query. For a question, the meaning of a passage counts, not the words.
    pub kind: QueryKind,
}

#[derive(Clone, Debug)]
struct MatcherWord {
    weight: u32,
    /// The first letter of its longest part, and the middle of that part, which is the same in the text
    /// and in the stem.
    anchor: (u8, Box<[u8]>),
}

impl QueryMatcher {
    /// `weights` has the weight of each word, `None` for a word that the corpus does not contain.
    pub(super) fn new(words: &[QueryWord], weights: &[Option<f32>], kind: QueryKind) -> Self {
        let known = weights.iter().enumerate().filter_map(|(place, &weight)| Some((weight?, place)));
        let mut weighed: Vec<(u32, usize)> =
            known.map(|(weight, place)| ((weight * WEIGHT_UNIT) as u32 + 1, place)).collect();
        weighed.sort_by_key(|&(weight, place)| (std::cmp::Reverse(weight), place));
        weighed.truncate(WORDS_MAX);
        weighed.sort_by_key(|&(_, place)| place);
        Self::of(weighed.into_iter().map(|(weight, place)| (&words[place], weight)), kind)
    }

    /// No words: every text is shown from its beginning.
    pub(super) fn nothing(kind: QueryKind) -> Self {
        Self::of(std::iter::empty(), kind)
    }

    pub(super) fn of<'q>(words: impl Iterator<Item = (&'q QueryWord, u32)>, kind: QueryKind) -> Self {
        let mut wanted = Self {
            word_of: Vec::new(),
            words: Vec::new(),
            kinds: const { kinds() },
            second_letters: [0; CLASSES],
            short_openings: [0; CLASSES],
            third_letter_hashes: [0; THIRDS_LEN],
            rarest_first: Vec::new(),
            kind,
        };
        for (number, (word, weight)) in (0_u8..).zip(words.take(WORDS_MAX)) {
            for term in word.shown_terms() {
                wanted.word_of.push((term.clone(), number));
                wanted.add_opening(term.as_bytes());
            }
            wanted.words.push(MatcherWord { weight, anchor: anchor_of(word) });
        }
        // A term of several words belongs to the first of them.
        wanted.word_of.sort();
        wanted.word_of.dedup_by(|later, first| later.0 == first.0);
        let mut rarest_first: Vec<u8> = (0..wanted.words.len() as u8).collect();
        rarest_first.sort_by_key(|&word| std::cmp::Reverse(wanted.weight(word)));
        Self { rarest_first, ..wanted }
    }

    fn add_opening(&mut self, term: &[u8]) {
        let first = term.first().map_or(NO_CLASS, |&byte| CLASS_OF[usize::from(byte)]);
        let Some(seconds) = self.second_letters.get_mut(usize::from(first)) else { return };
        for letter in [term[0], term[0].to_ascii_uppercase()] {
            self.kinds[usize::from(letter)] = FIRST;
        }
        let second = later_class(term.get(1).copied());
        *seconds |= 1 << second;
        match later_class(term.get(2).copied()) {
            third if third < NO_CLASS && term.len() >= LONG_TERM && term.is_ascii() => {
                let (word, bit) = third_place(first, second, third);
                self.third_letter_hashes[word] |= bit;
            }
            _ => self.short_openings[usize::from(first)] |= 1 << second,
        }
    }

    /// Whether a word that begins with these bytes may be a word of the query.
    #[inline]
    fn may_match(&self, first: u8, rest: &[u8]) -> bool {
        let seconds = self.second_letters[usize::from(first)];
        if seconds == 0 {
            return false;
        }
        // A character that joins letters into one word hides the next letter.
        let joins = |byte: Option<&u8>| matches!(byte, Some(b'.' | b'-' | b'\'' | 0x80..));
        if joins(rest.first()) {
            return true;
        }
        let second = later_class(rest.first().copied());
        if seconds >> second & 1 == 0 {
            return false;
        }
        let third = later_class(rest.get(1).copied());
        let (word, bit) = third_place(first, second, third);
        joins(rest.get(1))
            || self.short_openings[usize::from(first)] >> second & 1 == 1
            || self.third_letter_hashes[word] & bit != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word of the query that a term belongs to.
    pub(super) fn word_of(&self, term: &str) -> Option<u8> {
        let place = self.word_of.binary_search_by(|(known, _)| known.as_str().cmp(term)).ok()?;
        Some(self.word_of[place].1)
    }

    pub(super) fn weight(&self, word: u8) -> u32 {
        self.words[usize::from(word)].weight
    }

    pub(super) fn word_count(&self) -> usize {
        self.words.len()
    }

    /// The start of the next word at or after `at` that may be a word of the query.
    ///
    /// This is one loop without a branch at the end of every word, which a processor could not predict.
    /// A table gives the kind of each byte.
    #[inline]
    pub(super) fn next_candidate(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut before = SPACE;
        for (place, &byte) in text.iter().enumerate().skip(at) {
            let kind = self.kinds[usize::from(byte)];
            // One condition for both: a first letter, and no letter before it. Each alone would be
            // unpredictable.
            if kind & (before ^ MAY_BEGIN) & MAY_BEGIN != 0
                && self.may_match(CLASS_OF[usize::from(byte)], &text[place + 1..])
            {
                return Some(place);
            }
            before = match kind {
                LEAD => match may_be_letter(byte, text.get(place + 1).copied()) {
                    true if before == SPACE => return Some(place),
                    true => MAY_BEGIN,
                    false => SPACE,
                },
                CONTINUED => before,
                _ => (kind & LETTER) * MAY_BEGIN,
            };
        }
        None
    }

    /// What to look for in a long text, the rarest word first.
    pub(super) fn anchors(&self) -> impl Iterator<Item = StemAnchor<'_>> {
        self.rarest_first.iter().map(|&word| {
            let (first, inside) = &self.words[usize::from(word)].anchor;
            StemAnchor { first: *first, inside }
        })
    }
}

/// What a word and its stem have in common, for searching long texts.
pub(super) struct StemAnchor<'w> {
    first: u8,
    inside: &'w [u8],
}

impl StemAnchor<'_> {
    /// The starts of the words that match.
    pub(super) fn places(&self, text: &[u8]) -> impl Iterator<Item = usize> {
        let begins = move |at: usize| {
            let start = at.checked_sub(1)?;
            let is_first = text[start].eq_ignore_ascii_case(&self.first);
            let before = start.checked_sub(1).map_or(b' ', |before| text[before]);
            (is_first && !before.is_ascii_alphanumeric()).then_some(start)
        };
        // A single letter or digit occurs too often in a long text.
        let text = if self.inside.is_empty() { &[] } else { text };
        memchr::memmem::find_iter(text, self.inside).filter_map(begins)
    }
}

/// The longest part of a word, without its first letter, which may be a capital, and without its last
/// letter, which stemming may change.
fn anchor_of(word: &QueryWord) -> (u8, Box<[u8]>) {
    let longest = word.parts.iter().chain(&word.whole).max_by_key(|part| part.len());
    let bytes = longest.map_or(&[][..], |part| part.as_bytes());
    let end = if bytes.len() > 4 { bytes.len() - 1 } else { bytes.len() };
    (bytes.first().copied().unwrap_or(b' '), bytes.get(1..end).unwrap_or_default().into())
}

/// The class of a letter after the first; `i` and `y` have the same class.
fn later_class(byte: Option<u8>) -> u8 {
    match byte.map_or(NO_CLASS, |byte| CLASS_OF[usize::from(byte)]) {
        class if class == b'y' - b'a' => b'i' - b'a',
        class => class,
    }
}

fn third_place(first: u8, second: u8, third: u8) -> (usize, u64) {
    let mixed = (u32::from(first) << 12 | u32::from(second) << 6 | u32::from(third)).wrapping_mul(0x9e37_79b1);
    ((mixed >> 27) as usize % THIRDS_LEN, 1 << (mixed >> 21 & 63))
}

/// Whether a character beyond ASCII that begins with these bytes may be a letter or a fraction. Signs
/// such as §, dashes and quotes are not.
fn may_be_letter(first: u8, second: Option<u8>) -> bool {
    match (first, second) {
        (0xc2, second) => matches!(second, Some(0xbc..=0xbe)),
        (0xe2, second) => second == Some(0x85),
        _ => first >= 0xc3,
    }
}
