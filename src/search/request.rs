//! The request, response and errors of a search.

use std::fmt;
use std::str::FromStr;

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, ShortCode};
use hornbook_corpus::outline::Status;
use hornbook_corpus::validity::ShownWording;
use schemars::JsonSchema;
use serde::Serialize;

use super::abandoned::Abandoned;
use super::facets::Facets;
use super::feature::Features;
use super::filter::Filter;
use super::relation::Relation;
use super::stages::StageMicros;
use super::understand::{QueryKind, QueryWord, is_question};

/// Which legs are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and meaning together.
    #[default]
    Hybrid,
    /// Meaning alone.
    Semantic,
    /// Words alone.
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

    /// What it finds, in a few words.
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

/// A text that is not the name of a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode(String);

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Mode::ALL.map(Mode::name).join(", ");
        write!(f, "unknown mode '{}'; the modes are {names}", self.0)
    }
}

impl std::error::Error for UnknownMode {}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownMode(name.to_owned()))
    }
}

/// What embeds a query for the passages that a sentence encoder embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Depth {
    /// A table: microseconds.
    #[default]
    Fast,
    /// The encoder itself: milliseconds.
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

/// How deep somebody wants to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DepthWish {
    Fast,
    Deep,
    /// Deep for questions, where that is possible at once.
    #[default]
    Auto,
}

impl DepthWish {
    pub const ALL: [Self; 3] = [Self::Fast, Self::Deep, Self::Auto];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => Depth::Fast.name(),
            Self::Deep => Depth::Deep.name(),
            Self::Auto => "auto",
        }
    }

    /// What it means, in a few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fast => "in microseconds",
            Self::Deep => "with the sentence encoder of the snapshot, in milliseconds",
            Self::Auto => "deep for questions where that is possible, else fast",
        }
    }

    /// How to search for a query. `has_room` says whether a deep search could begin now.
    pub fn depth(self, query: &str, mode: Mode, has_room: impl FnOnce() -> bool) -> Depth {
        match self {
            Self::Deep if mode != Mode::Keyword => Depth::Deep,
            Self::Auto if mode != Mode::Keyword && has_room() && is_question(query) => Depth::Deep,
            _ => Depth::Fast,
        }
    }
}

impl fmt::Display for DepthWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One search.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// As it was typed, within the limits of [`check_query`](super::check_query).
    pub query: &'a str,
    pub mode: Mode,
    /// Deep only where [`Engine::deep_ready`](super::Engine::deep_ready) says so.
    pub depth: Depth,
    /// From 1.
    pub page: u32,
    pub limit: u32,
    pub filter: &'a Filter,
    pub facets: bool,
    pub explain: bool,
    /// The words are searched for as they were typed: misspelt ones are not corrected, and places among them are words.
    pub exact: bool,
    /// The law as it is on this day; without one, on the last day that each source knows.
    pub day: Option<Day>,
    pub abandoned: Abandoned<'a>,
}

impl<'a> SearchRequest<'a> {
    /// The first page of a hybrid search over everything.
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
            abandoned: Abandoned::default(),
        }
    }
}

/// A page of results.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    pub hits: Vec<Hit>,
    /// How many provisions match; the same on every page and for every limit.
    pub total: u32,
    /// How it was searched: fast also where the encoder had nothing to embed.
    pub depth: Depth,
    /// What was searched for instead of the query, if words of it were misspelt.
    pub corrected_query: Option<String>,
    /// The place that the query names, if the search is narrowed to it or prefers it.
    pub understood: Option<UnderstoodPlace>,
    /// The name of a jurisdiction that the query names, and that the snapshot has no law of.
    pub not_loaded: Option<String>,
    /// Phrases of common words alone, wanted or excluded: they rank, and are neither required nor excluded.
    pub unrestricting: Vec<String>,
    pub facets: Option<Facets>,
    pub explain: Option<QueryExplain>,
    pub stages: StageMicros,
    pub(super) searched: Searched,
}

/// A place that the query names, and what it does to the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnderstoodPlace {
    /// Short code of the jurisdiction. Of a code that the query names, the jurisdiction whose code it is.
    #[schemars(with = "String")]
    pub jurisdiction: ShortCode,
    /// Name of the jurisdiction, or of the code.
    pub name: String,
    /// The words of the query that name it.
    pub words: String,
    #[serde(rename = "as")]
    pub effect: PlaceEffect,
}

/// `filter`: only its law was searched, as if a parameter said so, and its words were not searched for. `preference`: its
/// law ranks higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PlaceEffect {
    Filter,
    Preference,
}

/// What of the query matters to how hits are shown.
#[derive(Clone, Debug)]
pub(super) struct Searched {
    pub words: Vec<QueryWord>,
    /// What each of them carries.
    pub weights: Vec<Option<f32>>,
    pub kind: QueryKind,
}

/// One provision found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub node: NodeOrdinal,
    /// The wording of the day.
    pub shown: ShownWording,
    /// From 1 for what is cited or could not be better down to 0.
    pub score: f32,
    /// The passage whose meaning is nearest, where the semantic leg found it.
    pub chunk: Option<ChunkOrdinal>,
    /// How it is related to the provision that the query names, if the query is nothing but a citation.
    pub relation: Option<Relation>,
    pub explain: Option<HitExplain>,
}

impl Hit {
    /// A hit before it is known which wording of it is shown.
    pub(super) fn new(node: NodeOrdinal, score: f32, chunk: Option<ChunkOrdinal>) -> Self {
        let shown = ShownWording::constant(Status::InForce);
        Self { node, shown, score, chunk, relation: None, explain: None }
    }
}

/// What the query was taken for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryExplain {
    pub mode: &'static str,
    pub kind: &'static str,
    /// The terms that rank, compounds in one piece.
    pub terms: Vec<String>,
    /// What words are also found by: the word, a colon, and each term with what it counts.
    pub synonyms: Vec<String>,
    /// Each as its terms, separated by spaces.
    pub phrases: Vec<String>,
    pub excluded: Vec<String>,
    pub cited: u32,
    pub keyword_matches: u32,
    /// How much of what the query asks the best keyword match has, from 0 to 1: so much the keyword leg has to say.
    pub keyword_coverage: f32,
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
    /// Why it is listed, if the query is nothing but a citation: no words were searched for then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    pub keyword: Option<LegExplain>,
    pub vector: Option<LegExplain>,
    /// In the space of the sentence encoder, if the snapshot has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoded: Option<LegExplain>,
    /// Late interaction, from 0 to 1.
    pub interaction: Option<f32>,
    /// The words of the query stand in it as they were typed.
    pub in_a_row: bool,
    pub fused: f32,
    /// What each feature adds to that; law that is no longer in force keeps a part of the sum.
    pub shares: Option<Features>,
    pub matched_terms: Vec<String>,
    #[serde(skip)]
    pub chunk: Option<ChunkOrdinal>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_by_the_names_they_are_written_with() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        let unknown = "Hybrid".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(unknown, "unknown mode 'Hybrid'; the modes are hybrid, semantic, keyword");
    }
}
