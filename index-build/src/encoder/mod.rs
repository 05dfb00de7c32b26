//! Passages embedded by a sentence encoder that the plan names: a transformer of the BERT family with mean pooling.
//!
//! `folder` reads and checks its files, `query_table` the table that embeds queries in the same space, `transformer`
//! computes, and `passages` embeds every chunk of a snapshot. The encoder is never needed again: searches use the table.
//! Only this module uses candle.

mod folder;
mod passages;
mod query_table;
mod tensors;
#[cfg(test)]
mod tests;
mod transformer;

use std::path::{Path, PathBuf};

use hornbook_corpus::embed::TokenId;
use hornbook_corpus::manifest::Fingerprint;
use hornbook_corpus::vectors::{EncoderHash, SpaceName, write_queries};

use crate::encoder_error::EncoderError;
use crate::error::BuildError;
use crate::graph::Probes;
use crate::opened_source::first_existing;
use crate::plan::PlannedEncoder;
use crate::progress::Progress;

use folder::EncoderFolder;
use query_table::PlannedQueries;
use transformer::Transformer;

/// Raise it when the same encoder would give another vector for the same passage.
const ALGORITHM_VERSION: u32 = 1;

/// An encoder with the table of its queries, checked to belong together.
#[derive(Debug)]
pub(crate) struct Encoder {
    space: SpaceName,
    hash: EncoderHash,
    tokens_max: usize,
    transformer: Transformer,
    queries: PlannedQueries,
}

impl Encoder {
    /// Reads and checks what a plan names. Paths are relative to one of `bases`, of which there is at least one.
    pub(crate) fn open(planned: &PlannedEncoder, bases: &[&Path]) -> Result<Self, EncoderError> {
        let found = |path: &Path| -> PathBuf {
            first_existing(&bases.iter().map(|base| base.join(path)).collect::<Vec<PathBuf>>())
        };
        let folder = EncoderFolder::open(&found(&planned.folder), &planned.sha256)?;
        let queries = PlannedQueries::open(&found(&planned.query_table), folder.config.hidden_size)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&ALGORITHM_VERSION.to_le_bytes());
        hasher.update(&(folder.tokens_max as u64).to_le_bytes());
        for part in [&folder.config_text, &folder.weights.bytes] {
            hasher.update(blake3::hash(part).as_bytes());
        }
        hasher.update(queries.file_hash.as_bytes());
        Ok(Self {
            space: planned.space.clone(),
            hash: *hasher.finalize().as_bytes(),
            tokens_max: folder.tokens_max,
            transformer: Transformer::new(&folder.config, &folder.weights)?,
            queries,
        })
    }

    pub(crate) fn space(&self) -> &SpaceName {
        &self.space
    }

    /// As the manifest states it.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint { id: self.space.to_string(), hash: blake3::Hash::from(self.hash).to_hex().to_string() }
    }

    /// Embeds the chunks of the snapshot in `dir` and writes vectors and queries of the space; its graph is missing then.
    /// Gives how many vectors were taken over from the snapshot `earlier`, and headings as queries.
    pub(crate) fn write(
        &self,
        dir: &Path,
        earlier: Option<&Path>,
        index_headings: bool,
        progress: Progress,
    ) -> Result<(u32, Probes), BuildError> {
        write_queries(dir, &self.space, &self.hash, &self.queries.rows())?;
        passages::write(self, dir, earlier, index_headings, progress)
    }

    /// The vectors of passages that have equally many tokens, of length one.
    fn embed(&self, passages: &[&[TokenId]]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let failed = |error: candle_core::Error| EncoderError::Compute { source: Box::new(error) };
        let pooled = self.transformer.pooled(passages).map_err(failed)?;
        Ok(pooled.iter().map(|pooled| self.queries.project(pooled)).collect())
    }
}
