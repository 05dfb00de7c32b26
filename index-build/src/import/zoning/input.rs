//! The inputs of the zoning importer besides the layer, and its errors.

use std::fmt;
use std::io;

use hornbook_corpus::ids::NodeId;
use hornbook_corpus::zoning::problem::LayerRejected;

/// A provision of the snapshot being built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedProvision {
    pub id: NodeId,
    /// The exact citation of the node.
    pub citation: String,
}

/// Finds a provision by citation or source key.
pub type ProvisionResolver<'a> = dyn Fn(&str) -> Option<ResolvedProvision> + 'a;

/// The content of the file that `zones` in the plan names, and its name in messages.
#[derive(Clone, Copy, Debug)]
pub struct ZoneTableFile<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

/// Why a zoning source could not be imported. Every message names the file to look at.
#[derive(Debug)]
pub enum ZoningImportError {
    Read {
        file: String,
        source: io::Error,
    },
    /// The `[source.zoning]` table of the plan contains an invalid option.
    Options {
        file: String,
        what: String,
    },
    /// The zone table is invalid.
    Table {
        file: String,
        line: Option<u64>,
        what: String,
    },
    Refused(LayerRejected),
}

impl fmt::Display for ZoningImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { file, source } => write!(f, "cannot read zoning layer {file}: {source}"),
            Self::Options { file, what } => write!(f, "the plan's [source.zoning] for {file}: {what}"),
            Self::Table { file, line: Some(line), what } => write!(f, "zone table {file}, line {line}: {what}"),
            Self::Table { file, line: None, what } => write!(f, "zone table {file}: {what}"),
            Self::Refused(refused) => refused.fmt(f),
        }
    }
}

impl std::error::Error for ZoningImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Refused(refused) => Some(refused),
            Self::Options { .. } | Self::Table { .. } => None,
        }
    }
}
