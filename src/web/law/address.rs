//! Where reading pages are, and which addresses of others they link to.

const LAW_PATH: &str = "/law/";

/// The page of a node.
pub(in crate::web) fn path(id: &str) -> String {
    format!("{LAW_PATH}{id}")
}

/// Publishers may name anything as their address.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
