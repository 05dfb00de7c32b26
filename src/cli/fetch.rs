//! `hornbook fetch`: downloads sources from their publishers.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hornbook::sources::catalogue::PublishedSource;
use hornbook::sources::fetch::{FetchOptions, Fetchable, Fetched, fetch, survey};
use hornbook::sources::plans::{SourceCollection, plan_for};
use hornbook::sources::{DownloadUrl, Manners, Retries};
use hornbook::tls_client::Trust;
use hornbook_base::clock::SystemClock;
use hornbook_index_build::progress::ProgressDisplay;
use serde_json::{Value, json};

use crate::cli::output::{print, print_json};
use crate::cli::table::{TextTable, bytes};
use crate::cli::{CommandResult, GlobalOptions, sources};

/// Minimum pause between two requests to a publisher's server. There is no minimum for the user's
/// own mirror.
const PAUSE_SECONDS_MIN: f64 = 1.0;

/// Download sources from their publishers
///
/// Each source gets its own folder, and each file gets a receipt next to it: its URL, the time of
/// download, its length and its SHA-256. A build reads the origin of the law from the receipt. A
/// plan is placed next to the folder, so the next step is 'hornbook build DIR/SOURCE.toml'.
///
/// An interrupted download resumes where it stopped. Files that have not changed are not downloaded
/// again. Files are requested one after another, with pauses, and according to the host's
/// robots.txt. Each file is read to its end before it replaces the old one. No other part of
/// Hornbook sends requests to publishers, except 'hornbook update'.
#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// Names of sources, or us-law for all sources of one snapshot; 'hornbook sources' lists them
    #[arg(value_name = "SOURCE", required = true)]
    sources: Vec<String>,

    /// Only list the files with their sizes, as the servers state them
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// The folder for all sources
    #[arg(long, value_name = "DIR", default_value = "sources")]
    to: PathBuf,

    /// Download this edition instead of the latest
    #[arg(long)]
    edition: Option<String>,

    /// Download only these files of a source with numbered files, such as 1,3,17
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    number: Vec<u32>,

    #[command(flatten)]
    request: RequestArgs,

    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

/// How requests to publishers are sent.
#[derive(Debug, Args)]
pub(super) struct RequestArgs {
    /// Download from this mirror instead of the publishers; the files of each host are below
    /// URL/host
    #[arg(long, value_name = "URL")]
    base: Option<String>,

    /// Seconds between two requests to a host, at least 1 except with --base [default: 1, with
    /// --base 0]
    #[arg(long, value_name = "SECONDS")]
    pause: Option<f64>,

    /// Contact for publishers, such as an e-mail address; sent with every request
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,

    /// Also request files that a host's robots.txt excludes, if its publisher allows you to
    #[arg(long)]
    ignore_robots: bool,

    /// Trust the certificates in this PEM file instead of those that the system trusts
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl RequestArgs {
    fn mirror(&self) -> Result<Option<DownloadUrl>, Box<dyn Error>> {
        Ok(self.base.as_deref().map(DownloadUrl::parse).transpose()?)
    }

    fn manners(&self) -> Result<Manners, Box<dyn Error>> {
        let least = if self.base.is_some() { 0.0 } else { PAUSE_SECONDS_MIN };
        let pause = self.pause.unwrap_or(least);
        if !(least..=3600.0).contains(&pause) {
            return Err(format!("--pause {pause}: it must be from {least} to 3600 seconds").into());
        }
        Ok(Manners {
            pause: Duration::from_secs_f64(pause),
            contact: self.contact.clone(),
            heed_robots: !self.ignore_robots,
            trust: self.ca.clone().map_or(Trust::System, Trust::File),
            ..Manners::default()
        })
    }

    /// The options for fetching files into `folder`.
    pub(super) fn options(&self, folder: &Path, progress: ProgressDisplay) -> Result<FetchOptions, Box<dyn Error>> {
        Ok(FetchOptions {
            folder: folder.to_owned(),
            mirror: self.mirror()?,
            edition: None,
            numbers: Vec::new(),
            manners: self.manners()?,
            retries: Retries::default(),
            progress,
        })
    }
}

impl Fetch {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let mut chosen: Vec<&PublishedSource> = Vec::new();
        for name in &self.sources {
            match SourceCollection::find(name) {
                Some(collection) => chosen.extend(collection.sources()),
                None => chosen.push(sources::known(name)?),
            }
        }
        let collections = self.sources.iter().filter_map(|name| SourceCollection::find(name));
        let progress = if self.quiet { ProgressDisplay::Silent } else { ProgressDisplay::for_stderr() };
        let fetch_options = FetchOptions {
            edition: self.edition.clone(),
            numbers: self.number.clone(),
            ..self.request.options(&self.to, progress)?
        };
        let clock = SystemClock::start();
        if self.dry_run {
            let mut files = Vec::new();
            for source in chosen {
                files.extend(survey(source, &fetch_options, &clock)?);
            }
            return if options.json {
                print_json(&files.iter().map(file_value).collect::<Vec<_>>())
            } else {
                print(&survey_table(&files))
            };
        }
        let mut fetched = Vec::new();
        let mut plans = Vec::new();
        let mut failures = Vec::new();
        for source in chosen {
            match fetch(source, &fetch_options, &clock) {
                Ok(files) => fetched.extend(files),
                Err(error) => failures.push(format!("{}: {error}", source.name)),
            }
            if let Some(plan) = plan_for(&source.name) {
                plans.push(write_plan(plan.source, plan.text, &self.to)?);
            }
        }
        for collection in collections {
            // It includes the plans of its sources.
            plans = vec![write_plan(collection.name, &collection.plan(), &self.to)?];
        }
        let next: String = plans.iter().map(|plan| format!("build it: hornbook build {}\n", plan.display())).collect();
        match (options.json, self.quiet) {
            (true, _) => print_json(&fetched.iter().map(as_value).collect::<Vec<_>>())?,
            (false, true) => {}
            (false, false) => print(&(table(&fetched) + &next))?,
        }
        match failures.as_slice() {
            [] => Ok(()),
            [one] if fetched.is_empty() => Err(one.clone().into()),
            several => {
                let skip = "run the command again to go on, or build without these sources with --skip-absent";
                Err(format!("{}\n{skip}", several.join("\n")).into())
            }
        }
    }
}

/// Writes a ready-made plan next to the folders of sources. An existing plan is kept, because it may have been edited.
fn write_plan(name: &str, text: &str, folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(format!("{name}.toml"));
    if !path.exists() {
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(path)
}

fn survey_table(files: &[Fetchable]) -> String {
    let mut table = TextTable::new(["file", "", "size", "address"]);
    for file in files {
        table.row([
            file.path.display().to_string(),
            if file.is_here { "here" } else { "" }.to_owned(),
            file.bytes.map_or_else(|| "not stated".to_owned(), bytes),
            file.address.to_string(),
        ]);
    }
    let known: u64 = files.iter().filter_map(|file| file.bytes).sum();
    let unknown = files.iter().filter(|file| file.bytes.is_none()).count();
    let and_unknown = if unknown == 0 { String::new() } else { format!(", and {unknown} whose size is not stated") };
    format!("{}{} files, {}{and_unknown}; nothing was downloaded\n", table.render(), files.len(), bytes(known))
}

fn file_value(file: &Fetchable) -> Value {
    json!({ "path": file.path, "url": file.address.to_string(), "bytes": file.bytes, "here": file.is_here })
}

pub(super) fn table(fetched: &[Fetched]) -> String {
    let mut table = TextTable::new(["file", "", "size", "edition", "retrieved", "SHA-256"]);
    for Fetched { path, outcome, receipt } in fetched {
        table.row([
            path.display().to_string(),
            outcome.as_str().to_owned(),
            bytes(receipt.bytes),
            receipt.edition.clone().unwrap_or_else(|| "-".to_owned()),
            receipt.retrieved.clone(),
            receipt.sha256[..16].to_owned(),
        ]);
    }
    table.render()
}

pub(super) fn as_value(fetched: &Fetched) -> Value {
    json!({ "path": fetched.path, "outcome": fetched.outcome.as_str(), "receipt": fetched.receipt })
}
