//! Writes the text of a provision as Markdown. Tables become Markdown tables. Everything else is copied
//! word for word.

use std::borrow::Cow;
use std::ops::Range;

use hornbook_corpus::layout::{LayoutRef, LineKind, RenderLine, build_table, layout_lines};

pub(super) fn of<'t>(text: &'t str, layout: Option<LayoutRef<'_>>) -> Cow<'t, str> {
    let lines = layout_lines(text, layout);
    let Some(layout) = layout.filter(|_| lines.iter().any(|line| line.table.is_some())) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for lines in lines.chunk_by(|one, other| one.table == other.table) {
        if lines[0].table.is_some() {
            add_table(text, lines, layout, &mut out);
        } else {
            lines.iter().for_each(|line| add_line(&text[line.range.clone()], &mut out));
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    Cow::Owned(out)
}

fn add_line(line: &str, out: &mut String) {
    out.push_str(line);
    out.push('\n');
}

/// Titles and remarks around a table become paragraphs. Cells covered by another cell are empty, so that
/// columns line up.
fn add_table(text: &str, lines: &[RenderLine], layout: LayoutRef<'_>, out: &mut String) {
    let is_row = |line: &RenderLine| line.kind != LineKind::TableNote;
    let first = lines.iter().position(is_row).unwrap_or(lines.len());
    let last = lines.iter().rposition(is_row).map_or(first, |last| last + 1);
    let (title, rows, remarks) = (&lines[..first], &lines[first..last], &lines[last..]);
    title.iter().for_each(|line| add_line(&text[line.range.clone()], out));
    let ranges: Vec<(Range<usize>, LineKind)> = rows.iter().map(|line| (line.range.clone(), line.kind)).collect();
    let columns = build_table(text, &ranges, layout.marks).columns;
    out.push('\n');
    // A Markdown table has exactly one header row.
    if rows.first().is_some_and(|row| row.kind != LineKind::TableHead) {
        add_row("", columns, out);
        add_row(&vec!["---"; columns].join("\t"), columns, out);
    }
    for (place, row) in rows.iter().enumerate() {
        add_row(&text[row.range.clone()], columns, out);
        if place == 0 && row.kind == LineKind::TableHead {
            add_row(&vec!["---"; columns].join("\t"), columns, out);
        }
    }
    out.push('\n');
    remarks.iter().for_each(|line| add_line(&text[line.range.clone()], out));
}

fn add_row(row: &str, columns: usize, out: &mut String) {
    out.push('|');
    for cell in row.split('\t').chain(std::iter::repeat("")).take(columns) {
        out.push(' ');
        out.push_str(&cell.replace('|', "\\|"));
        out.push_str(" |");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Layout, Line, Mark, MarkKind};

    use super::*;

    #[test]
    fn tables_are_tables_and_their_columns_line_up() {
        let text = "(a) As follows:\nWidths\nRoad\tWidth\t\t\n\tMin\tMax\t\nLane|way\t1\t2\t\nIn feet.\n(b) End.";
        let table = |kind| Line::in_table(kind, 0, 0);
        use LineKind::{TableHead, TableNote, TableRow};
        let mut lines = vec![Line::labelled(LineKind::Paragraph, 0, 3)];
        lines.extend([TableNote, TableHead, TableHead, TableRow, TableNote].map(table));
        lines.push(Line::labelled(LineKind::Paragraph, 0, 3));
        let at = |place: &str| text.find(place).unwrap() + place.len();
        let marks = vec![
            Mark::new(MarkKind::CoveredFromLeft, at("Width\t"), 1),
            Mark::new(MarkKind::CoveredFromLeft, at("Max\t"), 0),
            Mark::new(MarkKind::CoveredFromLeft, at("\t2\t"), 0),
        ];
        let layout = Layout { lines, marks };
        assert_eq!(layout.check_against_text(text), None);
        let expected = "(a) As follows:\nWidths\n\n| Road | Width |  |\n| --- | --- | --- |\n|  | Min | Max |\n| Lane\\|way | 1 | 2 |\n\nIn feet.\n(b) End.";
        assert_eq!(of(text, Some(layout.as_ref())), expected);
    }

    #[test]
    fn a_missing_head_is_added_and_text_without_tables_is_unchanged() {
        let layout = Layout { lines: vec![Line::in_table(LineKind::TableRow, 0, 0)], marks: Vec::new() };
        assert_eq!(of("a\tb", Some(layout.as_ref())), "\n|  |  |\n| --- | --- |\n| a | b |");
        let layout = Layout { lines: vec![Line::labelled(LineKind::Paragraph, 0, 0)], marks: Vec::new() };
        assert!(matches!(of("a|b\tc", Some(layout.as_ref())), Cow::Borrowed("a|b\tc")));
        assert!(matches!(of("a|b\nc", None), Cow::Borrowed(_)));
    }
}
