//! Embeds passages with a sentence encoder that the plan names: a transformer of the BERT family
//! with mean pooling.
//!
//! `files` reads its files from a folder or an archive, `folder` checks them, `query_table` reads the table that embeds queries in the
//! same space, if the plan has one, `passages` embeds every chunk of a snapshot, and `embedding_log` keeps
//! the vectors of an interrupted build. The encoder
//! itself is stored in the snapshot for deep searches.

mod embedding_log;
mod files;
mod folder;
mod passages;
mod query_table;
mod tensors;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use hornbook_corpus::embed::TokenId;
use hornbook_corpus::manifest::Fingerprint;
use hornbook_corpus::sentence_encoder::{
    EncoderRunError, EncoderShape, Transformer, WordRows, vector_of, write_encoder,
};
use hornbook_corpus::vectors::{EncoderHash, SpaceName, write_queries};

use crate::encoded_passages::{EncodedPassages, PassageOrigins};
use crate::encoder_error::EncoderError;
use crate::error::BuildError;
use crate::opened_source::first_existing;
use crate::plan::PlannedEncoder;
use crate::progress::ProgressDisplay;

use folder::EncoderFolder;
use query_table::PlannedQueries;

/// Increase it when the same encoder would give a different vector for the same passage.
const ALGORITHM_VERSION: u32 = 1;

/// An encoder, with its query table if the plan has one. Both were checked to match.
#[derive(Debug)]
pub(crate) struct Encoder {
    space: SpaceName,
    hash: EncoderHash,
    folder: EncoderFolder,
    shape: EncoderShape,
    words: TokenRows,
    transformer: Transformer,
    queries: Option<PlannedQueries>,
}

impl Encoder {
    /// Opens and checks the files that a plan names. Paths are relative to one of `bases`, which
    /// must not be empty.
    pub(crate) fn open(planned: &PlannedEncoder, bases: &[&Path]) -> Result<Self, EncoderError> {
        let found = |path: &Path| -> PathBuf {
            first_existing(&bases.iter().map(|base| base.join(path)).collect::<Vec<PathBuf>>())
        };
        let folder = EncoderFolder::open(&found(&planned.folder), &planned.sha256)?;
        let shape = folder.shape();
        let table = planned.query_table.as_deref();
        let queries = table.map(|table| PlannedQueries::open(&found(table), shape.hidden)).transpose()?;
        if queries.is_none() {
            folder.check_dims()?;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&ALGORITHM_VERSION.to_le_bytes());
        hasher.update(&(shape.tokens_max as u64).to_le_bytes());
        for part in [&folder.config_text, &folder.weights.bytes] {
            hasher.update(blake3::hash(part).as_bytes());
        }
        if let Some(queries) = &queries {
            hasher.update(queries.file_hash.as_bytes());
        }
        let words = TokenRows { hidden: shape.hidden, values: folder.part(&shape.words())? };
        let transformer = Transformer::new(&shape, |part| folder.part(part))?;
        let hash = *hasher.finalize().as_bytes();
        Ok(Self { space: planned.space.clone(), hash, folder, shape, words, transformer, queries })
    }

    pub(crate) fn space(&self) -> &SpaceName {
        &self.space
    }

    /// The fingerprint as stated in the manifest.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint { id: self.space.to_string(), hash: blake3::Hash::from(self.hash).to_hex().to_string() }
    }

    /// Embeds the chunks of the snapshot in `dir`, and writes vectors, queries and encoder of the
    /// space, but not its graph.
    pub(crate) fn write(
        &self,
        dir: &Path,
        origins: PassageOrigins<'_>,
        index_headings: bool,
        progress: ProgressDisplay,
    ) -> Result<EncodedPassages, BuildError> {
        if let Some(queries) = &self.queries {
            write_queries(dir, &self.space, &self.hash, &queries.rows())?;
        }
        write_encoder::<BuildError>(dir, &self.space, &self.hash, &self.shape, self.projection(), |part| {
            Ok(self.folder.part(part)?)
        })?;
        passages::write(self, dir, origins, index_headings, progress)
    }

    fn projection(&self) -> &[f32] {
        self.queries.as_ref().map_or(&[], PlannedQueries::projection)
    }

    /// The number of dimensions of the space.
    fn dims(&self) -> usize {
        self.queries.as_ref().map_or(self.shape.hidden, |queries| queries.rows().dims)
    }

    /// The unit-length vectors of passages that all have the same number of tokens.
    fn embed(&self, passages: &[&[TokenId]]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let pooled = self.transformer.pooled(&self.words, passages)?;
        let vector = |pooled: &Vec<f32>| vector_of(pooled, self.projection()).unwrap_or_else(|| vec![0.0; self.dims()]);
        Ok(pooled.iter().map(vector).collect())
    }
}

impl From<EncoderRunError> for EncoderError {
    fn from(error: EncoderRunError) -> Self {
        Self::Compute { source: Box::new(error) }
    }
}

/// The embedding rows of all tokens.
#[derive(Debug)]
struct TokenRows {
    hidden: usize,
    values: Vec<f32>,
}

impl WordRows for TokenRows {
    fn push_row(&self, word: TokenId, to: &mut Vec<f32>) {
        to.extend_from_slice(&self.values[word.index() * self.hidden..][..self.hidden]);
    }
}
