//! Which documents reach a sum with the words they have, decided for 64 documents at a time.
//!
//! Words are asked for in a fixed order, the weightiest first. After each word so much is still needed; where what is
//! needed is nothing, every document does, and where it is more than the words left can add, none does. Needs that the
//! words left decide alike share one step, so a few words take a few steps.

/// Of more words than this, deciding takes more steps than adding up (`sums`).
const WORDS_MAX: usize = if cfg!(test) { 5 } else { 8 };

/// How to decide it, for the weights and the sum that it was made for; and what was decided last.
#[derive(Debug, Default)]
pub(super) struct Threshold {
    /// Each comes behind those that it refers to.
    steps: Vec<Step>,
    result: Outcome,
    /// What each step says of some groups of 64 documents.
    decided: Vec<u64>,
    groups: usize,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    word: usize,
    with: Outcome,
    without: Outcome,
}

/// What is known of a document at some point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Outcome {
    All,
    #[default]
    None,
    /// What a step says.
    Of(usize),
}

/// An outcome, for any need above the one bound and up to the other.
#[derive(Clone, Copy, Debug)]
struct Decided {
    above: f32,
    up_to: f32,
    outcome: Outcome,
}

impl Threshold {
    /// Whether so few words are decided step by step.
    pub(super) fn is_for(words: usize) -> bool {
        words <= WORDS_MAX
    }

    pub(super) fn new(weights: &[f32], needed: f32) -> Self {
        let mut threshold = Self::default();
        threshold.renew(weights, needed);
        threshold
    }

    /// Decides from now on for these weights and this sum.
    pub(super) fn renew(&mut self, weights: &[f32], needed: f32) {
        let mut maker = Maker { weights, known: vec![Vec::new(); weights.len() + 1], steps: Vec::new() };
        self.result = maker.decide(0, weights.iter().sum(), needed).outcome;
        self.steps = maker.steps;
    }

    /// Decides for `groups` groups of 64 documents; `has` gives those that have a word.
    pub(super) fn decide<'w>(&mut self, has: impl Fn(usize) -> &'w [u64], groups: usize) {
        self.groups = groups;
        self.decided.resize(self.decided.len().max(self.steps.len() * groups), 0);
        for (place, step) in self.steps.iter().enumerate() {
            let (before, rest) = self.decided.split_at_mut(place * groups);
            let (out, has) = (&mut rest[..groups], &has(step.word)[..groups]);
            let of = |place: usize| &before[place * groups..][..groups];
            match (step.with, step.without) {
                (Outcome::All, Outcome::None) => out.copy_from_slice(has),
                (Outcome::All, Outcome::Of(without)) => combine(out, has, of(without), |has, without| has | without),
                (Outcome::Of(with), Outcome::None) => combine(out, has, of(with), |has, with| has & with),
                (Outcome::Of(with), Outcome::Of(without)) => {
                    let both = has.iter().zip(of(with)).zip(of(without));
                    out.iter_mut().zip(both).for_each(|(out, ((has, with), without))| *out = has & with | without);
                }
                // A word more never needs more.
                (Outcome::None, _) | (_, Outcome::All) => unreachable!("decided without the word"),
            }
        }
    }

    /// The documents of a group that reach the sum.
    #[inline]
    pub(super) fn group(&self, group: usize) -> u64 {
        match self.result {
            Outcome::All => !0,
            Outcome::None => 0,
            Outcome::Of(last) => self.decided[last * self.groups + group],
        }
    }
}

#[inline]
fn combine(out: &mut [u64], a: &[u64], b: &[u64], of: impl Fn(u64, u64) -> u64) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = of(a, b));
}

struct Maker<'w> {
    weights: &'w [f32],
    /// By word: what was decided before it.
    known: Vec<Vec<Decided>>,
    steps: Vec<Step>,
}

impl Maker<'_> {
    /// What is decided before a word is asked for, where the words from it on weigh `left`.
    fn decide(&mut self, word: usize, left: f32, needed: f32) -> Decided {
        if needed <= 0.0 {
            return Decided { above: f32::NEG_INFINITY, up_to: 0.0, outcome: Outcome::All };
        }
        let Some(&weight) = self.weights.get(word).filter(|_| needed <= left) else {
            return Decided { above: left.max(0.0), up_to: f32::INFINITY, outcome: Outcome::None };
        };
        if let Some(known) = self.known[word].iter().find(|known| known.above < needed && needed <= known.up_to) {
            return *known;
        }
        let with = self.decide(word + 1, left - weight, needed - weight);
        let without = self.decide(word + 1, left - weight, needed);
        let outcome = match with.outcome == without.outcome {
            true => with.outcome,
            false => {
                self.steps.push(Step { word, with: with.outcome, without: without.outcome });
                Outcome::Of(self.steps.len() - 1)
            }
        };
        let above = (with.above + weight).max(without.above);
        let decided = Decided { above, up_to: (with.up_to + weight).min(without.up_to), outcome };
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
        fn it_decides_what_adding_up_decides(
            mut weights in prop::collection::vec(prop_oneof![0.01..10.0_f32, Just(1.0), Just(2.0)], 0..=12),
            share in -0.1..1.1_f32,
            groups in 1..4_usize,
            seed in any::<u64>(),
        ) {
            weights.sort_by(|a, b| b.total_cmp(a));
            let needed = weights.iter().sum::<f32>() * share;
            let mut random = crate::random::SplitMix64(seed);
            let has: Vec<Vec<u64>> = weights.iter().map(|_| (0..groups).map(|_| random.draw()).collect()).collect();
            let mut threshold = Threshold::new(&weights, needed / 2.0);
            threshold.decide(|_| &[7; 4], 4);
            threshold.renew(&weights, needed);
            threshold.decide(|word| &has[word], groups);
            for doc in 0..groups * 64 {
                let has_word = |word: &Vec<u64>| word[doc / 64] >> (doc % 64) & 1 == 1;
                let sum: f32 = has.iter().zip(&weights).filter(|(word, _)| has_word(word)).map(|(_, weight)| weight).sum();
                let is_in = threshold.group(doc / 64) >> (doc % 64) & 1 == 1;
                // The order of sums may decide what comes this near.
                prop_assert!(is_in == (sum >= needed) || (sum - needed).abs() < 1e-4, "{sum} of {needed}");
            }
        }
    }

    #[test]
    fn words_that_weigh_alike_share_their_steps() {
        let steps = |weights: &[f32], needed| Threshold::new(weights, needed).steps.len();
        assert_eq!(steps(&[1.0; 10], 5.0), 30);
        assert_eq!(steps(&[8.0, 4.0, 2.0, 1.0], 7.5), 1);
        assert_eq!(steps(&[3.0, 2.0, 1.0], 0.0), 0);
    }
}
