//! Tables of the annual edition (`GPOTABLE`) and tables with spans, as rows and cells.

use hornbook_corpus::layout::LineKind;
use roxmltree::Node;

use super::run::Run;
use super::setter::Setter;

/// No real cell spans more.
const SPAN_MAX: usize = 100;
const COLUMNS_MAX: usize = 500;

/// Reads a `GPOTABLE`: title, boxhead, rows, notes. `read` makes a run of a cell.
pub(crate) fn gpo(node: Node<'_, '_>, setter: &mut Setter, read: &mut dyn FnMut(Node<'_, '_>) -> Run) {
    let table = setter.begin_table();
    for child in node.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "BOXHD" => boxhead(child, table, setter, read),
            "ROW" => {
                let mut cells = Vec::new();
                for entry in child.children().filter(|entry| entry.tag_name().name() == "ENT") {
                    cells.push(read(entry));
                    cells.extend((0..spanned(entry)).map(|_| Run::default()));
                }
                cells.truncate(COLUMNS_MAX);
                setter.in_table(LineKind::TableRow, table, cells);
            }
            "PRTPAGE" => {}
            _ => setter.in_table(LineKind::TableNote, table, vec![read(child)]),
        }
    }
}

/// How many more columns an entry takes: `A="02"`, `A="L01"`.
fn spanned(entry: Node<'_, '_>) -> usize {
    let digits = entry.attribute("A").unwrap_or_default().trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0).min(SPAN_MAX)
}

/// The heads of columns. One that is followed by a deeper one spans those below it.
fn boxhead(node: Node<'_, '_>, table: usize, setter: &mut Setter, read: &mut dyn FnMut(Node<'_, '_>) -> Run) {
    let heads: Vec<(usize, Run)> = node
        .children()
        .filter(|head| head.tag_name().name() == "CHED")
        .map(|head| {
            (head.attribute("H").and_then(|level| level.trim().parse().ok()).unwrap_or(1).clamp(1, 9), read(head))
        })
        .take(COLUMNS_MAX)
        .collect();
    let rows = heads.iter().map(|(level, _)| *level).max().unwrap_or(0);
    let mut grid: Vec<Vec<Run>> = vec![Vec::new(); rows];
    let mut column = 0;
    for (place, (level, run)) in heads.iter().enumerate() {
        let row = &mut grid[level - 1];
        row.resize_with(row.len().max(column), Run::default);
        row.insert(column, run.clone());
        let spans = heads.get(place + 1).is_some_and(|(next, _)| next > level);
        column += usize::from(!spans);
    }
    for mut row in grid {
        row.resize_with(row.len().max(column), Run::default);
        setter.in_table(LineKind::TableHead, table, row);
    }
}

/// Columns that a cell of a row above reaches into, and for how many rows.
#[derive(Debug, Default)]
pub(crate) struct Spans(Vec<usize>);

impl Spans {
    /// The cells of a row, each with how many columns and rows it takes, with empty cells where others reach.
    pub(crate) fn row(&mut self, cells: Vec<(Run, usize, usize)>) -> Vec<Run> {
        let mut row: Vec<Run> = Vec::new();
        let mut below = std::mem::take(&mut self.0);
        let reach = |row: &mut Vec<Run>, below: &mut Vec<usize>| {
            while row.len() < COLUMNS_MAX && below.get(row.len()).is_some_and(|rows| *rows > 0) {
                below[row.len()] -= 1;
                row.push(Run::default());
            }
        };
        for (run, columns, rows) in cells {
            reach(&mut row, &mut below);
            if row.len() >= COLUMNS_MAX {
                break;
            }
            let columns = columns.clamp(1, SPAN_MAX);
            below.resize(below.len().max(row.len() + columns), 0);
            below[row.len()..row.len() + columns].fill(rows.clamp(1, SPAN_MAX) - 1);
            row.push(run);
            row.resize_with(row.len() + columns - 1, Run::default);
        }
        reach(&mut row, &mut below);
        self.0 = below;
        row
    }
}

/// `colspan`, `rowspan`.
pub(crate) fn span(cell: Node<'_, '_>, name: &str) -> usize {
    let value = cell.attributes().find(|attribute| attribute.name().eq_ignore_ascii_case(name));
    value.and_then(|attribute| attribute.value().trim().parse().ok()).unwrap_or(1)
}

/// Reads an HTML table.
pub(crate) fn html(node: Node<'_, '_>, setter: &mut Setter, read: &mut dyn FnMut(Node<'_, '_>) -> Run) {
    let table = setter.begin_table();
    let mut spans = Spans::default();
    for row in node.descendants().filter(Node::is_element) {
        let name = row.tag_name().name().to_ascii_uppercase();
        if name == "CAPTION" {
            setter.in_table(LineKind::TableNote, table, vec![read(row)]);
        } else if name == "TR" {
            let is_cell = |cell: &Node<'_, '_>| matches!(cell.tag_name().name(), "TD" | "TH" | "td" | "th");
            let cells: Vec<Node<'_, '_>> = row.children().filter(is_cell).collect();
            let is_head =
                !cells.is_empty() && cells.iter().all(|cell| cell.tag_name().name().eq_ignore_ascii_case("th"));
            let cells = cells.into_iter().map(|cell| (read(cell), span(cell, "colspan"), span(cell, "rowspan")));
            let cells: Vec<_> = cells.collect();
            let kind = if is_head { LineKind::TableHead } else { LineKind::TableRow };
            let row = spans.row(cells);
            setter.in_table(kind, table, row);
        }
    }
}
