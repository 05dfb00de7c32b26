//! Suggestions while a user types, and corrections of misspelt words.

use hornbook_corpus::analyzer::TokenRole;
use hornbook_corpus::cards::Card;
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::suggest::{Closeness, Suggested, SuggestedKind, WORDS_MAX};
use serde::Serialize;

use super::cancel::CancelCheck;
use super::engine::Engine;
use super::error::SearchError;
use super::law_on_day::LawOnDay;
use super::understand::{check_length, with_analyzer};

/// The maximum number of suggestions.
pub const SUGGESTIONS_MAX: usize = 100;

/// The maximum number of unknown words for which a similar word is looked up: as many words as suggestions use.
const CORRECTIONS_TRIED_MAX: usize = WORDS_MAX;

/// A heading or citation that the user may be about to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// `heading` or `citation`.
    pub kind: &'static str,
    /// The heading or the citation, as the law writes it.
    pub text: String,
    /// A node with this heading or citation: the first one in force, or else the first one.
    pub node_id: NodeId,
    pub citation: String,
    pub status: Status,
    /// The first day on which this wording is law, if the source states it.
    pub effective_from: Option<Day>,
    /// The first day on which this wording is no longer law, if the source states it.
    pub effective_to: Option<Day>,
    /// How many nodes have this heading or citation.
    pub count: u32,
    /// Whether it matches only if a typing error is assumed.
    pub is_guess: bool,
    #[serde(skip)]
    pub node: NodeOrdinal,
}

/// The typed text, and how many suggestions are wanted.
#[derive(Clone, Copy, Debug)]
pub struct SuggestRequest<'a> {
    /// At most [`QUERY_CHARS_MAX`](super::QUERY_CHARS_MAX) characters.
    pub text: &'a str,
    /// At most [`SUGGESTIONS_MAX`] are returned.
    pub limit: usize,
    /// A jurisdiction with everything in it.
    pub range: Option<OrdinalRange>,
    /// The day whose law is used; without a day, the law as of the latest date of each source.
    pub day: Option<Day>,
    pub abandoned: CancelCheck<'a>,
}

impl<'a> SuggestRequest<'a> {
    /// Ten suggestions from all law.
    pub fn new(text: &'a str) -> Self {
        Self { text, limit: 10, range: None, day: None, abandoned: CancelCheck::default() }
    }
}

/// The suggestions for a typed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestResponse {
    /// First those that begin with the text, then those that contain its words, then those that nearly
    /// do either.
    pub suggestions: Vec<Suggestion>,
    /// The text with its misspelt words corrected, if it has any.
    pub did_you_mean: Option<String>,
}

impl Engine {
    pub fn suggest(&self, request: &SuggestRequest<'_>) -> Result<SuggestResponse, SearchError> {
        check_length(request.text)?;
        let range = request.range.unwrap_or_else(|| self.all_nodes());
        let limit = request.limit.min(SUGGESTIONS_MAX);
        let law = self.law_on(request.day);
        let suggestions = &self.snapshot().suggestions;
        let found = suggestions.complete(request.text, limit, range, || request.abandoned.check())?;
        let suggestions =
            found.iter().map(|suggested| self.suggestion(&law, suggested)).collect::<Result<_, SearchError>>()?;
        let did_you_mean = self.guarded(|| self.did_you_mean(request.text, request.abandoned))?;
        Ok(SuggestResponse { suggestions, did_you_mean })
    }

    fn suggestion(&self, law: &LawOnDay, suggested: &Suggested<'_>) -> Result<Suggestion, SearchError> {
        let snapshot = self.snapshot();
        let node = suggested.node(|node| law.status(node).may_be_in_force());
        let shown = law.shown(node);
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
            status: shown.status,
            effective_from: shown.from,
            effective_to: shown.to,
            count: suggested.nodes.len() as u32,
            is_guess: suggested.closeness >= Closeness::NearlyBegins,
            node,
        })
    }

    /// The text, with the words that the index does not contain replaced by the nearest word of a
    /// heading; `None` if nothing is replaced. Numbers and short words stay unchanged, and so does
    /// everything after the first [`CORRECTIONS_TRIED_MAX`] unknown words.
    fn did_you_mean(&self, text: &str, abandoned: CancelCheck<'_>) -> Result<Option<String>, SearchError> {
        let mut words = Vec::new();
        with_analyzer(|analyzer| {
            analyzer.analyze(text, |token| {
                if token.role != TokenRole::Whole {
                    words.push((token.text.to_owned(), token.bytes.range()));
                }
            });
        });
        let mut corrected = String::with_capacity(text.len());
        let mut copied = 0;
        let mut tried: Vec<(String, Option<&str>)> = Vec::new();
        for (term, place) in words {
            let typed = text[place.clone()].to_lowercase();
            let known = tried.iter().find(|(word, _)| *word == typed);
            let nearest = match known {
                Some(&(_, nearest)) => nearest,
                None if tried.len() == CORRECTIONS_TRIED_MAX => break,
                None if self.keyword.has(&term)? => None,
                None => {
                    abandoned.check()?;
                    let nearest = self.snapshot().suggestions.nearest_word(&typed);
                    tried.push((typed, nearest));
                    nearest
                }
            };
            if let Some(nearest) = nearest {
                corrected.push_str(&text[copied..place.start]);
                corrected.push_str(nearest);
                copied = place.end;
            }
        }
        corrected.push_str(&text[copied..]);
        Ok((copied > 0).then_some(corrected))
    }
}
