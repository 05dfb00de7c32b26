//! Commands on snapshots that are killed at random moments: shelving, packing, installing, pulling. What they make is there
//! whole or not at all, and the next attempt finishes and leaves nothing over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hornbook_base::random::SplitMix64;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_editions::shelved;
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_pack::{PackFile, PublicKey, signature_path, verify};

use crate::packs::{FOLDER, Machines};
use crate::publisher::Publisher;
use crate::{hornbook, stderr};

/// Kills of each command. `HORNBOOK_TEST_SNAPSHOT_KILLS` sets another number (`make snapshot-kills`).
const KILLS: u32 = 12;

fn kills() -> u32 {
    let wanted = std::env::var_os("HORNBOOK_TEST_SNAPSHOT_KILLS");
    wanted.map_or(KILLS, |kills| kills.to_str().and_then(|kills| kills.parse().ok()).expect("a number of kills"))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Kills a command at moments spread over a little more than its duration. `whole` says whether it had finished, after a
/// check that what it left is whole or absent, and puts all back as it was before. Returns how many had not.
fn kill_often(start: impl Fn() -> Command, mut whole: impl FnMut(&str) -> bool) -> u32 {
    let run = || {
        let began = Instant::now();
        let output = start().output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        began.elapsed()
    };
    let unhurt: Vec<Duration> = (0..2)
        .map(|_| {
            let took = run();
            assert!(whole("not killed"), "a command that ended made nothing");
            took
        })
        .collect();
    let longest = unhurt.into_iter().min().unwrap().mul_f64(1.1);
    let mut random = SplitMix64(7);
    let mut unfinished = 0;
    for _ in 0..kills() {
        let moment = longest.mul_f64(random.below(1000) as f64 / 1000.0);
        let mut child = start().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        let _ = child.kill();
        child.wait().unwrap();
        unfinished += u32::from(!whole(&format!("killed after {moment:?}")));
    }
    run();
    unfinished
}

/// The names in a folder, also the hidden ones.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The snapshots that a data directory shows, each verified.
fn verified(data: &Path) -> Vec<PathBuf> {
    let shown: Vec<PathBuf> = DataDirectory::new(data).list().unwrap().into_iter().map(|stored| stored.path).collect();
    for path in &shown {
        Snapshot::verify(path, |_| ()).unwrap();
    }
    shown
}

fn remove(path: &Path) {
    if path.exists() {
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn packs_killed_at_any_moment_are_whole_and_signed_or_absent() {
    let machines = Machines::new();
    machines.build("Cats are free.");
    let folder = machines.at("packs");
    fs::create_dir(&folder).unwrap();
    let pack = folder.join("law.pack");
    let trusted = [PublicKey::parse(&machines.key).unwrap()];
    let start = || {
        let mut command = hornbook();
        command.args(["snapshot", "pack", "--out", &text(&pack), "--key", &text(&machines.at("law.key"))]);
        command.arg("--data").arg(machines.at("builder"));
        command
    };
    let mut first: Option<Vec<u8>> = None;
    let whole = |case: &str| {
        if !pack.exists() {
            return false;
        }
        let signature = fs::read_to_string(signature_path(&pack)).unwrap_or_else(|error| panic!("{case}: {error}"));
        let hash = PackFile::open(&pack).unwrap().hash(|_| ()).unwrap();
        verify(&pack, &hash, &signature, &trusted).unwrap_or_else(|error| panic!("{case}: {error}"));
        let bytes = fs::read(&pack).unwrap();
        assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{case}: the same snapshot gives the same pack");
        fs::remove_file(&pack).unwrap();
        true
    };
    let unfinished = kill_often(start, whole);
    assert!(unfinished >= kills() / 4, "only {unfinished} packs were killed");
    assert_eq!(names(&folder), ["law.pack", "law.pack.minisig"]);
}

#[test]
fn installs_killed_at_any_moment_show_a_whole_snapshot_or_none() {
    let machines = Machines::new();
    let id = machines.build("Cats are free.");
    let pack = machines.at("law.pack");
    machines.run("builder", &["snapshot", "pack", "--out", &text(&pack)]).unwrap();
    let data = machines.at("box");
    let start = || {
        let mut command = hornbook();
        command.args(["snapshot", "install", &text(&pack), "--allow-unsigned", "--data", &text(&data)]);
        command
    };
    // What was killed stays, so that the next attempt goes on from it.
    let whole = |_: &str| {
        let is_whole = !verified(&data).is_empty();
        if is_whole {
            remove(&data);
        }
        is_whole
    };
    let unfinished = kill_often(start, whole);
    assert!(unfinished >= kills() / 4, "only {unfinished} installs were killed");
    assert_eq!(names(&data.join("snapshots")), [id]);
}

#[test]
fn pulls_killed_at_any_moment_show_a_whole_snapshot_or_none() {
    let (machines, publisher) = (Machines::new(), Publisher::start());
    let id = machines.build("Cats are free.");
    machines.publish(&publisher);
    let data = machines.at("box");
    let url = format!("{}{FOLDER}/", publisher.base);
    let start = || {
        let mut command = hornbook();
        command.args(["snapshot", "pull", &url, "--swap", "--trust", &machines.key, "--data", &text(&data)]);
        command
    };
    let whole = |case: &str| {
        let shown = verified(&data);
        let is_in_use = DataDirectory::new(&data).current().is_some();
        assert!(!is_in_use || shown.len() == 1, "{case}: what is in use is there");
        if is_in_use {
            remove(&data);
        }
        is_in_use
    };
    let unfinished = kill_often(start, whole);
    assert!(unfinished >= kills() / 4, "only {unfinished} pulls were killed");
    assert_eq!(names(&data.join("snapshots")), [id]);
    assert!(names(&data).iter().all(|name| !name.ends_with(".fresh")), "{:?}", names(&data));
}

#[test]
fn shelving_killed_at_any_moment_lists_a_snapshot_or_not() {
    let machines = Machines::new();
    let first = machines.build("Cats are free.");
    machines.build("Cats must be on a leash, too.");
    let data = machines.at("builder");
    let start = || {
        let mut command = hornbook();
        command.args(["snapshot", "shelve", &first, "--data", &text(&data)]);
        command
    };
    let whole = |case: &str| {
        let listed = shelved(&data).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(listed.is_empty() || listed == [first.clone()], "{case}: {listed:?}");
        assert_eq!(verified(&data).len(), 2, "{case}");
        if !listed.is_empty() {
            machines.run("builder", &["snapshot", "unshelve", &first]).unwrap();
        }
        !listed.is_empty()
    };
    let unfinished = kill_often(start, whole);
    assert!(unfinished >= kills() / 4, "only {unfinished} were killed");
    let left = names(&data).into_iter().chain(names(&data.join("changes"))).collect::<Vec<_>>();
    assert!(left.iter().all(|name| !name.contains("fresh")), "{left:?}");
    assert!(machines.run("builder", &["snapshot", "list"]).unwrap().contains('+'));
}
