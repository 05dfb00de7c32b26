//! The state while a document is read: the current place, and the results so far.

use std::collections::{HashMap, HashSet};

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::lines::LineCounter;
use super::scheme::{Scheme, TitleNumber};
use crate::content::NodeHandle;
use crate::import::crosswalk::Dispositions;
use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::report::SourcePosition;

/// The state of reading a document.
pub(super) struct UslmReader<'r> {
    pub(super) document: &'r Document,
    pub(super) target: ImportTarget<'r>,
    pub(super) scheme: Scheme,
    pub(super) lines: LineCounter<'r>,
    /// The day on which the publisher made the document, if stated.
    pub(super) made: Option<String>,
    pub(super) parsed: Parsed,
    /// The keys of the containers so far.
    pub(super) containers: HashSet<String>,
    /// The laws of the acts in an appendix, by heading: `pl/92/463`.
    pub(super) acts: HashMap<String, String>,
    /// What the tables of the titles so far say about the sections of earlier codes.
    pub(super) dispositions: Dispositions,
}

/// The current place of the walk.
#[derive(Clone)]
pub(super) struct UslmPlace {
    pub(super) handle: Option<NodeHandle>,
    pub(super) key: String,
    pub(super) citation: String,
    pub(super) title: Option<TitleNumber>,
    /// The key of the title.
    pub(super) title_key: String,
    /// The law of an act in an appendix without identifiers.
    pub(super) act: Option<String>,
    /// The citation form of the court rules in this container.
    pub(super) rules: Option<&'static str>,
}

impl UslmPlace {
    /// The citation of a node in this place that has no number.
    pub(super) fn citation_of(&self, heading: &str) -> String {
        format!("{}, {heading}", self.citation)
    }
}

impl UslmReader<'_> {
    pub(super) fn position(&mut self, node: Node<'_, '_>) -> SourcePosition {
        self.document.position(self.lines.line_of(node.range().start))
    }

    /// A handle that no other element of any document has.
    pub(super) fn handle(&self, node: Node<'_, '_>) -> NodeHandle {
        NodeHandle::new(self.target.key, &format!("{}\n{}", self.document.place, node.range().start))
    }
}

/// A sort key by the position of an element in its document.
pub(super) fn by_place(node: Node<'_, '_>) -> SortKey {
    SortKey::of_number(&node.range().start.to_string())
}

/// The status that a document states, in the words of the schema.
pub(super) fn status_of(word: Option<&str>, unknown: &mut dyn FnMut(&str)) -> Option<Status> {
    match word?.trim() {
        "repealed" | "eliminated" | "terminated" | "rescinded" => Some(Status::Repealed),
        "reserved" => Some(Status::Reserved),
        "omitted" | "vacant" | "crossReference" => Some(Status::Omitted),
        "transferred" => Some(Status::Transferred),
        "renumbered" | "redesignated" => Some(Status::Renumbered),
        "expired" => Some(Status::Expired),
        "operational" | "enacted" | "" => None,
        other => {
            unknown(other);
            None
        }
    }
}
