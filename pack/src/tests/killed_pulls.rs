//! Pulls that are killed at each step: what is in use stays whole, and the next pull finishes with what had arrived.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::process::Command;

use hornbook_base::clock::UnixMillis;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::data_directory::{DataDirectory, DataDirectoryError};

use super::*;
use crate::fault_points::END_AT;
use crate::{
    CHANNEL_FORMAT, Channel, ChannelPack, InstalledSnapshot, OriginError, PackOrigin, PullTotals, SecretKey, fetch,
    offer,
};

const ORIGIN: &str = "HORNBOOK_TEST_ORIGIN";
const DATA: &str = "HORNBOOK_TEST_DATA";

fn key() -> SecretKey {
    SecretKey::from_random([1; 32], [1; 8])
}

/// The files of a channel in a folder.
struct FolderOrigin(PathBuf);

impl PackOrigin for FolderOrigin {
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError> {
        let failed = |error: io::Error| OriginError::Final(format!("{file}: {error}"));
        let mut opened = fs::File::open(self.0.join(file)).map_err(failed)?;
        let Some(range) = range else { return Ok(Box::new(opened)) };
        opened.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        Ok(Box::new(opened.take(range.end - range.start)))
    }

    fn wait(&mut self, _failures: u32) {}
}

/// Pulls the newest edition and puts it into use.
fn pull(origin: &Path, data: &Path) -> PullTotals {
    fs::create_dir_all(data).unwrap();
    let (mut origin, directory) = (FolderOrigin(origin.to_owned()), DataDirectory::new(data));
    let channel = offer(&mut origin, data, &[key().public()], UnixMillis(0)).unwrap();
    let installed: Vec<InstalledSnapshot> = directory
        .list()
        .unwrap()
        .into_iter()
        .map(|stored| InstalledSnapshot { id: stored.id, dir: stored.path })
        .collect();
    let mut totals = PullTotals::default();
    let fill = |folder: &Path| -> Result<(), DataDirectoryError> {
        totals = fetch(&mut origin, &channel, &installed, folder, |_| ()).unwrap();
        Ok(())
    };
    directory.receive(&channel.snapshot, fill, |_| ()).unwrap();
    directory.activate(&channel.snapshot, |_| ()).unwrap();
    totals
}

/// The test below runs this in a child process. On its own it does nothing.
#[test]
fn child_that_pulls() {
    let (Some(origin), Some(data)) = (std::env::var_os(ORIGIN), std::env::var_os(DATA)) else { return };
    pull(Path::new(&origin), Path::new(&data));
}

fn killed(step: &str, origin: &Path, data: &Path) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "tests::killed_pulls::child_that_pulls"]);
    child.env(END_AT, step).env(ORIGIN, origin).env(DATA, data).output().unwrap().status.code().is_none()
}

/// Publishes editions of the snapshots in a folder: each complete, and its changes since the one before.
fn publish(origin: &Path, snapshots: &[PathBuf], sequence: u64) {
    fs::create_dir_all(origin).unwrap();
    let newest = snapshots.last().unwrap();
    let earlier = snapshots.len().checked_sub(2).map(|place| &snapshots[place]);
    let mut packs = Vec::new();
    for (name, since) in [("complete", None), ("changes", earlier)] {
        if name == "complete" || since.is_some() {
            let file = format!("{sequence}-{name}.pack");
            packs
                .push(ChannelPack::new(file.clone(), &packed(newest, since.map(PathBuf::as_path), &origin.join(file))));
        }
    }
    let channel = Channel {
        format: CHANNEL_FORMAT,
        channel: "law".to_owned(),
        sequence,
        snapshot: Manifest::open(newest).unwrap().snapshot,
        name: "t".to_owned(),
        published: UnixMillis(0).to_string(),
        current_through: vec![],
        packs,
    };
    channel.write(origin, &key()).unwrap();
}

#[test]
fn a_pull_killed_at_any_step_leaves_the_edition_in_use_and_the_next_one_finishes() {
    let dir = tempfile::tempdir().unwrap();
    let texts = |last: &str| vec!["Dogs must be on a leash.".to_owned(), last.to_owned()];
    let old = built(&dir.path().join("1"), &texts("Cats are free."));
    let new = built(&dir.path().join("2"), &texts("Cats must be on a leash, too."));
    let (first, both) = (dir.path().join("origin-1"), dir.path().join("origin-2"));
    publish(&first, std::slice::from_ref(&old), 1);
    publish(&both, &[old.clone(), new.clone()], 2);
    let whole = pull(&first, &dir.path().join("unkilled")).fetched_bytes;
    let mut kills = 0;
    let mut steps: Vec<String> = (1..=40).map(|time| format!("block written {time}")).collect();
    steps.extend((0..24).map(|number| format!("file {number}")));
    steps.push("offer recorded".to_owned());
    for (number, step) in steps.iter().enumerate() {
        let data = dir.path().join(format!("data-{number}"));
        let directory = DataDirectory::new(&data);
        let was_killed = killed(step, &first, &data);
        kills += u32::from(was_killed);
        assert!(!was_killed || directory.current().is_none() && directory.list().unwrap().is_empty(), "{step}");
        let rest = pull(&first, &data);
        // The index comes again; blocks that had arrived do not.
        assert!(rest.fetched_bytes <= whole, "{step}");
        if was_killed && step == "block written 40" {
            assert!(rest.fetched_bytes < whole, "{step}: {rest:?}");
        }
        let in_use = directory.current();
        let was_killed = killed(step, &both, &data);
        kills += u32::from(was_killed);
        assert!(!was_killed || directory.current() == in_use, "{step}");
        Snapshot::verify(&data.join("current"), |_| ()).unwrap();
        pull(&both, &data);
        assert_eq!(contents(&data.join("current")), contents(&new), "{step}");
        assert_eq!(fs::read_dir(data.join("snapshots")).unwrap().count(), 2, "{step}: nothing is left over");
        fs::remove_dir_all(&data).unwrap();
    }
    assert!(kills >= 100, "only {kills} pulls were killed");
}
