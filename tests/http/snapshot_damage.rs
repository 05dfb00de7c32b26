//! Snapshot files that change while they are served: damaged data is never shown, and the service
//! reports the damage.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use hornbook::api::integrity::{IntegrityEvent, IntegrityMonitor};
use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::NodeOrdinal;
use hornbook_corpus::nodes::NodeRecord;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::texts::Span;

use crate::swaps::TwoSnapshots;
use crate::test_server::{TestServer, generous_tariff};

const DETECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// A server with its own snapshot, whose files can be changed.
struct ServerWithSnapshot {
    corpora: TwoSnapshots,
    folder: PathBuf,
    server: TestServer,
    key: String,
}

impl ServerWithSnapshot {
    fn start() -> Self {
        let corpora = TwoSnapshots::build();
        let (name, _) = &corpora.snapshots[1];
        let folder = corpora.data.path().join("snapshots").join(name);
        let server = TestServer::start(generous_tariff());
        server.service.reload_snapshot(corpora.data.path(), None).unwrap();
        assert_eq!(server.service.corpus().id(), name);
        let key = server.create_full_key();
        Self { corpora, folder, server, key }
    }

    fn readiness(&self) -> (u16, String) {
        let answer = self.server.get_from_metrics_listener("GET", "/readyz");
        (answer.status, answer.json()["status"].as_str().unwrap().to_owned())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::open(&self.folder).unwrap()
    }

    /// The id and the record of the first node that matches.
    fn node(&self, pick: impl Fn(&NodeRecord) -> bool) -> (String, NodeRecord) {
        let snapshot = self.snapshot();
        let found = (0..snapshot.outline.len()).map(NodeOrdinal).find_map(|node| {
            let record = snapshot.nodes.get(node).unwrap();
            pick(&record).then(|| (snapshot.outline.id(node).unwrap().to_string(), record))
        });
        found.expect("the sample has such a node")
    }
}

/// Flips one bit of a file in place, as failing memory or a failing disk would. A second call restores it.
fn flip_bit(file: &Path, at: u64) {
    for path in [file.parent().unwrap(), file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    byte[0] ^= 1;
    file.write_all_at(&byte, at).unwrap();
}

/// The offset in texts.bin of the middle of a text.
fn text_middle_offset(served: &ServerWithSnapshot, span: Span) -> u64 {
    let snapshot = served.snapshot();
    let text = snapshot.texts.get(span).unwrap().as_bytes().to_vec();
    let file = fs::read(served.folder.join("texts.bin")).unwrap();
    let begins = file.windows(text.len()).position(|window| window == text).unwrap();
    (begins + text.len() / 2) as u64
}

#[test]
fn damaged_text_is_a_500_on_every_path() {
    let served = ServerWithSnapshot::start();
    let (server, key) = (&served.server, &served.key);
    let (with_all, record) = served.node(|record| {
        let first = record.wording(0);
        record.wordings.len() > 1 && !first.notes.is_empty() && first.source_credit.is_some()
    });
    let (zone_defining, zone_record) = served
        .node(|record| record.citation == "Port Arden Mun. Code § 17.20.010" && record.wording(0).text.length > 0);
    let json = |path: &str| server.get(path, key);
    let node = format!("/api/v1/node/{with_all}");
    let before = json(&node).json();
    assert_eq!(before["id"], with_all.as_str());
    assert_eq!(served.readiness(), (200, "ready".to_owned()));

    let texts = served.folder.join("texts.bin");
    let mounts = |at: u64, paths: &[String]| {
        flip_bit(&texts, at);
        for path in paths {
            let answer = json(path);
            let error = answer.expect_error(500, "internal_error");
            assert!(error["requestId"].is_string(), "{error}");
            assert_eq!(answer.header("etag"), "", "{path}");
            assert!(answer.body.len() < 1_000, "{path}: {}", answer.text());
        }
        flip_bit(&texts, at);
    };
    let forms = ["", "?format=md", "?format=txt"].map(|form| format!("{node}{form}"));
    let batch = format!("/api/v1/nodes?ids={with_all}");
    mounts(text_middle_offset(&served, record.wording(0).text), &[&forms[..], std::slice::from_ref(&batch)].concat());
    mounts(text_middle_offset(&served, record.wordings[1].text), &[node.clone(), batch.clone()]);
    mounts(text_middle_offset(&served, record.wording(0).notes[0].text), &[node.clone(), batch.clone()]);
    mounts(text_middle_offset(&served, record.wording(0).source_credit.unwrap()), &[node.clone(), batch]);
    let zone = format!("/api/v1/node/{zone_defining}");
    mounts(
        text_middle_offset(&served, zone_record.wording(0).text),
        &[zone.clone(), zone_point_path(&served, &zone_defining)],
    );
    // A snippet shows a part of the text. If its middle is damaged, it is not shown.
    let search = "/api/v1/search?q=%22Arden+Rev.+Stat.+%C2%A7+24-2-201%22&limit=1";
    let hit = json(search).json()["results"][0].clone();
    let shown = hit["snippet"].as_str().unwrap().to_owned();
    let found = served.node(|record| record.citation == hit["citation"].as_str().unwrap()).1;
    let text_of = |span| served.snapshot().texts.get(span).unwrap().to_owned();
    let passage = shown.trim_matches('…').trim();
    let of_day =
        found.wordings.iter().find(|wording| text_of(wording.text).contains(passage)).expect("a wording has it");
    let text = text_of(of_day.text);
    let in_text = text.find(passage).unwrap_or_else(|| panic!("{shown}"));
    let begins = text_middle_offset(&served, of_day.text) - (text.len() / 2) as u64;
    mounts(begins + (in_text + shown.len() / 2) as u64, &[search.to_owned()]);

    assert!(server.log().contains("texts.bin is damaged"), "{}", server.log());
    assert_eq!(served.readiness(), (503, "snapshot_damaged".to_owned()));
    assert_eq!(server.metric_value("hornbook_snapshot_intact"), 0.0);
    assert_eq!(json(&node).json()["text"], before["text"], "undamaged text is no longer answered");
    // After the snapshot is restored and reloaded.
    server.service.reload_snapshot(served.corpora.data.path(), None).unwrap();
    assert_eq!(served.readiness(), (200, "ready".to_owned()));
    assert_eq!(server.metric_value("hornbook_snapshot_intact"), 1.0);
}

#[test]
fn a_call_that_fails_after_its_debit_is_refunded() {
    let served = ServerWithSnapshot::start();
    let server = &served.server;
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    let (id, record) = served.node(|record| record.wording(0).text.length > 0);
    let path = format!("/api/v1/node/{id}");
    assert_eq!((server.get(&path, &key).status, left()), (200, 49_999));

    let texts = served.folder.join("texts.bin");
    let damaged = text_middle_offset(&served, record.wording(0).text);
    flip_bit(&texts, damaged);
    let refused = server.get(&path, &key);
    refused.expect_error(500, "internal_error");
    assert_eq!(refused.header("x-credits-cost"), "");
    assert_eq!(left(), 49_999, "the failed call cost nothing");
    let entries = server.accounts.recent_entries(account, 2).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.kind.name()).collect::<Vec<_>>(), ["refund", "usage"]);
    flip_bit(&texts, damaged);
    assert_eq!((server.get(&path, &key).status, left()), (200, 49_998));
}

/// The path of a call that shows the provision which defines a zone.
fn zone_point_path(served: &ServerWithSnapshot, node_id: &str) -> String {
    let layer = served.server.get("/api/v1/gis/XA-PORT-ARDEN", &served.key).json();
    let features = layer["geojson"]["features"].as_array().unwrap();
    let feature = features.iter().find(|feature| feature["properties"]["nodeId"] == node_id).unwrap();
    let mut corner = &feature["geometry"]["coordinates"];
    while corner[0].is_array() {
        corner = &corner[0];
    }
    format!("/api/v1/gis/XA-PORT-ARDEN/at?lat={}&lon={}", corner[1], corner[0])
}

#[test]
fn damaged_names_and_records_are_never_shown() {
    let served = ServerWithSnapshot::start();
    let (server, key) = (&served.server, &served.key);
    let (id, record) = served.node(|record| record.citation == "Arden Rev. Stat. § 12-2-104a");
    let node = format!("/api/v1/node/{id}");
    let place = |name: &str, words: &str| {
        let file = fs::read(served.folder.join(name)).unwrap();
        let found = file.windows(words.len()).position(|window| window == words.as_bytes());
        found.unwrap_or_else(|| panic!("{words} is not in {name}")) as u64
    };
    let cards = place("cards.bin", &format!("{}{}", record.citation, record.wording(0).heading));
    flip_bit(&served.folder.join("cards.bin"), cards);
    server.get(&node, key).expect_error(500, "internal_error");
    flip_bit(&served.folder.join("cards.bin"), cards);
    assert!(server.log().contains("cards.bin is damaged"), "{}", server.log());
    assert_eq!(served.readiness(), (503, "snapshot_damaged".to_owned()));
    assert_eq!(server.get(&node, key).json()["citation"], record.citation);
}

#[test]
fn a_scrub_finds_damage_in_unread_files() {
    let served = ServerWithSnapshot::start();
    let (reported, events) = channel();
    let every = Duration::from_millis(10);
    let integrity = IntegrityMonitor::start(Arc::clone(&served.server.service), Some(every), move |event| {
        let _ = reported.send(event.clone());
    });
    let IntegrityEvent::Scrubbed { bytes, snapshot, .. } = events.recv_timeout(DETECTION_TIMEOUT).unwrap() else {
        panic!("a whole snapshot is scrubbed")
    };
    let total: u64 = served.snapshot().manifest.files.iter().map(|file| file.size).sum();
    assert_eq!((bytes, snapshot.as_str()), (total, served.server.service.corpus().id()));
    assert_eq!(served.readiness().0, 200);

    flip_bit(&served.folder.join("zoning/XA-PORT-ARDEN.json"), 1_000);
    let damaged = events.iter().find_map(|event| match event {
        IntegrityEvent::Damaged { what, .. } => Some(what),
        IntegrityEvent::Scrubbed { .. } | IntegrityEvent::NotScrubbed { .. } => None,
    });
    assert!(damaged.is_some_and(|what| what.contains("zoning/XA-PORT-ARDEN.json is damaged")));
    assert_eq!(served.readiness(), (503, "snapshot_damaged".to_owned()));
    integrity.stop();
    assert_eq!(
        events.iter().filter(|event| matches!(event, IntegrityEvent::Damaged { .. })).count(),
        0,
        "the damage was reported twice"
    );
}

#[test]
fn a_deleted_snapshot_folder_is_not_reported_as_damage() {
    let served = ServerWithSnapshot::start();
    fs::rename(&served.folder, served.folder.with_file_name("elsewhere")).unwrap();
    let (reported, events) = channel();
    let every = Duration::from_millis(10);
    let integrity = IntegrityMonitor::start(Arc::clone(&served.server.service), Some(every), move |event| {
        let _ = reported.send(event.clone());
    });
    assert!(matches!(events.recv_timeout(DETECTION_TIMEOUT).unwrap(), IntegrityEvent::NotScrubbed { .. }));
    integrity.stop();
    assert_eq!(served.readiness(), (200, "ready".to_owned()));
}
