//! The table of queries that belongs to an encoder: a safetensors file with a row for each token, `embedding` (I8) times
//! `scale` (F32), and `projection` (F32), which brings the encoder's passages into the space of the table. Without a
//! projection the table has as many dimensions as the encoder.

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
    /// A row for each dimension of the encoder.
    projection: Option<Vec<f32>>,
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
            true => Some(tensors.f32s("projection", &[hidden, dims])?),
            false => None,
        };
        if projection.is_none() && dims != hidden {
            return Err(tensors.unfit(format!(
                "its rows have {dims} dimensions, the encoder has {hidden}, and it has no tensor 'projection' of F32[{hidden}, {dims}]"
            )));
        }
        if !(QueryRows { dims, codes: &codes, scales: &scales }).are_whole() {
            return Err(tensors.unfit(format!("its rows have {dims} dimensions; 32, 64, .. 4096 are possible")));
        }
        Ok(Self { dims, codes, scales, projection, file_hash: blake3::hash(&file.bytes) })
    }

    pub(super) fn rows(&self) -> QueryRows<'_> {
        QueryRows { dims: self.dims, codes: &self.codes, scales: &self.scales }
    }

    /// A vector of the encoder in the space of the table, of length one.
    pub(super) fn project(&self, pooled: &[f32]) -> Vec<f32> {
        let mut vector = match &self.projection {
            None => pooled.to_vec(),
            Some(projection) => {
                let mut sum = vec![0.0_f32; self.dims];
                for (value, row) in pooled.iter().zip(projection.chunks_exact(self.dims)) {
                    sum.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
                }
                sum
            }
        };
        let length = vector.iter().fold(0.0_f32, |length, value| length + value * value).sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vector
    }
}
