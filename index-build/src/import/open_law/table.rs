//! Tables: rows of cells. Cells that another one spans are empty, so that every cell stays in its column.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::source::{elements, name};
use crate::import::text_builder::TextBuilder;

/// More columns than any table has; spans beyond them are cut.
const COLUMNS_MAX: usize = 128;

/// Adds the words of a cell to the line at hand, which lies at this depth.
type SetCell = fn(&mut TextBuilder, Node<'_, '_>, usize);

/// Sets a table in lines of its own.
pub(super) fn set(builder: &mut TextBuilder, table: Node<'_, '_>, depth: usize, cell: SetCell) {
    let number = builder.begin_table();
    let mut rows = Rows { number, depth, spans: Vec::new(), cell };
    rows.set_all(builder, table, None);
}

struct Rows {
    number: usize,
    depth: usize,
    /// For each column, how many further rows a cell above reaches into.
    spans: Vec<usize>,
    cell: SetCell,
}

impl Rows {
    fn set_all(&mut self, builder: &mut TextBuilder, node: Node<'_, '_>, kind: Option<LineKind>) {
        for part in elements(node) {
            match name(part) {
                Some("thead") => self.set_all(builder, part, Some(LineKind::TableHead)),
                Some("tfoot") => self.set_all(builder, part, Some(LineKind::TableNote)),
                Some("tr") => {
                    let only_heads = elements(part).all(|cell| name(cell) == Some("th"));
                    let by_cells = if only_heads { LineKind::TableHead } else { LineKind::TableRow };
                    self.row(builder, part, kind.unwrap_or(by_cells));
                    // Some rows hold further rows.
                    let within = elements(part).filter(|cell| name(*cell) == Some("tr"));
                    within.for_each(|row| self.row(builder, row, kind.unwrap_or(LineKind::TableRow)));
                }
                Some("td" | "th" | "caption") => {
                    builder.begin_in_table(LineKind::TableNote, self.depth, self.number);
                    (self.cell)(builder, part, self.depth);
                }
                _ => self.set_all(builder, part, kind),
            }
        }
    }

    fn row(&mut self, builder: &mut TextBuilder, row: Node<'_, '_>, kind: LineKind) {
        builder.begin_in_table(kind, self.depth, self.number);
        let mut column = 0;
        for node in elements(row).filter(|cell| name(*cell) != Some("tr")) {
            self.skip_spanned(builder, &mut column);
            if column > 0 {
                builder.next_cell();
            }
            (self.cell)(builder, node, self.depth);
            let (width, height) = (span(node, "colspan").min(COLUMNS_MAX), span(node, "rowspan"));
            for place in column..(column + width).min(COLUMNS_MAX) {
                self.reserve(place, height);
                if place > column {
                    builder.next_cell();
                }
            }
            column += width;
        }
        self.skip_spanned(builder, &mut column);
        // What this row's own cells reserved counts from the next row on.
        self.spans.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
        builder.end_line();
    }

    /// Leaves empty the cells that one above reaches into.
    fn skip_spanned(&self, builder: &mut TextBuilder, column: &mut usize) {
        while self.spans.get(*column).is_some_and(|rows| *rows > 0) {
            if *column > 0 {
                builder.next_cell();
            }
            *column += 1;
        }
    }

    fn reserve(&mut self, column: usize, height: usize) {
        if self.spans.len() <= column {
            self.spans.resize(column + 1, 0);
        }
        self.spans[column] = height;
    }
}

fn span(cell: Node<'_, '_>, attribute: &str) -> usize {
    cell.attribute(attribute).and_then(|value| value.trim().parse().ok()).unwrap_or(1).max(1)
}
