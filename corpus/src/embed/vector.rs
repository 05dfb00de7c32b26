//! Vectors for semantic search: sums of token rows, scaled to length one.
//!
//! The order of additions is the same on every processor, and fused multiply-add is not used. Equal tokens
//! therefore give equal bits everywhere, and a rebuilt snapshot is identical.

use super::model::{DIMS, EmbeddingRow, Model};
use super::token::TokenId;

/// A vector of length one, or zero if there was nothing to embed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Vector(pub [f32; DIMS]);

impl Vector {
    pub const ZERO: Self = Self([0.0; DIMS]);

    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&component| component == 0.0)
    }

    /// The dot product. It is the cosine if both vectors have length one.
    pub fn dot(&self, other: &Self) -> f32 {
        dot(&self.0, &other.0)
    }

    /// The mean direction of two vectors.
    pub(super) fn mean_direction(&self, other: &Self) -> Self {
        let mut sum = self.0;
        for (component, other) in sum.iter_mut().zip(&other.0) {
            *component += other;
        }
        Self(sum).normalized()
    }

    pub(super) fn normalized(mut self) -> Self {
        let length = dot(&self.0, &self.0).sqrt();
        if length <= 0.0 {
            return Self::ZERO;
        }
        for component in &mut self.0 {
            *component /= length;
        }
        self
    }
}

/// Computes eight running sums and adds them at the end: a fixed order of additions that suits every register width.
fn dot(a: &[f32; DIMS], b: &[f32; DIMS]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

/// The sum of the tokens' rows, not yet scaled to length one.
pub(super) fn sum_of_rows(model: &Model, tokens: &[TokenId]) -> Vector {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "code for AVX2 may run only where the processor has it")]
        // SAFETY: the condition above checked that the processor has AVX2.
        return unsafe { sum_of_rows_avx2(model, tokens) };
    }
    sum_of_rows_plain(model, tokens)
}

/// The plain loop, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_of_rows_avx2(model: &Model, tokens: &[TokenId]) -> Vector {
    sum_of_rows_plain(model, tokens)
}

#[inline(always)]
fn sum_of_rows_plain(model: &Model, tokens: &[TokenId]) -> Vector {
    let mut sum = [0.0_f32; DIMS];
    for &token in tokens {
        if let Some((row, scale)) = model.row(token) {
            add_row(&mut sum, row, scale);
        }
    }
    Vector(sum)
}

#[inline(always)]
fn add_row(sum: &mut [f32; DIMS], row: &EmbeddingRow, scale: f32) {
    for (component, &value) in sum.iter_mut().zip(row) {
        *component += f32::from(value) * scale;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Adds in double precision, component by component.
    fn naive_sum(model: &Model, tokens: &[TokenId]) -> Vec<f64> {
        let mut sum = vec![0.0; DIMS];
        for (row, scale) in tokens.iter().filter_map(|&token| model.row(token)) {
            for (component, &value) in sum.iter_mut().zip(row) {
                *component += f64::from(value) * f64::from(scale);
            }
        }
        sum
    }

    proptest! {
        #[test]
        fn every_width_of_register_gives_the_same_bits(tokens in prop::collection::vec(any::<u16>().prop_map(TokenId), 0..300)) {
            let model = Model::of_passages();
            let sum = sum_of_rows(&model, &tokens);
            prop_assert_eq!(sum, sum_of_rows_plain(&model, &tokens));
            for (found, expected) in sum.0.iter().zip(naive_sum(&model, &tokens)) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-3 * (1.0 + expected.abs()));
            }
        }
    }

    #[test]
    fn lengths_are_one_or_zero() {
        assert!(Vector::ZERO.normalized().is_zero());
        let model = Model::of_passages();
        let vector = sum_of_rows(&model, &[TokenId(2000), TokenId(3000)]).normalized();
        assert!((vector.dot(&vector) - 1.0).abs() < 1e-6);
    }
}
