//! Text analysis: splits law and queries into terms for the keyword index.
//!
//! A section number is found as a whole and by its parts (`1395w-4`, `240.10b-5`, `26.08.02.01`), `U.S.C.` is one word,
//! and `non-profit` also matches `nonprofit`. Case, accents, typographic dashes, quotes and unusual spaces make no
//! difference. English words are stemmed. Stop words are kept, because phrases need them.
//!
//! [`Analyzer`] is the entry point, [`LawTokenizer`] the same for tantivy. `fold` classifies characters, `scan` splits
//! text into groups, `stem` stems. Any change of output must change [`ANALYZER_ID`], so that old indexes are refused.

mod fold;
mod scan;
mod stem;
mod tokenizer;

use std::ops::Range;

pub use tokenizer::{LawTokenStream, LawTokenizer};

use scan::Scanner;

/// The name of this analysis, kept in every keyword index and in the manifest.
pub const ANALYZER_ID: &str = "hornbook-english-1";

/// A longer term is cut to this many bytes: no word or citation is longer, and no text may swell the index.
pub const TERM_BYTES_MAX: usize = 64;

/// A number with more parts is taken as several numbers in a row.
pub const PARTS_MAX: usize = 8;

/// How a token relates to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRole {
    /// A single word.
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
    /// The position of its letters in the source text, at character boundaries.
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

/// Cuts texts into terms. It keeps buffers and a cache of stems, so make one per thread and reuse it.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    scanner: Scanner,
}

impl Analyzer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes every token of `text` to `sink`, in order of position, a whole before its parts.
    pub fn analyze(&mut self, text: &str, mut sink: impl FnMut(AnalyzedToken<'_>)) {
        self.scanner.start();
        while self.scanner.next_group(text) {
            for index in 0..self.scanner.group_len() {
                sink(self.scanner.token(index));
            }
        }
    }
}

/// A hash over the id and the terms of a sample: two programs with the same hash analyse texts in the same way.
pub fn fingerprint() -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(ANALYZER_ID.as_bytes());
    Analyzer::new().analyze(FINGERPRINT_SAMPLE, |token| {
        let line = format!(
            "{}|{}|{}|{}|{}|{:?}\n",
            token.text, token.bytes.start, token.bytes.end, token.position, token.position_count, token.role
        );
        hasher.update(line.as_bytes());
    });
    hasher.finalize()
}

/// Covers every rule of the analysis. Its output is hashed, so it must never change under one id.
const FINGERPRINT_SAMPLE: &str = "\
The licensee’s obligations under 42 U.S.C. § 1395w–4(b)(2)(A), 17 C.F.R. § 240.10b-5 and COMAR 26.08.02.01 apply; \
see U. S. C. A. and D.C. Code § 22-3211, N.J.S. 2C:11-3, Va. Code Ann. § 13.1-345. Non-profit corporations and \
cost-of-living adjustments of $1,250,000 or 3½ percent — the President\u{00a0}pro tempore—shall not exceed 12 o’clock. \
Façade, naïve, ﬁling, co\u{00ad}operate, Ærø, ΑΘΗΝΑ, 北京. Employees' wages; employer's duties; F.2d; e.g., i.e., a.m. \
Generally, organizations organizing organized municipal ordinances; flies, dying, relational, conditional, rational. \
Titles 1—3, sections 293a...293c, U.S.-flag vessels, and/or, AT&T, x² 1990's ㎡ ™.";

#[cfg(test)]
mod tests;
