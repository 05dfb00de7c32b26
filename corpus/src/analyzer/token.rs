//! The tokens of the text analysis, and their limits.

use std::ops::Range;

/// Longer terms are truncated to this many bytes, so that no text can bloat the index. Real words and citations are
/// shorter.
pub const TERM_BYTES_MAX: usize = 64;

/// A compound with more parts is split into several consecutive compounds.
pub const PARTS_MAX: usize = 8;

/// How a token relates to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRole {
    /// A single word.
    Word,
    /// The whole of a compound: `1395w-4`, or `nonprofit` if the text contains `non-profit`. Its parts follow.
    Whole,
    /// A part of the compound before it. All parts together mean the same as the whole.
    Part,
}

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalyzedToken<'a> {
    pub text: &'a str,
    /// The bytes of its letters in the source text, at character boundaries.
    pub bytes: BytesInText,
    pub position: u32,
    /// How many positions it spans: 1, or for a whole the number of its parts.
    pub position_count: u32,
    pub role: TokenRole,
}

/// A run of bytes of the analysed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BytesInText {
    pub start: usize,
    pub end: usize,
}

impl BytesInText {
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}
