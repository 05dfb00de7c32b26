//! Reads the levels from titles down to sections, and makes a node for each container and each provision.

use std::collections::{HashMap, HashSet};

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::disposition;
use super::edition;
use super::identifier::{container_part, key_of};
use super::left_out;
use super::lines::LineCounter;
use super::provision;
use super::reading::{UslmPlace, UslmReader, by_place, status_of};
use super::scheme::{Scheme, TitleNumber, name_of_rules};
use super::text::UslmTextBuilder;
use crate::content::{Content, ContentNote, NewNode, NodeHandle, OnRepeat};
use crate::import::crosswalk::Dispositions;
use crate::import::document::{Document, Parsed};
use crate::import::target::ImportTarget;
use crate::import::unknown::has_words;
use crate::order::SortKey;
use crate::report::WarningKind;

/// Reads everything below the root of a document.
pub(super) fn read(document: &Document, target: ImportTarget<'_>, scheme: Scheme, root: Node<'_, '_>) -> Parsed {
    let mut reading = UslmReader {
        document,
        target,
        scheme,
        lines: LineCounter::new(root.document().input_text()),
        made: made(root),
        parsed: Parsed::default(),
        containers: HashSet::new(),
        acts: acts_of(root),
        dispositions: Dispositions::default(),
    };
    let top = UslmPlace {
        handle: None,
        key: target.key.to_owned(),
        citation: target.code_body.to_owned(),
        title: number_of_document(root),
        title_key: String::new(),
        act: None,
        rules: None,
    };
    reading.below(root, &top);
    edition::apply(&mut reading, root);
    let words = loose(root);
    match reading.parsed.nodes.first_mut() {
        Some(first) if !words.is_empty() => {
            let (text, layout) = UslmTextBuilder::new(root).set(&words);
            first.content.notes.push(ContentNote { topic: "Text".to_owned(), text, layout });
        }
        None if !words.is_empty() => {
            let position = reading.position(root);
            reading.parsed.refuse(position, "the document contains words, but no title and no section");
        }
        _ => {}
    }
    reading.parsed
}

/// Whether an element repeats another part of the document, or is about the printed book.
pub(super) fn is_left_out(node: Node<'_, '_>) -> bool {
    ElementRole::of(node) == ElementRole::OmittedPart
}

/// Words directly below a container: everything in it that is neither part of the hierarchy nor its
/// names and notes.
fn loose<'a, 'd>(container: Node<'a, 'd>) -> Vec<Node<'a, 'd>> {
    let mut found = Vec::new();
    let (mut has_number, mut has_heading) = (false, false);
    for child in container.children() {
        let is_first = |seen: &mut bool| !std::mem::replace(seen, true);
        match (ElementRole::of(child), child.tag_name().name()) {
            (ElementRole::Wrapper, _) => found.extend(loose(child)),
            (ElementRole::PartOfParent, "num") if is_first(&mut has_number) => {}
            (ElementRole::PartOfParent, "heading") if is_first(&mut has_heading) => {}
            (ElementRole::Unknown, _) | (ElementRole::PartOfParent, "num" | "heading") => {
                found.extend(Some(child).filter(|_| has_words(child)));
            }
            _ => {}
        }
    }
    found
}

/// The date in `<dcterms:created>2024-12-18T07:56:31</dcterms:created>`.
fn made(root: Node<'_, '_>) -> Option<String> {
    let meta = root.children().find(|child| child.has_tag_name("meta"))?;
    let created = meta.children().find(|child| child.tag_name().name() == "created")?.text()?;
    created.trim().get(..10).filter(|day| crate::values::is_date(day)).map(str::to_owned)
}

/// The role of an element in the hierarchy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementRole {
    Container,
    Provision,
    /// A part of its parent, which is read with it.
    PartOfParent,
    /// An element that contains parts of the hierarchy without being a level itself.
    Wrapper,
    /// An element that repeats another part, or is about the printed book.
    OmittedPart,
    /// Text, and elements that have no place in the hierarchy.
    Unknown,
}

impl ElementRole {
    fn of(node: Node<'_, '_>) -> Self {
        match node.tag_name().name() {
            "title"
            | "subtitle"
            | "division"
            | "subdivision"
            | "chapter"
            | "subchapter"
            | "part"
            | "subpart"
            | "article"
            | "subarticle"
            | "appendix"
            | "compiledAct"
            | "courtRules"
            | "reorganizationPlans" => Self::Container,
            "section" | "courtRule" | "reorganizationPlan" => Self::Provision,
            "level" if node.children().any(|child| child.has_tag_name("content")) => Self::Provision,
            "level" => Self::Container,
            "num" | "heading" | "note" | "notes" | "sourceCredit" | "authority" | "source" | "editorialNote"
            | "crossHeading" => Self::PartOfParent,
            "main" => Self::Wrapper,
            "meta" | "toc" | "preface" | "backMatter" | "endMarker" | "leftRunningHead" | "rightRunningHead"
            | "ear" => Self::OmittedPart,
            _ => Self::Unknown,
        }
    }
}

impl UslmReader<'_> {
    fn below(&mut self, node: Node<'_, '_>, place: &UslmPlace) {
        for child in node.children().filter(Node::is_element) {
            match ElementRole::of(child) {
                ElementRole::Container => self.container(child, place),
                ElementRole::Provision => {
                    let provision = provision::read(self, child, place);
                    self.parsed.nodes.push(provision);
                }
                ElementRole::Wrapper => self.below(child, place),
                // `loose` finds unknown elements for the node directly above them.
                ElementRole::PartOfParent | ElementRole::OmittedPart | ElementRole::Unknown => {}
            }
        }
    }

    fn container(&mut self, node: Node<'_, '_>, above: &UslmPlace) {
        let position = self.position(node);
        let mut setter = UslmTextBuilder::new(node);
        let level = node.tag_name().name();
        let names = ContainerNames::read(node, &mut setter);
        let mut below = above.clone();
        if matches!(level, "title" | "appendix") && above.title_key.is_empty() {
            below.title = names.number.as_deref().and_then(TitleNumber::of).or(above.title.clone());
        }
        let number = match (level, &below.title) {
            ("title" | "appendix", Some(title)) if above.title_key.is_empty() => Some(title.in_full()),
            _ => names.number.clone(),
        };
        let key = self.container_key(node, level, number.as_deref(), &names.heading, above);
        if below.title_key.is_empty() {
            below.title_key.clone_from(&key);
        }
        match level {
            "compiledAct" => below.act = self.acts.get(&names.heading.to_lowercase()).cloned(),
            "courtRules" => below.rules = name_of_rules(&names.heading),
            _ => {}
        }
        below.citation = format!("{}, {}", above.citation, citation_part(level, number.as_deref(), &names.heading));
        let handle = NodeHandle::new(self.target.key, &format!("container\n{key}"));
        for note in node.children().filter(Node::is_element) {
            match note.tag_name().name() {
                "notes" => note.children().filter(|note| has_words(*note)).for_each(|note| setter.note(note)),
                "note" | "authority" | "source" | "editorialNote" | "crossHeading" => setter.note(note),
                "sourceCredit" => {
                    let credit = setter.plain(note);
                    setter.credits.push(credit);
                }
                _ => {}
            }
        }
        if let (Some(title), "title") = (&below.title, level) {
            disposition::read(node, &title.digits, &mut self.dispositions);
        }
        let content = Content {
            citation: below.citation.clone(),
            heading: names.full(node, level),
            level: level_name(level).to_owned(),
            number,
            status: status_of(node.attribute("status"), &mut |word| {
                let what = format!("the status '{word}' is unknown; treated as in force");
                self.parsed.warnings.push((WarningKind::UnknownStatus, position.clone(), what));
            }),
            notes: setter.notes,
            source_credit: Some(setter.credits.join(" ")).filter(|credit| !credit.is_empty()),
            reference: node.attribute("identifier").unwrap_or_default().to_owned(),
            source: self.target.source,
            ..Content::default()
        };
        left_out::name_signs(setter.repeated_signs, &mut self.parsed);
        let sort = self.container_order(&below, above, node);
        self.parsed.nodes.push(NewNode {
            handle,
            parent: above.handle,
            key: key.clone(),
            sort,
            on_repeat: OnRepeat::Share,
            content,
            position,
        });
        below.handle = Some(handle);
        below.key = key;
        self.introduction(node, &below);
        self.below(node, &below);
    }

    /// Adds law directly below a container as its first provision.
    fn introduction(&mut self, node: Node<'_, '_>, place: &UslmPlace) {
        let words = loose(node);
        let Some(&first) = words.first() else { return };
        let mut setter = UslmTextBuilder::new(node);
        let (text, layout) = setter.set(&words);
        let mut tags = self.target.tags.to_vec();
        tags.sort_unstable();
        let position = self.position(first);
        left_out::name_signs(setter.repeated_signs, &mut self.parsed);
        self.parsed.nodes.push(NewNode {
            handle: self.handle(first),
            parent: place.handle,
            key: format!("{}/introduction", place.key),
            sort: SortKey::default(),
            on_repeat: OnRepeat::Reconcile,
            content: Content {
                citation: place.citation_of("introductory text"),
                heading: "Introductory text".to_owned(),
                level: "text".to_owned(),
                status: Some(Status::InForce),
                text: Some(text),
                layout,
                notes: setter.notes,
                source_credit: Some(setter.credits.join(" ")).filter(|credit| !credit.is_empty()),
                tags,
                reference: node.attribute("identifier").unwrap_or_default().to_owned(),
                source: self.target.source,
                ..Content::default()
            },
            position,
        });
    }

    /// A title sorts by its number, the content of an appendix by its place, and everything else by
    /// its first provision.
    fn container_order(&self, own: &UslmPlace, above: &UslmPlace, node: Node<'_, '_>) -> SortKey {
        match (&own.title, above.title_key.is_empty()) {
            (Some(title), true) => SortKey::of_citation(&self.scheme.section(title, "0")),
            (Some(title), false) if title.is_appendix => by_place(node),
            _ => SortKey::default(),
        }
    }

    fn container_key(
        &mut self,
        node: Node<'_, '_>,
        level: &str,
        number: Option<&str>,
        heading: &str,
        above: &UslmPlace,
    ) -> String {
        // Acts and rules have identifiers only in some appendices, but headings in all.
        let is_named_by_heading = matches!(level, "compiledAct" | "courtRules" | "reorganizationPlans" | "level");
        let identifier = node.attribute("identifier").filter(|_| !is_named_by_heading).and_then(key_of);
        let number = number.filter(|_| !is_named_by_heading);
        let key = match identifier {
            Some(rest) => format!("{}/{rest}", self.target.key),
            None => format!("{}/{}", above.key, container_part(level, number, heading)),
        };
        let mut unique = key.clone();
        let mut repeats = 1;
        while !self.containers.insert(unique.clone()) {
            repeats += 1;
            unique = format!("{key}~{repeats}");
        }
        unique
    }
}

/// The number and heading of a container.
struct ContainerNames {
    /// The label as printed: `CHAPTER 1—`.
    label: String,
    number: Option<String>,
    heading: String,
}

impl ContainerNames {
    fn read<'a, 'd>(node: Node<'a, 'd>, setter: &mut UslmTextBuilder<'a, 'd>) -> Self {
        let child = |name: &'static str| node.children().find(move |child| child.has_tag_name(name));
        let num = child("num");
        let label = num.map(|num| setter.plain(num)).unwrap_or_default();
        let number = num.and_then(|num| num.attribute("value")).map(str::trim).filter(|value| !value.is_empty());
        let heading = child("heading").map(|heading| setter.plain(heading)).unwrap_or_default();
        Self { label, number: number.map(str::to_owned), heading }
    }

    /// The complete heading: `CHAPTER 1—SUBJECT MATTER AND SCOPE OF COPYRIGHT`.
    fn full(&self, node: Node<'_, '_>, level: &str) -> String {
        // In some appendices, the heading is only that of their first act.
        let first =
            node.children().filter_map(|child| child.children().find(|inner| inner.has_tag_name("heading"))).next();
        let repeats = level == "appendix"
            && first.and_then(|heading| heading.text()).is_some_and(|first| first.trim() == self.heading);
        match (self.label.as_str(), self.heading.as_str()) {
            (label, _) if repeats => label.to_owned(),
            ("", heading) => heading.to_owned(),
            (label, "") => label.to_owned(),
            (label, heading) if label.ends_with(['—', '–']) => format!("{label}{heading}"),
            (label, heading) if label.ends_with(['.', ':', ']']) => format!("{label} {heading}"),
            (label, heading) => format!("{label}—{heading}"),
        }
    }
}

/// The part of a citation: `Chapter 21`, or the heading of a container without a number.
fn citation_part(level: &str, number: Option<&str>, heading: &str) -> String {
    match number {
        Some(number) => {
            let mut name = if level == "appendix" { "title".to_owned() } else { level.to_owned() };
            name[..1].make_ascii_uppercase();
            format!("{name} {number}")
        }
        None => heading.to_owned(),
    }
}

fn level_name(name: &str) -> &str {
    match name {
        "compiledAct" => "act",
        "courtRules" => "rules",
        "reorganizationPlans" => "reorganization plans",
        "courtRule" => "rule",
        "reorganizationPlan" => "reorganization plan",
        "level" => "division",
        name => name,
    }
}

/// The number of the title, for documents whose title has no `num`.
fn number_of_document(root: Node<'_, '_>) -> Option<TitleNumber> {
    let number = root.descendants().take(64).find(|node| node.has_tag_name("docNumber"))?;
    TitleNumber::of(number.text()?)
}

/// The acts that appendices list, each with its law: `Inspector General Act of 1978 (Pub. L. 95–452)`.
fn acts_of(root: Node<'_, '_>) -> HashMap<String, String> {
    let appendices = root.children().filter(|node| node.has_tag_name("appendix"));
    let contents = appendices.flat_map(|node| node.children().filter(|child| child.has_tag_name("toc")));
    let columns = contents.flat_map(|toc| toc.descendants().filter(|node| node.has_tag_name("column")));
    let named = columns.filter_map(|column| {
        let (name, _) = column.text()?.split_once('(')?;
        let law = column.children().find_map(|child| child.attribute("href")?.strip_prefix("/us/"))?;
        Some((name.trim().to_lowercase(), law.to_owned()))
    });
    named.collect()
}
