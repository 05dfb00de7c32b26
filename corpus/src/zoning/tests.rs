//! Tests of errors, corrections and warnings: tables of GeoJSON with messages, and property tests.

use proptest::prelude::*;

use super::problem::{LayerRejected, Severity};
use super::source::{LayerLimits, SourceLayer, read_layer};

fn read(text: &str) -> Result<SourceLayer, LayerRejected> {
    read_layer(text.as_bytes(), "zones.geojson", &LayerLimits::default())
}

fn collection(features: &[String]) -> String {
    format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
}

fn feature(kind: &str, coordinates: &str) -> String {
    format!(
        r#"{{"type":"Feature","id":"f","properties":{{}},"geometry":{{"type":"{kind}","coordinates":{coordinates}}}}}"#
    )
}

fn polygon(coordinates: &str) -> String {
    collection(&[feature("Polygon", coordinates)])
}

fn multi_polygon(coordinates: &str) -> String {
    collection(&[feature("MultiPolygon", coordinates)])
}

/// A ring around a square, counter-clockwise.
fn square(west: f64, south: f64, size: f64) -> String {
    let (east, north) = (west + size, south + size);
    format!("[[{west},{south}],[{east},{south}],[{east},{north}],[{west},{north}],[{west},{south}]]")
}

/// The same, clockwise, like a hole.
fn hole(west: f64, south: f64, size: f64) -> String {
    let (east, north) = (west + size, south + size);
    format!("[[{west},{south}],[{west},{north}],[{east},{north}],[{east},{south}],[{west},{south}]]")
}

fn with_crs(name: &str) -> String {
    let body = feature("Polygon", &format!("[{}]", square(0.0, 0.0, 1.0)));
    format!(
        r#"{{"type":"FeatureCollection","features":[{body}],"crs":{{"type":"name","properties":{{"name":"{name}"}}}}}}"#
    )
}

#[test]
fn what_cannot_be_served_is_refused_with_its_place() {
    let good = format!("[{}]", square(0.0, 0.0, 1.0));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let table: Vec<(String, &str)> = vec![
        (String::new(), "line 1:0 is not JSON: EOF"),
        ("{\n  \"type\": oops}".to_owned(), "line 2:11 is not JSON"),
        ("[1]".to_owned(), "expected a FeatureCollection object"),
        (r#"{"type":"Topology","objects":{}}"#.to_owned(), "is a Topology, a zoning layer must be a FeatureCollection"),
        ("{}".to_owned(), "is a JSON object without a type"),
        (collection(&[]), "has no features"),
        (r#"{"type":"FeatureCollection","features":{}}"#.to_owned(), "expected an array of features"),
        (r#"{"type":"FeatureCollection","features":[],"features":[]}"#.to_owned(), "two 'features' members"),
        (collection(&[r#"{"type":"Polygon"}"#.to_owned()]), "features[0]: this is a Polygon, not a Feature"),
        (
            collection(&[r#"{"type":"Feature","properties":null}"#.to_owned()]),
            "features[0]: the feature has no geometry",
        ),
        (collection(&[r#"{"type":"Feature","geometry":null}"#.to_owned()]), "the feature has no geometry"),
        (collection(&[r#"{"type":"Feature","geometry":7}"#.to_owned()]), "features[0]: line 1:"),
        (
            format!(
                "{{\n\"type\":\"FeatureCollection\",\n\"features\":[\n  {}]}}",
                feature("Polygon", "[[[\"0\",0]]]")
            ),
            "features[0] (id f): line 4:",
        ),
        (collection(&[r#"{"type":"Feature","id":[1]}"#.to_owned()]), "id of a feature must be a text or a number"),
        (collection(&[feature("Point", "[1,2]")]), "features[0] (id f): the geometry is a Point"),
        (collection(&[feature("GeometryCollection", "[]")]), "the geometry is a GeometryCollection"),
        (polygon("[]"), "a polygon has no rings"),
        (polygon("[[]]"), "the outer ring of part 0 has 0 positions"),
        (multi_polygon("[]"), "the MultiPolygon has no parts"),
        (polygon(&good[1..good.len() - 1]), "a Polygon is a list of rings of positions"),
        (multi_polygon(&good), "a Polygon is a list of rings of positions"),
        (polygon("[[[0,0],[1,1],[0,0]]]"), "has 3 positions, a closed ring needs 4"),
        (polygon(&format!("[{},[[0.1,0.1],[0.2,0.2]]]", square(0.0, 0.0, 1.0))), "hole 1 of part 0 has 2 positions"),
        (polygon("[[[0],[1]]]"), "a position needs a longitude and a latitude"),
        (polygon("[[[0,0],1,[1,1]]]"), "invalid type: integer `1`, expected a sequence; a Polygon is a list of rings"),
        (polygon(r#"[[["0","0"]]]"#), "invalid type: string \"0\", expected f64; a Polygon is a list of rings"),
        (polygon("[[[1e999,0],[1,1],[0,1]]]"), "number out of range"),
        (polygon("[[[NaN,0],[1,1],[0,1]]]"), "is not JSON"),
        (polygon(&deep), "invalid type: sequence, expected f64; a Polygon is a list"),
        (polygon("[[[41.7,-97.7],[41.8,-97.7],[41.8,-97.6],[41.7,-97.7]]]"), "latitude before longitude"),
        (polygon("[[[41.7,-87.7],[41.8,-87.7],[41.8,-87.6],[41.7,-87.7]]]"), "latitude and longitude swapped"),
        (polygon("[[[1176333.2,1890000.1],[1176334,1890000],[1176334,1890001]]]"), "projected feet or metres"),
        (polygon("[[[180.0000001,0],[0,0],[0,1],[180.0000001,0]]]"), "position (180.0000001, 0) is outside"),
        (with_crs("urn:ogc:def:crs:EPSG::3435"), "are in urn:ogc:def:crs:EPSG::3435, a layer is served in CRS84"),
        (with_crs("EPSG:14326"), "are in EPSG:14326"),
        (polygon(&good).replace(r#""geometry":{"#, r#""geometry":{"crs":{"type":"link"},"#), r#"{"type":"link"}"#),
        (polygon(&good) + "x", "line 1:"),
    ];
    let mut wrong = Vec::new();
    for (text, fragment) in table {
        let shown: String = text.chars().take(200).collect();
        let message = read(&text).expect_err(&shown).to_string();
        if !message.starts_with("cannot use zoning layer zones.geojson: ") || !message.contains(fragment) {
            wrong.push(format!("{shown}\n  gave: {message}\n  not: {fragment}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_line_of_a_bad_coordinate_is_that_of_the_file() {
    let feature = "{\n\"type\":\"Feature\",\n\"id\":7,\n\"geometry\":{\"type\":\"Polygon\",\n\"coordinates\":[[\n  [0,0],\n  [1,\"0\"]\n]]}}";
    let text = format!("{{\"type\":\"FeatureCollection\",\n\"features\":[\n{feature}]}}");
    let error = read(&text).unwrap_err().to_string();
    assert!(error.contains("features[0] (id 7): line 9:8 is not GeoJSON: invalid type: string"), "{error}");
}

#[test]
fn bytes_that_are_no_text_are_told_by_offset() {
    let error = read_layer(b"{\"type\":\"\xff\"}", "zones.geojson", &LayerLimits::default()).unwrap_err().to_string();
    assert!(error.contains("byte 9 is not UTF-8"), "{error}");
}

#[test]
fn all_errors_are_told_up_to_a_limit() {
    let bad = feature("Point", "[1,2]");
    let error = read(&collection(&[bad.clone(), bad.clone(), bad.clone()])).unwrap_err();
    assert_eq!(error.errors.len(), 3);
    assert!(error.to_string().ends_with("(and 2 more errors)"), "{error}");
    let error = read(&collection(&vec![bad; 1_000])).unwrap_err();
    assert_eq!(error.errors.len(), LayerLimits::default().errors_listed_max + 1);
    assert!(error.errors.iter().all(|problem| problem.severity() == Severity::Error));
}

#[test]
fn every_limit_is_kept_on_both_sides() {
    let one = feature("Polygon", &format!("[{}]", square(0.0, 0.0, 1.0)));
    let text = collection(&[one.clone(), one]);
    let exact = LayerLimits {
        bytes_max: text.len() as u64,
        features_max: 2,
        feature_vertices_max: 5,
        layer_vertices_max: 10,
        ..LayerLimits::default()
    };
    assert!(read_layer(text.as_bytes(), "z", &exact).is_ok());
    let below = [
        (LayerLimits { bytes_max: exact.bytes_max - 1, ..exact }, "bytes"),
        (LayerLimits { features_max: 1, ..exact }, "more than 1 features"),
        (LayerLimits { feature_vertices_max: 4, ..exact }, "more than 4 vertices, the limit of one feature"),
        (LayerLimits { layer_vertices_max: 9, ..exact }, "more than 9 vertices, the limit of one layer"),
    ];
    for (limits, fragment) in below {
        let error = read_layer(text.as_bytes(), "z", &limits).unwrap_err().to_string();
        assert!(error.contains(fragment), "{error}");
    }
}

#[test]
fn crs_names_that_mean_wgs_84_pass() {
    for name in [
        "urn:ogc:def:crs:OGC:1.3:CRS84",
        "urn:ogc:def:crs:OGC::CRS84",
        "OGC:CRS84",
        "EPSG:4326",
        "urn:ogc:def:crs:EPSG::4326",
        "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
    ] {
        assert!(read(&with_crs(name)).is_ok(), "{name}");
    }
}

#[test]
fn repairs_and_oddities_give_warnings_with_their_place() {
    let shell = square(0.0, 0.0, 10.0);
    let bow_tie = "[[0,0],[2,2],[2,0],[0,2],[0,0]]";
    let spike = "[[0,0],[4,0],[4,4],[4,6],[4,4],[0,4],[0,0]]";
    let pinched = "[[0,0],[4,0],[2,2],[4,4],[0,4],[2,2],[0,0]]";
    let table: Vec<(String, Vec<&str>)> = vec![
        (polygon(&format!("[{shell},{}]", hole(2.0, 2.0, 2.0))), vec![]),
        (format!("\u{feff}{}", polygon(&format!("[{shell}]"))), vec![]),
        (polygon(&format!("[{}]", hole(0.0, 0.0, 1.0))), vec!["1 rings had the wrong winding"]),
        (polygon(&format!("[{shell},{}]", square(2.0, 2.0, 2.0))), vec!["1 rings had the wrong winding"]),
        (polygon("[[[0,0],[1,0],[1,1]]]"), vec!["1 rings did not repeat their first position"]),
        (polygon("[[[0,0,5],[1,0,5],[1,1,5],[0,0,5]]]"), vec!["4 positions had more than longitude and latitude"]),
        (polygon("[[[0,0],[1,1],[2,2],[0,0]]]"), vec!["the outer ring of part 0 at (0, 0) encloses no area"]),
        (polygon(&format!("[{bow_tie}]")), vec!["encloses no area", "crosses itself at (1, 1)"]),
        (polygon(&format!("[{spike}]")), vec!["(id f): the outer ring of part 0 runs along itself at (4, "]),
        (polygon(&format!("[{pinched}]")), vec!["touches itself at (2, 2)"]),
        (
            polygon(&format!("[{shell},{}]", hole(20.0, 2.0, 2.0))),
            vec!["hole 1 of part 0 is outside the outer ring at (20, 2)"],
        ),
        (polygon(&format!("[{shell},{}]", hole(9.0, 2.0, 2.0))), vec!["a ring of part 0 crosses another at 2 places"]),
        (polygon(&format!("[{shell},{}]", hole(8.0, 2.0, 2.0))), vec!["a ring of part 0 runs along another"]),
        // A hole may touch the outer ring, but not pass through it.
        (polygon(&format!("[{shell},[[10,5],[8,4],[8,6],[10,5]]]")), vec![]),
        (polygon(&format!("[{shell},[[10,5],[12,6],[12,4],[10,5]]]")), vec!["outside the outer ring"]),
        (
            polygon(&format!("[{shell},[[10,5],[11,4],[10,3],[8,4],[10,5]]]")),
            vec!["is outside the outer ring at (10.5, 4.5)"],
        ),
        (
            polygon(&format!("[{shell},{},{}]", hole(2.0, 2.0, 6.0), hole(4.0, 4.0, 1.0))),
            vec!["two holes of part 0 overlap"],
        ),
        (multi_polygon(&format!("[[{shell}],[{}]]", square(20.0, 0.0, 1.0))), vec![]),
        (multi_polygon(&format!("[[{shell}],[{}]]", square(10.0, 10.0, 1.0))), vec![]),
        (multi_polygon(&format!("[[{shell}],[{}]]", square(10.0, 2.0, 1.0))), vec!["one part runs along another"]),
        (multi_polygon(&format!("[[{shell}],[{shell}]]")), vec!["one part runs along another at"]),
        (
            multi_polygon(&format!("[[{shell}],[{}]]", square(9.0, 9.0, 5.0))),
            vec!["one part crosses another at 2 places"],
        ),
        (multi_polygon(&format!("[[{}],[{shell}]]", square(2.0, 2.0, 1.0))), vec!["two parts overlap at (2, 2)"]),
        // A part may be in the hole of another part.
        (multi_polygon(&format!("[[{shell},{}],[{}]]", hole(2.0, 2.0, 6.0), square(4.0, 4.0, 1.0))), vec![]),
    ];
    for (text, fragments) in table {
        let layer = read(&text).unwrap();
        let said: Vec<String> = layer.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), fragments.len(), "{text}\n{said:#?}");
        for (message, fragment) in said.iter().zip(fragments) {
            assert!(message.contains(fragment), "{text}\n  gave: {message}\n  not: {fragment}");
        }
        assert!(layer.warnings.iter().all(|problem| problem.severity() == Severity::Warning));
    }
}

#[test]
fn a_shape_made_to_be_slow_is_said_to_be_unchecked() {
    let teeth: Vec<String> =
        (0..4_000).map(|tooth| format!("[{},{}]", f64::from(tooth) * 1e-3, tooth % 2 * 10)).collect();
    let text = polygon(&format!("[[{}]]", teeth.join(",")));
    let limits = LayerLimits { check_steps_max: 1_000_000, ..LayerLimits::default() };
    let warnings = read_layer(text.as_bytes(), "z", &limits).unwrap().warnings;
    assert!(warnings.iter().any(|problem| problem.to_string().contains("too complex")), "{warnings:?}");
}

#[test]
fn warnings_beyond_the_limit_are_counted() {
    let odd = feature("Polygon", "[[[0,0],[1,1],[2,2],[0,0]]]");
    let limits = LayerLimits { warned_features_max: 2, ..LayerLimits::default() };
    let layer = read_layer(collection(&vec![odd; 5]).as_bytes(), "z", &limits).unwrap();
    let last = layer.warnings.last().unwrap().to_string();
    assert_eq!((layer.warnings.len(), last.as_str()), (3, "3 more features have warnings that are not listed"));
}

#[test]
fn coordinates_come_out_with_the_digits_they_came_in_with() {
    let ring = "[[-71.13194143955134,42.40094260372529],[-87,42.1234567890123],[-87.69278,41.75481],[-71.13194143955134,42.40094260372529]]";
    let layer = read(&polygon(&format!("[{ring}]"))).unwrap();
    assert_eq!(rewritten(&layer), format!(r#"{{"type":"Polygon","coordinates":[{ring}]}}"#));
}

fn rewritten(layer: &SourceLayer) -> String {
    serde_json::to_string(&layer.features[0].shape).unwrap()
}

/// Corners of a star around a point, counter-clockwise. The angles ascend, so the star never crosses itself.
fn star() -> impl Strategy<Value = Vec<(f64, f64)>> {
    // These latitudes cannot be mistaken for longitudes of the United States.
    let corners = prop::collection::vec((0.05..0.95_f64, 0.2..5.0_f64), 4..60);
    (corners, -170.0..170.0_f64, -50.0..50.0_f64).prop_map(|(corners, lon, lat)| {
        let step = std::f64::consts::TAU / corners.len() as f64;
        let corner = |(place, (jitter, radius)): (usize, (f64, f64))| {
            let angle = (place as f64 + jitter) * step;
            (lon + radius * angle.cos(), lat + radius * angle.sin())
        };
        corners.into_iter().enumerate().map(corner).collect()
    })
}

fn ring_text(corners: &[(f64, f64)]) -> String {
    let positions = corners.iter().chain(&corners[..1]).map(|(lon, lat)| format!("[{lon:?},{lat:?}]"));
    format!("[{}]", positions.collect::<Vec<_>>().join(","))
}

proptest! {
    #[test]
    fn a_star_is_clean_and_reads_back_as_itself(corners in star()) {
        let ring = ring_text(&corners);
        let layer = read(&polygon(&format!("[{ring}]"))).unwrap();
        prop_assert_eq!(&layer.warnings, &vec![]);
        let again = read(&collection(&[format!(r#"{{"type":"Feature","geometry":{}}}"#, rewritten(&layer))])).unwrap();
        prop_assert_eq!(&again.warnings, &vec![]);
        prop_assert_eq!(&again.features[0].shape, &layer.features[0].shape);
    }

    #[test]
    fn a_reversed_or_open_star_is_mended_to_the_same_ring(mut corners in star()) {
        let clean = read(&polygon(&format!("[{}]", ring_text(&corners)))).unwrap();
        // From the same first corner in the other direction.
        corners[1..].reverse();
        let turned = read(&polygon(&format!("[{}]", ring_text(&corners)))).unwrap();
        prop_assert_eq!(&turned.features[0].shape, &clean.features[0].shape);
        prop_assert!(turned.warnings.len() == 1 && turned.warnings[0].to_string().contains("wrong winding"));
        corners[1..].reverse();
        let open: Vec<String> = corners.iter().map(|(lon, lat)| format!("[{lon:?},{lat:?}]")).collect();
        let closed = read(&polygon(&format!("[[{}]]", open.join(",")))).unwrap();
        prop_assert_eq!(&closed.features[0].shape, &clean.features[0].shape);
        prop_assert!(closed.warnings.len() == 1 && closed.warnings[0].to_string().contains("they were closed"));
    }

    #[test]
    fn exchanging_two_neighbours_of_a_convex_ring_is_a_crossing(count in 5..200_usize, place in 0..200_usize, radius in 0.01..5.0_f64) {
        let step = std::f64::consts::TAU / count as f64;
        let mut corners: Vec<(f64, f64)> =
            (0..count).map(|n| (radius * (n as f64 * step).cos(), radius * (n as f64 * step).sin())).collect();
        corners.swap(place % count, (place + 1) % count);
        let layer = read(&polygon(&format!("[{}]", ring_text(&corners)))).unwrap();
        let said: Vec<String> = layer.warnings.iter().map(ToString::to_string).collect();
        prop_assert!(said.iter().any(|message| message.contains("crosses itself")), "{:?}", said);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[\[\]{}0-9a-z":,. ]{0,80}"#) {
        prop_assert!(read(&text).is_err());
    }

    #[test]
    fn no_coordinates_make_the_reader_panic(
        parts in prop::collection::vec(prop::collection::vec(prop::collection::vec((0..6_i32, 0..6_i32), 0..9), 0..4), 0..4)
    ) {
        let text = serde_json::to_string(&parts).unwrap();
        if let Ok(layer) = read(&multi_polygon(&text)) {
            let again = read(&collection(&[format!(r#"{{"type":"Feature","geometry":{}}}"#, rewritten(&layer))])).unwrap();
            prop_assert_eq!(&again.features[0].shape, &layer.features[0].shape);
            prop_assert!(again.warnings.iter().all(|problem| problem.feature.is_some()), "{:?}", again.warnings);
        }
    }
}
