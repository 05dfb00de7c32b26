//! The lines of a text according to its layout, with anchors that are unique on the page.

use std::collections::HashSet;

use hornbook_corpus::layout::{LayoutRef, LineKind, RenderLine, layout_lines};

/// A line, ready to be rendered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LineView<'t> {
    pub(super) kind: LineKind,
    /// The number of enclosing subdivisions, from 0.
    pub(super) depth: usize,
    /// The anchors of the subdivisions that begin with this line, outermost first: `a`, `a-1`,
    /// `a-1-A`. None of them occurs earlier on the page.
    pub(super) anchors: Vec<String>,
    /// The labels at the beginning of the line, as written.
    pub(super) label: &'t str,
    pub(super) text: &'t str,
    /// The byte position of `text` in the whole text.
    pub(super) start: usize,
    /// The table that contains the line.
    pub(super) table: Option<u16>,
}

/// Maximum depth of a line. Drafters do not use deeper levels.
const DEPTH_MAX: usize = 7;

/// The non-empty lines of a text. Without a layout, all lines are paragraphs.
pub(super) fn of<'t>(text: &'t str, layout: Option<LayoutRef<'_>>) -> Vec<LineView<'t>> {
    let mut used: HashSet<String> = HashSet::new();
    let mut lines = Vec::new();
    for RenderLine { range, kind, depth, label_bytes, table, anchor } in layout_lines(text, layout) {
        let content = &text[range.clone()];
        // In a table row, an empty first cell counts.
        if content.trim().is_empty() && table.is_none() {
            continue;
        }
        let behind = content[label_bytes..].trim_start_matches(' ');
        lines.push(LineView {
            kind,
            depth: usize::from(depth).min(DEPTH_MAX),
            anchors: anchor.map_or_else(Vec::new, |anchor| new_anchors(&anchor.name, usize::from(depth), &mut used)),
            label: content[..label_bytes].trim(),
            text: behind,
            start: range.end - behind.len(),
            table,
        });
    }
    lines
}

/// The new anchors of a line whose labels begin at a depth. For example, `a-1` at depth 0 also adds
/// `a`, unless `a` occurred before.
fn new_anchors(name: &str, depth: usize, used: &mut HashSet<String>) -> Vec<String> {
    let ends = name.match_indices('-').map(|(end, _)| end).chain([name.len()]);
    let own = ends.skip(depth).map(|end| name[..end].to_owned());
    own.filter(|anchor| used.insert(anchor.clone())).collect()
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Layout, Line as LayoutLine};

    use super::*;

    fn paragraph(depth: u8, label: usize) -> LayoutLine {
        LayoutLine::labelled(LineKind::Paragraph, depth, label)
    }

    #[test]
    fn lines_have_their_depths_labels_and_anchors() {
        let text = "(a)(1) First\ncontinues\n(2) Second\nHead\tB\n\tcell";
        let lines = vec![
            paragraph(0, 6),
            paragraph(1, 0),
            paragraph(1, 3),
            LayoutLine::in_table(LineKind::TableHead, 1, 0),
            LayoutLine::in_table(LineKind::TableRow, 1, 0),
        ];
        let layout = Layout { lines, marks: Vec::new() };
        let set = of(text, Some(layout.as_ref()));
        assert_eq!((set[0].anchors.join(" "), set[0].label, set[0].text), ("a a-1".to_owned(), "(a)(1)", "First"));
        assert_eq!((set[1].depth, set[1].anchors.len()), (1, 0));
        assert_eq!((set[2].anchors.join(" "), set[2].text), ("a-2".to_owned(), "Second"));
        assert_eq!((set[4].kind, set[4].table, set[4].text), (LineKind::TableRow, Some(0), "\tcell"));
        assert!(set.iter().all(|line| text[line.start..].starts_with(line.text)));
    }

    #[test]
    fn an_anchor_occurs_once_and_empty_lines_are_left_out() {
        let text = "(a) one\n\n(a) again";
        let layout = Layout { lines: vec![paragraph(0, 3), paragraph(0, 0), paragraph(0, 3)], marks: Vec::new() };
        let set = of(text, Some(layout.as_ref()));
        assert_eq!(set.iter().map(|line| line.anchors.len()).collect::<Vec<_>>(), [1, 0]);
        let other = Layout { lines: vec![paragraph(3, 3)], marks: Vec::new() };
        assert!(of(text, Some(other.as_ref())).iter().all(|line| line.depth == 0 && line.label.is_empty()));
    }
}
