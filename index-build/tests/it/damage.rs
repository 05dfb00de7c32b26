//! Damage on purpose: no flipped bit and no cut goes unnoticed, and each is told with the name of the file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Numbers, build_at, files_below, sample};
use crate::walk::walk;
use hornbook_corpus::snapshot::Snapshot;

const FLIPS: usize = 1_000;
const CUTS: usize = 300;

fn built() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_at(&sample().join("plan.toml"), &out).unwrap();
    (dir, out)
}

/// Verifies the snapshot with one file's bytes exchanged; the error must name the file (or the manifest, whose own two
/// files vouch for each other).
fn assert_refused(snapshot: &Path, file: &Path, damaged: &[u8], what: &str) {
    let path = snapshot.join(file);
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, damaged).unwrap();
    let outcome = Snapshot::verify(snapshot, |_| ()).map(drop);
    fs::write(&path, whole).unwrap();
    let message = outcome.expect_err(&format!("{what} in {} went unnoticed", file.display())).to_string();
    let is_manifest = file.to_string_lossy().starts_with("manifest");
    let named = message.contains(&*file.to_string_lossy()) || (is_manifest && message.contains("manifest"));
    assert!(named, "{what} in {}: {message}", file.display());
}

#[test]
fn flipped_bits_are_refused_by_file() {
    let (_dir, snapshot) = built();
    let files = files_below(&snapshot);
    let mut numbers = Numbers(1);
    // Every file is hit often, however small.
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
    let mut numbers = Numbers(2);
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
        assert!(Snapshot::verify(&snapshot, |_| ()).is_err(), "{} is not missed", file.display());
        fs::write(&path, whole).unwrap();
    }
    fs::write(snapshot.join("keyword/stranger"), "x").unwrap();
    let message = Snapshot::verify(&snapshot, |_| ()).unwrap_err().to_string();
    assert!(message.contains("stranger"), "{message}");
}

/// Without a verification, damaged bytes may mislead our own mapped readers but must not crash them.
#[test]
fn unverified_damage_never_panics_our_readers() {
    let (_dir, snapshot) = built();
    let names = [
        "outline.bin",
        "texts.bin",
        "chunks.bin",
        "tokens.bin",
        "tags.bin",
        "citations.bin",
        "spelling.bin",
        "suggest.bin",
        "references.bin",
        "validity.bin",
        "vectors-law-static-256.bin",
        "graph-law-static-256.bin",
    ];
    let mut numbers = Numbers(3);
    for n in 0..400 {
        let path = snapshot.join(names[n % names.len()]);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        for _ in 0..20 {
            let place = numbers.below(bytes.len() as u64) as usize;
            bytes[place] = numbers.below(256) as u8;
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        if let Ok(snapshot) = Snapshot::open(&snapshot) {
            walk(&snapshot);
        }
        fs::write(&path, whole).unwrap();
    }
}
