//! The keyword leg: which provisions have the words of a query, and how much they say.
//!
//! A provision **matches** if every phrase stands in it, nothing excluded does, and the words it has carry at least
//! [`SHARE_REQUIRED`] of what all words of the query that the corpus knows carry, a word carrying its inverse document
//! frequency. So a match has the rare words of a query, and may lack common ones. The definition asks nothing of page, limit
//! or filter: totals are exact and the same on every page, and it saves time too, for common words alone make no match and
//! need only be looked up where rarer ones stand.
//!
//! Scores are BM25 with the fields joined before saturation: a word in the heading counts as several in the text. Documents
//! are taken in windows, so that the sums lie in the nearest cache however large the corpus.

use std::cell::RefCell;
use std::io;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::keyword::KeywordIndex;
use tantivy::TantivyError;

use super::postings::{Cursor, FieldReader, FieldTuning, PhraseReader};
use super::understand::{PhraseTerms, QueryWord, is_stop_word};

/// What part of a query's weight a match must carry.
pub const SHARE_REQUIRED: f32 = 0.5;

/// How soon further occurrences of a word stop counting.
const SATURATION: f32 = 1.2;

/// More words than this are not looked up: the rarest are.
const WORDS_MAX: usize = 32;

const HEADING: FieldTuning = FieldTuning { weight: 4.0, length_normalisation: 0.5 };
const TEXT: FieldTuning = FieldTuning { weight: 1.0, length_normalisation: 0.75 };
const CITATION: FieldTuning = FieldTuning { weight: 2.0, length_normalisation: 0.0 };
const BREADCRUMB: FieldTuning = FieldTuning { weight: 1.0, length_normalisation: 0.5 };

/// Documents per window.
const WINDOW: u32 = 4096;

/// The fields of the index with their statistics.
pub(super) struct KeywordLeg {
    document_count: u32,
    heading: FieldReader,
    text: FieldReader,
    citation: FieldReader,
    breadcrumb: FieldReader,
}

/// A scored document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scored {
    pub doc: u32,
    pub score: f32,
}

/// What is asked of one pass.
pub(super) struct KeywordQuery<'a> {
    pub words: &'a [QueryWord],
    pub constraints: &'a Constraints,
    pub range: OrdinalRange,
    /// How many of the best living and of the best dead are kept.
    pub keep: usize,
    /// Documents whose scores are asked for whatever their rank, ascending.
    pub watched: &'a [u32],
    /// Whether to list all matches.
    pub list_matches: bool,
    pub dead: &'a Bits,
}

/// What one pass found.
#[derive(Debug, Default)]
pub(super) struct KeywordFound {
    pub total: u32,
    pub living_total: u32,
    /// Best first, equal scores by ordinal.
    pub living: Vec<Scored>,
    pub dead: Vec<Scored>,
    /// Those of the watched that match, ascending by document.
    pub watched: Vec<Scored>,
    /// All of them, ascending, if they were asked for.
    pub matches: Vec<u32>,
}

/// What phrases and exclusions leave over; it holds in every mode.
#[derive(Debug, Default)]
pub(super) struct Constraints {
    /// Ascending; `None` if there is no phrase.
    required: Option<Vec<u32>>,
    /// Ascending.
    excluded: Vec<u32>,
}

impl Constraints {
    pub(super) fn admit(&self, doc: u32) -> bool {
        let has_phrases = self.required.as_ref().is_none_or(|required| required.binary_search(&doc).is_ok());
        has_phrases && self.excluded.binary_search(&doc).is_err()
    }
}

/// One bit a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn from_fn(len: u32, is_set: impl Fn(u32) -> bool) -> Self {
        let mut words = vec![0_u64; (len as usize).div_ceil(64)];
        for place in (0..len).filter(|&place| is_set(place)) {
            words[place as usize / 64] |= 1 << (place % 64);
        }
        Self(words)
    }

    #[inline]
    pub(super) fn has(&self, place: u32) -> bool {
        self.0.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

impl KeywordLeg {
    pub(super) fn open(index: &KeywordIndex) -> Result<Self, TantivyError> {
        let fields = index.fields();
        Ok(Self {
            document_count: index.document_count(),
            heading: FieldReader::open(index, fields.heading, HEADING)?,
            text: FieldReader::open(index, fields.text, TEXT)?,
            citation: FieldReader::open(index, fields.citation, CITATION)?,
            breadcrumb: FieldReader::open(index, fields.breadcrumb, BREADCRUMB)?,
        })
    }

    fn fields(&self) -> [&FieldReader; 4] {
        [&self.text, &self.heading, &self.citation, &self.breadcrumb]
    }

    /// What a term carries. A word that only headings above have counts as rare as it is in those.
    pub(super) fn weight_of(&self, term: &str) -> io::Result<Option<f32>> {
        let said = self.text.document_count(term)?.max(self.heading.document_count(term)?);
        let found = match said {
            0 => self.citation.document_count(term)?.max(self.breadcrumb.document_count(term)?),
            said => said,
        };
        let (all, found) = (self.document_count as f32, found.min(self.document_count) as f32);
        Ok((found > 0.0).then(|| (1.0 + (all - found + 0.5) / (found + 0.5)).ln()))
    }

    /// Looks up phrases and exclusions.
    pub(super) fn constraints(
        &self,
        phrases: &[PhraseTerms],
        excluded: &[PhraseTerms],
        range: OrdinalRange,
    ) -> io::Result<Constraints> {
        let mut constraints = Constraints::default();
        for phrase in phrases.iter().filter(|phrase| is_selective(phrase)) {
            let found = self.with_phrase(phrase, range)?;
            match &mut constraints.required {
                None => constraints.required = Some(found),
                Some(required) => required.retain(|doc| found.binary_search(doc).is_ok()),
            }
        }
        for phrase in excluded {
            constraints.excluded.append(&mut self.with_phrase(phrase, range)?);
        }
        constraints.excluded.sort_unstable();
        Ok(constraints)
    }

    /// The documents of a range in whose heading or text the terms stand in a row, ascending.
    fn with_phrase(&self, phrase: &[String], range: OrdinalRange) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        let end = range.end.min(self.document_count);
        for field in [&self.heading, &self.text] {
            match phrase {
                [term] => {
                    if let Some(mut cursor) = field.cursor(term)? {
                        cursor.skip_to(range.start);
                        cursor.each_until(end, |doc, _| found.push(doc));
                    }
                }
                _ => {
                    if let Some(mut reader) = PhraseReader::open(field, phrase)? {
                        reader.find_all(OrdinalRange { start: range.start, end }, &mut found);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The documents of a range in whose citation a term stands; nothing where there are more than `max`.
    pub(super) fn with_citation_term(&self, term: &str, range: OrdinalRange, max: usize) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        let Some(mut cursor) = self.citation.cursor(term)? else { return Ok(found) };
        cursor.skip_to(range.start);
        cursor.each_until(range.end.min(self.document_count), |doc, _| {
            if found.len() <= max {
                found.push(doc);
            }
        });
        if found.len() > max {
            found.clear();
        }
        Ok(found)
    }

    /// Which of some documents, ascending, have the terms in a row in heading or text.
    pub(super) fn having_in_a_row(&self, phrase: &[String], docs: &[u32]) -> io::Result<Vec<u32>> {
        let mut readers = Vec::with_capacity(2);
        for field in [&self.heading, &self.text] {
            readers.extend(PhraseReader::open(field, phrase)?);
        }
        let has = |doc: &u32| readers.iter_mut().any(|reader| reader.is_in(*doc));
        Ok(docs.iter().copied().filter(has).collect())
    }

    /// Which terms of the query a document has, for whoever wants to know why it was found.
    pub(super) fn terms_in(&self, words: &[QueryWord], doc: u32) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for term in words.iter().flat_map(|word| word.whole.iter().chain(&word.parts)) {
            for field in self.fields() {
                let has = field.cursor(term)?.is_some_and(|mut cursor| cursor.worth_at(doc) > 0.0);
                if has && !found.contains(term) {
                    found.push(term.clone());
                }
            }
        }
        Ok(found)
    }

    /// One pass over the range.
    pub(super) fn search(&self, query: &KeywordQuery<'_>) -> io::Result<KeywordFound> {
        let range = OrdinalRange { start: query.range.start, end: query.range.end.min(self.document_count) };
        let mut plan = Plan::new(self, query.words)?;
        thread_local! {
            static SCRATCH: RefCell<Window> = RefCell::default();
        }
        SCRATCH.with_borrow_mut(|window| {
            let mut collector = Collector::new(query);
            plan.start_at(range.start);
            let mut start = range.start;
            while start < range.end {
                let end = range.end.min(start.saturating_add(WINDOW));
                window.restart(start, end);
                plan.fill(window, query.constraints.required.as_deref());
                collector.take(window, plan.mass_required);
                start = end;
            }
            Ok(collector.finish())
        })
    }
}

/// A phrase of stop words alone would have to be looked for in nearly every provision; it ranks, but is not required.
fn is_selective(phrase: &PhraseTerms) -> bool {
    phrase.len() == 1 || !phrase.iter().all(|term| is_stop_word(term))
}

/// One word of the plan: the cursors of its terms.
struct PlannedWord<'a> {
    /// What the word carries towards a match.
    mass: f32,
    terms: Vec<PlannedTerm<'a>>,
    postings: u32,
}

struct PlannedTerm<'a> {
    /// What it adds to the score when saturated.
    weight: f32,
    /// What it adds to the mass of its word.
    mass: f32,
    cursors: Vec<Cursor<'a>>,
}

/// The words of a query, rarest first.
struct Plan<'a> {
    words: Vec<PlannedWord<'a>>,
    /// Only a provision with one of the first so many words can match.
    essential: usize,
    mass_required: f32,
}

impl<'a> Plan<'a> {
    fn new(leg: &'a KeywordLeg, words: &[QueryWord]) -> io::Result<Self> {
        let mut weighed = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let whole = word.whole.as_deref().map(|whole| leg.weight_of(whole)).transpose()?.flatten();
            let parts: Vec<Option<f32>> =
                word.parts.iter().map(|part| leg.weight_of(part)).collect::<io::Result<_>>()?;
            let rarest_part =
                parts.iter().flatten().copied().fold(None, |most: Option<f32>, w| Some(most.map_or(w, |m| m.max(w))));
            // A compound carries what the rarest of its parts does, so that one word stays one word.
            if let Some(mass) = rarest_part.or(whole) {
                weighed.push((mass, place, whole, parts));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weighed.truncate(WORDS_MAX);
        let mut planned = Vec::with_capacity(weighed.len());
        for (mass, place, whole, parts) in weighed {
            planned.push(PlannedWord::open(leg, &words[place], mass, whole, &parts)?);
        }
        let mass_total: f32 = planned.iter().map(|word| word.mass).sum();
        // A hair less, so that the order of sums decides nothing.
        let mass_required = mass_total * SHARE_REQUIRED * 0.9999;
        let mut rest = mass_total;
        let essential = planned.iter().take_while(|word| {
            let needed = rest >= mass_required;
            rest -= word.mass;
            needed
        });
        let essential = essential.count();
        Ok(Self { essential, words: planned, mass_required })
    }

    fn start_at(&mut self, doc: u32) {
        if doc > 0 {
            let cursors = self.words.iter_mut().flat_map(|word| &mut word.terms).flat_map(|term| &mut term.cursors);
            cursors.for_each(|cursor| cursor.skip_to(doc));
        }
    }

    /// Sums up scores and masses of the window's candidates.
    fn fill(&mut self, window: &mut Window, required: Option<&[u32]>) {
        let essential = match required {
            None => self.essential,
            Some(required) => {
                let from = required.partition_point(|&doc| doc < window.start);
                let to = required.partition_point(|&doc| doc < window.end);
                required[from..to].iter().for_each(|&doc| window.admit(doc));
                0
            }
        };
        for word in &mut self.words[..essential] {
            word.add_all(window);
        }
        window.candidates_known(essential > 1);
        for word in &mut self.words[essential..] {
            let sparse = window.candidates.len() as u64 * 16
                < u64::from(word.postings) * u64::from(WINDOW) / u64::from(window.document_count.max(1));
            if sparse { word.add_sought(window) } else { word.add_to_candidates(window) }
        }
    }
}

impl<'a> PlannedWord<'a> {
    fn open(
        leg: &'a KeywordLeg,
        word: &QueryWord,
        mass: f32,
        whole: Option<f32>,
        parts: &[Option<f32>],
    ) -> io::Result<Self> {
        let mut terms = Vec::new();
        let known_parts = parts.iter().flatten().count().max(1) as f32;
        let whole = word.whole.iter().zip(whole).map(|(term, weight)| (term, weight, mass));
        let parts =
            word.parts.iter().zip(parts).filter_map(|(term, weight)| Some((term, (*weight)?, mass / known_parts)));
        for (term, weight, mass) in whole.chain(parts) {
            let mut cursors = Vec::with_capacity(4);
            for field in leg.fields() {
                cursors.extend(field.cursor(term)?);
            }
            terms.push(PlannedTerm { weight: weight * (SATURATION + 1.0), mass, cursors });
        }
        let postings = terms.iter().flat_map(|term| &term.cursors).map(Cursor::len).sum();
        Ok(Self { mass, terms, postings })
    }

    /// Every document of the window that has the word becomes a candidate.
    fn add_all(&mut self, window: &mut Window) {
        let end = window.end;
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                cursor.each_until(end, |doc, worth| window.count(doc, worth));
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }

    /// Reads the postings through and counts those of candidates.
    fn add_to_candidates(&mut self, window: &mut Window) {
        let (start, end) = (window.start, window.end);
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                cursor.skip_to(start);
                cursor.each_until(end, |doc, worth| {
                    if window.is_candidate(doc) {
                        window.count(doc, worth);
                    }
                });
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }

    /// Looks each candidate up.
    fn add_sought(&mut self, window: &mut Window) {
        for term in &mut self.terms {
            for cursor in &mut term.cursors {
                for place in 0..window.candidates.len() {
                    let doc = window.candidates[place];
                    let worth = cursor.worth_at(doc);
                    if worth > 0.0 {
                        window.count(doc, worth);
                    }
                }
            }
            window.end_term(term.weight, term.mass);
        }
        window.end_word(self.mass);
    }
}

/// The sums of a run of documents.
#[derive(Default)]
struct Window {
    start: u32,
    end: u32,
    document_count: u32,
    cells: Vec<Cell>,
    /// Cells that the term at hand has touched, then those of the word at hand.
    of_term: Vec<u32>,
    of_word: Vec<u32>,
    /// Documents, ascending once all are known.
    candidates: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    /// What the term's occurrences count, over all fields.
    worth: f32,
    word_mass: f32,
    score: f32,
    mass: f32,
    is_candidate: bool,
}

impl Window {
    fn restart(&mut self, start: u32, end: u32) {
        (self.start, self.end) = (start, end);
        self.document_count = self.document_count.max(end);
        self.cells.clear();
        self.cells.resize((end - start) as usize, Cell::default());
        self.candidates.clear();
    }

    /// Makes a document a candidate before any word was looked up.
    fn admit(&mut self, doc: u32) {
        if let Some(cell) = self.cells.get_mut(doc.wrapping_sub(self.start) as usize)
            && !cell.is_candidate
        {
            cell.is_candidate = true;
            self.candidates.push(doc);
        }
    }

    #[inline]
    fn is_candidate(&self, doc: u32) -> bool {
        self.cells.get(doc.wrapping_sub(self.start) as usize).is_some_and(|cell| cell.is_candidate)
    }

    #[inline]
    fn count(&mut self, doc: u32, worth: f32) {
        let place = doc.wrapping_sub(self.start);
        let Some(cell) = self.cells.get_mut(place as usize) else { return };
        if cell.worth == 0.0 {
            self.of_term.push(place);
        }
        cell.worth += worth;
    }

    fn end_term(&mut self, weight: f32, mass: f32) {
        for &place in &self.of_term {
            let cell = &mut self.cells[place as usize];
            cell.score += weight * cell.worth / (cell.worth + SATURATION);
            cell.worth = 0.0;
            if cell.word_mass == 0.0 {
                self.of_word.push(place);
            }
            cell.word_mass += mass;
        }
        self.of_term.clear();
    }

    fn end_word(&mut self, mass: f32) {
        for &place in &self.of_word {
            let cell = &mut self.cells[place as usize];
            // Whole and parts of one compound say the same once.
            cell.mass += cell.word_mass.min(mass);
            cell.word_mass = 0.0;
            if !cell.is_candidate {
                cell.is_candidate = true;
                self.candidates.push(place + self.start);
            }
        }
        self.of_word.clear();
    }

    fn candidates_known(&mut self, from_several_lists: bool) {
        if from_several_lists || !self.candidates.is_sorted() {
            self.candidates.sort_unstable();
        }
    }
}

/// Keeps the best, counts all.
struct Collector<'q> {
    query: &'q KeywordQuery<'q>,
    watched_at: usize,
    found: KeywordFound,
    living: Best,
    dead: Best,
}

impl<'q> Collector<'q> {
    fn new(query: &'q KeywordQuery<'q>) -> Self {
        let best = || Best { keep: query.keep.max(1), bar: f32::NEG_INFINITY, found: Vec::new() };
        Self { query, watched_at: 0, found: KeywordFound::default(), living: best(), dead: best() }
    }

    fn take(&mut self, window: &Window, mass_required: f32) {
        let excluded = &self.query.constraints.excluded;
        let required = self.query.constraints.required.is_some();
        for &doc in &window.candidates {
            let cell = window.cells[(doc - window.start) as usize];
            // Phrases of stop words have no ranking word besides themselves.
            let enough = cell.mass >= mass_required && (cell.mass > 0.0 || required);
            if !enough || (!excluded.is_empty() && excluded.binary_search(&doc).is_ok()) {
                continue;
            }
            let scored = Scored { doc, score: cell.score };
            self.found.total += 1;
            if self.query.dead.has(doc) {
                self.dead.offer(scored);
            } else {
                self.found.living_total += 1;
                self.living.offer(scored);
            }
            if self.query.list_matches {
                self.found.matches.push(doc);
            }
            self.watch(scored);
        }
    }

    fn watch(&mut self, scored: Scored) {
        let watched = self.query.watched;
        while watched.get(self.watched_at).is_some_and(|&doc| doc < scored.doc) {
            self.watched_at += 1;
        }
        if watched.get(self.watched_at) == Some(&scored.doc) {
            self.found.watched.push(scored);
        }
    }

    fn finish(mut self) -> KeywordFound {
        self.found.living = self.living.finish();
        self.found.dead = self.dead.finish();
        self.found
    }
}

/// The best so many, by score and then by ordinal. Documents are offered in ascending order.
struct Best {
    keep: usize,
    /// What is not better than this cannot get in.
    bar: f32,
    found: Vec<Scored>,
}

impl Best {
    #[inline]
    fn offer(&mut self, scored: Scored) {
        if scored.score > self.bar {
            self.found.push(scored);
            if self.found.len() >= self.keep * 4 {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        if self.found.len() > self.keep {
            self.found.select_nth_unstable_by(self.keep - 1, by_rank);
            self.found.truncate(self.keep);
            self.bar = self.found[self.keep - 1].score;
        }
    }

    fn finish(mut self) -> Vec<Scored> {
        self.prune();
        self.found.sort_unstable_by(by_rank);
        self.found
    }
}

fn by_rank(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.doc.cmp(&b.doc))
}

#[cfg(test)]
mod tests;
