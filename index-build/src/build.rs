//! Runs a build from plan to published snapshot: reads the plan, hashes the inputs, gathers,
//! compiles, links, seals and publishes.

use std::fs;
use std::path::{Path, PathBuf};

use hornbook_corpus::manifest::{BuilderSources, FORMAT, Manifest, REPORT_FILE_NAME};
use hornbook_corpus::snapshot::{Snapshot, analyzer_fingerprint, embedder_fingerprint};

use crate::build_context::BuildContext;
pub use crate::build_options::{BuildOptions, Destination};
use crate::data_directory::DataDirectory;
use crate::encoder::Encoder;
use crate::encoder_error::EncoderError;
use crate::error::BuildError;
use crate::graph::GraphOptions;
use crate::loss::{LossRefused, excessive_losses};
use crate::mistakes::Mistakes;
use crate::opened_source::{OpenedSource, open_sources};
use crate::plan::{Plan, PlannedSource};
use crate::publish::{WorkFolder, clear_leftovers};
use crate::report::Report;
use crate::reuse::builder_sources;
use crate::stage_clock::StageClock;
use crate::territory;

/// A finished build.
#[derive(Debug)]
pub struct Built {
    pub path: PathBuf,
    pub manifest: Manifest,
    pub report: Report,
    /// Nothing had changed, so the existing snapshot was kept.
    pub unchanged: bool,
}

/// Builds the snapshot that a plan describes.
pub fn build(options: &BuildOptions) -> Result<Built, BuildError> {
    let mut clock = StageClock::start();
    let (plan, absent) = open_plan(options)?;
    let territories =
        territory::order(&plan.jurisdictions).map_err(|error| BuildError::in_plan(&options.plan, error))?;
    for source in &plan.sources {
        territory::check_known(&source.jurisdiction, &territories)
            .map_err(|error| BuildError::in_plan(&options.plan, error))?;
    }
    let encoder = open_encoder(&plan, options)?;
    let mut mistakes = Mistakes::default();
    let sources = open_sources(&plan, &options.plan, options.sources.as_deref(), options.progress, &mut mistakes);
    if !mistakes.is_empty() {
        return Err(BuildError::Mistakes(mistakes));
    }
    let inputs = inputs_hash(&plan, encoder.as_ref(), &sources, &builder_sources());
    clock.lap("hash sources");
    clear_leftovers(&options.destination.folder_for("new"))?;
    if options.fresh {
        options.destination.remove_embedding_log()?;
    }
    let earlier = earlier_snapshot(options);
    if let Some(built) = unchanged(options, &inputs, earlier.as_deref())? {
        return Ok(built);
    }
    let work = WorkFolder::create(&options.destination.folder_for("new"))?;
    let context = BuildContext {
        plan: &plan,
        absent: &absent,
        territories: &territories,
        sources: &sources,
        options,
        encoder: encoder.as_ref(),
    };
    let (report, manifest) = context.fill(work.path(), &inputs, earlier.as_deref(), &mut clock)?;
    let path = options.destination.folder_for(&manifest.snapshot);
    let is_guarded = !options.accept_loss && options.may_replace();
    let replaced = options.destination.in_use().filter(|_| is_guarded);
    let losses = replaced.as_deref().map(|old| excessive_losses(old, work.path())).unwrap_or_default();
    if let Some(kept) = replaced.filter(|_| !losses.is_empty()) {
        let built = options.destination.folder_beside(&manifest.snapshot);
        publish(work, &built, &manifest.snapshot, false)?;
        return Err(BuildError::Loss(LossRefused { losses, kept, built }));
    }
    publish(work, &path, &manifest.snapshot, options.replace)?;
    // The next build takes its vectors from the snapshot.
    if let Err(error) = options.destination.remove_embedding_log() {
        options.progress.say(format_args!("warning: {error}"));
    }
    if let Destination::DataDirectory(data) = &options.destination {
        DataDirectory::new(data).point_at(&manifest.snapshot)?;
    }
    Ok(Built { path, manifest, report, unchanged: false })
}

/// Opens the plan. If the options say so, its sources whose files are not there are apart.
pub(crate) fn open_plan(options: &BuildOptions) -> Result<(Plan, Vec<PlannedSource>), BuildError> {
    let mut plan = Plan::open(&options.plan)?;
    if !options.skip_absent {
        return Ok((plan, Vec::new()));
    }
    let beside_plan = options.plan.parent().unwrap_or(Path::new(""));
    let folder = options.sources.as_deref().unwrap_or(beside_plan);
    let absent = plan.remove_absent(folder);
    if plan.sources.is_empty() {
        let what = format!("none of its sources is in {}", folder.display());
        return Err(BuildError::in_plan(&options.plan, what));
    }
    Ok((plan, absent))
}

/// Opens and checks the sentence encoder of the plan.
pub(crate) fn open_encoder(plan: &Plan, options: &BuildOptions) -> Result<Option<Encoder>, EncoderError> {
    let beside_plan = options.plan.parent().unwrap_or(Path::new(""));
    let bases: Vec<&Path> = options.sources.iter().map(PathBuf::as_path).chain([beside_plan]).collect();
    plan.encoder.as_ref().map(|planned| Encoder::open(planned, &bases)).transpose()
}

/// Publishes the snapshot at `path`. A folder named after a snapshot id contains exactly that
/// snapshot, so an existing one has the same content. It is replaced anyway, because its manifest
/// may name other inputs, and then no later build would recognize it.
fn publish(work: WorkFolder, path: &Path, snapshot: &str, replace: bool) -> Result<(), BuildError> {
    let is_named_so = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(snapshot));
    work.publish(path, replace || is_named_so)?;
    Ok(())
}

/// A hash that is equal for equal plans, source files and programs.
fn inputs_hash(
    plan: &Plan,
    encoder: Option<&Encoder>,
    sources: &[OpenedSource<'_>],
    builder: &BuilderSources,
) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&FORMAT.to_le_bytes());
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(builder.all.as_bytes());
    let own = [analyzer_fingerprint(), embedder_fingerprint()];
    for fingerprint in own.into_iter().chain(encoder.map(Encoder::fingerprint)) {
        hasher.update(fingerprint.hash.as_bytes());
    }
    hasher.update(format!("{:?}", GraphOptions::default()).as_bytes());
    hasher.update(format!("{plan:?}").as_bytes());
    for source in sources {
        hasher.update(source.content_hash.as_bytes());
        hasher.update(format!("{:?}", source.provenance).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// The snapshot of an earlier build, if parts of it may be reused.
fn earlier_snapshot(options: &BuildOptions) -> Option<PathBuf> {
    let path = options.destination.in_use()?;
    (!options.fresh && Manifest::open(&path).is_ok()).then_some(path)
}

/// Reuses an earlier snapshot built from the same inputs, after verifying it.
fn unchanged(options: &BuildOptions, inputs: &str, earlier: Option<&Path>) -> Result<Option<Built>, BuildError> {
    let Some(path) = earlier else { return Ok(None) };
    let Ok(manifest) = Manifest::open(path) else { return Ok(None) };
    if manifest.inputs != inputs {
        return Ok(None);
    }
    let total = manifest.files.iter().map(|file| file.size).sum();
    let mut stage = options.progress.stage("verifying", "bytes", Some(total));
    let verified = Snapshot::verify(path, |bytes| stage.add(bytes));
    stage.finish();
    if let Err(error) = verified {
        options.progress.say(format_args!("warning: {error}; building again"));
        return Ok(None);
    }
    let report_path = path.join(REPORT_FILE_NAME);
    let Ok(report) = fs::read(&report_path).map_err(drop).and_then(|text| serde_json::from_slice(&text).map_err(drop))
    else {
        return Ok(None);
    };
    let path = match &options.destination {
        Destination::Folder(path) => path.clone(),
        Destination::DataDirectory(_) | Destination::Inactive(_) => path.to_owned(),
    };
    Ok(Some(Built { path, manifest, report, unchanged: true }))
}
