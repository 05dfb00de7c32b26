//! A layout in memory: the kind of each line of a text, and the marks within the lines.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// The layout of a text: a [`Line`] for each of its lines, in order, and marks by ascending start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    #[serde(default, rename = "l", skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    #[serde(default, rename = "m", skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

/// A layout in the mapped file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutRef<'s> {
    pub lines: &'s [Line],
    pub marks: &'s [Mark],
}

impl Layout {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn as_ref(&self) -> LayoutRef<'_> {
        LayoutRef { lines: &self.lines, marks: &self.marks }
    }

    /// Renumbers the footnotes of the text: their notes begin at `first` among the notes of the node, not at zero.
    pub fn offset_footnotes(&mut self, first: usize) {
        for mark in self.marks.iter_mut().filter(|mark| mark.kind() == Some(MarkKind::Footnote)) {
            mark.target += first as u32;
        }
    }

    /// Marks the empty cell at the end of `text` as covered by another cell. `kind` gives the direction of that
    /// cell: left or above.
    pub fn cover_cell(&mut self, text: &str, kind: MarkKind) {
        let at = text.len();
        match self.marks.last_mut() {
            Some(run) if run.kind() == Some(kind) && run.end() + 1 == at && text.ends_with('\t') => run.length += 1,
            _ => self.marks.push(Mark::new(kind, at, 0)),
        }
    }

    /// Checks that this can be the layout of a text. Returns what is wrong; such a layout must not be stored.
    pub fn check_against_text(&self, text: &str) -> Option<String> {
        let lines = text.split('\n').count();
        if self.lines.len() != lines {
            return Some(format!("the layout has {} lines, but the text has {lines}", self.lines.len()));
        }
        let mut starts = text.split('\n');
        let bad_label = self.lines.iter().position(|line| {
            let text = starts.next().unwrap_or_default();
            line.kind().is_some_and(LineKind::has_label) && !text.is_char_boundary(usize::from(line.value))
        });
        if let Some(line) = bad_label {
            return Some(format!("the label of line {line} does not end between characters"));
        }
        let mut before = 0;
        for mark in &self.marks {
            let (start, end) = (mark.start as usize, mark.end());
            let lies_well = start >= before && text.is_char_boundary(start) && text.is_char_boundary(end);
            let Some(kind) = mark.kind().filter(|_| lies_well) else {
                return Some(format!("the mark at {start} is out of order or outside the text"));
            };
            if kind.is_cover() && text[start..end].bytes().any(|byte| byte != b'\t') {
                return Some(format!("the cells at {start} are not empty, so no other cell can cover them"));
            }
            before = start;
        }
        None
    }
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LineKind {
    /// A paragraph, with its label at the start if it has one.
    Paragraph = 0,
    /// A heading within the text, perhaps with a label.
    Heading = 1,
    /// A row of a table's head. Tabs separate its cells. Cells that other cells cover are empty.
    TableHead = 2,
    TableRow = 3,
    /// The title of the table that follows, or a remark below it.
    TableNote = 4,
    /// Text that is set apart from the rest, such as a form or a quotation.
    Block = 5,
    /// The name and description of an image or another file that is not in the text.
    Image = 6,
}

impl LineKind {
    const ALL: [Self; 7] =
        [Self::Paragraph, Self::Heading, Self::TableHead, Self::TableRow, Self::TableNote, Self::Block, Self::Image];

    fn has_label(self) -> bool {
        matches!(self, Self::Paragraph | Self::Heading)
    }

    pub fn is_in_table(self) -> bool {
        matches!(self, Self::TableHead | Self::TableRow | Self::TableNote)
    }
}

/// A line of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
#[serde(from = "(u8, u8, u16)", into = "(u8, u8, u16)")]
pub struct Line {
    kind: u8,
    /// The depth of the line; 0 is the outermost. A line without a label belongs to the unit at its depth.
    pub depth: u8,
    value: u16,
}

impl From<(u8, u8, u16)> for Line {
    fn from((kind, depth, value): (u8, u8, u16)) -> Self {
        Self { kind, depth, value }
    }
}

impl From<Line> for (u8, u8, u16) {
    fn from(line: Line) -> Self {
        (line.kind, line.depth, line.value)
    }
}

impl Line {
    /// A paragraph or heading whose first `label` bytes are its label. A label that is too long for `u16` is dropped.
    pub fn labelled(kind: LineKind, depth: u8, label: usize) -> Self {
        Self { kind: kind as u8, depth, value: u16::try_from(label).unwrap_or(0) }
    }

    /// A line of the table with this number; the tables of a text are numbered from zero.
    pub fn in_table(kind: LineKind, depth: u8, table: usize) -> Self {
        Self { kind: kind as u8, depth, value: table as u16 }
    }

    /// `None` for an unknown kind, in a damaged file or one of a later version.
    pub fn kind(self) -> Option<LineKind> {
        LineKind::ALL.get(usize::from(self.kind)).copied()
    }

    /// The length in bytes of the line's label.
    pub fn label_bytes(self) -> usize {
        if self.kind().is_some_and(LineKind::has_label) { usize::from(self.value) } else { 0 }
    }

    /// The number of the table to which the line belongs.
    pub fn table(self) -> Option<u16> {
        self.kind().is_some_and(LineKind::is_in_table).then_some(self.value)
    }
}

/// The kind of a mark within the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MarkKind {
    /// A reference to a footnote. `target` is the number of the note among the node's notes. The footnote sign
    /// itself is not in the text, so the mark has no length.
    Footnote = 0,
    /// A heading that runs into its paragraph.
    RunInHeading = 1,
    Emphasis = 2,
    Strong = 3,
    Superscript = 4,
    Subscript = 5,
    /// Empty cells of a row that the cell to their left covers. The mark contains only the tabs between them; for
    /// one cell it has no length.
    CoveredFromLeft = 6,
    /// Empty cells of a row that the cells above them cover, or the cells that cover those.
    CoveredFromAbove = 7,
}

impl MarkKind {
    const ALL: [Self; 8] = [
        Self::Footnote,
        Self::RunInHeading,
        Self::Emphasis,
        Self::Strong,
        Self::Superscript,
        Self::Subscript,
        Self::CoveredFromLeft,
        Self::CoveredFromAbove,
    ];

    /// Whether it marks cells that another cell covers.
    pub fn is_cover(self) -> bool {
        matches!(self, Self::CoveredFromLeft | Self::CoveredFromAbove)
    }
}

/// A mark on a range of bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
#[serde(from = "(u32, u32, u32, u32)", into = "(u32, u32, u32, u32)")]
pub struct Mark {
    pub start: u32,
    pub length: u32,
    kind: u32,
    pub target: u32,
}

impl From<(u32, u32, u32, u32)> for Mark {
    fn from((start, length, kind, target): (u32, u32, u32, u32)) -> Self {
        Self { start, length, kind, target }
    }
}

impl From<Mark> for (u32, u32, u32, u32) {
    fn from(mark: Mark) -> Self {
        (mark.start, mark.length, mark.kind, mark.target)
    }
}

impl Mark {
    pub fn new(kind: MarkKind, start: usize, length: usize) -> Self {
        Self { start: start as u32, length: length as u32, kind: kind as u32, target: 0 }
    }

    pub fn footnote(start: usize, note: usize) -> Self {
        Self { start: start as u32, length: 0, kind: MarkKind::Footnote as u32, target: note as u32 }
    }

    pub fn kind(self) -> Option<MarkKind> {
        MarkKind::ALL.get(self.kind as usize).copied()
    }

    pub fn end(self) -> usize {
        self.start as usize + self.length as usize
    }
}
