//! Tests the citations of a layer for various plans.

use serde_json::{Value, json};

use hornbook_corpus::ids::NodeId;
use hornbook_corpus::zoning::layer::{CitationQuality, LayerStatus};

use super::*;

const TABLE: &str =
    "zone,name,category,provision\nRM-4.5,Many units,Residential,2-0104\nPD,Planned,Planned,8-0100\nT,Transport,,\n";

fn resolve_all(provision: &str) -> Option<ResolvedProvision> {
    provision
        .starts_with("Arden Code § ")
        .then(|| ResolvedProvision { id: NodeId::from_source_key(provision), citation: format!("{provision} (2024)") })
}

fn resolve_none(_: &str) -> Option<ResolvedProvision> {
    None
}

/// One square per code.
fn zones(codes: &[Value]) -> String {
    let feature = |code: &Value| {
        json!({"type": "Feature", "properties": {"zone": code, "name": " Own name "}, "geometry":
            {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}})
    };
    json!({"type": "FeatureCollection", "features": codes.iter().map(feature).collect::<Vec<_>>()}).to_string()
}

fn import(
    plan: &str,
    table: Option<&str>,
    layer: &str,
    resolve: &ProvisionResolver<'_>,
) -> Result<ImportedLayer, ZoningImportError> {
    let options: ZoningOptions = toml::from_str(plan).expect("the plan of a test is well formed");
    let provenance = LayerSource { file: "zones.geojson".to_owned(), ..LayerSource::default() };
    let jurisdiction: ShortCode = "XA-PORT-ARDEN".parse().expect("a short code");
    let table = table.map(|text| ZoneTableFile { file: "zones.csv", text });
    let source = ZoningSource { jurisdiction: &jurisdiction, provenance: &provenance, options: &options, table };
    import_layer(layer.as_bytes(), source, resolve)
}

const PLAN: &str = r#"
zone_property = "zone"
citation = "Arden Code § {number}"
normalise = [{ pattern = '^PD ?\d+$', replace = "PD" }]
"#;

fn features(imported: &ImportedLayer) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&imported.layer.body()).unwrap();
    body["geojson"]["features"].as_array().unwrap().iter().map(|feature| feature["properties"].clone()).collect()
}

fn said(imported: &ImportedLayer) -> Vec<String> {
    imported.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_zone_whose_provision_is_held_cites_it_word_for_word() {
    let imported = import(PLAN, Some(TABLE), &zones(&[json!(" PD 12 "), json!("RM-4.5")]), &resolve_all).unwrap();
    assert_eq!(imported.layer.citation_quality(), CitationQuality::Linked);
    assert_eq!(imported.layer.status(), LayerStatus::Published);
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    let node = NodeId::from_source_key("Arden Code § 8-0100").to_string();
    let expected = json!({
        "zoneCode": "PD", "zoneName": "Planned", "category": "Planned",
        "citation": "Arden Code § 8-0100 (2024)", "nodeId": node, "citationStatus": "linked",
        "source": {"zone": " PD 12 ", "name": " Own name "}
    });
    assert_eq!(features(&imported)[0], expected);
}

#[test]
fn one_placeholder_makes_a_layer_pending_and_says_why() {
    let codes = [json!("RM4.5"), json!("rm 4-.5"), json!("T"), json!("PD"), json!("Q")];
    let imported = import(PLAN, Some(TABLE), &zones(&codes), &resolve_all).unwrap();
    assert_eq!(imported.layer.citation_quality(), CitationQuality::Pending);
    let citations: Vec<Value> = features(&imported).iter().map(|feature| feature["citation"].clone()).collect();
    assert_eq!(citations, [json!(null), json!(null), json!(null), json!("Arden Code § 8-0100 (2024)"), json!(null)]);
    assert_eq!(
        said(&imported),
        [
            "zone code 'Q' (1 features) is not in the table of zones; its features cite nothing",
            "zone code 'RM4.5' (1 features) is not in the table of zones; its features cite nothing. Similar known codes: RM-4.5",
            "zone code 'rm 4-.5' (1 features) is not in the table of zones; its features cite nothing. Similar known codes: RM-4.5",
            "1 zones (1 features) have no provision in the table of zones, the first 'T'",
        ]
    );
    let not_held = import(PLAN, Some(TABLE), &zones(&[json!("PD")]), &resolve_none).unwrap();
    assert_eq!(features(&not_held)[0]["citation"], json!("Arden Code § 8-0100"));
    assert_eq!(features(&not_held)[0]["citationStatus"], json!("placeholder"));
    assert!(said(&not_held)[0].contains("not in this snapshot, the first 'Arden Code § 8-0100'"));
}

#[test]
fn lenient_codes_are_read_as_the_one_alike_and_never_as_one_of_two() {
    let plan = format!("lenient_codes = true\n{PLAN}");
    let imported = import(&plan, Some(TABLE), &zones(&[json!("RM4.5"), json!("RM-4.5")]), &resolve_all).unwrap();
    assert_eq!(imported.layer.citation_quality(), CitationQuality::Linked);
    assert!(features(&imported).iter().all(|feature| feature["zoneCode"] == json!("RM-4.5")));
    assert_eq!(said(&imported), ["zone code 'RM4.5' (1 features) was read as 'RM-4.5'"]);
    let two = "zone,provision\nC-11,1\nC1-1,2\n";
    let imported = import(&plan, Some(two), &zones(&[json!("C11")]), &resolve_all).unwrap();
    assert_eq!(imported.layer.citation_quality(), CitationQuality::Pending);
    assert!(said(&imported)[0].ends_with("Similar known codes: C-11, C1-1"), "{:?}", said(&imported));
}

#[test]
fn names_ids_status_and_rows_come_from_where_the_plan_says() {
    let plan = r#"
        status = "draft"
        zone_property = "zone"
        name_property = "name"
        id_property = "zone"
        zone = [{ zone = "5", name = "Five", provision = "xa/port-arden/zoning/s5" }]
    "#;
    let imported = import(plan, None, &zones(&[json!(5), json!(5)]), &resolve_none).unwrap();
    assert_eq!(imported.layer.status(), LayerStatus::Draft);
    let first = &features(&imported)[0];
    assert_eq!((&first["zoneCode"], &first["zoneName"]), (&json!("5"), &json!("Own name")));
    // A source key is not a citation.
    assert_eq!(first["citation"], json!(null));
    let ids: Vec<String> = imported.layer.features().iter().map(|feature| feature.id.to_string()).collect();
    assert_eq!(ids, ["5", "feature-1"]);
    assert!(said(&imported)[0].contains("1 features repeat the id of another"), "{:?}", said(&imported));
}

#[test]
fn plan_and_table_errors_have_a_place() {
    let layer = zones(&[json!("PD")]);
    let bare = "zone_property = \"zone\"";
    let cases: [(&str, Option<&str>, &str); 9] = [
        (bare, None, "the plan's [source.zoning] for zones.geojson: there is no zone table"),
        (bare, Some("zone,provision\n"), "there is no zone table"),
        (bare, Some("zone,section\nPD,1\n"), "zone table zones.csv, line 1: unknown column 'section'"),
        (bare, Some("name\nPD\n"), "line 1: there is no column 'zone'"),
        (bare, Some("zone,name\nPD,a\nT,b\nPD,c\n"), "line 4: zone 'PD' is defined twice"),
        (bare, Some("zone,name\nPD\n"), "line 2: "),
        (bare, Some("zone,name\n ,x\n"), "line 2: the zone code is empty"),
        ("zone_property = \"zone\"\ncitation = \"Arden Code\"", Some(TABLE), "write {number} where"),
        ("zone_property = \"zone\"\nnormalise = [{ pattern = '(', replace = '' }]", Some(TABLE), "the pattern '('"),
    ];
    for (plan, table, fragment) in cases {
        let error = import(plan, table, &layer, &resolve_none).unwrap_err().to_string();
        assert!(error.contains(fragment), "{error}\n  not: {fragment}");
    }
    assert!(toml::from_str::<ZoningOptions>("zone_property = \"z\"\nzone_name = \"z\"").is_err());
}

#[test]
fn features_without_a_code_are_reported_together() {
    let codes = [json!("PD"), json!(null), json!("  "), json!(["PD"])];
    let error = import(PLAN, Some(TABLE), &zones(&codes), &resolve_none).unwrap_err().to_string();
    assert!(
        error.contains("zones.geojson: features[1]: the property 'zone' that should contain the zone code"),
        "{error}"
    );
    assert!(error.ends_with("(and 2 more errors)"), "{error}");
}

#[test]
fn a_rule_that_would_erase_a_code_leaves_it() {
    let plan = "zone_property = \"zone\"\nnormalise = [{ pattern = '.*', replace = '' }]";
    let imported = import(plan, Some(TABLE), &zones(&[json!("PD")]), &resolve_none).unwrap();
    assert_eq!(features(&imported)[0]["zoneCode"], json!("PD"));
}

#[test]
fn a_source_that_never_ends_is_refused() {
    let options: ZoningOptions = toml::from_str(PLAN).unwrap();
    let provenance = LayerSource { file: "zones.geojson".to_owned(), ..LayerSource::default() };
    let jurisdiction: ShortCode = "XA-PORT-ARDEN".parse().unwrap();
    let table = Some(ZoneTableFile { file: "zones.csv", text: TABLE });
    let source = ZoningSource { jurisdiction: &jurisdiction, provenance: &provenance, options: &options, table };
    let error = import_layer(std::io::repeat(b' '), source, &resolve_none).unwrap_err().to_string();
    assert!(error.contains("has more than 268435456 bytes"), "{error}");
}
