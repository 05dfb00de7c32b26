//! Upper bounds: which documents of a window can score above the threshold of the top k. Bitmaps
//! decide this from the upper bound of each word's contribution.

use super::bit_sliced_sums::BitSlicedSums;
use super::decision_diagram::DecisionDiagram;
use super::planned_word::{BOUND_MARGIN, PlannedWord};
use super::window::ScoreWindow;

/// Only queries with at most this many words use the high-frequency bitmaps.
const HIGH_FREQUENCY_WORDS_MAX: usize = 4;

/// The steps for a threshold are built again once the threshold has risen by this factor.
const REBUILD_FACTOR: f32 = 1.02;

/// Finds the documents that can reach the top k, for law in force and for law no longer in force.
pub(super) struct UpperBounds {
    shares: Vec<BoundPart>,
    how: BoundMethod,
}

enum BoundMethod {
    /// For few words.
    Steps(Box<[Steps; 2]>),
    /// For many words. The minimum sums are those for law in force and for law no longer in force.
    Sums(BitSlicedSums, [u32; 2]),
}

/// The decision steps for one threshold score.
#[derive(Default)]
struct Steps {
    /// The score that they were built for. `None` as long as every document can reach the top k.
    bar: Option<f32>,
    threshold: DecisionDiagram,
}

/// A part of a word's upper bound: for containing the word at all, or in addition for a high term
/// frequency.
#[derive(Clone, Copy)]
struct BoundPart {
    word: usize,
    is_much: bool,
    /// Upper bound of what this part adds to the score.
    most: f32,
}

impl BoundPart {
    fn documents<'w>(&self, words: &'w [PlannedWord<'_>], window: &ScoreWindow) -> &'w [u64] {
        if self.is_much {
            words[self.word].high_frequency_documents(window)
        } else {
            words[self.word].documents_with_any(window)
        }
    }
}

impl UpperBounds {
    pub(super) fn new(words: &[PlannedWord<'_>]) -> Self {
        let shares = bound_parts(words);
        let how = match DecisionDiagram::is_for(words.len()) {
            true => BoundMethod::Steps(Box::default()),
            false => BoundMethod::Sums(BitSlicedSums::new(&part_maxima(&shares)), [0; 2]),
        };
        Self { shares, how }
    }

    /// Finds the documents of the window whose upper bounds add up to at least the threshold of
    /// their list. `bars` are the thresholds for law in force and for law no longer in force.
    pub(super) fn decide(&mut self, bars: [f32; 2], words: &[PlannedWord<'_>], window: &ScoreWindow) {
        let Self { shares, how } = self;
        let shares = &*shares;
        let has = |share: usize| shares[share].documents(words, window);
        match how {
            BoundMethod::Steps(both) => {
                both.iter_mut().zip(bars).for_each(|(steps, bar)| steps.decide(bar, shares, has, window.groups()));
            }
            BoundMethod::Sums(sums, least) => {
                *least = bars.map(|bar| if bar == f32::NEG_INFINITY { 0 } else { sums.possible_count(bar) });
                if *least != [0; 2] {
                    sums.add_up(has, window.groups());
                }
            }
        }
    }

    /// The documents of a group that can reach the top k. `is_dead` marks the law no longer in
    /// force.
    pub(super) fn group(&self, group: usize, is_dead: u64) -> u64 {
        let [living, dead] = match &self.how {
            BoundMethod::Steps(both) => both.each_ref().map(|steps| steps.group(group)),
            BoundMethod::Sums(sums, least) => {
                least.map(|least| if least == 0 { !0 } else { sums.at_least(least, group) })
            }
        };
        living & !is_dead | dead & is_dead
    }
}

impl Steps {
    fn decide<'w>(&mut self, bar: f32, shares: &[BoundPart], has: impl Fn(usize) -> &'w [u64], groups: usize) {
        if bar == f32::NEG_INFINITY {
            return;
        }
        if self.bar.is_none_or(|decided| bar > decided * REBUILD_FACTOR) {
            self.bar = Some(bar);
            self.threshold.rebuild_steps(&part_maxima(shares), bar);
        }
        self.threshold.decide(has, groups);
    }

    fn group(&self, group: usize) -> u64 {
        self.bar.map_or(!0, |_| self.threshold.group(group))
    }
}

fn part_maxima(shares: &[BoundPart]) -> Vec<f32> {
    shares.iter().map(|share| share.most * BOUND_MARGIN).collect()
}

/// The shares of all words: first one per word for containing it, heaviest word first; then one per
/// word for its high term frequency, if a bitmap for it exists and the query has few words.
fn bound_parts(words: &[PlannedWord<'_>]) -> Vec<BoundPart> {
    let is_told_apart = words.len() <= HIGH_FREQUENCY_WORDS_MAX;
    let elsewhere =
        |word: &PlannedWord<'_>| word.low_frequency_bound.filter(|_| is_told_apart).unwrap_or(word.score_bound);
    let any = |(word, planned)| BoundPart { word, is_much: false, most: elsewhere(planned) };
    let much = |(word, planned): (usize, &PlannedWord<'_>)| BoundPart {
        word,
        is_much: true,
        most: planned.score_bound - elsewhere(planned),
    };
    let known = words.iter().enumerate().filter(|(_, planned)| elsewhere(planned) < planned.score_bound);
    words.iter().enumerate().map(any).chain(known.map(much)).collect()
}
