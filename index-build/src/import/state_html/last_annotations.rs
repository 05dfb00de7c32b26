//! Annotations within the last item of the law, as some releases have them before the source credit:
//! `Law review. - For a comment, see ...`
//!
//! A source credit behind them proves that the law ends before it; the forms of their leads, which no law has, that they
//! are annotations.

use hornbook_corpus::layout::Layout;

use super::cutting::cut;
use crate::content::ContentNote;
use crate::pattern::Pattern;

/// `Effective date` may begin law, except alone in a line.
const LEAD: &str = concat!(
    r"(?m)^(?:(Editor.s notes?|Law reviews?|Research [Rr]eferences|Michie.s [A-Z]\w+|The (?:19|20)\d\d amendments?)",
    r"\. ?[-–—] ?|(Effective dates?|Cross references?)\. ?—$)",
);

/// Removes the annotations at the end of a text, and returns them.
pub(super) fn remove(text: &mut String, layout: &mut Layout) -> Vec<ContentNote> {
    let leads = Pattern::fixed(LEAD);
    let Some(start) = leads.find(text).map(|lead| lead.start()).filter(|start| *start > 0) else { return Vec::new() };
    // Law goes on where a later line has a label.
    if Pattern::fixed(r"(?m)^(?:\([[:alnum:]]{1,5}\)|[[:alnum:]]{1,3}\.) ").is_match(&text[start..]) {
        return Vec::new();
    }
    let end = text.len();
    let cut = cut(text, layout, start, end);
    let mut found: Vec<ContentNote> = Vec::new();
    for line in cut.lines() {
        match (leads.captures(line), found.last_mut()) {
            (Some(lead), _) => {
                let topic = lead.get(1).or(lead.get(2)).map_or("", |topic| topic.as_str()).to_owned();
                found.push(ContentNote { topic, text: line[lead[0].len()..].to_owned(), ..ContentNote::default() });
            }
            (None, Some(note)) => note.text = format!("{}\n{line}", note.text).trim_start().to_owned(),
            (None, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use hornbook_corpus::layout::{Line, LineKind};

    use super::*;

    fn removed(text: &str) -> (String, Vec<(String, String)>) {
        let mut text = text.to_owned();
        let line = |_| Line::labelled(LineKind::Paragraph, 0, 0);
        let mut layout = Layout { lines: text.lines().map(line).collect(), ..Layout::default() };
        let notes = remove(&mut text, &mut layout);
        assert_eq!(layout.lines.len(), text.lines().count());
        (text, notes.into_iter().map(|note| (note.topic, note.text)).collect())
    }

    #[test]
    fn annotations_behind_the_law_are_notes() {
        let text = "(a) A fee is due.\nEditor's note. - The act has no heading.\nIt has a number.\nThe 2004 amendments. - The \
                    amendment by c. 1 added (a).";
        let note = |topic: &str, text: &str| (topic.to_owned(), text.to_owned());
        let notes = vec![
            note("Editor's note", "The act has no heading.\nIt has a number."),
            note("The 2004 amendments", "The amendment by c. 1 added (a)."),
        ];
        assert_eq!(removed(text), ("(a) A fee is due.".to_owned(), notes));
        let below =
            "(xi) A fee is due.\nEffective date. —\nLaws 2016, ch. 10 § 3, makes the act effective July 1, 2016.";
        let notes = vec![note("Effective date", "Laws 2016, ch. 10 § 3, makes the act effective July 1, 2016.")];
        assert_eq!(removed(below), ("(xi) A fee is due.".to_owned(), notes));
    }

    #[test]
    fn what_may_be_law_stays() {
        for text in [
            "Editor's note. - It is the first line.",
            "A fee is due.\nEffective date. - This act takes effect on May 1.",
            "A fee is due.\nLaw review. - The board\n(b) shall review the law.",
            "A fee is due.\nThe board shall publish an editor's note. - It is short.",
        ] {
            assert_eq!(removed(text), (text.to_owned(), Vec::new()));
        }
    }
}
