//! What the keyword leg is asked in one pass, and what it found.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::known::KnownWord;
use super::window::each_bit;
use crate::search::filter::Admission;

/// Of law no longer in force so many fewer matches are looked at: it is seldom what is looked for.
const DEAD_ONE_OF: usize = 3;

/// A scored document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::search) struct Scored {
    pub doc: u32,
    pub score: f32,
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
    /// Documents whose scores are asked for whatever their rank, ascending.
    pub watched: &'a [u32],
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
#[derive(Debug, Default)]
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

/// One bit a document.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct Bits(Vec<u64>);

impl Bits {
    pub(in crate::search) fn from_fn(len: u32, is_set: impl Fn(u32) -> bool) -> Self {
        let mut words = vec![0_u64; (len as usize).div_ceil(64)];
        for place in (0..len).filter(|&place| is_set(place)) {
            words[place as usize / 64] |= 1 << (place % 64);
        }
        Self(words)
    }

    pub(super) fn set(&mut self, place: u32) {
        if let Some(word) = self.0.get_mut(place as usize / 64) {
            *word |= 1 << (place % 64);
        }
    }

    pub(super) fn keep_common(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// The places whose bit is set, ascending.
    pub(super) fn places(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for (start, &word) in (0..).step_by(64).zip(&self.0) {
            each_bit(word, |bit| places.push(start + bit));
        }
        places
    }

    #[inline]
    pub(in crate::search) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}
