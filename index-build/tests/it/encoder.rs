//! Tests plans with a tiny sentence encoder, which is generated here.

use std::fs;
use std::path::Path;

use hornbook_corpus::embed::{TokenId, embedder};
use hornbook_corpus::ids::{ChunkOrdinal, OrdinalRange};
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::vectors::Effort;
use hornbook_index_build::build::{BuildOptions, build};
use hornbook_index_build::check::check;

use crate::common::{build_at, copy_folder, options, sample};
use crate::tiny_encoder::{HIDDEN, TinyEncoder};

const FILES: [&str; 4] = ["vectors-tiny-64.bin", "graph-tiny-64.bin", "queries-tiny-64.bin", "encoder-tiny-64.bin"];

/// The sample corpus in a folder, with an encoder in its plan.
fn sources(dir: &Path, encoder: &TinyEncoder) -> std::path::PathBuf {
    let folder = dir.join("sources");
    copy_folder(&sample(), &folder);
    set_encoder(&folder.join("plan.toml"), &encoder.write(dir));
    folder.join("plan.toml")
}

fn set_encoder(plan: &Path, table: &str) {
    let text = fs::read_to_string(plan).unwrap();
    let without = text.split("\n[encoder]").next().unwrap();
    fs::write(plan, format!("{without}{table}")).unwrap();
}

fn tokens(text: &str) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    embedder().tokenize(text, &mut tokens);
    tokens
}

#[test]
fn passages_are_found_in_the_space_of_the_encoder() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = TinyEncoder::new(11);
    let out = dir.path().join("out");
    let built = build_at(&sources(dir.path(), &tiny), &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    let encoded = snapshot.encoded.as_ref().unwrap();
    let report = built.report.encoded.unwrap();
    assert_eq!((report.passages, report.taken_over), (snapshot.chunks.chunk_count(), 0));
    assert_eq!(built.manifest.embedders[1].id, "tiny-64");
    let all = OrdinalRange::new(0, snapshot.chunks.chunk_count());
    let mut found_by_words = 0;
    let asked: Vec<ChunkOrdinal> = all.iter().step_by(7).map(ChunkOrdinal).collect();
    for &chunk in &asked {
        let placed = snapshot.chunks.chunk(chunk).unwrap();
        let (heading, text) =
            (snapshot.cards.get(placed.node).unwrap().heading, snapshot.texts.get(placed.text).unwrap());
        let above = snapshot.outline.ancestors(placed.node).map(|node| snapshot.cards.get(node).unwrap().heading);
        let above = above.into_iter().find(|heading| !heading.is_empty()).unwrap_or_default();
        let whole = [vec![TokenId(101)], tokens(&format!("{heading}. {above}. {text}"))].concat();
        let whole = [&whole[..whole.len().min(79)], &[TokenId(102)]].concat();
        // The file contains the vector that the encoder computes for the passage.
        let expected: Vec<f32> = tiny.projected(&tiny.pooled(&whole)).iter().map(|&value| value as f32).collect();
        let scored = encoded.vectors().nearest_exact(&expected, OrdinalRange::new(chunk.0, chunk.0 + 1), 1);
        assert!(scored[0].score > 0.999, "{heading}: {scored:?}");
        // A query with its own words finds it.
        let inner = &whole[1..whole.len() - 1];
        let query = encoded.query(inner).unwrap();
        // The encoder in the snapshot has rounded weights and gives nearly the same vector.
        let deep = encoded.deep_query(inner).unwrap();
        let alike: f32 = deep.iter().zip(&expected).map(|(deep, exact)| deep * exact).sum();
        assert!(alike > 0.999, "{heading}: {alike}");
        let nearest = encoded.vectors().nearest(&query, all, 5, Effort::default());
        found_by_words += usize::from(nearest.iter().any(|near| near.chunk == chunk));
    }
    // Few dimensions are imprecise; one in fifty would be found by chance.
    assert!(found_by_words * 5 > asked.len() * 2, "{found_by_words} of {}", asked.len());
}

#[test]
fn encoded_builds_are_reproducible_and_reuse_unchanged_vectors() {
    let dir = tempfile::tempdir().unwrap();
    let plan = sources(dir.path(), &TinyEncoder::new(12));
    let (out, again) = (dir.path().join("out"), dir.path().join("again"));
    let first = build_at(&plan, &out).unwrap();
    build_at(&plan, &again).unwrap();
    for name in FILES {
        assert!(fs::read(out.join(name)).unwrap() == fs::read(again.join(name)).unwrap(), "{name} differs");
    }
    assert!(build_at(&plan, &out).unwrap().unchanged);
    // Changes one word of one provision.
    let law = plan.with_file_name("hollis").join("code.jsonl");
    fs::write(&law, fs::read_to_string(&law).unwrap().replacen("county", "country", 1)).unwrap();
    let replace = |plan: &Path| build(&BuildOptions { replace: true, ..options(plan, &out) }).unwrap();
    let changed = replace(&plan);
    let encoded = changed.report.encoded.as_ref().unwrap();
    assert_eq!(encoded.taken_over, encoded.passages - 1);
    assert!(
        changed.report.reused.iter().any(|line| line.starts_with("tiny-64 vectors of ")),
        "{:?}",
        changed.report.reused
    );
    Snapshot::verify(&out, |_| ()).unwrap();
    let fresh = dir.path().join("fresh");
    build_at(&plan, &fresh).unwrap();
    let vectors = |dir: &Path| fs::read(dir.join("vectors-tiny-64.bin")).unwrap();
    assert!(vectors(&out) == vectors(&fresh), "reused vectors must equal new ones");
    // Another encoder has another space, even under the same name.
    set_encoder(&plan, &TinyEncoder::new(13).write(dir.path()));
    let other = replace(&plan);
    assert!(!other.unchanged && other.report.encoded.unwrap().taken_over == 0);
    assert_ne!(other.manifest.embedders[1], first.manifest.embedders[1]);
    // Without an encoder the second space is gone, and the law is found as before.
    set_encoder(&plan, "");
    let without = replace(&plan);
    assert!(without.report.encoded.is_none() && without.manifest.embedders.len() == 1);
    assert!(Snapshot::open(&out).unwrap().encoded.is_none());
}

#[test]
fn an_interrupted_build_continues_and_gives_the_same_vectors() {
    let dir = tempfile::tempdir().unwrap();
    let plan = sources(dir.path(), &TinyEncoder::new(17));
    let out = dir.path().join("out");
    let log = dir.path().join(".out.embedded");
    let zones = plan.with_file_name("millbrook").join("zoning.geojson");
    let whole = fs::read(&zones).unwrap();
    // Zones are read after passages are embedded.
    fs::write(&zones, &whole[..whole.len() / 2]).unwrap();
    let interrupted = || build_at(&plan, &out).unwrap_err().to_string();
    assert!(interrupted().contains("zoning.geojson"), "{}", interrupted());
    // The end of the process may cut a batch.
    let embedded = fs::read(&log).unwrap();
    fs::write(&log, &embedded[..embedded.len() / 2]).unwrap();
    fs::write(&zones, &whole).unwrap();
    let built = build_at(&plan, &out).unwrap();
    let of_log = |line: &&String| line.ends_with("passages that an interrupted build embedded");
    let line = built.report.reused.iter().find(of_log).expect("the report says so");
    let count: u32 = line.split(' ').nth(3).unwrap().parse().unwrap();
    let passages = built.report.encoded.as_ref().unwrap().passages;
    assert!(count > passages / 10 && count < passages * 6 / 10, "{line}, {passages}");
    assert!(!log.exists());
    let again = dir.path().join("again");
    let uninterrupted = build_at(&plan, &again).unwrap();
    assert_eq!(built.manifest.snapshot, uninterrupted.manifest.snapshot);
    assert!(!uninterrupted.report.reused.iter().any(|line| of_log(&line)));
    // A fresh build reuses nothing.
    fs::write(&log, &embedded).unwrap();
    let fresh = build(&BuildOptions { fresh: true, replace: true, ..options(&plan, &out) }).unwrap();
    assert!(fresh.report.reused.is_empty() && !log.exists(), "{:?}", fresh.report.reused);
}

#[test]
fn an_encoder_without_a_table_of_queries_serves_deep_searches_alone() {
    let dir = tempfile::tempdir().unwrap();
    let plan = sources(dir.path(), &TinyEncoder::new(16));
    let text = fs::read_to_string(&plan).unwrap();
    let table = text.lines().find(|line| line.starts_with("query_table")).unwrap();
    fs::write(&plan, text.replace(table, "")).unwrap();
    let out = dir.path().join("out");
    build_at(&plan, &out).unwrap();
    let snapshot = Snapshot::verify(&out, |_| ()).unwrap();
    let encoded = snapshot.encoded.as_ref().unwrap();
    assert_eq!(encoded.rows().dims(), HIDDEN);
    let asked = tokens("return of the security deposit");
    assert!(encoded.query(&asked).is_none() && !encoded.has_query_table());
    let query = encoded.deep_query(&asked).unwrap();
    let length: f32 = query.iter().map(|value| value * value).sum();
    assert!(query.len() == HIDDEN && (length - 1.0).abs() < 1e-4, "{length}");
    assert!(!out.join("queries-tiny-64.bin").exists());
}

#[test]
fn verification_covers_the_second_space() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    build_at(&sources(dir.path(), &TinyEncoder::new(14)), &out).unwrap();
    for name in FILES {
        let whole = fs::read(out.join(name)).unwrap();
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        for bytes in [&damaged, &whole] {
            fs::remove_file(out.join(name)).unwrap();
            fs::write(out.join(name), bytes).unwrap();
            let verified = Snapshot::verify(&out, |_| ()).map(drop).map_err(|error| error.to_string());
            assert_eq!(verified.is_ok(), bytes == &whole, "{verified:?}");
            assert!(verified.err().is_none_or(|error| error.contains(name)));
        }
    }
}

#[test]
fn a_check_also_checks_the_encoder() {
    let dir = tempfile::tempdir().unwrap();
    let plan = sources(dir.path(), &TinyEncoder::new(15));
    check(&options(&plan, &dir.path().join("out"))).unwrap();
    fs::remove_file(dir.path().join("encoder/vocab.txt")).unwrap();
    let refused = check(&options(&plan, &dir.path().join("out"))).unwrap_err().to_string();
    assert!(refused.contains("vocab.txt"), "{refused}");
    assert!(build_at(&plan, &dir.path().join("out")).unwrap_err().to_string().contains("vocab.txt"));
}
