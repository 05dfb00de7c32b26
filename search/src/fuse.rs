//! Fusion: merges the results of both legs, and other features of a candidate, into one ranking.
//!
//! The scores of each leg are divided by its best score. They are then weighted and summed together
//! with the other features (`feature`). Fusing by ranks alone would let the weaker leg spoil the
//! better one. A scale from the worst to the best candidate would depend on the number of
//! candidates. The weight of the keyword leg depends on the kind of query, and on how much of the
//! query its best match contains. Law no longer in force keeps only a part of its score.
//!
//! The head of the result consists of everything that a leg ranks high. It is fused once and is the
//! same for every page. The other keyword matches follow, ordered by their scores.

use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::Span;

use super::feature::{FeatureVector, RankingFeature};
use super::request::{Depth, Mode};
use super::tuning::Tuning;
use super::understand::QueryKind;

/// A provision that this many others cite, or more, gets the full value of the citation feature.
const CITED_BY_MAX: f32 = 1000.0;

/// The weight of each feature, and the factors that reduce the score of law no longer in force and
/// of law outside the place that the query probably names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    pub features: FeatureVector,
    pub dead: f32,
    pub elsewhere: f32,
}

impl Weights {
    /// `coverage` is how much of the query the best keyword match contains. The keyword leg counts
    /// more for queries in the words of the law, the semantic leg for others.
    pub(super) fn of(mode: Mode, depth: Depth, kind: QueryKind, tuning: &Tuning, coverage: f32) -> Self {
        let all = tuning.weights(depth, kind);
        let mut features = match mode {
            Mode::Hybrid => all,
            Mode::Keyword => all.only(&[RankingFeature::Sequence, RankingFeature::Heading]),
            Mode::Semantic => {
                all.only(&[RankingFeature::Similarity, RankingFeature::Encoded, RankingFeature::Interaction])
            }
        };
        match mode {
            Mode::Hybrid => {
                features.set(
                    RankingFeature::Keyword,
                    all.get(RankingFeature::Keyword) * coverage.powf(tuning.coverage_power),
                );
            }
            Mode::Keyword => features.set(RankingFeature::Keyword, 1.0),
            Mode::Semantic => {}
        }
        Self { features, dead: tuning.dead, elsewhere: tuning.elsewhere }
    }

    fn score(&self, candidate: &Candidate) -> f32 {
        // After rounding, the weights may sum to slightly more than 1.
        let sum = candidate.features.weighted(&self.features).sum().min(1.0);
        self.score_factor(candidate.is_dead, candidate.is_outside_place) * sum
    }

    /// The share of its score that a provision keeps.
    pub(super) fn score_factor(&self, is_dead: bool, is_elsewhere: bool) -> f32 {
        let of_dead = if is_dead { self.dead } else { 1.0 };
        let of_elsewhere = if is_elsewhere { self.elsewhere } else { 1.0 };
        of_dead * of_elsewhere
    }
}

/// The result for a provision in one vector space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpaceResult {
    pub similarity: f32,
    /// Its rank from 1, if it is among the nearest in its space.
    pub rank: Option<u32>,
}

/// A provision of the head, with its features.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub node: NodeOrdinal,
    pub is_dead: bool,
    /// Whether it is outside the place that the query probably names.
    pub is_outside_place: bool,
    pub keyword: Option<f32>,
    pub keyword_rank: Option<u32>,
    pub near: Option<SpaceResult>,
    /// The result in the second space, if there is one.
    pub encoded: Option<SpaceResult>,
    pub chunk: Option<ChunkOrdinal>,
    pub interaction: f32,
    pub in_a_row: bool,
    /// Whether the heading says what the query says.
    pub is_heading: bool,
    /// The number of provisions that cite it.
    pub cited_by: usize,
    pub features: FeatureVector,
    pub fused: f32,
}

impl Candidate {
    pub(super) fn new(node: NodeOrdinal, is_dead: bool) -> Self {
        Self {
            node,
            is_dead,
            is_outside_place: false,
            keyword: None,
            keyword_rank: None,
            near: None,
            encoded: None,
            chunk: None,
            interaction: 0.0,
            in_a_row: false,
            is_heading: false,
            cited_by: 0,
            features: FeatureVector::default(),
            fused: 0.0,
        }
    }
}

/// Scores and sorts the candidates: best first, equal scores by ordinal.
pub(super) fn fuse(candidates: &mut [Candidate], weights: &Weights) {
    let keyword_max_of = |is_dead: bool| {
        let scores = candidates.iter().filter(|candidate| candidate.is_dead == is_dead).filter_map(|c| c.keyword);
        scores.fold(0.0_f32, f32::max)
    };
    let keyword_max = Some(keyword_max_of(false)).filter(|&max| max > 0.0).unwrap_or_else(|| keyword_max_of(true));
    let best = |of: fn(&Candidate) -> Option<SpaceResult>| {
        candidates.iter().filter_map(of).map(|near| near.similarity).fold(1e-6, f32::max)
    };
    let (near_max, encoded_max) = (best(|candidate| candidate.near), best(|candidate| candidate.encoded));
    let over = |near: Option<SpaceResult>, max: f32| near.map_or(0.0, |near| (near.similarity / max).max(0.0));
    for candidate in candidates.iter_mut() {
        let keyword = candidate.keyword.map_or(0.0, |score| (score / keyword_max.max(1e-6)).min(1.0));
        // Squared: what a hundred cite is known, what three cite is not.
        let cited_by = ((candidate.cited_by as f32).ln_1p() / CITED_BY_MAX.ln_1p()).min(1.0).powi(2);
        let features = &mut candidate.features;
        features.set(RankingFeature::Keyword, keyword);
        features.set(RankingFeature::Similarity, over(candidate.near, near_max));
        features.set(RankingFeature::Encoded, over(candidate.encoded, encoded_max));
        features.set(RankingFeature::Interaction, candidate.interaction);
        features.set(RankingFeature::Sequence, f32::from(u8::from(candidate.in_a_row)));
        features.set(RankingFeature::Heading, f32::from(u8::from(candidate.is_heading)));
        features.set(RankingFeature::CitedBy, cited_by);
        candidate.fused = weights.score(candidate);
    }
    candidates.sort_unstable_by(|a, b| b.fused.total_cmp(&a.fused).then(a.node.cmp(&b.node)));
}

/// Moves candidates in force that repeat the exact text of an earlier one behind all others. The
/// order is otherwise unchanged.
pub(super) fn demote_duplicate_texts(snapshot: &Snapshot, candidates: &mut [Candidate]) {
    let mut spans: Vec<(u32, usize, Span)> = Vec::with_capacity(candidates.len());
    // Provisions that were repealed together often share one note as their text.
    for (place, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| !candidate.is_dead) {
        let text = snapshot.cards.text(candidate.node).unwrap_or_default();
        if text.length > 0 {
            spans.push((text.length, place, text));
        }
    }
    // Only texts of the same length need to be compared.
    spans.sort_unstable_by_key(|&(length, place, _)| (length, place));
    let mut repeats = vec![false; candidates.len()];
    for equally_long in spans.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        let mut firsts: Vec<&[u8]> = Vec::new();
        for &(_, place, span) in equally_long {
            let Ok(text) = snapshot.texts.bytes(span) else { continue };
            match firsts.contains(&text) {
                true => repeats[place] = true,
                false => firsts.push(text),
            }
        }
    }
    if repeats.contains(&true) {
        let mut keyed: Vec<(bool, Candidate)> = repeats.into_iter().zip(candidates.iter().cloned()).collect();
        keyed.sort_by_key(|&(repeats, _)| repeats);
        for (place, (_, candidate)) in keyed.into_iter().enumerate() {
            candidates[place] = candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(node: u32, is_dead: bool, keyword: Option<f32>, similarity: Option<f32>) -> Candidate {
        let near = similarity.map(|similarity| SpaceResult { similarity, rank: None });
        Candidate { keyword, near, ..Candidate::new(NodeOrdinal(node), is_dead) }
    }

    #[test]
    fn law_not_in_force_scores_less_and_ties_go_by_ordinal() {
        let mut candidates = [
            candidate(9, true, Some(6.0), Some(0.9)),
            candidate(7, false, Some(3.0), None),
            candidate(3, false, Some(3.0), None),
            candidate(5, false, Some(6.0), Some(0.9)),
        ];
        fuse(&mut candidates, &Weights::of(Mode::Hybrid, Depth::Fast, QueryKind::Topic, &Tuning::default(), 0.8));
        assert_eq!(candidates[0].node.0, 5);
        assert!(candidates.iter().all(|c| (0.0..=1.0).contains(&c.fused)));
        let score = |node: u32| candidates.iter().find(|c| c.node.0 == node).unwrap().fused;
        assert!((score(9) - Tuning::default().dead * score(5)).abs() < 1e-6);
        let place = |node: u32| candidates.iter().position(|c| c.node.0 == node).unwrap();
        assert!(place(3) + 1 == place(7), "{candidates:?}");
    }

    fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
        // Few distinct values, so that candidates tie.
        let score = || prop::option::of((0..4_u8).prop_map(|score| f32::from(score) / 3.0));
        let one = (any::<bool>(), score(), score(), 0..4_u8, any::<bool>());
        prop::collection::vec(one, 1..24).prop_map(|all| {
            let of = |(node, (is_dead, keyword, similarity, interaction, in_a_row))| Candidate {
                interaction: f32::from(interaction) / 3.0,
                in_a_row,
                ..candidate(node, is_dead, keyword, similarity)
            };
            (0..).zip(all).map(of).collect()
        })
    }

    fn any_weights() -> impl Strategy<Value = Weights> {
        let kind = prop::sample::select(vec![QueryKind::Question, QueryKind::Topic, QueryKind::Phrase]);
        let mode = prop::sample::select(Mode::ALL.to_vec());
        (mode, kind, 0.0..=1.0_f32)
            .prop_map(|(mode, kind, coverage)| Weights::of(mode, Depth::Fast, kind, &Tuning::MEASURED, coverage))
    }

    proptest! {
        #[test]
        fn order_is_deterministic_and_monotonic(
            candidates in any_candidates(),
            shuffled_by in any::<u64>(),
            weights in any_weights(),
            bettered in any::<prop::sample::Index>(),
        ) {
            let order = |mut candidates: Vec<Candidate>| {
                fuse(&mut candidates, &weights);
                candidates
            };
            let fused = order(candidates.clone());
            // The result is complete and sorted, with ties by ordinal, and scores are within
            // bounds.
            prop_assert_eq!(fused.len(), candidates.len());
            for pair in fused.windows(2) {
                let is_before = pair[0].fused > pair[1].fused || pair[0].node < pair[1].node;
                prop_assert!(pair[0].fused >= pair[1].fused && is_before);
            }
            prop_assert!(fused.iter().all(|c| (0.0..=1.0).contains(&c.fused)), "{:?}", fused);
            // The order of the input does not matter.
            let mut shuffled = candidates.clone();
            shuffled.sort_by_key(|c| (u64::from(c.node.0) + 1).wrapping_mul(shuffled_by | 1));
            let nodes = |fused: &[Candidate]| fused.iter().map(|c| c.node).collect::<Vec<_>>();
            prop_assert_eq!(nodes(&order(shuffled)), nodes(&fused));
            // A candidate with the words in a row, or with a better interaction score, keeps or
            // improves its rank.
            let place = |fused: &[Candidate], node| fused.iter().position(|c| c.node == node);
            let which = bettered.index(candidates.len());
            let mut better = candidates.clone();
            better[which].in_a_row = true;
            better[which].interaction = 1.0;
            let node = better[which].node;
            prop_assert!(place(&order(better), node) <= place(&fused, node));
        }
    }

    #[test]
    fn the_kind_of_query_and_what_the_words_cover_decide_which_leg_leads() {
        let leader = |mode, kind, coverage| {
            let mut candidates = [
                candidate(1, false, Some(10.0), Some(0.2)),
                Candidate { interaction: 0.9, ..candidate(2, false, Some(2.0), Some(0.8)) },
            ];
            fuse(&mut candidates, &Weights::of(mode, Depth::Fast, kind, &Tuning::default(), coverage));
            candidates[0].node.0
        };
        assert_eq!(leader(Mode::Hybrid, QueryKind::Question, 0.4), 2);
        assert_eq!(leader(Mode::Hybrid, QueryKind::Topic, 0.4), 2);
        assert_eq!(leader(Mode::Hybrid, QueryKind::Topic, 1.0), 1);
        assert_eq!(leader(Mode::Hybrid, QueryKind::Phrase, 1.0), 1);
        assert_eq!(leader(Mode::Keyword, QueryKind::Question, 0.4), 1);
        assert_eq!(leader(Mode::Semantic, QueryKind::Phrase, 1.0), 2);
    }
}
