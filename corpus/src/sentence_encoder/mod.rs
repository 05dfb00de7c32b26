//! Sentence encoders: transformers of the BERT family with mean pooling. One embeds the passages of a second space when a
//! snapshot is built, and lies in the snapshot to embed the queries of deep searches.
//!
//! `shape` names its parts, `stored` is its file. With the feature `encoder`, `transformer` computes and `query` embeds
//! queries; without it, `no_query` leaves the file alone. Only this module uses candle.

#[cfg_attr(not(feature = "encoder"), path = "no_query.rs")]
mod query;
mod shape;
mod stored;
#[cfg(feature = "encoder")]
mod transformer;

pub use query::QueryEncoder;
pub use shape::{EncoderShape, Part, PartSize};
pub use stored::{StoredEncoder, write_encoder};
#[cfg(feature = "encoder")]
pub use transformer::{EncoderFailed, Transformer, WordRows};

/// The vector of what an encoder pooled, brought into its space and to length one; nothing if it has no direction.
/// `projection` has a row for each dimension of the encoder; none where the space has the encoder's own dimensions.
pub fn vector_of(pooled: &[f32], projection: &[f32]) -> Option<Vec<f32>> {
    let mut vector = if projection.is_empty() { pooled.to_vec() } else { projected(pooled, projection) };
    let length = vector.iter().fold(0.0_f32, |length, value| length + value * value).sqrt();
    if length == 0.0 || !length.is_finite() {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    Some(vector)
}

fn projected(pooled: &[f32], projection: &[f32]) -> Vec<f32> {
    let dims = projection.len() / pooled.len().max(1);
    let mut sum = vec![0.0_f32; dims];
    for (value, row) in pooled.iter().zip(projection.chunks_exact(dims.max(1))) {
        sum.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
    }
    sum
}
