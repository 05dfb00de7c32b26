//! Converts degrees to the grid of a tile.

use std::f64::consts::PI;

use super::address::{BUFFER, GRID, TileAddress, Vertex, ZOOM_MAX};
use crate::zoning::shape::{BoundingBox, Position};

/// The latitude at which the square of the Mercator projection ends.
const LATITUDE_MAX: f64 = 85.051_128_779_806_6;

/// Projects a position to units of a zoom, counted from the north-west corner of the world. At the highest zoom the
/// world is 2^29 units wide.
pub fn project(z: u8, lon: f64, lat: f64) -> Vertex {
    let side = f64::from(GRID) * f64::from(1_u32 << z);
    let x = (lon.clamp(-180.0, 180.0) + 180.0) / 360.0;
    let y = (1.0 - lat.clamp(-LATITUDE_MAX, LATITUDE_MAX).to_radians().tan().asinh() / PI) / 2.0;
    Vertex { x: (x * side).round() as i32, y: (y * side).round() as i32 }
}

/// The same, counted from the north-west corner of a tile.
pub(super) fn locate(tile: TileAddress, lon: f64, lat: f64) -> Vertex {
    let Vertex { x, y } = project(tile.z(), lon, lat);
    let corner = |number: u32| i32::try_from(number).unwrap_or(0) * GRID;
    Vertex { x: x - corner(tile.x()), y: y - corner(tile.y()) }
}

/// The tile that contains a position, at a zoom of the map.
pub fn tile_at(z: u8, at: Position) -> TileAddress {
    let place = project(z.min(ZOOM_MAX), at.lon, at.lat);
    let number = |units: i32| u32::try_from(units / GRID).unwrap_or(0);
    TileAddress::clamped(z, number(place.x), number(place.y))
}

/// The degrees that a tile with its buffer covers, and one more unit on each side for positions that are rounded
/// into it.
pub(super) fn reach(tile: TileAddress) -> BoundingBox {
    let units = f64::from(GRID) * f64::from(1_u32 << tile.z());
    let margin = f64::from(BUFFER + 1);
    let edge = |number: u32, units_more: f64| (f64::from(number) * f64::from(GRID) + units_more) / units;
    let lon = |x: f64| x * 360.0 - 180.0;
    // Positions nearer to the poles are placed on the upper and lower edges of the world.
    let lat = |y: f64| match y {
        y if y <= 0.0 => 90.0,
        y if y >= 1.0 => -90.0,
        y => (PI * (1.0 - 2.0 * y)).sinh().atan().to_degrees(),
    };
    BoundingBox([
        lon(edge(tile.x(), -margin)),
        lat(edge(tile.y() + 1, margin)),
        lon(edge(tile.x() + 1, margin)),
        lat(edge(tile.y(), -margin)),
    ])
}
