//! An embedding space whose passages a sentence encoder embedded when the snapshot was built. It has vectors and
//! graphs. Queries are embedded by a table (fast searches), by the encoder itself (deep searches), or by either.

use std::path::Path;
use std::sync::Arc;

use crate::embed::TokenId;
use crate::section_file::SectionFileError;
use crate::sentence_encoder::{QueryEncoder, StoredEncoder};
use crate::vectors::{EncoderHash, QueryTable, SpaceName, VectorIndex, VectorRows};

/// The open files of such a space.
#[derive(Clone, Debug)]
pub struct EncodedSpace {
    vectors: VectorIndex,
    queries: Option<QueryTable>,
    stores_encoder: bool,
    encoder: Option<Arc<QueryEncoder>>,
}

impl EncodedSpace {
    pub fn open(directory: &Path, space: &SpaceName, encoder: &EncoderHash) -> Result<Self, SectionFileError> {
        let vectors = VectorIndex::open(directory, space)?;
        let queries = QueryTable::open(directory, space, encoder)?;
        let stored = StoredEncoder::open(directory, space, encoder)?;
        let dims = vectors.rows().dims();
        let others = [
            (space.queries_file(), queries.as_ref().map(QueryTable::dims)),
            (space.encoder_file(), stored.as_ref().map(StoredEncoder::dims)),
        ];
        if let Some((file, Some(other))) =
            others.into_iter().find(|(_, other)| other.is_some_and(|other| other != dims))
        {
            return Err(SectionFileError::Damaged {
                path: directory.join(file),
                what: format!("its queries have {other} dimensions, but the passages have {dims}"),
            });
        }
        let stores_encoder = stored.is_some();
        let encoder = stored.and_then(QueryEncoder::open).map(Arc::new);
        Ok(Self { vectors, queries, stores_encoder, encoder })
    }

    pub fn vectors(&self) -> &VectorIndex {
        &self.vectors
    }

    pub fn rows(&self) -> &VectorRows {
        self.vectors.rows()
    }

    /// Whether there is a table that embeds queries.
    pub fn has_query_table(&self) -> bool {
        self.queries.is_some()
    }

    /// Whether the snapshot contains the encoder. This program may not be able to run it.
    pub fn stores_encoder(&self) -> bool {
        self.stores_encoder
    }

    /// Whether this program can embed queries with the encoder.
    pub fn has_encoder(&self) -> bool {
        self.encoder.is_some()
    }

    /// Embeds a query with the table. `None` without tokens or without a table.
    pub fn query(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        self.queries.as_ref()?.rows().vector(tokens)
    }

    /// Embeds a query with the encoder, which takes some milliseconds. `None` without tokens or without an encoder.
    pub fn deep_query(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        self.encoder.as_ref()?.vector(tokens)
    }
}
