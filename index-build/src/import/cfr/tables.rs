//! Reads tables of the annual edition (`GPOTABLE`) and tables with spans into rows and cells.

use hornbook_corpus::layout::{LineKind, MarkKind};
use roxmltree::Node;

use super::run::TextRun;
use super::text::{Cell, CfrTextBuilder};
use crate::import::table_spans::{CellSpan, Columns, SPAN_MAX, Spans};

/// The deepest level of column heads.
const LEVEL_MAX: usize = 9;

/// Reads a cell into a run.
type ReadCell<'r> = &'r mut dyn FnMut(Node<'_, '_>) -> TextRun;

/// Reads a `GPOTABLE`: title, boxhead, rows, notes.
pub(crate) fn gpo(node: Node<'_, '_>, setter: &mut CfrTextBuilder, read: ReadCell<'_>) {
    let table = setter.begin_table();
    for child in node.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "BOXHD" => boxhead(child, table, setter, read),
            "ROW" => {
                let mut row = CurrentRow::default();
                // A heading within the table: the first entry of the row spans further columns.
                let mut expanded = further(child, "EXPSTB");
                for entry in child.children().filter(|entry| entry.tag_name().name() == "ENT") {
                    let further = further(entry, "A").max(std::mem::take(&mut expanded));
                    row.cell(CellSpan { columns: 1 + further, ..CellSpan::ONE }, read(entry));
                }
                setter.in_table(LineKind::TableRow, table, row.end());
                remarks(child, |entry| entry.tag_name().name() == "ENT", table, setter, read);
            }
            "PRTPAGE" => {}
            _ => setter.in_table(LineKind::TableNote, table, vec![Cell::Own(read(child))]),
        }
    }
    remarks(node, |child| child.is_element(), table, setter, read);
}

/// Adds words of a table that are outside its cells, each as a separate line.
fn remarks(
    node: Node<'_, '_>,
    is_read: impl Fn(&Node<'_, '_>) -> bool,
    table: usize,
    setter: &mut CfrTextBuilder,
    read: ReadCell<'_>,
) {
    for child in node.children().filter(|child| !is_read(child)) {
        let run = if child.is_text() { TextRun::of_words(child.text().unwrap_or_default()) } else { read(child) };
        setter.in_table(LineKind::TableNote, table, vec![Cell::Own(run)]);
    }
}

/// The number of further columns that an entry spans: `A="02"`, `A="L01"`.
fn further(node: Node<'_, '_>, attribute: &str) -> usize {
    let digits = node.attribute(attribute).unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0).min(SPAN_MAX)
}

/// A column head: its level, counted from zero, and the columns below it.
struct ColumnHead {
    level: usize,
    column: usize,
    end: usize,
    run: TextRun,
}

/// Reads the column heads. A head followed by deeper ones spans all their columns. Any other head
/// spans all remaining levels.
fn boxhead(node: Node<'_, '_>, table: usize, setter: &mut CfrTextBuilder, read: ReadCell<'_>) {
    let mut heads: Vec<ColumnHead> = Vec::new();
    // The heads around the next one, outermost first.
    let mut around: Vec<usize> = Vec::new();
    let mut column = 0;
    for head in node.children().filter(|head| head.tag_name().name() == "CHED") {
        let level =
            head.attribute("H").and_then(|level| level.trim().parse().ok()).unwrap_or(1).clamp(1, LEVEL_MAX) - 1;
        column += usize::from(heads.last().is_some_and(|before| before.level >= level));
        while let Some(ended) = around.pop_if(|&mut place| heads[place].level >= level) {
            heads[ended].end = column;
        }
        around.push(heads.len());
        heads.push(ColumnHead { level, column, end: column + 1, run: read(head) });
    }
    around.into_iter().for_each(|place| heads[place].end = column + 1);
    let levels = heads.iter().map(|head| head.level + 1).max().unwrap_or(0);
    remarks(node, |head| head.tag_name().name() == "CHED", table, setter, read);
    for level in 0..levels {
        let mut row: Vec<Cell> = Vec::new();
        for head in heads.iter_mut().filter(|head| head.level <= level) {
            // A deeper head replaces those around it.
            row.truncate(head.column);
            row.resize_with(head.column, || Cell::Empty(None));
            let is_own = head.level == level;
            row.push(if is_own {
                Cell::Own(std::mem::take(&mut head.run))
            } else {
                Cell::Empty(Some(MarkKind::CoveredFromAbove))
            });
            let cover = if is_own { MarkKind::CoveredFromLeft } else { MarkKind::CoveredFromAbove };
            row.resize_with(head.end, || Cell::Empty(Some(cover)));
        }
        row.resize_with(column + 1, || Cell::Empty(None));
        setter.in_table(LineKind::TableHead, table, row);
    }
}

/// The current row, and the columns that cells of earlier rows cover.
#[derive(Debug, Default)]
struct CurrentRow {
    cells: Vec<Cell>,
    spans: Spans,
}

impl CurrentRow {
    fn cell(&mut self, span: CellSpan, run: TextRun) {
        let Self { cells, spans } = self;
        spans.before(span, |filler| cells.push(Cell::Empty(filler)));
        cells.push(Cell::Own(run));
        spans.after(span, |filler| cells.push(Cell::Empty(filler)));
    }

    fn end(&mut self) -> Vec<Cell> {
        let Self { cells, spans } = self;
        spans.end_row(|filler| cells.push(Cell::Empty(filler)));
        std::mem::take(cells)
    }
}

/// Reads an HTML or CALS table.
pub(crate) fn html(node: Node<'_, '_>, setter: &mut CfrTextBuilder, read: ReadCell<'_>) {
    let table = setter.begin_table();
    let names = Columns::of(node);
    let mut row = CurrentRow::default();
    remarks(node, |child| child.is_element(), table, setter, read);
    for element in node.descendants().skip(1).filter(Node::is_element) {
        let name = element.tag_name().name().to_ascii_lowercase();
        match name.as_str() {
            "caption" | "title" => setter.in_table(LineKind::TableNote, table, vec![Cell::Own(read(element))]),
            "thead" | "tbody" | "tfoot" => {
                row.spans.begin_part();
                remarks(element, |child| child.is_element(), table, setter, read);
            }
            "tgroup" | "table" => remarks(element, |child| child.is_element(), table, setter, read),
            "tr" | "row" => {
                let cells: Vec<Node<'_, '_>> = element.children().filter(is_cell).collect();
                let is_head = is_in_head(element)
                    || !cells.is_empty() && cells.iter().all(|cell| cell.tag_name().name().eq_ignore_ascii_case("th"));
                cells.into_iter().for_each(|cell| row.cell(names.span(cell), read(cell)));
                setter.in_table(if is_head { LineKind::TableHead } else { LineKind::TableRow }, table, row.end());
                remarks(element, |child| child.is_element(), table, setter, read);
            }
            _ if !is_cell(&element) && element.parent_element().is_some_and(is_frame) => {
                setter.in_table(LineKind::TableNote, table, vec![Cell::Own(read(element))]);
            }
            _ => {}
        }
    }
}

/// Whether an element contains rows or cells rather than words.
fn is_frame(node: Node<'_, '_>) -> bool {
    let name = node.tag_name().name();
    ["table", "tgroup", "thead", "tbody", "tfoot", "tr", "row"].iter().any(|frame| name.eq_ignore_ascii_case(frame))
}

fn is_cell(node: &Node<'_, '_>) -> bool {
    ["td", "th", "entry"].iter().any(|name| node.tag_name().name().eq_ignore_ascii_case(name))
}

fn is_in_head(row: Node<'_, '_>) -> bool {
    row.parent_element().is_some_and(|part| part.tag_name().name().eq_ignore_ascii_case("thead"))
}
