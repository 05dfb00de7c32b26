//! Converts the rows of a table to cells, with the columns and rows that each cell spans.

use std::ops::Range;

use super::lines::{LineKind, Mark, MarkKind};

/// A cell that no other one covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCell {
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// Its first column, from zero.
    pub column: usize,
    /// The number of columns it spans, and the number of rows.
    pub columns: usize,
    pub rows: usize,
}

/// A table, ready to be rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The number of columns. Columns at the end in which no cell begins are not counted.
    pub columns: usize,
    /// For each row, the cells that begin in it.
    pub rows: Vec<Vec<TableCell>>,
}

/// The cell that covers a column of a row, as the number of the cell's row and its position in that row.
type CoveringCell = (usize, usize);

/// Builds a table from its rows: the bytes and the kind of each. No cell spans rows of the head and rows below it.
/// If a mark covers a cell that has text, or if there is no cell that could cover it, the mark is ignored.
pub fn build_table(text: &str, rows: &[(Range<usize>, LineKind)], marks: &[Mark]) -> Table {
    let mut table = Table::default();
    let mut above: Vec<Option<CoveringCell>> = Vec::new();
    for (number, (line, kind)) in rows.iter().enumerate() {
        if number > 0 && rows[number - 1].1 != *kind {
            above.clear();
        }
        above = table.add_row(text, line.clone(), marks, &above);
    }
    table.columns = table.rows.iter().flatten().map(|cell| cell.column + 1).max().unwrap_or(0);
    for cell in table.rows.iter_mut().flatten() {
        cell.columns = cell.columns.min(table.columns - cell.column);
    }
    table
}

impl Table {
    /// Adds a row. Returns the cell that covers each of its columns.
    fn add_row(
        &mut self,
        text: &str,
        line: Range<usize>,
        marks: &[Mark],
        above: &[Option<CoveringCell>],
    ) -> Vec<Option<CoveringCell>> {
        let number = self.rows.len();
        let cells = cells(text, line, marks);
        let owner_above = |column: usize| above.get(column).copied().flatten();
        // A cell continues in this row only if it continues in all of its columns.
        let goes_on = |(row, place): CoveringCell| {
            let cell = &self.rows[row][place];
            (cell.column..cell.column + cell.columns).all(|column| {
                let is_covered = cells.get(column).is_some_and(|(_, cover)| *cover == Some(MarkKind::CoveredFromAbove));
                is_covered && owner_above(column) == Some((row, place))
            })
        };
        let mut from_above: Vec<Option<CoveringCell>> = Vec::with_capacity(cells.len());
        for column in 0..cells.len() {
            // For a wide cell, its first column decides.
            let owner = owner_above(column).filter(|&(row, place)| match self.rows[row][place].column {
                first if first < column => from_above[first] == Some((row, place)),
                _ => goes_on((row, place)),
            });
            from_above.push(owner);
        }
        let mut own: Vec<TableCell> = Vec::new();
        let mut owners: Vec<Option<CoveringCell>> = Vec::with_capacity(cells.len());
        for (column, (bytes, cover)) in cells.into_iter().enumerate() {
            if let Some(owner) = from_above[column] {
                let cell = &mut self.rows[owner.0][owner.1];
                cell.rows = number - owner.0 + 1;
                owners.push(Some(owner));
                continue;
            }
            let left = owners.last().copied().flatten().filter(|(row, _)| *row == number);
            match (cover, left) {
                (Some(MarkKind::CoveredFromLeft), Some(owner)) => {
                    own[owner.1].columns += 1;
                    owners.push(Some(owner));
                }
                _ => {
                    owners.push(Some((number, own.len())));
                    own.push(TableCell { bytes, column, columns: 1, rows: 1 });
                }
            }
        }
        self.rows.push(own);
        owners
    }
}

/// The cells of a row, each with the kind of the mark that covers it, if any.
fn cells(text: &str, line: Range<usize>, marks: &[Mark]) -> Vec<(Range<usize>, Option<MarkKind>)> {
    let first = marks.partition_point(|mark| (mark.start as usize) < line.start);
    let mut covers = marks[first..]
        .iter()
        .take_while(|mark| mark.start as usize <= line.end)
        .filter(|mark| mark.kind().is_some_and(MarkKind::is_cover))
        .peekable();
    let mut start = line.start;
    let split = text[line.clone()].split('\t').map(|cell| {
        let bytes = start..start + cell.len();
        start = bytes.end + 1;
        while covers.next_if(|mark| mark.end() < bytes.start).is_some() {}
        let cover = covers.peek().filter(|mark| mark.start as usize <= bytes.start && bytes.is_empty());
        (bytes, cover.and_then(|mark| mark.kind()))
    });
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines::{Layout, Line};
    use super::*;

    /// Builds a table from rows of cells. `<` is covered from the left and `^` from above; a row that begins with
    /// `!` is in the head. Returns the rows with the spans of each cell, and the number of columns.
    fn set(rows: &[&str]) -> (String, usize) {
        let (mut text, mut layout, mut lines) = (String::new(), Layout::default(), Vec::new());
        for row in rows {
            if !text.is_empty() {
                text.push('\n');
            }
            let (kind, cells) =
                row.strip_prefix('!').map_or((LineKind::TableRow, *row), |row| (LineKind::TableHead, row));
            let start = text.len();
            for (place, cell) in cells.split(' ').enumerate() {
                if place > 0 {
                    text.push('\t');
                }
                match cell {
                    "<" => layout.cover_cell(&text, MarkKind::CoveredFromLeft),
                    "^" => layout.cover_cell(&text, MarkKind::CoveredFromAbove),
                    "." => {}
                    words => text.push_str(words),
                }
            }
            layout.lines.push(Line::in_table(kind, 0, 0));
            lines.push((start..text.len(), kind));
        }
        assert_eq!(layout.check_against_text(&text), None);
        let table = build_table(&text, &lines, &layout.marks);
        let cell =
            |cell: &TableCell| format!("{}@{}:{}x{}", &text[cell.bytes.clone()], cell.column, cell.columns, cell.rows);
        let row = |cells: &Vec<TableCell>| cells.iter().map(cell).collect::<Vec<_>>().join(" ");
        (table.rows.iter().map(row).collect::<Vec<_>>().join("|"), table.columns)
    }

    #[test]
    fn cells_span_what_they_cover() {
        let head = ["!Road Width < <", "!^ Min Max Mean", "Lane 1 2 3"];
        let expected = "Road@0:1x2 Width@1:3x1|Min@1:1x1 Max@2:1x1 Mean@3:1x1|Lane@0:1x1 1@1:1x1 2@2:1x1 3@3:1x1";
        assert_eq!(set(&head), (expected.to_owned(), 4));
        let block = ["a < b", "^ ^ c", "d e f"];
        assert_eq!(set(&block).0, "a@0:2x2 b@2:1x1|c@2:1x1|d@0:1x1 e@1:1x1 f@2:1x1");
        // Two adjacent cells continue independently.
        assert_eq!(set(&["a b c", "^ ^ d", ". ^ e"]).0, "a@0:1x2 b@1:1x3 c@2:1x1|d@2:1x1|@0:1x1 e@2:1x1");
    }

    #[test]
    fn columns_that_no_row_has_a_cell_in_do_not_count() {
        assert_eq!(set(&["Title < < < < <", "a b"]), ("Title@0:2x1|a@0:1x1 b@1:1x1".to_owned(), 2));
        assert_eq!(build_table("", &[], &[]), Table::default());
    }

    #[test]
    fn impossible_covers_become_separate_cells() {
        // Nothing to the left, nothing above, a part of a wide cell, and a row below the head.
        assert_eq!(set(&["< ^ a", "b c"]).0, "@0:1x1 @1:1x1 a@2:1x1|b@0:1x1 c@1:1x1");
        assert_eq!(set(&["a < b", "^ c d"]).0, "a@0:2x1 b@2:1x1|@0:1x1 c@1:1x1 d@2:1x1");
        assert_eq!(set(&["!a b", "^ c"]).0, "a@0:1x1 b@1:1x1|@0:1x1 c@1:1x1");
    }

    #[test]
    fn cells_with_words_are_never_covered() {
        let row = 0..3;
        let marks = [Mark::new(MarkKind::CoveredFromLeft, 2, 0)];
        let table = build_table("a\tb", &[(row, LineKind::TableRow)], &marks);
        assert_eq!(table.rows[0].len(), 2);
        let layout = Layout {
            lines: vec![Line::in_table(LineKind::TableRow, 0, 0)],
            marks: vec![Mark::new(MarkKind::CoveredFromLeft, 0, 1)],
        };
        assert!(layout.check_against_text("a\tb").unwrap().contains("the cells at 0 are not empty"));
    }
}
