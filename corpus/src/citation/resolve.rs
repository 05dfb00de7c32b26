//! Resolves the text of a citation to provisions, as a typed answer. [`Holdings`] says which provisions exist.

use super::grammar::{Grammar, ParseError};
use super::key::CitationKey;
use super::value::{Body, Citation, Place};
use crate::ids::NodeOrdinal;

/// The most provisions found of a range, from the end that the snapshot has.
pub const RANGE_MAX: usize = 100;

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

    /// How many nodes there are.
    fn node_count(&self) -> u32;

    /// Whether the range runs over a provision's citation; `None` for a node that is no provision.
    fn is_within(&self, range: &Citation, node: NodeOrdinal) -> Result<Option<bool>, Self::Error>;
}

/// Holdings that also say why something is not among them.
pub trait Inventory: Holdings {
    fn coverage(&self, body: Body<'_>) -> Coverage;
}

/// The result of one citation.
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
    pub fn resolve<H: Inventory>(&self, text: &str, holdings: &H) -> Result<Vec<Resolution>, H::Error> {
        match self.parse_list(text) {
            Ok(citations) => citations.into_iter().map(|citation| self.resolve_citation(citation, holdings)).collect(),
            Err(error) => Ok(vec![resolve_unread(text, holdings, error)?]),
        }
    }

    fn resolve_citation<H: Inventory>(&self, citation: Citation, holdings: &H) -> Result<Resolution, H::Error> {
        let held = self.held(&citation, holdings)?;
        Ok(match held[..] {
            [] => self.absent(citation, holdings),
            [provision] => Resolution::Resolved { provision, citation: Some(citation) },
            _ => Resolution::Ambiguous { candidates: held, citation: Some(citation) },
        })
    }

    /// The provisions that a citation means, in order: those that bear it, else those whose range it lies in, else those in its
    /// own range, at most [`RANGE_MAX`] of them.
    pub fn held<H: Holdings>(&self, citation: &Citation, holdings: &H) -> Result<Vec<NodeOrdinal>, H::Error> {
        let mut held = holdings.provisions(&self.key(citation))?;
        if held.is_empty() {
            held = holdings.ranges_over(citation)?;
        }
        if held.is_empty() {
            held = self.held_within(citation, holdings)?;
        }
        Ok(held)
    }

    fn held_within<H: Holdings>(&self, range: &Citation, holdings: &H) -> Result<Vec<NodeOrdinal>, H::Error> {
        let Place::Numbered { unit, last: Some(last_number), wording, .. } = &range.place else {
            return Ok(Vec::new());
        };
        let mut first = range.clone();
        if let Place::Numbered { last, .. } = &mut first.place {
            *last = None;
        }
        let place = Place::Numbered { unit: *unit, number: last_number.clone(), last: None, wording: *wording };
        let last = Citation { place, ..first.clone() };
        // The order of a code is that of its numbers, so one end that is held leads to the rest.
        if let Some(first) = holdings.provisions(&self.key(&first))?.first() {
            return walk(range, first.0..holdings.node_count(), holdings);
        }
        match holdings.provisions(&self.key(&last))?.last() {
            Some(last) => {
                let mut held = walk(range, (0..=last.0).rev(), holdings)?;
                held.reverse();
                Ok(held)
            }
            None => Ok(Vec::new()),
        }
    }

    fn absent<H: Inventory>(&self, citation: Citation, holdings: &H) -> Resolution {
        match self.body(citation.body).map_or(Coverage::Outside, |body| holdings.coverage(body)) {
            Coverage::Held => Resolution::NotHeld { citation },
            Coverage::Placeholder => Resolution::Placeholder { citation },
            Coverage::Outside => Resolution::OutsideCoverage { citation },
        }
    }
}

/// The provisions that a range covers, up to the first that it does not.
fn walk<H: Holdings>(
    range: &Citation,
    nodes: impl Iterator<Item = u32>,
    holdings: &H,
) -> Result<Vec<NodeOrdinal>, H::Error> {
    let mut held = Vec::new();
    for node in nodes.map(NodeOrdinal) {
        match holdings.is_within(range, node)? {
            None => {}
            Some(true) if held.len() < RANGE_MAX => held.push(node),
            Some(_) => break,
        }
    }
    Ok(held)
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
