//! The request, response and errors of a search.

use std::fmt;
use std::str::FromStr;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cancel::CancelCheck;
use super::facets::Facets;
use super::feature::FeatureVector;
use super::filter::Filter;
use super::relation::Relation;
use super::stages::StageMicros;
use super::understand::{QueryKind, QueryWord, is_question};

/// Which searches are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Keyword search and semantic search together.
    #[default]
    Hybrid,
    /// Semantic search only.
    Semantic,
    /// Keyword search only.
    Keyword,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Hybrid, Self::Semantic, Self::Keyword];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
        }
    }

    /// What the mode searches by, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Hybrid => "words and meaning together",
            Self::Semantic => "meaning alone",
            Self::Keyword => "words alone",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for text that is not the name of a mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode '{0}'; the modes are {names}", names = Mode::ALL.map(Mode::name).join(", "))]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownMode(name.to_owned()))
    }
}

/// How the query is embedded for the second vector space, which a sentence encoder made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Depth {
    /// By a table, in microseconds.
    #[default]
    Fast,
    /// By the encoder itself, in milliseconds.
    Deep,
}

impl Depth {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Deep => "deep",
        }
    }
}

/// The depth that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DepthChoice {
    Fast,
    Deep,
    /// Deep for questions if a deep search can start at once, otherwise fast.
    #[default]
    Auto,
}

impl DepthChoice {
    pub const ALL: [Self; 3] = [Self::Fast, Self::Deep, Self::Auto];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => Depth::Fast.name(),
            Self::Deep => Depth::Deep.name(),
            Self::Auto => "auto",
        }
    }

    /// A description in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fast => "in microseconds",
            Self::Deep => "with the sentence encoder of the snapshot, in milliseconds",
            Self::Auto => "deep for questions where that is possible, else fast",
        }
    }

    /// The depth at which to search for a query. `has_room` returns whether a deep search could start now.
    pub fn depth(self, query: &str, mode: Mode, has_room: impl FnOnce() -> bool) -> Depth {
        match self {
            Self::Deep if mode != Mode::Keyword => Depth::Deep,
            Self::Auto if mode != Mode::Keyword && has_room() && is_question(query) => Depth::Deep,
            _ => Depth::Fast,
        }
    }
}

impl fmt::Display for DepthChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One search.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// The query as typed, within the limits of [`check_query`](super::check_query).
    pub query: &'a str,
    pub mode: Mode,
    /// `DeepSearch` is valid only if [`Engine::deep_ready`](super::Engine::deep_ready) succeeds.
    pub depth: Depth,
    /// The number of the page, from 1.
    pub page: u32,
    pub limit: u32,
    pub filter: &'a Filter,
    pub facets: bool,
    pub explain: bool,
    /// Searches for the words as typed: misspelt words are not corrected, and the names of places are
    /// ordinary words.
    pub exact: bool,
    /// The day whose law is searched; without a day, the law as of the latest date of each source.
    pub day: Option<Day>,
    pub cancel_check: CancelCheck<'a>,
}

impl<'a> SearchRequest<'a> {
    /// The first page of a hybrid search without a filter.
    pub fn new(query: &'a str) -> Self {
        Self {
            query,
            mode: Mode::Hybrid,
            depth: Depth::Fast,
            page: 1,
            limit: 20,
            filter: Filter::NONE,
            facets: false,
            explain: false,
            exact: false,
            day: None,
            cancel_check: CancelCheck::default(),
        }
    }
}

/// A page of results.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    pub hits: Vec<Hit>,
    /// The number of matching provisions. It is the same on every page and for every limit.
    pub total: u32,
    /// The depth that was used: fast if there was nothing for the encoder to embed.
    pub depth: Depth,
    /// The text that was searched for instead of the query, if misspelt words were corrected.
    pub corrected_query: Option<String>,
    /// The place that the query names, if the search is restricted to it or prefers it.
    pub understood: Option<UnderstoodPlace>,
    /// The name of a jurisdiction that the query names, but that the snapshot has no law of.
    pub not_loaded: Option<String>,
    /// Required or excluded phrases that restrict nothing, because they consist only of stop words.
    pub unrestricting: Vec<String>,
    pub facets: Option<Facets>,
    pub explain: Option<QueryExplain>,
    pub stages: StageMicros,
    pub(super) searched: ShownQuery,
}

/// A place that the query names, and its effect on the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnderstoodPlace {
    /// Short code of the jurisdiction. If the query names a code, the jurisdiction that the code belongs to.
    #[schemars(with = "String")]
    pub jurisdiction: ShortCode,
    /// Name of the jurisdiction or of the code.
    pub name: String,
    /// The words of the query that name the place.
    pub words: String,
    #[serde(rename = "as")]
    pub effect: PlaceEffect,
}

/// The effect of a place on the search. `filter`: only the law of the place was searched, as with a
/// `jurisdiction` filter, and the words of the place were not searched for. `preference`: the law of
/// the place ranks higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaceEffect {
    Filter,
    Preference,
}

/// The parts of an understood query that are needed for showing hits.
#[derive(Clone, Debug)]
pub(super) struct ShownQuery {
    pub words: Vec<QueryWord>,
    /// The weight of each word; `None` if the index does not contain it.
    pub weights: Vec<Option<f32>>,
    pub kind: QueryKind,
}

/// A provision that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub node: NodeOrdinal,
    /// The wording to show.
    pub shown: ShownWording,
    /// From 1, for a cited provision or the best possible match, down to 0.
    pub score: f32,
    /// The chunk that is nearest to the query in meaning, if chunks were compared.
    pub chunk: Option<ChunkOrdinal>,
    /// The relation to the provision that the query names, if the query consists only of a citation.
    pub relation: Option<Relation>,
    pub explain: Option<HitExplain>,
}

impl Hit {
    /// A hit for which the wording to show is not known yet.
    pub(super) fn new(node: NodeOrdinal, score: f32, chunk: Option<ChunkOrdinal>) -> Self {
        let shown = ShownWording::constant(Status::InForce);
        Self { node, shown, score, chunk, relation: None, explain: None }
    }
}

/// How the query was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryExplain {
    pub mode: &'static str,
    pub kind: &'static str,
    /// The terms that affect the ranking. A compound is one term.
    pub terms: Vec<String>,
    /// The synonyms of each word: the word, a colon, and each term with its share.
    pub synonyms: Vec<String>,
    /// Each phrase as its terms, separated by spaces.
    pub phrases: Vec<String>,
    pub excluded: Vec<String>,
    pub cited: u32,
    pub keyword_matches: u32,
    /// How much of the query the best keyword match covers, from 0 to 1. The weight of keyword search
    /// depends on it.
    pub keyword_coverage: f32,
}

/// Rank and score of a hit in one search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SearchExplain {
    /// From 1; null if the hit is not among the best of this search.
    pub rank: Option<u32>,
    /// BM25 for keywords, cosine similarity for vectors.
    pub score: f32,
}

/// Why a hit has its rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HitExplain {
    /// Whether the query cites the provision.
    pub cited: bool,
    /// Why the provision is listed, if the query consists only of a citation. No words are searched for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    pub keyword: Option<SearchExplain>,
    pub vector: Option<SearchExplain>,
    /// Rank and similarity in the vector space of the sentence encoder, if the snapshot has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoded: Option<SearchExplain>,
    /// The late interaction score, from 0 to 1.
    pub interaction: Option<f32>,
    /// Whether the provision contains the words of the query in sequence, as typed.
    pub in_a_row: bool,
    pub fused: f32,
    /// The contribution of each feature to `fused`, before the reductions for law that is no longer in
    /// force or of another place.
    pub shares: Option<FeatureVector>,
    pub matched_terms: Vec<String>,
    #[serde(skip)]
    pub chunk: Option<ChunkOrdinal>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mode_names_round_trip() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let unknown = "Hybrid".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(unknown, "unknown mode 'Hybrid'; the modes are hybrid, semantic, keyword");
    }
}
