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
    path(id) + &day_parameter('?', named_day)
}

/// The parameter of the day, behind the sign that parts it from what is before; nothing where no day is named.
pub(in crate::web) fn day_parameter(sign: char, named_day: Option<&str>) -> String {
    named_day.map_or_else(String::new, |day| format!("{sign}{AS_OF_NAME}={}", percent::encoded(day)))
}

/// Publishers may name anything as their address.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
