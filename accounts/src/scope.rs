//! Scopes: the operations that a key may call.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Scope {
    Search = 1,
    Node = 2,
    Browse = 4,
    Gis = 8,
    Formation = 16,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Search, Self::Node, Self::Browse, Self::Gis, Self::Formation];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Node => "node",
            Self::Browse => "browse",
            Self::Gis => "gis",
            Self::Formation => "formation",
        }
    }
}

/// A set of scopes, written as names separated by commas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScopeSet(u8);

impl ScopeSet {
    pub const ALL: Self = Self::of(&Scope::ALL);

    pub const fn of(scopes: &[Scope]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < scopes.len() {
            bits |= scopes[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Scope::ALL.into_iter().filter(move |scope| self.0 & *scope as u8 != 0).map(Scope::name)
    }

    /// Whether the set has at least one of the wanted scopes. An operation requires any one of its scopes.
    pub const fn has_any_of(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }

    /// Whether each scope of this set is in the other.
    pub const fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeSet({self})")
    }
}

impl FromStr for ScopeSet {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut bits = 0;
        for name in text.split(',').map(str::trim) {
            let Some(scope) = Scope::ALL.into_iter().find(|scope| scope.name() == name) else {
                return Err(format!("'{name}' is not a scope; the scopes are {}", Self::ALL));
            };
            bits |= scope as u8;
        }
        Ok(Self(bits))
    }
}

impl Serialize for ScopeSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for ScopeSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        names.join(",").parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_and_written_by_name() {
        let set: ScopeSet = "node, search".parse().unwrap();
        assert_eq!(set.to_string(), "search,node");
        assert!(set.has_any_of(ScopeSet::of(&[Scope::Gis, Scope::Node])));
        assert!(!set.has_any_of(ScopeSet::of(&[Scope::Gis])));
        assert!(set.is_within(ScopeSet::ALL) && set.is_within(set));
        assert!(!set.is_within(ScopeSet::of(&[Scope::Search, Scope::Gis])));
        assert!("".parse::<ScopeSet>().unwrap_err().contains("search,node,browse,gis,formation"));
        assert_eq!(serde_json::to_string(&set).unwrap(), r#"["search","node"]"#);
    }
}
