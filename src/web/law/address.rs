//! Where reading pages are, and which addresses of others they link to.

use crate::api::as_of::AS_OF_NAME;
use crate::percent;

const LAW_PATH: &str = "/law/";

/// The page of a node.
pub(in crate::web) fn path(id: &str) -> String {
    format!("{LAW_PATH}{id}")
}

/// The same, with its law on the day that the page which leads there shows.
pub(in crate::web) fn path_on(id: &str, named_day: Option<&str>) -> String {
    match named_day {
        Some(day) => format!("{LAW_PATH}{id}?{}={}", AS_OF_NAME, percent::encoded(day)),
        None => path(id),
    }
}

/// Publishers may name anything as their address.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
