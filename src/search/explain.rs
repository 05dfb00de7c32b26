//! Explains the rank of a provision, and the time of each stage.

use hornbook_corpus::ids::ChunkOrdinal;
use serde::Serialize;

use super::fuse::Candidate;
use super::keyword::KeywordFound;
use super::request::{Hit, Mode};
use super::understand::Understood;

/// What the query was taken for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryExplain {
    pub mode: &'static str,
    pub kind: &'static str,
    /// The terms that rank, compounds in one piece.
    pub terms: Vec<String>,
    /// Each as its terms, parted by spaces.
    pub phrases: Vec<String>,
    pub excluded: Vec<String>,
    pub cited: u32,
    pub keyword_matches: u32,
    /// How much of what the query asks the best keyword match has, from 0 to 1: so much the keyword leg has to say.
    pub keyword_coverage: f32,
}

impl QueryExplain {
    pub(super) fn of(understood: &Understood, mode: Mode, keyword: &KeywordFound) -> Self {
        let terms = understood.words.iter().map(|word| word.whole.clone().unwrap_or_else(|| word.parts.join(" ")));
        let joined = |phrases: &[Vec<String>]| phrases.iter().map(|phrase| phrase.join(" ")).collect();
        Self {
            mode: mode.name(),
            kind: understood.kind.as_str(),
            terms: terms.collect(),
            phrases: joined(&understood.phrases),
            excluded: joined(&understood.excluded),
            cited: understood.cited.len() as u32,
            keyword_matches: keyword.total,
            keyword_coverage: keyword.coverage(),
        }
    }
}

/// What one leg says of a hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LegExplain {
    /// From 1; none if the leg has it, but not among its best.
    pub rank: Option<u32>,
    /// BM25 for keywords, cosine for vectors.
    pub score: f32,
}

/// Why a hit stands where it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HitExplain {
    /// The query cites it.
    pub cited: bool,
    pub keyword: Option<LegExplain>,
    pub vector: Option<LegExplain>,
    /// Late interaction, from 0 to 1.
    pub interaction: Option<f32>,
    /// The words of the query stand in it as they were typed.
    pub in_a_row: bool,
    pub fused: f32,
    pub matched_terms: Vec<String>,
    #[serde(skip)]
    pub chunk: Option<ChunkOrdinal>,
}

impl HitExplain {
    pub(super) fn of(hit: &Hit, candidate: Option<&Candidate>, cited: bool, matched_terms: Vec<String>) -> Self {
        let leg = |score: Option<f32>, rank| score.map(|score| LegExplain { rank, score });
        Self {
            cited,
            keyword: candidate.and_then(|candidate| leg(candidate.keyword, candidate.keyword_rank)),
            vector: candidate.and_then(|candidate| leg(candidate.similarity, candidate.vector_rank)),
            interaction: candidate.map(|candidate| candidate.interaction),
            in_a_row: candidate.is_some_and(|candidate| candidate.in_a_row),
            fused: candidate.map_or(hit.score, |candidate| candidate.fused),
            matched_terms,
            chunk: hit.chunk,
        }
    }
}
