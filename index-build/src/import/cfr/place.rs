//! The current place in the code while a document is read, and the nodes made from it.

use std::collections::HashSet;

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::effect::{effect_of, effect_of_container, wording};
use super::elements::Elements;
use super::names::{self, Attachment, CfrLevel, CfrNumbers};
use super::text::CfrText;
use crate::content::{Content, ContentNote, NewNode, NodeHandle, OnRepeat};
use crate::effect::Effect;
use crate::import::document::{Document, Parsed, REPEATED_HEADING};
use crate::import::slug::slug;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::report::{SourcePosition, WarningKind};

/// The containers around the current place, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct CfrPlace {
    above: Vec<OpenContainer>,
}

#[derive(Clone, Debug)]
struct OpenContainer {
    level: CfrLevel,
    number: Option<String>,
    key: String,
    citation: String,
    handle: NodeHandle,
    /// What its notes say about when everything in it is law.
    effect: Effect,
}

impl CfrPlace {
    fn number(&self, level: CfrLevel) -> Option<&str> {
        self.above.iter().find(|above| above.level == level)?.number.as_deref()
    }

    /// The number of the title, which begins every citation.
    pub(crate) fn title(&self) -> &str {
        self.number(CfrLevel::Title).unwrap_or_default()
    }

    /// The containers from the title down to this level.
    fn down_to(&self, level: CfrLevel) -> &[OpenContainer] {
        let end = self.above.iter().position(|above| above.level > level).unwrap_or(self.above.len());
        &self.above[..end]
    }
}

/// The state of reading a document.
pub(crate) struct CfrReader<'r> {
    target: ImportTarget<'r>,
    document: &'r Document,
    /// The start of each line.
    lines: Vec<usize>,
    pub(crate) parsed: Parsed,
    keys: HashSet<String>,
    attachments: usize,
}

impl<'r> CfrReader<'r> {
    pub(crate) fn new(document: &'r Document, target: ImportTarget<'r>) -> Self {
        let lines = memchr::memchr_iter(b'\n', &document.bytes).collect();
        Self { target, document, lines, parsed: Parsed::default(), keys: HashSet::new(), attachments: 0 }
    }

    pub(crate) fn position(&self, node: Node<'_, '_>) -> SourcePosition {
        let start = node.range().start;
        self.document.position(1 + self.lines.partition_point(|line| *line < start) as u32)
    }

    /// Enters a container and creates its node, unless this document already has it. Leaves
    /// containers at its level or below.
    pub(crate) fn enter(&mut self, place: &CfrPlace, container: CfrContainer<'_>, node: Node<'_, '_>) -> CfrPlace {
        let CfrContainer { level, number, heading, mut elements, is_whole } = container;
        let above = place.above.iter().position(|above| above.level >= level).unwrap_or(place.above.len());
        let mut place = CfrPlace { above: place.above[..above].to_vec() };
        let parent = place.above.last();
        let number = number.map(str::to_owned).or_else(|| level.number_in(heading));
        let body = (self.target.key.to_owned(), self.target.code_body.to_owned());
        let (key, citation) = parent.map_or(body, |above| (above.key.clone(), above.citation.clone()));
        let mut key = format!("{key}/{}", level.key_part(number.as_deref(), heading));
        let citation = format!("{citation}, {}", level.citation_part(number.as_deref(), heading));
        if level >= CfrLevel::Subpart {
            // Headings below parts repeat. Containers of higher levels are identified by their numbers.
            let plain = key.clone();
            let mut count = 1;
            while self.keys.contains(&key) {
                count += 1;
                key = format!("{plain}~{count}");
            }
        }
        let handle = NodeHandle::new(self.target.key, &format!("container\n{key}"));
        let parent = parent.map(|above| above.handle);
        place.above.push(OpenContainer {
            level,
            number: number.clone(),
            key: key.clone(),
            citation: citation.clone(),
            handle,
            effect: effect_of_container(&elements.notes),
        });
        let own_text = elements.take_text();
        if !self.keys.insert(key.clone()) {
            self.parsed.leave_out(REPEATED_HEADING, heading);
            self.continued(handle, elements);
            if let Some(text) = own_text {
                self.introduction(&place, is_whole.then_some(heading), text, node);
            }
            return place;
        }
        let title = place.title();
        let sort = match (level, number.as_deref()) {
            (CfrLevel::Part, Some(number)) => SortKey::of_citation(&names::section(title, number)),
            (CfrLevel::Group, _) | (_, None) => SortKey::default(),
            // After all sections and subparts, like an appendix.
            (CfrLevel::Supplement, Some(_)) => SortKey::of_number("appendix-999"),
            // Compared as letters, so that subparts I and V are not read as numerals.
            (CfrLevel::Subtitle | CfrLevel::Subchapter | CfrLevel::Subpart, Some(letter)) => {
                SortKey::of_number(&letter.to_lowercase())
            }
            (CfrLevel::Title | CfrLevel::Chapter, Some(number)) => SortKey::of_number(number),
        };
        let parallel =
            number.as_deref().filter(|_| level == CfrLevel::Part).map(|number| format!("{title} C.F.R. pt. {number}"));
        let position = self.position(node);
        let is_reserved = names::is_reserved(heading) || elements.is_reserved;
        let content = Content {
            citation,
            heading: heading.to_owned(),
            level: level.name().to_owned(),
            number,
            status: is_reserved.then_some(Status::Reserved),
            source_credit: elements.credit(),
            notes: elements.notes,
            parallel_citations: parallel.into_iter().collect(),
            reference: key.clone(),
            source: self.target.source,
            ..Content::default()
        };
        self.parsed.nodes.push(NewNode { handle, parent, key, sort, on_repeat: OnRepeat::Share, content, position });
        if let Some(text) = own_text {
            self.introduction(&place, is_whole.then_some(heading), text, node);
        }
        place
    }

    /// Keeps words outside all containers as a note of the first container.
    pub(crate) fn outside<'a>(&mut self, words: Vec<Node<'a, 'a>>) {
        let mut elements = Elements::default();
        elements.parts(words.into_iter(), &mut Elements::child);
        if let (Some(text), Some(first)) = (elements.take_text(), self.parsed.nodes.first_mut()) {
            let note = ContentNote { topic: "Text".to_owned(), text: text.text, layout: text.layout };
            first.content.notes.push(note);
        }
    }

    /// Adds the notes and credit of a repeated container to the node that exists already.
    fn continued(&mut self, handle: NodeHandle, elements: Elements<'_, '_>) {
        let Some(first) = self.parsed.nodes.iter_mut().find(|node| node.handle == handle) else { return };
        let credit = elements.credit();
        let own = &mut first.content;
        for mut note in elements.notes {
            if !own.notes.iter().any(|known| (&known.topic, &known.text) == (&note.topic, &note.text)) {
                note.layout.offset_footnotes(own.notes.len());
                own.notes.push(note);
            }
        }
        own.source_credit =
            own.source_credit.take().into_iter().chain(credit).reduce(|first, more| first + " " + &more);
    }

    /// Adds the text directly below a container as its first provision, because it is law like a
    /// section. If the container has nothing else, the provision is its whole text and gets its
    /// heading.
    pub(crate) fn introduction(&mut self, place: &CfrPlace, whole: Option<&str>, text: CfrText, node: Node<'_, '_>) {
        let Some(above) = place.above.last() else { return };
        let (key, citation) = match above.level {
            CfrLevel::Part | CfrLevel::Subpart => self.names_of_part(place, above.level),
            _ => (above.key.clone(), above.citation.clone()),
        };
        let (name, heading) = match whole {
            Some(heading) => ("text", heading),
            None => ("introductory text", "Introductory text"),
        };
        let named = Named {
            key: format!("{key}/introduction"),
            citation: format!("{citation}, {name}"),
            level: "text",
            ..Named::default()
        };
        self.provision(place, Some(above.handle), named, heading, text, node);
    }

    /// Key and citation of the current part or subpart.
    fn names_of_part(&self, place: &CfrPlace, level: CfrLevel) -> (String, String) {
        let title = place.title();
        let subpart = place.number(CfrLevel::Subpart).filter(|_| level == CfrLevel::Subpart);
        match (place.number(CfrLevel::Part), subpart) {
            (Some(part), Some(subpart)) => (
                format!("{}/t{}/pt{}/spt{}", self.target.key, slug(title), slug(part), slug(subpart)),
                format!("{title} C.F.R. pt. {part}, subpt. {subpart}"),
            ),
            (Some(part), None) if level == CfrLevel::Part => {
                (format!("{}/t{}/pt{}", self.target.key, slug(title), slug(part)), format!("{title} C.F.R. pt. {part}"))
            }
            _ => {
                let above = place.above.last();
                let key = above.map_or(self.target.key, |above| above.key.as_str());
                (key.to_owned(), above.map_or(self.target.code_body, |above| above.citation.as_str()).to_owned())
            }
        }
    }

    /// Adds a section. `label` is its number as printed.
    pub(crate) fn section(&mut self, place: &CfrPlace, label: &str, heading: &str, text: CfrText, node: Node<'_, '_>) {
        let Some(numbers) = CfrNumbers::of(label) else {
            let citation = place.above.last().map_or(self.target.code_body, |above| above.citation.as_str());
            let name = if heading.is_empty() { label } else { heading };
            let what = format!("the section '{name}' has no number");
            self.parsed.warn(WarningKind::MissingNumber, self.position(node), what);
            let short: String = slug(name).chars().take(60).collect();
            let key = format!("{}/{short}", place.above.last().map_or(self.target.key, |above| above.key.as_str()));
            let named = Named { key, citation: format!("{citation}, {name}"), ..Named::default() };
            let level = place.above.last().map(|above| above.handle);
            return self.provision(place, level, named, heading, text, node);
        };
        let title = place.title().to_owned();
        let citation = names::section(&title, &numbers.first);
        let key = format!("{}/t{}/s{}", self.target.key, slug(&title), slug(&numbers.first));
        let parallel = numbers.others.iter().map(|number| names::section(&title, number)).collect();
        let number = Some(numbers.first.replace("...", "-"));
        let named = Named { key, sort: SortKey::of_citation(&citation), citation, parallel, number, level: "section" };
        self.provision(place, place.above.last().map(|above| above.handle), named, heading, text, node);
    }

    /// Adds an appendix, a supplement, or other matter after the sections of a part.
    pub(crate) fn add_appendix(&mut self, place: &CfrPlace, heading: &str, text: CfrText, node: Node<'_, '_>) {
        self.attachments += 1;
        let called = Attachment::of(heading);
        // Although printed after the last subpart, most appendices belong to the part.
        let name = heading.split('—').next().unwrap_or(heading).to_ascii_lowercase();
        let level = if name.contains("subpart") { CfrLevel::Subpart } else { CfrLevel::Part };
        let around = match place.number(CfrLevel::Part) {
            Some(_) => place.down_to(level),
            None => place.above.as_slice(),
        };
        let level = if place.number(CfrLevel::Subpart).is_some() { level } else { CfrLevel::Part };
        let (key, citation) = self.names_of_part(place, level);
        let long = called.citation.replacen("App.", "Appendix", 1).replacen("Supp.", "Supplement", 1);
        let parallel = (long != called.citation)
            .then(|| format!("{}, {long}", citation.replace("pt.", "Part").replace("subpt.", "Subpart")));
        let named = Named {
            key: format!("{key}/{}", called.key),
            // After all sections and subparts.
            sort: SortKey::of_number(&format!("appendix-{}", self.attachments)),
            citation: format!("{citation}, {}", called.citation),
            parallel: parallel.into_iter().collect(),
            number: called.number,
            level: "appendix",
        };
        self.provision(place, around.last().map(|above| above.handle), named, heading, text, node);
    }

    /// Adds official interpretations below their supplement.
    pub(crate) fn interpretation(
        &mut self,
        place: &CfrPlace,
        comment: &Comment<'_>,
        text: CfrText,
        node: Node<'_, '_>,
    ) {
        self.attachments += 1;
        let Comment { label, number, heading } = comment;
        let Some(above) = place.above.last() else { return };
        let (title, part) = (place.title(), place.number(CfrLevel::Part).unwrap_or_default());
        let name = number.unwrap_or_else(|| heading.split('—').next().unwrap_or(heading).trim());
        let supplement = place.number(CfrLevel::Supplement).unwrap_or_default();
        let named = Named {
            key: format!("{}/{}", above.key, slug(label)),
            sort: SortKey::of_number(&self.attachments.to_string()),
            citation: format!("{title} C.F.R. pt. {part}, Supp. {supplement}, {name}"),
            level: "interpretation",
            ..Named::default()
        };
        self.provision(place, Some(above.handle), named, heading, text, node);
    }

    fn provision(
        &mut self,
        place: &CfrPlace,
        parent: Option<NodeHandle>,
        named: Named,
        heading: &str,
        text: CfrText,
        node: Node<'_, '_>,
    ) {
        let around = place.above.iter().map(|above| above.effect.clone());
        let own = effect_of(named.number.as_deref().unwrap_or_default(), &text);
        let effect = std::iter::once(own).chain(around).fold(Effect::default(), Effect::and);
        if let (Some(day), Some(Status::Uncertain)) = (&effect.to, effect.then) {
            let what = format!(
                "'{}' changes on {day}; a note prints only the changed paragraphs, not the section",
                named.citation
            );
            self.parsed.warn(WarningKind::UncertainValidity, self.position(node), what);
        }
        let CfrText { text, layout, credit, notes, is_reserved, reference, future_wording: coming } = text;
        let wordings = coming.into_iter().map(|coming| wording(*coming, &effect, &notes)).collect();
        let position = self.position(node);
        let is_reserved = is_reserved || names::is_reserved(heading);
        if text.is_empty() && !is_reserved {
            let what = format!("'{}' is in force but has no text", named.citation);
            self.parsed.warn(WarningKind::EmptyProvision, position.clone(), what);
        }
        let mut tags = self.target.tags.to_vec();
        tags.sort_unstable();
        let handle = NodeHandle::new(self.target.key, &format!("{}\n{}", self.document.place, node.range().start));
        let status = if is_reserved && text.is_empty() { Status::Reserved } else { Status::InForce };
        let content = Content {
            citation: named.citation,
            heading: heading.to_owned(),
            level: named.level.to_owned(),
            number: named.number,
            status: Some(status),
            text: Some(text),
            layout,
            source_credit: credit,
            notes,
            tags,
            effect,
            wordings,
            parallel_citations: named.parallel,
            reference,
            source: self.target.source,
            ..Content::default()
        };
        let on_repeat = OnRepeat::Reconcile;
        self.parsed.nodes.push(NewNode {
            handle,
            parent,
            key: named.key,
            sort: named.sort,
            on_repeat,
            content,
            position,
        });
    }
}

/// A container as read from the document.
pub(crate) struct CfrContainer<'c> {
    pub(crate) level: CfrLevel,
    /// The number, if the document states it outside the heading.
    pub(crate) number: Option<&'c str>,
    pub(crate) heading: &'c str,
    pub(crate) elements: Elements<'c, 'c>,
    /// Whether it contains no section and no container.
    pub(crate) is_whole: bool,
}

/// The official interpretations of a section, whose number is given, or of something else.
pub(crate) struct Comment<'c> {
    pub(crate) label: &'c str,
    pub(crate) number: Option<&'c str>,
    pub(crate) heading: &'c str,
}

struct Named {
    key: String,
    sort: SortKey,
    citation: String,
    parallel: Vec<String>,
    number: Option<String>,
    level: &'static str,
}

impl Default for Named {
    fn default() -> Self {
        Self {
            key: String::new(),
            sort: SortKey::default(),
            citation: String::new(),
            parallel: Vec::new(),
            number: None,
            level: "section",
        }
    }
}
