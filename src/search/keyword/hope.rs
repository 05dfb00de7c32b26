//! Which documents of a window could have a score above a bar, decided with bits from the most that each word counts.

use super::threshold::{self, Found, Threshold};
use super::window::Window;
use super::word::{PlannedWord, ROUNDED_UP};

/// Of no more words than this it is asked which documents have much of each.
const TOLD_APART_MAX: usize = 4;

/// Which documents could still be among the best is decided anew once the bar has risen by so much.
const BAR_RISEN: f32 = 1.02;

/// Which documents can have a score above a bar.
#[derive(Default)]
pub(super) struct Hope {
    /// The one that it was decided for last; none yet.
    bar: Option<f32>,
    threshold: Threshold,
    scratch: Vec<u64>,
}

/// What a document may have of a word: any of it, or much.
#[derive(Clone, Copy)]
pub(super) struct Share {
    word: usize,
    is_much: bool,
    /// What it adds to the score at most, in addition to having any.
    most: f32,
}

impl Hope {
    /// The documents of the window whose words can add up to more than the bar.
    pub(super) fn above(&mut self, bar: f32, words: &[PlannedWord<'_>], shares: &[Share], window: &Window) -> Found {
        if bar == f32::NEG_INFINITY {
            return Found::All;
        }
        if self.bar.is_none_or(|decided| bar > decided * BAR_RISEN) {
            self.bar = Some(bar);
            let mosts: Vec<f32> = shares.iter().map(|share| share.most * ROUNDED_UP).collect();
            let untold: f32 = mosts.iter().skip(threshold::WORDS_MAX).sum();
            self.threshold = Threshold::new(&mosts, bar - untold);
        }
        let has = |place: usize| {
            let Share { word, is_much, .. } = shares[place];
            if is_much { words[word].much(window) } else { words[word].any(window) }
        };
        self.threshold.decide(has, window.groups(), &mut self.scratch)
    }

    /// The documents of a group, of those that were found last.
    pub(super) fn group(&self, found: Found, group: usize) -> u64 {
        found.group(&self.scratch, group)
    }
}

/// The shares of all words: any of each, weightiest first; then much of each, where that is known and few words leave room.
pub(super) fn shares(words: &[PlannedWord<'_>]) -> Vec<Share> {
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
