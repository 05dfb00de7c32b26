//! Map tiles: the features of a layer that are in one square of the map, on a grid of integers.
//!
//! The tiles are the usual ones of web maps: at zoom z the world in the Mercator projection is a square of 2^z by
//! 2^z tiles, counted from the north-west. Coordinates run from 0 to `address::GRID` within a tile. Rounding to
//! this grid simplifies shapes: it moves a vertex by less than one unit, and neighbours that share vertices still
//! share them, so that no gaps open between zones. Zones that are too small for the grid keep a minimal shape. At
//! `address::ZOOM_MAX` a unit is 7 cm.
//!
//! `address` identifies tiles, `grid` projects and rounds, `outline` simplifies, clips and thickens rings, `legend`
//! lists the zones and categories of features, `cut` creates a tile.

pub mod address;
pub mod clip;
pub mod grid;
pub mod legend;
mod outline;
#[cfg(test)]
mod tests;
