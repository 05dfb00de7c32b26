//! The document being parsed, and the results so far.

use roxmltree::{Document as Tree, Node};

use crate::content::NodeHandle;
use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::import::unknown::is_words;
use crate::import::xml;
use crate::report::{SourcePosition, WarningKind};

pub(super) const JOINED_NUMBERS: &str = "joined_numbers";
/// Path suffixes of included documents that the publisher's files lack.
pub(super) const ABSENT: &str = "absent";
/// Elements for editors are in namespaces such as `https://open.law/schemas/codify`.
const EDITORS: &str = "/codif";

pub(super) struct OpenLawDocument<'s, 'd> {
    pub(super) document: &'s Document,
    tree: &'s Tree<'d>,
    pub(super) target: ImportTarget<'s>,
    pub(super) parsed: Parsed,
}

impl<'s, 'd> OpenLawDocument<'s, 'd> {
    pub(super) fn new(document: &'s Document, tree: &'s Tree<'d>, target: ImportTarget<'s>) -> Self {
        Self { document, tree, target, parsed: Parsed::default() }
    }

    pub(super) fn joins_numbers(&self) -> bool {
        self.target.options.get(JOINED_NUMBERS).and_then(toml::Value::as_bool).unwrap_or(false)
    }

    /// Whether the plan states that the document at this path is missing.
    pub(super) fn lacks(&self, path: &str) -> bool {
        let absent = self.target.options.get(ABSENT).and_then(toml::Value::as_array);
        let mut ends = absent.into_iter().flatten().filter_map(toml::Value::as_str);
        ends.any(|end| path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/')))
    }

    pub(super) fn position(&self, node: Node<'_, '_>) -> SourcePosition {
        self.document.position(xml::line_of(self.tree, node))
    }

    /// The handle of a node. No two nodes of a document begin at the same byte.
    pub(super) fn handle(&self, node: Node<'_, '_>) -> NodeHandle {
        NodeHandle::new(self.target.key, &format!("{}\n{}", self.document.path(), node.range().start))
    }

    /// The parent handle of the outermost node of the document at this path.
    pub(super) fn document_handle(&self, path: &str) -> NodeHandle {
        NodeHandle::new(self.target.key, &format!("document\n{path}"))
    }

    pub(super) fn refuse(&mut self, node: Node<'_, '_>, what: impl Into<String>) {
        let position = self.position(node);
        self.parsed.refuse(position, what);
    }

    pub(super) fn warn(&mut self, kind: WarningKind, node: Node<'_, '_>, what: impl Into<String>) {
        let position = self.position(node);
        self.parsed.warn(kind, position, what);
    }
}

/// The name of an element of the law; None for text, comments and elements for editors.
pub(super) fn name<'d>(node: Node<'_, 'd>) -> Option<&'d str> {
    let namespace = node.tag_name().namespace().unwrap_or_default();
    (node.is_element() && !namespace.contains(EDITORS)).then(|| node.tag_name().name())
}

/// Elements of the law within a node.
pub(super) fn elements<'t, 'd>(node: Node<'t, 'd>) -> impl Iterator<Item = Node<'t, 'd>> {
    node.children().filter(|child| name(*child).is_some())
}

/// Elements of the law within a node, and words outside of them.
pub(super) fn whole_parts<'t, 'd>(node: Node<'t, 'd>) -> impl Iterator<Item = Node<'t, 'd>> {
    node.children().filter(|child| name(*child).is_some() || is_words(*child))
}

pub(super) fn child<'t, 'd>(node: Node<'t, 'd>, wanted: &str) -> Option<Node<'t, 'd>> {
    elements(node).find(|child| name(*child) == Some(wanted))
}

/// Whether a node contains sections at any depth.
pub(super) fn holds_sections(node: Node<'_, '_>) -> bool {
    node.descendants().any(|inner| name(inner) == Some("section"))
}

/// The words of a child, with normalized white space and without annotations.
pub(super) fn words_of(node: Node<'_, '_>, wanted: &str) -> String {
    child(node, wanted).map(words).unwrap_or_default()
}

pub(super) fn words(node: Node<'_, '_>) -> String {
    let mut all = String::new();
    collect(node, &mut all);
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collect(node: Node<'_, '_>, all: &mut String) {
    for child in node.children() {
        match name(child) {
            None if child.is_text() => all.push_str(child.text().unwrap_or_default()),
            None | Some("annotation" | "annotations") => {}
            Some("br") => all.push(' '),
            Some(_) => collect(child, all),
        }
    }
}
