//! Decides what a build may reuse from an earlier snapshot: only what this program built, and only
//! if its bytes still match the manifest. A program that differs only in its importers counts as
//! the same: graphs and chunks depend on texts and headings, which are compared directly.

use std::fs;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::{BuilderSources, FORMAT, Manifest, REPORT_FILE_NAME};
use hornbook_corpus::vectors::SpaceName;

use crate::graph::{EarlierGraph, GraphOptions};
use crate::report::{GraphReport, Report};

/// The hashes of the sources that this program was compiled from.
pub(crate) fn builder_sources() -> BuilderSources {
    BuilderSources {
        all: env!("HORNBOOK_SOURCES").to_owned(),
        without_importers: env!("HORNBOOK_SOURCES_WITHOUT_IMPORTERS").to_owned(),
    }
}

/// The manifest of an earlier snapshot, if this program would produce the same from the same texts
/// and headings.
pub(crate) fn compatible_manifest(dir: &Path) -> Option<Manifest> {
    let manifest = Manifest::open(dir).ok()?;
    let is_ours = manifest.format == FORMAT
        && manifest.builder == env!("CARGO_PKG_VERSION")
        && manifest.builder_sources.without_importers == builder_sources().without_importers;
    is_ours.then_some(manifest)
}

/// The undamaged vectors and graph of an earlier snapshot, built with the same options.
pub(crate) struct ReusableGraph {
    dir: PathBuf,
    vectors_hash: String,
    report: GraphReport,
}

impl ReusableGraph {
    pub(crate) fn find(dir: &Path, space: &SpaceName, options: &GraphOptions) -> Option<Self> {
        let manifest = compatible_manifest(dir)?;
        let report: Report = serde_json::from_slice(&fs::read(dir.join(REPORT_FILE_NAME)).ok()?).ok()?;
        let report = report.graph_of(space).filter(|graph| graph.options == options.hash())?;
        let vectors_hash = verified_hash(dir, &manifest, &space.vectors_file())?;
        verified_hash(dir, &manifest, &space.graph_file())?;
        Some(Self { dir: dir.to_owned(), vectors_hash, report })
    }

    /// Copies the graph into `dir`, if a new graph over the vectors there would be the same.
    pub(crate) fn copy_to(&self, dir: &Path, space: &SpaceName, recipe: &str) -> Option<GraphReport> {
        let is_same = self.report.recipe == recipe && hash_of(&dir.join(space.vectors_file()))? == self.vectors_hash;
        if !is_same {
            return None;
        }
        fs::copy(self.dir.join(space.graph_file()), dir.join(space.graph_file())).ok()?;
        Some(self.report.clone())
    }

    /// Opens the graph to reuse its links.
    pub(crate) fn open(self, space: &SpaceName) -> Option<EarlierGraph> {
        EarlierGraph::open(&self.dir, space).ok()
    }
}

/// The hash of a snapshot file, if it matches the manifest.
pub(crate) fn verified_hash(dir: &Path, manifest: &Manifest, name: &str) -> Option<String> {
    let stated = manifest.files.iter().find(|file| file.path == name)?;
    hash_of(&dir.join(name)).filter(|hash| *hash == stated.blake3)
}

fn hash_of(path: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_mmap(path).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}
