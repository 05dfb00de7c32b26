//! Builds a text and its layout together, line by line, while an importer walks a document.

use hornbook_corpus::layout::{Layout, Line, LineKind, Mark, MarkKind};

use crate::import::white_space::normalise_spaces;

/// A growing text. Within a line, any run of white space becomes one space, and no line begins or
/// ends with a space. Lines without words are dropped.
#[derive(Debug, Default)]
pub struct TextBuilder {
    text: String,
    layout: Layout,
    /// The start and kind of the current line.
    line: Option<(usize, Line)>,
    /// Open marks with their start.
    open: Vec<(MarkKind, usize)>,
    /// White space was read. It is written only if words follow.
    space: bool,
    tables: usize,
    /// The number of cells begun in the current row.
    cells: usize,
}

impl TextBuilder {
    /// Begins a paragraph or heading with a label such as `(a)`. The label may be empty.
    pub fn begin(&mut self, kind: LineKind, depth: usize, label: &str) {
        self.end_line();
        let start = self.text.len();
        self.line = Some((start, Line::labelled(kind, depth_of(depth), 0)));
        if !label.trim().is_empty() {
            self.push(label);
            let length = self.text.len() - start;
            self.line = Some((start, Line::labelled(kind, depth_of(depth), length)));
            self.space = true;
        }
    }

    /// Begins a paragraph or heading whose words begin with a label of this length.
    pub fn begin_labelled(&mut self, kind: LineKind, depth: usize, label_bytes: usize) {
        self.end_line();
        self.line = Some((self.text.len(), Line::labelled(kind, depth_of(depth), label_bytes)));
    }

    /// Begins a paragraph without a label.
    pub fn paragraph(&mut self, depth: usize) {
        self.begin(LineKind::Paragraph, depth, "");
    }

    /// Adds words to the current line. Begins a paragraph if there is no line.
    pub fn push(&mut self, words: &str) {
        if self.line.is_none() {
            self.line = Some((self.text.len(), Line::labelled(LineKind::Paragraph, 0, 0)));
        }
        let start = self.line.map_or(0, |(start, _)| start);
        let Self { text, space, .. } = self;
        normalise_spaces(words, space, |space, stretch| {
            if space && text.len() > start && !text.ends_with('\t') {
                text.push(' ');
            }
            text.push_str(stretch);
        });
    }

    /// Adds words as they are, without line feeds or tabs, with their marks: kind, start and end in the words. Returns
    /// where the words begin in the text.
    pub fn push_marked(&mut self, words: &str, marks: &[(MarkKind, usize, usize)]) -> usize {
        let at = self.text.len();
        let marks = marks.iter().map(|&(kind, start, end)| Mark::new(kind, at + start, end - start));
        self.layout.marks.extend(marks);
        self.text.push_str(words);
        at
    }

    /// Adds a space before the next word.
    pub fn space(&mut self) {
        self.space = true;
    }

    pub fn begin_mark(&mut self, kind: MarkKind) {
        self.open.push((kind, self.next_word()));
    }

    /// Ends the innermost mark. A mark without words is dropped.
    pub fn end_mark(&mut self) {
        let Some((kind, start)) = self.open.pop() else { return };
        // White space before the first word does not belong to the mark.
        let start = start + self.text.get(start..).map_or(0, |run| run.len() - run.trim_start().len());
        if start < self.text.len() {
            self.layout.marks.push(Mark::new(kind, start, self.text.len() - start));
        }
    }

    /// Adds a reference to the note with this index among the notes of the node.
    pub fn footnote(&mut self, note: usize) {
        self.footnote_at(self.text.len(), note);
    }

    /// The same, at a place in the text.
    pub fn footnote_at(&mut self, at: usize, note: usize) {
        self.layout.marks.push(Mark::footnote(at, note));
    }

    /// Begins a table and returns its number.
    pub fn begin_table(&mut self) -> usize {
        self.end_line();
        self.tables += 1;
        self.tables - 1
    }

    /// Begins a line of a table: words, or cells that each begin with `begin_cell` or `empty_cell`.
    pub fn begin_in_table(&mut self, kind: LineKind, depth: usize, table: usize) {
        self.end_line();
        self.line = Some((self.text.len(), Line::in_table(kind, depth_of(depth), table)));
        self.cells = 0;
    }

    /// Begins a cell. Tabs and line feeds within its words become spaces.
    pub fn begin_cell(&mut self) {
        if self.cells > 0 {
            self.text.push('\t');
        }
        self.cells += 1;
        self.space = false;
    }

    /// Adds an empty cell, with the mark of the cell that covers it, if any.
    pub fn empty_cell(&mut self, cover: Option<MarkKind>) {
        self.begin_cell();
        if let Some(cover) = cover {
            self.layout.cover_cell(&self.text, cover);
        }
    }

    /// Ends the current line. A line without words is dropped, with its marks.
    pub fn end_line(&mut self) {
        self.space = false;
        let Some((start, line)) = self.line.take() else { return };
        if self.text[start..].trim().is_empty() {
            self.text.truncate(start);
            let is_gone = |mark: &Mark| mark.start as usize >= start && mark.kind().is_some_and(MarkKind::is_cover);
            self.layout.marks.retain(|mark| !is_gone(mark));
            for mark in &mut self.layout.marks {
                mark.start = mark.start.min(start.saturating_sub(1) as u32);
            }
            return;
        }
        self.layout.lines.push(line);
        self.text.push('\n');
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn finish(mut self) -> (String, Layout) {
        self.end_line();
        self.text.truncate(self.text.trim_end_matches('\n').len());
        let end = self.text.len() as u32;
        for mark in &mut self.layout.marks {
            mark.start = mark.start.min(end);
            mark.length = mark.length.min(end - mark.start);
        }
        self.layout.marks.sort_by_key(|mark| mark.start);
        debug_assert_eq!(self.layout.lines.is_empty().then_some(""), self.text.is_empty().then_some(""));
        (self.text, self.layout)
    }

    fn next_word(&self) -> usize {
        self.text.len()
    }
}

fn depth_of(depth: usize) -> u8 {
    depth.min(usize::from(u8::MAX)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_labels_marks_and_tables_fit_the_text() {
        let mut builder = TextBuilder::default();
        builder.begin(LineKind::Paragraph, 0, "(a)");
        builder.begin_mark(MarkKind::RunInHeading);
        builder.push("In general.");
        builder.end_mark();
        builder.push("\n  The owner\tshall ");
        builder.footnote(0);
        builder.push("pay.");
        builder.paragraph(1);
        builder.push("  ");
        builder.begin(LineKind::Paragraph, 1, "(1)");
        builder.push(" one");
        let table = builder.begin_table();
        for (kind, cells) in [(LineKind::TableHead, ["A\tB", "", "C "]), (LineKind::TableRow, ["1", "2", ""])] {
            builder.begin_in_table(kind, 1, table);
            for cell in cells {
                builder.begin_cell();
                builder.push(cell);
            }
            builder.end_line();
        }
        let (text, layout) = builder.finish();
        assert_eq!(text, "(a) In general. The owner shall pay.\n(1) one\nA B\t\tC\n1\t2\t");
        assert_eq!(layout.check_against_text(&text), None);
        let kinds: Vec<_> = layout.lines.iter().map(|line| (line.kind().unwrap(), line.depth, line.table())).collect();
        assert_eq!(
            kinds,
            [
                (LineKind::Paragraph, 0, None),
                (LineKind::Paragraph, 1, None),
                (LineKind::TableHead, 1, Some(0)),
                (LineKind::TableRow, 1, Some(0))
            ]
        );
        assert_eq!(layout.lines[0].label_bytes(), 3);
        let heading = layout.marks[0];
        assert_eq!(&text[heading.start as usize..(heading.start + heading.length) as usize], "In general.");
        assert_eq!(&text[layout.marks[1].start as usize..][..2], " p");
    }

    #[test]
    fn nothing_at_all_is_an_empty_text_without_a_layout() {
        let mut builder = TextBuilder::default();
        builder.paragraph(0);
        builder.push(" \n ");
        assert!(builder.is_empty());
        assert_eq!(builder.finish(), (String::new(), Layout::default()));
    }
}
