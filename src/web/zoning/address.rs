//! Paths of zoning maps.

pub(in crate::web) const ZONING_PATH: &str = "/zoning";

/// The path of a layer's page.
pub(in crate::web) fn path(short_code: &str) -> String {
    format!("{ZONING_PATH}/{short_code}")
}
