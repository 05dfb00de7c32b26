//! Plain text: blank lines separate paragraphs. Lines that begin with `>`, and paragraphs of which every line is indented
//! more than most paragraphs begin, are block quotations.

use super::{BlockWriter, BriefBlockKind};

/// An indented paragraph is a quotation if every line begins with this many columns of white space more than the first
/// line of most paragraphs.
const QUOTE_INDENT: usize = 4;

/// The width of a tab.
const TAB_COLUMNS: usize = 4;

pub(super) fn read(source: &str, writer: &mut BlockWriter) {
    let indent = usual_indent(source) + QUOTE_INDENT;
    let mut open = OpenParagraph::default();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let content = line.trim_end();
        let (inner, is_marked) = without_quote_mark(content);
        let text = inner.trim_start();
        if text.is_empty() || is_marked != open.is_marked {
            open.end(writer);
            open.is_marked = is_marked;
        }
        if !text.is_empty() {
            open.is_indented &= columns(inner) >= indent;
            writer.push(text, Some(start + (content.len() - text.len())));
            writer.push_character(' ', None);
        }
        start += line.len();
    }
    open.end(writer);
}

/// The indent with which the middle one of all paragraphs begins.
fn usual_indent(source: &str) -> usize {
    let mut indents = Vec::new();
    let mut is_blank = true;
    for line in source.lines() {
        let begins = is_blank && !line.trim().is_empty();
        indents.extend(begins.then(|| columns(line)));
        is_blank = line.trim().is_empty();
    }
    indents.sort_unstable();
    indents.get(indents.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

struct OpenParagraph {
    is_marked: bool,
    is_indented: bool,
}

impl Default for OpenParagraph {
    fn default() -> Self {
        Self { is_marked: false, is_indented: true }
    }
}

impl OpenParagraph {
    fn end(&mut self, writer: &mut BlockWriter) {
        let is_quote = self.is_marked || self.is_indented;
        writer.end(if is_quote { BriefBlockKind::Quote } else { BriefBlockKind::Paragraph });
        *self = Self { is_marked: self.is_marked, is_indented: true };
    }
}

fn without_quote_mark(line: &str) -> (&str, bool) {
    match line.trim_start().strip_prefix('>') {
        Some(inner) => (inner, true),
        None => (line, false),
    }
}

fn columns(line: &str) -> usize {
    let indent = line.chars().take_while(|letter| letter.is_whitespace());
    indent.map(|letter| if letter == '\t' { TAB_COLUMNS } else { 1 }).sum()
}
