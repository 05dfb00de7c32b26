//! The search engine: one snapshot, opened for searching, and the steps of a search.

mod places;
mod retrieval;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hornbook_corpus::damage::catch_panic_as_damage;
use hornbook_corpus::day::Day;
use hornbook_corpus::encoded::EncodedSpace;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::keyword;
use hornbook_corpus::nodes::ArchivedNodeRecord;
use hornbook_corpus::snapshot::Snapshot;

use crate::bare_number::cite_bare_numbers;
use crate::compound::add_compounds;
use crate::error::{DeepUnavailable, SearchError};
use crate::facets;
use crate::feature::{FeatureVector, RankingFeature};
use crate::filter::SearchScope;
use crate::heading_match::mark_headings;
use crate::idle_core::SearchingThread;
use crate::keyword::{Constraints, KeywordFound, KeywordLeg, KnownWord, is_selective};
use crate::law_on_day::{LawByDay, LawOnDay};
use crate::places::Places;
use crate::ranking::{PageRange, Ranking};
use crate::related_provisions::RelatedProvisions;
use crate::request::{Depth, Hit, HitExplain, Mode, QueryExplain, SearchRequest, SearchResponse, ShownQuery};
use crate::rerank::{SimilarityCurve, TokenRarity};
use crate::resolve::tables::ResolveTables;
use crate::semantic;
use crate::stages::{Stage, Stopwatch};
use crate::tuning::Tuning;
use crate::understand::{ParseOptions, ParsedQuery, QueryKind, SynonymTable, check_query, understand};
use crate::word_sequence::mark_sequences;

/// Searches one snapshot.
pub struct Engine {
    snapshot: Arc<Snapshot>,
    pub(super) keyword: KeywordLeg,
    rarity: TokenRarity,
    likeness: SimilarityCurve,
    law: LawByDay,
    places: Places,
    /// For each source, the date through which it is current.
    source_dates: Vec<Option<Day>>,
    pub(super) resolve_tables: ResolveTables,
    tuning: Tuning,
    /// The operator's own, beside those of the program.
    pub(super) synonyms: Arc<SynonymTable>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("snapshot", &self.snapshot.dir()).finish_non_exhaustive()
    }
}

/// The candidates of a search, for training the weights.
#[derive(Clone, Debug)]
pub struct Candidates {
    pub kind: QueryKind,
    /// The candidates with their features. The keyword feature is already reduced by the keyword
    /// coverage of the query.
    pub found: Vec<(NodeOrdinal, FeatureVector)>,
}

/// The words of a query as the index knows them, and what a match must and must not contain.
struct SearchTerms {
    known: Vec<KnownWord>,
    constraints: Constraints,
}

/// A query that is ready to search for: the understood query, its words as the index knows them, and
/// the corrected text if any word was corrected.
type PreparedSearch = (ParsedQuery, Vec<KnownWord>, Option<String>);

/// A search whose results are ranked.
struct RankedSearch {
    understood: ParsedQuery,
    corrected: Option<String>,
    terms: SearchTerms,
    keyword: KeywordFound,
    ranking: Ranking,
    hits: Vec<Hit>,
}

/// Runs `read` on the files of a snapshot. A panic, as damaged files can cause, becomes an error of this call.
fn catch_damage<T>(dir: &Path, read: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    catch_panic_as_damage(read).unwrap_or_else(|what| Err(SearchError::Unreadable { dir: dir.to_owned(), what }))
}

impl Engine {
    /// Opens a snapshot with the measured tuning. Computes token rarities and reads which provisions
    /// are not in force, in a few milliseconds.
    pub fn new(snapshot: Arc<Snapshot>) -> Result<Self, SearchError> {
        Self::with_tuning(snapshot, Tuning::default())
    }

    /// Opens a snapshot, with synonyms of the operator's own.
    pub fn with_synonyms(snapshot: Arc<Snapshot>, synonyms: Arc<SynonymTable>) -> Result<Self, SearchError> {
        Ok(Self { synonyms, ..Self::new(snapshot)? })
    }

    /// Opens a snapshot with another tuning, for measurements.
    pub fn with_tuning(snapshot: Arc<Snapshot>, tuning: Tuning) -> Result<Self, SearchError> {
        let keyword_dir = snapshot.dir().join(keyword::DIRECTORY_NAME);
        catch_damage(&keyword_dir, || Self::with_tuning_unguarded(snapshot, tuning))
    }

    fn with_tuning_unguarded(snapshot: Arc<Snapshot>, tuning: Tuning) -> Result<Self, SearchError> {
        let keyword = KeywordLeg::open(&snapshot.keyword, &tuning).map_err(SearchError::Index)?;
        let rarity = TokenRarity::of(&snapshot.token_sets, &snapshot.chunks);
        let law = LawByDay::of(&snapshot);
        let sources = snapshot.catalogue.sources.iter();
        let through = sources.map(|source| source.current_through.as_ref()?.parse().ok()).collect();
        // Build the grammar now. Otherwise the first query that needs it would have to wait.
        snapshot.grammar();
        let tuning = tuning.for_spaces(snapshot.encoded.as_ref().is_some_and(EncodedSpace::has_query_table));
        let likeness = SimilarityCurve::of(&tuning);
        let places = Places::of(&snapshot.catalogue);
        let resolve_tables = ResolveTables::default();
        let synonyms = Arc::default();
        Ok(Self {
            keyword,
            rarity,
            likeness,
            law,
            places,
            source_dates: through,
            tuning,
            snapshot,
            resolve_tables,
            synonyms,
        })
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The operator's own synonyms.
    pub fn synonyms(&self) -> &Arc<SynonymTable> {
        &self.synonyms
    }

    /// Empties the caches of common terms for good: another snapshot is served now, and only searches
    /// that are already running still use this one.
    pub fn release_memory(&self) {
        self.keyword.release_memory();
    }

    /// The law as it is on a day; without a day, as of the latest date of each source.
    pub fn law_on(&self, day: Option<Day>) -> Arc<LawOnDay> {
        self.law.on(day)
    }

    /// The date through which the edition of a node is current, if its source states one.
    pub fn current_through(&self, node: NodeOrdinal) -> Result<Option<Day>, SearchError> {
        let card = self.snapshot.cards.get(node)?;
        if !card.has_own_date {
            return Ok(self.source_dates.get(usize::from(card.source)).copied().flatten());
        }
        let own = |record: &ArchivedNodeRecord| record.current_through.as_ref().and_then(|date| date.parse().ok());
        Ok(self.snapshot.nodes.with_archived(node, own)?)
    }

    /// The oldest of the dates through which the sources of a range are current; none if any of them
    /// states no date.
    pub fn oldest_current_through(&self, nodes: OrdinalRange) -> Option<Day> {
        let mut sources: Vec<u16> =
            nodes.iter().filter_map(|node| self.snapshot.cards.source(NodeOrdinal(node))).collect();
        sources.sort_unstable();
        sources.dedup();
        let days = sources.into_iter().map(|source| self.source_dates.get(usize::from(source)).copied().flatten());
        days.collect::<Option<Vec<Day>>>()?.into_iter().min()
    }

    /// The weights in use. A vector space that the snapshot does not have gets weight 0.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Whether deep searches are possible: the snapshot must have an encoder that this program can run.
    pub fn deep_ready(&self) -> Result<(), DeepUnavailable> {
        match &self.snapshot.encoded {
            Some(encoded) if encoded.has_encoder() => Ok(()),
            Some(encoded) if encoded.stores_encoder() => Err(DeepUnavailable::NotBuiltIn),
            _ => Err(DeepUnavailable::NoEncoder),
        }
    }

    /// The range of all nodes, which is searched if no filter is set.
    pub(super) fn all_nodes(&self) -> OrdinalRange {
        OrdinalRange { start: 0, end: self.snapshot.outline.len() }
    }

    /// Searches the snapshot. Each step is timed; between steps, the search stops if its client has
    /// disconnected.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchResponse, SearchError> {
        self.guarded(|| self.search_unguarded(request))
    }

    /// Guards code that reads postings: tantivy decodes them without checks and panics if they are damaged.
    pub(super) fn guarded<T>(&self, read: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
        catch_damage(self.snapshot.dir(), read)
    }

    fn search_unguarded(&self, request: &SearchRequest<'_>) -> Result<SearchResponse, SearchError> {
        check_query(request.query)?;
        if request.depth == Depth::Deep {
            self.deep_ready().map_err(SearchError::NotDeep)?;
        }
        let page = PageRange::of(request)?;
        let law = self.law_on(request.day);
        let mut scope = SearchScope::of(&self.snapshot, &law, request.filter);
        let _at_work = SearchingThread::begin();
        let mut watch = Stopwatch::start();

        let understood = self.understand(request, request.query)?;
        if understood.is_citation_alone && !understood.cited.is_empty() {
            return self.search_citation(request, &scope, &page, understood, watch);
        }
        let read = self.prepare_search(request, understood, &mut scope)?;
        watch.end(Stage::Understand);
        request.cancel_check.check()?;
        let ranked = self.retrieve_and_rank(request, &scope, &page, read, &mut watch)?;
        self.respond(request, ranked, watch)
    }

    /// The candidates in the head of a search with their features, best first, for training a ranking
    /// model. Cited provisions are not among them.
    pub fn candidates(&self, request: &SearchRequest<'_>) -> Result<Candidates, SearchError> {
        self.guarded(|| self.candidates_unguarded(request))
    }

    fn candidates_unguarded(&self, request: &SearchRequest<'_>) -> Result<Candidates, SearchError> {
        check_query(request.query)?;
        let law = self.law_on(request.day);
        let mut scope = SearchScope::of(&self.snapshot, &law, request.filter);
        let read = self.prepare_search(request, self.understand(request, request.query)?, &mut scope)?;
        let ranked =
            self.retrieve_and_rank(request, &scope, &PageRange::of(request)?, read, &mut Stopwatch::start())?;
        let coverage = ranked.keyword.coverage().powf(self.tuning.coverage_power);
        let head = ranked.ranking.head().iter().map(|candidate| {
            let mut features = candidate.features;
            features.set(RankingFeature::Keyword, coverage * features.get(RankingFeature::Keyword));
            (candidate.node, features)
        });
        Ok(Candidates { kind: ranked.understood.kind, found: head.collect() })
    }

    /// Retrieves candidates with keyword and semantic search and ranks them. Each step is timed.
    fn retrieve_and_rank(
        &self,
        request: &SearchRequest<'_>,
        scope: &SearchScope<'_>,
        page: &PageRange,
        (mut understood, known, corrected): PreparedSearch,
        watch: &mut Stopwatch,
    ) -> Result<RankedSearch, SearchError> {
        let terms = self.constrain(&understood, known, scope)?;
        watch.end(Stage::Keyword);
        let vectors = self.query_vectors(request, &understood);
        watch.end(Stage::Embed);
        let nearness = self.nearness(request, &understood, &terms);
        let mut nearest = || {
            let find = |vectors| semantic::candidates(&self.snapshot, vectors, scope, &terms.constraints, nearness);
            let nearest = vectors.as_ref().map_or_else(Vec::new, find);
            watch.end(Stage::Vector);
            request.cancel_check.check().map(|()| nearest)
        };
        let preferred = self.preferred_ranges(&understood);
        let (nearest, mut keyword) = match &preferred {
            None => self.retrieve(request, scope, page, &understood.cited, &terms, nearest)?,
            Some(preferred) => {
                let nearest = nearest()?;
                let near = (understood.cited.as_slice(), nearest.as_slice());
                let found = self.retrieve_preferring(request, scope, page, &terms, near, preferred)?;
                (nearest, found)
            }
        };
        request.cancel_check.check()?;
        let mut head = self.head(scope.law, &understood, &keyword, &nearest, preferred.as_ref());
        self.discount_hidden_wordings(scope.law, &understood, &terms, &mut keyword, &mut head)?;
        if request.mode != Mode::Semantic {
            mark_sequences(&self.keyword, &understood, &keyword, &mut head)?;
            mark_headings(&self.snapshot.cards, &understood, &keyword, &mut head)?;
        }
        watch.end(Stage::Keyword);
        request.cancel_check.check()?;

        if let Some(vectors) = &vectors {
            semantic::add_missing_similarities(&self.snapshot, scope.law, vectors, &mut head);
        }
        if request.mode != Mode::Keyword {
            self.rerank(&understood, &mut head);
        }
        watch.end(Stage::Rerank);
        request.cancel_check.check()?;

        let mut ranking = self.rank(request, &mut understood, head, &keyword, preferred.as_ref());
        ranking.apply_min_score(request.filter.min_score, &keyword);
        let mut hits = ranking.page(page);
        for hit in &mut hits {
            hit.shown = scope.law.shown(hit.node);
        }
        watch.end(Stage::Fuse);
        Ok(RankedSearch { understood, corrected, terms, keyword, ranking, hits })
    }

    /// Prepares a query for searching: narrows the scope to a place that the query names, corrects
    /// misspelt words, and looks up the words in the index.
    fn prepare_search(
        &self,
        request: &SearchRequest<'_>,
        mut understood: ParsedQuery,
        scope: &mut SearchScope<'_>,
    ) -> Result<PreparedSearch, SearchError> {
        self.restrict_to_place(&understood, request, scope);
        let corrected = match request.exact {
            true => None,
            false => self.corrected(request.query, &understood, &scope.ranges)?,
        };
        if let Some(text) = &corrected {
            understood = self.understand(request, text)?;
            // A corrected word can change what the neighbouring place name means.
            self.restrict_to_place(&understood, request, scope);
        }
        self.drop_out_of_scope(&mut understood, scope)?;
        let known = self.keyword.look_up(&understood.words)?;
        Ok((understood, known, corrected))
    }

    fn understand(&self, request: &SearchRequest<'_>, query: &str) -> Result<ParsedQuery, SearchError> {
        let reading = ParseOptions {
            synonym_share: if request.exact { 0.0 } else { self.tuning.synonym_share },
            own_synonyms: &self.synonyms,
            places: (!request.exact).then_some(&self.places),
            ranges: request.filter.ranges.as_ref(),
        };
        let mut understood = understand(&self.snapshot, query, reading)?;
        if !request.exact {
            add_compounds(&self.keyword, &mut understood)?;
        }
        Ok(understood)
    }

    /// Drops cited provisions outside the scope. If none remains, a bare section number may cite one.
    fn drop_out_of_scope(&self, understood: &mut ParsedQuery, scope: &SearchScope<'_>) -> Result<(), SearchError> {
        understood.cited.retain(|&node| scope.contains(node));
        if understood.cited.is_empty() {
            cite_bare_numbers(&self.snapshot, &self.keyword, understood, scope)?;
        }
        Ok(())
    }

    /// Answers a query that consists only of a citation.
    fn search_citation(
        &self,
        request: &SearchRequest<'_>,
        scope: &SearchScope<'_>,
        page: &PageRange,
        understood: ParsedQuery,
        mut watch: Stopwatch,
    ) -> Result<SearchResponse, SearchError> {
        let around = RelatedProvisions::of(&self.snapshot, &understood.cited, scope, request.filter.min_score);
        watch.end(Stage::Understand);
        let known = self.keyword.look_up(&understood.words)?;
        watch.end(Stage::Keyword);
        let mut hits = around.page(page, scope.law);
        watch.end(Stage::Fuse);
        let facets = request.facets.then(|| facets::count(&self.snapshot, &around.matches()));
        watch.end(Stage::Facets);
        if request.explain {
            for hit in &mut hits {
                hit.explain = Some(HitExplain::explain_related(hit));
            }
        }
        let explain = request.explain.then(|| QueryExplain::of(&understood, request.mode, &KeywordFound::default()));
        let unrestricting = unselective_phrases(&understood);
        let (total, searched) = (around.total(), searched(understood, &known));
        let stages = watch.stages;
        Ok(SearchResponse {
            hits,
            total,
            depth: Depth::Fast,
            corrected_query: None,
            understood: None,
            not_loaded: None,
            unrestricting,
            facets,
            explain,
            stages,
            searched,
        })
    }

    /// Builds the response, with facets and explanations if the request asks for them.
    fn respond(
        &self,
        request: &SearchRequest<'_>,
        ranked: RankedSearch,
        mut watch: Stopwatch,
    ) -> Result<SearchResponse, SearchError> {
        let RankedSearch { understood, corrected, terms, keyword, ranking, mut hits } = ranked;
        let facets = request.facets.then(|| facets::count(&self.snapshot, &ranking.all_matches(&keyword)));
        watch.end(Stage::Facets);
        if request.explain {
            self.explain_hits(&mut hits, &ranking, &understood)?;
        }
        let explain = request.explain.then(|| QueryExplain::of(&understood, request.mode, &keyword));
        let query = corrected.as_deref().unwrap_or(request.query);
        let named = understood.place.as_ref().and_then(|place| self.understood_place(query, place));
        let not_loaded = understood.place.as_ref().and_then(|place| self.not_loaded(place));
        let unrestricting = unselective_phrases(&understood);
        let (total, searched) = (ranking.total(&keyword), searched(understood, &terms.known));
        let depth = if request.mode == Mode::Keyword { Depth::Fast } else { request.depth };
        let stages = watch.stages;
        Ok(SearchResponse {
            hits,
            total,
            depth,
            corrected_query: corrected,
            understood: named,
            not_loaded,
            unrestricting,
            facets,
            explain,
            stages,
            searched,
        })
    }

    fn explain_hits(&self, hits: &mut [Hit], ranking: &Ranking, understood: &ParsedQuery) -> Result<(), SearchError> {
        for hit in hits {
            let matched_terms = self.keyword.terms_in(&understood.words, hit.node.0)?;
            let is_cited = understood.cited.contains(&hit.node);
            let candidate = ranking.candidate(hit.node).map(|candidate| (candidate, ranking.shares(candidate)));
            hit.explain = Some(HitExplain::of(hit, candidate, is_cited, matched_terms));
        }
        Ok(())
    }
}

/// The phrases that neither require nor exclude anything because they consist of stop words, as terms.
fn unselective_phrases(understood: &ParsedQuery) -> Vec<String> {
    let phrases = understood.phrases.iter().chain(&understood.excluded);
    phrases.filter(|phrase| !is_selective(phrase)).map(|phrase| phrase.join(" ")).collect()
}

fn searched(understood: ParsedQuery, known: &[KnownWord]) -> ShownQuery {
    let ParsedQuery { words, kind, .. } = understood;
    let weights = known.iter().map(KnownWord::weight).collect();
    ShownQuery { words, weights, kind }
}
