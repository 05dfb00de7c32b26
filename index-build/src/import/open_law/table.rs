//! Reads tables into rows of cells. Covered cells are written as empty cells, so that every cell
//! stays in its column.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::source::{elements, name};
use crate::import::table_spans::{Columns, TableRows};
use crate::import::text_builder::TextBuilder;
use crate::import::unknown::is_words;

/// Adds the words of a cell to the current line, which has this depth.
type SetCell = fn(&mut TextBuilder, Node<'_, '_>, usize);

/// Adds a table as separate lines.
pub(super) fn set(builder: &mut TextBuilder, table: Node<'_, '_>, depth: usize, cell: SetCell) {
    let rows = TableRows::begin(depth, builder);
    TableSetting { depth, rows, columns: Columns::of(table), cell }.set_all(builder, table, None);
}

struct TableSetting<'a> {
    depth: usize,
    rows: TableRows,
    columns: Columns<'a>,
    cell: SetCell,
}

impl<'a> TableSetting<'a> {
    fn set_all(&mut self, builder: &mut TextBuilder, node: Node<'a, '_>, kind: Option<LineKind>) {
        for part in node.children() {
            match name(part) {
                None => self.words(builder, part),
                Some("thead") => self.set_part(builder, part, Some(LineKind::TableHead)),
                Some("tbody") => self.set_part(builder, part, kind),
                Some("tfoot") => self.set_part(builder, part, Some(LineKind::TableNote)),
                Some("tr" | "row") => {
                    let only_heads = elements(part).all(|cell| name(cell) == Some("th"));
                    let by_cells = if only_heads { LineKind::TableHead } else { LineKind::TableRow };
                    self.row(builder, part, kind.unwrap_or(by_cells));
                    // Some rows contain further rows.
                    let within = elements(part).filter(|cell| name(*cell) == Some("tr"));
                    within.for_each(|row| self.row(builder, row, kind.unwrap_or(LineKind::TableRow)));
                }
                Some("td" | "th" | "caption" | "title") => {
                    self.rows.begin_line(LineKind::TableNote, builder);
                    (self.cell)(builder, part, self.depth);
                }
                _ => self.set_all(builder, part, kind),
            }
        }
    }

    fn set_part(&mut self, builder: &mut TextBuilder, node: Node<'a, '_>, kind: Option<LineKind>) {
        self.rows.begin_part();
        self.set_all(builder, node, kind);
    }

    fn row(&mut self, builder: &mut TextBuilder, row: Node<'a, '_>, kind: LineKind) {
        self.rows.begin_line(kind, builder);
        for node in elements(row).filter(|cell| name(*cell) != Some("tr")) {
            let (cell, depth) = (self.cell, self.depth);
            self.rows.cell(self.columns.span(node), builder, |builder| cell(builder, node, depth));
        }
        self.rows.end_row(builder);
        row.children().for_each(|part| self.words(builder, part));
    }

    /// Adds words outside the cells as a line.
    fn words(&mut self, builder: &mut TextBuilder, node: Node<'_, '_>) {
        if is_words(node) {
            self.rows.begin_line(LineKind::TableNote, builder);
            builder.push(node.text().unwrap_or_default());
        }
    }
}
