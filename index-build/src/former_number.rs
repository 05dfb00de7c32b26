//! A row of a table that states the numbers of provisions before their code was renumbered.

use crate::report::SourcePosition;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerNumber {
    /// The key of the provision.
    pub key: String,
    pub former_citation: String,
    pub position: SourcePosition,
}
