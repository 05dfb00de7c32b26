//! Where reading pages are.

const LAW_PATH: &str = "/law/";

/// The page of a node.
pub(in crate::web) fn path(id: &str) -> String {
    format!("{LAW_PATH}{id}")
}
