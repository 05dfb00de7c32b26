//! The elements that the electronic and the annual edition share: paragraphs, extracts, tables,
//! notes and footnotes.

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};
use roxmltree::Node;

use super::names::CfrNumbers;
use super::run::TextRun;
use super::tables;
use super::text::{CfrText, CfrTextBuilder, Footnote, FutureWording};
use crate::content::ContentNote;
use crate::import::labels::Scheme;
use crate::import::unknown::KnownElements;

/// The element names of the electronic and the annual edition, from their guides and files.
pub(crate) const VOCABULARY: KnownElements = KnownElements { names: NAMES, is_left_out };

const NAMES: &str = "AC APPENDIX APPRO AUTH B BCAP BODY BOXHD BOXTXT BR CAPTION CFRDOC CHAPTER CHED CITA COL COLGROUP \
    CROSSREF DIV DIV1 DIV2 DIV3 DIV4 DIV5 DIV6 DIV7 DIV8 DIV9 DLPSTEXTCLASS E ECFR ECFRBRWS EDNOTE \
    EFFDNOT EFFDNOTP EFTNT ENT EXAMPLE EXAMPLES EXTRACT FL-2 FNC FNP FP FP-1 FP-2 FP-3 FP-DASH FP1 FP1-2 \
    FP2 FP2-2 FP2-3 FP3 FP4 FR FRP FRP0 FTNT FTREF GID GPH GPOTABLE HALFDASH HD HD1 HD2 HD3 HD4 HD5 HD6 \
    HD8 HEAD HED HED1 I IMG LDRFIG LDRWK LI MATH MID NOTE NOTES NPAR OL P P-1 P-2 P-3 P-DASH P1 P2 P2-3 \
    P4-5 P6-7 P8-9 PARAUTH PART PRTPAGE PSPACE Q RESERVED REVTXT ROW SCOL2 SECAUTH SECTION SECTNO SOURCE \
    STARS SU SUBCHAP SUBJECT SUBJECT1 SUBJECT2 SUBJECT3 SUBJGRP SUBPART SUBTITLE TABLE TBODY TCAP TD \
    TEXT TEXTCLASS TFOOT TH THEAD THED TITLE TITLEHD TITLENUM TNOTE TR TTITLE UL XREF a b br caption \
    center col colgroup div em h1 h2 h3 h4 hr i img li ol p span strong sub sup table tbody td tfoot th \
    thead tr u ul";

/// Whether an element only repeats the law for print, or is about the book or the file.
fn is_left_out(node: Node<'_, '_>) -> bool {
    matches!(
        node.tag_name().name(),
        "ALPHLIST"
            | "AMDDATE"
            | "BMTR"
            | "CFRTITLE"
            | "CFRTOC"
            | "CONTENTS"
            | "EAR"
            | "FAIDS"
            | "FMTR"
            | "HEADER"
            | "LRH"
            | "LSA"
            | "RRH"
            | "SECHD"
            | "TOC"
            | "XREFTITLE"
    )
}

/// The content of a provision or directly below a container, by kind.
#[derive(Debug, Default)]
pub(crate) struct Elements<'a, 'd> {
    text: CfrTextBuilder,
    pub(crate) notes: Vec<ContentNote>,
    footnotes: Vec<Footnote>,
    credits: Vec<String>,
    pub(crate) is_reserved: bool,
    /// The signs of the existing footnotes. Any other raised figure is not a footnote reference.
    signs: Vec<String>,
    /// Law that the publisher placed within the revised text of a note.
    pub(crate) misplaced: Vec<Node<'a, 'd>>,
    /// The number of the section being read. Its revised wording in a note is not yet law.
    number: Option<String>,
    /// That wording, if a note prints it completely.
    coming: Option<Box<FutureWording>>,
}

impl<'a, 'd> Elements<'a, 'd> {
    pub(crate) fn new(node: Node<'a, 'd>, number: Option<String>) -> Self {
        let footnotes = node.children().filter(|child| child.tag_name().name() == "FTNT");
        Self { signs: footnotes.map(sign_of).collect(), number, ..Self::default() }
    }

    /// Returns the text and its layout.
    fn finish(&mut self) -> (String, Layout) {
        std::mem::take(&mut self.text).finish(&Scheme::cfr(), &self.footnotes)
    }

    pub(crate) fn credit(&self) -> Option<String> {
        Some(self.credits.join(" ")).filter(|credit| !credit.is_empty())
    }

    /// Returns everything as the text of a provision.
    pub(crate) fn into_text(mut self, reference: String) -> CfrText {
        let (text, layout) = self.finish();
        let credit = self.credit();
        let Self { notes, is_reserved, coming, .. } = self;
        CfrText { text, layout, credit, notes, is_reserved, reference, future_wording: coming }
    }

    /// Takes the text directly below a container, with its footnotes. The other notes remain.
    pub(crate) fn take_text(&mut self) -> Option<CfrText> {
        let (text, mut layout) = self.finish();
        if text.is_empty() {
            return None;
        }
        let mut is_taken = vec![false; self.notes.len()];
        take_footnotes(&layout, &self.notes, &mut is_taken);
        let places = split_indexes(&is_taken);
        renumber(&mut layout, &places);
        let (mut taken, mut kept) = (Vec::new(), Vec::new());
        for (mut note, is_taken) in std::mem::take(&mut self.notes).into_iter().zip(is_taken) {
            renumber(&mut note.layout, &places);
            if is_taken { taken.push(note) } else { kept.push(note) }
        }
        self.notes = kept;
        Some(CfrText { text, layout, notes: taken, ..CfrText::default() })
    }

    pub(crate) fn run(&self, node: Node<'_, '_>) -> TextRun {
        run_of(node, &self.signs)
    }

    /// Processes everything in an element: each block separately, and words outside blocks as a paragraph.
    pub(crate) fn contents(&mut self, node: Node<'a, 'd>, each: &mut dyn FnMut(&mut Self, Node<'a, 'd>)) {
        self.parts(node.children(), each);
    }

    /// Processes some of the children of an element in the same way.
    pub(crate) fn parts(
        &mut self,
        parts: impl Iterator<Item = Node<'a, 'd>>,
        each: &mut dyn FnMut(&mut Self, Node<'a, 'd>),
    ) {
        let mut loose = TextRun::default();
        for part in parts.filter(|part| part.is_text() || part.is_element()) {
            if part.is_text() || is_inline(part.tag_name().name()) {
                fill_part(&mut loose, part, &self.signs, SeparateElements::Elsewhere);
                continue;
            }
            self.text.paragraph(std::mem::take(&mut loose));
            each(self, part);
        }
        self.text.paragraph(loose);
    }

    pub(crate) fn child(&mut self, node: Node<'a, 'd>) {
        match node.tag_name().name() {
            // Elements that repeat text for the printed page: running heads, page numbers, tables of contents.
            "EAR" | "PRTPAGE" | "CONTENTS" | "CFRTOC" | "TOC" | "FTREF" | "SECHD" | "XREFTITLE" => {}
            "P" | "PSPACE" | "FP" | "FRP" => self.paragraph(node),
            "HD" | "HEAD" | "HED" | "HD1" | "HD2" | "HD3" | "HD4" | "HD5" | "HD6" => {
                let run = self.run(node);
                self.text.push(LineKind::Heading, run);
                self.blocks_in(node);
            }
            "EXTRACT" => self.contents(node, &mut Self::block),
            "EXAMPLE" | "EXAMPLES" | "NOTE" | "NOTES" => self.example(node),
            "GPOTABLE" => {
                let signs = self.signs.clone();
                tables::gpo(node, &mut self.text, &mut |cell| cell_of(cell, &signs, SeparateElements::Inline));
            }
            "TABLE" | "table" => {
                let signs = self.signs.clone();
                tables::html(node, &mut self.text, &mut |cell| {
                    cell_of(cell, &signs, SeparateElements::InlineButTables)
                });
            }
            "GPH" | "MATH" | "GID" | "MID" => {
                let run = self.run(node);
                self.text.push(LineKind::Image, run);
            }
            "img" | "IMG" => {
                let mut run = TextRun::default();
                run.push(node.attribute("src").or(node.attribute("SRC")).unwrap_or_default());
                self.text.push(LineKind::Image, run);
            }
            "STARS" => {
                let mut run = TextRun::default();
                run.push("* * * * *");
                self.text.push(LineKind::Block, run);
            }
            "FTNT" => self.footnote(node),
            "CITA" => self.credits.push(self.run(node).text),
            "RESERVED" => self.reserved(node),
            // The authority of a section is in SECAUTH. An AUTH in a section is an example that the
            // section gives.
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
                self.contents(node, &mut Self::child);
            }
            _ => self.paragraph(node),
        }
    }

    /// Adds a paragraph, followed by the blocks within it.
    pub(crate) fn paragraph(&mut self, node: Node<'a, 'd>) {
        let run = self.run(node);
        self.text.paragraph(run);
        self.blocks_in(node);
    }

    fn blocks_in(&mut self, node: Node<'a, 'd>) {
        for child in node.children().filter(Node::is_element) {
            if is_separate(child.tag_name().name()) { self.child(child) } else { self.blocks_in(child) }
        }
    }

    /// Handles `[Reserved]`, which is a status. Any further words are text.
    fn reserved(&mut self, node: Node<'a, 'd>) {
        self.is_reserved = true;
        let run = self.run(node);
        let says = run.text.trim_matches(|c: char| !c.is_alphanumeric());
        if !says.is_empty() && !says.eq_ignore_ascii_case("reserved") {
            self.text.paragraph(run);
        }
    }

    /// Adds a paragraph of an extract.
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

    /// Adds `Example 1.` or `Note:` with its paragraphs. The heading is joined to the first paragraph.
    fn example(&mut self, node: Node<'a, 'd>) {
        let mut heading = TextRun::default();
        self.contents(node, &mut |elements, child| match child.tag_name().name() {
            "HD" | "HED" => {
                // A heading without a paragraph after it is a separate line.
                elements.text.push(LineKind::Block, std::mem::take(&mut heading));
                let words = elements.run(child);
                heading.marked(MarkKind::RunInHeading, |run| run.push(&words.text));
            }
            "P" | "PSPACE" | "FP" => {
                let mut run = std::mem::take(&mut heading);
                run.append(elements.run(child));
                elements.text.push(LineKind::Block, run);
                elements.blocks_in(child);
            }
            _ => elements.child(child),
        });
        self.text.push(LineKind::Block, heading);
    }

    fn footnote(&mut self, node: Node<'a, 'd>) {
        let sign = sign_of(node);
        let mut inner = Self::new(node, self.number.clone());
        let first = node.first_element_child().filter(|first| first.tag_name().name() == "P");
        inner.contents(node, &mut |inner, child| {
            if Some(child) == first {
                let run = inner.run(child);
                let signed = !sign.is_empty() && run.text.starts_with(&sign);
                let words = if signed { run.split(sign.len()).1 } else { run };
                inner.text.push(LineKind::Paragraph, words);
                inner.blocks_in(child);
            } else {
                inner.child(child);
            }
        });
        self.footnotes.push((sign, self.notes.len()));
        self.take_note("Footnote".to_owned(), inner);
    }

    fn note(&mut self, node: Node<'a, 'd>, topic: &str) {
        let mut inner = Self::new(node, self.number.clone());
        let mut named = None;
        inner.contents(node, &mut |inner, child| match child.tag_name().name() {
            "HD" | "HED" if named.is_none() => {
                named = Some(inner.run(child).text.trim_end_matches([':', '.', ' ']).to_owned());
            }
            _ => inner.child(child),
        });
        self.take_note(named.filter(|name| !name.is_empty()).unwrap_or(topic.to_owned()), inner);
    }

    /// Takes the text of a note, and the notes on it.
    fn take_note(&mut self, topic: String, mut inner: Self) {
        let (text, mut layout) = inner.finish();
        layout.offset_footnotes(self.notes.len() + 1);
        if let Some(mut coming) = inner.coming.take() {
            coming.note = self.notes.len();
            self.coming = Some(coming);
        }
        self.notes.push(ContentNote { topic, text, layout });
        self.notes.append(&mut inner.notes);
        self.misplaced.append(&mut inner.misplaced);
        self.credits.append(&mut inner.credits);
    }

    /// Reads the future wording of a section. Sections and parts after it are here only because an
    /// end tag is missing.
    fn revised(&mut self, node: Node<'a, 'd>) {
        let first = node.first_element_child();
        self.contents(node, &mut |elements, child| match child.tag_name().name() {
            "SECTION" => {
                let number = child
                    .children()
                    .find(|part| part.tag_name().name() == "SECTNO")
                    .map(|part| elements.run(part).text);
                let number = number.and_then(|label| CfrNumbers::of(&label)).map(|numbers| numbers.first);
                let is_wording = number.is_some() && number == elements.number;
                if is_wording && elements.coming.is_none() && is_whole(child) {
                    elements.coming = Some(Box::new(elements.coming(child)));
                } else if is_wording || (Some(child) == first && elements.number.is_none()) {
                    elements.wording(child);
                } else {
                    elements.misplaced.push(child);
                }
            }
            name if is_hierarchy(name) && Some(child) == first && quotes_removed_law(node) => elements.quoted(child),
            name if is_hierarchy(name) => elements.misplaced.push(child),
            _ => elements.block(child),
        });
    }

    /// Adds the text of containers and sections that a note prints although they are no longer law,
    /// with their headings.
    fn quoted(&mut self, node: Node<'a, 'd>) {
        let own_credits = self.credits.len();
        self.contents(node, &mut |elements, child| match child.tag_name().name() {
            "SECTION" => elements.wording(child),
            name if is_hierarchy(name) => elements.quoted(child),
            _ => elements.child(child),
        });
        for credit in self.credits.split_off(own_credits) {
            self.text.push(LineKind::Block, TextRun::of_words(&credit));
        }
    }

    /// Reads the future wording of the section.
    fn coming(&self, section: Node<'a, 'd>) -> FutureWording {
        let mut inner = Self::new(section, self.number.clone());
        let mut heading = TextRun::default();
        inner.contents(section, &mut |inner, child| match child.tag_name().name() {
            "SECTNO" => {}
            "SUBJECT" => heading.append(inner.run(child)),
            _ => inner.child(child),
        });
        FutureWording { heading: heading.text, text: inner.into_text(String::new()), note: 0 }
    }

    fn wording(&mut self, section: Node<'a, 'd>) {
        let mut heading = TextRun::default();
        self.contents(section, &mut |elements, child| match child.tag_name().name() {
            "SECTNO" | "SUBJECT" => heading.append(elements.run(child)),
            _ => {
                elements.text.push(LineKind::Heading, std::mem::take(&mut heading));
                elements.child(child);
            }
        });
        self.text.push(LineKind::Heading, heading);
    }
}

/// Whether a revised text covers the whole section. Asterisks represent unchanged paragraphs.
fn is_whole(section: Node<'_, '_>) -> bool {
    let is_star = |node: Node<'_, '_>| {
        node.tag_name().name() == "STARS" || node.text().is_some_and(|text| node.is_text() && text.contains("* * *"))
    };
    !section.descendants().any(is_star)
}

fn is_hierarchy(name: &str) -> bool {
    matches!(name, "PART" | "SUBPART" | "SUBJGRP" | "SUBCHAP" | "CHAPTER" | "APPENDIX")
}

/// Whether a note introduces its revised text as removed law, like the note to 47 C.F.R. § 61.136 of 2011.
fn quotes_removed_law(revised: Node<'_, '_>) -> bool {
    let before = revised.prev_siblings().skip(1).find(Node::is_element);
    let words = before.map(|before| run_of(before, &[]).text).unwrap_or_default();
    words.contains("the removed ") && words.ends_with("set forth as follows:")
}

/// Marks the footnotes that a text refers to, and those that these footnotes refer to.
fn take_footnotes(layout: &Layout, notes: &[ContentNote], is_taken: &mut [bool]) {
    let mut open: Vec<&Layout> = vec![layout];
    while let Some(layout) = open.pop() {
        for mark in layout.marks.iter().filter(|mark| mark.kind() == Some(MarkKind::Footnote)) {
            let note = mark.target as usize;
            if !std::mem::replace(&mut is_taken[note], true) {
                open.push(&notes[note].layout);
            }
        }
    }
}

/// The new index of each note among the taken notes or among the kept notes.
fn split_indexes(is_taken: &[bool]) -> Vec<u32> {
    let mut counts = [0, 0];
    let mut next = |is_taken: bool| {
        let count = &mut counts[usize::from(is_taken)];
        *count += 1;
        *count - 1
    };
    is_taken.iter().map(|&is_taken| next(is_taken)).collect()
}

fn renumber(layout: &mut Layout, places: &[u32]) {
    for mark in layout.marks.iter_mut().filter(|mark| mark.kind() == Some(MarkKind::Footnote)) {
        mark.target = places[mark.target as usize];
    }
}

/// The sign at the start of a footnote.
fn sign_of(footnote: Node<'_, '_>) -> String {
    let sign = footnote.descendants().find(|node| node.tag_name().name() == "SU");
    sign.map(|sign| run_of(sign, &[]).text).unwrap_or_default()
}

/// Elements that are displayed separately even if they are within a paragraph.
fn is_separate(name: &str) -> bool {
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
    is_separate(name)
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

/// Elements that are a part of a line.
fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "AC" | "B"
            | "E"
            | "FR"
            | "FTREF"
            | "I"
            | "PRTPAGE"
            | "SU"
            | "a"
            | "b"
            | "em"
            | "i"
            | "span"
            | "strong"
            | "sub"
            | "sup"
    )
}

/// How to treat a separate element while the words around it are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeparateElements {
    /// It is written after them.
    Elsewhere,
    /// It belongs to them, because a cell has no other place for it.
    Inline,
    /// As `Inline`, but tables are left out: their rows follow those of the table around them.
    InlineButTables,
}

/// The words of an element with the marks in them. `signs` are the signs of the available footnotes.
pub(crate) fn run_of(node: Node<'_, '_>, signs: &[String]) -> TextRun {
    let mut run = TextRun::default();
    fill(&mut run, node, signs, SeparateElements::Elsewhere);
    run
}

/// The words of a cell.
fn cell_of(node: Node<'_, '_>, signs: &[String], apart: SeparateElements) -> TextRun {
    let mut run = TextRun::default();
    fill(&mut run, node, signs, apart);
    run
}

fn fill(run: &mut TextRun, node: Node<'_, '_>, signs: &[String], apart: SeparateElements) {
    node.children().for_each(|child| fill_part(run, child, signs, apart));
}

fn fill_part(run: &mut TextRun, child: Node<'_, '_>, signs: &[String], apart: SeparateElements) {
    if child.is_text() {
        return run.push(child.text().unwrap_or_default());
    }
    match child.tag_name().name() {
        _ if !child.is_element() => {}
        "PRTPAGE" | "FTREF" => {}
        "SU" => {
            let sign = run_of(child, &[]).text;
            if signs.contains(&sign) && is_before_reference(child) {
                run.footnote(&sign);
            } else {
                run.marked(MarkKind::Superscript, |run| fill(run, child, signs, apart));
            }
        }
        "I" => run.marked(MarkKind::Emphasis, |run| fill(run, child, signs, apart)),
        "B" => run.marked(MarkKind::Strong, |run| fill(run, child, signs, apart)),
        "E" => match emphasis(child.attribute("T").unwrap_or_default()) {
            Some(kind) => run.marked(kind, |run| fill(run, child, signs, apart)),
            None => fill(run, child, signs, apart),
        },
        "FR" => {
            // A mixed number: "8 1/2" is printed without a space, but must not be read as 81/2.
            if run.text.ends_with(|c: char| c.is_ascii_digit()) {
                run.space();
            }
            fill(run, child, signs, apart);
        }
        "TABLE" | "table" if apart == SeparateElements::InlineButTables => run.space(),
        name if is_separate(name) && apart == SeparateElements::Elsewhere => run.space(),
        "LI" | "BR" | "br" | "HED" | "GID" | "MID" => in_between(run, child, signs, apart),
        name if is_block(name) => in_between(run, child, signs, apart),
        _ => fill(run, child, signs, apart),
    }
}

/// Adds words with a space before and after them.
fn in_between(run: &mut TextRun, node: Node<'_, '_>, signs: &[String], apart: SeparateElements) {
    run.space();
    fill(run, node, signs, apart);
    run.space();
}

/// The mark for a typeface code of the Government Publishing Office.
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
