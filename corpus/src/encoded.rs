//! A space whose passages a sentence encoder embedded when the snapshot was built: its vectors, its graphs and its queries.

use std::path::Path;

use crate::embed::TokenId;
use crate::section_file::SectionFileError;
use crate::vectors::{EncoderHash, QueryTable, SpaceName, VectorIndex, VectorRows};

/// The three files of such a space.
#[derive(Clone, Debug)]
pub struct EncodedSpace {
    vectors: VectorIndex,
    queries: QueryTable,
}

impl EncodedSpace {
    pub fn open(directory: &Path, space: &SpaceName, encoder: &EncoderHash) -> Result<Self, SectionFileError> {
        let (vectors, queries) = (VectorIndex::open(directory, space)?, QueryTable::open(directory, space, encoder)?);
        if vectors.rows().dims() != queries.dims() {
            return Err(SectionFileError::Damaged {
                path: directory.join(space.queries_file()),
                what: format!("its queries have {} dimensions, the passages {}", queries.dims(), vectors.rows().dims()),
            });
        }
        Ok(Self { vectors, queries })
    }

    pub fn vectors(&self) -> &VectorIndex {
        &self.vectors
    }

    pub fn rows(&self) -> &VectorRows {
        self.vectors.rows()
    }

    /// The vector of a query, by its tokens; nothing if it has none.
    pub fn query(&self, tokens: &[TokenId]) -> Option<Vec<f32>> {
        self.queries.rows().vector(tokens)
    }
}
