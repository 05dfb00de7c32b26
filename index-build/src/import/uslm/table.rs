//! Tables: those of XHTML, and the columns of USLM's own layouts, as rows of cells.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::setting::{Depth, Setter};

/// A cell spans no more columns or rows than this: wider ones are mistakes, or attacks.
const SPAN_MAX: usize = 100;

impl<'a, 'd> Setter<'a, 'd> {
    pub(super) fn table(&mut self, node: Node<'a, 'd>, depth: usize) {
        if self.is_in_cell {
            return self.children(node, Depth::OUTERMOST);
        }
        self.flush_label();
        self.end_line();
        let table = self.builder().begin_table();
        let rows = node.descendants().filter(|row| row.has_tag_name("tr"));
        let columns = rows.map(|row| cells(row).map(|cell| span(cell, "colspan")).sum()).max().unwrap_or(1);
        let mut rows = Rows { table, depth, columns, spanned: Vec::new() };
        self.rows(node, LineKind::TableRow, &mut rows);
        self.end_line();
    }

    fn rows(&mut self, node: Node<'a, 'd>, kind: LineKind, rows: &mut Rows) {
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "thead" => self.rows(child, LineKind::TableHead, rows),
                "tbody" => self.rows(child, LineKind::TableRow, rows),
                "tfoot" => self.rows(child, LineKind::TableNote, rows),
                "tr" => self.table_row(child, kind, rows),
                "caption" => self.table_line(child, LineKind::TableNote, rows),
                // Widths and lines.
                "col" | "colgroup" => {}
                _ => self.table_line(child, LineKind::TableNote, rows),
            }
        }
    }

    fn table_row(&mut self, row: Node<'a, 'd>, kind: LineKind, rows: &mut Rows) {
        // A title over the table, or a remark below it.
        let is_whole = cells(row).count() == 1 && cells(row).all(|cell| span(cell, "colspan") >= rows.columns);
        let kind = match kind {
            LineKind::TableHead if is_whole && rows.columns > 1 => LineKind::TableNote,
            LineKind::TableNote if !is_whole => LineKind::TableRow,
            kind => kind,
        };
        self.begin_row(kind, rows);
        let mut column = 0;
        let mut next = cells(row).peekable();
        let mut is_first = true;
        while next.peek().is_some() || rows.is_spanned(column) {
            if !std::mem::take(&mut is_first) {
                self.builder().next_cell();
            }
            if rows.leave_spanned(column) {
                column += 1;
                continue;
            }
            let Some(cell) = next.next() else { break };
            self.cell(cell);
            let (wide, high) = (span(cell, "colspan"), span(cell, "rowspan"));
            for place in column..column + wide {
                rows.span(place, high - 1);
            }
            for _ in 1..wide {
                self.builder().next_cell();
            }
            column += wide;
        }
        self.end_row();
    }

    fn table_line(&mut self, node: Node<'a, 'd>, kind: LineKind, rows: &Rows) {
        self.begin_row(kind, rows);
        self.cell(node);
        self.end_row();
    }

    fn begin_row(&mut self, kind: LineKind, rows: &Rows) {
        self.builder().begin_in_table(kind, rows.depth, rows.table);
        self.is_in_cell = true;
    }

    fn cell(&mut self, node: Node<'a, 'd>) {
        self.children(node, Depth::OUTERMOST);
    }

    fn end_row(&mut self) {
        self.is_in_cell = false;
        self.end_line();
    }

    /// A layout of USLM: a head and items, each of columns.
    pub(super) fn columns(&mut self, node: Node<'a, 'd>, depth: usize) {
        if self.is_in_cell {
            return self.children(node, Depth::OUTERMOST);
        }
        self.flush_label();
        self.end_line();
        let table = self.builder().begin_table();
        let rows = Rows { table, depth, columns: 1, spanned: Vec::new() };
        for row in node.children().filter(Node::is_element) {
            let kind = if row.has_tag_name("header") { LineKind::TableHead } else { LineKind::TableRow };
            self.begin_row(kind, &rows);
            for (place, column) in row.children().filter(Node::is_element).enumerate() {
                if place > 0 {
                    self.builder().next_cell();
                }
                self.cell(column);
            }
            self.end_row();
        }
    }
}

/// The table that rows are set in.
struct Rows {
    table: usize,
    depth: usize,
    columns: usize,
    /// By column, how many more rows a cell from above takes.
    spanned: Vec<usize>,
}

impl Rows {
    fn is_spanned(&self, column: usize) -> bool {
        self.spanned.get(column).is_some_and(|&rows| rows > 0)
    }

    /// Whether a cell from above takes this column of this row.
    fn leave_spanned(&mut self, column: usize) -> bool {
        match self.spanned.get_mut(column) {
            Some(rows) if *rows > 0 => {
                *rows -= 1;
                true
            }
            _ => false,
        }
    }

    fn span(&mut self, column: usize, rows: usize) {
        if rows > 0 {
            self.spanned.resize(self.spanned.len().max(column + 1), 0);
            self.spanned[column] = rows;
        }
    }
}

fn cells<'a, 'd>(row: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    row.children().filter(|cell| cell.has_tag_name("td") || cell.has_tag_name("th"))
}

fn span(cell: Node<'_, '_>, name: &str) -> usize {
    cell.attribute(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, SPAN_MAX)
}
