//! The built-in jurisdictions: federal, the states, the District of Columbia and the territories.
//!
//! Every snapshot lists all of them. A jurisdiction without law is a placeholder, so that the coverage shows what
//! is missing. Counties, cities and fictional states come from the build plan.

use serde::{Deserialize, Serialize};

/// The level of government of a jurisdiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GovernmentLevel {
    Federal,
    State,
    District,
    Territory,
    County,
    City,
}

impl GovernmentLevel {
    pub const ALL: [Self; 6] = [Self::Federal, Self::State, Self::District, Self::Territory, Self::County, Self::City];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Federal => "federal",
            Self::State => "state",
            Self::District => "district",
            Self::Territory => "territory",
            Self::County => "county",
            Self::City => "city",
        }
    }
}

/// An entry of the built-in list of jurisdictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInJurisdiction {
    pub code: &'static str,
    pub name: &'static str,
    pub level: GovernmentLevel,
}

const fn state(code: &'static str, name: &'static str) -> BuiltInJurisdiction {
    BuiltInJurisdiction { code, name, level: GovernmentLevel::State }
}

const fn territory(code: &'static str, name: &'static str) -> BuiltInJurisdiction {
    BuiltInJurisdiction { code, name, level: GovernmentLevel::Territory }
}

/// The built-in jurisdictions in the order of a snapshot's ordinals: federal, the states by name, the District of
/// Columbia, the territories.
pub const BUILT_IN_JURISDICTIONS: [BuiltInJurisdiction; 57] = [
    BuiltInJurisdiction { code: "US", name: "United States", level: GovernmentLevel::Federal },
    state("AL", "Alabama"),
    state("AK", "Alaska"),
    state("AZ", "Arizona"),
    state("AR", "Arkansas"),
    state("CA", "California"),
    state("CO", "Colorado"),
    state("CT", "Connecticut"),
    state("DE", "Delaware"),
    state("FL", "Florida"),
    state("GA", "Georgia"),
    state("HI", "Hawaii"),
    state("ID", "Idaho"),
    state("IL", "Illinois"),
    state("IN", "Indiana"),
    state("IA", "Iowa"),
    state("KS", "Kansas"),
    state("KY", "Kentucky"),
    state("LA", "Louisiana"),
    state("ME", "Maine"),
    state("MD", "Maryland"),
    state("MA", "Massachusetts"),
    state("MI", "Michigan"),
    state("MN", "Minnesota"),
    state("MS", "Mississippi"),
    state("MO", "Missouri"),
    state("MT", "Montana"),
    state("NE", "Nebraska"),
    state("NV", "Nevada"),
    state("NH", "New Hampshire"),
    state("NJ", "New Jersey"),
    state("NM", "New Mexico"),
    state("NY", "New York"),
    state("NC", "North Carolina"),
    state("ND", "North Dakota"),
    state("OH", "Ohio"),
    state("OK", "Oklahoma"),
    state("OR", "Oregon"),
    state("PA", "Pennsylvania"),
    state("RI", "Rhode Island"),
    state("SC", "South Carolina"),
    state("SD", "South Dakota"),
    state("TN", "Tennessee"),
    state("TX", "Texas"),
    state("UT", "Utah"),
    state("VT", "Vermont"),
    state("VA", "Virginia"),
    state("WA", "Washington"),
    state("WV", "West Virginia"),
    state("WI", "Wisconsin"),
    state("WY", "Wyoming"),
    BuiltInJurisdiction { code: "DC", name: "District of Columbia", level: GovernmentLevel::District },
    territory("AS", "American Samoa"),
    territory("GU", "Guam"),
    territory("MP", "Northern Mariana Islands"),
    territory("PR", "Puerto Rico"),
    territory("VI", "United States Virgin Islands"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_has_no_duplicates() {
        let mut codes: Vec<_> = BUILT_IN_JURISDICTIONS.iter().map(|entry| entry.code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), BUILT_IN_JURISDICTIONS.len());
        assert!(BUILT_IN_JURISDICTIONS.iter().all(|entry| entry.code.parse::<crate::ids::ShortCode>().is_ok()));
        let states = BUILT_IN_JURISDICTIONS.iter().filter(|entry| entry.level == GovernmentLevel::State);
        assert!(states.clone().map(|entry| entry.name).is_sorted());
        assert_eq!(states.count(), 50);
    }
}
