//! Properties of tiles: no feature is missing, no vertex is outside the buffer or moves further than a unit, and
//! nothing panics.

use std::f64::consts::PI;

use geo::{BooleanOps, Coord, Distance, Euclidean, Intersects, Line, LineString, MultiPolygon, Point, Polygon, Rect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::address::{BUFFER, GRID, TileAddress, TileRing, Vertex, ZOOM_MAX};
use super::clip::{TileFeature, clip_features};
use super::legend::Legend;
use crate::zoning::feature_lookup::LayerFeatures;

/// Maximum distance by which rounding to the grid moves a vertex, and a little more for rounding errors of the test.
const MOVED_MAX: f64 = 0.72;

/// Maximum distance by which a shape without width grows: the diagonal of a square of minimum width.
const GROWN_MAX: f64 = 2.0 * std::f64::consts::SQRT_2;

type Rings = Vec<Vec<[f64; 2]>>;

fn layer(shapes: &[Rings]) -> (LayerFeatures, Legend) {
    layer_of(&shapes.iter().map(|rings| json!({ "type": "Polygon", "coordinates": rings })).collect::<Vec<_>>())
}

fn layer_of(geometries: &[Value]) -> (LayerFeatures, Legend) {
    let features = geometries.iter().enumerate().map(|(place, geometry)| {
        let category = if place % 3 == 2 { Value::Null } else { json!(format!("C{}", place % 3)) };
        let zone = json!({ "zoneCode": format!("Z{}", place % 10), "zoneName": null, "category": category,
                           "citation": null, "nodeId": null, "citationStatus": "placeholder" });
        json!({ "type": "Feature", "id": place, "properties": zone, "geometry": geometry })
    });
    let body = json!({ "geojson": { "features": features.collect::<Vec<_>>() } });
    let places = LayerFeatures::read(body.to_string().as_bytes()).unwrap();
    let legend = Legend::of(&places, &["Z0", "Z1", "Z2", "Z3", "Z4", "Z5", "Z6", "Z7", "Z8", "Z9"]).unwrap();
    (places, legend)
}

fn cut_all(shapes: &[Rings], tile: TileAddress) -> Vec<TileFeature> {
    let (places, legend) = layer(shapes);
    clip_features(&places, &legend, tile)
}

/// The Mercator projection of the textbooks, in units of the tile, not rounded.
fn projected(tile: TileAddress, [lon, lat]: [f64; 2]) -> Coord<f64> {
    let units = f64::from(GRID) * 2_f64.powi(i32::from(tile.z()));
    let lat = lat.clamp(-85.051_128_779_806_6, 85.051_128_779_806_6).to_radians();
    let x = (lon + 180.0) / 360.0 * units - f64::from(tile.x()) * f64::from(GRID);
    let y = (1.0 - (PI / 4.0 + lat / 2.0).tan().ln() / PI) / 2.0 * units - f64::from(tile.y()) * f64::from(GRID);
    Coord { x, y }
}

fn projected_shape(tile: TileAddress, rings: &Rings) -> Polygon<f64> {
    let mut lines = rings.iter().map(|ring| ring.iter().map(|at| projected(tile, *at)).collect::<LineString<f64>>());
    Polygon::new(lines.next().unwrap(), lines.collect())
}

/// The degrees of a position that is given in units of a tile.
fn degrees(tile: TileAddress, x: f64, y: f64) -> [f64; 2] {
    let units = f64::from(GRID) * 2_f64.powi(i32::from(tile.z()));
    let x = (f64::from(tile.x()) * f64::from(GRID) + x) / units;
    let y = (f64::from(tile.y()) * f64::from(GRID) + y) / units;
    // Layers have no positions outside of the world.
    [(x * 360.0 - 180.0).clamp(-180.0, 180.0), (PI * (1.0 - 2.0 * y)).sinh().atan().to_degrees()]
}

/// A ring that runs around a middle, so that it does not cross itself. Sizes are in units of the tile.
fn star(tile: TileAddress, middle: (f64, f64), radii: &[f64], is_hole: bool) -> Vec<[f64; 2]> {
    let step = 2.0 * PI / radii.len() as f64;
    let mut ring: Vec<[f64; 2]> = radii
        .iter()
        .enumerate()
        .map(|(place, radius)| {
            let angle = step * place as f64;
            degrees(tile, middle.0 + radius * angle.cos(), middle.1 - radius * angle.sin())
        })
        .collect();
    ring.push(ring[0]);
    if is_hole {
        ring.reverse();
    }
    ring
}

fn segments(ring: &TileRing) -> Vec<Line<f64>> {
    let coord = |v: Vertex| Coord { x: f64::from(v.x), y: f64::from(v.y) };
    (0..ring.len()).map(|at| Line::new(coord(ring[at]), coord(ring[(at + 1) % ring.len()]))).collect()
}

fn area_doubled(ring: &TileRing) -> i64 {
    let pairs = ring.iter().zip(ring.iter().cycle().skip(1));
    pairs.map(|(a, b)| i64::from(a.x) * i64::from(b.y) - i64::from(b.x) * i64::from(a.y)).sum()
}

fn tile_near(z: u8, (lon, lat): (f64, f64)) -> TileAddress {
    let side = 2_f64.powi(i32::from(z));
    let Coord { x, y } = projected(TileAddress::new(0, 0, 0).unwrap(), [lon, lat]);
    let number = |units: f64| (units / f64::from(GRID) * side).floor().clamp(0.0, side - 1.0) as u32;
    TileAddress::new(u32::from(z), number(x), number(y)).unwrap()
}

fn tiles() -> impl Strategy<Value = TileAddress> {
    (0..=ZOOM_MAX, -179.0..179.0_f64, -84.0..84.0_f64).prop_map(|(z, lon, lat)| tile_near(z, (lon, lat)))
}

/// Stars with sizes from far below a unit to several tiles, some of them with a hole of half their size.
fn stars() -> impl Strategy<Value = (TileAddress, Rings)> {
    let size = prop_oneof![0.01..2.0_f64, 2.0..80.0_f64, 80.0..6_000.0_f64];
    let middle = (-400.0..2_400.0_f64, -400.0..2_400.0_f64);
    (tiles(), middle, size, prop::collection::vec(0.3..1.0_f64, 3..40), any::<bool>()).prop_map(
        |(tile, middle, size, radii, has_hole)| {
            let of = |share: f64| radii.iter().map(|radius| radius * size * share).collect::<Vec<_>>();
            let mut rings = vec![star(tile, middle, &of(1.0), false)];
            if has_hole {
                rings.push(star(tile, middle, &of(0.5), true));
            }
            (tile, rings)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn features_of_a_tile_are_complete_and_inside_its_buffer((tile, rings) in stars()) {
        let found = cut_all(std::slice::from_ref(&rings), tile);
        let whole = Rect::new(Coord { x: 0.0, y: 0.0 }, Coord { x: f64::from(GRID), y: f64::from(GRID) });
        if projected_shape(tile, &rings).intersects(&whole) {
            prop_assert_eq!(found.len(), 1, "a feature is missing");
        }
        for feature in &found {
            prop_assert!(area_doubled(&feature.rings[0]) > 0, "a shape without an area");
            for vertex in feature.rings.iter().flatten() {
                let is_within = |at: i32| (-BUFFER..=GRID + BUFFER).contains(&at);
                prop_assert!(is_within(vertex.x) && is_within(vertex.y), "{vertex:?} sticks out");
            }
        }
    }

    #[test]
    fn a_shape_moves_by_less_than_a_unit((tile, rings) in stars()) {
        let shape = projected_shape(tile, &rings);
        let reach = f64::from(GRID);
        let is_in_tile = |c: &Coord<f64>| (0.0..reach).contains(&c.x) && (0.0..reach).contains(&c.y);
        for feature in cut_all(std::slice::from_ref(&rings), tile) {
            let lines: Vec<Line<f64>> = feature.rings.iter().flat_map(segments).collect();
            // Every vertex of the source is near the outline in the tile.
            for corner in shape.exterior().coords().filter(|corner| is_in_tile(corner)) {
                let nearest = lines.iter().map(|line| Euclidean.distance(&Point(*corner), line)).fold(f64::MAX, f64::min);
                prop_assert!(nearest <= MOVED_MAX, "{nearest} from {corner:?}");
            }
            // And every vertex of the outline in the tile is near the outline of the source.
            let vertices = feature.rings.iter().flatten().map(|v| Coord { x: f64::from(v.x), y: f64::from(v.y) });
            for vertex in vertices.filter(is_in_tile) {
                let edges = std::iter::once(shape.exterior()).chain(shape.interiors()).flat_map(LineString::lines);
                let nearest = edges.map(|edge| Euclidean.distance(&Point(vertex), &edge)).fold(f64::MAX, f64::min);
                prop_assert!(nearest <= MOVED_MAX + GROWN_MAX, "{nearest} from {vertex:?}");
            }
        }
    }

    #[test]
    fn neighbours_share_their_border_without_gaps_or_overlaps(
        tile in tiles(),
        border in prop::collection::vec(600.0..1_400.0_f64, 2..60),
    ) {
        // A square of whole units, divided by a line from top to bottom.
        let step = 1_800.0 / (border.len() - 1) as f64;
        let line: Vec<[f64; 2]> =
            border.iter().enumerate().map(|(at, x)| degrees(tile, *x, 100.0 + step * at as f64)).collect();
        let corner = |x: f64, y: f64| degrees(tile, x, y);
        let mut left = vec![corner(100.0, 100.0), corner(100.0, 1_900.0)];
        left.extend(line.iter().rev().copied());
        left.push(left[0]);
        let mut right = vec![corner(1_900.0, 1_900.0), corner(1_900.0, 100.0)];
        right.extend(line.iter().copied());
        right.push(right[0]);
        let found = cut_all(&[vec![left], vec![right]], tile);
        prop_assert_eq!(found.len(), 2);
        let area: i64 = found.iter().flat_map(|feature| &feature.rings).map(area_doubled).sum();
        prop_assert_eq!(area, 2 * 1_800 * 1_800);
    }

    #[test]
    fn no_geometry_makes_it_panic(
        (z, lon, lat) in (0..=ZOOM_MAX, -180.0..=180.0_f64, -90.0..=90.0_f64),
        rings in prop::collection::vec(
            prop::collection::vec(
                (prop_oneof![Just(-180.0), Just(180.0), Just(0.0), -180.0..180.0_f64],
                 prop_oneof![Just(-90.0), Just(90.0), Just(0.0), -90.0..90.0_f64]).prop_map(|(x, y)| [x, y]),
                0..9,
            ),
            1..4,
        ),
        repeated in 1..5_usize,
    ) {
        let same = vec![[lon, lat]; repeated];
        for feature in cut_all(&[rings, vec![same]], tile_near(z, (lon, lat))) {
            prop_assert!(feature.rings.iter().flatten().all(|v| v.x >= -BUFFER && v.x <= GRID + BUFFER && v.y >= -BUFFER && v.y <= GRID + BUFFER));
        }
    }

    #[test]
    fn clipping_keeps_the_area_that_an_independent_library_finds((tile, rings) in stars()) {
        // A star that the edge of the world cuts off runs back and forth along it, so that libraries give it no
        // useful area.
        prop_assume!(rings.iter().flatten().all(|[lon, _]| lon.abs() < 180.0));
        let whole = f64::from(GRID + 2 * BUFFER);
        let low = -f64::from(BUFFER);
        let buffered = Rect::new(Coord { x: low, y: low }, Coord { x: low + whole, y: low + whole }).to_polygon();
        let expected: MultiPolygon<f64> = projected_shape(tile, &rings).intersection(&buffered);
        let expected = geo::Area::unsigned_area(&expected);
        let found: i64 = cut_all(std::slice::from_ref(&rings), tile).iter().flat_map(|one| &one.rings).map(area_doubled).sum();
        let found = found as f64 / 2.0;
        // Each edge moves by less than a unit.
        let length: f64 = geo::Length::length(&Euclidean, projected_shape(tile, &rings).exterior());
        let bound = (MOVED_MAX + GROWN_MAX) * 2.0 * (length.min(12.0 * whole) + 4.0);
        prop_assert!((found - expected).abs() <= bound, "{found} instead of {expected}, bound {bound}");
    }
}

#[test]
fn small_and_narrow_zones_keep_a_shape_at_every_zoom() {
    // A lot of ten metres, and an alley.
    let (lon, lat) = (-87.63, 41.88);
    let at = |x: f64, y: f64| [lon + x * 1e-5, lat + y * 1e-5];
    let lot = vec![vec![at(0.0, 0.0), at(10.0, 0.0), at(10.0, 10.0), at(0.0, 10.0), at(0.0, 0.0)]];
    let alley = vec![vec![at(0.0, 0.0), at(900.0, 700.0), at(900.0, 702.0), at(0.0, 2.0), at(0.0, 0.0)]];
    for z in 0..=ZOOM_MAX {
        let found = cut_all(&[lot.clone(), alley.clone()], tile_near(z, (lon, lat)));
        assert_eq!(found.len(), 2, "at zoom {z}");
        assert!(found.iter().all(|feature| feature.rings.iter().all(|ring| area_doubled(ring) > 0)), "at zoom {z}");
    }
}

#[test]
fn at_the_last_zoom_a_shape_is_that_of_the_source_to_ten_centimetres() {
    let (lon, lat) = (-87.629_8, 41.878_1);
    let tile = tile_near(ZOOM_MAX, (lon, lat));
    let ring = star(tile, (1_000.0, 1_000.0), &[400.0, 90.0, 700.0, 350.0, 20.0, 610.0], false);
    let found = cut_all(std::slice::from_ref(&vec![ring.clone()]), tile);
    let metres_per_degree = 111_320.0;
    for corner in &ring {
        let near = found[0].rings[0].iter().map(|v| {
            let [x, y] = degrees(tile, f64::from(v.x), f64::from(v.y));
            ((x - corner[0]) * lat.to_radians().cos()).hypot(y - corner[1]) * metres_per_degree
        });
        let near = near.fold(f64::MAX, f64::min);
        assert!(near < 0.1, "{near} m");
    }
}

#[test]
fn parts_and_holes_are_told_apart_by_their_direction() {
    let tile = tile_near(12, (10.0, 50.0));
    let part = |x: f64, is_hole: bool| star(tile, (x, 500.0), &[if is_hole { 60.0 } else { 200.0 }; 8], is_hole);
    let parts = json!([[part(300.0, false), part(300.0, true)], [part(900.0, false)]]);
    let (places, legend) = layer_of(&[json!({ "type": "MultiPolygon", "coordinates": parts })]);
    let found = clip_features(&places, &legend, tile);
    let signs: Vec<i64> = found[0].rings.iter().map(|ring| area_doubled(ring).signum()).collect();
    assert_eq!(signs, [1, -1, 1]);
}

#[test]
fn at_the_edges_of_the_world_nothing_wraps_around() {
    let east = vec![vec![[179.0, 10.0], [180.0, 10.0], [180.0, 11.0], [179.0, 11.0], [179.0, 10.0]]];
    let north = vec![vec![[-10.0, 86.0], [10.0, 86.0], [10.0, 89.0], [-10.0, 89.0], [-10.0, 86.0]]];
    let shapes = [east, north];
    let tile = |x, y| cut_all(&shapes, TileAddress::new(3, x, y).unwrap());
    assert_eq!(tile(7, 3).iter().map(|one| one.number).collect::<Vec<_>>(), [0]);
    assert_eq!(tile(0, 3), []);
    assert_eq!(tile(3, 0).iter().map(|one| one.number).collect::<Vec<_>>(), [1], "beyond the edge it lies on the edge");
}

#[test]
fn a_legend_counts_categories_and_finds_zones() {
    let square = |at: f64| vec![vec![[at, 0.0], [at + 1.0, 0.0], [at + 1.0, 1.0], [at, 1.0], [at, 0.0]]];
    let (_, legend) = layer(&(0..12).map(|at| square(f64::from(at))).collect::<Vec<_>>());
    let names: Vec<_> = legend.categories().iter().map(|one| (one.name.as_deref(), one.features)).collect();
    assert_eq!(names, [(None, 4), (Some("C0"), 4), (Some("C1"), 4)]);
    assert_eq!((legend.zone_of(11), legend.category_of(11), legend.category_of(0)), (1, 0, 1));
    assert_eq!(legend.extent_of_zone(1).0, [1.0, 0.0, 12.0, 1.0], "features 1 and 11");
    assert!(Legend::of(&layer(&[square(0.0)]).0, &["Z9"]).is_err(), "a zone that the list lacks");
}

#[test]
fn there_are_no_tiles_beyond_the_world() {
    assert!(TileAddress::new(0, 0, 0).is_some());
    assert!(TileAddress::new(18, (1 << 18) - 1, 0).is_some());
    for (z, x, y) in [(0, 1, 0), (0, 0, 1), (18, 1 << 18, 0), (19, 0, 0), (300, 0, 0)] {
        assert_eq!(TileAddress::new(z, x, y), None, "{z} {x} {y}");
    }
}
