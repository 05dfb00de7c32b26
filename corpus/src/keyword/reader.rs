//! Opens a finished keyword index and finds the nodes that contain given words.
//!
//! tantivy trusts the files that it opens and panics on damaged ones, so it is called only inside [`catch_panic_as_damage`]. The
//! search engine reads postings itself and has its own guard.

use std::fmt;
use std::path::{Path, PathBuf};

use tantivy::postings::SegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Index, ReloadPolicy, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

use super::directory::{META_FILE, MappedDirectory};
use super::error::KeywordError;
use super::schema::{KeywordFields, ORDINAL_FIELD, keyword_schema};
use crate::analyzer::{Analyzer, TokenRole};
use crate::damage::catch_panic_as_damage;
use crate::ids::{NodeOrdinal, OrdinalRange};

/// An open keyword index. It is cheap to clone; all of its data is in memory maps.
#[derive(Clone)]
pub struct KeywordIndex {
    path: PathBuf,
    fields: KeywordFields,
    searcher: Searcher,
}

impl fmt::Debug for KeywordIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeywordIndex of {} documents in {}", self.document_count(), self.path.display())
    }
}

impl KeywordIndex {
    /// Opens the index in a folder. It must have our schema and contain `document_count` documents in one segment.
    pub fn open(path: &Path, document_count: u32) -> Result<Self, KeywordError> {
        read_guarded(path, || Self::open_unguarded(path, document_count))
    }

    fn open_unguarded(path: &Path, document_count: u32) -> Result<Self, KeywordError> {
        let engine = |source| KeywordError::Engine { path: path.to_owned(), doing: "open", source };
        let directory = MappedDirectory::open(path)?;
        let index = Index::open(directory).map_err(engine)?;
        let expected = keyword_schema();
        if index.schema() != expected.schema {
            return Err(KeywordError::OtherSchema { path: path.to_owned() });
        }
        let metas = index.searchable_segment_metas().map_err(engine)?;
        let [meta] = metas.as_slice() else {
            let what = format!("it lists {} segments instead of 1", metas.len());
            return Err(KeywordError::Damaged { path: path.join(META_FILE), what });
        };
        if meta.num_docs() != document_count || meta.has_deletes() {
            let found = meta.num_docs();
            return Err(KeywordError::DocumentCount { path: path.to_owned(), expected: document_count, found });
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(0);
        let searcher = reader.try_into().map_err(engine)?.searcher();
        Ok(Self { path: path.to_owned(), fields: expected.fields, searcher })
    }

    pub fn fields(&self) -> KeywordFields {
        self.fields
    }

    /// The searcher, from which scorers and tantivy's own queries read their statistics.
    pub fn searcher(&self) -> &Searcher {
        &self.searcher
    }

    /// The only segment. Its document ids are node ordinals.
    pub fn segment(&self) -> &SegmentReader {
        self.searcher.segment_reader(0)
    }

    pub fn document_count(&self) -> u32 {
        self.segment().max_doc()
    }

    /// Checks that the id of every document equals the ordinal of its node.
    pub fn verify_order(&self) -> Result<(), KeywordError> {
        read_guarded(&self.path, || self.verify_order_unguarded())
    }

    fn verify_order_unguarded(&self) -> Result<(), KeywordError> {
        let column = self.segment().fast_fields().u64(ORDINAL_FIELD).map_err(|source| self.engine("verify", source))?;
        for document in 0..self.document_count() {
            let ordinal = column.first(document);
            if ordinal != Some(u64::from(document)) {
                return Err(KeywordError::Order { path: self.path.clone(), document, ordinal });
            }
        }
        Ok(())
    }

    /// The nodes of a range that contain every word of `words` in their heading or text, in order.
    ///
    /// A compound is searched by its parts. If there are no words, nothing matches.
    pub fn matching(&self, words: &str, range: OrdinalRange) -> Result<Vec<NodeOrdinal>, KeywordError> {
        read_guarded(&self.path, || self.matching_unguarded(words, range))
    }

    fn matching_unguarded(&self, words: &str, range: OrdinalRange) -> Result<Vec<NodeOrdinal>, KeywordError> {
        let end = range.end.min(self.document_count());
        let mut terms = self.required_terms(words, range.start)?;
        let mut found = Vec::new();
        let mut candidate = range.start;
        while !terms.is_empty() && candidate < end {
            // Either every term occurs in the candidate, or one of them gives the next possible candidate.
            let next = terms.iter_mut().map(|term| term.seek(candidate)).max().unwrap_or(TERMINATED);
            if next == candidate {
                found.push(NodeOrdinal(candidate));
                candidate += 1;
            } else {
                candidate = next;
            }
        }
        Ok(found)
    }

    fn required_terms(&self, words: &str, start: u32) -> Result<Vec<MultiFieldPostings>, KeywordError> {
        let mut required = Vec::new();
        Analyzer::new().analyze(words, |token| {
            // A whole means the same as its parts, which also match if the text does not join them.
            if token.role != TokenRole::Whole {
                required.push(token.text.to_owned());
            }
        });
        required.sort_unstable();
        required.dedup();
        required.iter().map(|term| self.either_field(term, start)).collect()
    }

    fn either_field(&self, term: &str, start: u32) -> Result<MultiFieldPostings, KeywordError> {
        let mut fields = Vec::with_capacity(2);
        for field in [self.fields.heading, self.fields.text] {
            fields.extend(self.postings(field, term)?);
        }
        let mut either = MultiFieldPostings(fields);
        either.seek(start);
        Ok(either)
    }

    fn postings(&self, field: Field, term: &str) -> Result<Option<SegmentPostings>, KeywordError> {
        let inverted = self.segment().inverted_index(field).map_err(|source| self.engine("search", source))?;
        let term = Term::from_field_text(field, term);
        let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
        postings.map_err(|source| self.engine("search", source.into()))
    }

    /// Runs what reads the index. A panic in tantivy means that the files are damaged.
    pub(super) fn guarded<T>(&self, read: impl FnOnce() -> Result<T, KeywordError>) -> Result<T, KeywordError> {
        read_guarded(&self.path, read)
    }

    pub(super) fn engine(&self, doing: &'static str, source: TantivyError) -> KeywordError {
        KeywordError::Engine { path: self.path.clone(), doing, source }
    }
}

/// Reads the index in a folder. A panic in tantivy means that the files are damaged.
fn read_guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, KeywordError>) -> Result<T, KeywordError> {
    catch_panic_as_damage(read).unwrap_or_else(|what| {
        let what = format!("reading it failed with '{what}'");
        Err(KeywordError::Damaged { path: path.to_owned(), what })
    })
}

/// The postings of a term in several fields.
struct MultiFieldPostings(Vec<SegmentPostings>);

impl MultiFieldPostings {
    /// The first document at or after `target` that contains the term in any of the fields.
    fn seek(&mut self, target: u32) -> u32 {
        let seek = |postings: &mut SegmentPostings| {
            if postings.doc() < target { postings.seek(target) } else { postings.doc() }
        };
        self.0.iter_mut().map(seek).min().unwrap_or(TERMINATED)
    }
}
