//! Confidence intervals of means and tests of their difference, by resampling. The seed is fixed, so
//! that the same measurements always give the same figures.

use hornbook_base::random::SplitMix64;
use serde::Serialize;

/// The number of resamples.
const RESAMPLES: usize = 10_000;

/// The seed of every series of draws.
const SEED: u64 = 0x5eed_0f1a_3000_0001;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// The percentile bootstrap: draws as many values with replacement, again and again, and takes
    /// percentiles of the means.
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Self { mean: 0.0, low: 0.0, high: 0.0 };
        }
        let mut random = SplitMix64(SEED);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| mean((0..values.len()).map(|_| values[random.index(values.len())]), values.len()))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| means[((RESAMPLES - 1) as f64 * part).round() as usize];
        Self { mean: mean(values.iter().copied(), values.len()), low: at(0.025), high: at(0.975) }
    }
}

/// The comparison of two series over the same queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paired {
    /// The mean of first minus second, with its confidence interval.
    pub difference: Estimate,
    /// The probability of a difference at least as large if chance decides which value belongs to which series.
    pub p_value: f64,
    pub better: usize,
    pub worse: usize,
}

impl Paired {
    /// A two-sided paired randomisation test: the signs of the differences are drawn at random.
    ///
    /// # Panics
    /// If the series have different lengths.
    pub fn of(first: &[f64], second: &[f64]) -> Self {
        assert_eq!(first.len(), second.len(), "paired series need the same queries");
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let observed = differences.iter().sum::<f64>().abs();
        let mut random = SplitMix64(SEED);
        let as_large = (0..RESAMPLES).filter(|_| {
            let flipped: f64 = differences.iter().map(|d| if random.draw() >> 63 == 0 { *d } else { -d }).sum();
            // The order of summation changes the last digits.
            flipped.abs() >= observed - 1e-9
        });
        let p_value = (as_large.count() + 1) as f64 / (RESAMPLES + 1) as f64;
        let count = |side: fn(&f64) -> bool| differences.iter().filter(|d| side(d)).count();
        let (better, worse) = (count(|d| *d > 1e-9), count(|d| *d < -1e-9));
        Self { difference: Estimate::of(&differences), p_value, better, worse }
    }
}

/// The value at a share (0 to 1) of the values, which must be in ascending order; zero if there are none.
pub fn percentile(ascending: &[f64], part: f64) -> f64 {
    let last = ascending.len().saturating_sub(1);
    ascending.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_contain_the_mean_and_shrink_with_more_values() {
        let coin: Vec<f64> = (0..100).map(|n| f64::from(n % 2)).collect();
        let wide = Estimate::of(&coin);
        // The standard error of a hundred throws is 0.05, so the 95 % interval is 0.098 to each side.
        assert!((wide.mean - 0.5).abs() < 1e-9);
        assert!((wide.low - 0.402).abs() < 0.015 && (wide.high - 0.598).abs() < 0.015, "{wide:?}");
        let narrow = Estimate::of(&coin.repeat(25));
        assert!(narrow.high - narrow.low < (wide.high - wide.low) / 4.0, "{narrow:?}");
        assert_eq!(Estimate::of(&[0.25; 9]), Estimate { mean: 0.25, low: 0.25, high: 0.25 });
        assert_eq!(Estimate::of(&[]).mean, 0.0);
        assert_eq!(Estimate::of(&coin), Estimate::of(&coin), "the same values give the same figures");
    }

    #[test]
    fn real_differences_have_small_p_values() {
        // All three are better. Of the 8 ways to draw signs, two have a sum as large: all plus and all minus.
        let paired = Paired::of(&[1.0, 1.0, 1.0], &[0.5, 0.5, 0.5]);
        assert!((paired.p_value - 0.25).abs() < 0.02, "{paired:?}");
        assert_eq!((paired.better, paired.worse), (3, 0));
        // Three of five are better by 1, two are worse by 1. Every draw of signs has a sum of at least 1.
        let paired = Paired::of(&[1.0, 1.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 1.0, 1.0]);
        assert!((paired.p_value - 1.0).abs() < 1e-9, "{paired:?}");
        // All twenty are better: 2 of the 2^20 ways to draw signs have a sum as large.
        assert!(Paired::of(&[0.6; 20], &[0.5; 20]).p_value < 0.001);
        let same = Paired::of(&[0.3, 0.4], &[0.3, 0.4]);
        assert_eq!((same.difference.mean, same.p_value, same.better, same.worse), (0.0, 1.0, 0, 0));
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let values = [1.0, 2.0, 3.0, 4.0, 10.0];
        assert_eq!([0.0, 0.5, 0.9, 1.0].map(|part| percentile(&values, part)), [1.0, 3.0, 10.0, 10.0]);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
