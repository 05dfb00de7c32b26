//! A container that is open where a document is being read.

use crate::content::Handle;

/// In the citation template of a plan: the container that counts its sections from one.
pub(super) const CONTAINER: &str = "{container}";

/// In the citation template of a plan: the number of the outermost container, in which the numbers of sections are unique.
pub(super) const TITLE: &str = "{title}";

pub(super) struct Container {
    pub(super) rank: usize,
    pub(super) heading: String,
    pub(super) handle: Handle,
    pub(super) key: String,
    pub(super) citation: String,
    pub(super) number: Option<String>,
    /// How its sections name it: `art. I`.
    pub(super) short: String,
}
