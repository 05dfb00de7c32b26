//! Upper bounds: which documents of a window can score above the threshold of the top k. Bitmaps
//! decide this from the upper bound of each word's contribution.

use super::sums::Sums;
use super::threshold::Threshold;
use super::window::Window;
use super::word::{PlannedWord, ROUNDED_UP};

/// Only queries with at most this many words use the high-frequency bitmaps.
const TOLD_APART_MAX: usize = 4;

/// The steps for a threshold are built again once the threshold has risen by this factor.
const BAR_RISEN: f32 = 1.02;

/// Finds the documents that can reach the top k, for law in force and for law no longer in force.
pub(super) struct Hope {
    shares: Vec<Share>,
    how: How,
}

enum How {
    /// For few words.
    Steps(Box<[Steps; 2]>),
    /// For many words. The minimum sums are those for law in force and for law no longer in force.
    Sums(Sums, [u32; 2]),
}

/// The decision steps for one threshold score.
#[derive(Default)]
struct Steps {
    /// The score that they were built for. `None` as long as every document can reach the top k.
    bar: Option<f32>,
    threshold: Threshold,
}

/// A part of a word's upper bound: for containing the word at all, or in addition for a high term
/// frequency.
#[derive(Clone, Copy)]
struct Share {
    word: usize,
    is_much: bool,
    /// Upper bound of what this part adds to the score.
    most: f32,
}

impl Share {
    fn documents<'w>(&self, words: &'w [PlannedWord<'_>], window: &Window) -> &'w [u64] {
        if self.is_much { words[self.word].much(window) } else { words[self.word].any(window) }
    }
}

impl Hope {
    pub(super) fn new(words: &[PlannedWord<'_>]) -> Self {
        let shares = shares(words);
        let how = match Threshold::is_for(words.len()) {
            true => How::Steps(Box::default()),
            false => How::Sums(Sums::new(&mosts(&shares)), [0; 2]),
        };
        Self { shares, how }
    }

    /// Finds the documents of the window whose upper bounds add up to at least the threshold of
    /// their list. `bars` are the thresholds for law in force and for law no longer in force.
    pub(super) fn decide(&mut self, bars: [f32; 2], words: &[PlannedWord<'_>], window: &Window) {
        let Self { shares, how } = self;
        let shares = &*shares;
        let has = |share: usize| shares[share].documents(words, window);
        match how {
            How::Steps(both) => {
                both.iter_mut().zip(bars).for_each(|(steps, bar)| steps.decide(bar, shares, has, window.groups()));
            }
            How::Sums(sums, least) => {
                *least = bars.map(|bar| if bar == f32::NEG_INFINITY { 0 } else { sums.possibly(bar) });
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
            How::Steps(both) => both.each_ref().map(|steps| steps.group(group)),
            How::Sums(sums, least) => least.map(|least| if least == 0 { !0 } else { sums.at_least(least, group) }),
        };
        living & !is_dead | dead & is_dead
    }
}

impl Steps {
    fn decide<'w>(&mut self, bar: f32, shares: &[Share], has: impl Fn(usize) -> &'w [u64], groups: usize) {
        if bar == f32::NEG_INFINITY {
            return;
        }
        if self.bar.is_none_or(|decided| bar > decided * BAR_RISEN) {
            self.bar = Some(bar);
            self.threshold.renew(&mosts(shares), bar);
        }
        self.threshold.decide(has, groups);
    }

    fn group(&self, group: usize) -> u64 {
        self.bar.map_or(!0, |_| self.threshold.group(group))
    }
}

fn mosts(shares: &[Share]) -> Vec<f32> {
    shares.iter().map(|share| share.most * ROUNDED_UP).collect()
}

/// The shares of all words: first one per word for containing it, heaviest word first; then one per
/// word for its high term frequency, if a bitmap for it exists and the query has few words.
fn shares(words: &[PlannedWord<'_>]) -> Vec<Share> {
    let is_told_apart = words.len() <= TOLD_APART_MAX;
    let elsewhere = |word: &PlannedWord<'_>| word.most_elsewhere.filter(|_| is_told_apart).unwrap_or(word.most);
    let any = |(word, planned)| Share { word, is_much: false, most: elsewhere(planned) };
    let much = |(word, planned): (usize, &PlannedWord<'_>)| Share {
        word,
        is_much: true,
        most: planned.most - elsewhere(planned),
    };
    let known = words.iter().enumerate().filter(|(_, planned)| elsewhere(planned) < planned.most);
    words.iter().enumerate().map(any).chain(known.map(much)).collect()
}
