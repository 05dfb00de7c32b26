//! The keyword index: which words stand in the heading, text, citation and breadcrumb of which node.
//!
//! A tantivy index of exactly one segment in which the document id is the node's ordinal, so that every filter is a
//! range of document ids and no id is ever looked up. Nothing is stored in it. [`KeywordWriter`] streams documents in
//! ordinal order within a memory budget and leaves the same bytes for the same input; [`KeywordIndex`] opens them from
//! memory maps without locks or writes. Scoring is left to the search engine. `corpus/FORMAT.md` describes the files.

mod directory;
mod error;
mod reader;
mod writer;

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

pub use error::KeywordError;
pub use reader::KeywordIndex;
pub use writer::{KeywordDocument, KeywordStats, KeywordWriter};

use crate::analyzer::ANALYZER_ID;

/// The folder of the index in a snapshot.
pub const DIRECTORY_NAME: &str = "keyword";

/// The searchable fields, for whoever builds terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeywordFields {
    /// The node's own heading; with positions.
    pub heading: Field,
    /// The law text; with positions. Each span is followed by a gap, so no phrase runs across two.
    pub text: Field,
    /// The canonical citation; no frequencies, for no word in it occurs twice.
    pub citation: Field,
    /// The headings of all ancestors; with frequencies.
    pub breadcrumb: Field,
}

/// The fast field that repeats the document id: the proof that the order is right.
const ORDINAL_FIELD: &str = "ordinal";

struct KeywordSchema {
    schema: Schema,
    fields: KeywordFields,
    ordinal: Field,
}

/// The one schema there is. The analysis is named in it, so an index of another analysis has another schema.
fn keyword_schema() -> KeywordSchema {
    let words = |recorded: IndexRecordOption| {
        let indexing = TextFieldIndexing::default().set_tokenizer(ANALYZER_ID).set_index_option(recorded);
        TextOptions::default().set_indexing_options(indexing.set_fieldnorms(true))
    };
    let mut builder = Schema::builder();
    let fields = KeywordFields {
        heading: builder.add_text_field("heading", words(IndexRecordOption::WithFreqsAndPositions)),
        text: builder.add_text_field("text", words(IndexRecordOption::WithFreqsAndPositions)),
        citation: builder.add_text_field("citation", words(IndexRecordOption::Basic)),
        breadcrumb: builder.add_text_field("breadcrumb", words(IndexRecordOption::WithFreqs)),
    };
    let ordinal = builder.add_u64_field(ORDINAL_FIELD, NumericOptions::default().set_fast());
    KeywordSchema { schema: builder.build(), fields, ordinal }
}

#[cfg(test)]
mod tests;
