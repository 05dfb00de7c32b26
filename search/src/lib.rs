//! Search: finds provisions for a query that a user typed, and ranks them.
//!
//! [`Engine::search`] understands the query, runs keyword search and semantic search, reranks and fuses
//! the results, and cuts one page out of the ranking. The ranking does not depend on the page. Its
//! order is:
//!
//! 1. the provisions that the query cites,
//! 2. the head: the provisions that keyword or semantic search ranks high, by fused score; texts that
//!    repeat another text word for word come last,
//! 3. the other keyword matches, by keyword score.
//!
//! In 2 and 3, law that is no longer in force keeps only a part of its score.
//!
//! A query that consists only of a citation has its own order (`around`): the cited provision, the
//! provisions that cite it, the provisions that it cites, its neighbours.
//!
//! A place that the query names (`places`) either restricts the search to its law, or the law of other
//! places keeps only a part of its score.
//!
//! A search covers the law as it is on a day (`law_on_day`): if a provision has several wordings, the
//! one of that day is shown and compared.
//!
//! **Matches**, which totals and facets count, are the keyword matches as `keyword` defines them (not
//! in semantic mode), the semantic candidates (not in keyword mode), and the cited provisions. A search
//! changes nothing but caches, so any number of threads may search at once. In a large corpus, a search
//! uses a second core for some steps if one is idle (`spare`).

mod bare_number;
mod bitmap;
mod cancel;
mod compound;
mod correct;
mod engine;
mod error;
mod explain;
mod facets;
mod feature;
mod filter;
mod fuse;
mod heading_match;
mod hydrate;
mod idle_core;
mod keyword;
mod law_on_day;
mod law_text;
mod limits;
mod normalized_number;
mod parts;
mod places;
mod postings;
mod ranking;
mod related_provisions;
mod relation;
mod request;
mod rerank;
mod resolve;
mod semantic;
mod snippet;
mod stages;
mod suggest;
mod tuning;
mod understand;
mod word_sequence;

pub use cancel::CancelCheck;
pub use correct::is_known_word;
pub use engine::{Candidates, Engine};
pub use error::{DeepUnavailable, QueryError, SearchError};
pub use facets::{FacetCount, Facets};
pub use feature::{FeatureVector, RankingFeature};
pub use filter::Filter;
pub use hydrate::HydratedHit;
pub use law_on_day::LawOnDay;
pub use law_text::{LabelledParagraph, WordingText};
pub use limits::{EXCLUSIONS_MAX, FILTER_VALUES_MAX, PHRASES_MAX, QUERY_CHARS_MAX, RESULTS_MAX};
pub use parts::{BodyParts, TitleInPart};
pub use relation::Relation;
pub use request::{
    Depth, DepthChoice, Hit, HitExplain, Mode, PlaceEffect, QueryExplain, SearchExplain, SearchRequest, SearchResponse,
    UnderstoodPlace, UnknownMode,
};
pub use resolve::{AnswerKind, CANDIDATES_MAX, CitationAnswer, CitedNode, Mention};
pub use snippet::{Highlight, SNIPPET_CHARS_MAX, ShownHit, Snippet};
pub use stages::{Stage, StageMicros};
pub use suggest::{SUGGESTIONS_MAX, SuggestRequest, SuggestResponse, Suggestion};
pub use tuning::{DeepTuning, FieldTuning, KindTuning, Tuning};
pub use understand::{QueryKind, SynonymFault, SynonymFaults, SynonymTable, check_query};
