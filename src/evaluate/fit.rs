//! Fits the feature weights to judged queries by pairwise logistic regression: of two candidates, the
//! one with the better grade should get the higher score. The weight of a pair is the change of nDCG
//! when the two change places.
//!
//! Weights stay at least 0 and near their start values. Nothing is random: the same lessons always give
//! the same weights.

use hornbook_search::{
    Candidates, Engine, FeatureVector, Filter, QueryKind, RankingFeature, SearchError, SearchRequest,
};

use super::judged::ReadyQuery;

/// Candidates beyond this rank do not affect any measure.
const DEPTH: usize = 100;

/// Multiplies score differences: a difference of 1 / `SHARPNESS` counts as clear.
const MARGIN_SCALE: f32 = 20.0;

/// How strongly the weights are pulled towards their start values.
const REGULARIZATION: f32 = 0.02;

const ITERATIONS: usize = 600;

const LEARNING_RATE: f32 = 0.05;

/// The training data of one query: pairs of candidates. Each pair has the difference of the features
/// (better minus worse) and a weight.
#[derive(Clone, Debug)]
pub struct TrainingExample {
    pub kind: QueryKind,
    pairs: Vec<([f32; RankingFeature::COUNT], f32)>,
}

/// Makes a training example of each query whose candidates include a judged provision.
pub fn training_examples(engine: &Engine, queries: &[ReadyQuery]) -> Result<Vec<TrainingExample>, SearchError> {
    let mut examples = Vec::with_capacity(queries.len());
    for query in queries {
        let filter = Filter::within(query.range);
        let request = SearchRequest { depth: query.depth, filter: &filter, ..SearchRequest::new(&query.query) };
        let Candidates { kind, found } = engine.candidates(&request)?;
        let graded: Vec<(u8, FeatureVector)> =
            found.into_iter().take(DEPTH).map(|(node, features)| (query.grade(node), features)).collect();
        let pairs = pairs_of(&graded);
        if !pairs.is_empty() {
            examples.push(TrainingExample { kind, pairs });
        }
    }
    Ok(examples)
}

fn pairs_of(graded: &[(u8, FeatureVector)]) -> Vec<([f32; RankingFeature::COUNT], f32)> {
    let gain = |grade: u8| f32::from(grade).exp2() - 1.0;
    let discount = |place: usize| 1.0 / (place as f32 + 2.0).log2();
    let mut pairs = Vec::new();
    for (place, &(grade, better)) in graded.iter().enumerate().filter(|(_, graded)| graded.0 > 0) {
        for (other, &(_, worse)) in graded.iter().enumerate().filter(|(_, other)| other.0 < grade) {
            let change = (gain(grade) - gain(graded[other].0)) * (discount(place) - discount(other)).abs();
            pairs.push((std::array::from_fn(|feature| better.0[feature] - worse.0[feature]), change));
        }
    }
    // Scaled so that all queries count equally.
    let total: f32 = pairs.iter().map(|(_, change)| change).sum();
    pairs.iter_mut().for_each(|(_, change)| *change /= total.max(f32::MIN_POSITIVE));
    pairs
}

/// Fits the weights that order the pairs best. They are scaled so that similarity in both spaces and
/// interaction sum to 1.
pub fn fit(examples: &[&TrainingExample], start: FeatureVector) -> FeatureVector {
    let count = examples.len().max(1) as f32;
    let mut weights = start;
    for _ in 0..ITERATIONS {
        let mut slope: [f32; RankingFeature::COUNT] =
            std::array::from_fn(|f| REGULARIZATION * (start.0[f] - weights.0[f]));
        for (difference, weight) in examples.iter().flat_map(|example| &example.pairs) {
            let margin: f32 = difference.iter().zip(&weights.0).map(|(a, b)| a * b).sum();
            let pull = MARGIN_SCALE * weight / (1.0 + (MARGIN_SCALE * margin).exp()) / count;
            slope.iter_mut().zip(difference).for_each(|(slope, difference)| *slope += pull * difference);
        }
        weights
            .0
            .iter_mut()
            .zip(slope)
            .for_each(|(weight, slope)| *weight = (*weight + LEARNING_RATE * slope).max(0.0));
    }
    let semantic = [RankingFeature::Similarity, RankingFeature::Encoded, RankingFeature::Interaction]
        .map(|feature| weights.get(feature));
    let semantic: f32 = semantic.iter().sum();
    FeatureVector(weights.0.map(|weight| weight / semantic.max(1e-3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(similarity: f32, interaction: f32, cited_by: f32) -> FeatureVector {
        let mut features = FeatureVector::default();
        features.0[RankingFeature::Similarity as usize] = similarity;
        features.0[RankingFeature::Interaction as usize] = interaction;
        features.0[RankingFeature::CitedBy as usize] = cited_by;
        features
    }

    #[test]
    fn useful_features_gain_weight_and_misleading_ones_lose_it() {
        let graded = [(0, features(0.9, 0.2, 0.1)), (3, features(0.8, 0.2, 0.9)), (0, features(0.7, 0.8, 0.0))];
        let lesson = TrainingExample { kind: QueryKind::Topic, pairs: pairs_of(&graded) };
        let start = features(0.6, 0.4, 0.0);
        let fitted = fit(&[&lesson], start);
        assert!(fitted.get(RankingFeature::CitedBy) > 0.1, "{fitted:?}");
        assert!(fitted.get(RankingFeature::Interaction) < 0.4, "{fitted:?}");
        assert!(fitted.0.iter().all(|&weight| weight >= 0.0), "{fitted:?}");
        let score = |of: &FeatureVector| of.0.iter().zip(&fitted.0).map(|(a, b)| a * b).sum::<f32>();
        assert!(
            graded[1..].iter().chain(&graded[..1]).map(|(_, of)| score(of)).fold(0.0, f32::max) == score(&graded[1].1)
        );
    }

    #[test]
    fn a_query_without_a_judged_candidate_gives_no_pairs() {
        assert!(pairs_of(&[(0, features(0.9, 0.2, 0.1)), (0, features(0.1, 0.2, 0.1))]).is_empty());
        let start = features(0.6, 0.4, 0.25);
        let kept = fit(&[], start);
        assert!(kept.0.iter().zip(start.0).all(|(a, b)| (a - b).abs() < 1e-5), "{kept:?}");
    }
}
