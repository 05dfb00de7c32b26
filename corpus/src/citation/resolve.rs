//! From a citation's text to the provisions that are held, as a typed answer. What is held comes in through [`Holdings`].

use super::grammar::{Grammar, ParseError};
use super::key::CitationKey;
use super::value::{Body, Citation};
use crate::ids::NodeOrdinal;

/// How far a snapshot covers a code body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    Held,
    /// The jurisdiction is listed, but nothing of it is held yet.
    Placeholder,
    Outside,
}

/// What a snapshot holds, as far as citations ask.
pub trait Holdings {
    /// Why it cannot be said what is held: files that were damaged.
    type Error;

    /// The provisions whose stored citation has this key, in order.
    fn provisions(&self, key: &CitationKey) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The provisions cited as a range that runs over this citation (`293a...293c` holds `293b`), in order.
    fn ranges_over(&self, citation: &Citation) -> Result<Vec<NodeOrdinal>, Self::Error>;

    /// The provisions within a cited range, in order.
    fn covered_by(&self, range: &Citation) -> Result<Vec<NodeOrdinal>, Self::Error>;

    fn coverage(&self, body: Body<'_>) -> Coverage;
}

/// What one citation came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// One provision. There is no citation when only the stored text matched.
    Resolved {
        provision: NodeOrdinal,
        citation: Option<Citation>,
    },
    /// Several provisions have this citation, or it is a range of several.
    Ambiguous {
        candidates: Vec<NodeOrdinal>,
        citation: Option<Citation>,
    },
    /// Well formed and in a body that is held, but no provision has it.
    NotHeld {
        citation: Citation,
    },
    /// Well formed, of a body that is not held.
    OutsideCoverage {
        citation: Citation,
    },
    /// Well formed, of a jurisdiction that is listed but not yet filled.
    Placeholder {
        citation: Citation,
    },
    Malformed(ParseError),
}

impl Grammar {
    /// Resolves a text that is one citation or a list of them: an answer for each, at least one.
    pub fn resolve<H: Holdings>(&self, text: &str, holdings: &H) -> Result<Vec<Resolution>, H::Error> {
        match self.parse_list(text) {
            Ok(citations) => citations.into_iter().map(|citation| self.resolve_citation(citation, holdings)).collect(),
            Err(error) => Ok(vec![resolve_unread(text, holdings, error)?]),
        }
    }

    fn resolve_citation<H: Holdings>(&self, citation: Citation, holdings: &H) -> Result<Resolution, H::Error> {
        let mut held = holdings.provisions(&self.key(&citation))?;
        if held.is_empty() {
            held = holdings.ranges_over(&citation)?;
        }
        if held.is_empty() {
            held = holdings.covered_by(&citation)?;
        }
        Ok(match held[..] {
            [] => self.absent(citation, holdings),
            [provision] => Resolution::Resolved { provision, citation: Some(citation) },
            _ => Resolution::Ambiguous { candidates: held, citation: Some(citation) },
        })
    }

    fn absent<H: Holdings>(&self, citation: Citation, holdings: &H) -> Resolution {
        match self.body(citation.body).map_or(Coverage::Outside, |body| holdings.coverage(body)) {
            Coverage::Held => Resolution::NotHeld { citation },
            Coverage::Placeholder => Resolution::Placeholder { citation },
            Coverage::Outside => Resolution::OutsideCoverage { citation },
        }
    }
}

/// A stored citation may be one that no form knows; its own text still finds it.
fn resolve_unread<H: Holdings>(text: &str, holdings: &H, error: ParseError) -> Result<Resolution, H::Error> {
    // No stored citation is empty, and the key of a text without end would cost as much.
    if matches!(error, ParseError::Empty | ParseError::TooLong { .. }) {
        return Ok(Resolution::Malformed(error));
    }
    let held = holdings.provisions(&CitationKey::folded(text))?;
    Ok(match held[..] {
        [] => Resolution::Malformed(error),
        [provision] => Resolution::Resolved { provision, citation: None },
        _ => Resolution::Ambiguous { candidates: held, citation: None },
    })
}
