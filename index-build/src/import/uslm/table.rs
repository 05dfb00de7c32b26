//! Reads tables of XHTML and CALS, and column layouts of USLM, into rows of cells.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::text::{UnitDepth, UslmTextBuilder};
use crate::import::table_spans::{Columns, Spans};
use crate::import::unknown::{has_words, is_words};

impl<'a, 'd> UslmTextBuilder<'a, 'd> {
    pub(super) fn table(&mut self, node: Node<'a, 'd>, depth: usize) {
        let Some(mut rows) = self.begin_table(node, depth) else { return };
        self.rows(node, LineKind::TableRow, &mut rows);
        self.end_line();
    }

    /// Returns None for a table within a cell, whose words belong to the cell.
    fn begin_table(&mut self, node: Node<'a, 'd>, depth: usize) -> Option<Rows<'a>> {
        if self.is_in_cell {
            self.children(node, UnitDepth::OUTERMOST);
            return None;
        }
        self.flush_label();
        self.end_line();
        let names = Columns::of(node);
        let rows = node.descendants().filter(|row| row.has_tag_name("tr") || row.has_tag_name("row"));
        let columns = rows.map(|row| cells(row).map(|cell| names.span(cell).columns).sum()).max().unwrap_or(1);
        Some(Rows { table: self.builder().begin_table(), depth, columns, names, spans: Spans::default() })
    }

    fn rows(&mut self, node: Node<'a, 'd>, kind: LineKind, rows: &mut Rows<'a>) {
        for child in node.children().filter(|child| child.is_element() || is_words(*child)) {
            match child.tag_name().name() {
                "thead" => self.part(child, LineKind::TableHead, rows),
                "tbody" => self.part(child, LineKind::TableRow, rows),
                "tfoot" => self.part(child, LineKind::TableNote, rows),
                "tgroup" => self.rows(child, kind, rows),
                "tr" | "row" => self.table_row(child, kind, rows),
                // Widths, lines and names.
                "col" | "colgroup" | "colspec" | "spanspec" if !has_words(child) => {}
                _ => self.remark(child, rows),
            }
        }
    }

    /// Adds words of a table outside its cells as a line.
    fn remark(&mut self, node: Node<'a, 'd>, rows: &mut Rows<'a>) {
        self.begin_row(LineKind::TableNote, rows);
        self.child(node, UnitDepth::OUTERMOST);
        self.end_row();
    }

    fn part(&mut self, node: Node<'a, 'd>, kind: LineKind, rows: &mut Rows<'a>) {
        rows.spans.begin_part();
        self.rows(node, kind, rows);
    }

    fn table_row(&mut self, row: Node<'a, 'd>, kind: LineKind, rows: &mut Rows<'a>) {
        // A title above the table, or a remark below it.
        let is_whole = cells(row).count() == 1 && cells(row).all(|cell| rows.names.span(cell).columns >= rows.columns);
        let kind = match kind {
            LineKind::TableHead if is_whole && rows.columns > 1 => LineKind::TableNote,
            LineKind::TableNote if !is_whole => LineKind::TableRow,
            kind => kind,
        };
        self.cells(cells(row), kind, rows);
        row.children().filter(|part| !is_cell(*part) && has_words(*part)).for_each(|part| self.remark(part, rows));
    }

    fn cells(&mut self, cells: impl Iterator<Item = Node<'a, 'd>>, kind: LineKind, rows: &mut Rows<'a>) {
        self.begin_row(kind, rows);
        for cell in cells {
            let span = rows.names.span(cell);
            rows.spans.before(span, |filler| self.builder().empty_cell(filler));
            self.builder().begin_cell();
            self.children(cell, UnitDepth::OUTERMOST);
            rows.spans.after(span, |filler| self.builder().empty_cell(filler));
        }
        rows.spans.end_row(|filler| self.builder().empty_cell(filler));
        self.end_row();
    }

    fn begin_row(&mut self, kind: LineKind, rows: &Rows<'a>) {
        self.builder().begin_in_table(kind, rows.depth, rows.table);
        self.is_in_cell = true;
    }

    fn end_row(&mut self) {
        self.is_in_cell = false;
        self.end_line();
    }

    /// Reads a column layout of USLM: a head and items, each with columns.
    pub(super) fn columns(&mut self, node: Node<'a, 'd>, depth: usize) {
        let Some(mut rows) = self.begin_table(node, depth) else { return };
        for row in node.children() {
            if is_words(row) {
                self.remark(row, &mut rows);
            }
            if !row.is_element() {
                continue;
            }
            let kind = if row.has_tag_name("header") { LineKind::TableHead } else { LineKind::TableRow };
            self.cells(row.children().filter(Node::is_element), kind, &mut rows);
            row.children().filter(|part| is_words(*part)).for_each(|part| self.remark(part, &mut rows));
        }
    }
}

/// The table that the rows belong to.
struct Rows<'a> {
    table: usize,
    depth: usize,
    columns: usize,
    names: Columns<'a>,
    spans: Spans,
}

fn cells<'a, 'd>(row: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    row.children().filter(|cell| is_cell(*cell))
}

fn is_cell(node: Node<'_, '_>) -> bool {
    ["td", "th", "entry"].iter().any(|name| node.has_tag_name(*name))
}
