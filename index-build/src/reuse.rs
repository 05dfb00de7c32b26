//! What a build takes over from an earlier snapshot: only what this program built, and only if its bytes are still those of
//! the manifest.

use std::fs;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::{Manifest, REPORT_FILE_NAME};
use hornbook_corpus::vectors::SpaceName;

use crate::graph::{EarlierGraph, GraphOptions};
use crate::report::{GraphReport, Report};

/// The vectors and graph of an earlier snapshot, whole and built with the same options.
pub(crate) struct ReusableGraph {
    dir: PathBuf,
    vectors_hash: String,
    report: GraphReport,
}

impl ReusableGraph {
    pub(crate) fn find(dir: &Path, space: &SpaceName, options: &GraphOptions) -> Option<Self> {
        let manifest = Manifest::open(dir).ok().filter(|manifest| manifest.builder == env!("CARGO_PKG_VERSION"))?;
        let report: Report = serde_json::from_slice(&fs::read(dir.join(REPORT_FILE_NAME)).ok()?).ok()?;
        let report = report.graph_of(space).filter(|graph| graph.options == options.hash())?;
        let vectors_hash = whole(dir, &manifest, &space.vectors_file())?;
        whole(dir, &manifest, &space.graph_file())?;
        Some(Self { dir: dir.to_owned(), vectors_hash, report })
    }

    /// Copies the graph into `dir`, if another one over the vectors there would be the same.
    pub(crate) fn copy_to(&self, dir: &Path, space: &SpaceName, recipe: &str) -> Option<GraphReport> {
        let is_same = self.report.recipe == recipe && hash_of(&dir.join(space.vectors_file()))? == self.vectors_hash;
        if !is_same {
            return None;
        }
        fs::copy(self.dir.join(space.graph_file()), dir.join(space.graph_file())).ok()?;
        Some(self.report.clone())
    }

    /// Opens it to take over its links.
    pub(crate) fn open(self, space: &SpaceName) -> Option<EarlierGraph> {
        EarlierGraph::open(&self.dir, space).ok()
    }
}

/// The hash of a file of a snapshot, if it is the one that the manifest states.
pub(crate) fn whole(dir: &Path, manifest: &Manifest, name: &str) -> Option<String> {
    let stated = manifest.files.iter().find(|file| file.path == name)?;
    hash_of(&dir.join(name)).filter(|hash| *hash == stated.blake3)
}

fn hash_of(path: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap(path).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}
