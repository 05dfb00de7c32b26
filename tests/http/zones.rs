//! The zones at a point, compared with the results of shapely, and in the responses of the service.

use hornbook_accounts::scope::Scope;
use hornbook_corpus::zoning::shape::Position;
use serde::Deserialize;

use crate::sample::ENGINE;
use crate::test_server::{TestServer, generous_tariff};

/// A line of `zones-at-points.jsonl`, which the script next to it wrote.
#[derive(Deserialize)]
struct ExpectedZones {
    layer: String,
    lon: f64,
    lat: f64,
    within: Vec<String>,
    edge: Vec<String>,
}

#[test]
fn zones_at_points_match_shapely() {
    let known =
        include_str!("zones-at-points.jsonl").lines().map(|line| serde_json::from_str::<ExpectedZones>(line).unwrap());
    let (mut edges, mut nowhere) = (0, 0);
    for ExpectedZones { layer, lon, lat, within, edge } in known {
        let places = ENGINE.snapshot().zoning.layer(&layer.parse().unwrap()).unwrap().places().unwrap();
        let found: Vec<_> = places.at(Position { lon, lat }).collect();
        let ids = |is_on_boundary: bool| -> Vec<String> {
            let found = found.iter().filter(|found| found.is_on_boundary == is_on_boundary);
            found.map(|found| found.feature.id.to_string()).collect()
        };
        assert_eq!((ids(false), ids(true)), (within, edge), "{layer} at {lat} {lon}");
        edges += usize::from(found.iter().any(|found| found.is_on_boundary));
        nowhere += usize::from(found.is_empty());
    }
    assert!(edges > 50 && nowhere > 20, "{edges} points on edges, {nowhere} in no zone: too few for this test");
}

#[test]
fn the_zones_at_a_point_come_with_the_law_that_defines_them() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let path = "/api/v1/gis/xa-port-arden/at?lat=44.054&lon=-124.217";
    let answered = server.get(path, &key);
    assert_eq!(answered.status, 200, "{}", answered.text());
    assert_eq!(answered.header_number("x-credits-cost"), 5);
    let body = answered.json();
    assert_eq!(
        (&body["shortCode"], &body["lat"], &body["citationQuality"]),
        (&"XA-PORT-ARDEN".into(), &44.054.into(), &"linked".into())
    );
    let zone = &body["zones"][0];
    assert_eq!((&zone["zoneCode"], &zone["onBoundary"]), (&"C-2".into(), &false.into()), "{body:#}");
    assert_eq!(zone["citation"], "Port Arden Mun. Code § 17.24.020");
    let provision = server.get(&format!("/api/v1/node/{}", zone["nodeId"].as_str().unwrap()), &key).json();
    assert_eq!(body["provisions"][0], provision, "the whole node, as the node call answers it");
    assert!(provision["text"].as_str().unwrap().len() > 50);

    let bearer = format!("Bearer {key}");
    let known = server.get_with(path, &[("Authorization", &bearer), ("If-None-Match", answered.header("etag"))]);
    assert_eq!((known.status, known.body.len()), (304, 0));
}

#[test]
fn a_corner_belongs_to_all_zones_that_meet_there_and_a_placeholder_has_no_provision() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let known =
        include_str!("zones-at-points.jsonl").lines().map(|line| serde_json::from_str::<ExpectedZones>(line).unwrap());
    let corner = known.max_by_key(|known| known.edge.len()).unwrap();
    let path = format!("/api/v1/gis/{}/at?lat={}&lon={}", corner.layer, corner.lat, corner.lon);
    let body = server.get(&path, &key).json();
    let zones = body["zones"].as_array().unwrap();
    assert!(zones.len() >= 2 && zones.iter().all(|zone| zone["onBoundary"] == true), "{body:#}");

    let millbrook = ENGINE.snapshot().zoning.layer(&"XA-MILLBROOK".parse().unwrap()).unwrap();
    let placeholder = &millbrook.entry().placeholders[0].code;
    let known =
        include_str!("zones-at-points.jsonl").lines().map(|line| serde_json::from_str::<ExpectedZones>(line).unwrap());
    let there = known.filter(|known| known.layer == "XA-MILLBROOK").find(|known| {
        let mut found = millbrook.places().unwrap().at(Position { lon: known.lon, lat: known.lat });
        found.any(|found| found.feature.zone.zone_code == *placeholder)
    });
    let there = there.unwrap();
    let body = server.get(&format!("/api/v1/gis/XA-MILLBROOK/at?lat={}&lon={}", there.lat, there.lon), &key).json();
    let zones = body["zones"].as_array().unwrap();
    let zone = zones.iter().find(|zone| zone["zoneCode"] == placeholder.as_str()).unwrap();
    assert_eq!((&zone["citationStatus"], &zone["nodeId"]), (&"placeholder".into(), &serde_json::Value::Null));
    let cited = zones.iter().filter(|zone| !zone["nodeId"].is_null()).count();
    assert!(body["provisions"].as_array().unwrap().len() <= cited, "none for the placeholder: {body:#}");
}

/// The point with the most zones that cite the same provision.
fn point_with_most_shared_zones(zones_of: impl Fn(&ExpectedZones) -> Vec<String>) -> ExpectedZones {
    let known =
        include_str!("zones-at-points.jsonl").lines().map(|line| serde_json::from_str::<ExpectedZones>(line).unwrap());
    let repeated = |known: &ExpectedZones| {
        let mut ids = zones_of(known);
        let count = ids.len();
        ids.sort();
        ids.dedup();
        count - ids.len()
    };
    let point = known.max_by_key(repeated).unwrap();
    assert!(repeated(&point) > 0, "no point of the sample has two zones of one provision");
    point
}

#[test]
fn a_provision_cited_by_several_zones_is_returned_once() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let point = point_with_most_shared_zones(|known| {
        let places = ENGINE.snapshot().zoning.layer(&known.layer.parse().unwrap()).unwrap().places().unwrap();
        let found = places.at(Position { lon: known.lon, lat: known.lat });
        found.filter_map(|found| found.feature.zone.node_id).map(|id| id.to_string()).collect()
    });
    let body = server.get(&format!("/api/v1/gis/{}/at?lat={}&lon={}", point.layer, point.lat, point.lon), &key).json();
    let ids = |list: &str, field: &str| -> Vec<String> {
        let entries = body[list].as_array().unwrap().iter();
        entries.filter_map(|entry| entry[field].as_str().map(str::to_owned)).collect()
    };
    let mut cited = ids("zones", "nodeId");
    let mut seen = std::collections::HashSet::new();
    cited.retain(|id| seen.insert(id.clone()));
    assert_eq!(ids("provisions", "id"), cited);
}

#[test]
fn a_key_without_the_scope_node_gets_citations_and_no_texts() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let path = "/api/v1/gis/xa-port-arden/at?lat=44.054&lon=-124.217";
    let gis_alone = server.create_key(account, &[Scope::Gis]);
    let with_node = server.create_key(account, &[Scope::Gis, Scope::Node]);
    let (short, whole) = (server.get(path, &gis_alone), server.get(path, &with_node));
    assert_eq!((short.status, whole.status), (200, 200));
    assert!(!short.text().contains("\"text\""), "{}", short.text());
    assert_eq!(short.json()["provisions"], serde_json::json!([]));
    assert_eq!(short.json()["zones"], whole.json()["zones"]);
    assert_eq!(short.json()["zones"][0]["citation"], "Port Arden Mun. Code § 17.24.020");
    assert!(whole.json()["provisions"][0]["text"].as_str().unwrap().len() > 50);
    // With equal tags, a client that has the answer without texts would get a 304 instead of the
    // one with texts.
    assert_ne!(short.header("etag"), whole.header("etag"));
}

#[test]
fn swapped_or_malformed_coordinates_are_refused_for_free() {
    let server = TestServer::start(generous_tariff());
    let account = server.create_account(0);
    let key = server.create_key(account, &Scope::ALL);
    let elsewhere =
        server.get("/api/v1/gis/XA-PORT-ARDEN/at?lat=41.8781&lon=-87.6298", &key).expect_error(404, "not_found");
    assert!(elsewhere["message"].as_str().unwrap().contains("lat 44."), "{elsewhere:#}");
    let exchanged = server.get("/api/v1/gis/XA-PORT-ARDEN/at?lat=-124.2174&lon=44.0526", &key);
    assert_eq!(exchanged.expect_error(422, "validation_error")["details"][0]["parameter"], "lat");
    let both = server.get("/api/v1/gis/XA-PORT-ARDEN/at?lat=north", &key).expect_error(422, "validation_error");
    let named: Vec<&str> =
        both["details"].as_array().unwrap().iter().map(|each| each["parameter"].as_str().unwrap()).collect();
    assert_eq!(named, ["lat", "lon"]);
    assert_eq!(server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment, 50_000);
}
