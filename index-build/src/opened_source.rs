//! The sources of a plan, located and hashed before they are read, with their origin.

use std::path::{Path, PathBuf};

use crate::mistakes::Mistakes;
use crate::plan::{Plan, PlannedSource};
use crate::progress::ProgressDisplay;
use crate::provenance::{ProvenanceError, SourceProvenance};
use crate::source_files;

/// A source of the plan, with the paths of its files, a hash of their content, and their origin.
pub(crate) struct OpenedSource<'a> {
    pub(crate) planned: &'a PlannedSource,
    pub(crate) path: PathBuf,
    pub(crate) content_hash: String,
    pub(crate) provenance: SourceProvenance,
    pub(crate) zones_path: Option<PathBuf>,
}

/// Locates and hashes the sources of the plan at `plan_path`. Their paths are relative to `folder`
/// or, without it, to the plan. Sources that cannot be opened are added to `mistakes`.
pub(crate) fn open_sources<'a>(
    plan: &'a Plan,
    plan_path: &Path,
    folder: Option<&Path>,
    progress: ProgressDisplay,
    mistakes: &mut Mistakes,
) -> Vec<OpenedSource<'a>> {
    let beside_plan = plan_path.parent().unwrap_or(Path::new(""));
    let base = folder.unwrap_or(beside_plan);
    let mut stage = progress.stage("hashing sources", "sources", Some(plan.sources.len() as u64));
    let mut opened = Vec::with_capacity(plan.sources.len());
    // Sorted independently of the plan, so that reordering a plan changes nothing.
    let mut planned_sources: Vec<&PlannedSource> = plan.sources.iter().collect();
    planned_sources.sort_by(|a, b| {
        let rank = |source: &'a PlannedSource| (&source.jurisdiction, &source.key, &source.path, &source.member);
        rank(a).cmp(&rank(b))
    });
    for planned in planned_sources {
        match open(planned, base, beside_plan) {
            Ok(source) => opened.push(source),
            Err(error) => mistakes.add_line(error.to_string()),
        }
        stage.add(1);
    }
    stage.finish();
    opened
}

fn open<'a>(planned: &'a PlannedSource, base: &Path, beside_plan: &Path) -> Result<OpenedSource<'a>, ProvenanceError> {
    let path = base.join(&planned.path);
    let mut hasher = blake3::Hasher::new();
    hasher.update(source_files::content_hash(&path)?.as_bytes());
    let zones = planned.zoning.as_ref().and_then(|zoning| zoning.zones.as_ref());
    let zones_path = zones.map(|zones| first_existing(&[base.join(zones), beside_plan.join(zones)]));
    if let Some(zones) = &zones_path {
        hasher.update(source_files::content_hash(zones)?.as_bytes());
    }
    let provenance = SourceProvenance::of(planned, &path)?;
    let content_hash = hasher.finalize().to_hex().to_string();
    Ok(OpenedSource { planned, path, content_hash, provenance, zones_path })
}

/// A table of zones may be our own while the layer is the publisher's, so both folders are searched.
pub(crate) fn first_existing(candidates: &[PathBuf]) -> PathBuf {
    candidates.iter().find(|path| path.exists()).unwrap_or(&candidates[0]).clone()
}
