//! Decides with bitmaps which documents of a window match.

use super::bit_sliced_sums::BitSlicedSums;
use super::decision_diagram::DecisionDiagram;
use super::planned_word::{BOUND_MARGIN, PlannedWord};
use super::window::ScoreWindow;

/// Decides which documents contain enough of the query to match.
pub(super) enum Matching {
    /// For few words: the certain matches, and the possible ones if they are not the same.
    Steps { sure: DecisionDiagram, possible: Option<DecisionDiagram> },
    /// For many words: the same with sums. `least` are the minimum counts of a certain match and of
    /// a possible match.
    Sums { sure: Box<BitSlicedSums>, possible: Option<Box<BitSlicedSums>>, least: [u32; 2] },
}

impl Matching {
    pub(super) fn new(words: &[PlannedWord<'_>], mass_required: f32) -> Self {
        let masses: Vec<f32> = words.iter().map(|word| word.mass).collect();
        let is_graded = !words.iter().all(PlannedWord::is_one_term);
        if DecisionDiagram::is_for(words.len()) {
            let steps = || DecisionDiagram::new(&masses, mass_required);
            return Self::Steps { sure: steps(), possible: is_graded.then(steps) };
        }
        let sums = || Box::new(BitSlicedSums::new(&masses));
        let sure = sums();
        let least = [sure.certain_count(mass_required * BOUND_MARGIN), sure.possible_count(mass_required)];
        Self::Sums { possible: is_graded.then(sums), sure, least }
    }

    /// Evaluates the documents of a marked window.
    pub(super) fn decide(&mut self, words: &[PlannedWord<'_>], window: &ScoreWindow) {
        let groups = window.groups();
        let surely = |word: usize| words[word].documents_with_full_mass(window);
        let any = |word: usize| words[word].documents_with_any(window);
        match self {
            Self::Steps { sure, possible } => {
                sure.decide(surely, groups);
                if let Some(possible) = possible {
                    possible.decide(any, groups);
                }
            }
            Self::Sums { sure, possible, .. } => {
                sure.add_up(surely, groups);
                if let Some(possible) = possible {
                    possible.add_up(any, groups);
                }
            }
        }
    }

    /// The certain matches of a group, and the possible matches, which include the certain ones.
    pub(super) fn group(&self, group: usize) -> [u64; 2] {
        let (sure, possible) = match self {
            Self::Steps { sure, possible } => {
                let surely = sure.group(group);
                (surely, possible.as_ref().map_or(surely, |possible| possible.group(group)))
            }
            Self::Sums { sure, possible, least: [surely, possibly] } => {
                (sure.at_least(*surely, group), possible.as_ref().unwrap_or(sure).at_least(*possibly, group))
            }
        };
        [sure, possible | sure]
    }
}
