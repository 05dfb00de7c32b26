//! A damaged snapshot with a matching manifest, like one from a malicious distributor: it is
//! refused, or it returns an answer or an error to every request. Damage to any file never causes a
//! panic.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use hornbook_base::random::SplitMix64;
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::snapshot::{Snapshot, SnapshotError};
use hornbook_search::{Engine, SearchError, SearchRequest};

#[path = "../fuzz/damage.rs"]
mod damage;
#[expect(dead_code, reason = "this test creates an engine for each snapshot")]
#[path = "support/sample.rs"]
mod sample;
#[path = "../fuzz/searches.rs"]
mod searches;
#[path = "../fuzz/second_space.rs"]
mod second_space;
#[expect(dead_code, reason = "a fuzz target uses the other half")]
#[path = "../fuzz/walk.rs"]
mod walk;

/// The number of damages tried for each file.
const DAMAGES: u64 = 8;

/// One to four changes, in the format of `damage`.
fn changes(numbers: &mut SplitMix64) -> Vec<u8> {
    let count = 1 + 6 * (1 + numbers.draw() % 4);
    (0..count).map(|_| (numbers.draw() >> 32) as u8).collect()
}

#[test]
fn no_damage_to_any_file_panics() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = dir.path().join("snapshot");
    sample::build_at(&snapshot);
    second_space::add(&snapshot);
    let manifest = Manifest::open(&snapshot).unwrap();
    let mut numbers = SplitMix64(5);
    let (mut opened, mut refused) = (0, 0);
    let mut panicked = Vec::new();
    for file in &manifest.files {
        let path = snapshot.join(&file.path);
        let whole = fs::read(&path).unwrap();
        for _ in 0..DAMAGES {
            let how = changes(&mut numbers);
            let mut bytes = whole.clone();
            damage::damage(&mut bytes, &how);
            damage::replace_snapshot_file(&path, &bytes);
            damage::write_manifest_sizes(&snapshot, &manifest);
            let outcome = catch_unwind(|| {
                let opened = Snapshot::open(&snapshot)?;
                walk::walk(&opened);
                searches::search(Arc::new(opened));
                Ok::<(), SnapshotError>(())
            });
            match outcome {
                Ok(Ok(())) => opened += 1,
                // The outer guard is only for unexpected panics: the reader of each file must catch its own.
                Ok(Err(SnapshotError::Unreadable { what, .. })) => {
                    panicked.push(format!("{}: {what} {how:?}", file.path));
                }
                Ok(Err(error)) => {
                    refused += 1;
                    let name = Path::new(&file.path).file_name().unwrap().to_str().unwrap();
                    let reported = error.to_string();
                    let is_named =
                        reported.contains(name) || reported.contains("keyword index") || reported.contains("/keyword");
                    assert!(is_named || reported.contains("the vectors file"), "{}: {reported}", file.path);
                }
                Err(_) => panicked.push(format!("{} {how:?}", file.path)),
            }
        }
        damage::replace_snapshot_file(&path, &whole);
    }
    assert!(panicked.is_empty(), "{} panics: {panicked:#?}", panicked.len());
    assert!(opened > 50 && refused > 50, "{opened} opened, {refused} refused");
}

#[test]
fn damaged_postings_cause_a_search_error_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let snapshot = dir.path().join("snapshot");
    sample::build_at(&snapshot);
    let mut reported = Vec::new();
    for file in ["segment.idx", "segment.pos", "segment.term"] {
        let path = snapshot.join("keyword").join(file);
        let whole = fs::read(&path).unwrap();
        for byte in [0, 1, 0x7f, 0x80, 0xfe, 0xff] {
            let mut bytes = whole.clone();
            let end = bytes.len() - bytes.len() / 8;
            bytes[8..end].fill(byte);
            damage::replace_snapshot_file(&path, &bytes);
            let Ok(opened) = Snapshot::open(&snapshot) else { continue };
            let Ok(engine) = Engine::new(Arc::new(opened)) else { continue };
            for query in ["security deposit", "\"security deposit\"", "the notice of the landlord"] {
                if let Err(error @ SearchError::Unreadable { .. }) = engine.search(&SearchRequest::new(query)) {
                    reported.push(error.to_string());
                }
            }
        }
        damage::replace_snapshot_file(&path, &whole);
    }
    assert!(!reported.is_empty(), "no damage was noticed");
    assert!(
        reported.iter().all(|reported| reported.contains("snapshot") && reported.contains("hornbook verify")),
        "{reported:?}"
    );
}
