//! Zoning layers: reading and checking GeoJSON, linking zones to provisions, and the stored responses of the endpoint.
//!
//! A layer goes through four steps, one module each: `source` reads a GeoJSON FeatureCollection and refuses
//! structural errors, `topology` checks how its rings meet, `layer` joins features with the zones and provisions of
//! a mapping table and writes the response, `catalogue` stores it in three encodings and opens it again.
//! `feature_lookup` finds the features at a point, `labels` what the publisher wrote on them, `tiles` cuts them for
//! maps. `problem` defines all errors and warnings. The meaning of zone codes is not defined here, but in the importer.

/// The folder of the layers in a snapshot.
pub const DIRECTORY_NAME: &str = "zoning";

pub mod catalogue;
mod contacts;
pub mod feature_lookup;
pub mod labels;
pub mod layer;
pub mod problem;
mod raw;
mod rings;
pub mod shape;
pub mod source;
pub mod tiles;
mod topology;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
