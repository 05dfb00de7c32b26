//! Search: from what a person typed to provisions, best first.
//!
//! [`Engine::search`] understands the query, asks the keyword and the semantic leg, reranks, fuses, and cuts one page out of
//! an order that depends on nothing but query, mode and filter:
//!
//! 1. the provisions that the query cites,
//! 2. the living provisions of the head (what a leg ranks high), fused; texts that repeat another's word for word last,
//! 3. the other living keyword matches by keyword score,
//! 4. the dead ones: those of the head, then the other keyword matches.
//!
//! **What matches**, and so what totals and facets count: the keyword matches as `keyword` defines them (not in semantic
//! mode), the semantic candidates (not in keyword mode), and what is cited. The engine holds no lock and changes nothing:
//! any number of threads may search at once.

mod abandoned;
pub mod evaluate;
mod explain;
mod facets;
mod fuse;
mod hydrate;
mod keyword;
mod postings;
mod ranking;
mod rerank;
mod resolve;
mod semantic;
mod snippet;
mod suggest;
mod tuning;
mod understand;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::nodes::NodesError;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::TextDamaged;
use tantivy::TantivyError;

pub use abandoned::Abandoned;
pub use explain::{HitExplain, LegExplain, QueryExplain, StageMicros};
pub use facets::{FacetCount, Facets};
pub use hydrate::HydratedHit;
pub use resolve::{AnswerKind, CANDIDATES_MAX, CitationAnswer, CitedNode};
pub use snippet::{Highlight, SNIPPET_CHARS_MAX, ShownHit, Snippet};
pub use suggest::{SUGGESTIONS_MAX, Suggestion};
pub use tuning::{FieldTuning, KindTuning, Tuning};
pub use understand::{QUERY_CHARS_MAX, QueryKind};

use fuse::{Candidate, Weights, fuse, set_back_repeated_texts};
use keyword::{Bits, KeywordFound, KeywordLeg, KeywordQuery, KnownWord};
use ranking::{Page, Ranking};
use rerank::{Interaction, Likeness, TokenRarity};
use resolve::CitedRanges;
use semantic::SemanticCandidate;
use understand::{QueryWord, Understood, understand, within_bounds};

/// The last result that can be paged to.
pub const RESULTS_MAX: u32 = 10_000;

/// Among how many of the best keyword matches words in a row are looked for.
const IN_A_ROW_CHECKED: usize = 48;

/// A section number that more provisions bear cites none of them.
const NUMBER_BEARERS_MAX: usize = 4;

/// Among how many provisions with a number in their citation its bearers are looked for.
const NUMBER_CANDIDATES_MAX: usize = 64;

/// Which legs are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Hybrid,
    Semantic,
    Keyword,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Hybrid, Self::Semantic, Self::Keyword];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Semantic => "semantic",
            Self::Keyword => "keyword",
        }
    }
}

/// One search.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// As it was typed; of a longer one the first [`QUERY_CHARS_MAX`] characters are read.
    pub query: &'a str,
    pub mode: Mode,
    /// From 1.
    pub page: u32,
    pub limit: u32,
    /// A jurisdiction with what lies in it, a code body, or what both have in common.
    pub range: Option<OrdinalRange>,
    pub facets: bool,
    pub explain: bool,
    pub abandoned: Abandoned<'a>,
}

impl<'a> SearchRequest<'a> {
    /// The first page of a hybrid search over everything.
    pub fn new(query: &'a str) -> Self {
        let abandoned = Abandoned::default();
        Self { query, mode: Mode::Hybrid, page: 1, limit: 20, range: None, facets: false, explain: false, abandoned }
    }
}

/// A page of results.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    pub hits: Vec<Hit>,
    /// How many provisions match; the same on every page and for every limit.
    pub total: u32,
    pub facets: Option<Facets>,
    pub explain: Option<QueryExplain>,
    pub stages: StageMicros,
    searched: Searched,
}

/// What of the query matters to how hits are shown.
#[derive(Clone, Debug)]
struct Searched {
    words: Vec<QueryWord>,
    /// What each of them carries.
    weights: Vec<Option<f32>>,
    kind: QueryKind,
    cited: Vec<NodeOrdinal>,
    is_citation_alone: bool,
}

/// One provision found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub node: NodeOrdinal,
    /// From 1 for what is cited or could not be better down to 0 for what is no longer law.
    pub score: f32,
    /// The passage whose meaning is nearest, where the semantic leg found it.
    pub chunk: Option<ChunkOrdinal>,
    pub explain: Option<HitExplain>,
}

/// Why there is no answer. Nothing that a person types is one of these but an empty query.
#[derive(Debug)]
pub enum SearchError {
    EmptyQuery,
    BeyondResults {
        page: u32,
        limit: u32,
    },
    /// Nobody waits for it: see [`Abandoned`].
    Abandoned,
    Index(TantivyError),
    Postings(std::io::Error),
    Nodes(NodesError),
    Text(TextDamaged),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyQuery => f.write_str("cannot search for nothing; type a citation, a few words or a question"),
            Self::BeyondResults { page, limit } => write!(
                f,
                "cannot show page {page} of {limit} results each: pages and limits start at 1 and reach to result \
                 {RESULTS_MAX}; narrow the query or filter by jurisdiction or code body"
            ),
            Self::Abandoned => f.write_str("nobody waits for the answer any more, so the search was ended"),
            Self::Index(error) => {
                write!(f, "cannot open the keyword index for searching: {error}; run 'hornbook verify'")
            }
            Self::Postings(error) => {
                write!(f, "cannot read the keyword index while searching: {error}; run 'hornbook verify'")
            }
            Self::Nodes(error) => error.fmt(f),
            Self::Text(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::EmptyQuery | Self::BeyondResults { .. } | Self::Abandoned => None,
            Self::Index(error) => Some(error),
            Self::Postings(error) => Some(error),
            Self::Nodes(error) => Some(error),
            Self::Text(error) => Some(error),
        }
    }
}

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> Self {
        Self::Postings(error)
    }
}

impl From<TextDamaged> for SearchError {
    fn from(error: TextDamaged) -> Self {
        Self::Text(error)
    }
}

impl From<NodesError> for SearchError {
    fn from(error: NodesError) -> Self {
        Self::Nodes(error)
    }
}

/// Searches one snapshot.
pub struct Engine {
    snapshot: Arc<Snapshot>,
    keyword: KeywordLeg,
    rarity: TokenRarity,
    likeness: Likeness,
    dead: Bits,
    ranges: CitedRanges,
    tuning: Tuning,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("snapshot", &self.snapshot.dir()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Reads what a search needs beside the mapped files: token rarities and which provisions are dead. Some milliseconds.
    pub fn new(snapshot: Arc<Snapshot>) -> Result<Self, SearchError> {
        Self::tuned(snapshot, Tuning::default())
    }

    /// The same with other numbers than those that measured best, to measure again.
    pub fn tuned(snapshot: Arc<Snapshot>, tuning: Tuning) -> Result<Self, SearchError> {
        let keyword = KeywordLeg::open(&snapshot.keyword, &tuning).map_err(SearchError::Index)?;
        let rarity = TokenRarity::of(&snapshot.token_sets, &snapshot.chunks);
        let outline = &snapshot.outline;
        let dead = Bits::from_fn(outline.len(), |node| !outline.status(NodeOrdinal(node)).is_living());
        // Made at the first use otherwise, which would be somebody's query.
        snapshot.grammar();
        let likeness = Likeness::of(&tuning);
        Ok(Self { keyword, rarity, likeness, dead, tuning, snapshot, ranges: CitedRanges::new() })
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchResponse, SearchError> {
        if request.query.trim().is_empty() {
            return Err(SearchError::EmptyQuery);
        }
        let page = Page::of(request)?;
        let mut watch = Stopwatch::new();
        let mut stages = StageMicros::default();
        let all = OrdinalRange { start: 0, end: self.snapshot.outline.len() };
        let range = request.range.unwrap_or(all);

        let mut understood = understand(&self.snapshot, within_bounds(request.query))?;
        understood.cited.retain(|node| range.contains(node.0));
        if understood.cited.is_empty() {
            self.look_for_numbers(&mut understood, range)?;
        }
        stages.understand = watch.lap();
        request.abandoned.check()?;

        let known = self.keyword.look_up(&understood.words)?;
        let constraints = self.keyword.constraints(&understood.phrases, &understood.excluded, range)?;
        stages.keyword = watch.lap();

        let vector = match request.mode {
            Mode::Keyword => None,
            Mode::Hybrid | Mode::Semantic => semantic::query_vector(&understood.meaning),
        };
        stages.embed = watch.lap();
        let chunk_candidates = match request.mode {
            Mode::Hybrid => self.tuning.of(understood.kind).chunk_candidates,
            Mode::Semantic | Mode::Keyword => self.tuning.chunk_candidates,
        };
        let nearest = vector
            .as_ref()
            .map(|vector| semantic::candidates(&self.snapshot, vector, range, &constraints, chunk_candidates));
        let nearest = nearest.unwrap_or_default();
        stages.vector = watch.lap();
        request.abandoned.check()?;

        let keyword = match request.mode {
            Mode::Semantic => KeywordFound::default(),
            Mode::Hybrid | Mode::Keyword => self.keyword.search(&KeywordQuery {
                words: &known,
                constraints: &constraints,
                range,
                keep: self.tuning.keyword_candidates.max(page.end),
                watched: &watched(&understood.cited, &nearest),
                list_matches: request.facets,
                dead: &self.dead,
            })?,
        };
        stages.keyword += watch.lap();
        request.abandoned.check()?;

        let mut head = self.head(&understood, &keyword, &nearest);
        if request.mode != Mode::Semantic {
            self.look_for_rows(&understood, &keyword, &mut head)?;
            stages.keyword += watch.lap();
        }
        if let Some(vector) = &vector {
            semantic::complete(&self.snapshot, vector, &mut head);
        }
        if request.mode != Mode::Keyword {
            self.rerank(&understood, &mut head);
        }
        stages.rerank = watch.lap();
        request.abandoned.check()?;

        // What reads like law but is not found in it word for word is someone's own wording.
        if understood.in_a_row.is_some() && !head.iter().any(|candidate| candidate.in_a_row) {
            understood.kind = understood.kind.without_its_words();
        }
        let weights = Weights::of(request.mode, understood.kind, &self.tuning, keyword.coverage());
        fuse(&mut head, weights);
        set_back_repeated_texts(&self.snapshot, &mut head);
        let ranking = Ranking::new(&understood.cited, head, &keyword, &self.dead);
        let mut hits = ranking.page(&page);
        let total = ranking.total(&keyword);
        stages.fuse = watch.lap();

        let facets = request.facets.then(|| facets::count(&self.snapshot, &ranking.all_matches(&keyword)));
        stages.facets = watch.lap();
        if request.explain {
            self.explain_hits(&mut hits, &ranking, &understood)?;
        }
        let explain = request.explain.then(|| QueryExplain::of(&understood, request.mode, &keyword));
        let Understood { words, kind, cited, is_citation_alone, .. } = understood;
        let weights = known.iter().map(KnownWord::weight).collect();
        let searched = Searched { words, weights, kind, cited, is_citation_alone };
        Ok(SearchResponse { hits, total, facets, explain, stages, searched })
    }

    /// A section number alone cites, where only few provisions of the range bear it: `55.1-1226` within Virginia.
    fn look_for_numbers(&self, understood: &mut Understood, range: OrdinalRange) -> Result<(), SearchError> {
        for term in &understood.numbers {
            let bearers = self.keyword.with_citation_term(term, range, NUMBER_CANDIDATES_MAX)?;
            let mut found = Vec::new();
            for node in bearers.into_iter().map(NodeOrdinal) {
                let citation = self.snapshot.cards.get(node)?.citation;
                if understand::number_of(citation).as_deref() == Some(term) {
                    found.push(node);
                }
            }
            if found.len() <= NUMBER_BEARERS_MAX {
                found.retain(|node| !understood.cited.contains(node));
                understood.cited.append(&mut found);
            }
        }
        Ok(())
    }

    /// Everything that a leg ranks high, but what is cited, which stands first anyhow.
    fn head(&self, understood: &Understood, keyword: &KeywordFound, nearest: &[SemanticCandidate]) -> Vec<Candidate> {
        let from_words = self.tuning.keyword_candidates;
        let mut head: Vec<Candidate> = Vec::with_capacity(nearest.len() + 2 * from_words);
        for (rank, found) in (1..).zip(nearest) {
            let matched = keyword.watched.binary_search_by_key(&found.node.0, |scored| scored.doc).ok();
            head.push(Candidate {
                similarity: Some(found.similarity),
                vector_rank: Some(rank),
                chunk: Some(found.chunk),
                keyword: matched.map(|place| keyword.watched[place].score),
                ..Candidate::new(found.node, self.dead.has(found.node.0))
            });
        }
        head.sort_unstable_by_key(|candidate| candidate.node);
        let known = head.len();
        for list in [&keyword.living, &keyword.dead] {
            for (rank, scored) in (1..).zip(list.iter().take(from_words)) {
                match head[..known].binary_search_by_key(&scored.doc, |candidate| candidate.node.0) {
                    Ok(place) => head[place].keyword_rank = Some(rank),
                    Err(_) => head.push(Candidate {
                        keyword: Some(scored.score),
                        keyword_rank: Some(rank),
                        ..Candidate::new(NodeOrdinal(scored.doc), self.dead.has(scored.doc))
                    }),
                }
            }
        }
        head.retain(|candidate| !understood.cited.contains(&candidate.node));
        head
    }

    /// Notes which of the best keyword matches have the words of the query in a row.
    fn look_for_rows(
        &self,
        understood: &Understood,
        keyword: &KeywordFound,
        head: &mut [Candidate],
    ) -> Result<(), SearchError> {
        let Some(row) = &understood.in_a_row else { return Ok(()) };
        let mut docs: Vec<u32> = keyword.living.iter().take(IN_A_ROW_CHECKED).map(|scored| scored.doc).collect();
        docs.sort_unstable();
        let found = self.keyword.having_in_a_row(row, &docs)?;
        for candidate in head {
            candidate.in_a_row = found.binary_search(&candidate.node.0).is_ok();
        }
        Ok(())
    }

    fn rerank(&self, understood: &Understood, head: &mut [Candidate]) {
        // The dead stand last, whatever they say.
        let living = |candidate: &&Candidate| !candidate.is_dead;
        let passages: Vec<_> = head.iter().filter(living).map(|candidate| (candidate.node, candidate.chunk)).collect();
        let sets = &self.snapshot.token_sets;
        let scores = Interaction::scores(&understood.content, &self.rarity, &self.likeness, sets, &passages);
        for (candidate, score) in head.iter_mut().filter(|candidate| !candidate.is_dead).zip(scores) {
            candidate.interaction = score;
        }
    }

    fn explain_hits(&self, hits: &mut [Hit], ranking: &Ranking, understood: &Understood) -> Result<(), SearchError> {
        for hit in hits {
            let matched_terms = self.keyword.terms_in(&understood.words, hit.node.0)?;
            let is_cited = understood.cited.contains(&hit.node);
            hit.explain = Some(HitExplain::of(hit, ranking.candidate(hit.node), is_cited, matched_terms));
        }
        Ok(())
    }
}

/// The provisions whose keyword scores are asked for whatever their rank, ascending.
fn watched(cited: &[NodeOrdinal], nearest: &[SemanticCandidate]) -> Vec<u32> {
    let mut watched: Vec<u32> =
        nearest.iter().map(|found| found.node).chain(cited.iter().copied()).map(|n| n.0).collect();
    watched.sort_unstable();
    watched.dedup();
    watched
}

struct Stopwatch(Instant);

impl Stopwatch {
    fn new() -> Self {
        Self(Instant::now())
    }

    /// Microseconds since the last lap.
    fn lap(&mut self) -> u32 {
        let now = Instant::now();
        let lap = now.duration_since(self.0);
        self.0 = now;
        u32::try_from(lap.as_micros()).unwrap_or(u32::MAX)
    }
}
