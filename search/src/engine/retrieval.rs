//! The steps between a parsed query and its ranking: both searches, the head of the result and its scores.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::{Engine, SearchTerms};
use crate::error::SearchError;
use crate::filter::SearchScope;
use crate::fuse::{Candidate, Weights, demote_duplicate_texts, fuse};
use crate::idle_core::IdleCore;
use crate::keyword::{KeywordFound, KeywordQuery, KnownWord};
use crate::law_on_day::LawOnDay;
use crate::ranking::{PageRange, Ranking};
use crate::request::{Depth, Mode, SearchRequest};
use crate::rerank::Interaction;
use crate::semantic::{QueryVectors, SemanticCandidate, SemanticLimits};
use crate::tuning::Tuning;
use crate::understand::{ParsedQuery, QueryWord};

impl Engine {
    pub(super) fn constrain(
        &self,
        understood: &ParsedQuery,
        known: Vec<KnownWord>,
        scope: &SearchScope<'_>,
    ) -> Result<SearchTerms, SearchError> {
        let constraints = self.keyword.constraints(&understood.phrases, &understood.excluded, &scope.ranges)?;
        Ok(SearchTerms { known, constraints })
    }

    /// The vectors of a query, if the mode needs them.
    pub(super) fn query_vectors(&self, request: &SearchRequest<'_>, understood: &ParsedQuery) -> Option<QueryVectors> {
        let (depth, weights) = (request.depth, self.tuning.weights(request.depth, understood.kind));
        (request.mode != Mode::Keyword).then(|| QueryVectors::of(&self.snapshot, depth, &understood.meaning, &weights))
    }

    /// How many chunks semantic search considers, and the minimum similarity. The minimum is higher if
    /// the index contains no word of the query.
    pub(super) fn nearness(
        &self,
        request: &SearchRequest<'_>,
        understood: &ParsedQuery,
        terms: &SearchTerms,
    ) -> SemanticLimits {
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
    pub(super) fn retrieve(
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

    pub(super) fn keyword_query<'q>(
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
    pub(super) fn rank(
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
    pub(super) fn head(
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
    pub(super) fn discount_hidden_wordings(
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

    pub(super) fn rerank(&self, understood: &ParsedQuery, head: &mut [Candidate]) {
        let passages: Vec<_> = head.iter().map(|candidate| (candidate.node, candidate.chunk)).collect();
        let sets = &self.snapshot.token_sets;
        let scores = Interaction::scores(&understood.content, &self.rarity, &self.likeness, sets, &passages);
        for (candidate, score) in head.iter_mut().zip(scores) {
            candidate.interaction = score;
        }
    }
}

/// The provisions whose keyword scores are needed regardless of rank, in ascending order.
pub(super) fn always_scored(cited: &[NodeOrdinal], nearest: &[SemanticCandidate]) -> Vec<u32> {
    let mut watched: Vec<u32> =
        nearest.iter().map(|found| found.node).chain(cited.iter().copied()).map(|n| n.0).collect();
    watched.sort_unstable();
    watched.dedup();
    watched
}
