//! Builds the texts and notes of a node by walking everything in a provision.
//!
//! Enumerated units become lines with their depth and label. A unit without words before its first
//! subunit shares the line of that subunit: `(a)(1)`. Headings of units become marks within the
//! line. Footnotes become notes, with a mark in place of their sign.

use std::collections::{HashMap, VecDeque};

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};
use roxmltree::Node;

use crate::content::ContentNote;
use crate::import::text_builder::TextBuilder;

/// The topic of notes that a sign in the text refers to.
pub(super) const FOOTNOTE: &str = "Footnote";

/// Headings over groups of notes.
const GROUPS_OF_NOTES: [&str; 4] = [
    "Editorial Notes",
    "Statutory Notes and Related Subsidiaries",
    "Executive Documents",
    "Court Rules and Judicial Documents",
];

/// Builds the texts of one node, one at a time, and collects the notes found on the way.
pub(super) struct UslmTextBuilder<'a, 'd> {
    text: UslmText,
    /// Whether the current line is a table cell, in which no new line may begin.
    pub(super) is_in_cell: bool,
    pub(super) notes: Vec<ContentNote>,
    pub(super) credits: Vec<String>,
    /// The index of each footnote among the notes.
    footnotes: HashMap<&'a str, usize>,
    /// The last footnote with each number.
    numbered: HashMap<String, usize>,
    /// Numbers in the text that refer to a footnote again. They are marks.
    pub(super) repeated_signs: Vec<String>,
    /// Footnotes that have an index but no text yet. Footnotes that other footnotes cite wait here,
    /// so that a chain of them needs no recursion.
    waiting: VecDeque<(usize, Node<'a, 'd>)>,
    is_in_footnote: bool,
    /// The node being read, and the footnotes in it, collected when a footnote is first needed that
    /// does not follow its sign.
    root: Node<'a, 'd>,
    all_footnotes: Option<HashMap<&'a str, Node<'a, 'd>>>,
}

/// The text being built.
#[derive(Default)]
struct UslmText {
    builder: TextBuilder,
    /// A label that waits for the words of its line.
    label: Option<Label>,
    is_line_open: bool,
    /// Whether the next paragraph continues the current line, which contains only a heading so far.
    runs_on: bool,
}

struct Label {
    kind: LineKind,
    depth: usize,
    text: String,
    footnotes: Vec<usize>,
}

/// The depth of the current words, and of the units below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitDepth {
    words: usize,
    units: usize,
}

impl UnitDepth {
    pub(super) const OUTERMOST: Self = Self { words: 0, units: 0 };

    fn of_unit(depth: usize) -> Self {
        Self { words: depth, units: depth + 1 }
    }
}

impl<'a, 'd> UslmTextBuilder<'a, 'd> {
    pub(super) fn new(root: Node<'a, 'd>) -> Self {
        Self {
            text: UslmText::default(),
            is_in_cell: false,
            notes: Vec::new(),
            credits: Vec::new(),
            footnotes: HashMap::new(),
            numbered: HashMap::new(),
            repeated_signs: Vec::new(),
            waiting: VecDeque::new(),
            is_in_footnote: false,
            root,
            all_footnotes: None,
        }
    }

    /// Builds a separate text.
    pub(super) fn separate_text(&mut self, set: impl FnOnce(&mut Self)) -> (String, Layout) {
        let outer = std::mem::take(&mut self.text);
        let was_in_cell = std::mem::take(&mut self.is_in_cell);
        set(self);
        self.flush_label();
        self.is_in_cell = was_in_cell;
        std::mem::replace(&mut self.text, outer).builder.finish()
    }

    /// Builds one text from several elements.
    pub(super) fn set(&mut self, nodes: &[Node<'a, 'd>]) -> (String, Layout) {
        self.separate_text(|setter| nodes.iter().for_each(|&node| setter.child(node, UnitDepth::OUTERMOST)))
    }

    /// The words of an element on one line, without layout: a heading, a number, a source credit.
    pub(super) fn plain(&mut self, node: Node<'a, 'd>) -> String {
        let (text, _) = self.separate_text(|setter| {
            setter.is_in_cell = true;
            setter.children(node, UnitDepth::OUTERMOST);
        });
        text
    }

    pub(super) fn children(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        node.children().for_each(|child| self.child(child, depth));
    }

    pub(super) fn child(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        if let Some(words) = node.text().filter(|_| node.is_text()) {
            return self.words(words, depth);
        }
        if !node.is_element() {
            return;
        }
        match node.tag_name().name() {
            "subsection" | "paragraph" | "subparagraph" | "clause" | "subclause" | "item" | "subitem"
            | "subsubitem" | "level" => self.unit(node, LineKind::Paragraph, depth),
            "section" | "title" | "subtitle" | "chapter" | "subchapter" | "part" | "subpart" | "article" => {
                self.unit(node, LineKind::Heading, depth);
            }
            "p" => self.paragraph(node, depth),
            "num" if node.parent_element().is_some_and(is_unit) => self.label(node, depth),
            "heading" | "subheading" => self.heading(node, depth),
            "content" | "chapeau" | "continuation" | "proviso" | "quotedContent" | "quotedText" => {
                self.block(node, depth);
            }
            "note" if is_footnote(node) => self.footnote(node, depth),
            "note" | "signature" | "name" | "role" | "affiliation" | "signatureDate" | "footnote" | "crossHeading" => {
                self.text.runs_on = false;
                self.block(node, depth);
            }
            "ref" if node.attribute("class") == Some("footnoteRef") => self.footnote_sign(node, depth),
            "table" => self.table(node, depth.words),
            "layout" => self.columns(node, depth.words),
            "source" | "sourceCredit" => {
                let credit = self.plain(node);
                self.credits.extend(Some(credit).filter(|credit| !credit.is_empty()));
            }
            "authority" | "editorialNote" => self.note(node),
            "br" => self.text.builder.space(),
            "img" => self.image(node, depth),
            "i" | "em" => self.marked(node, MarkKind::Emphasis, depth),
            "b" | "strong" => self.marked(node, MarkKind::Strong, depth),
            "sup" => self.superscript(node, depth),
            "sub" => self.marked(node, MarkKind::Subscript, depth),
            "inline" if is_emphasised(node) => self.marked(node, MarkKind::Emphasis, depth),
            // A table of contents repeats the headings below it.
            "toc" => {}
            _ => self.children(node, depth),
        }
    }

    fn words(&mut self, words: &str, depth: UnitDepth) {
        if words.trim().is_empty() {
            return self.text.builder.space();
        }
        self.open_line(depth.words);
        self.text.runs_on = false;
        self.text.builder.push(words);
    }

    /// Begins a line if none is open, with the waiting label.
    fn open_line(&mut self, depth: usize) {
        if let Some(label) = self.text.label.take() {
            self.text.builder.begin(label.kind, label.depth, &label.text);
            label.footnotes.into_iter().for_each(|note| self.text.builder.footnote(note));
        } else if !self.text.is_line_open && !self.is_in_cell {
            self.text.builder.paragraph(depth);
        }
        self.text.is_line_open = true;
    }

    pub(super) fn end_line(&mut self) {
        if self.is_in_cell {
            return self.text.builder.space();
        }
        self.text.builder.end_line();
        self.text.is_line_open = false;
        self.text.runs_on = false;
    }

    pub(super) fn flush_label(&mut self) {
        if self.text.label.is_some() {
            self.open_line(0);
            self.end_line();
        }
    }

    /// Adds a subsection, paragraph or clause, with everything below it.
    fn unit(&mut self, node: Node<'a, 'd>, kind: LineKind, depth: UnitDepth) {
        if self.text.label.is_none() {
            self.end_line();
        }
        let within = UnitDepth::of_unit(depth.units);
        for child in node.children() {
            let is_own_label = child.is_element() && child.tag_name().name() == "num";
            match (is_own_label, kind) {
                (true, LineKind::Heading) => self.label_of(child, kind, depth.units),
                _ => self.child(child, within),
            }
        }
        self.flush_label();
        self.end_line();
    }

    fn label(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        self.label_of(node, LineKind::Paragraph, depth.words);
    }

    fn label_of(&mut self, node: Node<'a, 'd>, kind: LineKind, depth: usize) {
        let before = self.notes.len();
        let text = self.plain(node);
        let footnotes = before..self.notes.len();
        if self.is_in_cell {
            return self.words(&text, UnitDepth::OUTERMOST);
        }
        let label = self.text.label.get_or_insert(Label { kind, depth, text: String::new(), footnotes: Vec::new() });
        label.text.push_str(&text);
        label.footnotes.extend(footnotes);
    }

    /// Adds a heading. Within a unit it is part of the line; elsewhere it is a separate line.
    fn heading(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        if self.is_in_cell {
            return self.children(node, depth);
        }
        let is_run_in = self.text.label.as_ref().is_some_and(|label| label.kind == LineKind::Paragraph)
            || node.parent_element().is_some_and(is_unit);
        if is_run_in {
            self.open_line(depth.words);
            self.text.builder.begin_mark(MarkKind::RunInHeading);
            self.children(node, depth);
            self.text.builder.end_mark();
            self.text.builder.space();
            self.text.runs_on = true;
        } else {
            if self.text.label.is_none() {
                self.end_line();
                self.text.builder.begin(LineKind::Heading, depth.words, "");
                self.text.is_line_open = true;
            }
            self.children(node, depth);
            self.end_line();
        }
    }

    fn paragraph(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        self.start_paragraph();
        let class = node.attribute("class").unwrap_or_default();
        let is_outermost = depth.words == depth.units;
        let is_new_line = self.text.label.is_none() && !self.text.is_line_open && !self.is_in_cell;
        if is_new_line && class.starts_with("centered") {
            self.text.builder.begin(LineKind::Heading, depth.words, "");
            self.text.is_line_open = true;
        }
        let indented = UnitDepth { words: indent_of(class), ..depth };
        self.children(node, if is_outermost { indented } else { depth });
        self.end_line();
    }

    fn start_paragraph(&mut self) {
        if !std::mem::take(&mut self.text.runs_on) && self.text.label.is_none() {
            self.end_line();
        }
    }

    /// Adds words or paragraphs that belong together.
    fn block(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        if !self.text.runs_on && self.text.label.is_none() {
            self.end_line();
        }
        self.children(node, depth);
        self.end_line();
    }

    fn marked(&mut self, node: Node<'a, 'd>, kind: MarkKind, depth: UnitDepth) {
        self.open_line(depth.words);
        self.text.builder.begin_mark(kind);
        self.children(node, depth);
        self.text.builder.end_mark();
    }

    fn image(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        let name = node.attribute("src").unwrap_or_default().trim();
        let name = name.rsplit('/').next().unwrap_or_default();
        if self.is_in_cell {
            return self.words(name, depth);
        }
        self.flush_label();
        self.end_line();
        self.text.builder.begin(LineKind::Image, depth.words, "");
        self.text.builder.push(name);
        self.end_line();
    }

    /// Adds a note. Its topic is its heading or, without one, its kind.
    pub(super) fn note(&mut self, node: Node<'a, 'd>) {
        let heading = node.children().find(|child| child.has_tag_name("heading"));
        let topic = heading.map(|heading| self.plain(heading)).filter(|topic| !topic.is_empty());
        let body: Vec<_> = match node.is_text() {
            true => vec![node],
            false => node.children().filter(|&child| Some(child) != heading).collect(),
        };
        let (text, layout) = self.set(&body);
        let topic = topic.map_or_else(|| kind_of_note(node), |topic| topic.trim_end_matches(':').to_owned());
        let has_words = !text.is_empty() || heading.is_some();
        if has_words && !is_group_of_notes(node) {
            self.notes.push(ContentNote { topic, text, layout });
        }
    }

    /// Adds a note that is in the text under a separate heading.
    pub(super) fn note_under(&mut self, heading: Node<'a, 'd>, body: &[Node<'a, 'd>]) {
        let topic = self.plain(heading);
        let (text, layout) = self.set(body);
        self.notes.push(ContentNote { topic, text, layout });
    }

    fn footnote(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        let id = node.attribute("id").unwrap_or_default();
        if !self.footnotes.contains_key(id) || id.is_empty() {
            let place = self.take_footnote(node);
            self.open_line(depth.words);
            self.text.builder.footnote(place);
        }
    }

    /// Adds the sign of a footnote. The footnote is next to it, or far away if another sign refers
    /// to the same note.
    fn footnote_sign(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        let id = node.attribute("idref").unwrap_or_default();
        let follows = node.next_sibling_element().filter(|next| is_footnote(*next) && next.attribute("id") == Some(id));
        if follows.is_some() {
            return;
        }
        let place = match self.footnotes.get(id).copied() {
            Some(place) => Some(place),
            None => self.find_distant_footnote(id).map(|note| self.take_footnote(note)),
        };
        match place {
            Some(place) => {
                self.open_line(depth.words);
                self.text.builder.footnote(place);
            }
            // A sign without a footnote is kept as printed.
            None => self.marked(node, MarkKind::Superscript, depth),
        }
    }

    /// A raised number may refer to a footnote again.
    fn superscript(&mut self, node: Node<'a, 'd>, depth: UnitDepth) {
        let number = node.text().unwrap_or_default().trim();
        match self.numbered.get(number).copied().filter(|_| !self.is_in_cell && may_be_sign(node)) {
            Some(place) => {
                self.open_line(depth.words);
                self.text.builder.footnote(place);
                self.repeated_signs.push(number.to_owned());
            }
            None => self.marked(node, MarkKind::Superscript, depth),
        }
    }

    fn find_distant_footnote(&mut self, id: &str) -> Option<Node<'a, 'd>> {
        let root = self.root;
        let all = self.all_footnotes.get_or_insert_with(|| {
            let notes = root.descendants().filter(|node| node.is_element() && is_footnote(*node));
            notes.filter_map(|note| Some((note.attribute("id")?, note))).collect()
        });
        all.get(id).copied()
    }

    /// The index of a footnote among the notes. It is read now, or after the footnote that cites it.
    fn take_footnote(&mut self, node: Node<'a, 'd>) -> usize {
        let place = self.notes.len();
        self.notes.push(ContentNote { topic: FOOTNOTE.to_owned(), ..ContentNote::default() });
        if let Some(id) = node.attribute("id") {
            self.footnotes.insert(id, place);
        }
        if let Some(number) = node.children().find(|child| child.has_tag_name("num")).and_then(|num| num.text()) {
            self.numbered.insert(number.trim().to_owned(), place);
        }
        self.waiting.push_back((place, node));
        if !self.is_in_footnote {
            self.is_in_footnote = true;
            while let Some((place, node)) = self.waiting.pop_front() {
                self.set_footnote(place, node);
            }
            self.is_in_footnote = false;
        }
        place
    }

    fn set_footnote(&mut self, place: usize, node: Node<'a, 'd>) {
        let (text, layout) = self.separate_text(|setter| {
            let body = node.children().filter(|child| !child.has_tag_name("num"));
            body.for_each(|child| setter.child(child, UnitDepth::OUTERMOST));
        });
        let note = &mut self.notes[place];
        (note.text, note.layout) = (text, layout);
    }

    pub(super) fn builder(&mut self) -> &mut TextBuilder {
        &mut self.text.builder
    }
}

fn is_unit(node: Node<'_, '_>) -> bool {
    matches!(
        node.tag_name().name(),
        "subsection"
            | "paragraph"
            | "subparagraph"
            | "clause"
            | "subclause"
            | "item"
            | "subitem"
            | "subsubitem"
            | "level"
    )
}

pub(super) fn is_footnote(node: Node<'_, '_>) -> bool {
    node.has_tag_name("note") && node.attribute("type") == Some("footnote")
}

/// Whether a raised number is neither an exponent nor a numerator, and does not number a remark.
fn may_be_sign(node: Node<'_, '_>) -> bool {
    let before = node.prev_sibling().and_then(|before| before.text()).unwrap_or_default();
    let after = node.next_sibling().and_then(|after| after.text()).unwrap_or_default();
    let is_of_remark = before.trim().is_empty() && node.parent_element().is_some_and(|parent| parent.has_tag_name("p"));
    !is_of_remark && !before.ends_with(char::is_alphanumeric) && !after.trim_start().starts_with('⁄')
}

/// Whether an element is a group heading, such as `Editorial Notes`. The kinds of the notes below express it.
pub(super) fn is_group_of_notes(node: Node<'_, '_>) -> bool {
    let words = || node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect::<String>();
    node.attribute("role") == Some("crossHeading") && GROUPS_OF_NOTES.contains(&words().trim())
}

/// Small capitals are only the print style of headings. Italics are typeface 03 of the Government
/// Publishing Office.
fn is_emphasised(node: Node<'_, '_>) -> bool {
    node.attribute("class")
        .is_some_and(|class| class.contains("italic") || class.ends_with("-03") || class.ends_with("-3"))
}

/// The indentation in a class such as `indent2 firstIndent-2`.
fn indent_of(class: &str) -> usize {
    let steps = class.split_whitespace().find_map(|word| word.strip_prefix("indent")?.parse::<usize>().ok());
    steps.unwrap_or(0).min(20)
}

/// The kind of a note: `Removal description` for the topic `removalDescription`, or the element
/// name if there is no topic.
fn kind_of_note(node: Node<'_, '_>) -> String {
    let name = match node.tag_name().name() {
        "" | "note" | "notes" => node.attribute("topic").unwrap_or("note"),
        other => other,
    };
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        match c {
            c if words.is_empty() => words.extend(c.to_uppercase()),
            c if c.is_uppercase() => {
                words.push(' ');
                words.extend(c.to_lowercase());
            }
            c => words.push(c),
        }
    }
    words
}
