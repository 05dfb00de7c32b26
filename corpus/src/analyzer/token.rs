//! One term of a text as the analysis gives it, and the limits that every term keeps.

use std::ops::Range;

/// A longer term is cut to this many bytes: no word or citation is longer, and no text may swell the index.
pub const TERM_BYTES_MAX: usize = 64;

/// A number with more parts is taken as several numbers in a row.
pub const PARTS_MAX: usize = 8;

/// How a token stands to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRole {
    /// A word of its own.
    Word,
    /// The whole of a compound: `1395w-4`, or `nonprofit` where the text has `non-profit`. Its parts follow.
    Whole,
    /// A part of the compound before it. All parts in a row say the same as the whole.
    Part,
}

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalyzedToken<'a> {
    pub text: &'a str,
    /// Where its letters stand in the source text, at character boundaries.
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
