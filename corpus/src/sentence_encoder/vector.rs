//! Converts the pooled output of an encoder to a vector of its space.

/// Projects the pooled output of an encoder into its space and scales it to length one. `None` if it has no
/// direction. `projection` has a row for each dimension of the encoder. It is empty if the space has the dimensions
/// of the encoder.
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
