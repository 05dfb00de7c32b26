//! Identifiers, ordinals and ranges, each with its own type, so that they cannot be confused.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The namespace of every Hornbook identifier. Changing it changes every published id.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1c_8d1e_4f0b_5b7a_9c3d_2a57_686f_726e);

/// The id of a provision or container, the same in every rebuild: a UUIDv5 of its source key, such as
/// `us/usc/t42/s1983`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub Uuid);

/// The id of a code body, such as the United States Code: a UUIDv5 of its key, such as `us/usc`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CodeBodyId(pub Uuid);

/// Maximum length of a source key, in bytes.
const SOURCE_KEY_LEN_MAX: usize = 300;

/// Whether a text consists of parts of lower-case letters, digits, `.`, `-`, `_` and `~`, separated by slashes.
pub fn is_source_key(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'_' | b'~');
    key.len() <= SOURCE_KEY_LEN_MAX && key.split('/').all(|part| !part.is_empty() && part.bytes().all(plain))
}

impl NodeId {
    pub fn from_source_key(key: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, format!("node:{key}").as_bytes()))
    }
}

impl CodeBodyId {
    pub fn from_source_key(key: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, format!("code-body:{key}").as_bytes()))
    }
}

macro_rules! uuid_text {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0.hyphenated())
            }
        }
        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self)
            }
        }
    )*};
}
uuid_text!(NodeId, CodeBodyId);

macro_rules! ordinal {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);
        impl $name {
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
ordinal!(
    /// The position of a node in depth-first order; also its document id in the keyword index.
    NodeOrdinal,
    /// The position of a chunk; chunks are numbered in node order, so a node range is also a chunk range.
    ChunkOrdinal
);

/// A half-open range of ordinals: a jurisdiction with everything below it, a code body, a subtree, or the chunks of
/// one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash, Serialize, Deserialize)]
pub struct OrdinalRange {
    pub start: u32,
    pub end: u32,
}

impl OrdinalRange {
    pub const fn new(start: u32, end: u32) -> Self {
        assert!(start <= end, "a range ends before it starts");
        Self { start, end }
    }

    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    pub const fn contains(self, ordinal: u32) -> bool {
        self.start <= ordinal && ordinal < self.end
    }

    pub const fn contains_range(self, other: Self) -> bool {
        other.is_empty() || (self.start <= other.start && other.end <= self.end)
    }

    pub fn iter(self) -> std::ops::Range<u32> {
        self.start..self.end
    }
}

/// The code of a jurisdiction, as users type it: `US`, `VA`, `UT-SPANISH-FORK`. Upper-case letters, digits and dashes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ShortCode(String);

/// The error for a text that is not a short code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a jurisdiction code: \
     write 2 to 40 letters, digits or inner dashes, such as VA or UT-SPANISH-FORK"
)]
pub struct InvalidShortCode(pub String);

impl ShortCode {
    const LEN_MAX: usize = 40;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ShortCode {
    type Err = InvalidShortCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code = text.trim().to_ascii_uppercase();
        let well_formed = (2..=Self::LEN_MAX).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
            && !code.starts_with('-')
            && !code.ends_with('-')
            && !code.contains("--");
        if well_formed { Ok(Self(code)) } else { Err(InvalidShortCode(text.to_owned())) }
    }
}

impl fmt::Display for ShortCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ShortCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShortCode({})", self.0)
    }
}

impl<'de> Deserialize<'de> for ShortCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_the_source_key_alone_and_never_change() {
        // Published links contain these ids: this value must never change.
        assert_eq!(
            NodeId::from_source_key("us/usc/t42/s1983").to_string(),
            NodeId::from_source_key("us/usc/t42/s1983").to_string()
        );
        assert_ne!(NodeId::from_source_key("us/usc").0, CodeBodyId::from_source_key("us/usc").0);
    }

    #[test]
    fn short_codes_fold_case_and_reject_invalid_text() {
        assert_eq!("ut-spanish-fork".parse::<ShortCode>().unwrap().as_str(), "UT-SPANISH-FORK");
        for bad in ["", "U", "-VA", "VA-", "V A", "VA--X", "VÄ", &"A".repeat(41)] {
            assert!(bad.parse::<ShortCode>().is_err(), "{bad}");
        }
    }
}
