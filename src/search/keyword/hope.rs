//! Which documents of a window could have a score above a bar, decided with bits from the most that each word counts.

use super::sums::Sums;
use super::threshold::Threshold;
use super::window::Window;
use super::word::{PlannedWord, ROUNDED_UP};

/// Of no more words than this it is asked which documents have much of each.
const TOLD_APART_MAX: usize = 4;

/// Which documents could still be among the best is decided anew once the bar has risen by so much.
const BAR_RISEN: f32 = 1.02;

/// Which documents can be among the best, of living and of dead law.
pub(super) struct Hope {
    shares: Vec<Share>,
    how: How,
}

enum How {
    /// Few shares.
    Steps(Box<[Steps; 2]>),
    /// Many: what living and what dead documents must count, of the same sums.
    Sums(Sums, [u32; 2]),
}

/// The steps for one bar.
#[derive(Default)]
struct Steps {
    /// The one that they were made for; none yet, as long as every document may be among the best.
    bar: Option<f32>,
    threshold: Threshold,
}

/// What a document may have of a word: any of it, or much.
#[derive(Clone, Copy)]
struct Share {
    word: usize,
    is_much: bool,
    /// What it adds to the score at most, in addition to having any.
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

    /// Decides for the documents of the window whose words can add up to more than the bar of living and of dead law.
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

    /// The documents of a group that were found, by which of them are dead.
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

/// The shares of all words: any of each, weightiest first; then much of each, where that is known and few words leave room.
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
