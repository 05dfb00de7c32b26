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
    /// The provisions whose stored citation has this key, in order.
    fn provisions(&self, key: &CitationKey) -> Vec<NodeOrdinal>;

    /// The provisions cited as a range that runs over this citation (`293a...293c` holds `293b`), in order.
    fn ranges_over(&self, citation: &Citation) -> Vec<NodeOrdinal>;

    fn coverage(&self, body: Body<'_>) -> Coverage;
}

/// What a citation's text came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// One provision. There is no citation when only the stored text matched.
    Resolved {
        provision: NodeOrdinal,
        citation: Option<Citation>,
    },
    /// Several provisions have this citation, or the text cites several.
    Ambiguous {
        candidates: Vec<NodeOrdinal>,
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
    /// Resolves one citation, or a list, against what is held.
    pub fn resolve(&self, text: &str, holdings: &dyn Holdings) -> Resolution {
        let citations = match self.parse_list(text) {
            Ok(citations) => citations,
            Err(error) => return resolve_unread(text, holdings, error),
        };
        let mut candidates: Vec<NodeOrdinal> = Vec::new();
        for citation in &citations {
            for provision in self.held(citation, holdings) {
                if !candidates.contains(&provision) {
                    candidates.push(provision);
                }
            }
        }
        let Some(citation) = citations.into_iter().next() else {
            return Resolution::Malformed(ParseError::Empty);
        };
        match candidates[..] {
            [] => self.absent(citation, holdings),
            [provision] => Resolution::Resolved { provision, citation: Some(citation) },
            _ => Resolution::Ambiguous { candidates },
        }
    }

    fn held(&self, citation: &Citation, holdings: &dyn Holdings) -> Vec<NodeOrdinal> {
        let exact = holdings.provisions(&self.key(citation));
        if exact.is_empty() { holdings.ranges_over(citation) } else { exact }
    }

    fn absent(&self, citation: Citation, holdings: &dyn Holdings) -> Resolution {
        match self.body(citation.body).map_or(Coverage::Outside, |body| holdings.coverage(body)) {
            Coverage::Held => Resolution::NotHeld { citation },
            Coverage::Placeholder => Resolution::Placeholder { citation },
            Coverage::Outside => Resolution::OutsideCoverage { citation },
        }
    }
}

/// A stored citation may be one that no form knows; its own text still finds it.
fn resolve_unread(text: &str, holdings: &dyn Holdings, error: ParseError) -> Resolution {
    match holdings.provisions(&CitationKey::folded(text))[..] {
        [] => Resolution::Malformed(error),
        [provision] => Resolution::Resolved { provision, citation: None },
        ref candidates => Resolution::Ambiguous { candidates: candidates.to_vec() },
    }
}
