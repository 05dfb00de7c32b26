//! Two real zoning maps, from the file to the stored answer. Skipped if the shared corpora are missing.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use hornbook_corpus::ids::{NodeId, ShortCode};
use hornbook_corpus::zoning::catalogue::{CatalogueWriter, LayerEntry, StoredEncoding, ZoningLayers};
use hornbook_corpus::zoning::layer::{CitationQuality, LayerSource, PlaceholderReason, Zone};
use hornbook_corpus::zoning::problem::{Problem, ProblemKind};
use hornbook_corpus::zoning::source::{LayerLimits, read_layer};
use hornbook_index_build::import::zoning::{
    ImportedLayer, ResolvedProvision, ZoneTableFile, ZoningOptions, ZoningSource, import_layer,
};
use serde_json::Value;

use crate::corpora::corpora;

/// Rings of the simplified map that cross, overlap or touch themselves or others, or have no area.
const GEOMETRY_WARNINGS: usize = 400;

const CHICAGO: &str = r#"
zone_property = "zone_class"
id_property = "objectid"
zones = "chicago-zones.csv"
citation = "Chicago Zoning Ordinance § {number}"

[[normalise]]
pattern = '^PD ?\d+$'
replace = "PD"

[[normalise]]
pattern = '^PMD[ -]?\d+[A-Z]?$'
replace = "PMD"
"#;

const CAMBRIDGE: &str = r#"
zone_property = "ZONE_TYPE"
zones = "cambridge-zones.csv"
citation = "Cambridge Zoning Ordinance art. {number}"
"#;

/// Tests run in the folder of their package.
fn workspace() -> PathBuf {
    Path::new("..").to_owned()
}

/// A member of a shared archive, unpacked; None if the archive is missing.
fn member(archive: &str, name: &str) -> Option<Vec<u8>> {
    let file = File::open(corpora()?.join(archive)).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().ends_with(name) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            return Some(bytes);
        }
    }
    panic!("{name} is not in its archive");
}

fn chicago() -> Option<Vec<u8>> {
    let packed = member("zoning-chicago.tar.zst", "chicago-zoning-2025-04-17-simple.geojson.gz")?;
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

fn import(code: &str, plan: &str, bytes: &[u8], resolve: &dyn Fn(&str) -> Option<ResolvedProvision>) -> ImportedLayer {
    let options: ZoningOptions = toml::from_str(plan).unwrap();
    let file = options.zones.clone().unwrap();
    let text = fs::read_to_string(workspace().join("benches/plans").join(&file)).unwrap();
    let provenance = LayerSource { file: "zoning.geojson".to_owned(), ..LayerSource::default() };
    let jurisdiction: ShortCode = code.parse().unwrap();
    let source = ZoningSource {
        jurisdiction: &jurisdiction,
        provenance: &provenance,
        options: &options,
        table: Some(ZoneTableFile { file: &file, text: &text }),
    };
    import_layer(bytes, source, resolve).unwrap()
}

fn store(layer: &ImportedLayer) -> (LayerEntry, Vec<Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("zoning");
    let mut writer = CatalogueWriter::create(&folder).unwrap();
    writer.add(&layer.layer).unwrap();
    writer.finish().unwrap();
    let layers = ZoningLayers::open(&folder).unwrap();
    let opened = layers.layer(layer.layer.short_code()).unwrap();
    let bodies = StoredEncoding::ALL.iter().map(|encoding| opened.body(*encoding).to_vec()).collect();
    (opened.entry().clone(), bodies)
}

/// Codes that the table lacks, with the number of their features and a similar known code.
fn unknown(entry: &LayerEntry) -> Vec<(&str, usize, &str)> {
    let placeholders = entry.placeholders.iter().filter(|zone| zone.reason == PlaceholderReason::UnknownZoneCode);
    placeholders.map(|zone| (zone.code.as_str(), zone.features, zone.near.first().map_or("", String::as_str))).collect()
}

#[test]
fn chicago_is_a_pending_layer_with_its_misspelt_codes_listed() {
    let Some(bytes) = chicago() else { return };
    let imported = import("IL-CHICAGO", CHICAGO, &bytes, &|_| None);
    let (entry, bodies) = store(&imported);
    assert_eq!((entry.feature_count, entry.vertex_count), (14_670, 159_080));
    assert_eq!(entry.citation_quality, CitationQuality::Pending);
    assert_eq!(
        unknown(&entry),
        [
            ("DS-7", 1, ""),
            ("DX-10", 1, ""),
            ("RM4-.5", 1, "RM-4.5"),
            ("RM4.5", 9, "RM-4.5"),
            ("RM5.5", 4, "RM-5.5"),
            ("RT-4.5", 1, ""),
        ]
    );
    let not_held = entry.placeholders.iter().filter(|zone| zone.reason == PlaceholderReason::ProvisionNotHeld);
    assert_eq!(not_held.map(|zone| zone.features).sum::<usize>(), 14_653);
    let planned = entry.zones.iter().find(|zone| zone.code == "PD").unwrap();
    assert_eq!(planned.citation.as_deref(), Some("Chicago Zoning Ordinance § 17-8-0100"));

    let reply: Value = serde_json::from_slice(&bodies[0]).unwrap();
    let first = &reply["geojson"]["features"][0];
    assert_eq!(first["id"], 2_019_348);
    assert_eq!(first["properties"]["zoneCode"], "PD");
    assert_eq!(first["properties"]["source"]["zone_class"], "PD 991");
    assert_eq!(first["geometry"]["coordinates"][0][0].to_string(), "[-87.69278,41.75481]");
    assert_eq!(
        bodies,
        store(&import("IL-CHICAGO", CHICAGO, &bytes, &|_| None)).1,
        "the same source gave different bytes"
    );
}

#[test]
fn geometry_faults_are_reported_and_the_stored_layer_is_clean() {
    let Some(bytes) = chicago() else { return };
    let imported = import("IL-CHICAGO", CHICAGO, &bytes, &|_| None);
    let geometry = |problem: &&Problem| problem.feature.is_some();
    assert_eq!(imported.warnings.iter().filter(geometry).count(), GEOMETRY_WARNINGS);
    assert_eq!(
        imported.warnings[0].to_string(),
        "17975 rings had the wrong winding; outer rings now run counter-clockwise and holes clockwise"
    );
    let reply: Value = serde_json::from_slice(&imported.layer.body()).unwrap();
    let again = read_layer(reply["geojson"].to_string().as_bytes(), "stored", &LayerLimits::default()).unwrap();
    let kinds = |warnings: &[Problem]| -> Vec<ProblemKind> {
        warnings.iter().filter(geometry).map(|problem| problem.kind.clone()).collect()
    };
    assert_eq!(again.warnings.len(), GEOMETRY_WARNINGS, "nothing is left to repair");
    assert_eq!(kinds(&again.warnings), kinds(&imported.warnings));
}

#[test]
fn chicago_with_its_ordinance_is_linked_but_for_the_misspelt_codes() {
    let Some(bytes) = chicago() else { return };
    let held = |citation: &str| {
        Some(ResolvedProvision { id: NodeId::from_source_key(citation), citation: citation.to_owned() })
    };
    let imported = import("IL-CHICAGO", CHICAGO, &bytes, &held);
    assert_eq!(imported.layer.citation_quality(), CitationQuality::Pending);
    let lenient = format!("lenient_codes = true\n{CHICAGO}");
    let imported = import("IL-CHICAGO", &lenient, &bytes, &held);
    let layer = &imported.layer;
    let is_placeholder = |zone: &&Zone| zone.citation.node().is_none();
    let left: Vec<&str> = layer.zones().iter().filter(is_placeholder).map(|zone| zone.code.as_str()).collect();
    assert_eq!(left, ["DS-7", "DX-10", "RT-4.5"]);
}

#[test]
fn cambridge_keeps_its_long_coordinates() {
    let Some(bytes) = member("zoning-cambridge-ma.tar.zst", "CDD_ZoningDistricts.geojson") else { return };
    let imported = import("MA-CAMBRIDGE", CAMBRIDGE, &bytes, &|_| None);
    let (entry, bodies) = store(&imported);
    assert_eq!(entry.feature_count, 261);
    let new_since_the_list = ["CAM-10", "CAM-12", "CAM-6", "MAS-12", "MAS-12A", "MAS-18", "MAS-6"];
    assert_eq!(unknown(&entry).iter().map(|(code, ..)| *code).collect::<Vec<_>>(), new_since_the_list);
    let text = std::str::from_utf8(&bodies[0]).unwrap();
    assert!(text.contains("[-71.13194143955134,42.40094260372529]"));
    let named = entry.placeholders.iter().find(|zone| zone.code == "MXD").unwrap();
    assert_eq!(named.citation.as_deref(), Some("Cambridge Zoning Ordinance art. 14.000"));
}
