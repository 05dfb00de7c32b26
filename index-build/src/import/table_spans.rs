//! Cells that span several columns and rows of a table. Reads the spans as HTML and CALS write
//! them, and lays them out row by row, so that every cell stays in its column.

use std::collections::HashMap;

use hornbook_corpus::layout::{LineKind, MarkKind};
use roxmltree::Node;

use crate::import::text_builder::TextBuilder;

/// The maximum number of columns of a cell. Wider cells are mistakes or attacks. Rows need no
/// limit, because only existing rows count.
pub(crate) const SPAN_MAX: usize = 100;
/// Beyond this many columns, cells do not span further columns.
const COLUMNS_MAX: usize = 500;

/// The columns and rows that a cell spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellSpan {
    /// Its first column, if the cell names it; otherwise the first free one.
    pub(crate) column: Option<usize>,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl CellSpan {
    pub(crate) const ONE: Self = Self { column: None, columns: 1, rows: 1 };

    /// Reads `colspan` and `rowspan` of HTML.
    pub(crate) fn of_html<'v>(attribute: impl Fn(&str) -> Option<&'v str>) -> Self {
        let number = |name: &str| attribute(name).and_then(number).unwrap_or(1);
        Self { column: None, columns: number("colspan").clamp(1, SPAN_MAX), rows: number("rowspan").max(1) }
    }
}

fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

/// The value of an attribute, whatever the case of its name.
fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name().eq_ignore_ascii_case(name)).map(|attribute| attribute.value())
}

/// The names of columns and spans of a CALS table; empty for other tables.
#[derive(Debug, Default)]
pub(crate) struct Columns<'a> {
    columns: HashMap<&'a str, usize>,
    /// The first and the last column, by span name.
    spans: HashMap<&'a str, (usize, usize)>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(table: Node<'a, '_>) -> Self {
        let mut names = Self::default();
        let mut next = 0;
        for node in table.descendants() {
            match node.tag_name().name() {
                "colspec" => {
                    let column =
                        attribute(node, "colnum").and_then(number).map_or(next, |number| number.saturating_sub(1));
                    names.columns.extend(attribute(node, "colname").map(|name| (name, column)));
                    next = column.saturating_add(1);
                }
                "spanspec" => {
                    let span = names.between(node);
                    names.spans.extend(attribute(node, "spanname").zip(span));
                }
                _ => {}
            }
        }
        names
    }

    /// The first and the last column that an element names.
    fn between(&self, node: Node<'a, '_>) -> Option<(usize, usize)> {
        let named = |name: &str| self.columns.get(attribute(node, name)?).copied();
        let first = named("namest").or_else(|| named("colname"))?;
        Some((first, named("nameend").unwrap_or(first)))
    }

    /// The columns and rows that a cell spans.
    pub(crate) fn span(&self, cell: Node<'a, '_>) -> CellSpan {
        if cell.tag_name().name() != "entry" {
            return CellSpan::of_html(|name| attribute(cell, name));
        }
        let named = attribute(cell, "spanname").and_then(|name| self.spans.get(name).copied());
        let between = named.or_else(|| self.between(cell));
        let rows = attribute(cell, "morerows").and_then(number).unwrap_or(0).saturating_add(1);
        let columns = between.map_or(1, |(first, last)| last.saturating_sub(first).min(SPAN_MAX - 1) + 1);
        CellSpan { column: between.map(|(first, _)| first), columns, rows }
    }
}

/// A place of a row without its own cell: the direction of the cell that covers it, or None.
pub(crate) type Filler = Option<MarkKind>;

/// Writes the rows of a table into a text one after the other.
#[derive(Debug)]
pub(crate) struct TableRows {
    table: usize,
    depth: usize,
    spans: Spans,
}

impl TableRows {
    pub(crate) fn begin(depth: usize, builder: &mut TextBuilder) -> Self {
        Self { table: builder.begin_table(), depth, spans: Spans::default() }
    }

    /// Begins a line that is not a row: a title or a remark. Its words follow.
    pub(crate) fn begin_line(&self, kind: LineKind, builder: &mut TextBuilder) {
        builder.begin_in_table(kind, self.depth, self.table);
    }

    /// Adds a cell to the current row. `set` writes its words.
    pub(crate) fn cell(&mut self, span: CellSpan, builder: &mut TextBuilder, set: impl FnOnce(&mut TextBuilder)) {
        self.spans.before(span, |filler| builder.empty_cell(filler));
        builder.begin_cell();
        set(builder);
        self.spans.after(span, |filler| builder.empty_cell(filler));
    }

    pub(crate) fn end_row(&mut self, builder: &mut TextBuilder) {
        self.spans.end_row(|filler| builder.empty_cell(filler));
        builder.end_line();
    }

    /// Begins the head, the body or the foot of the table. Spans do not continue into it.
    pub(crate) fn begin_part(&mut self) {
        self.spans.begin_part();
    }
}

/// The columns that cells of earlier rows extend into.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// For each column, how many more rows a cell covers.
    below: Vec<usize>,
    /// The next column of the current row.
    column: usize,
}

impl Spans {
    /// Called before a cell: fills the columns before it.
    pub(crate) fn before(&mut self, span: CellSpan, mut fill: impl FnMut(Filler)) {
        let named = span.column.filter(|column| *column < COLUMNS_MAX).unwrap_or(0);
        while self.is_covered() || self.column < named {
            self.fill(&mut fill);
        }
    }

    /// Called after a cell: fills the columns that it covers.
    pub(crate) fn after(&mut self, span: CellSpan, mut fill: impl FnMut(Filler)) {
        let room = COLUMNS_MAX.saturating_sub(self.column).max(1);
        let end = self.column + span.columns.min(room);
        self.below.resize(self.below.len().max(end), 0);
        for rows in &mut self.below[self.column..end] {
            *rows = rows.saturating_sub(1).max(span.rows - 1);
        }
        (self.column + 1..end).for_each(|_| fill(Some(MarkKind::CoveredFromLeft)));
        self.column = end;
    }

    /// Called at the end of a row: fills the columns after the last cell that earlier cells cover.
    pub(crate) fn end_row(&mut self, mut fill: impl FnMut(Filler)) {
        let end = self.below.iter().rposition(|rows| *rows > 0).map_or(0, |last| last + 1);
        while self.column < end {
            self.fill(&mut fill);
        }
        self.column = 0;
    }

    /// Ends all spans, because a new part of the table begins.
    pub(crate) fn begin_part(&mut self) {
        self.below.clear();
    }

    fn is_covered(&self) -> bool {
        self.below.get(self.column).is_some_and(|rows| *rows > 0)
    }

    fn fill(&mut self, fill: &mut impl FnMut(Filler)) {
        fill(self.is_covered().then_some(MarkKind::CoveredFromAbove));
        if let Some(rows) = self.below.get_mut(self.column) {
            *rows = rows.saturating_sub(1);
        }
        self.column += 1;
    }
}
