//! The same law gives the same snapshot, whatever the order of its files, lines and sources. An
//! unchanged plan is not built twice.

use std::fs;
use std::path::Path;

use crate::common::{SeededRandom, build_at, copy_folder, files_below, options, sample};
use hornbook_corpus::manifest::{self, Manifest};
use hornbook_index_build::build::{BuildOptions, Destination, build};
use hornbook_index_build::report::Report;

/// Every file except the report, which contains durations, and the manifest, which contains the
/// hash of the report and the inputs.
fn content(snapshot: &Path) -> Vec<(String, Vec<u8>)> {
    files_below(snapshot)
        .into_iter()
        .map(|path| (path.display().to_string(), fs::read(snapshot.join(&path)).unwrap()))
        .filter(|(name, _)| !matches!(name.as_str(), "report.json" | "manifest.json" | "manifest.blake3"))
        .collect()
}

fn shuffle_lines(path: &Path, numbers: &mut SeededRandom) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    for place in (1..lines.len()).rev() {
        lines.swap(place, numbers.below(place as u64 + 1) as usize);
    }
    fs::write(path, lines.join("\n")).unwrap();
}

#[test]
fn shuffled_sources_and_lines_give_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let straight = dir.path().join("straight");
    let first = build_at(&sample().join("plan.toml"), &straight).unwrap();
    let mut numbers = SeededRandom(7);
    for round in 0..3 {
        let shuffled = dir.path().join(format!("sources-{round}"));
        copy_folder(&sample(), &shuffled);
        for path in files_below(&shuffled).into_iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl")) {
            shuffle_lines(&shuffled.join(path), &mut numbers);
        }
        let plan = fs::read_to_string(shuffled.join("plan.toml")).unwrap();
        let mut parts: Vec<String> = plan.split("[[source]]").map(str::to_owned).collect();
        parts[1..].rotate_left(round + 1);
        fs::write(shuffled.join("plan.toml"), parts.join("\n[[source]]")).unwrap();
        let out = dir.path().join(format!("out-{round}"));
        let again = build_at(&shuffled.join("plan.toml"), &out).unwrap();
        let (expected, found) = (content(&straight), content(&out));
        assert_eq!(expected.len(), found.len());
        for ((name, expected), (other_name, found)) in expected.iter().zip(&found) {
            assert_eq!(name, other_name);
            // The catalogue contains the hash of the files of each source, which shuffling changes.
            assert!(name == "catalogue.json" || expected == found, "{name} differs");
        }
        assert_eq!(first.manifest.counts, again.manifest.counts);
    }
}

#[test]
fn a_code_split_over_files_is_one_code() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    build_at(&sample().join("plan.toml"), &whole).unwrap();
    let split = dir.path().join("split");
    copy_folder(&sample(), &split);
    let statutes = fs::read_to_string(split.join("arden/ars.jsonl")).unwrap();
    let folder = split.join("arden/ars");
    fs::create_dir(&folder).unwrap();
    for (n, lines) in statutes.lines().collect::<Vec<_>>().chunks(40).enumerate() {
        fs::write(folder.join(format!("part-{}.jsonl", 9 - n)), lines.join("\n")).unwrap();
    }
    let plan = fs::read_to_string(split.join("plan.toml")).unwrap().replace("arden/ars.jsonl", "arden/ars");
    fs::write(split.join("plan.toml"), plan).unwrap();
    let out = dir.path().join("out");
    build_at(&split.join("plan.toml"), &out).unwrap();
    for name in ["outline.bin", "nodes.redb", "texts.bin", "vectors-law-static-256.bin", "graph-law-static-256.bin"] {
        assert!(fs::read(whole.join(name)).unwrap() == fs::read(out.join(name)).unwrap(), "{name} differs");
    }
}

#[test]
fn unchanged_parts_are_reused() {
    let dir = tempfile::tempdir().unwrap();
    let sources = dir.path().join("sources");
    copy_folder(&sample(), &sources);
    let (plan, out) = (sources.join("plan.toml"), dir.path().join("out"));
    assert!(!build_at(&plan, &out).unwrap().unchanged);
    assert!(build_at(&plan, &out).unwrap().unchanged);
    // Only zoning changes: the vectors are the same, so the graph is reused.
    let zoning = sources.join("millbrook/zoning.geojson");
    fs::write(&zoning, fs::read_to_string(&zoning).unwrap().replace("R-2O", "R-20")).unwrap();
    let changed = build(&BuildOptions { replace: true, ..options(&plan, &out) }).unwrap();
    assert!(!changed.unchanged);
    assert_eq!(changed.report.reused.len(), 2, "{:?}", changed.report.reused);
    let chunks = changed.manifest.counts.chunks;
    let vectors = |report: &Report| -> u32 {
        let words = report.reused[0].strip_prefix("vectors of ").unwrap();
        words.split(' ').next().unwrap().parse().unwrap()
    };
    // All except those of provisions with several wordings.
    let of_one_wording = vectors(&changed.report);
    assert!(of_one_wording > chunks * 9 / 10, "{of_one_wording} of {chunks}");
    // Then the law changes: the links of most points are reused, and everything but the graph
    // equals a new build.
    let law = sources.join("hollis/code.jsonl");
    fs::write(&law, fs::read_to_string(&law).unwrap().replacen("county", "country", 1)).unwrap();
    let changed = build(&BuildOptions { replace: true, ..options(&plan, &out) }).unwrap();
    let graph = changed.report.graph.as_ref().unwrap();
    assert!(!changed.unchanged && (1..5).contains(&graph.inserted), "{graph:?}");
    let taken_over = format!("links of {} of {} points of the graph", graph.points - graph.inserted, graph.points);
    assert_eq!(changed.report.reused[1..], [taken_over]);
    assert_eq!(of_one_wording - vectors(&changed.report), 1);
    let fresh = build_at(&plan, &dir.path().join("fresh")).unwrap();
    let differing: Vec<&str> = changed
        .manifest
        .files
        .iter()
        .filter(|file| !fresh.manifest.files.contains(file))
        .map(|file| file.path.as_str())
        .filter(|path| *path != "report.json")
        .collect();
    assert_eq!(differing, ["graph-law-static-256.bin"]);
}

#[test]
fn a_damaged_snapshot_is_not_reused() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (sample().join("plan.toml"), dir.path().join("out"));
    build_at(&plan, &out).unwrap();
    let texts = out.join("texts.bin");
    let mut bytes = fs::read(&texts).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(&texts).unwrap();
    fs::write(&texts, bytes).unwrap();
    let again = build(&BuildOptions { replace: true, ..options(&plan, &out) }).unwrap();
    assert!(!again.unchanged);
    hornbook_corpus::snapshot::Snapshot::verify(&out, |_| ()).unwrap();
}

/// Rewrites the manifest of a snapshot as another program would have written it.
fn reseal(snapshot: &Path, change: impl FnOnce(&mut Manifest)) {
    let mut manifest = Manifest::open(snapshot).unwrap();
    for name in [manifest::FILE_NAME, manifest::HASH_FILE_NAME] {
        fs::remove_file(snapshot.join(name)).unwrap();
    }
    change(&mut manifest);
    manifest.files.clear();
    manifest.seal(snapshot).unwrap();
}

#[test]
fn snapshots_of_other_programs_are_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let (plan, out) = (sample().join("plan.toml"), dir.path().join("out"));
    let first = build_at(&plan, &out).unwrap();
    let sources = &first.manifest.builder_sources;
    assert!(
        sources.all.len() == 32 && sources.without_importers.len() == 32 && sources.all != sources.without_importers
    );
    let replacing = || BuildOptions { replace: true, ..options(&plan, &out) };
    // Only the importers differ: data that depends on texts and headings is reused where these are the same.
    let other_importers = |manifest: &mut Manifest| {
        manifest.builder_sources.all = "other importers".to_owned();
        manifest.inputs = "other importers".to_owned();
    };
    reseal(&out, other_importers);
    let again = build(&replacing()).unwrap();
    assert!(!again.unchanged);
    assert_eq!(again.report.reused.len(), 2, "{:?}", again.report.reused);
    assert_eq!(again.manifest.builder_sources, first.manifest.builder_sources);
    // Any other difference may have produced other chunks from the same text.
    reseal(&out, |manifest| {
        other_importers(manifest);
        manifest.builder_sources.without_importers = "other chunker".to_owned();
    });
    let again = build(&replacing()).unwrap();
    assert!(!again.unchanged && again.report.reused.is_empty(), "{:?}", again.report.reused);
    assert!(build(&replacing()).unwrap().unchanged);
}

#[test]
fn a_snapshot_of_the_same_content_says_which_program_built_it_last() {
    let dir = tempfile::tempdir().unwrap();
    let plan = sample().join("plan.toml");
    let to_data = || BuildOptions {
        destination: Destination::DataDirectory(dir.path().to_owned()),
        ..options(&plan, Path::new(""))
    };
    let first = build(&to_data()).unwrap();
    reseal(&first.path, |manifest| manifest.inputs = "of a program with other sources".to_owned());
    let again = build(&to_data()).unwrap();
    assert!(!again.unchanged);
    assert_eq!((&again.path, &again.manifest.snapshot), (&first.path, &first.manifest.snapshot));
    assert!(build(&to_data()).unwrap().unchanged, "a rebuild of the same content must write the new manifest");
}
