//! The features of a candidate and their weights: a linear model that can show the contribution of each
//! feature.
//!
//! Each feature is from 0 to 1 and each weight is at least 0. So a higher feature never lowers the
//! score, and the weighted sum divided by the sum of the weights is also from 0 to 1.

use serde::Serialize;

/// A feature of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingFeature {
    /// The keyword score divided by the best one. Its weight depends on how much of the query the best
    /// match covers.
    Keyword,
    /// The similarity of the nearest chunk divided by the best one.
    Similarity,
    /// The same in the second vector space, which a sentence encoder made; 0 if the snapshot has none.
    Encoded,
    /// Late interaction of the query with that chunk, its heading and the headings above it.
    Interaction,
    /// Whether the words of the query occur in sequence, as typed.
    Sequence,
    /// Whether the heading says what the query says.
    Heading,
    /// How many provisions cite it, on a logarithmic scale.
    CitedBy,
}

impl RankingFeature {
    pub const COUNT: usize = 7;

    pub const ALL: [Self; Self::COUNT] = [
        Self::Keyword,
        Self::Similarity,
        Self::Encoded,
        Self::Interaction,
        Self::Sequence,
        Self::Heading,
        Self::CitedBy,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Similarity => "similarity",
            Self::Encoded => "encoded",
            Self::Interaction => "interaction",
            Self::Sequence => "inARow",
            Self::Heading => "heading",
            Self::CitedBy => "citedBy",
        }
    }
}

/// A number for each feature, in the order of [`RankingFeature::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeatureVector(pub [f32; RankingFeature::COUNT]);

impl FeatureVector {
    pub fn get(&self, feature: RankingFeature) -> f32 {
        self.0[feature as usize]
    }

    pub(super) fn set(&mut self, feature: RankingFeature, value: f32) {
        self.0[feature as usize] = value;
    }

    /// A copy with only the given features; the others are 0.
    pub(super) fn only(&self, wanted: &[RankingFeature]) -> Self {
        let mut some = Self::default();
        wanted.iter().for_each(|&feature| some.set(feature, self.get(feature)));
        some
    }

    pub(super) fn sum(&self) -> f32 {
        self.0.iter().sum()
    }

    /// The contribution of each feature to the score.
    pub(super) fn weighted(&self, weights: &Self) -> Self {
        let total = weights.sum().max(f32::MIN_POSITIVE);
        Self(std::array::from_fn(|place| self.0[place] * weights.0[place] / total))
    }
}

impl Serialize for FeatureVector {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(RankingFeature::ALL.map(|feature| (feature.as_str(), self.get(feature))))
    }
}
