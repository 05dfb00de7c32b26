//! The schema of the index: its fields, and the field that proves the order of its documents.

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

use crate::analyzer::ANALYZER_ID;

/// The searchable fields, from which terms are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeywordFields {
    /// The node's own heading; with positions.
    pub heading: Field,
    /// The law text; with positions. A gap follows each span, so no phrase matches across two spans.
    pub text: Field,
    /// The canonical citation; without frequencies, because no word occurs twice in it.
    pub citation: Field,
    /// The headings of all ancestors; with frequencies.
    pub breadcrumb: Field,
}

/// The fast field with the ordinal of the node. It proves the order of the documents, because it must equal the
/// document id.
pub(super) const ORDINAL_FIELD: &str = "ordinal";

pub(super) struct KeywordSchema {
    pub(super) schema: Schema,
    pub(super) fields: KeywordFields,
    pub(super) ordinal: Field,
}

/// The schema of every keyword index. It contains the id of the analysis, so an index with another analysis has
/// another schema.
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
