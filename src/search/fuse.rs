//! Fusion: one order from the results of both legs.
//!
//! Each leg's scores are divided by its best score, weighted and summed. Fusing by ranks alone lets the weaker leg
//! worsen the better one, and a scale from the worst candidate to the best depends on the number of candidates. The
//! weight of the keyword leg depends on the kind of query, and on how much of the query its best match has.
//! The head of the result, everything that a leg ranks high, is fused once and is the same for every page. The other
//! keyword matches follow by their scores.

use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::Span;

use super::request::Mode;
use super::tuning::{KindTuning, Tuning};
use super::understand::QueryKind;

/// How much each leg is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    pub keyword: f32,
    pub semantic: f32,
    /// What is added where the words stand in a row as they were typed.
    pub in_a_row: f32,
    /// How much of the semantic score is late interaction.
    pub interaction: f32,
}

impl Weights {
    /// `coverage` is how much of what the query asks the best keyword match has: whoever types the law's own words is
    /// answered by them, whoever types other words by their meaning.
    pub(super) fn of(mode: Mode, kind: QueryKind, tuning: &Tuning, coverage: f32) -> Self {
        let &KindTuning { keyword, interaction, in_a_row, .. } = tuning.of(kind);
        match mode {
            Mode::Hybrid => {
                let keyword = keyword * coverage.powf(tuning.coverage_power);
                Self { keyword, semantic: 1.0, in_a_row, interaction }
            }
            Mode::Keyword => Self { keyword: 1.0, semantic: 0.0, in_a_row, interaction },
            Mode::Semantic => Self { keyword: 0.0, semantic: 1.0, in_a_row: 0.0, interaction },
        }
    }
}

/// A provision of the head, with what each leg says of it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub node: NodeOrdinal,
    pub is_dead: bool,
    pub keyword: Option<f32>,
    pub keyword_rank: Option<u32>,
    pub similarity: Option<f32>,
    pub vector_rank: Option<u32>,
    pub chunk: Option<ChunkOrdinal>,
    pub interaction: f32,
    pub in_a_row: bool,
    pub fused: f32,
}

impl Candidate {
    pub(super) fn new(node: NodeOrdinal, is_dead: bool) -> Self {
        Self {
            node,
            is_dead,
            keyword: None,
            keyword_rank: None,
            similarity: None,
            vector_rank: None,
            chunk: None,
            interaction: 0.0,
            in_a_row: false,
            fused: 0.0,
        }
    }
}

/// Scores the candidates and puts them in order: the living before the dead, the best first, equal ones by ordinal.
pub(super) fn fuse(candidates: &mut [Candidate], weights: Weights) {
    let keyword_max_of = |is_dead: bool| {
        let scores = candidates.iter().filter(|candidate| candidate.is_dead == is_dead).filter_map(|c| c.keyword);
        scores.fold(0.0_f32, f32::max)
    };
    let keyword_max = Some(keyword_max_of(false)).filter(|&max| max > 0.0).unwrap_or_else(|| keyword_max_of(true));
    let similarity_max = candidates.iter().filter_map(|candidate| candidate.similarity).fold(1e-6, f32::max);
    for candidate in candidates.iter_mut() {
        let keyword = candidate.keyword.map_or(0.0, |score| (score / keyword_max.max(1e-6)).min(1.0));
        let similarity = candidate.similarity.map_or(0.0, |similarity| (similarity / similarity_max).max(0.0));
        let semantic = (1.0 - weights.interaction) * similarity + weights.interaction * candidate.interaction;
        let in_a_row = if candidate.in_a_row { weights.in_a_row } else { 0.0 };
        let sum = weights.keyword * keyword + weights.semantic * semantic + in_a_row;
        candidate.fused = sum / (weights.keyword + weights.semantic + weights.in_a_row);
    }
    candidates.sort_by(|a, b| a.is_dead.cmp(&b.is_dead).then(b.fused.total_cmp(&a.fused)).then(a.node.cmp(&b.node)));
}

/// Moves living candidates whose text is another's, word for word, behind all other living ones, in their order.
pub(super) fn set_back_repeated_texts(snapshot: &Snapshot, candidates: &mut [Candidate]) {
    let living = candidates.partition_point(|candidate| !candidate.is_dead);
    let mut spans: Vec<(u32, usize, Span)> = Vec::with_capacity(living);
    for (place, candidate) in candidates[..living].iter().enumerate() {
        let text = snapshot.cards.text(candidate.node).unwrap_or_default();
        if text.length > 0 {
            spans.push((text.length, place, text));
        }
    }
    // Only texts of one length need to be compared.
    spans.sort_unstable_by_key(|&(length, place, _)| (length, place));
    let mut repeats = vec![false; living];
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
        let mut repeats = repeats.into_iter();
        let keyed = candidates[..living].iter().map(|candidate| (repeats.next().unwrap_or(false), candidate.clone()));
        let mut keyed: Vec<(bool, Candidate)> = keyed.collect();
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
        Candidate { keyword, similarity, ..Candidate::new(NodeOrdinal(node), is_dead) }
    }

    #[test]
    fn the_dead_stand_behind_the_living_and_ties_fall_to_the_ordinal() {
        let mut candidates = [
            candidate(9, true, Some(50.0), Some(0.9)),
            candidate(7, false, Some(3.0), None),
            candidate(3, false, Some(3.0), None),
            candidate(5, false, Some(6.0), None),
        ];
        fuse(&mut candidates, Weights::of(Mode::Hybrid, QueryKind::Topic, &Tuning::default(), 0.8));
        assert_eq!(candidates.iter().map(|c| c.node.0).collect::<Vec<_>>(), [5, 3, 7, 9]);
        assert!(candidates.iter().all(|c| (0.0..=1.0).contains(&c.fused)));
    }

    fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
        // Few values, so that candidates tie.
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
            .prop_map(|(mode, kind, coverage)| Weights::of(mode, kind, &Tuning::MEASURED, coverage))
    }

    proptest! {
        #[test]
        fn the_order_follows_from_the_candidates_alone_and_more_is_never_worse(
            candidates in any_candidates(),
            shuffled_by in any::<u64>(),
            weights in any_weights(),
            bettered in any::<prop::sample::Index>(),
        ) {
            let order = |mut candidates: Vec<Candidate>| {
                fuse(&mut candidates, weights);
                candidates
            };
            let fused = order(candidates.clone());
            // Complete, the living before the dead, the best first, equal ones by ordinal, scores within bounds.
            prop_assert_eq!(fused.len(), candidates.len());
            for pair in fused.windows(2) {
                let rank = |c: &Candidate| (c.is_dead, std::cmp::Reverse((c.fused * 1e6) as i64), c.node);
                prop_assert!(rank(&pair[0]) < rank(&pair[1]) || pair[0].fused > pair[1].fused);
                prop_assert!(pair[0].is_dead <= pair[1].is_dead);
            }
            prop_assert!(fused.iter().all(|c| (0.0..=1.0).contains(&c.fused)), "{:?}", fused);
            // In whatever order they come.
            let mut shuffled = candidates.clone();
            shuffled.sort_by_key(|c| (u64::from(c.node.0) + 1).wrapping_mul(shuffled_by | 1));
            let nodes = |fused: &[Candidate]| fused.iter().map(|c| c.node).collect::<Vec<_>>();
            prop_assert_eq!(nodes(&order(shuffled)), nodes(&fused));
            // What has the words in a row, or answers more of them, stands where it stood or further up.
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
            fuse(&mut candidates, Weights::of(mode, kind, &Tuning::default(), coverage));
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
