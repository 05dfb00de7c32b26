//! Cursors over the postings of one field, and phrases over their positions.
//!
//! The readers of the four fields are opened once, so that no query takes a lock. Every ordinal read from a file is
//! checked against the number of documents before it is used as an index.

use std::io;
use std::sync::Arc;

use hornbook_corpus::ids::OrdinalRange;
use hornbook_corpus::keyword::KeywordIndex;
use hornbook_corpus::ranges::OrdinalRanges;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{BlockSegmentPostings, Postings, SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED, TantivyError, Term};

use super::tuning::FieldTuning;

/// So many documents at a time are compared with one that is looked for, and so often.
const PASSED: usize = 8;
const PASSED_TIMES: usize = 2;

/// A block of postings has so many documents at most.
const BLOCK: usize = 128;

/// One field, ready to be read.
pub(super) struct FieldReader {
    field: Field,
    inverted: Arc<InvertedIndexReader>,
    norms: FieldNormReader,
    /// By the id of a length: what one occurrence counts.
    factors: Box<[f32; 256]>,
}

impl FieldReader {
    pub(super) fn open(index: &KeywordIndex, field: Field, tuning: FieldTuning) -> Result<Self, TantivyError> {
        let segment = index.segment();
        let inverted = segment.inverted_index(field)?;
        let norms = segment.get_fieldnorms_reader(field)?;
        let average = (inverted.total_num_tokens() as f32 / index.document_count().max(1) as f32).max(1.0);
        let mut factors = Box::new([0.0; 256]);
        for (id, factor) in (0..=255).zip(factors.iter_mut()) {
            let length = FieldNormReader::id_to_fieldnorm(id) as f32;
            let b = tuning.length_normalisation;
            *factor = tuning.weight / (1.0 - b + b * length / average);
        }
        Ok(Self { field, inverted, norms, factors })
    }

    /// In how many documents the field has the term.
    pub(super) fn document_count(&self, term: &str) -> io::Result<u32> {
        self.inverted.doc_freq(&Term::from_field_text(self.field, term))
    }

    /// The entry of a term in the dictionary, for [`Self::cursor_of`].
    pub(super) fn entry(&self, term: &str) -> io::Result<Option<TermInfo>> {
        self.inverted.get_term_info(&Term::from_field_text(self.field, term))
    }

    pub(super) fn cursor_of(&self, entry: &TermInfo) -> io::Result<Cursor<'_>> {
        let blocks = self.inverted.read_block_postings_from_terminfo(entry, IndexRecordOption::WithFreqs)?;
        Ok(Cursor { blocks, at: 0, reader: self })
    }

    /// The same for documents alone; what the term counts in them is not read.
    pub(super) fn documents_of(&self, entry: &TermInfo) -> io::Result<Cursor<'_>> {
        let blocks = self.inverted.read_block_postings_from_terminfo(entry, IndexRecordOption::Basic)?;
        Ok(Cursor { blocks, at: 0, reader: self })
    }

    pub(super) fn cursor(&self, term: &str) -> io::Result<Option<Cursor<'_>>> {
        self.cursor_over(term, IndexRecordOption::WithFreqs)
    }

    fn cursor_over(&self, term: &str, option: IndexRecordOption) -> io::Result<Option<Cursor<'_>>> {
        let term = Term::from_field_text(self.field, term);
        let blocks = self.inverted.read_block_postings(&term, option)?;
        Ok(blocks.map(|blocks| Cursor { blocks, at: 0, reader: self }))
    }

    /// Hands over every document of a range that has the term, in order.
    pub(super) fn each_with(&self, term: &str, ranges: &OrdinalRanges, mut sink: impl FnMut(u32)) -> io::Result<()> {
        let Some(mut cursor) = self.cursor_over(term, IndexRecordOption::Basic)? else { return Ok(()) };
        for range in ranges.as_slice() {
            cursor.skip_to(range.start);
            cursor.each_until(range.end.min(self.norms.num_docs()), |doc, _| sink(doc));
        }
        Ok(())
    }

    /// What so many occurrences count in a document.
    #[inline]
    fn worth(&self, doc: u32, freq: u32) -> f32 {
        if doc >= self.norms.num_docs() {
            return 0.0;
        }
        freq as f32 * self.factors[usize::from(self.norms.fieldnorm_id(doc))]
    }

    fn positions_of(&self, entry: &TermInfo) -> io::Result<SegmentPostings> {
        self.inverted.read_postings_from_terminfo(entry, IndexRecordOption::WithFreqsAndPositions)
    }
}

/// The documents of one term in one field, in order; it only moves on.
pub(super) struct Cursor<'a> {
    blocks: BlockSegmentPostings,
    at: usize,
    reader: &'a FieldReader,
}

impl Cursor<'_> {
    /// In how many documents the term stands.
    pub(super) fn len(&self) -> u32 {
        self.blocks.doc_freq()
    }

    /// How many documents of some ranges the term is in, counted up to `most`; a block that lies inside is not looked into.
    pub(super) fn count_in(&mut self, ranges: &OrdinalRanges, most: u32) -> u32 {
        let counts = ranges.as_slice().iter().map(|&range| self.count_in_range(range, most));
        counts.fold(0, |sum, count| most.min(sum + count))
    }

    fn count_in_range(&mut self, range: OrdinalRange, most: u32) -> u32 {
        self.skip_to(range.start);
        let mut found = 0;
        loop {
            let docs = self.blocks.docs().get(self.at..).unwrap_or_default();
            let Some(&last) = docs.last() else { return found.min(most) };
            let is_inside = last < range.end;
            let inside = if is_inside { docs.len() } else { docs.partition_point(|&doc| doc < range.end) };
            found += inside as u32;
            if !is_inside || found >= most {
                return found.min(most);
            }
            self.blocks.advance();
            self.at = 0;
        }
    }

    /// The document that it is at; none past the last.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.at > 0 && self.at >= self.blocks.docs().len() {
            self.blocks.advance();
            self.at = 0;
        }
        self.blocks.docs().get(self.at).copied()
    }

    /// Hands every document from here to `end` with what the term's occurrences count in it.
    #[inline]
    pub(super) fn each_until(&mut self, end: u32, mut sink: impl FnMut(u32, f32)) {
        self.each_run_until(end, |reader, docs, freqs| {
            for (place, &doc) in docs.iter().enumerate() {
                sink(doc, reader.worth(doc, frequency(freqs, place)));
            }
        });
    }

    /// Hands over every document from here to `end`.
    #[inline]
    pub(super) fn each_document_until(&mut self, end: u32, mut sink: impl FnMut(u32)) {
        self.each_run_until(end, |_, docs, _| docs.iter().for_each(|&doc| sink(doc)));
    }

    /// What [`Self::each_until`] hands over, for those documents that are wanted; the others cost least.
    #[inline]
    pub(super) fn each_wanted_until(
        &mut self,
        end: u32,
        is_wanted: impl Fn(u32) -> bool,
        mut sink: impl FnMut(u32, f32),
    ) {
        self.each_run_until(end, |reader, docs, freqs| {
            // Which are wanted is found without a branch on it, which nobody could foresee.
            let mut wanted = [0_u8; BLOCK];
            let mut count = 0;
            for (place, &doc) in (0..).zip(docs) {
                wanted[count] = place;
                count += usize::from(is_wanted(doc));
            }
            for place in wanted[..count].iter().map(|&place| usize::from(place)) {
                sink(docs[place], reader.worth(docs[place], frequency(freqs, place)));
            }
        });
    }

    /// Hands over the documents from here to `end` and how often each has the term, block by block.
    #[inline]
    fn each_run_until(&mut self, end: u32, mut sink: impl FnMut(&FieldReader, &[u32], &[u32])) {
        loop {
            let docs = self.blocks.docs();
            let len = docs.len();
            if self.at >= len {
                if len == 0 {
                    return;
                }
                self.blocks.advance();
                self.at = 0;
                continue;
            }
            // Whole blocks need no comparison of each document.
            let inside =
                if docs[len - 1] < end { len } else { self.at + docs[self.at..].partition_point(|&doc| doc < end) };
            let freqs = self.blocks.freqs().get(self.at..).unwrap_or_default();
            sink(self.reader, &docs[self.at..inside], freqs);
            self.at = inside;
            if inside < len {
                return;
            }
        }
    }

    /// What the term's occurrences count in a document at or after those asked for before; zero if it has none.
    #[inline]
    pub(super) fn worth_at(&mut self, doc: u32) -> f32 {
        match self.frequency_at(doc) {
            0 => 0.0,
            frequency => self.reader.worth(doc, frequency),
        }
    }

    /// How often the term stands in a document at or after those asked for before.
    fn frequency_at(&mut self, doc: u32) -> u32 {
        match self.is_in(doc) {
            true => frequency(self.blocks.freqs(), self.at),
            false => 0,
        }
    }

    /// Whether a document at or after those asked for before has the term.
    #[inline]
    pub(super) fn is_in(&mut self, doc: u32) -> bool {
        self.skip_to(doc);
        self.blocks.docs().get(self.at) == Some(&doc)
    }

    /// Moves on to the first document at or after `doc`.
    #[inline]
    pub(super) fn skip_to(&mut self, doc: u32) {
        let docs = self.blocks.docs();
        match docs.last() {
            None => {}
            Some(&last) if last >= doc => {
                // What is looked for next is mostly near: a few at a time are passed before the rest is halved.
                let mut rest = docs.get(self.at..).unwrap_or_default();
                for _ in 0..PASSED_TIMES {
                    let Some((next, others)) = rest.split_at_checked(PASSED) else { break };
                    let passed = next.iter().map(|&other| usize::from(other < doc)).sum::<usize>();
                    self.at += passed;
                    if passed < PASSED {
                        return;
                    }
                    rest = others;
                }
                self.at += rest.partition_point(|&other| other < doc);
            }
            Some(_) => self.at = self.blocks.seek(doc),
        }
    }
}

/// How often the term stands in a document of a run: once, where frequencies are not recorded.
#[inline]
fn frequency(freqs: &[u32], place: usize) -> u32 {
    freqs.get(place).copied().unwrap_or(1)
}

/// Some terms of one field that are wanted all together.
pub(super) struct AllTerms<'a>(Option<Vec<Cursor<'a>>>);

impl<'a> AllTerms<'a> {
    pub(super) fn open(field: &'a FieldReader, terms: impl IntoIterator<Item = &'a String>) -> io::Result<Self> {
        let mut cursors = Vec::new();
        for term in terms {
            match field.cursor_over(term, IndexRecordOption::Basic)? {
                Some(cursor) => cursors.push(cursor),
                None => return Ok(Self(None)),
            }
        }
        // The rarest says no soonest.
        cursors.sort_by_key(Cursor::len);
        Ok(Self(Some(cursors)))
    }

    /// Whether all stand in a document at or after those asked for before.
    pub(super) fn stand_in(&mut self, doc: u32) -> bool {
        self.0.as_mut().is_some_and(|cursors| cursors.iter_mut().all(|cursor| cursor.is_in(doc)))
    }
}

/// From so many documents, evenly spread, it is estimated how often a term stands in all of them.
const SAMPLED: usize = 48;

/// No provision has a term in so many places: texts are far shorter.
const PLACES_MAX: u32 = 1 << 24;

/// Finding a list of places and unpacking its block costs as much as reading so many places.
const LIST_COST: usize = 64;

/// A phrase in one field.
pub(super) struct PhraseReader<'a> {
    field: &'a FieldReader,
    /// Rarest first.
    terms: Vec<PhraseTerm>,
    starts: Vec<u32>,
    positions: Vec<u32>,
}

/// A term of a phrase, with its place in it.
struct PhraseTerm {
    place: u32,
    entry: TermInfo,
    postings: SegmentPostings,
}

impl<'a> PhraseReader<'a> {
    /// `None` if a term stands nowhere in the field.
    pub(super) fn open(field: &'a FieldReader, phrase: &[String]) -> io::Result<Option<Self>> {
        let mut terms = Vec::with_capacity(phrase.len());
        for (place, term) in (0..).zip(phrase) {
            let Some(entry) = field.entry(term)? else { return Ok(None) };
            let postings = field.positions_of(&entry)?;
            terms.push(PhraseTerm { place, entry, postings });
        }
        terms.sort_by_key(|term| (term.entry.doc_freq, term.place));
        Ok(Some(Self { field, terms, starts: Vec::new(), positions: Vec::new() }))
    }

    /// Looks at the places of so many terms alone, the rarest.
    pub(super) fn check_rarest(&mut self, terms: usize) {
        self.terms.truncate(terms);
    }

    /// What reading the places of each term in some documents costs, rarest term first: one for each place, and
    /// [`LIST_COST`] for each document that has some. A few documents tell it for all.
    pub(super) fn cost_of_each(&self, docs: &[u32]) -> io::Result<Vec<usize>> {
        let step = docs.len().div_ceil(SAMPLED).max(1);
        let mut costs = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let mut cursor = self.field.cursor_of(&term.entry)?;
            let found = docs.iter().step_by(step).map(|&doc| match cursor.frequency_at(doc) {
                0 => 0,
                places => LIST_COST + places as usize,
            });
            costs.push(found.sum::<usize>() * docs.len() / docs.len().div_ceil(step).max(1));
        }
        Ok(costs)
    }

    /// Whether a document at or after those asked for before has the phrase.
    pub(super) fn is_in(&mut self, doc: u32) -> bool {
        self.terms.iter_mut().all(|term| seek(&mut term.postings, doc) == doc) && self.stands_here()
    }

    /// Whether the terms stand in a row in the document that all of them are at.
    fn stands_here(&mut self) -> bool {
        let Self { terms, starts, positions, .. } = self;
        // A damaged list says anything, and room is made for as many places as it says.
        if terms.iter().any(|term| term.postings.term_freq() > PLACES_MAX) {
            return false;
        }
        let Some((rarest, others)) = terms.split_first_mut() else { return false };
        rarest.postings.positions(starts);
        starts.retain(|start| *start >= rarest.place);
        starts.iter_mut().for_each(|start| *start -= rarest.place);
        for term in others {
            if starts.is_empty() {
                return false;
            }
            term.postings.positions(positions);
            let mut rest = positions.as_slice();
            starts.retain(|start| {
                let wanted = start + term.place;
                // Cheaper than halving: what was read through to be decoded may be read through once more.
                let passed = rest.iter().take_while(|&&position| position < wanted).count();
                rest = &rest[passed..];
                rest.first() == Some(&wanted)
            });
        }
        !starts.is_empty()
    }
}

fn seek(postings: &mut SegmentPostings, doc: u32) -> u32 {
    let at = postings.doc();
    if at >= doc || at == TERMINATED { at } else { postings.seek(doc) }
}
