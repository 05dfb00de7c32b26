//! The query and the result of one pass of the keyword leg.

use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::ranges::OrdinalRanges;

use super::known_words::KnownWord;
use crate::bitmap::DocumentBitmap;
use crate::filter::TagStatusFilter;

/// The top matches of law no longer in force are fewer than those of law in force by this factor:
/// users seldom look for them.
const NOT_IN_FORCE_DIVISOR: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub doc: u32,
    pub score: f32,
}

/// Orders the best score first, and equal scores by ordinal.
pub(crate) fn by_rank(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc))
}

/// The query of one pass.
pub(crate) struct KeywordQuery<'a> {
    pub words: &'a [KnownWord],
    pub constraints: &'a Constraints,
    pub ranges: &'a OrdinalRanges,
    /// The filters of the request. `None` admits all documents of the ranges.
    pub admission: Option<&'a TagStatusFilter<'a>>,
    /// How many top matches to keep, each for law in force and for law no longer in force.
    pub keep: usize,
    /// Whether to list all matches.
    pub list_matches: bool,
    /// The documents whose law is no longer in force.
    pub not_in_force: &'a DocumentBitmap,
}

impl KeywordQuery<'_> {
    pub(super) fn admits(&self, doc: u32) -> bool {
        self.admission.is_none_or(|admission| admission.admits(NodeOrdinal(doc)))
    }
}

/// The result of one pass.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct KeywordFound {
    pub total: u32,
    /// The limit of a score as the frequency of every query word grows. Only the heaviest term of
    /// each word counts.
    pub possible: f32,
    /// Best first, equal scores by ordinal.
    pub law_in_force: Vec<Scored>,
    pub not_in_force: Vec<Scored>,
    /// The watched documents that match, ascending by document.
    pub watched: Vec<Scored>,
    /// All matches, ascending, if the query asked to list them.
    pub matches: Vec<u32>,
}

impl KeywordFound {
    /// Removes a match that turned out not to be one.
    pub(crate) fn remove_match(&mut self, doc: u32) {
        for scored in [&mut self.law_in_force, &mut self.not_in_force, &mut self.watched] {
            scored.retain(|scored| scored.doc != doc);
        }
        self.matches.retain(|&other| other != doc);
        self.total -= 1;
    }

    /// Adds the result for other documents. `keep` is the number of top matches to keep.
    pub(super) fn add(&mut self, other: Self, keep: usize) {
        self.total += other.total;
        for (best, others) in
            [(&mut self.law_in_force, other.law_in_force), (&mut self.not_in_force, other.not_in_force)]
        {
            best.extend(others);
            best.sort_unstable_by(by_rank);
            best.truncate(keep.max(1));
        }
        self.watch_also(other.watched);
        self.matches.extend(other.matches);
        self.matches.sort_unstable();
    }

    /// Adds the result for documents outside the preferred place. Those matches rank by `share`
    /// times their score, but their score stays unchanged. Nothing is dropped, so the merged list
    /// is as complete as the two lists.
    pub(crate) fn add_elsewhere(&mut self, elsewhere: Self, share: f32) {
        self.total += elsewhere.total;
        self.possible = self.possible.max(elsewhere.possible);
        self.law_in_force = merged(&self.law_in_force, &elsewhere.law_in_force, share);
        self.not_in_force = merged(&self.not_in_force, &elsewhere.not_in_force, share);
        self.watch_also(elsewhere.watched);
        self.matches.extend(elsewhere.matches);
        self.matches.sort_unstable();
    }

    pub(super) fn watch_also(&mut self, others: Vec<Scored>) {
        self.watched.extend(others);
        self.watched.sort_unstable_by_key(|scored| scored.doc);
    }

    /// The top `living` matches in force, and fewer of the top matches no longer in force.
    pub(crate) fn best(&self, living: usize) -> [&[Scored]; 2] {
        [(&self.law_in_force, living), (&self.not_in_force, living / NOT_IN_FORCE_DIVISOR)]
            .map(|(list, most)| &list[..list.len().min(most)])
    }

    /// The best score as a share of the possible score, from 0 to 1.
    pub(crate) fn coverage(&self) -> f32 {
        // The first match need not have the best score if a place is preferred.
        let best =
            self.law_in_force.iter().chain(&self.not_in_force).fold(0.0_f32, |best, scored| best.max(scored.score));
        if self.possible > 0.0 { (best / self.possible).min(1.0) } else { 0.0 }
    }
}

/// Merges two lists; the second ranks by `share` times its scores. The scores stay unchanged.
fn merged(here: &[Scored], elsewhere: &[Scored], share: f32) -> Vec<Scored> {
    let ranked = |list: &[Scored], share: f32| -> Vec<(f32, Scored)> {
        list.iter().map(|&scored| (share * scored.score, scored)).collect()
    };
    let mut all = ranked(here, 1.0);
    all.append(&mut ranked(elsewhere, share));
    all.sort_unstable_by(|(a, one), (b, other)| b.total_cmp(a).then(one.doc.cmp(&other.doc)));
    all.into_iter().map(|(_, scored)| scored).collect()
}

/// The documents that phrases and exclusions allow, in every search mode.
#[derive(Debug, Default)]
pub(crate) struct Constraints {
    /// The documents that contain all phrases, ascending; `None` if there is no phrase.
    pub(crate) required: Option<Vec<u32>>,
    pub(super) excluded: DocumentBitmap,
}

impl Constraints {
    pub(crate) fn admit(&self, doc: u32) -> bool {
        let has_phrases = self.required.as_ref().is_none_or(|required| required.binary_search(&doc).is_ok());
        has_phrases && !self.excluded.has(doc)
    }
}
