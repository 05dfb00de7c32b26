//! The complete ranking of one search, and the requested page of it.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::error::SearchError;
use super::feature::FeatureVector;
use super::fuse::{Candidate, Weights};
use super::keyword::{KeywordFound, Scored, by_rank};
use super::limits::RESULTS_MAX;
use super::request::{Hit, SearchRequest};

/// The positions of the requested results.
pub(super) struct PageRange {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl PageRange {
    pub(super) fn of(request: &SearchRequest<'_>) -> Result<Self, SearchError> {
        let SearchRequest { page, limit, .. } = *request;
        let end = page.checked_mul(limit).filter(|&end| (1..=RESULTS_MAX).contains(&end));
        let end = end.ok_or(SearchError::BeyondResults { page, limit })?;
        Ok(Self { start: (end - limit) as usize, end: end as usize })
    }
}

/// The complete ranking, as far as it may be needed.
pub(super) struct Ranking {
    cited: Vec<NodeOrdinal>,
    head: Vec<Candidate>,
    /// The keyword matches that are neither cited nor in the head, best first; as many as the page needs.
    tail: Vec<Scored>,
    /// How many of the cited provisions and of the head are keyword matches.
    keyword_matches: u32,
    /// The lowest score of the head, and the best keyword score of the tail. They scale the scores of
    /// the tail to continue those of the head.
    tail_scale: (f32, f32),
    weights: Weights,
    /// The positions of all hits that reach the minimum score; `None` if the request has no minimum.
    kept: Option<Vec<u32>>,
}

impl Ranking {
    /// `head` must be sorted by these weights. If `preferred` is given, only law in these ranges keeps
    /// its full score.
    pub(super) fn new(
        cited: &[NodeOrdinal],
        head: Vec<Candidate>,
        keyword: &KeywordFound,
        weights: Weights,
        preferred: Option<&OrdinalRanges>,
    ) -> Self {
        let mut placed: Vec<u32> =
            cited.iter().map(|node| node.0).chain(head.iter().map(|candidate| candidate.node.0)).collect();
        placed.sort_unstable();
        let is_elsewhere = |doc| preferred.is_some_and(|preferred| !preferred.contains(doc));
        let kept = |is_dead| {
            move |&Scored { doc, score }: &Scored| {
                let score = weights.score_factor(is_dead, is_elsewhere(doc)) * score;
                Scored { doc, score }
            }
        };
        let living = keyword.law_in_force.iter().map(kept(false));
        let mut tail: Vec<Scored> = living.chain(keyword.not_in_force.iter().map(kept(true))).collect();
        tail.retain(|scored| placed.binary_search(&scored.doc).is_err());
        tail.sort_unstable_by(by_rank);
        let is_match = |node: &&NodeOrdinal| keyword.watched.binary_search_by_key(&node.0, |scored| scored.doc).is_ok();
        let cited_matches = cited.iter().filter(is_match).count();
        let head_matches = head.iter().filter(|candidate| candidate.keyword.is_some()).count();
        let floor_fused = head.iter().map(|candidate| candidate.fused).fold(1.0, f32::min);
        let floor_keyword = tail.first().map_or(1.0, |scored| scored.score);
        Self {
            cited: cited.to_vec(),
            keyword_matches: (cited_matches + head_matches) as u32,
            tail_scale: (floor_fused, floor_keyword.max(1e-6)),
            tail,
            head,
            weights,
            kept: None,
        }
    }

    /// Keeps only the hits with at least this score. Keyword search must have kept all its matches.
    pub(super) fn apply_min_score(&mut self, min_score: f32, keyword: &KeywordFound) {
        if min_score > 0.0 {
            let places = 0..self.total(keyword);
            let reaches = |&place: &u32| self.scored(place as usize).is_some_and(|(_, score)| score >= min_score);
            self.kept = Some(places.filter(reaches).collect());
        }
    }

    pub(super) fn head(&self) -> &[Candidate] {
        &self.head
    }

    /// The contribution of each feature to the score of a candidate, before the reductions for law that
    /// is no longer in force or of another place.
    pub(super) fn shares(&self, candidate: &Candidate) -> FeatureVector {
        candidate.features.weighted(&self.weights.features)
    }

    pub(super) fn total(&self, keyword: &KeywordFound) -> u32 {
        if let Some(kept) = &self.kept {
            return kept.len() as u32;
        }
        keyword.total + (self.cited.len() + self.head.len()) as u32 - self.keyword_matches
    }

    pub(super) fn all_matches(&self, keyword: &KeywordFound) -> Vec<u32> {
        let mut all: Vec<u32> = match &self.kept {
            Some(kept) => {
                kept.iter().filter_map(|&place| self.scored(place as usize)).map(|(node, _)| node.0).collect()
            }
            None => {
                let head = self.head.iter().map(|candidate| candidate.node.0);
                let placed = self.cited.iter().map(|node| node.0).chain(head);
                keyword.matches.iter().copied().chain(placed).collect()
            }
        };
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn candidate(&self, node: NodeOrdinal) -> Option<&Candidate> {
        self.head.iter().find(|candidate| candidate.node == node)
    }

    pub(super) fn page(&self, page: &PageRange) -> Vec<Hit> {
        match &self.kept {
            Some(kept) => {
                let places = kept.iter().take(page.end).skip(page.start);
                places.filter_map(|&place| self.hit(place as usize)).collect()
            }
            None => (page.start..page.end).map_while(|place| self.hit(place)).collect(),
        }
    }

    fn hit(&self, place: usize) -> Option<Hit> {
        let (node, score) = self.scored(place)?;
        let in_head = place.checked_sub(self.cited.len()).and_then(|place| self.head.get(place));
        Some(Hit::new(node, score, in_head.and_then(|candidate| candidate.chunk)))
    }

    /// The provision at a position of the ranking, with its score.
    fn scored(&self, mut place: usize) -> Option<(NodeOrdinal, f32)> {
        if let Some(&node) = self.cited.get(place) {
            return Some((node, 1.0));
        }
        place -= self.cited.len();
        if let Some(candidate) = self.head.get(place) {
            return Some((candidate.node, candidate.fused));
        }
        place -= self.head.len();
        let scored = self.tail.get(place)?;
        Some((NodeOrdinal(scored.doc), self.tail_scale.0 * scored.score / self.tail_scale.1))
    }
}
