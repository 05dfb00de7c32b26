//! Compares two results: do they differ by more than chance?
//!
//! The machine, the disk and other programs vary between measurements, and all requests of a round
//! share these conditions. So figures of rounds are compared, not single requests. A permutation test
//! decides whether two results differ: how often would the same rounds, divided into two groups at
//! random, differ at least as much?

use std::fmt;

use hornbook_base::random::SplitMix64;
use serde::Serialize;

use super::result::{BenchResult, Round};
use crate::evaluate::{Estimate, percentile};

/// The significance level: a difference counts if its p-value is at most this.
const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// The number of permutations to try. If fewer exist, all are tried; otherwise this many are drawn at random.
const PERMUTATIONS_MAX: usize = 20_000;

const SEED: u64 = 0x5eed_0f1a_3000_0002;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    pub rows: Vec<ComparisonRow>,
    /// Why the results may not be comparable at all.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonRow {
    pub name: String,
    pub unit: &'static str,
    pub first: Spread,
    pub second: Spread,
    /// The mean of the second divided by that of the first, with its 95 % confidence interval.
    pub ratio: Estimate,
    /// The probability that chance alone makes a difference at least as large.
    pub p_value: f64,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Better,
    Worse,
    WithinNoise,
    /// With so few rounds, no difference could be significant.
    TooFewRounds,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::WithinNoise => "within the noise",
            Self::TooFewRounds => "too few rounds for a verdict",
        })
    }
}

/// A figure to compare.
struct ComparedMetric {
    name: String,
    unit: &'static str,
    more_is_better: bool,
    of: RoundMetric,
}

type RoundMetric = Box<dyn Fn(&Round) -> Option<f64>>;

pub fn compare(first: &BenchResult, second: &BenchResult) -> Comparison {
    let rows = compared_metrics(first).into_iter().filter_map(|figure| {
        let values = |result: &BenchResult| result.rounds.iter().map(&figure.of).collect::<Option<Vec<f64>>>();
        let (a, b) = (values(first)?, values(second)?);
        row(figure, &a, &b)
    });
    Comparison { rows: rows.collect(), warnings: warnings(first, second) }
}

fn compared_metrics(first: &BenchResult) -> Vec<ComparedMetric> {
    let latency = |name: &str, of: fn(&Round) -> f64| ComparedMetric {
        name: name.to_owned(),
        unit: "us",
        more_is_better: false,
        of: Box::new(move |round| (round.latency.count > 0).then(|| of(round))),
    };
    let mut figures = vec![
        ComparedMetric {
            name: "throughput".to_owned(),
            unit: "/s",
            more_is_better: true,
            of: Box::new(|round| Some(round.throughput)),
        },
        latency("mean", |round| round.latency.mean),
        latency("p50", |round| round.latency.at(50.0)),
        latency("p90", |round| round.latency.at(90.0)),
        latency("p99", |round| round.latency.at(99.0)),
        latency("p99.9", |round| round.latency.at(99.9)),
    ];
    figures.extend(first.total.stages.iter().map(|stage| {
        let name = stage.name.clone();
        ComparedMetric {
            name: format!("{name}, mean"),
            unit: "us",
            more_is_better: false,
            of: Box::new(move |round| {
                round.stages.iter().find(|stage| stage.name == name).map(|stage| stage.took.mean)
            }),
        }
    }));
    figures
}

fn row(figure: ComparedMetric, a: &[f64], b: &[f64]) -> Option<ComparisonRow> {
    let ComparedMetric { name, unit, more_is_better, of: _ } = figure;
    let (first, second) = (Spread::of(a)?, Spread::of(b)?);
    if first.mean == 0.0 && second.mean == 0.0 {
        return None;
    }
    let p_value = p_value(a, b);
    let is_more = second.mean > first.mean;
    let verdict = if min_p_value(a.len(), b.len()) > SIGNIFICANCE_LEVEL {
        Verdict::TooFewRounds
    } else if p_value > SIGNIFICANCE_LEVEL {
        Verdict::WithinNoise
    } else if is_more == more_is_better {
        Verdict::Better
    } else {
        Verdict::Worse
    };
    Some(ComparisonRow { name, unit, first, second, ratio: ratio(a, b), p_value, verdict })
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        Some(Self { mean: mean(values), low, high })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The ratio of the means. Its confidence interval comes from resampling the rounds of each side, with
/// replacement.
fn ratio(a: &[f64], b: &[f64]) -> Estimate {
    let mut random = SplitMix64(SEED);
    let mut again = |values: &[f64]| {
        let drawn: f64 = (0..values.len()).map(|_| values[random.index(values.len())]).sum();
        drawn / values.len() as f64
    };
    let mut ratios: Vec<f64> = (0..PERMUTATIONS_MAX / 2).map(|_| again(b) / again(a)).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    Estimate { mean: mean(b) / mean(a), low: percentile(&ratios, 0.025), high: percentile(&ratios, 0.975) }
}

/// The p-value of a two-sided permutation test of the means.
fn p_value(a: &[f64], b: &[f64]) -> f64 {
    let all = [a, b].concat();
    let sum: f64 = all.iter().sum();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let difference = |first: f64| (first / n - (sum - first) / m).abs();
    // The order of summation changes the last digits, so differences that are almost equal count as equal.
    let observed = difference(a.iter().sum()) * (1.0 - 1e-9);
    if partition_count(a.len(), b.len()) <= PERMUTATIONS_MAX as f64 {
        let (mut as_large, mut dealt) = (0_usize, 0_usize);
        for_each_combination(&all, a.len(), 0.0, &mut |first| {
            dealt += 1;
            as_large += usize::from(difference(first) >= observed);
        });
        return as_large as f64 / dealt as f64;
    }
    let mut random = SplitMix64(SEED);
    let mut shuffled = all;
    let as_large = (0..PERMUTATIONS_MAX).filter(|_| {
        for place in 0..a.len() {
            let other = place + random.index(shuffled.len() - place);
            shuffled.swap(place, other);
        }
        difference(shuffled[..a.len()].iter().sum()) >= observed
    });
    (as_large.count() + 1) as f64 / (PERMUTATIONS_MAX + 1) as f64
}

/// Calls `each` with the sum of every combination of `wanted` values.
fn for_each_combination(values: &[f64], wanted: usize, sum: f64, each: &mut impl FnMut(f64)) {
    match values.split_first() {
        _ if wanted == 0 => each(sum),
        Some((value, rest)) if values.len() >= wanted => {
            for_each_combination(rest, wanted - 1, sum + value, each);
            for_each_combination(rest, wanted, sum, each);
        }
        _ => {}
    }
}

/// The number of ways to divide the rounds into groups of `n` and `m`.
fn partition_count(n: usize, m: usize) -> f64 {
    (1..=n).map(|place| (m + place) as f64 / place as f64).product()
}

/// The p-value of the clearest possible difference: the smallest one that this number of rounds can have.
fn min_p_value(n: usize, m: usize) -> f64 {
    let mirrored = if n == m { 2.0 } else { 1.0 };
    mirrored / partition_count(n, m)
}

fn warnings(first: &BenchResult, second: &BenchResult) -> Vec<String> {
    let (a, b) = (&first.target, &second.target);
    let mut warnings = Vec::new();
    let mut differ = |is_other: bool, what: String| {
        if is_other {
            warnings.push(what);
        }
    };
    differ(a.queries_hash != b.queries_hash, "the results used different queries, modes or page sizes".to_owned());
    differ(
        first.load != second.load,
        format!("the loads differ: {}; {}", first.load.describe_load(), second.load.describe_load()),
    );
    differ(a.is_url != b.is_url, "one result measured a server, the other a snapshot in its own process".to_owned());
    differ(
        a.snapshot.is_some() && b.snapshot.is_some() && a.snapshot != b.snapshot,
        "the results used different snapshots".to_owned(),
    );
    differ(first.cores != second.cores, format!("the number of cores differs: {} and {}", first.cores, second.cores));
    for (name, total) in [("first", &first.total), ("second", &second.total)] {
        differ(total.failures() > 0, format!("{} requests of the {name} result failed", total.failures()));
        differ(
            total.refused > 0,
            format!("{} requests of the {name} result were refused with status 503", total.refused),
        );
        differ(total.fell_behind(), format!("{} requests of the {name} result were due, but not sent", total.unsent));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> ComparedMetric {
        ComparedMetric { name: "p50".to_owned(), unit: "us", more_is_better: false, of: Box::new(|_| None) }
    }

    fn verdict(a: &[f64], b: &[f64]) -> (Verdict, f64) {
        let row = row(figure(), a, b).unwrap();
        (row.verdict, row.p_value)
    }

    #[test]
    fn p_values_match_manual_counts() {
        // There are 20 ways to divide six rounds; the two that separate low from high differ at least as much.
        assert_eq!(p_value(&[1.0, 2.0, 3.0], &[10.0, 11.0, 12.0]), 0.1);
        assert_eq!(p_value(&[1.0, 2.0], &[1.0, 2.0]), 1.0);
        assert_eq!(p_value(&[0.0; 5], &[1.0; 5]), 2.0 / 252.0);
        assert_eq!(min_p_value(5, 5), 2.0 / 252.0);
        assert_eq!(min_p_value(1, 5), 1.0 / 6.0);
    }

    #[test]
    fn random_permutations_agree_for_many_rounds() {
        let low: Vec<f64> = (0..12).map(|n| f64::from(n % 4)).collect();
        let high: Vec<f64> = low.iter().map(|value| value + 3.0).collect();
        assert!(partition_count(12, 12) > PERMUTATIONS_MAX as f64);
        assert!(p_value(&low, &high) < 0.001);
        assert!(p_value(&low, &low) > 0.9);
    }

    #[test]
    fn noise_and_real_differences_are_told_apart() {
        let (calm, calm_too) = ([100.0, 104.0, 98.0, 101.0, 102.0], [103.0, 99.0, 101.0, 105.0, 100.0]);
        assert_eq!(verdict(&calm, &calm_too).0, Verdict::WithinNoise);
        let slower = calm.map(|value| value * 1.2);
        assert_eq!(verdict(&calm, &slower).0, Verdict::Worse);
        assert_eq!(verdict(&slower, &calm).0, Verdict::Better);
        assert_eq!(verdict(&calm[..3], &slower[..3]).0, Verdict::TooFewRounds, "even if the results are far apart");
        let ratio = ratio(&calm, &slower);
        assert!((ratio.mean - 1.2).abs() < 1e-9 && ratio.low < 1.2 && ratio.high > 1.2, "{ratio:?}");
        assert!(ratio.low > 1.15 && ratio.high < 1.25, "{ratio:?}");
    }

    #[test]
    fn false_positive_rate_matches_significance_level() {
        let mut random = SplitMix64(1);
        let mut five = || -> Vec<f64> { (0..5).map(|_| random.below(1_000_000) as f64 + 1.0).collect() };
        let wrong = (0..400).filter(|_| verdict(&five(), &five()).0 != Verdict::WithinNoise).count();
        assert!((4..=36).contains(&wrong), "{wrong} of 400");
    }
}
