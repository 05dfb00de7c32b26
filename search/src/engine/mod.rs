//! The search engine: one snapshot, opened for searching, and the steps of a search.

mod places;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hornbook_corpus::damage::catch_panic_as_damage;
use hornbook_corpus::day::Day;
use hornbook_corpus::encoded::EncodedSpace;
use hornbook_corpus::ids::{NodeOrdinal, OrdinalRange};
use hornbook_corpus::keyword;
use hornbook_corpus::nodes::ArchivedNodeRecord;
use hornbook_corpus::ranges::OrdinalRanges;
use hornbook_corpus::snapshot::Snapshot;

use crate::bare_number::cite_bare_numbers;
use crate::compound::add_compounds;
use crate::error::{DeepUnavailable, SearchError};
use crate::facets;
use crate::feature::{FeatureVector, RankingFeature};
use crate::filter::SearchScope;
use crate::fuse::{Candidate, Weights, demote_duplicate_texts, fuse};
use crate::heading_match::mark_headings;
use crate::idle_core::{IdleCore, SearchingThread};
use crate::keyword::{Constraints, KeywordFound, KeywordLeg, KeywordQuery, KnownWord, is_selective};
use crate::law_on_day::{LawByDay, LawOnDay};
use crate::places::Places;
use crate::ranking::{PageRange, Ranking};
use crate::related_provisions::RelatedProvisions;
use crate::request::{Depth, Hit, HitExplain, Mode, QueryExplain, SearchRequest, SearchResponse, ShownQuery};
use crate::rerank::{Interaction, SimilarityCurve, TokenRarity};
use crate::resolve::tables::ResolveTables;
use crate::semantic::{self, QueryVectors, SemanticCandidate, SemanticLimits};
use crate::stages::{Stage, Stopwatch};
use crate::tuning::Tuning;
use crate::understand::{ParseOptions, ParsedQuery, QueryKind, QueryWord, SynonymTable, check_query, understand};
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

    fn constrain(
        &self,
        understood: &ParsedQuery,
        known: Vec<KnownWord>,
        scope: &SearchScope<'_>,
    ) -> Result<SearchTerms, SearchError> {
        let constraints = self.keyword.constraints(&understood.phrases, &understood.excluded, &scope.ranges)?;
        Ok(SearchTerms { known, constraints })
    }

    /// The vectors of a query, if the mode needs them.
    fn query_vectors(&self, request: &SearchRequest<'_>, understood: &ParsedQuery) -> Option<QueryVectors> {
        let (depth, weights) = (request.depth, self.tuning.weights(request.depth, understood.kind));
        (request.mode != Mode::Keyword).then(|| QueryVectors::of(&self.snapshot, depth, &understood.meaning, &weights))
    }

    /// How many chunks semantic search considers, and the minimum similarity. The minimum is higher if
    /// the index contains no word of the query.
    fn nearness(&self, request: &SearchRequest<'_>, understood: &ParsedQuery, terms: &SearchTerms) -> SemanticLimits {
        let Tuning { deep, .. } = &self.tuning;
        let has_known_words = terms.known.iter().any(|word| word.weight().is_some());
        let floor = match has_known_words {
            true => self.tuning.similarity_floor,
            false => self.tuning.similarity_floor_without_words,
        };
        let encoded_floor = match (request.depth, has_known_words) {
            (Depth::Fast, true) => self.tuning.encoded_floor,
            (Depth::Fast, false) => self.tuning.encoded_floor_without_words,
            (Depth::Deep, true) => deep.floor,
            (Depth::Deep, false) => deep.floor_without_words,
        };
        let count = match request.mode {
            Mode::Hybrid => self.tuning.of(request.depth, understood.kind).chunk_candidates,
            Mode::Semantic | Mode::Keyword => self.tuning.chunk_candidates,
        };
        SemanticLimits { count, floor, encoded_floor }
    }

    /// Runs both searches. Keyword search also scores the provisions that semantic search finds. If a
    /// core is idle, keyword search starts before they are known.
    fn retrieve(
        &self,
        request: &SearchRequest<'_>,
        scope: &SearchScope<'_>,
        page: &PageRange,
        cited: &[NodeOrdinal],
        terms: &SearchTerms,
        nearest: impl FnOnce() -> Result<Vec<SemanticCandidate>, SearchError>,
    ) -> Result<(Vec<SemanticCandidate>, KeywordFound), SearchError> {
        if request.mode == Mode::Semantic {
            return Ok((nearest()?, KeywordFound::default()));
        }
        let query = self.keyword_query(request, scope, page, terms, &scope.ranges);
        let Some(spare) = IdleCore::reserve_idle(scope.ranges.len()) else {
            let nearest = nearest()?;
            let keyword = self.keyword.search(&query, &always_scored(cited, &nearest))?;
            return Ok((nearest, keyword));
        };
        let shared = self.keyword.shared_search(&query);
        let here = || {
            let nearest = nearest().inspect_err(|_| shared.stop())?;
            shared.watch(always_scored(cited, &nearest));
            Ok::<_, SearchError>((nearest, shared.search_parts()?))
        };
        let (here, there) = spare.run_both(here, || shared.search_parts());
        let (nearest, of_here) = here?;
        Ok((nearest, shared.finish([of_here, there?])?))
    }

    fn keyword_query<'q>(
        &self,
        request: &SearchRequest<'_>,
        scope: &'q SearchScope<'_>,
        page: &PageRange,
        terms: &'q SearchTerms,
        ranges: &'q OrdinalRanges,
    ) -> KeywordQuery<'q> {
        // With a minimum score, all matches are kept: which of them reach it is known only after scoring.
        let wanted = if request.filter.min_score > 0.0 { self.snapshot.outline.len() as usize } else { page.end };
        KeywordQuery {
            words: &terms.known,
            constraints: &terms.constraints,
            ranges,
            admission: scope.admission.as_ref(),
            keep: self.tuning.keyword_candidates.max(wanted),
            list_matches: request.facets,
            not_in_force: &scope.law.not_law,
        }
    }

    /// Fuses the scores of the head and appends the other matches.
    fn rank(
        &self,
        request: &SearchRequest<'_>,
        understood: &mut ParsedQuery,
        mut head: Vec<Candidate>,
        keyword: &KeywordFound,
        preferred: Option<&OrdinalRanges>,
    ) -> Ranking {
        // The query reads like text of the law, but no candidate contains it word for word: it is the
        // user's own wording.
        if understood.word_sequence.is_some() && !head.iter().any(|candidate| candidate.in_a_row) {
            understood.kind = understood.kind.if_not_verbatim();
        }
        let weights = Weights::of(request.mode, request.depth, understood.kind, &self.tuning, keyword.coverage());
        fuse(&mut head, &weights);
        demote_duplicate_texts(&self.snapshot, &mut head);
        Ranking::new(&understood.cited, head, keyword, weights, preferred)
    }

    /// The head: all candidates that either search ranks high. Cited provisions are left out because
    /// they come first anyway.
    fn head(
        &self,
        law: &LawOnDay,
        understood: &ParsedQuery,
        keyword: &KeywordFound,
        nearest: &[SemanticCandidate],
        preferred: Option<&OrdinalRanges>,
    ) -> Vec<Candidate> {
        let from_words = self.tuning.keyword_candidates;
        let mut head: Vec<Candidate> = Vec::with_capacity(nearest.len() + 2 * from_words);
        for found in nearest {
            let matched = keyword.watched.binary_search_by_key(&found.node.0, |scored| scored.doc).ok();
            head.push(Candidate {
                near: found.near,
                encoded: found.encoded,
                chunk: Some(found.chunk),
                keyword: matched.map(|place| keyword.watched[place].score),
                ..self.candidate(law, found.node)
            });
        }
        head.sort_unstable_by_key(|candidate| candidate.node);
        let known = head.len();
        for list in keyword.best(from_words) {
            for (rank, scored) in (1..).zip(list) {
                match head[..known].binary_search_by_key(&scored.doc, |candidate| candidate.node.0) {
                    Ok(place) => head[place].keyword_rank = Some(rank),
                    Err(_) => head.push(Candidate {
                        keyword: Some(scored.score),
                        keyword_rank: Some(rank),
                        ..self.candidate(law, NodeOrdinal(scored.doc))
                    }),
                }
            }
        }
        head.retain(|candidate| !understood.cited.contains(&candidate.node));
        if let Some(preferred) = preferred {
            for candidate in &mut head {
                candidate.is_outside_place = !preferred.contains(candidate.node.0);
            }
        }
        head
    }

    /// A candidate with the values that do not depend on the query.
    fn candidate(&self, law: &LawOnDay, node: NodeOrdinal) -> Candidate {
        Candidate {
            cited_by: self.snapshot.references.incoming(node).len(),
            ..Candidate::new(node, law.not_law.has(node.0))
        }
    }

    /// Corrects keyword scores for hidden wordings. The keyword index stores all wordings of a
    /// provision as one document. Words that occur only in wordings other than the shown one count
    /// nothing, and a provision that matches only by such words does not match.
    fn discount_hidden_wordings(
        &self,
        law: &LawOnDay,
        understood: &ParsedQuery,
        terms: &SearchTerms,
        keyword: &mut KeywordFound,
        head: &mut Vec<Candidate>,
    ) -> Result<(), SearchError> {
        for candidate in head.iter_mut().filter(|candidate| law.hides_wordings_of(candidate.node)) {
            let Some(score) = candidate.keyword else { continue };
            let hidden = law.hidden_words(candidate.node)?;
            let in_phrases = || understood.phrases.iter().flatten();
            let asked = understood.words.iter().flat_map(QueryWord::terms).chain(in_phrases());
            if !asked.into_iter().any(|term| hidden.has(term)) {
                continue;
            }
            let (mut matched, mut kept) = (0.0, 0.0);
            for (word, known) in understood.words.iter().zip(&terms.known) {
                let found = self.keyword.terms_in(std::slice::from_ref(word), candidate.node.0)?;
                let weight = known.weight().filter(|_| !found.is_empty()).unwrap_or_default();
                matched += weight;
                let is_shown = found.iter().any(|term| !hidden.has(term))
                    || self.keyword.is_in_context(&found, candidate.node.0)?;
                kept += if is_shown { weight } else { 0.0 };
            }
            let has_phrases = !in_phrases().any(|term| hidden.has(term));
            candidate.keyword = (kept > 0.0 && has_phrases).then(|| score * kept / matched);
            if candidate.keyword.is_none() {
                keyword.remove_match(candidate.node.0);
            }
        }
        head.retain(|candidate| candidate.keyword.is_some() || candidate.near.is_some() || candidate.encoded.is_some());
        Ok(())
    }

    fn rerank(&self, understood: &ParsedQuery, head: &mut [Candidate]) {
        let passages: Vec<_> = head.iter().map(|candidate| (candidate.node, candidate.chunk)).collect();
        let sets = &self.snapshot.token_sets;
        let scores = Interaction::scores(&understood.content, &self.rarity, &self.likeness, sets, &passages);
        for (candidate, score) in head.iter_mut().zip(scores) {
            candidate.interaction = score;
        }
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

/// The given nodes that are in the ranges.
fn nodes_in_ranges(ranges: &OrdinalRanges, nodes: &[u32]) -> Vec<u32> {
    nodes.iter().copied().filter(|&node| ranges.contains(node)).collect()
}

/// The provisions whose keyword scores are needed regardless of rank, in ascending order.
fn always_scored(cited: &[NodeOrdinal], nearest: &[SemanticCandidate]) -> Vec<u32> {
    let mut watched: Vec<u32> =
        nearest.iter().map(|found| found.node).chain(cited.iter().copied()).map(|n| n.0).collect();
    watched.sort_unstable();
    watched.dedup();
    watched
}
