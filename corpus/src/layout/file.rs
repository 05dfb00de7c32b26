//! The file of layouts: columns of lines and marks, and for each node the texts that have a layout.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::lines::{Layout, LayoutRef, Line, Mark};
use crate::ids::NodeOrdinal;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "layout.bin";
const KIND: FileKind = FileKind { magic: *b"HBLAYOUT", version: 2 };
/// Version 1 of the file has no marks for covered cells, but is otherwise the same.
const WITHOUT_COVERED_CELLS: FileKind = FileKind { version: 1, ..KIND };

/// The position of the layout of a text.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct LayoutPosition {
    first_line: u64,
    first_mark: u64,
    lines: u32,
    marks: u32,
    /// The number of the text in its node: 0 is the law text, then come the wordings, then the notes.
    part: u32,
    /// CRC-32 of the lines and marks.
    sum: u32,
}

fn sum(lines: &[Line], marks: &[Mark]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytemuck::cast_slice(lines));
    hasher.update(bytemuck::cast_slice(marks));
    hasher.finalize()
}

/// Writes the layouts of nodes in ordinal order.
#[derive(Debug)]
pub struct LayoutWriter {
    out: SectionWriter,
    lines: u64,
    marks: Vec<Mark>,
    parts: Vec<LayoutPosition>,
    starts: Vec<u64>,
}

impl LayoutWriter {
    pub fn create(dir: &Path) -> Result<Self, SectionFileError> {
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 4)?;
        out.begin("lines")?;
        Ok(Self { out, lines: 0, marks: Vec::new(), parts: Vec::new(), starts: vec![0] })
    }

    /// Adds the next node, with the layouts of its law text, its wordings and its notes. Empty layouts are not stored.
    pub fn push<'l>(&mut self, layouts: impl Iterator<Item = &'l Layout>) -> Result<(), SectionFileError> {
        for (part, layout) in (0..).zip(layouts) {
            if layout.is_empty() {
                continue;
            }
            self.parts.push(LayoutPosition {
                first_line: self.lines,
                first_mark: self.marks.len() as u64,
                lines: layout.lines.len() as u32,
                marks: layout.marks.len() as u32,
                part,
                sum: sum(&layout.lines, &layout.marks),
            });
            self.out.write_slice(&layout.lines)?;
            self.lines += layout.lines.len() as u64;
            self.marks.extend_from_slice(&layout.marks);
        }
        self.starts.push(self.parts.len() as u64);
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), SectionFileError> {
        self.out.section("marks", &self.marks)?;
        self.out.section("parts", &self.parts)?;
        self.out.section("partsat", &self.starts)?;
        self.out.finish()
    }
}

/// The mapped layouts. A damaged layout is treated like a missing one: its text is then shown line by line.
#[derive(Clone, Debug)]
pub struct Layouts {
    lines: Column<Line>,
    marks: Column<Mark>,
    parts: Column<LayoutPosition>,
    starts: Column<u64>,
}

impl Layouts {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let path = dir.join(FILE_NAME);
        let file = match SectionFile::open(&path, KIND) {
            Err(SectionFileError::Version { found, .. }) if found == WITHOUT_COVERED_CELLS.version => {
                SectionFile::open(&path, WITHOUT_COVERED_CELLS)?
            }
            opened => opened?,
        };
        let layouts = Self {
            lines: file.column("lines")?,
            marks: file.column("marks")?,
            parts: file.column("parts")?,
            starts: file.column("partsat")?,
        };
        let counted = layouts.starts.last().copied();
        if layouts.starts.first() != Some(&0) || counted != Some(layouts.parts.len() as u64) {
            let what = format!("it contains {} layouts, but its node index counts {counted:?}", layouts.parts.len());
            return Err(file.damaged(what));
        }
        Ok(layouts)
    }

    pub fn node_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The layout of a node's law text.
    pub fn of_text(&self, node: NodeOrdinal) -> Option<LayoutRef<'_>> {
        self.of_part(node, 0)
    }

    /// The layout of one of a node's texts: 0 is the law text, then come the wordings, then the notes.
    pub fn of_part(&self, node: NodeOrdinal, part: usize) -> Option<LayoutRef<'_>> {
        let place = node.index();
        let (start, end) = (*self.starts.get(place)?, *self.starts.get(place.checked_add(1)?)?);
        let parts = self.parts.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
        let part = parts.iter().find(|candidate| candidate.part as usize == part)?;
        let lines = run(&self.lines, part.first_line, part.lines)?;
        let marks = run(&self.marks, part.first_mark, part.marks)?;
        (sum(lines, marks) == part.sum).then_some(LayoutRef { lines, marks })
    }
}

fn run<T: Pod>(column: &Column<T>, start: u64, length: u32) -> Option<&[T]> {
    let start = usize::try_from(start).ok()?;
    column.get(start..start.checked_add(length as usize)?)
}
