//! State codes as HTML, one document per title, in the format of the releases of
//! Public.Resource.Org and UniCourt. `h1` is the title, `h2` with a class is a container, and `h3`
//! is a section. Everything up to the next of these headings belongs to it.
//!
//! Nothing marks the end of the law of a section. It ends at the source credit or, without one, at
//! the first heading that is known to begin annotations. Annotations become notes by their
//! headings. `nav` repeats headings and is skipped. Labels exist only as positions in lists. See
//! FORMAT.md for the options.

mod bold_labels;
mod container;
mod cutting;
mod doubled_items;
mod last_annotations;
mod section;
mod settings;

use std::collections::HashSet;

use crate::content::{Content, NewNode, NodeHandle, OnRepeat};
use crate::import::document::{Document, Parsed, REPEATED_HEADING};
use crate::import::html::{self, Element, HtmlPart};
use crate::import::levels::Label;
use crate::import::options;
use crate::import::target::ImportTarget;
use crate::order::SortKey;
use crate::report::{SourcePosition, WarningKind};
use container::{CONTAINER, StateHtmlContainer};
use section::StateHtmlSection;
pub(crate) use settings::StateHtmlSettings;

/// Why words such as `Sec.` before a number are left out.
const INTRODUCTION: &str = "words that introduce a number or a source credit";

/// Why the second copy of an item is left out.
const COPY: &str = "items that a release prints a second time, with their labels";

pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    options::read_by(document, target, |settings: &StateHtmlSettings| {
        let tree = html::parse(document)?;
        let mut reader = StateHtmlReader {
            document,
            target,
            settings,
            path: Vec::new(),
            containers: 0,
            numbers_are_plain: false,
            stated: HashSet::new(),
            parsed: Parsed::default(),
        };
        reader.read(&blocks(tree.root()));
        if reader.path.is_empty() && reader.parsed.nodes.is_empty() {
            return Err((document.position(1), "it has neither a title (h1) nor a section (h3)".into()));
        }
        html::warn_of_unknown(&tree, document, &mut reader.parsed);
        Ok(reader.parsed)
    })
}

/// The content of a document in order, without elements that only group.
fn blocks(root: Element<'_>) -> Vec<HtmlPart<'_>> {
    let mut blocks = Vec::new();
    let mut open: Vec<HtmlPart<'_>> = vec![HtmlPart::Element(root)];
    while let Some(part) = open.pop() {
        match part {
            HtmlPart::Words(words) if words.trim().is_empty() => {}
            HtmlPart::Element(element) => match element.name() {
                "" | "html" | "body" | "main" | "div" | "article" | "section" => open.extend(element.parts().rev()),
                // Navigation repeats headings, but in some releases it is the only place of the title.
                "nav" => open.extend(element.elements().find(|inner| inner.name() == "h1").map(HtmlPart::Element)),
                "head" | "script" | "style" => {}
                _ => blocks.push(part),
            },
            HtmlPart::Words(_) => blocks.push(part),
        }
    }
    blocks
}

struct StateHtmlReader<'a> {
    document: &'a Document,
    target: ImportTarget<'a>,
    settings: &'a StateHtmlSettings,
    /// The open containers, outermost first.
    path: Vec<StateHtmlContainer>,
    /// The number of containers read.
    containers: usize,
    /// Whether most sections of the document have numbers without a dash, so that `§§ 781-784` are several.
    numbers_are_plain: bool,
    stated: HashSet<NodeHandle>,
    parsed: Parsed,
}

impl<'a> StateHtmlReader<'a> {
    fn read(&mut self, blocks: &[HtmlPart<'_>]) {
        let headings = blocks.iter().filter_map(|part| part.element().filter(|element| element.name() == "h3"));
        let numbers: HashSet<String> = headings.filter_map(|heading| self.number_in(heading)).collect();
        self.numbers_are_plain = numbers.iter().filter(|number| number.contains('-')).count() * 2 < numbers.len();
        let mut rest = blocks;
        let mut before: Option<String> = None;
        while let Some(at) = rest.iter().position(|part| self.is_heading(part, before.as_deref(), &numbers)) {
            let Some(heading) = rest[at].element() else { return };
            let number = self.number_in(heading).filter(|_| matches!(heading.name(), "h3" | "p"));
            if let (Some(number), Some(before), "p") = (&number, &before, heading.name()) {
                let what =
                    format!("'{number}' has only a bold paragraph within '{before}' as its heading; it is a section");
                self.parsed.warn(WarningKind::Misplaced, self.position(heading), what);
            }
            before = number;
            let after = &rest[at + 1..];
            let end = after.iter().position(|part| self.is_heading(part, before.as_deref(), &numbers));
            let end = end.unwrap_or(after.len());
            match heading.name() {
                "h3" | "p" => self.section(heading, &after[..end]),
                name => self.container(name, heading, &after[..end]),
            }
            rest = &after[end..];
        }
    }

    /// The number in the heading of a section.
    fn number_in(&self, heading: Element<'_>) -> Option<String> {
        self.settings.section.captures(&heading.text()).map(|found| found[1].to_owned())
    }

    /// Whether a container or section begins. `before` is the number of the section before, and `numbers` are those of all
    /// sections with an `h3`. A section of the same chapter may have only a bold paragraph as its heading.
    fn is_heading(&self, part: &HtmlPart<'_>, before: Option<&str>, numbers: &HashSet<String>) -> bool {
        let Some(element) = part.element() else { return false };
        let is_bold = |part: HtmlPart<'_>| matches!(part.name(), "b" | "strong") || part.text().is_empty();
        let chapter = |number: &str| number.rfind(['-', '.']).map(|end| number[..end].to_owned());
        match (element.name(), before) {
            ("h1" | "h2" | "h3", _) => true,
            ("p", Some(before)) if element.parts().all(is_bold) => self.number_in(element).is_some_and(|number| {
                let is_of_chapter = chapter(&number).is_some_and(|own| Some(own) == chapter(before));
                is_of_chapter && number != before && !numbers.contains(&number)
            }),
            _ => false,
        }
    }

    /// The rank of a container: 0 for the title, then the known classes. Others are below the
    /// currently open container.
    fn rank(&self, name: &str, class: Option<&str>) -> usize {
        if name == "h1" {
            return 0;
        }
        let known = self.settings.levels.iter().position(|level| class.unwrap_or_default() == level);
        known.map_or(self.settings.levels.len() + 1, |level| level + 1)
    }

    fn container(&mut self, name: &str, element: Element<'_>, blocks: &[HtmlPart<'_>]) {
        let rank = self.rank(name, element.attribute("class"));
        let heading = element.text();
        if heading.is_empty() {
            return;
        }
        self.path.retain(|container| container.rank < rank);
        let label = Label::of(&heading);
        let parent = self.path.last();
        let under = |text: fn(&StateHtmlContainer) -> &str, start: &str| {
            parent.map_or(start.to_owned(), |own| text(own).to_owned())
        };
        let key = format!("{}/{}", under(|own| &own.key, self.target.key), label.key_part(&heading));
        let citation =
            format!("{}, {}", under(|own| &own.citation, self.target.code_body), label.citation_part(&heading));
        let short = label.short_citation(&heading);
        let headings: Vec<&str> = self.path.iter().map(|own| own.heading.as_str()).chain([heading.as_str()]).collect();
        let handle = NodeHandle::new(self.target.key, &format!("path\n{}", headings.join("\n")));
        let number = label.number.map(str::to_owned);
        let content = Content {
            citation: citation.clone(),
            heading: heading.clone(),
            level: label.level.to_ascii_lowercase(),
            number: number.clone(),
            notes: section::notes(blocks, self.settings),
            reference: format!("{}#{}", file_name(self.document.path()), element.attribute("id").unwrap_or_default()),
            source: self.target.source,
            ..Content::default()
        };
        let parent = parent.map(|own| own.handle);
        if !self.stated.insert(handle) {
            self.parsed.leave_out(REPEATED_HEADING, heading.clone());
        }
        self.containers += 1;
        // If each container numbers its sections from one, containers keep the order of the
        // document: `IX` is after `V`.
        let counts_anew = self.target.citation.is_some_and(|template| template.contains(CONTAINER));
        let sort = if counts_anew { SortKey::of_number(&self.containers.to_string()) } else { SortKey::default() };
        let (on_repeat, position) = (OnRepeat::Reconcile, self.position(element));
        // Several documents may contain parts of one title.
        self.parsed.inferred.push(NewNode { handle, parent, key: key.clone(), sort, on_repeat, content, position });
        self.path.push(StateHtmlContainer { rank, heading, handle, key, citation, number, short });
    }

    fn section(&mut self, heading: Element<'_>, blocks: &[HtmlPart<'_>]) {
        let position = self.position(heading);
        let id = heading.attribute("id").unwrap_or_default();
        let reference = format!("{}#{id}", file_name(self.document.path()));
        let section = StateHtmlSection::read(heading, blocks, self.settings, self.numbers_are_plain);
        let place = self.parsed.nodes.len();
        for (kind, line, what) in &section.faults {
            self.parsed.warn(*kind, self.document.position(*line), what.clone());
        }
        if !section.introductions.is_empty() {
            self.parsed.leave_out(INTRODUCTION, section.introductions.clone());
        }
        for copy in &section.copies {
            self.parsed.warn(WarningKind::RepeatedText, position.clone(), format!("'{copy}' follows its own words"));
            self.parsed.leave_out(COPY, copy.clone());
        }
        let handle = NodeHandle::new(self.target.key, &format!("section\n{}\n{place}", self.document.place));
        let parent = self.path.last().map(|own| own.handle);
        let (content, key, sort) = section.into_content(reference, self.target, &self.path);
        let on_repeat = OnRepeat::Reconcile;
        self.parsed.nodes.push(NewNode { handle, parent, key, sort, on_repeat, content, position });
    }

    fn position(&self, element: Element<'_>) -> SourcePosition {
        self.document.position(element.line())
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
