//! The lines of a text with their labels and anchors, for code that renders or cuts the text.
//!
//! The anchor of `(A)` within `(1)` within `(a)` is `a-1-A`, and that of `(b-2)` is `b_2`. An anchor does not
//! change when other paragraphs are added or removed.

use std::ops::Range;

use super::lines::{LayoutRef, LineKind};

/// A line of a text, ready to be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderLine {
    /// Its bytes in the text, without the line feed.
    pub range: Range<usize>,
    pub kind: LineKind,
    pub depth: u8,
    /// The length in bytes of its label, such as `(a)(1)`.
    pub label_bytes: usize,
    /// The number of the table to which it belongs.
    pub table: Option<u16>,
    /// Only for a line with a label.
    pub anchor: Option<Anchor>,
}

/// Identifies an enumerated paragraph within its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The name, such as `a-1-A`.
    pub name: String,
    /// The labels as they follow the citation of the provision: `(a)(1)(A)`.
    pub path: String,
}

/// The lines of a text, with their layout. If there is no layout, or it has another number of lines, every line is
/// a paragraph at depth 0.
pub fn layout_lines(text: &str, layout: Option<LayoutRef<'_>>) -> Vec<RenderLine> {
    let count = text.split('\n').count();
    let lines = layout.map(|layout| layout.lines).filter(|lines| lines.len() == count);
    let mut open: Vec<(u8, String)> = Vec::new();
    let mut start = 0;
    let set = text.split('\n').enumerate().map(|(number, content)| {
        let range = start..start + content.len();
        start = range.end + 1;
        let line = lines.map(|lines| lines[number]).unwrap_or_default();
        let label_bytes = if content.is_char_boundary(line.label_bytes()) { line.label_bytes() } else { 0 };
        open.retain(|(depth, _)| *depth < line.depth);
        let anchor = (label_bytes > 0).then(|| {
            for (step, label) in (0..).zip(labels(&content[..label_bytes])) {
                open.push((line.depth.saturating_add(step), label.to_owned()));
            }
            anchor_of(&open)
        });
        RenderLine {
            range,
            kind: line.kind().unwrap_or(LineKind::Paragraph),
            depth: line.depth,
            label_bytes,
            table: line.table(),
            anchor: anchor.filter(|anchor| !anchor.name.is_empty()),
        }
    });
    set.collect()
}

fn anchor_of(open: &[(u8, String)]) -> Anchor {
    let labels: Vec<&str> = open.iter().map(|(_, label)| label.as_str()).filter(|label| !label.is_empty()).collect();
    Anchor { name: anchor_name(&labels), path: labels.iter().map(|label| format!("({label})")).collect() }
}

/// The anchor name of a subdivision with these labels, outermost first: `b-2` for `(b)(2)`, `b_2` for `(b-2)`.
pub fn anchor_name(labels: &[impl AsRef<str>]) -> String {
    labels.iter().map(|label| label.as_ref().replace('-', "_")).collect::<Vec<_>>().join("-")
}

/// The labels at the start of a line, outermost first: `(a)(1)` and `Sec. 2. (a)` have two. Of a list such as
/// `(a), (b)`, or of a range, only the first label is returned, because the others are its siblings.
fn labels(prefix: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = prefix.trim();
    while found.is_empty() && !rest.starts_with('(') {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_level = LEVELS.iter().any(|level| bare(word).eq_ignore_ascii_case(level));
        if !is_level || after.is_empty() {
            found.push(bare(word));
        }
        rest = after.trim_start();
    }
    while let Some((label, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        found.push(bare(label));
        rest = after.trim_start();
    }
    found
}

/// Words that may precede the number of an enumerated paragraph: `Article II`.
const LEVELS: [&str; 8] = ["title", "part", "article", "section", "sections", "sec", "secs", "paragraph"];

fn bare(label: &str) -> &str {
    label.trim_matches(|c: char| !c.is_alphanumeric())
}
