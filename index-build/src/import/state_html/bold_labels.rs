//! Paragraphs outside lists that print their label in bold: `<p><b>E.</b> The owner shall ...`. HTML does not say where they
//! belong, so all labels of such a text are placed by what they say, as those of flat texts.

use std::collections::BTreeMap;

use hornbook_corpus::layout::{Layout, Line, LineKind, MarkKind};

use crate::import::labels::{Paragraph, Scheme, infer, label_bytes};

/// Places the lines of a text by their labels if one of them has its label only in bold.
pub(super) fn place(text: &str, layout: &mut Layout) {
    let bold = layout.marks.iter().filter(|mark| mark.kind() == Some(MarkKind::Strong));
    let ends: BTreeMap<usize, usize> = bold.map(|mark| (mark.start as usize, mark.end())).collect();
    let mut start = 0;
    let has_bold_label = text.split('\n').zip(&layout.lines).any(|(words, line)| {
        let begin = start;
        start += words.len() + 1;
        let is_plain = line.kind() == Some(LineKind::Paragraph) && line.label_bytes() == 0;
        let end = ends.get(&begin).filter(|end| is_plain && **end < begin + words.len());
        end.is_some_and(|end| is_label(&text[begin..*end]))
    });
    if !has_bold_label {
        return;
    }
    let is_paragraph = |line: &Line| line.kind() == Some(LineKind::Paragraph);
    let words = |(words, line)| if is_paragraph(line) { words } else { "" };
    let paragraphs: Vec<Paragraph<'_>> = text.split('\n').zip(&layout.lines).map(words).map(Paragraph::from).collect();
    for (line, place) in layout.lines.iter_mut().zip(infer(&paragraphs, &Scheme::found())) {
        // Words that the list has as a label stay one.
        let depth = place.depth.min(255) as u8;
        match line.kind() {
            Some(LineKind::Paragraph) if line.label_bytes() == 0 || place.label_bytes > 0 => {
                *line = Line::labelled(LineKind::Paragraph, depth, place.label_bytes);
            }
            Some(LineKind::Paragraph) | None => {}
            Some(_) => line.depth = depth,
        }
    }
}

/// Whether words are only labels: `E.`, `(b) (1)`.
fn is_label(words: &str) -> bool {
    let words = words.trim_end();
    !words.is_empty() && label_bytes(words) == words.len()
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::Mark;

    use super::*;

    /// The depth and label of each line; `*` around a label is bold.
    fn placed(marked: &str, labelled: &[(u8, usize)]) -> String {
        let mut layout = Layout::default();
        let (mut text, mut open) = (String::new(), None);
        for c in marked.chars() {
            match (c, open) {
                ('*', None) => open = Some(text.len()),
                ('*', Some(start)) => {
                    layout.marks.push(Mark::new(MarkKind::Strong, start, text.len() - start));
                    open = None;
                }
                _ => text.push(c),
            }
        }
        layout.lines =
            labelled.iter().map(|(depth, bytes)| Line::labelled(LineKind::Paragraph, *depth, *bytes)).collect();
        place(&text, &mut layout);
        let lines = text.split('\n').zip(&layout.lines);
        lines.map(|(text, line)| format!("{}{}", line.depth, &text[..line.label_bytes()])).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_label_in_bold_continues_its_series() {
        let text = "A. The owner:\n1. pays; and\n2. signs.\n*B.* The board meets.\n*C.* It sits:\n1. here;\n2. there.";
        let lines = [(0, 2), (1, 2), (1, 2), (1, 0), (1, 0), (0, 2), (0, 2)];
        assert_eq!(placed(text, &lines), "0A. 11. 12. 0B. 0C. 11. 12.");
    }

    #[test]
    fn other_words_in_bold_are_no_labels() {
        let text = "A. The owner:\n1. pays.\n*Fees.* They are due.\n*Note*";
        assert_eq!(placed(text, &[(0, 2), (1, 2), (1, 0), (2, 0)]), "0A. 11. 1 2");
    }
}
