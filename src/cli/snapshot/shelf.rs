//! `hornbook snapshot shelve` and `unshelve`: which older snapshots are served beside the one in use.

use std::path::Path;

use clap::Args;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::{changes_between, remove_changes_without, shelved, write_shelved};
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::progress::ProgressDisplay;

use super::{RELOAD_HINT, verified};
use crate::cli::output::{CommandResult, print};

/// Keep an older snapshot beside the one in use, so that its law can be asked for
///
/// Requests for an earlier day are then answered from the edition of that day, and what changed
/// between the editions is listed. An older edition costs disk and address space, hardly memory.
#[derive(Debug, Args)]
pub(crate) struct Shelve {
    /// The id of the snapshot, or the beginning of the id
    id: String,
}

/// Take a snapshot from the shelf; its folder stays
#[derive(Debug, Args)]
pub(crate) struct Unshelve {
    /// The id of the snapshot, or the beginning of the id
    id: String,
}

impl Shelve {
    /// Verifies the snapshot, compares it with the one in use, and puts it on the shelf.
    pub(super) fn run(&self, path: &Path) -> CommandResult {
        let data = DataDirectory::new(path);
        let stored = data.find(&self.id)?;
        let mut ids = shelved(path)?;
        if ids.contains(&stored.id) {
            return print(&format!("{} is on the shelf already\n", stored.id));
        }
        let older = verified(&stored, |progress| Snapshot::verify(&stored.path, progress))?;
        let current = data.list()?.into_iter().find(|other| other.is_current && other.id != stored.id);
        if let Some(current) = current {
            let served = Snapshot::open(&current.path)?;
            let nodes = served.catalogue.code_bodies.iter().map(|body| u64::from(body.nodes.len())).sum();
            let mut stage = ProgressDisplay::for_stderr().stage("comparing", "nodes", Some(nodes));
            changes_between(path, &older, &served, |count| stage.add(count))?;
            stage.finish();
        }
        ids.push(stored.id.clone());
        write_shelved(path, &ids)?;
        print(&format!("{} is on the shelf; {RELOAD_HINT}\n", stored.id))
    }
}

impl Unshelve {
    pub(super) fn run(&self, path: &Path) -> CommandResult {
        let mut ids = shelved(path)?;
        let matching: Vec<String> = ids.iter().filter(|id| id.starts_with(&self.id)).cloned().collect();
        let wanted = &self.id;
        let [only] = matching.as_slice() else {
            return Err(match matching.len() {
                0 => format!("no snapshot '{wanted}' is on the shelf; 'hornbook snapshot list' marks those that are"),
                _ => format!("'{wanted}' matches several: {}; give more characters of the id", matching.join(", ")),
            }
            .into());
        };
        ids.retain(|id| id != only);
        write_shelved(path, &ids)?;
        let kept: Vec<String> = ids.into_iter().chain(DataDirectory::new(path).current()).collect();
        remove_changes_without(path, &kept)?;
        print(&format!("{only} is no longer on the shelf; {RELOAD_HINT}\n"))
    }
}
