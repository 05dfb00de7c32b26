//! A container that is open at the current place in a document.

use crate::content::NodeHandle;

/// Placeholder in the citation template of a plan: the container that numbers its sections from one.
pub(super) const CONTAINER: &str = "{container}";

/// Placeholder in the citation template of a plan: the number of the outermost container, within
/// which section numbers are unique.
pub(super) const TITLE: &str = "{title}";

pub(super) struct StateHtmlContainer {
    pub(super) rank: usize,
    pub(super) heading: String,
    pub(super) handle: NodeHandle,
    pub(super) key: String,
    pub(super) citation: String,
    pub(super) number: Option<String>,
    /// The short form in citations of its sections: `art. I`.
    pub(super) short: String,
}
