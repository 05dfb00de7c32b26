//! What is known of a candidate, and what it is worth: a linear model whose every part can be shown.
//!
//! Each feature is from 0 to 1 and each weight at least 0, so that more is never worse and the sum over the sum of the
//! weights is from 0 to 1 too.

use serde::Serialize;

/// One thing that is known of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Its keyword score over the best one, as far as the best match covers the query.
    Keyword,
    /// The likeness of its nearest passage over the best one.
    Similarity,
    /// The same in the second space, whose passages a sentence encoder embedded; 0 if the snapshot has none.
    Encoded,
    /// Late interaction with that passage, its heading and the headings above.
    Interaction,
    /// The words stand in it as they were typed.
    InARow,
    /// By how many provisions it is cited, as a logarithm.
    CitedBy,
}

impl Feature {
    pub const COUNT: usize = 6;

    pub const ALL: [Self; Self::COUNT] =
        [Self::Keyword, Self::Similarity, Self::Encoded, Self::Interaction, Self::InARow, Self::CitedBy];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Similarity => "similarity",
            Self::Encoded => "encoded",
            Self::Interaction => "interaction",
            Self::InARow => "inARow",
            Self::CitedBy => "citedBy",
        }
    }
}

/// A number for each feature, in the order of [`Feature::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Features(pub [f32; Feature::COUNT]);

impl Features {
    pub fn get(&self, feature: Feature) -> f32 {
        self.0[feature as usize]
    }

    pub(super) fn set(&mut self, feature: Feature, value: f32) {
        self.0[feature as usize] = value;
    }

    /// Those of some features; the others are 0.
    pub(super) fn only(&self, wanted: &[Feature]) -> Self {
        let mut some = Self::default();
        wanted.iter().for_each(|&feature| some.set(feature, self.get(feature)));
        some
    }

    pub(super) fn sum(&self) -> f32 {
        self.0.iter().sum()
    }

    /// What each feature adds to the score.
    pub(super) fn weighted(&self, weights: &Self) -> Self {
        let total = weights.sum().max(f32::MIN_POSITIVE);
        Self(std::array::from_fn(|place| self.0[place] * weights.0[place] / total))
    }
}

impl Serialize for Features {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Feature::ALL.map(|feature| (feature.as_str(), self.get(feature))))
    }
}
