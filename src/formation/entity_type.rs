//! The entity types whose requirements are recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntityType {
    Llc,
    Corporation,
    NonprofitCorporation,
    LimitedPartnership,
}

impl EntityType {
    pub const ALL: [Self; 4] = [Self::Llc, Self::Corporation, Self::NonprofitCorporation, Self::LimitedPartnership];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Llc => "llc",
            Self::Corporation => "corporation",
            Self::NonprofitCorporation => "nonprofit_corporation",
            Self::LimitedPartnership => "limited_partnership",
        }
    }
}
