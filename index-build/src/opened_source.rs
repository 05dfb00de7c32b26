//! The sources of a plan, found and hashed before they are read.

use std::path::{Path, PathBuf};

use crate::plan::{Plan, PlannedSource};
use crate::progress::Progress;
use crate::source_files::{self, SourceError};

/// A source of the plan, with the paths of its files and a hash of their content.
pub(crate) struct OpenedSource<'a> {
    pub(crate) planned: &'a PlannedSource,
    pub(crate) path: PathBuf,
    pub(crate) content_hash: String,
    pub(crate) zones_path: Option<PathBuf>,
}

/// Finds and hashes the sources of a plan at `plan_path`. Their paths are relative to `folder`, or to the plan.
pub(crate) fn open_sources<'a>(
    plan: &'a Plan,
    plan_path: &Path,
    folder: Option<&Path>,
    progress: Progress,
) -> Result<Vec<OpenedSource<'a>>, SourceError> {
    let beside_plan = plan_path.parent().unwrap_or(Path::new(""));
    let base = folder.unwrap_or(beside_plan);
    let mut stage = progress.stage("hashing sources", "sources", Some(plan.sources.len() as u64));
    let mut opened = Vec::with_capacity(plan.sources.len());
    // The order does not depend on the plan: reordering a plan changes nothing.
    let mut planned_sources: Vec<&PlannedSource> = plan.sources.iter().collect();
    planned_sources.sort_by(|a, b| {
        let rank = |source: &'a PlannedSource| (&source.jurisdiction, &source.key, &source.path, &source.member);
        rank(a).cmp(&rank(b))
    });
    for planned in planned_sources {
        let path = base.join(&planned.path);
        let mut hasher = blake3::Hasher::new();
        hasher.update(source_files::content_hash(&path)?.as_bytes());
        let zones = planned.zoning.as_ref().and_then(|zoning| zoning.zones.as_ref());
        let zones_path = zones.map(|zones| first_existing(&[base.join(zones), beside_plan.join(zones)]));
        if let Some(zones) = &zones_path {
            hasher.update(source_files::content_hash(zones)?.as_bytes());
        }
        opened.push(OpenedSource { planned, path, content_hash: hasher.finalize().to_hex().to_string(), zones_path });
        stage.add(1);
    }
    stage.finish();
    Ok(opened)
}

/// A table of zones may be our own while the layer is the publisher's, so it is looked for next to both.
fn first_existing(candidates: &[PathBuf]) -> PathBuf {
    candidates.iter().find(|path| path.exists()).unwrap_or(&candidates[0]).clone()
}
