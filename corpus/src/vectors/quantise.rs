//! Quantisation: how a vector becomes a row, how queries are compared with rows, and how far the two scores can differ.
//!
//! A row is a scale and, per dimension, twelve bits in units of scale/16: the upper eight are the *code*, which scans
//! and graph searches read, the lower four the *residual*, which only rescoring reads. The **score** of a chunk is the
//! dot product of the query with all twelve bits (`arch::scalar::score` fixes the order of its additions). The
//! **estimate** is the dot product of the query, rounded to integer steps, with the codes alone.

use super::arch::LANES;

/// Codes are in -127..=127.
const CODE_MAX: f32 = 127.0;
/// A vector whose largest value is below this is stored as zero: its scale could not be multiplied without underflow.
const VALUE_MIN: f32 = 1e-20;
/// Maximum sum of the magnitudes of a query's steps, so that every dot product with codes fits 32 bits.
const QUERY_STEPS_SUM_MAX: f64 = (i32::MAX / 128) as f64;

/// One vector, quantised.
#[derive(Debug, Default)]
pub(super) struct QuantisedRow {
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
    /// Two dimensions per byte: in each group of 32, byte b contains dimension b in its low half and dimension b +
    /// 16 in its high half.
    pub(super) residuals: Vec<u8>,
    /// The length of the residual part, in units of the scale.
    pub(super) residual_norm: f32,
}

impl QuantisedRow {
    /// Replaces this row with that of a vector, whose values must be finite.
    pub(super) fn set(&mut self, vector: &[f32]) {
        let largest = vector.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        self.scale = if largest < VALUE_MIN { 0.0 } else { largest / CODE_MAX };
        self.codes.clear();
        self.residuals.clear();
        for group in vector.as_chunks::<LANES>().0 {
            let mut nibbles = [0u8; LANES];
            for (nibble, &value) in nibbles.iter_mut().zip(group) {
                let (code, residual) = split(self.sixteenths(value));
                self.codes.push(code);
                *nibble = (residual + 8) as u8;
            }
            let (low, high) = nibbles.split_at(LANES / 2);
            self.residuals.extend(low.iter().zip(high).map(|(low, high)| low | high << 4));
        }
        self.residual_norm = residual_norm(&self.residuals);
    }

    fn sixteenths(&self, value: f32) -> i32 {
        if self.scale == 0.0 {
            0
        } else {
            (value / self.scale * 16.0).round().clamp(-16.0 * CODE_MAX, 16.0 * CODE_MAX) as i32
        }
    }
}

/// The length of the residual part of a row, in units of its scale.
pub(super) fn residual_norm(residuals: &[u8]) -> f32 {
    let square = |nibble: u8| (i64::from(nibble) - 8).pow(2);
    let squares: i64 = residuals.iter().map(|byte| square(byte & 0xf) + square(byte >> 4)).sum();
    ((squares as f64).sqrt() / 16.0) as f32
}

/// The code and the four bits below it, which are in -8..=7.
fn split(sixteenths: i32) -> (i8, i32) {
    let code = (sixteenths + 8) >> 4;
    (code as i8, sixteenths - 16 * code)
}

/// A query in the form that the inner loops take. Its buffers are reused for other queries.
#[derive(Debug, Default)]
pub(super) struct QuantisedQuery {
    pub(super) exact: Vec<f32>,
    /// The query in integer steps, as fine as 32-bit sums allow: about 15 bits.
    pub(super) steps: Vec<i16>,
    /// The value of a step.
    pub(super) step: f32,
    norm: f64,
    /// The length of the rounding error of the steps.
    lost_norm: f64,
}

impl QuantisedQuery {
    pub(super) fn set(&mut self, query: &[f32]) {
        self.exact.clear();
        self.exact.extend_from_slice(query);
        let largest = query.iter().fold(0.0f64, |largest, &value| largest.max(f64::from(value).abs()));
        let sum: f64 = query.iter().map(|&value| f64::from(value).abs()).sum();
        // Rounding adds up to half a step per dimension to the sum.
        let sum_max = QUERY_STEPS_SUM_MAX - query.len() as f64;
        let step = (largest / f64::from(i16::MAX)).max(sum / sum_max);
        self.step = if step.is_normal() { step as f32 } else { 0.0 };
        let per_step = if self.step > 0.0 { 1.0 / f64::from(self.step) } else { 0.0 };
        self.steps.clear();
        // The cast saturates, and converts NaN to zero.
        self.steps.extend(query.iter().map(|&value| (f64::from(value) * per_step).round() as i16));
        let lost = |(&value, &steps): (&f32, &i16)| f64::from(value) - f64::from(steps) * f64::from(self.step);
        self.norm = query.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        self.lost_norm = query.iter().zip(&self.steps).map(lost).map(|lost| lost * lost).sum::<f64>().sqrt();
    }

    /// The largest possible difference between the estimate and the score of a row, in units of the row's scale.
    /// See `Row` for `residual_norm`.
    ///
    /// Write q for the query, s for its steps times their value, c for the codes and r for the residuals in units
    /// of the scale. Score minus estimate is q·(c + r) - s·c = q·r + (q - s)·c, by Cauchy-Schwarz at most ‖q‖‖r‖ +
    /// ‖q - s‖‖c‖, where ‖r‖ is at most the largest of the file and ‖c‖ at most 128√dims. Rounding errors are
    /// added. The error of the score's sum of n products is less than nε Σ|q||c + r| <= nε ‖q‖ 128√dims. The
    /// estimate's dot product is an exact integer. Its conversion and multiplication, as in the comparison with the
    /// threshold, have an error of a few ε of at most the same size, for which n is raised by 16.
    pub(super) fn error_in_scales(&self, residual_norm_max: f32) -> f32 {
        let dims = self.exact.len() as f64;
        let row_norm_max = 128.0 * dims.sqrt();
        let residuals = self.norm * f64::from(residual_norm_max);
        let steps = self.lost_norm * row_norm_max;
        let rounding = (dims + 16.0) * f64::from(f32::EPSILON) * self.norm * row_norm_max;
        (residuals + steps + rounding) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::arch::Kernel;
    use proptest::prelude::*;

    fn vector(dims: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0f32..1.0, dims)
    }

    proptest! {
        #[test]
        fn estimate_and_score_keep_their_distance_and_the_score_is_the_dot_product(
            (rows, asked) in (1usize..=9).prop_flat_map(|groups| {
                (prop::collection::vec(vector(groups * LANES), 1..8), vector(groups * LANES))
            }),
            magnitude in -9i32..9,
        ) {
            let factor = 2.0f32.powi(magnitude);
            let asked: Vec<f32> = asked.iter().map(|value| value * factor).collect();
            let mut query = QuantisedQuery::default();
            query.set(&asked);
            for vector in &rows {
                let mut row = QuantisedRow::default();
                row.set(vector);
                let kernel = Kernel::detect();
                let score = kernel.score(&query.exact, &row.codes, &row.residuals) * (row.scale / 16.0);
                let exact: f64 = asked.iter().zip(vector).map(|(&q, &v)| f64::from(q) * f64::from(v)).sum();
                // With twelve bits, each dimension is off by at most half of 1/16 of the scale.
                let tolerance = f64::from(row.scale) / 30.0 * asked.iter().map(|q| f64::from(q.abs())).sum::<f64>() + 1e-9;
                prop_assert!((f64::from(score) - exact).abs() <= tolerance, "{score} is not {exact}");
                let mut dots = [0];
                kernel.dots_of_consecutive_rows(&query.steps, &row.codes, &mut dots);
                let estimate = dots[0] as f32 * query.step * row.scale;
                let error = query.error_in_scales(row.residual_norm) * row.scale;
                prop_assert!((score - estimate).abs() <= error, "{score} and {estimate} are more than {error} apart");
            }
        }
    }

    #[test]
    fn every_sixteenth_splits_into_a_code_and_four_bits() {
        for sixteenths in -16 * 127..=16 * 127 {
            let (code, residual) = split(sixteenths);
            assert_eq!(i32::from(code) * 16 + residual, sixteenths);
            assert!((-8..=7).contains(&residual) && (-127..=127).contains(&code));
        }
    }

    #[test]
    fn extreme_queries_do_not_overflow() {
        let mut query = QuantisedQuery::default();
        for value in [0.0, f32::NAN, f32::INFINITY, f32::MAX, 1e-42, 1.0] {
            query.set(&[value; 2048]);
            let sum: i64 = query.steps.iter().map(|&step| i64::from(step).abs()).sum();
            assert!(sum * 128 <= i64::from(i32::MAX), "{value}");
        }
        assert_eq!(QuantisedRow::default().residual_norm, 0.0);
    }
}
