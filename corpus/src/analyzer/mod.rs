//! Text analysis: what a word is, for the keyword index and for the queries put to it.
//!
//! Legal text is cut so that a section number is found whole and by its parts (`1395w-4`, `240.10b-5`, `26.08.02.01`),
//! `U.S.C.` is one word, `non-profit` also meets `nonprofit`, and case, accents, typographic dashes, quotes and odd
//! spaces make no difference. English words are stemmed; nothing is left out, stop words included, because phrases
//! need them. [`Analyzer`] is the door, [`LawTokenizer`] the same for tantivy. `fold` knows characters, `scan` cuts
//! words into groups, `stem` stems. Any change of output must change [`ANALYZER_ID`]: old indexes then say so.

mod fold;
mod scan;
mod stem;
mod token;
mod tokenizer;

pub use token::{AnalyzedToken, BytesInText, PARTS_MAX, TERM_BYTES_MAX, TokenRole};
pub use tokenizer::{LawTokenStream, LawTokenizer};

use scan::Scanner;

/// The name of this analysis, kept in every keyword index and in the manifest.
pub const ANALYZER_ID: &str = "hornbook-english-1";

/// Cuts texts into terms. It keeps buffers and a cache of stems, so make one per thread and reuse it.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    scanner: Scanner,
}

impl Analyzer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Hands every token of `text` to `sink`, in order of position, a whole before its parts.
    pub fn analyze(&mut self, text: &str, mut sink: impl FnMut(AnalyzedToken<'_>)) {
        self.scanner.start();
        while self.scanner.next_group(text) {
            for index in 0..self.scanner.group_len() {
                sink(self.scanner.token(index));
            }
        }
    }
}

/// A hash over the id and what the analysis makes of a sample: two programs with the same one cut texts alike.
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

/// Touches every rule of the analysis; its outputs are hashed, so it may never change under one id.
const FINGERPRINT_SAMPLE: &str = "\
The licensee’s obligations under 42 U.S.C. § 1395w–4(b)(2)(A), 17 C.F.R. § 240.10b-5 and COMAR 26.08.02.01 apply; \
see U. S. C. A. and D.C. Code § 22-3211, N.J.S. 2C:11-3, Va. Code Ann. § 13.1-345. Non-profit corporations and \
cost-of-living adjustments of $1,250,000 or 3½ percent — the President\u{00a0}pro tempore—shall not exceed 12 o’clock. \
Façade, naïve, ﬁling, co\u{00ad}operate, Ærø, ΑΘΗΝΑ, 北京. Employees' wages; employer's duties; F.2d; e.g., i.e., a.m. \
Generally, organizations organizing organized municipal ordinances; flies, dying, relational, conditional, rational. \
Titles 1—3, sections 293a...293c, U.S.-flag vessels, and/or, AT&T, x² 1990's ㎡ ™.";

#[cfg(test)]
mod tests;
