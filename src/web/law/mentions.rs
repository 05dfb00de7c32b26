//! The places where a text cites provisions that are held: they become links.

use std::ops::Range;

use super::reply::Provision;
use crate::api::corpus::Corpus;
use crate::api::error::ApiError;
use hornbook_corpus::ids::NodeOrdinal;

/// So many links a page has at most.
const MENTIONS_MAX: usize = 2_000;

/// In the order of the text; they do not overlap.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    places: Vec<Mention>,
}

#[derive(Debug)]
pub(super) struct Mention {
    pub(super) bytes: Range<usize>,
    pub(super) id: String,
    /// Of the subdivision, `#a-1`; empty without one.
    pub(super) anchor: String,
    /// Citation and heading of what is cited.
    pub(super) title: String,
}

impl Mentions {
    pub(super) fn of(corpus: &Corpus, provision: &Provision<'_>) -> Result<Self, ApiError> {
        if provision.references.out.total == 0 {
            return Ok(Self::default());
        }
        let found = corpus.engine().mentions(&provision.citation, &provision.text, MENTIONS_MAX)?;
        let place = |(bytes, node, subdivision): (Range<usize>, NodeOrdinal, Vec<Box<str>>)| {
            let link = corpus.link(node)?;
            let anchor = if subdivision.is_empty() { String::new() } else { format!("#{}", subdivision.join("-")) };
            let title = format!("{} {}", link.citation, link.heading);
            Ok(Mention { bytes, id: link.id.0.to_string(), anchor, title })
        };
        Ok(Self { places: found.into_iter().map(place).collect::<Result<_, ApiError>>()? })
    }

    /// Those within a range of the text.
    pub(super) fn within(&self, bytes: Range<usize>) -> &[Mention] {
        let from = self.places.partition_point(|mention| mention.bytes.start < bytes.start);
        let to = self.places.partition_point(|mention| mention.bytes.end <= bytes.end);
        self.places.get(from..to).unwrap_or_default()
    }
}
