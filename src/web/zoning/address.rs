//! Where zoning maps are.

pub(in crate::web) const ZONING_PATH: &str = "/zoning";

/// The page of a layer.
pub(in crate::web) fn path(short_code: &str) -> String {
    format!("{ZONING_PATH}/{short_code}")
}
