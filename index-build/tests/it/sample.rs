//! Tests the built sample corpus: everything in it is found, cited, placed and described correctly.

use std::collections::HashSet;

use hornbook_corpus::citation_index::CitationKind;
use hornbook_corpus::embed::embedder;
use hornbook_corpus::ids::{NodeId, NodeOrdinal, OrdinalRange};
use hornbook_corpus::outline::Status;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_corpus::validity::{self, Validity};
use hornbook_corpus::vectors::Effort;
use hornbook_corpus::zoning::catalogue::StoredEncoding;
use hornbook_corpus::zoning::layer::CitationQuality;
use sha2::{Digest, Sha256};

use crate::common::{build_at, sample};

fn with_sample(check: impl FnOnce(&Snapshot)) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("snapshot");
    build_at(&sample().join("plan.toml"), &out).unwrap();
    check(&Snapshot::verify(&out, |_| ()).unwrap());
}

fn all(snapshot: &Snapshot) -> impl Iterator<Item = NodeOrdinal> {
    (0..snapshot.outline.len()).map(NodeOrdinal)
}

fn cited(snapshot: &Snapshot, citation: &str) -> NodeOrdinal {
    let found = snapshot.nodes_with_citation(citation).unwrap();
    assert!(!found.is_empty(), "no provision has the citation {citation}");
    found[0].0
}

#[test]
fn every_node_is_found_by_id_key_and_citation_and_its_words_match_their_hash() {
    with_sample(|snapshot| {
        assert!(snapshot.manifest.counts.provisions >= 200);
        for node in all(snapshot) {
            let record = snapshot.nodes.get(node).unwrap();
            assert_eq!(snapshot.outline.id(node), Some(NodeId::from_source_key(&record.source_key)));
            assert_eq!(snapshot.ordinal(NodeId::from_source_key(&record.source_key)), Some(node));
            assert!(snapshot.nodes_with_citation(&record.citation).unwrap().contains(&(node, CitationKind::Canonical)));
            for wording in &record.wordings {
                let text = snapshot.texts.get(wording.text).unwrap();
                assert_eq!(
                    wording.text_sha256,
                    <[u8; 32]>::from(Sha256::digest(text.as_bytes())),
                    "{}",
                    record.citation
                );
            }
            let (card, first) = (snapshot.cards.get(node).unwrap(), record.wording(0));
            assert_eq!((card.citation, card.heading), (record.citation.as_str(), first.heading.as_str()));
            assert_eq!((card.text, card.wordings as usize), (first.text, record.wordings.len() - 1));
            assert!(first.text_sha256.starts_with(&card.text_sha256_start));
            assert_eq!((card.source, card.has_own_date), (record.source, record.current_through.is_some()));
            assert_eq!(snapshot.tags.of(node), record.tags);
            let validities: Vec<Validity> = record.wordings.iter().map(|wording| wording.validity).collect();
            for day in ["1990-01-01", "2026-07-01", "2099-01-01"] {
                let day = day.parse().unwrap();
                let (law, standing) = (snapshot.validity.on(day), validity::state_on(&validities, day));
                let shown =
                    law.shown(node).map_or((0, snapshot.outline.status(node)), |shown| (shown.place, shown.status));
                assert_eq!(shown, (standing.wording, standing.status), "{} on {day}", record.citation);
            }
            assert!(snapshot.catalogue.sources.get(usize::from(record.source)).is_some());
        }
    });
}

#[test]
fn ranges_of_jurisdictions_and_code_bodies_nest_and_cover_every_node() {
    with_sample(|snapshot| {
        let range = |code: &str| snapshot.catalogue.jurisdiction(&code.parse().unwrap()).unwrap().clone();
        let (state, county, town) = (range("XA"), range("XA-HOLLIS"), range("XA-MILLBROOK"));
        assert!(state.subtree.contains_range(county.subtree) && county.subtree.contains_range(town.nodes));
        assert!(state.subtree.contains_range(range("XA-PORT-ARDEN").nodes));
        assert!(!range("US").subtree.contains_range(state.nodes));
        assert!(range("XA-GREYFORD").is_placeholder() && range("VA").is_placeholder());
        let covered: u32 = snapshot.catalogue.code_bodies.iter().map(|body| body.nodes.len()).sum();
        assert_eq!(covered, snapshot.outline.len());
        for body in &snapshot.catalogue.code_bodies {
            let chunks = snapshot.chunks.chunk_range(body.nodes);
            assert_eq!(chunks.len(), body.chunks);
            assert!(chunks.iter().all(|chunk| {
                body.nodes.contains(snapshot.chunks.node_of(hornbook_corpus::ids::ChunkOrdinal(chunk)).unwrap().0)
            }));
        }
    });
}

#[test]
fn chunks_lie_in_the_text_of_their_node_and_cover_it() {
    with_sample(|snapshot| {
        for node in all(snapshot).filter(|&node| snapshot.outline.is_provision(node)) {
            let record = snapshot.nodes.get(node).unwrap();
            let mut words_in_chunks = 0;
            for chunk in snapshot.chunks.chunks_of(node).iter() {
                let chunk = snapshot.chunks.chunk(hornbook_corpus::ids::ChunkOrdinal(chunk)).unwrap();
                assert_eq!(chunk.node, node);
                words_in_chunks += snapshot.texts.get(chunk.text).unwrap().split_whitespace().count();
            }
            let texts = record.wordings.iter().map(|wording| wording.text);
            let words: usize = texts.map(|span| snapshot.texts.get(span).unwrap().split_whitespace().count()).sum();
            assert_eq!(words_in_chunks, words, "{}", record.citation);
        }
    });
}

#[test]
fn the_oddities_of_the_sample_are_kept() {
    with_sample(|snapshot| {
        let record = |citation: &str| snapshot.nodes.get(cited(snapshot, citation)).unwrap();
        let order = ["12-2-104", "12-2-104a", "12-2-105"].map(|n| cited(snapshot, &format!("Arden Rev. Stat. § {n}")));
        assert!(order.is_sorted(), "a letter suffix sorts after its number: {order:?}");
        assert_eq!(record("Arden Rev. Stat. § 24-2-201").wordings.len(), 2);
        assert_eq!(record("Arden Rev. Stat. § 18-2-209").wording(0).validity.status, Status::Renumbered);
        let long = record("Arden Rev. Stat. § 31-2-201");
        assert!(snapshot.texts.get(long.wording(0).text).unwrap().split_whitespace().count() > 1_500);
        let rules = ["310-2-.04", "310-2-.06"]
            .map(|n| snapshot.nodes_with_citation(&format!("Arden Admin. Code {n}")).unwrap().len());
        assert!(rules.iter().all(|&count| count <= 1));
        let statuses: HashSet<Status> = all(snapshot).map(|node| snapshot.outline.status(node)).collect();
        assert_eq!(statuses.len(), Status::STATED.len(), "every status that a source can state occurs");
        // Similar citations stay separate.
        assert_ne!(record("3 S.F.C. § 232").source_key, record("3 S.F.C. § 232a").source_key);
    });
}

#[test]
fn one_zoning_layer_is_linked_and_one_pending_with_its_placeholders_listed() {
    with_sample(|snapshot| {
        let linked = snapshot.zoning.layer(&"XA-PORT-ARDEN".parse().unwrap()).unwrap();
        assert_eq!(linked.entry().citation_quality, CitationQuality::Linked);
        assert!(linked.entry().feature_count >= 30 && linked.entry().placeholders.is_empty());
        for zone in &linked.entry().zones {
            let node = snapshot.ordinal(zone.node_id.unwrap()).unwrap();
            assert_eq!(Some(snapshot.nodes.get(node).unwrap().citation), zone.citation);
        }
        let pending = snapshot.zoning.layer(&"XA-MILLBROOK".parse().unwrap()).unwrap();
        assert_eq!(pending.entry().citation_quality, CitationQuality::Pending);
        let codes: Vec<&str> =
            pending.entry().placeholders.iter().map(|placeholder| placeholder.code.as_str()).collect();
        assert_eq!(codes, ["HC", "PRD", "R-2O"]);
        let plain = linked.body(StoredEncoding::Identity);
        assert_eq!(zstd::decode_all(linked.body(StoredEncoding::Zstd)).unwrap(), plain);
        let body: serde_json::Value = serde_json::from_slice(plain).unwrap();
        let collection: geojson::FeatureCollection = body["geojson"].to_string().parse().unwrap();
        assert_eq!(body["featureCount"], collection.features.len());
        assert!(collection.features.iter().all(|feature| feature.property("nodeId").is_some_and(|id| id.is_string())));
    });
}

#[test]
fn a_question_finds_its_provision_by_words_and_by_meaning() {
    with_sample(|snapshot| {
        let everything = OrdinalRange::new(0, snapshot.outline.len());
        let by_words = snapshot.keyword.matching("security deposit", everything).unwrap();
        assert!(!by_words.is_empty());
        let query = embedder().embed_query("when must a landlord give back the tenant's deposit");
        let chunks = OrdinalRange::new(0, snapshot.chunks.chunk_count());
        let found = snapshot.vectors.nearest(&query.0, chunks, 5, Effort::default());
        let headings: Vec<String> = found
            .iter()
            .map(|near| {
                snapshot
                    .nodes
                    .get(snapshot.chunks.node_of(near.chunk).unwrap())
                    .unwrap()
                    .wording(0)
                    .heading
                    .to_lowercase()
            })
            .collect();
        assert!(headings.iter().any(|heading| heading.contains("deposit")), "{headings:?}");
    });
}
