//! What the keyword leg is asked in one pass, and what it found.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::known::KnownWord;
use crate::search::bits::Bits;
use crate::search::filter::Admission;

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
    pub admission: Option<&'a Admission<'a>>,
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
        let best = self.living.first().into_iter().chain(self.dead.first()).fold(0.0_f32, |best, s| best.max(s.score));
        if self.possible > 0.0 { (best / self.possible).min(1.0) } else { 0.0 }
    }
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
