//! The catalogue: the jurisdictions, code bodies, sources and tags of a snapshot, with their ranges of ordinals.
//!
//! It has a few hundred entries. It is stored as JSON so that anyone can read it, and kept in memory. A
//! jurisdiction's `subtree` range includes its counties and cities. Each code body has its own range.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::citation::{BodyForm, FormError, Grammar};
use crate::ids::{CodeBodyId, NodeOrdinal, OrdinalRange, ShortCode};
use crate::jurisdictions::GovernmentLevel;
use crate::provision_url::ProvisionUrl;

pub const FILE_NAME: &str = "catalogue.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Jurisdiction {
    pub short_code: ShortCode,
    pub name: String,
    pub level: GovernmentLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ShortCode>,
    /// Its nodes and those of every jurisdiction below it.
    pub subtree: OrdinalRange,
    /// Its own nodes only.
    pub nodes: OrdinalRange,
    pub provisions: u32,
    /// Its own chunks only.
    pub chunks: u32,
}

impl Jurisdiction {
    /// True if the jurisdiction is listed but has no law in this snapshot.
    pub fn is_placeholder(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeBody {
    pub id: CodeBodyId,
    pub key: String,
    pub name: String,
    pub jurisdiction: ShortCode,
    /// The template of its citations, with `{number}` for the number. `None` if every node states its own citation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    pub nodes: OrdinalRange,
    pub provisions: u32,
    pub chunks: u32,
}

/// The origin of texts. Nodes refer to a source by its index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    pub name: String,
    pub format: String,
    pub publisher: String,
    pub edition: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_through: Option<String>,
    pub retrieved: String,
    pub license: String,
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provision_url: Option<ProvisionUrl>,
    /// What this copy of the code lacks, as its plan says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// BLAKE3 hash of the source's files as they were read.
    pub content_hash: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalogue {
    /// In order of their ordinals. A placeholder is at the position that its nodes would have.
    pub jurisdictions: Vec<Jurisdiction>,
    pub code_bodies: Vec<CodeBody>,
    pub sources: Vec<Source>,
    pub tags: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("cannot read {}: {cause}", .path.display())]
    Io { path: PathBuf, cause: std::io::Error },
    #[error("{} is damaged: {what}; copy the snapshot again or rebuild it with 'hornbook build'", .path.display())]
    Damaged { path: PathBuf, what: String },
}

impl Catalogue {
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).expect("a catalogue has no keys that are not text");
        text.push(b'\n');
        text
    }

    /// Reads the catalogue. `node_count` is the number of nodes in the outline; a range beyond it is an error.
    pub fn open(dir: &Path, node_count: u32) -> Result<Self, CatalogueError> {
        let path = dir.join(FILE_NAME);
        let text = std::fs::read(&path).map_err(|cause| CatalogueError::Io { path: path.clone(), cause })?;
        let catalogue: Self = serde_json::from_slice(&text)
            .map_err(|error| CatalogueError::Damaged { path: path.clone(), what: error.to_string() })?;
        let ranges = catalogue.jurisdictions.iter().flat_map(|j| [j.subtree, j.nodes]);
        let wild =
            ranges.chain(catalogue.code_bodies.iter().map(|b| b.nodes)).find(|r| r.start > r.end || r.end > node_count);
        match wild {
            Some(range) => {
                let what =
                    format!("it refers to nodes {} to {}, but the outline has {node_count}", range.start, range.end);
                Err(CatalogueError::Damaged { path, what })
            }
            None => Ok(catalogue),
        }
    }

    /// The built-in citation grammar and the code bodies that only this snapshot contains.
    pub fn grammar(&self) -> Result<Grammar, FormError> {
        grammar_of(&self.code_bodies)
    }

    pub fn jurisdiction(&self, code: &ShortCode) -> Option<&Jurisdiction> {
        self.jurisdictions.iter().find(|jurisdiction| jurisdiction.short_code == *code)
    }

    /// What the copy of a code body lacks, in the words of the plan that it was built from.
    pub fn lacks(&self, body: &CodeBody) -> Option<&str> {
        self.sources.iter().filter(|source| source.name == body.name).find_map(|source| source.lacks.as_deref())
    }

    pub fn code_body(&self, id: CodeBodyId) -> Option<&CodeBody> {
        self.code_bodies.iter().find(|body| body.id == id)
    }

    /// The code body that contains a node.
    pub fn code_body_of(&self, node: NodeOrdinal) -> Option<&CodeBody> {
        let after = self.code_bodies.partition_point(|body| body.nodes.start <= node.0);
        self.code_bodies[..after]
            .iter()
            .rev()
            .find(|body| !body.nodes.is_empty())
            .filter(|body| body.nodes.contains(node.0))
    }
}

/// The built-in grammar, extended with the citation template of each code body that it does not contain.
pub fn grammar_of(bodies: &[CodeBody]) -> Result<Grammar, FormError> {
    let built_in = Grammar::built_in();
    let unknown = bodies.iter().filter(|body| built_in.body_with_key(&body.key).is_none());
    let forms = unknown.filter_map(|body| {
        Some(BodyForm {
            jurisdiction: body.jurisdiction.clone(),
            name: body.name.clone(),
            key: body.key.clone(),
            template: body.citation.clone()?,
            aliases: Vec::new(),
        })
    });
    Grammar::with_bodies(&forms.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_finds_its_code_body_and_unknown_nodes_find_none() {
        let body = |key: &str, start, end| CodeBody {
            id: CodeBodyId::from_source_key(key),
            key: key.into(),
            name: key.into(),
            jurisdiction: "XA".parse().unwrap(),
            citation: None,
            nodes: OrdinalRange::new(start, end),
            provisions: 0,
            chunks: 0,
        };
        let catalogue = Catalogue {
            code_bodies: vec![body("a", 0, 5), body("b", 5, 9), body("empty", 9, 9), body("c", 9, 10)],
            ..Catalogue::default()
        };
        let name = |n| catalogue.code_body_of(NodeOrdinal(n)).map(|body| body.key.as_str());
        assert_eq!(
            [name(0), name(4), name(5), name(8), name(9), name(10)],
            [Some("a"), Some("a"), Some("b"), Some("b"), Some("c"), None]
        );
    }
}
