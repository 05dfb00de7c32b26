//! Suggestions while someone types, and words they may have meant.

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::cards::Card;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::suggest::{Closeness, SuggestedKind};
use serde::Serialize;

use super::understand::{check_length, with_analyzer};
use super::{Engine, SearchError};

/// So many suggestions are given at most.
pub const SUGGESTIONS_MAX: usize = 100;

/// What someone may be about to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// `heading` or `citation`.
    pub kind: &'static str,
    /// The heading or the citation, as the law writes it.
    pub text: String,
    /// A node with this heading or citation: the first that is in force.
    pub node_id: NodeId,
    pub citation: String,
    pub status: Status,
    /// How many nodes have this heading or citation.
    pub count: u32,
    /// Whether it matches only if a typing error is assumed.
    pub is_guess: bool,
    #[serde(skip)]
    pub node: NodeOrdinal,
}

impl Engine {
    /// Headings and citations that begin with what was typed, then those that have its words, then those that nearly do;
    /// within the range, if one is given.
    pub fn suggest(
        &self,
        text: &str,
        limit: usize,
        range: Option<OrdinalRange>,
    ) -> Result<Vec<Suggestion>, SearchError> {
        let snapshot = self.snapshot();
        let range = range.unwrap_or(OrdinalRange { start: 0, end: snapshot.outline.len() });
        let limit = limit.min(SUGGESTIONS_MAX);
        check_length(text)?;
        let found = snapshot.suggestions.complete(text, limit, range);
        let suggestions = found.into_iter().map(|suggested| {
            let node = suggested.node(|node| snapshot.outline.status(node).is_living());
            let Card { heading, citation, .. } = snapshot.cards.get(node)?;
            let (kind, text) = match suggested.kind {
                SuggestedKind::Heading => ("heading", heading),
                SuggestedKind::Citation => ("citation", citation),
            };
            Ok(Suggestion {
                kind,
                text: text.to_owned(),
                node_id: self.id_of(node)?,
                citation: citation.to_owned(),
                status: snapshot.outline.status(node),
                count: suggested.nodes.len() as u32,
                is_guess: suggested.closeness >= Closeness::NearlyBegins,
                node,
            })
        });
        suggestions.collect()
    }

    /// The text with the words that stand nowhere in the law exchanged for the nearest that a heading has; nothing where
    /// there is no such word. Numbers and short words are left as they are.
    pub fn did_you_mean(&self, text: &str) -> Result<Option<String>, SearchError> {
        check_length(text)?;
        let mut words = Vec::new();
        with_analyzer(|analyzer| {
            analyzer.analyze(text, |token| {
                if token.role != TokenRole::Whole {
                    words.push((token.text.to_owned(), token.bytes.range()));
                }
            });
        });
        let mut meant = String::with_capacity(text.len());
        let mut copied = 0;
        for (term, place) in words {
            if self.keyword.has(&term)? {
                continue;
            }
            let typed = text[place.clone()].to_lowercase();
            if let Some(nearest) = self.snapshot().suggestions.nearest_word(&typed) {
                meant.push_str(&text[copied..place.start]);
                meant.push_str(nearest);
                copied = place.end;
            }
        }
        meant.push_str(&text[copied..]);
        Ok((copied > 0).then_some(meant))
    }
}
