//! The jurisdictions of a snapshot in ordinal order: first the inventory, then those that the plan
//! adds. Each state is followed by its counties and cities.

use std::collections::{BTreeMap, HashSet};

use hornbook_corpus::edits::nearest_name;
use hornbook_corpus::ids::ShortCode;
use hornbook_corpus::jurisdictions::{BUILT_IN_JURISDICTIONS, GovernmentLevel};

use crate::plan::PlannedJurisdiction;

/// The maximum number of letters in which a suggested code may differ from a misspelt one.
const SUGGESTION_DISTANCE_MAX: u8 = 2;

/// One jurisdiction with its place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderedJurisdiction {
    pub code: ShortCode,
    pub name: String,
    pub level: GovernmentLevel,
    pub parent: Option<ShortCode>,
    pub depth: usize,
}

/// Why the jurisdictions of the plan do not form a tree.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TerritoryError {
    #[error("jurisdiction {0} is defined twice (the states, DC and the territories are built in)")]
    Duplicate(ShortCode),
    #[error("jurisdiction {code} has the parent {parent}, which is not defined")]
    NoParent { code: ShortCode, parent: ShortCode },
    #[error("jurisdiction {code} is a {} without a parent; name its state or county", .level.as_str())]
    NeedsParent { code: ShortCode, level: GovernmentLevel },
    #[error("jurisdiction {0} is its own ancestor; follow the parents and break the cycle")]
    Cycle(ShortCode),
    #[error("jurisdiction {code} is unknown; define it with [[jurisdiction]]{}", format_suggestion(.nearest.as_ref()))]
    Unknown { code: ShortCode, nearest: Option<ShortCode> },
}

fn format_suggestion(nearest: Option<&ShortCode>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(", or did you mean {nearest}?"))
}

/// All jurisdictions, each before those within it.
pub(crate) fn order(planned: &[PlannedJurisdiction]) -> Result<Vec<OrderedJurisdiction>, TerritoryError> {
    let mut known: HashSet<ShortCode> = HashSet::new();
    let mut roots = Vec::new();
    let mut below: BTreeMap<ShortCode, Vec<OrderedJurisdiction>> = BTreeMap::new();
    for entry in BUILT_IN_JURISDICTIONS {
        let code: ShortCode = entry.code.parse().expect("a test checks the inventory");
        known.insert(code.clone());
        roots.push(OrderedJurisdiction {
            code,
            name: entry.name.to_owned(),
            level: entry.level,
            parent: None,
            depth: 0,
        });
    }
    let mut planned: Vec<&PlannedJurisdiction> = planned.iter().collect();
    planned.sort_by(|a, b| a.code.cmp(&b.code));
    for entry in &planned {
        if !known.insert(entry.code.clone()) {
            return Err(TerritoryError::Duplicate(entry.code.clone()));
        }
    }
    for entry in planned {
        let territory = OrderedJurisdiction {
            code: entry.code.clone(),
            name: entry.name.clone(),
            level: entry.level,
            parent: entry.parent.clone(),
            depth: 0,
        };
        match &entry.parent {
            Some(parent) if !known.contains(parent) => {
                return Err(TerritoryError::NoParent { code: entry.code.clone(), parent: parent.clone() });
            }
            Some(parent) => below.entry(parent.clone()).or_default().push(territory),
            None if matches!(entry.level, GovernmentLevel::County | GovernmentLevel::City) => {
                return Err(TerritoryError::NeedsParent { code: entry.code.clone(), level: entry.level });
            }
            None => roots.push(territory),
        }
    }
    let mut ordered = Vec::with_capacity(known.len());
    for root in roots {
        push_with_below(root, &mut below, &mut ordered);
    }
    // Jurisdictions that no root leads to are in a cycle.
    match below.into_values().flatten().next() {
        Some(lost) => Err(TerritoryError::Cycle(lost.code)),
        None => Ok(ordered),
    }
}

fn push_with_below(
    territory: OrderedJurisdiction,
    below: &mut BTreeMap<ShortCode, Vec<OrderedJurisdiction>>,
    ordered: &mut Vec<OrderedJurisdiction>,
) {
    let children = below.remove(&territory.code).unwrap_or_default();
    let depth = territory.depth + 1;
    ordered.push(territory);
    for child in children {
        push_with_below(OrderedJurisdiction { depth, ..child }, below, ordered);
    }
}

/// Refuses an unknown code and suggests the nearest one.
pub(crate) fn check_known(code: &ShortCode, territories: &[OrderedJurisdiction]) -> Result<(), TerritoryError> {
    if territories.iter().any(|territory| territory.code == *code) {
        return Ok(());
    }
    let nearest = nearest_name(
        code.as_str(),
        territories.iter().map(|territory| territory.code.as_str()),
        SUGGESTION_DISTANCE_MAX,
    );
    let nearest = nearest.and_then(|nearest| territories.iter().find(|territory| territory.code.as_str() == nearest));
    let nearest = nearest.map(|territory| territory.code.clone());
    Err(TerritoryError::Unknown { code: code.clone(), nearest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(code: &str, level: GovernmentLevel, parent: Option<&str>) -> PlannedJurisdiction {
        let parent = parent.map(|parent| parent.parse().unwrap());
        PlannedJurisdiction { code: code.parse().unwrap(), name: code.into(), level, parent }
    }

    #[test]
    fn cities_follow_their_county_and_counties_their_state() {
        let plan = [
            planned("UT-SPANISH-FORK", GovernmentLevel::City, Some("UT")),
            planned("XA-TOWN", GovernmentLevel::City, Some("XA-COUNTY")),
            planned("XA-COUNTY", GovernmentLevel::County, Some("XA")),
            planned("XA", GovernmentLevel::State, None),
        ];
        let codes: Vec<_> = order(&plan).unwrap().into_iter().map(|t| t.code.as_str().to_owned()).collect();
        assert_eq!(codes[0], "US");
        let at = |code: &str| codes.iter().position(|c| c == code).unwrap();
        assert_eq!(at("UT-SPANISH-FORK"), at("UT") + 1);
        assert_eq!((at("XA-COUNTY"), at("XA-TOWN")), (at("XA") + 1, at("XA") + 2));
    }

    #[test]
    fn invalid_trees_are_refused() {
        let city = |code, parent| planned(code, GovernmentLevel::City, parent);
        assert_eq!(order(&[city("VA", Some("US"))]), Err(TerritoryError::Duplicate("VA".parse().unwrap())));
        assert!(order(&[city("XX-A", Some("XX"))]).unwrap_err().to_string().contains("XX, which is not defined"));
        assert!(order(&[city("XX-A", None)]).unwrap_err().to_string().contains("name its state or county"));
        let circle = [city("XX-A", Some("XX-B")), city("XX-B", Some("XX-A"))];
        assert!(order(&circle).unwrap_err().to_string().contains("is its own ancestor"));
    }

    #[test]
    fn an_unknown_code_names_the_nearest() {
        let all = order(&[planned("UT-SPANISH-FORK", GovernmentLevel::City, Some("UT"))]).unwrap();
        let message = check_known(&"UT-SPANISH-FORKS".parse().unwrap(), &all).unwrap_err().to_string();
        assert!(message.contains("did you mean UT-SPANISH-FORK?"), "{message}");
        assert!(check_known(&"VA".parse().unwrap(), &all).is_ok());
    }
}
