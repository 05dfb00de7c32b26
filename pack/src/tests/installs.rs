//! Installs that are killed at each step: the data directory has a whole snapshot or none, and the next attempt finishes.

use std::process::Command;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::data_directory::{DataDirectory, DataDirectoryError};

use super::*;
use crate::PackError;
use crate::fault_points::END_AT;

const PACK: &str = "HORNBOOK_TEST_PACK";
const DATA: &str = "HORNBOOK_TEST_DATA";

#[derive(Debug)]
pub(super) enum InstallError {
    Pack(#[expect(dead_code, reason = "tests show it")] PackError),
    Data(#[expect(dead_code, reason = "tests show it")] DataDirectoryError),
}

impl From<DataDirectoryError> for InstallError {
    fn from(error: DataDirectoryError) -> Self {
        Self::Data(error)
    }
}

/// Installs a pack into a data directory, as the command does. Returns whether the snapshot is new.
fn install(pack: &Path, data: &Path) -> Result<bool, InstallError> {
    let opened = PackFile::open(pack).map_err(InstallError::Pack)?;
    let earlier = opened.index().since.as_ref().map(|since| data.join("snapshots").join(since));
    let fill = |folder: &Path| unpack(&opened, folder, earlier.as_deref(), |_| ()).map_err(InstallError::Pack);
    let (_, is_new) = DataDirectory::new(data).receive(&opened.index().snapshot, fill, |_| ())?;
    Ok(is_new)
}

/// The test below runs this in a child process. On its own it does nothing.
#[test]
fn child_that_installs() {
    let (Some(pack), Some(data)) = (std::env::var_os(PACK), std::env::var_os(DATA)) else { return };
    install(Path::new(&pack), Path::new(&data)).unwrap();
}

fn killed(step: &str, pack: &Path, data: &Path) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "tests::installs::child_that_installs"]).env(END_AT, step).env(PACK, pack).env(DATA, data);
    child.output().unwrap().status.code().is_none()
}

#[test]
fn an_install_killed_at_any_step_shows_a_whole_snapshot_or_none_and_the_next_one_finishes() {
    let dir = tempfile::tempdir().unwrap();
    let texts = |last: &str| vec!["Dogs must be on a leash.".to_owned(), last.to_owned()];
    let old = built(&dir.path().join("1"), &texts("Cats are free."));
    let new = built(&dir.path().join("2"), &texts("Cats must be on a leash, too."));
    let (complete, changes) = (dir.path().join("old.pack"), dir.path().join("changes.pack"));
    let first = packed(&old, None, &complete).index;
    let second = packed(&new, Some(&old), &changes).index;
    let mut kills = 0;
    let mut steps: Vec<String> = (0..first.files.len()).map(|number| format!("file {number}")).collect();
    steps.extend((1..20).map(|time| format!("block written {time}")));
    for (number, step) in steps.iter().enumerate() {
        let data = dir.path().join(format!("data-{number}"));
        kills += u32::from(killed(step, &complete, &data));
        let shown = DataDirectory::new(&data).list().unwrap();
        assert!(shown.is_empty(), "{step}: {shown:?}");
        // A second kill at a later attempt, then one that ends.
        killed("block written 2", &complete, &data);
        install(&complete, &data).unwrap();
        kills += u32::from(killed(step, &changes, &data));
        install(&changes, &data).unwrap();
        assert!(!install(&changes, &data).unwrap(), "it is here already");
        for (id, original) in [(&first.snapshot, &old), (&second.snapshot, &new)] {
            let installed = data.join("snapshots").join(id);
            Snapshot::verify(&installed, |_| ()).unwrap();
            assert_eq!(contents(&installed), contents(original), "{step}");
        }
        let left: Vec<_> = fs::read_dir(data.join("snapshots")).unwrap().collect();
        assert_eq!(left.len(), 2, "{step}: nothing is left over");
        fs::remove_dir_all(&data).unwrap();
    }
    assert!(kills >= 50, "only {kills} installs were killed");
}

#[test]
fn a_snapshot_that_this_program_cannot_serve_never_appears() {
    let dir = tempfile::tempdir().unwrap();
    sealed(&dir.path().join("x"), &FolderContents::from([("a".to_owned(), vec![1; 10])]));
    packed(&dir.path().join("x"), None, &dir.path().join("x.pack"));
    let data = dir.path().join("data");
    assert!(matches!(install(&dir.path().join("x.pack"), &data), Err(InstallError::Data(_))));
    assert!(DataDirectory::new(&data).list().unwrap().is_empty());
}
