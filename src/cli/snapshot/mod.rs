//! `hornbook snapshot`: lists, activates, rolls back and removes the snapshots of the data
//! directory; shelves, packs, installs and pulls them, each in its own file.

mod install;
mod keygen;
mod pack;
mod pull;
mod shelf;

use clap::{Args, Subcommand};
use hornbook_base::clock::UnixMillis;
use hornbook_editions::shelved;
use hornbook_index_build::data_directory::{DataDirectory, StoredSnapshot};
use hornbook_index_build::progress::ProgressDisplay;
use serde_json::json;

use crate::cli::output::{count, print, print_json};
use crate::cli::table::{TextTable, bytes};
use crate::cli::{CommandResult, GlobalOptions};

/// A running server keeps its open snapshot until it is told to reload.
const RELOAD_HINT: &str = "a running server switches to it with 'hornbook reload'";

/// List, activate, shelve, remove, pack and install snapshots
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// List the snapshots, latest first; * marks the one in use, + those on the shelf
    List,
    /// Verify a snapshot and put it into use
    Activate(Activate),
    /// Put the previously used snapshot back into use
    Rollback,
    Shelve(shelf::Shelve),
    Unshelve(shelf::Unshelve),
    /// Remove snapshots that are no longer needed
    ///
    /// Keeps the snapshot in use, the ones on the shelf, the ones most recently used before it, and
    /// those that are newer.
    Prune(Prune),
    Pack(pack::PackSnapshot),
    Install(install::Install),
    Pull(pull::Pull),
    Keygen(keygen::Keygen),
}

#[derive(Debug, Args)]
pub(crate) struct Activate {
    /// The id of the snapshot, or the beginning of the id
    id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Number of previously used snapshots to keep
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    keep: usize,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

impl SnapshotCommand {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let path = options.configuration()?.data.dir;
        let data = DataDirectory::new(&path);
        match self {
            Self::List => list(&data, &shelved(&path)?, options.json),
            Self::Shelve(shelve) => shelve.run(&path),
            Self::Unshelve(unshelve) => unshelve.run(&path),
            Self::Activate(Activate { id }) => {
                let stored = data.find(&id)?;
                verified(&stored, |progress| data.activate(&stored.id, progress))?;
                print(&format!("{} is in use; {RELOAD_HINT}\n", stored.id))
            }
            Self::Rollback => {
                let before = data.previous_snapshot().map(|id| data.find(&id)).transpose()?;
                let id = match before {
                    Some(stored) => verified(&stored, |progress| data.rollback(progress))?,
                    None => data.rollback(|_| ())?,
                };
                print(&format!("{id} is in use again; {RELOAD_HINT}\n"))
            }
            Self::Prune(prune) => prune.run(&data, &shelved(&path)?),
            Self::Pack(pack) => pack.run(&data),
            Self::Install(install) => install.run(&data, options),
            Self::Pull(pull) => pull.run(&data, options),
            Self::Keygen(keygen) => keygen.run(),
        }
    }
}

/// Shows progress while a snapshot is verified.
fn verified<T, E>(stored: &StoredSnapshot, work: impl FnOnce(&mut dyn FnMut(u64)) -> Result<T, E>) -> Result<T, E> {
    let total = stored.manifest.as_ref().map(|manifest| manifest.files.iter().map(|file| file.size).sum()).ok();
    let mut stage = ProgressDisplay::for_stderr().stage("verifying", "bytes", total);
    let result = work(&mut |bytes| stage.add(bytes));
    stage.finish();
    result
}

fn list(data: &DataDirectory, shelved: &[String], as_json: bool) -> CommandResult {
    let stored = data.list()?;
    if as_json {
        return print_json(&stored.iter().map(|stored| as_value(stored, shelved)).collect::<Vec<_>>());
    }
    if stored.is_empty() {
        return print("no snapshots; 'hornbook build PLAN' builds one\n");
    }
    let mut table = TextTable::new(["", "snapshot", "built", "provisions", "size", "name"]);
    for snapshot in &stored {
        let mark = match (snapshot.is_current, shelved.contains(&snapshot.id)) {
            (true, _) => "*",
            (false, true) => "+",
            (false, false) => "",
        };
        let built = built(snapshot);
        let cells = match &snapshot.manifest {
            Ok(manifest) => {
                let size = manifest.files.iter().map(|file| file.size).sum();
                [manifest.counts.provisions.to_string(), bytes(size), manifest.name.clone()]
            }
            Err(error) => ["-".to_owned(), "-".to_owned(), error.clone()],
        };
        let [provisions, size, name] = cells;
        table.row([mark.to_owned(), snapshot.id.clone(), built, provisions, size, name]);
    }
    print(&table.render())
}

fn built(stored: &StoredSnapshot) -> String {
    let since = stored.built.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let text = UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)).to_string();
    // Down to the minute.
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

fn as_value(stored: &StoredSnapshot, shelved: &[String]) -> serde_json::Value {
    let manifest = stored.manifest.as_ref().ok();
    json!({
        "id": stored.id,
        "path": stored.path,
        "built": built(stored),
        "isCurrent": stored.is_current,
        "isShelved": shelved.contains(&stored.id),
        "name": manifest.map(|manifest| &manifest.name),
        "provisions": manifest.map(|manifest| manifest.counts.provisions),
        "bytes": manifest.map(|manifest| manifest.files.iter().map(|file| file.size).sum::<u64>()),
        "error": stored.manifest.as_ref().err(),
    })
}

impl Prune {
    fn run(self, data: &DataDirectory, shelved: &[String]) -> CommandResult {
        let mut removed = data.prunable(self.keep)?;
        removed.retain(|stored| !shelved.contains(&stored.id));
        let mut out = String::new();
        for stored in &removed {
            if !self.dry_run {
                data.remove(stored)?;
            }
            out += &format!("{} {}\n", if self.dry_run { "would remove" } else { "removed" }, stored.id);
        }
        let kept = count(data.list()?.len() as u64, "snapshot", "snapshots");
        out += &format!("{kept} {}\n", if self.dry_run { "in total" } else { "left" });
        print(&out)
    }
}
