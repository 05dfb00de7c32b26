//! Takes a part out of a text that has a layout.

use hornbook_corpus::layout::Layout;

/// Removes a part of a text with the white space before it, and returns it. Lines that are gone leave the layout, and
/// marks behind it move.
pub(super) fn cut(text: &mut String, layout: &mut Layout, start: usize, end: usize) -> String {
    let credit = text[start..end].to_owned();
    let kept = text[..start].trim_end().len();
    // If nothing precedes the credit, the line feed after it is removed too.
    let end = end + usize::from(kept == 0 && text[end..].starts_with('\n'));
    let lines = |text: &str| text.matches('\n').count();
    let first = if kept == 0 { 0 } else { lines(&text[..kept]) + 1 };
    let gone = lines(&text[kept..end]);
    layout.lines.drain(first..first + gone);
    text.replace_range(kept..end, "");
    if text.is_empty() {
        layout.lines.clear();
    }
    let (kept, end) = (kept as u32, end as u32);
    layout.marks.retain(|mark| mark.start < kept || mark.start >= end);
    for mark in &mut layout.marks {
        if mark.start >= end {
            mark.start -= end - kept;
        } else {
            mark.length = mark.length.min(kept - mark.start);
        }
    }
    credit
}
