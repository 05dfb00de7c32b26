//! The name of an embedding space. Only vectors of the same space can be compared.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// Maximum length of a name. The `meta` sections of files contain exactly this many bytes, zero padded.
pub(crate) const NAME_LEN_MAX: usize = 32;

/// An embedding space, such as `law-static-256`. It names the files, so the files of two embeddings can be in one
/// folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct SpaceName(String);

/// The error for a text that is not the name of an embedding space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not the name of an embedding space: write 1 to {most} lower-case letters, digits or inner dashes, such \
     as law-static-256",
    most = NAME_LEN_MAX
)]
pub struct InvalidSpaceName(pub String);

impl SpaceName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file with the vectors of this space.
    pub fn vectors_file(&self) -> String {
        format!("vectors-{self}.bin")
    }

    /// The file with the graphs over the vectors of this space.
    pub fn graph_file(&self) -> String {
        format!("graph-{self}.bin")
    }

    /// The file with the table that embeds queries, if a sentence encoder embedded the passages of this space.
    pub fn queries_file(&self) -> String {
        format!("queries-{self}.bin")
    }

    /// The file with the sentence encoder that embedded the passages, for the queries of deep searches.
    pub fn encoder_file(&self) -> String {
        format!("encoder-{self}.bin")
    }

    pub(crate) fn padded(&self) -> [u8; NAME_LEN_MAX] {
        let mut bytes = [0; NAME_LEN_MAX];
        bytes[..self.0.len()].copy_from_slice(self.0.as_bytes());
        bytes
    }
}

impl FromStr for SpaceName {
    type Err = InvalidSpaceName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let well_formed = (1..=NAME_LEN_MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-');
        if well_formed { Ok(Self(text.to_owned())) } else { Err(InvalidSpaceName(text.to_owned())) }
    }
}

impl TryFrom<String> for SpaceName {
    type Error = InvalidSpaceName;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for SpaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_leave_the_directory_are_refused() {
        assert_eq!("law-static-256".parse::<SpaceName>().unwrap().vectors_file(), "vectors-law-static-256.bin");
        for bad in ["", "-a", "a-", "../a", "a/b", "A", "a b", "ä", &"a".repeat(NAME_LEN_MAX + 1)] {
            assert!(bad.parse::<SpaceName>().is_err(), "{bad}");
        }
    }
}
