//! Search: from what a person typed to provisions, best first.
//!
//! [`Engine::search`] understands the query, asks the keyword and the semantic leg, reranks, fuses, and cuts one page out of
//! an order that depends on nothing but query, mode and filter:
//!
//! 1. the provisions that the query cites,
//! 2. the head (what a leg ranks high), fused; texts that repeat another's word for word last,
//! 3. the other keyword matches by keyword score.
//!
//! Law that is no longer in force keeps a part of its score in both.
//!
//! A query that is nothing but a citation has an order of its own (`around`): the provision, what cites it, what it cites,
//! its neighbours.
//!
//! A place that the query names (`places`) narrows the search, or its law keeps its score where other law keeps a part.
//!
//! A search is over the law as it is on a day (`law_on_day`): of a provision with several wordings, the one of that day is
//! shown and compared.
//!
//! **What matches**, and so what totals and facets count: the keyword matches as `keyword` defines them (not in semantic
//! mode), the semantic candidates (not in keyword mode), and what is cited. The engine holds no lock and changes nothing:
//! any number of threads may search at once. In a large corpus a search takes a second core for some steps, if one is idle
//! (`spare`).

mod abandoned;
mod around;
mod bare_number;
mod bits;
mod compound;
mod correct;
mod engine;
mod error;
pub mod evaluate;
mod explain;
mod facets;
mod feature;
mod filter;
mod folded_number;
mod fuse;
mod hydrate;
mod in_a_row;
mod keyword;
mod law_on_day;
mod limits;
mod parts;
mod places;
mod postings;
mod ranking;
mod relation;
mod request;
mod rerank;
mod resolve;
mod semantic;
mod snippet;
mod spare;
mod stages;
mod suggest;
mod tuning;
mod understand;

pub use abandoned::Abandoned;
pub use engine::{Candidates, Engine};
pub use error::{NotDeep, QueryError, SearchError};
pub use facets::{FacetCount, Facets};
pub use feature::{Feature, Features};
pub use filter::Filter;
pub use hydrate::HydratedHit;
pub use law_on_day::LawOnDay;
pub use limits::{EXCLUSIONS_MAX, FILTER_VALUES_MAX, PHRASES_MAX, QUERY_CHARS_MAX, RESULTS_MAX};
pub use parts::BodyParts;
pub use relation::Relation;
pub use request::{
    Depth, DepthWish, Hit, HitExplain, LegExplain, Mode, PlaceEffect, QueryExplain, SearchRequest, SearchResponse,
    UnderstoodPlace, UnknownMode,
};
pub use resolve::{AnswerKind, CANDIDATES_MAX, CitationAnswer, CitedNode, Mention};
pub use snippet::{Highlight, SNIPPET_CHARS_MAX, ShownHit, Snippet};
pub use stages::{Stage, StageMicros};
pub use suggest::{SUGGESTIONS_MAX, SuggestRequest, SuggestResponse, Suggestion};
pub use tuning::{DeepTuning, FieldTuning, KindTuning, Tuning};
pub use understand::{QueryKind, check_query};
