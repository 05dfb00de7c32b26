//! The query table of an encoder: a safetensors file with a row per token, which is `embedding`
//! (I8) times `scale` (F32), and `projection` (F32), which maps the encoder's passages into the
//! space of the table. Without a projection, the table has as many dimensions as the encoder.

use std::path::Path;

use hornbook_corpus::embed::TOKEN_COUNT;
use hornbook_corpus::vectors::QueryRows;

use super::tensors::TensorFile;
use crate::encoder_error::EncoderError;

#[derive(Debug)]
pub(super) struct PlannedQueries {
    dims: usize,
    codes: Vec<i8>,
    scales: Vec<f32>,
    projection: Vec<f32>,
    pub(super) file_hash: blake3::Hash,
}

impl PlannedQueries {
    /// `hidden` is the number of dimensions of the encoder.
    pub(super) fn open(path: &Path, hidden: usize) -> Result<Self, EncoderError> {
        let file = TensorFile::read(path.to_owned())?;
        let tensors = file.open()?;
        let dims = tensors.shape("embedding")?.last().copied().unwrap_or_default();
        let codes = tensors.i8s("embedding", &[TOKEN_COUNT, dims])?;
        let scales = tensors.f32s("scale", &[TOKEN_COUNT])?;
        let projection = match tensors.has("projection") {
            true => tensors.f32s("projection", &[hidden, dims])?,
            false => Vec::new(),
        };
        if projection.is_empty() && dims != hidden {
            return Err(tensors.unfit(format!(
                "its rows have {dims} dimensions, the encoder has {hidden}, and it has no tensor 'projection' of F32[{hidden}, {dims}]"
            )));
        }
        if !(QueryRows { dims, codes: &codes, scales: &scales }).are_complete() {
            return Err(tensors.unfit(format!(
                "its rows have {dims} dimensions; only multiples of 32 from 32 to 4096 are supported"
            )));
        }
        Ok(Self { dims, codes, scales, projection, file_hash: blake3::hash(&file.bytes) })
    }

    pub(super) fn rows(&self) -> QueryRows<'_> {
        QueryRows { dims: self.dims, codes: &self.codes, scales: &self.scales }
    }

    /// A row for each dimension of the encoder; empty if the table has as many dimensions.
    pub(super) fn projection(&self) -> &[f32] {
        &self.projection
    }
}
