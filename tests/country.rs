//! The synthetic law of `benches/country`: the same seed gives the same files, sixty jurisdictions,
//! the requested size, few copies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::build::{BuildOptions, Built, Destination, build};
use hornbook_index_build::progress::ProgressDisplay;

use generate::{CountryTotals, PLAN, generate};
use law::RealLaw;
use measure::Figures;

#[path = "../benches/country/alter.rs"]
mod alter;
#[path = "../benches/country/code.rs"]
mod code;
#[path = "../benches/country/generate.rs"]
mod generate;
#[path = "../benches/country/law.rs"]
mod law;
#[path = "../benches/country/measure.rs"]
mod measure;
#[path = "../benches/country/names.rs"]
mod names;
#[path = "../benches/country/places.rs"]
mod places;
#[path = "../benches/support/sample.rs"]
mod sample;
#[path = "../benches/country/words.rs"]
mod words;

/// The sample corpus has some 600 chunks, so this size uses each of its sentences many times.
const CHUNKS: u64 = 6000;

static LAW: LazyLock<RealLaw> = LazyLock::new(|| {
    let scratch = tempfile::tempdir().unwrap();
    // The files stay mapped after the folder is deleted.
    RealLaw::of(vec![Snapshot::open(&sample::sample(&scratch.path().join("sample"))).unwrap()])
});

fn make(chunks: u64, seed: u64, folder: &Path) -> CountryTotals {
    generate(&LAW, chunks, seed, folder, ProgressDisplay::Silent).unwrap()
}

fn built(sources: &Path, out: &Path) -> Built {
    let options = BuildOptions {
        plan: sources.join(PLAN),
        sources: None,
        destination: Destination::Folder(out.to_owned()),
        strict: true,
        replace: false,
        accept_loss: false,
        skip_absent: false,
        fresh: false,
        progress: ProgressDisplay::Silent,
    };
    build(&options).unwrap_or_else(|error| panic!("{error}"))
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn the_same_seed_makes_the_same_files_and_another_seed_others() {
    let scratch = tempfile::tempdir().unwrap();
    let made = |name: &str, seed| {
        let folder = scratch.path().join(name);
        make(600, seed, &folder);
        files(&folder)
    };
    let (first, again, other) = (made("first", 1), made("again", 1), made("other", 2));
    assert!(first == again, "the same seed made other files");
    assert_eq!(first.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let differing = first.iter().filter(|(name, bytes)| other[*name] != **bytes).count();
    assert_eq!(differing, first.len());
}

#[test]
fn synthetic_law_fills_sixty_jurisdictions_with_few_copies() {
    let scratch = tempfile::tempdir().unwrap();
    let (sources, out) = (scratch.path().join("sources"), scratch.path().join("country"));
    let made = make(CHUNKS, 1, &sources);
    let built = built(&sources, &out);
    assert_eq!(built.manifest.jurisdictions.len(), 60);
    assert_eq!(built.manifest.counts.code_bodies as usize, made.codes);
    assert_eq!(u64::from(built.manifest.counts.provisions), made.provisions);
    let chunks = u64::from(built.manifest.counts.chunks);
    assert!(chunks.abs_diff(CHUNKS) < CHUNKS / 10, "{chunks} chunks instead of {CHUNKS}");
    let cites = built.report.references.citing;
    assert!(u64::from(cites) > made.provisions / 20, "{cites} of {} provisions cite another", made.provisions);
    let points = built.report.graph.as_ref().map_or(0, |graph| u64::from(graph.points));
    assert!(points > chunks * 99 / 100, "only {points} of {chunks} vectors differ clearly from all others");

    let figures = Figures::of(&Snapshot::open(&out).unwrap());
    assert_eq!((figures.provisions, figures.chunks), (made.provisions, chunks));
    assert_eq!(figures.equal_texts, made.copies);
    assert!(figures.equal_texts * 100 < figures.provisions, "{} texts are copies", figures.equal_texts);
    assert!(figures.equal_vectors * 100 < figures.chunks, "{} vectors are copies", figures.equal_vectors);
    let growth = figures.growth();
    assert!(growth > 0.1, "the vocabulary grows as the {growth:.2}th power of the running words");
}
