//! The law as it is on a day: which wording of each provision is shown, and which provisions are in force.
//!
//! Few provisions change over time, so the law on a day is a small table on top of the data that never
//! changes. One table serves all days between two changes of the law. The engine caches the last few
//! tables.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{ChunkOrdinal, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::validity::{ShownWording, StatesOnDay};

use super::bitmap::DocumentBitmap;
use super::error::SearchError;
use super::understand::with_analyzer;

/// The number of cached tables, besides the latest one. A request for another day costs little more
/// than a search, so a few are enough.
const CACHED_DAYS_MAX: usize = 8;

/// The law of a snapshot on a day.
pub struct LawOnDay {
    snapshot: Arc<Snapshot>,
    /// The number of the period between two changes of the law; `None` for the latest date of each source.
    law_period: Option<usize>,
    standings: StatesOnDay,
    /// The provisions that have several wordings, on any day. They are few, and testing a bit is faster
    /// than a binary search.
    has_several_wordings: Arc<DocumentBitmap>,
    /// The provisions that are not law on the day: neither in force nor of uncertain status.
    pub(super) not_law: DocumentBitmap,
    /// Caches the hidden words of provisions: reading the wordings of one takes longer than a search.
    hidden: Mutex<HashMap<NodeOrdinal, Arc<HiddenWords>>>,
}

impl fmt::Debug for LawOnDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LawOnDay").finish_non_exhaustive()
    }
}

impl LawOnDay {
    /// The period: the same for all days between two changes of the law.
    pub fn stretch(&self) -> Option<usize> {
        self.law_period
    }

    /// The wording of a node that is shown, with its status.
    pub fn shown(&self, node: NodeOrdinal) -> ShownWording {
        let changing = self.standings.shown(node);
        changing.unwrap_or_else(|| ShownWording::constant(self.snapshot.outline.status(node)))
    }

    pub fn status(&self, node: NodeOrdinal) -> Status {
        self.shown(node).status
    }

    /// The provisions that are not the same on every day, with their status on this day.
    pub fn changing(&self) -> impl Iterator<Item = (NodeOrdinal, Status)> + '_ {
        self.standings.statuses()
    }

    /// How many provisions of a range are law: in force or of uncertain status.
    pub fn count_in_force(&self, range: OrdinalRange) -> u32 {
        let outline = &self.snapshot.outline;
        let is_law = |&node: &u32| outline.is_provision(NodeOrdinal(node)) && !self.not_law.has(node);
        range.iter().filter(is_law).count() as u32
    }

    /// The chunks of the shown wording.
    pub(super) fn chunks_of(&self, node: NodeOrdinal) -> OrdinalRange {
        let shown = if self.hides_wordings_of(node) { self.standings.chunks_shown(node) } else { None };
        shown.unwrap_or_else(|| self.snapshot.chunks.chunks_of(node))
    }

    /// Whether a chunk of a provision belongs to the shown wording.
    pub(super) fn shows(&self, node: NodeOrdinal, chunk: ChunkOrdinal) -> bool {
        !self.hides_wordings_of(node) || self.chunks_of(node).contains(chunk.0)
    }

    /// The words that occur only in wordings that are not shown.
    pub(super) fn hidden_words(&self, node: NodeOrdinal) -> Result<Arc<HiddenWords>, SearchError> {
        let kept = || self.hidden.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(&node) {
            return Ok(Arc::clone(known));
        }
        let record = self.snapshot.nodes.get(node)?;
        let shown = self.shown(node).place;
        let (mut of_shown, mut of_others) = (Vec::new(), Vec::new());
        for (place, wording) in record.wordings.iter().enumerate() {
            let to = if place == shown { &mut of_shown } else { &mut of_others };
            to.extend([wording.heading.as_str(), self.snapshot.texts.get(wording.text)?]);
        }
        let shown_words = words_of(of_shown);
        let mut hidden = words_of(of_others);
        hidden.retain(|word| !shown_words.contains(word));
        let hidden = Arc::new(HiddenWords(hidden));
        kept().insert(node, Arc::clone(&hidden));
        Ok(hidden)
    }

    /// Whether a provision has wordings that are not shown.
    pub(super) fn hides_wordings_of(&self, node: NodeOrdinal) -> bool {
        self.has_several_wordings.has(node.0)
    }
}

/// The words that occur only in the hidden wordings of a provision, as terms of the keyword index.
#[derive(Default)]
pub(super) struct HiddenWords(HashSet<String>);

impl HiddenWords {
    pub(super) fn has(&self, term: &str) -> bool {
        self.0.contains(term)
    }
}

fn words_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> HashSet<String> {
    let mut words = HashSet::new();
    with_analyzer(|analyzer| {
        for text in texts {
            analyzer.analyze(text, |token| {
                if !words.contains(token.text) {
                    words.insert(token.text.to_owned());
                }
            });
        }
    });
    words
}

/// The law on any day, with a cache.
pub(super) struct LawByDay {
    /// The law as of the latest date of each source.
    latest: Arc<LawOnDay>,
    /// Most recently used first.
    cached_laws: Mutex<Vec<Arc<LawOnDay>>>,
}

impl LawByDay {
    pub(super) fn of(snapshot: &Arc<Snapshot>) -> Self {
        let outline = &snapshot.outline;
        let standings = snapshot.validity.first_wordings(|node| outline.status(node));
        let mut several = DocumentBitmap::empty_for(outline.len());
        standings.with_several_wordings().for_each(|node| several.put(node.0, true));
        let latest = LawOnDay {
            snapshot: Arc::clone(snapshot),
            law_period: None,
            standings,
            has_several_wordings: Arc::new(several),
            hidden: Mutex::default(),
            not_law: DocumentBitmap::from_fn(outline.len(), |node| {
                !outline.status(NodeOrdinal(node)).may_be_in_force()
            }),
        };
        Self { latest: Arc::new(latest), cached_laws: Mutex::default() }
    }

    /// The law on a day; without a day, as of the latest date of each source.
    pub(super) fn on(&self, day: Option<Day>) -> Arc<LawOnDay> {
        let Some(day) = day else { return Arc::clone(&self.latest) };
        let stretch = self.latest.snapshot.validity.epoch(day);
        if let Some(law) = self.kept_of(stretch) {
            return law;
        }
        let law = Arc::new(self.latest.on(day, stretch));
        let mut kept = self.cached_laws.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(0, Arc::clone(&law));
        kept.truncate(CACHED_DAYS_MAX);
        law
    }

    fn kept_of(&self, stretch: usize) -> Option<Arc<LawOnDay>> {
        let mut kept = self.cached_laws.lock().unwrap_or_else(PoisonError::into_inner);
        let place = kept.iter().position(|law| law.law_period == Some(stretch))?;
        kept[..=place].rotate_right(1);
        kept.first().map(Arc::clone)
    }
}

impl LawOnDay {
    /// The law of the same snapshot on another day.
    fn on(&self, day: Day, stretch: usize) -> Self {
        let standings = self.snapshot.validity.on(day);
        let mut dead = self.not_law.clone();
        for (node, status) in standings.statuses() {
            dead.put(node.0, !status.may_be_in_force());
        }
        Self {
            snapshot: Arc::clone(&self.snapshot),
            law_period: Some(stretch),
            standings,
            has_several_wordings: Arc::clone(&self.has_several_wordings),
            hidden: Mutex::default(),
            not_law: dead,
        }
    }
}
