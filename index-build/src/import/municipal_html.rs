//! Municipal codes as HTML, one document per title. `h1` is the title. A `section` contains an `h3`
//! with number and heading, then paragraphs, lists, definitions and tables, and the history under
//! an `h4`.
//!
//! The headings of parts and chapters are at the end of the section before them, alone or as a list.
//!
//! Contents pages in JSON only repeat the order of the numbers and are skipped. A section that
//! occurs twice, once without text, is a line of a chapter's list of contents, even if it has a history. See
//! FORMAT.md for the options.

use std::collections::{HashMap, HashSet};

use hornbook_corpus::layout::{Layout, Line, LineKind};
use serde::Deserialize;

use crate::import::document::{Document, Parsed};
use crate::import::flat_section::{self, FlatContainer, FlatSection};
use crate::import::html::{self, Element, HtmlPart};
use crate::import::html_text::HtmlSetter;
use crate::import::labels::{self, Paragraph, Scheme};
use crate::import::options::{self, FromOptions};
use crate::import::target::ImportTarget;
use crate::pattern::Pattern;
use crate::report::WarningKind;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MunicipalHtmlOptions {
    /// Matches number and heading of a section, in two groups.
    #[serde(default = "section")]
    section: Pattern,
    /// If a last paragraph matches, it is the source credit.
    #[serde(default = "credit")]
    credit: Pattern,
    /// The heading of the list of acts.
    #[serde(default = "history")]
    history: String,
    /// The label template of list items, with `{}`.
    #[serde(default = "label")]
    label: String,
    /// Matches the paths of documents that belong to another code body.
    skip: Option<Pattern>,
}

fn section() -> Pattern {
    Pattern::fixed(r"^§? ?(\d[\w.:-]*?)\.? (.*)$")
}

fn credit() -> Pattern {
    Pattern::fixed(r"^\(?(?i:(?:Ord|Res)(?:\.|inance|olution)?) ?(?:(?i:No)\b|\d)")
}

fn history() -> String {
    "History".into()
}

fn label() -> String {
    "{}.".into()
}

impl FromOptions for MunicipalHtmlOptions {
    fn from_options(table: &toml::Table) -> Result<Self, String> {
        let options: Self = options::read(table)?;
        if options.section.captures_len() < 3 {
            return Err("option 'section': it needs two groups, the number and the heading".into());
        }
        if options.label.matches("{}").count() != 1 {
            return Err(format!("option 'label': '{}' must contain {{}} once, such as '({{}})'", options.label));
        }
        Ok(options)
    }

    fn skip(&self) -> Option<&Pattern> {
        self.skip.as_ref()
    }
}

pub fn parse(document: &Document, target: ImportTarget<'_>) -> Parsed {
    options::read_by(document, target, |options: &MunicipalHtmlOptions| {
        let tree = html::parse(document)?;
        let mut title = Vec::new();
        let mut elements = Vec::new();
        let mut open = vec![tree.root()];
        while let Some(element) = open.pop() {
            match element.name() {
                "h1" => title = vec![FlatContainer { line: element.line(), heading: element.text() }],
                "section" => elements.push((element, title.clone())),
                "nav" | "head" | "script" | "style" => {}
                _ => open.extend(element.elements().rev()),
            }
        }
        if elements.is_empty() {
            return Err((document.position(1), "it has no <section>; skip it with the option 'skip'".into()));
        }
        let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
        for (element, title) in elements {
            match RawSection::of(element, title, options) {
                Ok(piece) => pieces.push(piece),
                Err(what) => mistakes.push((document.position(element.line()), what)),
            }
        }
        let mut containers = Containers::of(&pieces);
        let mut doubts = Vec::new();
        let mut read = |(place, piece): (usize, RawSection<'_>)| {
            let (section, own_doubts) = piece.read(place, &mut containers, options);
            doubts.extend(own_doubts);
            section
        };
        let sections = pieces.into_iter().enumerate().map(&mut read).collect();
        let mut parsed = flat_section::into_nodes(sections, document, target);
        for (number, path) in &containers.without_sections {
            flat_section::add_container_without_sections(number, path, document, target, &mut parsed);
        }
        parsed.mistakes = mistakes;
        html::warn_of_unknown(&tree, document, &mut parsed);
        for (line, what) in doubts {
            parsed.warn(WarningKind::DoubtfulLabel, document.position(line), what);
        }
        Ok(parsed)
    })
}

/// A section as read from the document.
struct RawSection<'t> {
    line: u32,
    number: String,
    heading: String,
    blocks: Vec<HtmlPart<'t>>,
    title: Vec<FlatContainer>,
}

impl<'t> RawSection<'t> {
    fn of(element: Element<'t>, title: Vec<FlatContainer>, options: &MunicipalHtmlOptions) -> Result<Self, String> {
        let mut blocks: Vec<HtmlPart<'_>> = element.parts().filter(|part| !part.text().is_empty()).collect();
        let Some(HtmlPart::Element(first)) = blocks.first().filter(|first| first.name() == "h3") else {
            return Err("this section does not begin with an h3, which has its number and heading".into());
        };
        let name = first.text();
        blocks.remove(0);
        let Some(found) = options.section.captures(&name) else {
            return Err(format!("'{name}' does not match the option 'section': number or heading is missing"));
        };
        let (number, heading) = (found[1].to_owned(), found[2].trim().to_owned());
        Ok(Self { line: element.line(), number, heading, blocks, title })
    }

    fn read(
        self,
        place: usize,
        containers: &mut Containers,
        options: &MunicipalHtmlOptions,
    ) -> (FlatSection, Vec<(u32, String)>) {
        let path = containers.path(&self.title, &self.number);
        let is_heading = |block: &HtmlPart<'_>| containers.heading(*block, &self.number, place);
        let headings: Vec<Heading> = self.blocks.iter().rev().map_while(is_heading).collect();
        let (blocks, _) = self.blocks.split_at(self.blocks.len() - headings.len());
        headings.into_iter().rev().for_each(|heading| containers.open(heading, &self.title));
        let (law, credit) = split_history(blocks, options);
        let mut setter = HtmlSetter::new(std::slice::from_ref(&options.label));
        law.iter().for_each(|part| setter.part(*part));
        let (text, mut layout, doubts) = setter.finish();
        nest_by_labels(&text, &mut layout);
        let (line, number, heading) = (self.line, self.number, self.heading);
        (FlatSection { line, number, heading, text, layout, credit, path, ..FlatSection::default() }, doubts)
    }
}

/// Nests paragraphs by the labels in their words, as in flat texts. Where the file has numbered lists, these state the
/// labels.
fn nest_by_labels(text: &str, layout: &mut Layout) {
    if layout.is_empty() {
        *layout = labels::layout_of(text, &Scheme::found());
        return;
    }
    if layout.lines.iter().any(|line| line.depth > 0 || line.label_bytes() > 0) {
        return;
    }
    let is_paragraph = |line: &Line| line.kind() == Some(LineKind::Paragraph);
    let lines = text.split('\n').zip(&layout.lines).filter(|(_, line)| is_paragraph(line));
    let paragraphs: Vec<Paragraph<'_>> = lines.map(|(words, _)| Paragraph::from(words)).collect();
    let places = labels::infer(&paragraphs, &Scheme::found());
    for (line, place) in layout.lines.iter_mut().filter(|line| is_paragraph(line)).zip(places) {
        *line = Line::labelled(LineKind::Paragraph, place.depth.min(255) as u8, place.label_bytes);
    }
}

/// The heading of a part or chapter, found at the end of the section before it: `14.12 Plumbing Code`.
struct Heading {
    number: String,
    container: FlatContainer,
}

/// The parts and chapters of a document by number, as far as their headings were read.
struct Containers {
    /// The index of the last section in each part or chapter, whether or not it has a heading.
    last_sections: HashMap<String, usize>,
    open: HashMap<String, FlatContainer>,
    /// Repealed or reserved parts and chapters without sections, each with its containers.
    without_sections: Vec<(String, Vec<FlatContainer>)>,
}

impl Containers {
    fn of(pieces: &[RawSection<'_>]) -> Self {
        let with_blocks: HashSet<&str> =
            pieces.iter().filter(|piece| !piece.blocks.is_empty()).map(|piece| piece.number.as_str()).collect();
        let mut last_sections = HashMap::new();
        let mut listed = HashSet::new();
        for (place, piece) in pieces.iter().enumerate() {
            let number = piece.number.as_str();
            // A line of a list of contents is not a section.
            if piece.blocks.is_empty() && (with_blocks.contains(number) || !listed.insert(number)) {
                continue;
            }
            last_sections.extend(container_numbers(number).map(|container| (container.to_owned(), place)));
        }
        Self { last_sections, open: HashMap::new(), without_sections: Vec::new() }
    }

    /// Reads a paragraph that only contains the heading of a part or chapter. One of its sections
    /// must follow, or the heading must state that it is repealed or reserved.
    fn heading(&self, block: HtmlPart<'_>, section: &str, place: usize) -> Option<Heading> {
        let heading = block.text();
        let form = Pattern::fixed(r"^(?:(?P<number>\d+(?:\.\d+)+)|Part (?P<part>\d+)) [A-Z][^.;:]{2,100}$");
        let found = form.captures(&heading).filter(|_| matches!(block.name(), "p" | "h4"))?;
        let title = section.split('.').next()?;
        let number = match (found.name("number"), found.name("part")) {
            (Some(number), _) => number.as_str().to_owned(),
            (None, part) => format!("{title}.{}", part?.as_str()),
        };
        let is_another =
            number.split('.').next() == Some(title) && !container_numbers(section).any(|own| own == number);
        let is_heading = match self.last_sections.get(&number) {
            Some(last) => *last > place,
            None => is_repealed_or_reserved(&heading),
        };
        let HtmlPart::Element(element) = block else { return None };
        (is_another && is_heading)
            .then(|| Heading { number, container: FlatContainer { line: element.line(), heading } })
    }

    fn open(&mut self, heading: Heading, title: &[FlatContainer]) {
        let Heading { number, container } = heading;
        if !self.last_sections.contains_key(&number) {
            let mut path = self.path(title, &number);
            path.push(container);
            self.without_sections.push((number, path));
            return;
        }
        self.open.insert(number, container);
    }

    /// The containers around a number, starting with the title.
    fn path(&self, title: &[FlatContainer], number: &str) -> Vec<FlatContainer> {
        title
            .iter()
            .chain(container_numbers(number).filter_map(|container| self.open.get(container)))
            .cloned()
            .collect()
    }
}

/// The numbers of the containers around a number: `15.3.04.010` is in `15`, `15.3` and `15.3.04`.
fn container_numbers(number: &str) -> impl Iterator<Item = &str> {
    number.match_indices('.').map(|(end, _)| &number[..end])
}

fn is_repealed_or_reserved(heading: &str) -> bool {
    ["(Repealed)", "(Reserved)"].iter().any(|remark| heading.ends_with(remark))
}

/// Splits the blocks into the law and the history. The history is everything under its heading, and
/// the paragraphs before it that name ordinances.
fn split_history<'s, 't>(
    blocks: &'s [HtmlPart<'t>],
    options: &MunicipalHtmlOptions,
) -> (&'s [HtmlPart<'t>], Option<String>) {
    let is_history = |block: &HtmlPart<'_>| {
        let may_be = block.name().starts_with('h') || block.name() == "p";
        may_be && block.text().eq_ignore_ascii_case(&options.history)
    };
    let end = blocks.iter().rposition(is_history).unwrap_or(blocks.len());
    let is_law = |block: &HtmlPart<'_>| !options.credit.is_match(&block.text());
    let first = blocks[..end].iter().rposition(is_law).map_or(0, |last| last + 1);
    let (law, rest) = blocks.split_at(first);
    let acts: Vec<String> = rest.iter().filter(|block| !is_history(block)).map(|block| block.text()).collect();
    (law, Some(acts.join(" ")).filter(|acts| !acts.is_empty()))
}
