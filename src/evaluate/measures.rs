//! Measures of one ranked list against its judgements.

use serde::{Deserialize, Serialize};

/// A measure of one ranked list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The gain of the first ten hits divided by the best possible gain. A hit of grade g at rank r
    /// gains (2^g - 1) / log2(r + 1).
    Ndcg10,
    /// One divided by the rank of the first judged hit among the first ten; zero if there is none.
    Mrr10,
    /// The share of the judged provisions that is among the first ten.
    Recall10,
    /// The share of the judged provisions that is among the first hundred.
    Recall100,
    /// One if the first hit is judged, otherwise zero.
    First,
}

impl Measure {
    pub const ALL: [Self; 5] = [Self::Ndcg10, Self::Mrr10, Self::Recall10, Self::Recall100, Self::First];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ndcg10 => "nDCG@10",
            Self::Mrr10 => "MRR@10",
            Self::Recall10 => "recall@10",
            Self::Recall100 => "recall@100",
            Self::First => "first",
        }
    }

    /// Computes the measure of a list. `found` has the grade of each hit (0 if not judged), `judged`
    /// has all judged grades.
    pub fn of(self, found: &[u8], judged: &[u8]) -> f64 {
        match self {
            Self::Ndcg10 => ndcg(found, judged, 10),
            Self::Mrr10 => {
                let first = found.iter().take(10).position(|&grade| grade > 0);
                first.map_or(0.0, |place| 1.0 / (place + 1) as f64)
            }
            Self::Recall10 => recall(found, judged, 10),
            Self::Recall100 => recall(found, judged, 100),
            Self::First => f64::from(u8::from(found.first().is_some_and(|&grade| grade > 0))),
        }
    }
}

fn ndcg(found: &[u8], judged: &[u8], depth: usize) -> f64 {
    let mut ideal = judged.to_vec();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let best = gain(&ideal, depth);
    if best > 0.0 { gain(found, depth) / best } else { 0.0 }
}

fn gain(grades: &[u8], depth: usize) -> f64 {
    let gains = grades.iter().take(depth).zip(2_u32..);
    gains.map(|(&grade, place)| (f64::from(grade).exp2() - 1.0) / f64::from(place).log2()).sum()
}

fn recall(found: &[u8], judged: &[u8], depth: usize) -> f64 {
    let count = |grades: &[u8]| grades.iter().filter(|&&grade| grade > 0).count();
    match count(judged) {
        0 => 0.0,
        all => count(&found[..found.len().min(depth)]) as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(measure: Measure, found: &[u8], judged: &[u8], expected: f64) {
        let value = measure.of(found, judged);
        assert!((value - expected).abs() < 1e-6, "{measure:?} of {found:?} is {value}, expected {expected}");
    }

    #[test]
    fn ndcg_matches_manual_values() {
        // Gains 7, 3, 1 at ranks 1, 2, 3: 7 / 1 + 3 / 1.58496 + 1 / 2 = 9.392789.
        close(Measure::Ndcg10, &[3, 2, 1], &[1, 3, 2], 1.0);
        // 1 / 1 + 7 / 2 + 3 / 2.32193 = 5.792030, of 9.392789.
        close(Measure::Ndcg10, &[1, 0, 3, 2], &[3, 2, 1], 0.616_646_7);
        // Rank 10 still counts, 1 / log2(11) = 0.289065; rank 11 does not.
        close(Measure::Ndcg10, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 3], &[3], 0.289_064_8);
        close(Measure::Ndcg10, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], &[3], 0.0);
        // More are judged than fit: ten of eleven provisions of grade 1 give a perfect list.
        close(Measure::Ndcg10, &[1; 10], &[1; 11], 1.0);
        close(Measure::Ndcg10, &[], &[3], 0.0);
    }

    #[test]
    fn ranks_and_recall_match_manual_values() {
        close(Measure::Mrr10, &[0, 0, 1, 3], &[3, 1], 1.0 / 3.0);
        close(Measure::Mrr10, &[0; 12], &[3], 0.0);
        close(Measure::Mrr10, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], &[3], 0.0);
        let mut late = [0; 60];
        (late[2], late[9], late[10], late[59]) = (1, 2, 3, 1);
        close(Measure::Recall10, &late, &[3, 2, 1, 1, 1], 2.0 / 5.0);
        close(Measure::Recall100, &late, &[3, 2, 1, 1, 1], 4.0 / 5.0);
        close(Measure::First, &[1], &[1], 1.0);
        close(Measure::First, &[0, 3], &[3], 0.0);
        close(Measure::First, &[], &[3], 0.0);
    }
}
