//! Explains how a query was understood, and the rank of a hit.

use super::feature::FeatureVector;
use super::fuse::{Candidate, SpaceResult};
use super::keyword::KeywordFound;
use super::relation::Relation;
use super::request::{Hit, HitExplain, Mode, QueryExplain, SearchExplain};
use super::understand::{AlternativeTerm, ParsedQuery, QueryWord};

impl QueryExplain {
    pub(super) fn of(understood: &ParsedQuery, mode: Mode, keyword: &KeywordFound) -> Self {
        let terms = understood.words.iter().map(|word| word.whole.clone().unwrap_or_else(|| word.parts.join(" ")));
        let joined = |phrases: &[Vec<String>]| phrases.iter().map(|phrase| phrase.join(" ")).collect();
        Self {
            mode: mode.name(),
            kind: understood.kind.as_str(),
            terms: terms.collect(),
            synonyms: understood
                .words
                .iter()
                .filter(|word| !word.alternative_terms.is_empty())
                .map(synonyms_of)
                .collect(),
            phrases: joined(&understood.phrases),
            excluded: joined(&understood.excluded),
            cited: understood.cited.len() as u32,
            keyword_matches: keyword.total,
            keyword_coverage: keyword.coverage(),
        }
    }
}

fn synonyms_of(word: &QueryWord) -> String {
    let also: Vec<String> =
        word.alternative_terms.iter().map(|AlternativeTerm { term, share }| format!("{term} {share:.2}")).collect();
    format!("{}: {}", word.whole.clone().unwrap_or_else(|| word.parts.join(" ")), also.join(", "))
}

impl HitExplain {
    /// Explains a hit. `candidate` includes the contribution of each feature to its score.
    pub(super) fn of(
        hit: &Hit,
        candidate: Option<(&Candidate, FeatureVector)>,
        cited: bool,
        matched_terms: Vec<String>,
    ) -> Self {
        let (candidate, shares) = candidate.unzip();
        let leg = |score: Option<f32>, rank| score.map(|score| SearchExplain { rank, score });
        let space = |near: Option<SpaceResult>| {
            near.map(|SpaceResult { similarity, rank }| SearchExplain { rank, score: similarity })
        };
        Self {
            cited,
            relation: None,
            keyword: candidate.and_then(|candidate| leg(candidate.keyword, candidate.keyword_rank)),
            vector: candidate.and_then(|candidate| space(candidate.near)),
            encoded: candidate.and_then(|candidate| space(candidate.encoded)),
            interaction: candidate.map(|candidate| candidate.interaction),
            in_a_row: candidate.is_some_and(|candidate| candidate.in_a_row),
            fused: candidate.map_or(hit.score, |candidate| candidate.fused),
            shares,
            matched_terms,
            chunk: hit.chunk,
        }
    }

    /// Explains a hit of a query that consists only of a citation.
    pub(super) fn explain_related(hit: &Hit) -> Self {
        let is_named = hit.relation == Some(Relation::Named);
        Self { relation: hit.relation, ..Self::of(hit, None, is_named, Vec::new()) }
    }
}
