//! The schema of the index: its fields, and the field that proves the order of its documents.

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

use crate::analyzer::ANALYZER_ID;

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
pub(super) const ORDINAL_FIELD: &str = "ordinal";

pub(super) struct KeywordSchema {
    pub(super) schema: Schema,
    pub(super) fields: KeywordFields,
    pub(super) ordinal: Field,
}

/// The one schema there is. The analysis is named in it, so an index of another analysis has another schema.
pub(super) fn keyword_schema() -> KeywordSchema {
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
