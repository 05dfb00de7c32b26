//! Collects the lines of a provision and nests its flat paragraphs by their labels.

use hornbook_corpus::layout::{Layout, LineKind, MarkKind};

use super::run::TextRun;
use crate::content::ContentNote;
use crate::import::labels::{Paragraph, Scheme, infer};
use crate::import::text_builder::TextBuilder;

/// The lines of a text as they were read.
#[derive(Debug, Default)]
pub(crate) struct CfrTextBuilder {
    lines: Vec<Read>,
    tables: usize,
}

/// A line as it was read.
#[derive(Debug)]
struct Read {
    kind: LineKind,
    run: TextRun,
    /// For a line in a table, whose words are in its cells: the number of the table.
    table: usize,
    cells: Vec<Cell>,
}

/// A cell in a row of a table.
#[derive(Debug)]
pub(crate) enum Cell {
    Own(TextRun),
    /// An empty cell, with the mark of the cell that covers it, if any.
    Empty(Option<MarkKind>),
}

/// The text of a provision with everything that belongs to it.
#[derive(Debug, Default)]
pub(crate) struct CfrText {
    pub(crate) text: String,
    pub(crate) layout: Layout,
    pub(crate) credit: Option<String>,
    pub(crate) notes: Vec<ContentNote>,
    pub(crate) is_reserved: bool,
    /// The publisher's own reference.
    pub(crate) reference: String,
    /// The complete future wording of the section, as printed in a note.
    pub(crate) future_wording: Option<Box<FutureWording>>,
}

/// A wording of a section that is not in force yet.
#[derive(Debug)]
pub(crate) struct FutureWording {
    pub(crate) heading: String,
    pub(crate) text: CfrText,
    /// The index of the note among the notes of the section.
    pub(crate) note: usize,
}

/// A footnote: its sign, and its index among the notes.
pub(crate) type Footnote = (String, usize);

impl CfrTextBuilder {
    /// Adds a paragraph. A run-in heading followed by labels becomes a separate line: `(a) General. (1) ...`.
    pub(crate) fn paragraph(&mut self, run: TextRun) {
        let mut rest = run;
        while let Some(at) = end_of_run_in_heading(&mut rest) {
            let (first, second) = rest.split(at);
            self.push(LineKind::Paragraph, first);
            rest = second;
        }
        self.push(LineKind::Paragraph, rest);
    }

    pub(crate) fn push(&mut self, kind: LineKind, run: TextRun) {
        if !run.text.is_empty() {
            self.lines.push(Read { kind, run, table: 0, cells: Vec::new() });
        }
    }

    pub(crate) fn begin_table(&mut self) -> usize {
        self.tables += 1;
        self.tables - 1
    }

    /// Adds a line of a table. A row without words is dropped.
    pub(crate) fn in_table(&mut self, kind: LineKind, table: usize, cells: Vec<Cell>) {
        if cells.iter().any(|cell| matches!(cell, Cell::Own(run) if !run.text.is_empty())) {
            self.lines.push(Read { kind, run: TextRun::default(), table, cells });
        }
    }

    /// Returns the text and its layout.
    pub(crate) fn finish(self, scheme: &Scheme, footnotes: &[Footnote]) -> (String, Layout) {
        let depths = self.depths(scheme);
        let mut builder = TextBuilder::default();
        let mut seen: Vec<&str> = Vec::new();
        for (read, (depth, label)) in self.lines.iter().zip(depths) {
            match read.kind.is_in_table() {
                true => builder.begin_in_table(read.kind, depth.into(), read.table),
                false => builder.begin_labelled(read.kind, depth.into(), label),
            }
            push_run(&mut builder, &read.run, footnotes, &mut seen);
            for cell in &read.cells {
                match cell {
                    Cell::Own(run) => {
                        builder.begin_cell();
                        push_run(&mut builder, run, footnotes, &mut seen);
                    }
                    Cell::Empty(cover) => builder.empty_cell(*cover),
                }
            }
        }
        builder.finish()
    }

    /// Depth and label length of every line. Labels are interpreted separately between any two headings.
    fn depths(&self, scheme: &Scheme) -> Vec<(u8, usize)> {
        let mut depths = vec![(0, 0); self.lines.len()];
        let mut start = 0;
        while start < self.lines.len() {
            let next = (start + 1..self.lines.len()).find(|&at| self.lines[at].kind == LineKind::Heading);
            let end = next.unwrap_or(self.lines.len());
            let at: Vec<usize> = (start..end).filter(|&at| self.lines[at].kind == LineKind::Paragraph).collect();
            let italics: Vec<_> = at.iter().map(|&at| self.lines[at].run.italics()).collect();
            let paragraphs: Vec<Paragraph<'_>> = at
                .iter()
                .zip(&italics)
                .map(|(&at, italics)| Paragraph { text: &self.lines[at].run.text, italics })
                .collect();
            let places = infer(&paragraphs, scheme);
            for (&at, place) in at.iter().zip(&places) {
                depths[at] = (place.depth.min(255) as u8, place.label_bytes);
            }
            // Tables, blocks and images belong to the paragraph before them.
            let mut inside = 0;
            for (line, place) in self.lines[start..end].iter().zip(&mut depths[start..end]) {
                match line.kind {
                    LineKind::Paragraph => inside = place.0 + u8::from(place.1 > 0),
                    LineKind::Heading => inside = 0,
                    _ => place.0 = inside,
                }
            }
            start = end;
        }
        depths
    }
}

fn push_run<'r>(builder: &mut TextBuilder, run: &'r TextRun, footnotes: &[Footnote], seen: &mut Vec<&'r str>) {
    let start = builder.push_marked(&run.text, &run.marks);
    for (at, sign) in &run.footnotes {
        // The second reference with the same sign refers to the second footnote with it, if there are two.
        let before = seen.iter().filter(|other| *other == sign).count();
        let of_sign: Vec<usize> = footnotes.iter().filter(|(own, _)| own == sign).map(|(_, note)| *note).collect();
        if let Some(note) = of_sign.get(before).or(of_sign.last()) {
            builder.footnote_at(start + at, *note);
        }
        seen.push(sign);
    }
}

/// The end of a run-in heading at the start of a paragraph, if labels follow it. Marks the heading as run-in.
fn end_of_run_in_heading(run: &mut TextRun) -> Option<usize> {
    let label_end = labels_end(&run.text);
    let at = run.marks.iter().position(|&(kind, start, _)| {
        kind == MarkKind::Emphasis && start >= label_end && run.text[label_end..start].trim().is_empty()
    })?;
    let (_, start, end) = run.marks[at];
    let heading = run.text[start..end].trim_end();
    let after = run.text[end..].trim_start();
    let is_marked = heading.ends_with(['.', '—', ':']) || after.starts_with(['.', '—']);
    let rest = after.trim_start_matches(['.', '—', '–', ' ']);
    let cut = run.text.len() - rest.len();
    let begins_series = ["(1)", "(i)", "(a)", "(A)"].iter().any(|first| rest.starts_with(first));
    // In `(j) Age limitation for certain operations (1) Age limitation.`, only the label of the
    // first paragraph below ends the heading (14 C.F.R. § 61.3).
    let ends_at_label = || label_end > 0 && begins_series && is_label(rest);
    if !is_marked && !ends_at_label() {
        return None;
    }
    run.marks[at].0 = MarkKind::RunInHeading;
    begins_series.then_some(cut)
}

/// Whether a text begins with a label, and not with a reference such as `(1) of this section`.
fn is_label(text: &str) -> bool {
    infer(&[Paragraph::from(text)], &Scheme::cfr()).iter().any(|place| place.label_bytes > 0)
}

/// The end of the parenthesized labels that a text begins with.
fn labels_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = text[end..].trim_start();
        let start = text.len() - rest.len();
        let close = rest.find(')').filter(|&close| rest.starts_with('(') && close <= 6);
        match close {
            Some(close) => end = start + close + 1,
            None => return end,
        }
    }
}
