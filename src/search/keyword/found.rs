//! What the keyword leg is asked in one pass, and what it found.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::known::KnownWord;
use crate::search::bits::Bits;
use crate::search::filter::TagStatusFilter;

/// Of law no longer in force so many fewer matches are looked at: it is seldom what is looked for.
const DEAD_ONE_OF: usize = 3;

/// A scored document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::search) struct Scored {
    pub doc: u32,
    pub score: f32,
}

/// Best first, equal scores by ordinal.
pub(in crate::search) fn by_rank(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc))
}

/// What is asked of one pass.
pub(in crate::search) struct KeywordQuery<'a> {
    pub words: &'a [KnownWord],
    pub constraints: &'a Constraints,
    pub ranges: &'a OrdinalRanges,
    /// What the filters leave of them; none for all.
    pub admission: Option<&'a TagStatusFilter<'a>>,
    /// How many of the best living and of the best dead are kept.
    pub keep: usize,
    /// Whether to list all matches.
    pub list_matches: bool,
    pub dead: &'a Bits,
}

impl KeywordQuery<'_> {
    pub(super) fn admits(&self, doc: u32) -> bool {
        self.admission.is_none_or(|admission| admission.admits(NodeOrdinal(doc)))
    }
}

/// What one pass found.
#[derive(Debug, Default, PartialEq)]
pub(in crate::search) struct KeywordFound {
    pub total: u32,
    /// What a provision would score that could not say the words more often.
    pub possible: f32,
    /// Best first, equal scores by ordinal.
    pub living: Vec<Scored>,
    pub dead: Vec<Scored>,
    /// Those of the watched that match, ascending by document.
    pub watched: Vec<Scored>,
    /// All of them, ascending, if they were asked for.
    pub matches: Vec<u32>,
}

impl KeywordFound {
    /// Takes a match away that is none after all.
    pub(in crate::search) fn forget(&mut self, doc: u32) {
        for scored in [&mut self.living, &mut self.dead, &mut self.watched] {
            scored.retain(|scored| scored.doc != doc);
        }
        self.matches.retain(|&other| other != doc);
        self.total -= 1;
    }

    /// Adds what was found in other documents, where so many of the best are kept.
    pub(super) fn add(&mut self, other: Self, keep: usize) {
        self.total += other.total;
        for (best, others) in [(&mut self.living, other.living), (&mut self.dead, other.dead)] {
            best.extend(others);
            best.sort_unstable_by(by_rank);
            best.truncate(keep.max(1));
        }
        self.watch_also(other.watched);
        self.matches.extend(other.matches);
        self.matches.sort_unstable();
    }

    /// Adds what was found elsewhere than in the place that is preferred. A match elsewhere ranks by a part of its score, and
    /// keeps all of it. Nothing is dropped, so the best of both together are complete as far as those of each are.
    pub(in crate::search) fn add_elsewhere(&mut self, elsewhere: Self, share: f32) {
        self.total += elsewhere.total;
        self.possible = self.possible.max(elsewhere.possible);
        self.living = merged(&self.living, &elsewhere.living, share);
        self.dead = merged(&self.dead, &elsewhere.dead, share);
        self.watch_also(elsewhere.watched);
        self.matches.extend(elsewhere.matches);
        self.matches.sort_unstable();
    }

    pub(super) fn watch_also(&mut self, others: Vec<Scored>) {
        self.watched.extend(others);
        self.watched.sort_unstable_by_key(|scored| scored.doc);
    }

    /// So many of the best living matches, and fewer of the best dead ones.
    pub(in crate::search) fn best(&self, living: usize) -> [&[Scored]; 2] {
        [(&self.living, living), (&self.dead, living / DEAD_ONE_OF)].map(|(list, most)| &list[..list.len().min(most)])
    }

    /// How near the best match comes to what is possible, from 0 to 1.
    pub(in crate::search) fn coverage(&self) -> f32 {
        // The first is not the best where a place is preferred.
        let best = self.living.iter().chain(&self.dead).fold(0.0_f32, |best, scored| best.max(scored.score));
        if self.possible > 0.0 { (best / self.possible).min(1.0) } else { 0.0 }
    }
}

/// Two lists as one, of which the second ranks by a part of its scores.
fn merged(here: &[Scored], elsewhere: &[Scored], share: f32) -> Vec<Scored> {
    let ranked = |list: &[Scored], share: f32| -> Vec<(f32, Scored)> {
        list.iter().map(|&scored| (share * scored.score, scored)).collect()
    };
    let mut all = ranked(here, 1.0);
    all.append(&mut ranked(elsewhere, share));
    all.sort_unstable_by(|(a, one), (b, other)| b.total_cmp(a).then(one.doc.cmp(&other.doc)));
    all.into_iter().map(|(_, scored)| scored).collect()
}

/// What phrases and exclusions leave over; it holds in every mode.
#[derive(Debug, Default)]
pub(in crate::search) struct Constraints {
    /// Ascending; `None` if there is no phrase.
    pub(super) required: Option<Vec<u32>>,
    pub(super) excluded: Bits,
}

impl Constraints {
    pub(in crate::search) fn admit(&self, doc: u32) -> bool {
        let has_phrases = self.required.as_ref().is_none_or(|required| required.binary_search(&doc).is_ok());
        has_phrases && !self.excluded.has(doc)
    }
}
