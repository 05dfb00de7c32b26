//! Cursors over the posting lists of one field, and phrase search with term positions.
//!
//! The readers of the four fields are opened once, so that no query takes a lock. Every ordinal
//! read from a file is checked against the number of documents before it is used as an index.

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

/// [`Cursor::skip_to`] compares this many documents at once with the target, and does so this many
/// times before it switches to binary search.
const LINEAR_SCAN_DOCUMENTS: usize = 8;
const LINEAR_SCANS_MAX: usize = 2;

/// Maximum number of documents in a block of postings.
const BLOCK: usize = 128;

/// One field, ready to be read.
pub(super) struct FieldReader {
    field: Field,
    inverted: Arc<InvertedIndexReader>,
    norms: FieldNormReader,
    /// For each field norm id (an encoded field length): the weighted term frequency of one
    /// occurrence.
    frequency_factors: Box<[f32; 256]>,
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
        Ok(Self { field, inverted, norms, frequency_factors: factors })
    }

    /// The document frequency of the term in this field.
    pub(super) fn document_count(&self, term: &str) -> io::Result<u32> {
        self.inverted.doc_freq(&Term::from_field_text(self.field, term))
    }

    /// The dictionary entry of a term, for [`Self::cursor_of`].
    pub(super) fn entry(&self, term: &str) -> io::Result<Option<TermInfo>> {
        self.inverted.get_term_info(&Term::from_field_text(self.field, term))
    }

    pub(super) fn cursor_of(&self, entry: &TermInfo) -> io::Result<Cursor<'_>> {
        let blocks = self.inverted.read_block_postings_from_terminfo(entry, IndexRecordOption::WithFreqs)?;
        Ok(Cursor { blocks, at: 0, reader: self })
    }

    /// Like [`Self::cursor_of`], but without frequencies.
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

    /// Calls `sink` with every document of the ranges that contains the term, in order.
    pub(super) fn each_with(&self, term: &str, ranges: &OrdinalRanges, mut sink: impl FnMut(u32)) -> io::Result<()> {
        let Some(mut cursor) = self.cursor_over(term, IndexRecordOption::Basic)? else { return Ok(()) };
        for range in ranges.as_slice() {
            cursor.skip_to(range.start);
            cursor.each_until(range.end.min(self.norms.num_docs()), |doc, _| sink(doc));
        }
        Ok(())
    }

    /// The weighted term frequency for `freq` occurrences in a document.
    #[inline]
    fn weighted_frequency(&self, doc: u32, freq: u32) -> f32 {
        if doc >= self.norms.num_docs() {
            return 0.0;
        }
        freq as f32 * self.frequency_factors[usize::from(self.norms.fieldnorm_id(doc))]
    }

    fn positions_of(&self, entry: &TermInfo) -> io::Result<SegmentPostings> {
        self.inverted.read_postings_from_terminfo(entry, IndexRecordOption::WithFreqsAndPositions)
    }
}

/// A cursor over the posting list of one term in one field. It only moves forward.
pub(super) struct Cursor<'a> {
    blocks: BlockSegmentPostings,
    at: usize,
    reader: &'a FieldReader,
}

impl Cursor<'_> {
    /// The document frequency of the term.
    pub(super) fn len(&self) -> u32 {
        self.blocks.doc_freq()
    }

    /// The number of documents of the ranges that contain the term, counted up to `most`. Blocks
    /// that are entirely inside a range are counted without reading their documents one by one.
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

    /// The current document, without moving past it; `None` at the end of the list.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.at > 0 && self.at >= self.blocks.docs().len() {
            self.blocks.advance();
            self.at = 0;
        }
        self.blocks.docs().get(self.at).copied()
    }

    /// Calls `sink` with every document from here to `end` and its weighted term frequency.
    #[inline]
    pub(super) fn each_until(&mut self, end: u32, mut sink: impl FnMut(u32, f32)) {
        self.each_run_until(end, |reader, docs, freqs| {
            for (place, &doc) in docs.iter().enumerate() {
                sink(doc, reader.weighted_frequency(doc, frequency(freqs, place)));
            }
        });
    }

    /// Calls `sink` with every document from here to `end`.
    #[inline]
    pub(super) fn each_document_until(&mut self, end: u32, mut sink: impl FnMut(u32)) {
        self.each_run_until(end, |_, docs, _| docs.iter().for_each(|&doc| sink(doc)));
    }

    /// Like [`Self::each_until`], but only for wanted documents. It does little work for the
    /// others.
    #[inline]
    pub(super) fn each_wanted_until(
        &mut self,
        end: u32,
        is_wanted: impl Fn(u32) -> bool,
        mut sink: impl FnMut(u32, f32),
    ) {
        self.each_run_until(end, |reader, docs, freqs| {
            // Filters without a branch, because the CPU could not predict it.
            let mut wanted = [0_u8; BLOCK];
            let mut count = 0;
            for (place, &doc) in (0..).zip(docs) {
                wanted[count] = place;
                count += usize::from(is_wanted(doc));
            }
            for place in wanted[..count].iter().map(|&place| usize::from(place)) {
                sink(docs[place], reader.weighted_frequency(docs[place], frequency(freqs, place)));
            }
        });
    }

    /// Calls `sink` block by block with the documents from here to `end` and their term
    /// frequencies.
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
            // If the whole block is before `end`, its documents need not be compared.
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

    /// The weighted term frequency in a document; 0 if it does not contain the term. Documents must
    /// be requested in ascending order.
    #[inline]
    pub(super) fn weighted_frequency_at(&mut self, doc: u32) -> f32 {
        match self.frequency_at(doc) {
            0 => 0.0,
            frequency => self.reader.weighted_frequency(doc, frequency),
        }
    }

    /// The term frequency in a document. Documents must be requested in ascending order.
    fn frequency_at(&mut self, doc: u32) -> u32 {
        match self.is_in(doc) {
            true => frequency(self.blocks.freqs(), self.at),
            false => 0,
        }
    }

    /// Whether a document contains the term. Documents must be requested in ascending order.
    #[inline]
    pub(super) fn is_in(&mut self, doc: u32) -> bool {
        self.skip_to(doc);
        self.blocks.docs().get(self.at) == Some(&doc)
    }

    /// Moves forward to the first document at or after `doc`.
    #[inline]
    pub(super) fn skip_to(&mut self, doc: u32) {
        let docs = self.blocks.docs();
        match docs.last() {
            None => {}
            Some(&last) if last >= doc => {
                // The target is mostly near, so a few documents at a time are skipped before a
                // binary search of the rest.
                let mut rest = docs.get(self.at..).unwrap_or_default();
                for _ in 0..LINEAR_SCANS_MAX {
                    let Some((next, others)) = rest.split_at_checked(LINEAR_SCAN_DOCUMENTS) else { break };
                    let passed = next.iter().map(|&other| usize::from(other < doc)).sum::<usize>();
                    self.at += passed;
                    if passed < LINEAR_SCAN_DOCUMENTS {
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

/// The frequency of the term in the document at index `place`; 1 if frequencies were not read.
#[inline]
fn frequency(freqs: &[u32], place: usize) -> u32 {
    freqs.get(place).copied().unwrap_or(1)
}

/// Terms of one field that must all occur in a document. `None` if the field lacks one of them.
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
        // The rarest term rejects a document soonest.
        cursors.sort_by_key(Cursor::len);
        Ok(Self(Some(cursors)))
    }

    /// Whether a document contains all terms. Documents must be requested in ascending order.
    pub(super) fn occur_in(&mut self, doc: u32) -> bool {
        self.0.as_mut().is_some_and(|cursors| cursors.iter_mut().all(|cursor| cursor.is_in(doc)))
    }
}

/// The cost of reading positions is estimated from at most this many documents, evenly spread.
const SAMPLED: usize = 48;

/// No provision contains a term more often than this: texts are far shorter.
const POSITIONS_MAX: u32 = 1 << 24;

/// Finding and unpacking a list of positions costs as much as reading this many positions.
const LIST_COST: usize = 64;

/// A phrase in one field.
pub(super) struct PhraseReader<'a> {
    field: &'a FieldReader,
    /// Rarest term first.
    terms: Vec<PhraseTerm>,
    starts: Vec<u32>,
    positions: Vec<u32>,
}

/// A term of a phrase, with its position in the phrase.
struct PhraseTerm {
    place: u32,
    entry: TermInfo,
    postings: SegmentPostings,
}

impl<'a> PhraseReader<'a> {
    /// `None` if the field does not contain all terms.
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

    /// From now on, checks only the positions of the `terms` rarest terms.
    pub(super) fn keep_rarest_terms(&mut self, terms: usize) {
        self.terms.truncate(terms);
    }

    /// The estimated cost of reading the positions of each term in some documents, rarest term
    /// first: 1 per position, and [`LIST_COST`] per document that contains the term. The estimate
    /// is from a sample.
    pub(super) fn position_costs(&self, docs: &[u32]) -> io::Result<Vec<usize>> {
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

    /// Whether a document contains the phrase. Documents must be requested in ascending order.
    pub(super) fn is_in(&mut self, doc: u32) -> bool {
        self.terms.iter_mut().all(|term| seek(&mut term.postings, doc) == doc) && self.is_in_current_document()
    }

    /// Whether the terms are in a row in the current document, which is the same for all terms.
    fn is_in_current_document(&mut self) -> bool {
        let Self { terms, starts, positions, .. } = self;
        // A damaged list can contain any frequency, and memory is allocated for this many
        // positions.
        if terms.iter().any(|term| term.postings.term_freq() > POSITIONS_MAX) {
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
                // Cheaper than a binary search: decoding has already read through the whole list.
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
