//! `hornbook update`: fetches the sources of a plan again, builds a snapshot, and shows the changes
//! before it is used.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use hornbook::sources::catalogue::{PublishedSource, find};
use hornbook::sources::fetch::{DownloadOutcome, FetchOptions, Fetched, fetch};
use hornbook_base::clock::SystemClock;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Built, Destination, build};
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::loss::refuse_loss;
use hornbook_index_build::plan::Plan;
use hornbook_index_build::progress::ProgressDisplay;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::diff::{DiffOptions, DiffReport, LISTED_MAX};
use crate::cli::fetch::{RequestArgs, as_value, table};
use crate::cli::output::{print, print_json};
use crate::cli::{CommandResult, GlobalOptions};

/// Name of the file in the data directory that records how the current snapshot was built.
const LAST_BUILD: &str = "last-build.json";

/// Fetch the sources of a plan again, build, and show what changed
///
/// Fetches again the sources that 'hornbook fetch' placed next to the plan; unchanged files are not
/// downloaded. Builds the new snapshot next to the current one, verifies it, and lists the added,
/// removed and amended provisions. The current snapshot stays in use unless --swap is given.
/// 'hornbook snapshot activate' switches later, and 'hornbook snapshot rollback' switches back.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The plan [default: the one that the current snapshot was built from]
    plan: Option<PathBuf>,

    /// The folder that paths in the plan are relative to, instead of the plan's own folder
    #[arg(long, value_name = "DIR", requires = "plan")]
    sources: Option<PathBuf>,

    /// Put the new snapshot into use
    #[arg(long)]
    swap: bool,

    /// With --swap: accept that a code body loses more than a tenth of its provisions
    #[arg(long, requires = "swap")]
    accept_loss: bool,

    /// Build from the files that are already here, and fetch nothing
    #[arg(long)]
    no_fetch: bool,

    #[command(flatten)]
    request: RequestArgs,
}

/// The plan and the sources of the last build, as absolute paths.
#[derive(Debug, Serialize, Deserialize)]
struct LastBuild {
    plan: PathBuf,
    sources: Option<PathBuf>,
}

/// Records a build for the next update.
pub(super) fn record_build(data: &Path, plan: &Path, sources: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let last = LastBuild { plan: std::path::absolute(plan)?, sources: sources.map(std::path::absolute).transpose()? };
    let path = data.join(LAST_BUILD);
    fs::write(&path, serde_json::to_vec(&last)?)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(())
}

impl Update {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let data = options.configuration()?.data.dir;
        let LastBuild { plan, sources } = self.build_inputs(&data)?;
        let progress = ProgressDisplay::for_stderr();
        let folder = sources.clone().unwrap_or_else(|| plan.parent().unwrap_or(Path::new("")).to_owned());
        let fetched = if self.no_fetch { Vec::new() } else { self.fetch_again(&plan, &folder, progress)? };
        let in_use = DataDirectory::new(&data);
        let before = in_use.current();
        let built = build(&BuildOptions {
            plan: plan.clone(),
            sources: sources.clone(),
            destination: Destination::Inactive(data.clone()),
            strict: false,
            replace: false,
            accept_loss: false,
            skip_absent: false,
            fresh: false,
            progress,
        })?;
        let changes = differences(&data, before.as_deref(), &built)?;
        if self.swap && !built.unchanged {
            if !self.accept_loss
                && let Some(before) = &before
            {
                refuse_loss(&data.join("snapshots").join(before), &built.path)?;
            }
            in_use.activate(&built.manifest.snapshot, |_| ())?;
            record_build(&data, &plan, sources.as_deref())?;
        }
        let is_current = in_use.current().as_ref() == Some(&built.manifest.snapshot);
        if options.json {
            return print_json(&json!({
                "fetched": fetched.iter().map(as_value).collect::<Vec<_>>(),
                "snapshot": built.manifest.snapshot,
                "before": before,
                "isCurrent": is_current,
                "changes": changes,
            }));
        }
        print(&report(&fetched, &built, changes.as_ref(), is_current))
    }

    fn build_inputs(&self, data: &Path) -> Result<LastBuild, Box<dyn Error>> {
        if let Some(plan) = &self.plan {
            return Ok(LastBuild { plan: plan.clone(), sources: self.sources.clone() });
        }
        let path = data.join(LAST_BUILD);
        let text = fs::read(&path).map_err(|_| {
            format!("{} does not record how a snapshot was built; give the plan: hornbook update PLAN", path.display())
        })?;
        Ok(serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }

    /// Fetches the plan's sources that are in the catalogue. The folder name identifies the source.
    fn fetch_again(
        &self,
        plan: &Path,
        folder: &Path,
        progress: ProgressDisplay,
    ) -> Result<Vec<Fetched>, Box<dyn Error>> {
        let mut known: Vec<&PublishedSource> = Vec::new();
        for planned in Plan::open(plan)?.sources {
            let first = planned.path.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            match first.as_deref().and_then(find).filter(|source| source.is_fetchable()) {
                Some(source) if known.iter().any(|other| other.name == source.name) => {}
                Some(source) => known.push(source),
                None => {
                    progress.say(format_args!("{}: not from the catalogue, used unchanged", planned.path.display()));
                }
            }
        }
        let clock = SystemClock::start();
        let mut fetched = Vec::new();
        for source in known {
            let fetch_options =
                FetchOptions { numbers: numbers_here(source, folder), ..self.request.options(folder, progress)? };
            fetched.extend(fetch(source, &fetch_options, &clock)?);
        }
        Ok(fetched)
    }
}

/// The numbers of the files that exist in the folder. An empty list means all files.
fn numbers_here(source: &PublishedSource, folder: &Path) -> Vec<u32> {
    let places = source.places(None).unwrap_or_default();
    let here = places.into_iter().filter(|place| folder.join(&place.path).exists());
    here.filter_map(|place| place.number).collect()
}

/// The differences from the snapshot in use. None if there is none or it cannot be read, for
/// example because its format is older.
fn differences(data: &Path, before: Option<&str>, built: &Built) -> Result<Option<DiffReport>, Box<dyn Error>> {
    // Check every byte of the new snapshot before it is used.
    let new = Snapshot::verify(&built.path, |_| ())?;
    let Some(before) = before else { return Ok(None) };
    match Snapshot::open(&data.join("snapshots").join(before)) {
        Ok(old) => Ok(Some(DiffReport::of(&old, &new, &DiffOptions::default())?)),
        Err(_) => Ok(None),
    }
}

fn report(fetched: &[Fetched], built: &Built, changes: Option<&DiffReport>, is_current: bool) -> String {
    let mut out = String::new();
    if !fetched.is_empty() {
        let same = fetched.iter().filter(|file| file.outcome == DownloadOutcome::Unchanged).count();
        out += &table(fetched);
        out += &format!("{same} of {} files did not change\n", fetched.len());
    }
    match changes {
        None => out += "there is no earlier snapshot that can be compared\n",
        Some(changes) if changes.is_empty() => out += "no provision differs from the snapshot in use\n",
        Some(changes) => out += &changes.as_text(LISTED_MAX, false),
    }
    let id = &built.manifest.snapshot;
    out += &match (is_current, built.unchanged) {
        (true, true) => format!("nothing changed: {id} stays in use\n"),
        (true, false) => format!("{id} is in use; a running server switches to it with 'hornbook reload'\n"),
        (false, _) => {
            format!("{id} is built and verified; 'hornbook snapshot activate {}' puts it into use\n", &id[..8])
        }
    };
    out
}
