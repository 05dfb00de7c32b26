//! Text analysis: splits text into terms, for the keyword index and for its queries.
//!
//! A section number is indexed as a whole and by its parts (`1395w-4`, `240.10b-5`, `26.08.02.01`). `U.S.C.` is one
//! word. `non-profit` also matches `nonprofit`. Case, accents, typographic dashes, quotes and unusual spaces make
//! no difference. English words are stemmed. Stop words are kept, because phrase queries need them.
//!
//! [`Analyzer`] is the entry point; [`LawTokenizer`] is the same analysis for tantivy. `fold` classifies and folds
//! characters, `scan` splits text into groups of tokens, `stem` stems words. Any change of output requires a new
//! [`ANALYZER_ID`], so that programs refuse the indexes of the old analysis.

mod fold;
mod scan;
mod stem;
mod token;
mod tokenizer;

pub use token::{AnalyzedToken, BytesInText, PARTS_MAX, TERM_BYTES_MAX, TokenRole};
pub use tokenizer::{LawTokenStream, LawTokenizer};

use scan::Scanner;

/// The id of this analysis, stored in every keyword index and in the manifest.
pub const ANALYZER_ID: &str = "hornbook-english-1";

/// Splits texts into terms. It keeps buffers and a cache of stems, so make one per thread and reuse it.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    scanner: Scanner,
}

impl Analyzer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `sink` with every token of `text`, in order of position. A compound comes before its parts.
    pub fn analyze(&mut self, text: &str, mut sink: impl FnMut(AnalyzedToken<'_>)) {
        self.scanner.start();
        while self.scanner.next_group(text) {
            for index in 0..self.scanner.group_len() {
                sink(self.scanner.token(index));
            }
        }
    }
}

/// A hash of [`ANALYZER_ID`] and of the tokens of a sample. Programs with the same fingerprint analyze texts alike.
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

/// A sample that covers every rule of the analysis. Its tokens are hashed, so a change requires a new [`ANALYZER_ID`].
const FINGERPRINT_SAMPLE: &str = "\
The licensee’s obligations under 42 U.S.C. § 1395w–4(b)(2)(A), 17 C.F.R. § 240.10b-5 and COMAR 26.08.02.01 apply; \
see U. S. C. A. and D.C. Code § 22-3211, N.J.S. 2C:11-3, Va. Code Ann. § 13.1-345. Non-profit corporations and \
cost-of-living adjustments of $1,250,000 or 3½ percent — the President\u{00a0}pro tempore—shall not exceed 12 o’clock. \
Façade, naïve, ﬁling, co\u{00ad}operate, Ærø, ΑΘΗΝΑ, 北京. Employees' wages; employer's duties; F.2d; e.g., i.e., a.m. \
Generally, organizations organizing organized municipal ordinances; flies, dying, relational, conditional, rational. \
Titles 1—3, sections 293a...293c, U.S.-flag vessels, and/or, AT&T, x² 1990's ㎡ ™.";

#[cfg(test)]
mod tests;
