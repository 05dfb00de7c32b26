//! The elements that the electronic and the annual edition share: paragraphs, extracts, tables, notes, footnotes.

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};
use roxmltree::Node;

use super::names::Numbers;
use super::run::Run;
use super::setter::{Footnote, Setter, Text};
use super::tables;
use crate::content::ContentNote;
use crate::import::labels::Scheme;

/// What stands in a provision or right below a container, by what it is.
#[derive(Debug, Default)]
pub(crate) struct Elements<'a, 'd> {
    text: Setter,
    pub(crate) notes: Vec<ContentNote>,
    footnotes: Vec<Footnote>,
    credits: Vec<String>,
    pub(crate) is_reserved: bool,
    /// Signs of the footnotes that are there; another raised figure is none.
    signs: Vec<String>,
    /// Law that the publisher left within the revised text of a note.
    pub(crate) misplaced: Vec<Node<'a, 'd>>,
    /// The number of the section that is read: its revised wording in a note is no law yet.
    number: Option<String>,
}

impl<'a, 'd> Elements<'a, 'd> {
    pub(crate) fn new(node: Node<'a, 'd>, number: Option<String>) -> Self {
        let footnotes = node.children().filter(|child| child.tag_name().name() == "FTNT");
        Self { signs: footnotes.map(sign_of).collect(), number, ..Self::default() }
    }

    /// The text and its layout.
    fn finish(&mut self) -> (String, Layout) {
        std::mem::take(&mut self.text).finish(&Scheme::cfr(), &self.footnotes)
    }

    pub(crate) fn credit(&self) -> Option<String> {
        Some(self.credits.join(" ")).filter(|credit| !credit.is_empty())
    }

    /// All of it as the text of a provision.
    pub(crate) fn into_text(mut self, reference: String) -> Text {
        let (text, layout) = self.finish();
        let credit = self.credit();
        Text { text, layout, credit, notes: self.notes, is_reserved: self.is_reserved, reference }
    }

    pub(crate) fn run(&self, node: Node<'_, '_>) -> Run {
        run_of(node, &self.signs)
    }

    pub(crate) fn child(&mut self, node: Node<'a, 'd>) {
        match node.tag_name().name() {
            // What is repeated for the printed page: running heads, page numbers, tables of contents.
            "EAR" | "PRTPAGE" | "CONTENTS" | "CFRTOC" | "TOC" | "FTREF" | "SECHD" | "XREFTITLE" => {}
            "P" | "PSPACE" | "FP" | "FRP" => self.paragraph(node),
            "HD" | "HED" | "HD1" | "HD2" | "HD3" | "HD4" | "HD5" | "HD6" => {
                let run = self.run(node);
                self.text.push(LineKind::Heading, run);
            }
            "EXTRACT" => node.children().filter(Node::is_element).for_each(|child| self.block(child)),
            "EXAMPLE" | "EXAMPLES" | "NOTE" | "NOTES" => self.example(node),
            "GPOTABLE" => {
                let signs = self.signs.clone();
                tables::gpo(node, &mut self.text, &mut |cell| run_of(cell, &signs));
            }
            "TABLE" | "table" => {
                let signs = self.signs.clone();
                tables::html(node, &mut self.text, &mut |cell| run_of(cell, &signs));
            }
            "GPH" | "MATH" | "GID" | "MID" => {
                let run = self.run(node);
                self.text.push(LineKind::Image, run);
            }
            "img" | "IMG" => {
                let mut run = Run::default();
                run.push(node.attribute("src").or(node.attribute("SRC")).unwrap_or_default());
                self.text.push(LineKind::Image, run);
            }
            "STARS" => {
                let mut run = Run::default();
                run.push("* * * * *");
                self.text.push(LineKind::Block, run);
            }
            "FTNT" => self.footnote(node),
            "CITA" => self.credits.push(self.run(node).text),
            "RESERVED" => self.is_reserved = true,
            // The authority of a section is a SECAUTH: this one is an example that the section gives.
            "AUTH" if self.number.is_some() => self.example(node),
            "AUTH" | "SECAUTH" => self.note(node, "Authority"),
            "SOURCE" => self.note(node, "Source"),
            "EDNOTE" => self.note(node, "Editorial Note"),
            "EFFDNOT" | "EFFDNOTP" => self.note(node, "Effective Date Note"),
            "CROSSREF" => self.note(node, "Cross Reference"),
            "APPRO" | "PARAUTH" => self.note(node, "Approval"),
            "REVTXT" => self.revised(node),
            name if name.starts_with("FP") => self.paragraph(node),
            _ if node.children().any(|child| is_block(child.tag_name().name())) => {
                node.children().filter(Node::is_element).for_each(|child| self.child(child));
            }
            _ => self.paragraph(node),
        }
    }

    /// A paragraph, and then what stands in it as a block of its own.
    fn paragraph(&mut self, node: Node<'a, 'd>) {
        let run = self.run(node);
        self.text.paragraph(run);
        self.blocks_in(node);
    }

    fn blocks_in(&mut self, node: Node<'a, 'd>) {
        node.children().filter(|child| is_apart(child.tag_name().name())).for_each(|child| self.child(child));
    }

    /// A paragraph of an extract.
    fn block(&mut self, node: Node<'a, 'd>) {
        let name = node.tag_name().name();
        let is_paragraph = matches!(name, "P" | "PSPACE" | "FRP" | "HD" | "HED") || name.starts_with("FP");
        if is_block(name) && !is_paragraph {
            return self.child(node);
        }
        if matches!(name, "PRTPAGE" | "EAR" | "FTREF") {
            return;
        }
        let run = self.run(node);
        self.text.push(LineKind::Block, run);
        self.blocks_in(node);
    }

    /// `Example 1.` or `Note:` and its paragraphs. The heading runs into the first.
    fn example(&mut self, node: Node<'a, 'd>) {
        let mut heading: Option<Run> = None;
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "HD" | "HED" => {
                    let mut run = Run::default();
                    let words = self.run(child);
                    run.marked(MarkKind::RunInHeading, |run| run.push(&words.text));
                    heading = Some(run);
                }
                "P" | "PSPACE" | "FP" => {
                    let mut run = heading.take().unwrap_or_default();
                    run.append(self.run(child));
                    self.text.push(LineKind::Block, run);
                    self.blocks_in(child);
                }
                _ => self.child(child),
            }
        }
        if let Some(heading) = heading {
            self.text.push(LineKind::Block, heading);
        }
    }

    fn footnote(&mut self, node: Node<'a, 'd>) {
        let sign = sign_of(node);
        let mut inner = Self::new(node, self.number.clone());
        for (place, child) in node.children().filter(Node::is_element).enumerate() {
            if place == 0 && child.tag_name().name() == "P" {
                let run = inner.run(child);
                let signed = !sign.is_empty() && run.text.starts_with(&sign);
                let words = if signed { run.split(sign.len()).1 } else { run };
                inner.text.push(LineKind::Paragraph, words);
                inner.blocks_in(child);
            } else {
                inner.child(child);
            }
        }
        self.footnotes.push((sign, self.notes.len()));
        self.take_note("Footnote".to_owned(), inner);
    }

    fn note(&mut self, node: Node<'a, 'd>, topic: &str) {
        let mut inner = Self::new(node, self.number.clone());
        let mut named = None;
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "HD" | "HED" if named.is_none() => {
                    named = Some(self.run(child).text.trim_end_matches([':', '.', ' ']).to_owned());
                }
                _ => inner.child(child),
            }
        }
        if node.children().all(|child| !child.is_element()) {
            inner.paragraph(node);
        }
        self.take_note(named.filter(|name| !name.is_empty()).unwrap_or(topic.to_owned()), inner);
    }

    /// Takes the text of a note, and the notes to it.
    fn take_note(&mut self, topic: String, mut inner: Self) {
        let (text, mut layout) = inner.finish();
        layout.count_footnotes_from(self.notes.len() + 1);
        self.notes.push(ContentNote { topic, text, layout });
        self.notes.append(&mut inner.notes);
        self.misplaced.append(&mut inner.misplaced);
        self.credits.append(&mut inner.credits);
    }

    /// The wording that a section will have. Sections and parts that follow it were put here by a missing end tag.
    fn revised(&mut self, node: Node<'a, 'd>) {
        for (place, child) in node.children().filter(Node::is_element).enumerate() {
            match child.tag_name().name() {
                "SECTION" => {
                    let number = child
                        .children()
                        .find(|part| part.tag_name().name() == "SECTNO")
                        .map(|part| self.run(part).text);
                    let number = number.and_then(|label| Numbers::of(&label)).map(|numbers| numbers.first);
                    let is_wording = number.is_some() && number == self.number;
                    if is_wording || (place == 0 && self.number.is_none()) {
                        self.wording(child);
                    } else {
                        self.misplaced.push(child);
                    }
                }
                "PART" | "SUBPART" | "SUBJGRP" | "SUBCHAP" | "CHAPTER" | "APPENDIX" => self.misplaced.push(child),
                _ => self.block(child),
            }
        }
    }

    fn wording(&mut self, section: Node<'a, 'd>) {
        let mut heading = Run::default();
        for child in section.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "SECTNO" | "SUBJECT" => heading.append(self.run(child)),
                _ => {
                    self.text.push(LineKind::Heading, std::mem::take(&mut heading));
                    self.child(child);
                }
            }
        }
        self.text.push(LineKind::Heading, heading);
    }
}

/// The sign at the start of a footnote.
fn sign_of(footnote: Node<'_, '_>) -> String {
    let sign = footnote.descendants().find(|node| node.tag_name().name() == "SU");
    sign.map(|sign| run_of(sign, &[]).text).unwrap_or_default()
}

/// Elements that stand apart from a paragraph even if they are within it.
fn is_apart(name: &str) -> bool {
    matches!(
        name,
        "GPOTABLE"
            | "TABLE"
            | "table"
            | "GPH"
            | "MATH"
            | "img"
            | "IMG"
            | "STARS"
            | "EXTRACT"
            | "FTNT"
            | "NOTE"
            | "EXAMPLE"
    )
}

fn is_block(name: &str) -> bool {
    is_apart(name)
        || matches!(
            name,
            "P" | "PSPACE"
                | "FRP"
                | "HD"
                | "HED"
                | "DIV"
                | "div"
                | "EDNOTE"
                | "EFFDNOT"
                | "EFFDNOTP"
                | "AUTH"
                | "SOURCE"
                | "CITA"
        )
        || name.starts_with("FP")
}

/// The words of an element with what is marked in them. `signs` are those of the footnotes at hand.
pub(crate) fn run_of(node: Node<'_, '_>, signs: &[String]) -> Run {
    let mut run = Run::default();
    fill(&mut run, node, signs);
    run
}

fn fill(run: &mut Run, node: Node<'_, '_>, signs: &[String]) {
    for child in node.children() {
        if child.is_text() {
            run.push(child.text().unwrap_or_default());
            continue;
        }
        match child.tag_name().name() {
            _ if !child.is_element() => {}
            "PRTPAGE" | "FTREF" => {}
            "SU" => {
                let sign = run_of(child, &[]).text;
                if signs.contains(&sign) && is_before_reference(child) {
                    run.footnote(&sign);
                } else {
                    run.marked(MarkKind::Superscript, |run| fill(run, child, signs));
                }
            }
            "I" => run.marked(MarkKind::Emphasis, |run| fill(run, child, signs)),
            "B" => run.marked(MarkKind::Strong, |run| fill(run, child, signs)),
            "E" => match emphasis(child.attribute("T").unwrap_or_default()) {
                Some(kind) => run.marked(kind, |run| fill(run, child, signs)),
                None => fill(run, child, signs),
            },
            "FR" => {
                // A mixed number: 8 and a half is printed without a space, but must not read 81/2.
                if run.text.ends_with(|c: char| c.is_ascii_digit()) {
                    run.space();
                }
                fill(run, child, signs);
            }
            name if is_apart(name) => run.space(),
            "LI" | "BR" | "br" | "HED" | "GID" | "MID" => {
                run.space();
                fill(run, child, signs);
                run.space();
            }
            name if is_block(name) => {
                run.space();
                fill(run, child, signs);
                run.space();
            }
            _ => fill(run, child, signs),
        }
    }
}

/// Typefaces of the Government Publishing Office.
fn emphasis(typeface: &str) -> Option<MarkKind> {
    match typeface {
        "03" | "02" | "05" => Some(MarkKind::Emphasis),
        "01" | "04" => Some(MarkKind::Strong),
        "51" | "53" => Some(MarkKind::Superscript),
        "52" | "54" => Some(MarkKind::Subscript),
        _ => None,
    }
}

fn is_before_reference(sign: Node<'_, '_>) -> bool {
    let mut after = sign
        .next_siblings()
        .skip(1)
        .filter(|node| node.is_element() || node.text().is_some_and(|text| !text.trim().is_empty()));
    after.next().is_some_and(|node| node.tag_name().name() == "FTREF")
}
