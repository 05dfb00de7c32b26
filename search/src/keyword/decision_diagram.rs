//! Decides which documents reach a sum with the weights of the words they contain, for 64 documents
//! at a time.
//!
//! This is a binary decision diagram over bitmaps. It tests the words in a fixed order, heaviest
//! first, and keeps track of the weight that is still needed. If nothing more is needed, every
//! document passes. If more is needed than all remaining words weigh, no document passes. Amounts
//! that lead to the same decision over the remaining words share one step, so a few words need few
//! steps.

/// With more words than this, the diagram needs more steps than bitwise addition (`sums`).
const WORDS_MAX: usize = if cfg!(test) { 5 } else { 8 };

/// The steps for given weights and a given sum, and the bitmaps of the last decision.
#[derive(Debug, Default)]
pub(super) struct DecisionDiagram {
    /// Each step comes after the steps it refers to.
    steps: Vec<DiagramNode>,
    result: DiagramEdge,
    /// The bitmap of each step, `groups` groups of 64 documents each.
    step_bitmaps: Vec<u64>,
    groups: usize,
}

#[derive(Clone, Copy, Debug)]
struct DiagramNode {
    word: usize,
    with: DiagramEdge,
    without: DiagramEdge,
}

/// The decision over the words not yet tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DiagramEdge {
    All,
    #[default]
    None,
    /// The bitmap of this step.
    Of(usize),
}

/// An outcome that holds for any needed weight greater than `above` and at most `up_to`.
#[derive(Clone, Copy, Debug)]
struct CachedDecision {
    above: f32,
    up_to: f32,
    outcome: DiagramEdge,
}

impl DecisionDiagram {
    /// Whether a query of this many words is decided with steps.
    pub(super) fn is_for(words: usize) -> bool {
        words <= WORDS_MAX
    }

    pub(super) fn new(weights: &[f32], needed: f32) -> Self {
        let mut threshold = Self::default();
        threshold.rebuild_steps(weights, needed);
        threshold
    }

    /// Builds new steps for these weights and this sum.
    pub(super) fn rebuild_steps(&mut self, weights: &[f32], needed: f32) {
        let mut maker = DiagramBuilder { weights, known: vec![Vec::new(); weights.len() + 1], steps: Vec::new() };
        self.result = maker.decide(0, weights.iter().sum(), needed).outcome;
        self.steps = maker.steps;
    }

    /// Evaluates the steps for `groups` groups of 64 documents; `has` gives the bitmap of a word.
    pub(super) fn decide<'w>(&mut self, has: impl Fn(usize) -> &'w [u64], groups: usize) {
        self.groups = groups;
        self.step_bitmaps.resize(self.step_bitmaps.len().max(self.steps.len() * groups), 0);
        for (place, step) in self.steps.iter().enumerate() {
            let (before, rest) = self.step_bitmaps.split_at_mut(place * groups);
            let (out, has) = (&mut rest[..groups], &has(step.word)[..groups]);
            let of = |place: usize| &before[place * groups..][..groups];
            match (step.with, step.without) {
                (DiagramEdge::All, DiagramEdge::None) => out.copy_from_slice(has),
                (DiagramEdge::All, DiagramEdge::Of(without)) => {
                    combine(out, has, of(without), |has, without| has | without);
                }
                (DiagramEdge::Of(with), DiagramEdge::None) => combine(out, has, of(with), |has, with| has & with),
                (DiagramEdge::Of(with), DiagramEdge::Of(without)) => {
                    let both = has.iter().zip(of(with)).zip(of(without));
                    out.iter_mut().zip(both).for_each(|(out, ((has, with), without))| *out = has & with | without);
                }
                // A document with one word more never needs more weight.
                (DiagramEdge::None, _) | (_, DiagramEdge::All) => {
                    unreachable!("a step whose result does not depend on its word is never built")
                }
            }
        }
    }

    /// The documents of a group that reach the sum.
    #[inline]
    pub(super) fn group(&self, group: usize) -> u64 {
        match self.result {
            DiagramEdge::All => !0,
            DiagramEdge::None => 0,
            DiagramEdge::Of(last) => self.step_bitmaps[last * self.groups + group],
        }
    }
}

#[inline]
fn combine(out: &mut [u64], a: &[u64], b: &[u64], of: impl Fn(u64, u64) -> u64) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = of(a, b));
}

struct DiagramBuilder<'w> {
    weights: &'w [f32],
    /// For each word, the decisions already built from this word on.
    known: Vec<Vec<CachedDecision>>,
    steps: Vec<DiagramNode>,
}

impl DiagramBuilder<'_> {
    /// Builds the decision from a word on. `left` is the total weight of this word and all after
    /// it; `needed` is the weight still needed.
    fn decide(&mut self, word: usize, left: f32, needed: f32) -> CachedDecision {
        if needed <= 0.0 {
            return CachedDecision { above: f32::NEG_INFINITY, up_to: 0.0, outcome: DiagramEdge::All };
        }
        let Some(&weight) = self.weights.get(word).filter(|_| needed <= left) else {
            return CachedDecision { above: left.max(0.0), up_to: f32::INFINITY, outcome: DiagramEdge::None };
        };
        if let Some(known) = self.known[word].iter().find(|known| known.above < needed && needed <= known.up_to) {
            return *known;
        }
        let with = self.decide(word + 1, left - weight, needed - weight);
        let without = self.decide(word + 1, left - weight, needed);
        let outcome = match with.outcome == without.outcome {
            true => with.outcome,
            false => {
                self.steps.push(DiagramNode { word, with: with.outcome, without: without.outcome });
                DiagramEdge::Of(self.steps.len() - 1)
            }
        };
        let above = (with.above + weight).max(without.above);
        let decided = CachedDecision { above, up_to: (with.up_to + weight).min(without.up_to), outcome };
        self.known[word].push(decided);
        decided
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn diagram_agrees_with_addition(
            mut weights in prop::collection::vec(prop_oneof![0.01..10.0_f32, Just(1.0), Just(2.0)], 0..=12),
            share in -0.1..1.1_f32,
            groups in 1..4_usize,
            seed in any::<u64>(),
        ) {
            weights.sort_by(|a, b| b.total_cmp(a));
            let needed = weights.iter().sum::<f32>() * share;
            let mut random = hornbook_base::random::SplitMix64(seed);
            let has: Vec<Vec<u64>> = weights.iter().map(|_| (0..groups).map(|_| random.draw()).collect()).collect();
            let mut threshold = DecisionDiagram::new(&weights, needed / 2.0);
            threshold.decide(|_| &[7; 4], 4);
            threshold.rebuild_steps(&weights, needed);
            threshold.decide(|word| &has[word], groups);
            for doc in 0..groups * 64 {
                let has_word = |word: &Vec<u64>| word[doc / 64] >> (doc % 64) & 1 == 1;
                let sum: f32 = has.iter().zip(&weights).filter(|(word, _)| has_word(word)).map(|(_, weight)| weight).sum();
                let is_in = threshold.group(doc / 64) >> (doc % 64) & 1 == 1;
                // Close to the sum, the order of floating-point additions may decide.
                prop_assert!(is_in == (sum >= needed) || (sum - needed).abs() < 1e-4, "{sum} of {needed}");
            }
        }
    }

    #[test]
    fn equal_weights_share_steps() {
        let steps = |weights: &[f32], needed| DecisionDiagram::new(weights, needed).steps.len();
        assert_eq!(steps(&[1.0; 10], 5.0), 30);
        assert_eq!(steps(&[8.0, 4.0, 2.0, 1.0], 7.5), 1);
        assert_eq!(steps(&[3.0, 2.0, 1.0], 0.0), 0);
    }
}
