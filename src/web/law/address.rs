//! Paths of reading pages, and the check of external addresses that they link to.

use std::fmt::Display;

use crate::api::as_of::AS_OF_NAME;
use crate::api::page_links::LAW_PATH;
use crate::percent;

/// The path of a node's page.
pub(in crate::web) fn path(id: impl Display) -> String {
    format!("{LAW_PATH}{id}")
}

/// The path of a node's page, with the day that the linking page names.
pub(in crate::web) fn path_on(id: impl Display, named_day: Option<&str>) -> String {
    path(id) + &day_parameter('?', named_day)
}

/// The parameter for the day, after the separator `sign`. Empty if no day is named.
pub(in crate::web) fn day_parameter(sign: char, named_day: Option<&str>) -> String {
    named_day.map_or_else(String::new, |day| format!("{sign}{AS_OF_NAME}={}", percent::encoded(day)))
}

/// Whether an address that a publisher supplied is an HTTP URL.
pub(super) fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
