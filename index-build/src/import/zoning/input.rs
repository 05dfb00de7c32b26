//! The inputs of the zoning importer besides the layer, and its errors.

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
#[derive(Debug, thiserror::Error)]
pub enum ZoningImportError {
    #[error("cannot read zoning layer {file}: {source}")]
    Read { file: String, source: io::Error },
    /// The `[source.zoning]` table of the plan contains an invalid option.
    #[error("the plan's [source.zoning] for {file}: {what}")]
    Options { file: String, what: String },
    /// The zone table is invalid.
    #[error("zone table {file}{}: {what}", .line.map(format_line).unwrap_or_default())]
    Table { file: String, line: Option<u64>, what: String },
    #[error("{0}")]
    Refused(#[source] LayerRejected),
}

fn format_line(line: u64) -> String {
    format!(", line {line}")
}
