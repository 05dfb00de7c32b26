//! The relation between a result and the provision that the query names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a result is related to the provision that the query names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// The query names this provision.
    Named,
    /// The text of this provision cites the named provision.
    Citing,
    /// The text of the named provision cites this provision.
    Cited,
    /// This provision is near the named provision in the code.
    Neighbour,
}

impl Relation {
    /// In the order in which results are listed.
    pub(super) const ALL: [Self; 4] = [Self::Named, Self::Citing, Self::Cited, Self::Neighbour];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Citing => "citing",
            Self::Cited => "cited",
            Self::Neighbour => "neighbour",
        }
    }

    pub(super) const fn score(self) -> f32 {
        match self {
            Self::Named => 1.0,
            Self::Citing => 0.75,
            Self::Cited => 0.5,
            Self::Neighbour => 0.25,
        }
    }
}
