//! Explains how a query was understood, and the rank of a hit.

use std::fmt;

use super::feature::{FeatureVector, RankingFeature};
use super::fuse::{Candidate, SpaceResult};
use super::keyword::KeywordFound;
use super::relation::Relation;
use super::request::{Hit, HitExplain, Mode, QueryExplain, SearchExplain, SearchResponse};
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

/// Contributions below this are not written.
const SHARE_WRITTEN_MIN: f32 = 0.0005;

impl fmt::Display for HitExplain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leg = |name: &str, leg: Option<SearchExplain>| match leg {
            None => format!("{name} -"),
            Some(SearchExplain { rank: Some(rank), score }) => format!("{name} #{rank} {score:.3}"),
            Some(SearchExplain { rank: None, score }) => format!("{name} {score:.3}"),
        };
        let mut parts = vec![leg("keyword", self.keyword), leg("vector", self.vector)];
        parts.extend(self.encoded.map(|encoded| leg("encoded", Some(encoded))));
        parts.push(self.interaction.map_or("interaction -".into(), |score| format!("interaction {score:.3}")));
        parts.push(format!("fused {:.3}", self.fused));
        if let Some(shares) = &self.shares {
            let written = RankingFeature::ALL.into_iter().filter(|&feature| shares.get(feature) >= SHARE_WRITTEN_MIN);
            let written: Vec<String> =
                written.map(|feature| format!("{} {:.3}", feature.as_str(), shares.get(feature))).collect();
            parts.push(format!("of {}", written.join(" + ")));
        }
        parts.extend(self.relation.map(|relation| relation.as_str().to_owned()));
        parts.extend((self.cited && self.relation.is_none()).then(|| "cited".to_owned()));
        parts.extend(self.in_a_row.then(|| "adjacent words".to_owned()));
        write!(f, "[{}; {}]", parts.join(", "), self.matched_terms.join(" "))
    }
}

impl SearchResponse {
    /// How the query was understood and how long each stage took, in one line, if the request asked for it.
    pub fn explained(&self) -> Option<String> {
        let explain = self.explain.as_ref()?;
        let stages: Vec<String> = self.stages.named().map(|(name, micros)| format!("{name} {micros}")).collect();
        let synonyms = match explain.synonyms.as_slice() {
            [] => String::new(),
            synonyms => format!("; synonyms: {}", synonyms.join("; ")),
        };
        Some(format!(
            "kind of query: {}; words: {}{synonyms}; microseconds: {}",
            explain.kind,
            explain.terms.join(" "),
            stages.join(", ")
        ))
    }
}
