//! Reads titles, chapters and other containers of sections, and the documents that they include.

use std::collections::HashMap;

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::notes::Notes;
use super::source::{OpenLawDocument, child, elements, holds_sections, name, words, words_of};
use super::{href, section, status};
use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::import::levels::Label;
use crate::import::unknown::is_words;
use crate::includes::Include;
use crate::naming::NameParts;
use crate::order::SortKey;
use crate::report::WarningKind;

const XINCLUDE: &str = "http://www.w3.org/2001/XInclude";

/// Reads the root of a code, which includes its titles.
pub(super) fn code(source: &mut OpenLawDocument<'_, '_>, root: Node<'_, '_>) {
    let mut walk = ContainerWalk::new(source);
    walk.children(root, None);
    walk.add_general_notes(root);
}

/// Reads a container that is a separate document.
pub(super) fn document(source: &mut OpenLawDocument<'_, '_>, root: Node<'_, '_>) {
    let parent = source.document_handle(source.document.path());
    let sort = SortKey::of_number(&words_of(root, "num"));
    ContainerWalk::new(source).container(root, Some(parent), sort);
}

struct ContainerWalk<'w, 's, 'd> {
    source: &'w mut OpenLawDocument<'s, 'd>,
    /// Containers by parent and heading. Two with the same heading are one container.
    known: HashMap<(Option<NodeHandle>, String), (NodeHandle, usize)>,
    /// The file of the last included section.
    last_section: String,
}

impl<'w, 's, 'd> ContainerWalk<'w, 's, 'd> {
    fn new(source: &'w mut OpenLawDocument<'s, 'd>) -> Self {
        Self { source, known: HashMap::new(), last_section: String::new() }
    }

    /// Reads the children of a container. Everything after a subheading belongs below it, until the
    /// next subheading.
    fn children(&mut self, node: Node<'_, '_>, own: Option<NodeHandle>) {
        let mut below = own;
        for part in elements(node) {
            match name(part) {
                Some("subheading") => {
                    let heading = words(part);
                    below = Some(self.add(part, own, heading, "", Notes::default(), SortKey::default(), None));
                }
                Some("include") if part.tag_name().namespace() == Some(XINCLUDE) => self.include(part, below),
                Some("include") => self.children(part, below),
                Some("container") => self.container(part, below, SortKey::default()),
                Some("section") => section::add(self.source, part, below),
                Some("attachments") => elements(part).for_each(|part| self.attachment(part, own)),
                Some("attachment") => self.attachment(part, own),
                // All other elements are found by `loose`.
                _ => {}
            }
        }
    }

    /// Stores general information from the root, such as how the code is edited, in a node before all law.
    fn add_general_notes(&mut self, root: Node<'_, '_>) {
        let mut notes = Notes::of(root);
        let names = elements(root).filter(|part| matches!(name(*part), Some("num" | "prefix")));
        names.chain(unassigned_words(root)).for_each(|words| notes.add("Text", words));
        if !notes.is_empty() {
            self.add(root, None, "About this code".to_owned(), "", notes, SortKey::default(), None);
        }
    }

    fn container(&mut self, node: Node<'_, '_>, parent: Option<NodeHandle>, sort: SortKey) {
        let number = words_of(node, "num");
        let heading = heading_of(&words_of(node, "prefix"), &number, &words_of(node, "heading"));
        let mut notes = Notes::of(node);
        unassigned_words(node).for_each(|words| notes.add("Text", words));
        let reason = words_of(node, "reason");
        let by_reason = status::of_reason(&reason);
        if by_reason.is_none() || reason.contains(' ') {
            notes.add_words("Status", &reason);
        }
        let is_empty = !node.descendants().skip(1).any(|inner| matches!(name(inner), Some("include" | "section")));
        let by_heading = is_empty.then(|| status::of_heading(&words_of(node, "heading"), false));
        let sort = if sort.is_empty() && is_empty { self.after_last_section() } else { sort };
        let handle = self.add(node, parent, heading, &number, notes, sort, by_reason.or(by_heading));
        self.children(node, Some(handle));
    }

    /// An attachment that contains sections becomes a container at the end.
    fn attachment(&mut self, node: Node<'_, '_>, parent: Option<NodeHandle>) {
        if holds_sections(node) {
            let heading = heading_of(&words_of(node, "prefix"), &words_of(node, "num"), &words_of(node, "heading"));
            let handle = self.add(node, parent, heading, "", Notes::default(), SortKey::of_number("999999A"), None);
            self.children(node, Some(handle));
        }
    }

    fn include(&mut self, node: Node<'_, '_>, below: Option<NodeHandle>) {
        if let Some(attribute) = node.attributes().find(|attribute| attribute.name() != "href") {
            let what = format!(
                "an include with '{}' is not supported; only whole XML files can be included",
                attribute.name()
            );
            return self.source.refuse(node, what);
        }
        match href::resolve(self.source.document.path(), node.attribute("href").unwrap_or_default()) {
            Ok(path) if self.source.lacks(&path) => {
                let what = format!("'{path}' is included here, but the plan lists it as absent; its law is missing");
                self.source.warn(WarningKind::AbsentDocument, node, what);
            }
            Ok(path) => {
                let file = path.rsplit('/').next().unwrap_or_default();
                self.last_section = file.strip_suffix(".xml").unwrap_or(file).to_owned();
                let document = self.source.document_handle(&path);
                let position = self.source.position(node);
                self.source.parsed.includes.push(Include { document, below, position, name: path });
            }
            Err(what) => self.source.refuse(node, what),
        }
    }

    /// The sort key of a container without any number: after the last section.
    fn after_last_section(&self) -> SortKey {
        SortKey::of_citation(&format!("{}~", self.last_section))
    }

    #[expect(clippy::too_many_arguments, reason = "each caller gathers the parts of a container differently")]
    fn add(
        &mut self,
        node: Node<'_, '_>,
        parent: Option<NodeHandle>,
        heading: String,
        number: &str,
        notes: Notes,
        sort: SortKey,
        status: Option<Status>,
    ) -> NodeHandle {
        let (notes, source_credit) = notes.finish();
        if let Some(&(handle, place)) = self.known.get(&(parent, heading.clone())) {
            self.source.parsed.nodes[place].content.notes.extend(notes);
            return handle;
        }
        let target = self.source.target;
        let label = Label::of(&heading);
        let name_parts = NameParts {
            key: label.key_part(&heading),
            citation: label.citation_part(&heading),
            number: if self.source.joins_numbers() { number.to_owned() } else { String::new() },
        };
        let handle = self.source.handle(node);
        let new = NewNode {
            handle,
            parent,
            key: target.key.to_owned(),
            sort,
            on_repeat: OnRepeat::Reconcile,
            content: Content {
                citation: target.code_body.to_owned(),
                level: label.level.to_ascii_lowercase(),
                number: label.number.map(str::to_owned),
                heading: heading.clone(),
                status,
                notes,
                source_credit,
                reference: self.source.document.path().to_owned(),
                source: target.source,
                name_parts: Some(name_parts),
                ..Content::default()
            },
            position: self.source.position(node),
        };
        self.known.insert((parent, heading), (handle, self.source.parsed.nodes.len()));
        self.source.parsed.nodes.push(new);
        handle
    }
}

/// Words directly in a container that are not its names, its notes or its content.
fn unassigned_words<'t, 'd: 't>(node: Node<'t, 'd>) -> impl Iterator<Item = Node<'t, 'd>> {
    let is_name = move |part: Node<'t, 'd>| {
        matches!(name(part), Some("num" | "prefix" | "heading" | "reason"))
            && child(node, name(part).unwrap_or_default()) == Some(part)
    };
    let is_read = move |part: Node<'t, 'd>| match name(part) {
        None => !is_words(part),
        Some("annotation" | "annotations" | "attachments" | "container" | "include" | "meta" | "section") => true,
        Some("subheading" | "toc") => true,
        Some("attachment") => holds_sections(part),
        Some(_) => is_name(part),
    };
    node.children().filter(move |part| !is_read(*part))
}

/// The heading of a container: `Chapter 1. Advisory Commission on Sentencing.`
fn heading_of(prefix: &str, number: &str, heading: &str) -> String {
    let label = [prefix, number].join(" ");
    let label = label.trim();
    match (label, heading) {
        ("", heading) => heading.to_owned(),
        (label, heading) => format!("{label}. {heading}").trim().to_owned(),
    }
}
