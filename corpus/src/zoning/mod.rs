//! Zoning layers: reading and checking GeoJSON, tying zones to provisions, and the stored answers of the zoning endpoint.
//!
//! A layer goes through four steps, one module each: `source` reads a GeoJSON FeatureCollection and refuses what is
//! structurally wrong, `topology` looks at how its rings meet, `layer` joins the features with the zones and provisions
//! that a mapping table names and renders the answer, `catalogue` stores it in three encodings and opens it again.
//! `places` tells which features of a stored layer lie at a point.
//! `problem` is what all of them report. What a zone code means is not known here: that is the importer's part.

/// The folder of the layers in a snapshot.
pub const DIRECTORY_NAME: &str = "zoning";

pub mod catalogue;
mod contacts;
pub mod layer;
pub mod places;
pub mod problem;
mod raw;
mod rings;
pub mod shape;
pub mod source;
mod topology;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
