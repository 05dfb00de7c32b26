//! Lookups: provisions, children and coverage, compared with a bare hyper server that returns the same bytes.

use std::time::Duration;

use hornbook::bench::load::{Load, Pace};
use hornbook::bench::url::Url;
use hornbook::tls_client::Trust;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::snapshot::Snapshot;

use crate::server::{BenchData, ServerProcess, get};
use crate::{ROUNDS, bare, round, row, spread};

/// The number of different provisions and containers to request.
const PATHS_PER_KIND: usize = 64;

const LOAD: Load = Load {
    pace: Pace::Closed,
    workers: 16,
    warm_up: Duration::from_millis(300),
    duration: Duration::from_millis(1000),
};

pub(crate) fn measure(data: &BenchData<'_>, snapshot: &Snapshot) {
    let kinds =
        [("node", nodes(snapshot)), ("browse", browsing(snapshot)), ("coverage", vec!["/api/v1/coverage".to_owned()])];
    let server = data.serve(&["ledger.durability=window"]).0;
    let recorded = data.folder.join("recorded");
    std::fs::create_dir(&recorded).expect("a folder for answers");
    let all: Vec<String> = kinds.iter().flat_map(|(_, paths)| paths.clone()).collect();
    bare::record_responses(&server, &data.key, &all, &recorded);
    let bare = bare::start(&recorded);
    for (name, paths) in &kinds {
        let bytes: usize = paths.iter().map(|path| get(&bare.address, path, None).len()).sum();
        println!("{name}: {} paths, {} bytes per response on average", paths.len(), bytes / paths.len());
        let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut our_cpu, mut their_cpu) = (Vec::new(), Vec::new());
        // Both are measured in each round, so that a busy machine affects both.
        for _ in 0..ROUNDS {
            let (a_second, cpu) = asked(&server, &data.key, paths);
            let (bare_a_second, bare_cpu) = asked(&bare, &data.key, paths);
            ours.push(a_second);
            theirs.push(bare_a_second);
            ratios.push(100.0 * a_second / bare_a_second);
            our_cpu.push(cpu);
            their_cpu.push(bare_cpu);
        }
        row(&format!("{name}, relative to bare hyper"), "%", spread(ratios));
        row(name, "a second", spread(ours));
        row(&format!("{name}, bare hyper"), "a second", spread(theirs));
        row(&format!("{name}, processor time of the server"), "us", spread(our_cpu));
        row(&format!("{name}, processor time of bare hyper"), "us", spread(their_cpu));
    }
}

/// Responses per second, and microseconds of the server's processor time per response.
fn asked(server: &ServerProcess, key: &str, paths: &[String]) -> (f64, f64) {
    let target = Url::new(&server.base(), &Trust::System, Some(key.to_owned()), paths.to_vec())
        .unwrap_or_else(|error| panic!("{error}"));
    let before = server.cpu();
    let measured = round(&target, &LOAD);
    // The warm-up is the same load, so it is included.
    let all = measured.throughput * (LOAD.warm_up + LOAD.duration).as_secs_f64();
    (measured.throughput, (server.cpu() - before) * 1e6 / all)
}

/// Provisions from all over the snapshot.
fn nodes(snapshot: &Snapshot) -> Vec<String> {
    let outline = &snapshot.outline;
    let provisions: Vec<NodeOrdinal> =
        (0..outline.len()).map(NodeOrdinal).filter(|node| outline.is_provision(*node)).collect();
    let ids = some_of(&provisions).filter_map(|node| outline.id(*node));
    ids.map(|id| format!("/api/v1/node/{id}")).collect()
}

/// Containers from all over the snapshot.
fn browsing(snapshot: &Snapshot) -> Vec<String> {
    let outline = &snapshot.outline;
    let containers: Vec<NodeOrdinal> =
        (0..outline.len()).map(NodeOrdinal).filter(|node| outline.children(*node).next().is_some()).collect();
    let path = |node: &NodeOrdinal| {
        let body = snapshot.code_body_of(*node)?;
        Some(format!("/api/v1/browse?codeBodyId={}&parent={}", body.id, outline.id(*node)?))
    };
    some_of(&containers).filter_map(path).collect()
}

fn some_of(nodes: &[NodeOrdinal]) -> impl Iterator<Item = &NodeOrdinal> {
    nodes.iter().step_by(nodes.len().div_ceil(PATHS_PER_KIND).max(1))
}
