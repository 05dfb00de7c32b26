//! Provisions whose paragraphs are enumerated only in their words: reorganization plans and some
//! old acts. Their labels become labels of the layout, and no word changes.

use hornbook_corpus::layout::{Layout, Line, LineKind};

use crate::import::labels::{self, Paragraph, Scheme};
use crate::pattern::Pattern;

/// Labels the lines of a text, unless the source already marks its labels.
pub(super) fn label(text: &str, layout: &mut Layout) {
    if layout.lines.iter().any(|line| line.label_bytes() > 0) {
        return;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    if layout.lines.len() != lines.len() {
        return;
    }
    let mut start = 0;
    while start < lines.len() {
        let lead = PartStart::of(lines[start], layout.lines[start]);
        let rest = start + usize::from(lead.is_some());
        let end = (rest..lines.len()).find(|&at| PartStart::of(lines[at], layout.lines[at]).is_some());
        let end = end.unwrap_or(lines.len());
        label_part(&lines[start..end], &mut layout.lines[start..end], lead);
        start = end;
    }
}

/// A line that begins a part of a text.
#[derive(Clone, Copy)]
enum PartStart {
    /// The length in bytes of the section number in `Sec. 2. Transfer of Functions` or
    /// `Sec. 2. (a) There are transferred`.
    Section(usize),
    /// A heading without a number.
    Heading,
}

impl PartStart {
    fn of(text: &str, line: Line) -> Option<Self> {
        if !is_labelled(line) {
            return None;
        }
        let section =
            Pattern::fixed(r"^(?i:Sections?|Secs?\.?) \d+[A-Za-z]?(?:(?:, | and |, and | to |[–-])\d+)*\.(?: |$)");
        if let Some(found) = section.find(text) {
            return Some(Self::Section(found.as_str().trim_end().len()));
        }
        let numbered = Pattern::fixed(r"^(?:\([A-Za-z0-9]{1,5}\)|[0-9]{1,3}\.) ");
        (line.kind() == Some(LineKind::Heading) && !numbered.is_match(text)).then_some(Self::Heading)
    }
}

/// Labels a part. Its paragraphs are numbered separately, within their section if the part is a section.
fn label_part<'t>(texts: &[&'t str], lines: &mut [Line], lead: Option<PartStart>) {
    let number = if let Some(PartStart::Section(bytes)) = lead { bytes } else { 0 };
    let above = usize::from(number > 0);
    let begins = |text: &str| text.len() - text[number..].trim_start().len();
    let own = texts.first().map_or(0, |first| begins(first));
    let paragraph = |(at, (text, line)): (usize, (&&'t str, &Line))| match (at, lead) {
        _ if !is_labelled(*line) => Paragraph::default(),
        (0, Some(PartStart::Heading)) => Paragraph::default(),
        (0, Some(PartStart::Section(_))) => Paragraph::from(&text[own..]),
        _ => Paragraph::from(*text),
    };
    let paragraphs: Vec<Paragraph<'t>> = texts.iter().zip(&*lines).enumerate().map(paragraph).collect();
    let places = labels::infer(&paragraphs, &Scheme::found());
    if number == 0 && places.iter().all(|place| place.label_bytes == 0) {
        return;
    }
    for (at, (line, place)) in lines.iter_mut().zip(&places).enumerate() {
        let is_first = at == 0 && lead.is_some();
        let (depth, label) = match (is_first, place.label_bytes) {
            (true, 0) => (0, number),
            (true, bytes) => (0, own + bytes),
            (false, bytes) => (above + place.depth, bytes),
        };
        let depth = depth.min(255) as u8;
        match line.kind().filter(|_| is_labelled(*line)) {
            Some(kind) => *line = Line::labelled(kind, depth, label),
            None => line.depth = depth,
        }
    }
}

/// Whether a line can have a label.
fn is_labelled(line: Line) -> bool {
    matches!(line.kind(), Some(LineKind::Paragraph | LineKind::Heading))
}
