//! Tests deliberate damage: every flipped bit and every cut is detected and reported with the name of the file.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use crate::common::{SeededRandom, build_at, files_below, sample};
use crate::damages::{damage, replace_snapshot_file, write_manifest_sizes};
use crate::walk::walk;
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::Snapshot;

const FLIPS: usize = 1_000;
const CUTS: usize = 300;

fn built() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_at(&sample().join("plan.toml"), &out).unwrap();
    (dir, out)
}

/// Verifies the snapshot with the bytes of one file replaced. The error must name the file, or the
/// manifest, whose two files verify each other.
fn assert_refused(snapshot: &Path, file: &Path, damaged: &[u8], what: &str) {
    let path = snapshot.join(file);
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, damaged).unwrap();
    let outcome = Snapshot::verify(snapshot, |_| ()).map(drop);
    fs::write(&path, whole).unwrap();
    let message = outcome.expect_err(&format!("{what} in {} was not detected", file.display())).to_string();
    let is_manifest = file.to_string_lossy().starts_with("manifest");
    let named = message.contains(&*file.to_string_lossy()) || (is_manifest && message.contains("manifest"));
    assert!(named, "{what} in {}: {message}", file.display());
}

#[test]
fn flipped_bits_are_refused_by_file() {
    let (_dir, snapshot) = built();
    let files = files_below(&snapshot);
    let mut numbers = SeededRandom(1);
    // Every file is damaged often, however small it is.
    for n in 0..FLIPS {
        let file = &files[n % files.len()];
        let mut bytes = fs::read(snapshot.join(file)).unwrap();
        let bit = numbers.below(bytes.len() as u64 * 8);
        bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
        assert_refused(&snapshot, file, &bytes, &format!("flipped bit {bit}"));
    }
    Snapshot::verify(&snapshot, |_| ()).unwrap();
}

#[test]
fn cuts_are_refused_by_file() {
    let (_dir, snapshot) = built();
    let files = files_below(&snapshot);
    let mut numbers = SeededRandom(2);
    for n in 0..CUTS {
        let file = &files[n % files.len()];
        let bytes = fs::read(snapshot.join(file)).unwrap();
        let length = numbers.below(bytes.len() as u64) as usize;
        assert_refused(&snapshot, file, &bytes[..length], &format!("a cut to {length} bytes"));
    }
    Snapshot::verify(&snapshot, |_| ()).unwrap();
}

#[test]
fn a_missing_and_a_foreign_file_are_refused_by_name() {
    let (_dir, snapshot) = built();
    for file in files_below(&snapshot) {
        let path = snapshot.join(&file);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(Snapshot::verify(&snapshot, |_| ()).is_err(), "missing {} was not detected", file.display());
        fs::write(&path, whole).unwrap();
    }
    fs::write(snapshot.join("keyword/stranger"), "x").unwrap();
    let message = Snapshot::verify(&snapshot, |_| ()).unwrap_err().to_string();
    assert!(message.contains("stranger"), "{message}");
}

/// The number of damages for each file that is opened without verification.
const DAMAGES: u64 = 40;

/// One to four changes, in the format that `damages` reads.
fn changes(numbers: &mut SeededRandom) -> Vec<u8> {
    let count = 1 + 6 * (1 + numbers.below(4));
    (0..count).map(|_| numbers.below(256) as u8).collect()
}

/// A snapshot whose manifest matches its damaged files opens and answers, or is refused with the
/// name of a file. Nothing panics.
fn assert_survives(snapshot: &Path, file: &Path, how: &[u8]) {
    let manifest = Manifest::open(snapshot).unwrap();
    let path = snapshot.join(file);
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    damage(&mut bytes, how);
    replace_snapshot_file(&path, &bytes);
    write_manifest_sizes(snapshot, &manifest);
    let outcome = catch_unwind(|| Snapshot::open(snapshot).map(|snapshot| walk(&snapshot)));
    replace_snapshot_file(&path, &whole);
    write_manifest_sizes(snapshot, &manifest);
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(error)) => assert!(error.to_string().contains("snapshot"), "{}: {error}", file.display()),
        Err(_) => panic!("{} damaged by {how:?} panicked", file.display()),
    }
}

/// Without verification, damaged bytes may give wrong results but must not cause a panic.
#[test]
fn unverified_damage_never_panics() {
    let (_dir, snapshot) = built();
    let mut numbers = SeededRandom(3);
    let mut panicked = Vec::new();
    for file in files_below(&snapshot).iter().filter(|file| !file.to_string_lossy().starts_with("manifest")) {
        for _ in 0..DAMAGES {
            let how = changes(&mut numbers);
            panicked.extend(catch_unwind(|| assert_survives(&snapshot, file, &how)).err().map(|_| file.clone()));
        }
    }
    let count = panicked.len();
    panicked.dedup();
    assert!(panicked.is_empty(), "{count} panics for damaged {panicked:?}");
}

/// Records are read after the file was opened, so that file alone gets hundreds of damages.
#[test]
fn damaged_records_never_panic() {
    let (_dir, snapshot) = built();
    let mut numbers = SeededRandom(4);
    let hows: Vec<Vec<u8>> = (0..400).map(|_| changes(&mut numbers)).collect();
    let panics =
        hows.iter().filter(|how| catch_unwind(|| assert_survives(&snapshot, Path::new("nodes.redb"), how)).is_err());
    assert_eq!(panics.count(), 0, "of {}", hows.len());
}
