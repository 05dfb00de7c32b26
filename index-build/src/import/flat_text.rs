//! The common part of the importers of flat texts. Paragraphs that begin with labels become a text
//! with a layout, paragraphs after the law become notes by their lead, and numbers become
//! citations.

use hornbook_corpus::layout::Layout;

use crate::content::ContentNote;
use crate::import::labels::{self, Scheme};
use crate::import::target::ImportTarget;
use crate::pattern::Pattern;

/// Joins paragraphs into a text with its layout. Their labels decide how they nest.
pub(crate) fn set<S: AsRef<str>>(lines: &[S]) -> (String, Layout) {
    let lines: Vec<String> =
        lines.iter().map(|line| normalised_line(line.as_ref())).filter(|line| !line.is_empty()).collect();
    let text = lines.join("\n");
    let layout = labels::layout_of(&text, &Scheme::found());
    (text, layout)
}

/// Reduces white space to single spaces and adds the space after a label, which some pages lose:
/// `(1)The owner`.
fn normalised_line(line: &str) -> String {
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = label_end(&words);
    if label > 0 && words[label..].starts_with(char::is_alphanumeric) && !words[..label].ends_with(' ') {
        words.insert(label, ' ');
    }
    words
}

/// The end of the labels that a line begins with: `(a)(1) `, `[(a)] `.
fn label_end(line: &str) -> usize {
    let labels = Pattern::fixed(concat!(
        r"^(?:(?:\((?:[0-9]{1,3}(?:\.[0-9]+)?|[A-Za-z]{1,5})\)",
        r"|\[\((?:[0-9]{1,3}(?:\.[0-9]+)?|[A-Za-z]{1,5})\)\]) ?)+"
    ));
    labels.find(line).map_or(0, |label| label.end())
}

/// Whether a line begins with a label such as `(a)`, `[(a)]`, `A.` or `12.`, and therefore begins a paragraph.
pub(crate) fn begins_with_label(line: &str) -> bool {
    Pattern::fixed(r"^(?:\((?:[0-9]{1,3}|[A-Za-z]{1,5})\)|(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)] )").is_match(line)
        || (line.starts_with("[(") && label_end(line) > 0)
}

/// The citation of a number, made with the template of the plan.
pub(crate) fn citation(number: &str, target: ImportTarget<'_>) -> String {
    match target.citation {
        Some(template) => template.replace("{number}", number),
        None => format!("{} § {number}", target.code_body),
    }
}

/// Whether a line only refers to other law: `Weeds, city may act: RCW 35.21.310.`
pub(crate) fn is_cross_reference(line: &str) -> bool {
    Pattern::fixed(concat!(
        r#"^[*“"]?[A-Z][^:]{2,300}: "#,
        r"(?:\*?RCW [\dA-Z.]+|[Cc]hapters? [\dA-Z.]+ RCW|[Tt]itle [\dA-Z]+ RCW|State Constitution )[^:]{0,200}$",
    ))
    .is_match(line)
}

/// Turns paragraphs after the law into notes. A paragraph with a lead, such as
/// `Effective date—2005 c 409:`, begins a note.
pub(crate) fn notes<S: AsRef<str>>(lines: &[S]) -> Vec<ContentNote> {
    // Full stops only where the lead names acts: `Short title—2016 sp.s. c 29:`.
    let lead =
        Pattern::fixed(r#"^\*?[A-Z](?:[^:."]{2,160}|[^:"]{2,200}—[^:"]{0,200}\b(?:1[89]|20)\d\d\b[^:"]{0,200}):"#);
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        let line = line.as_ref();
        let found = lead.find(line).map(|found| found.as_str().trim_end_matches(':'));
        let begins = |lead: &str| lead.contains('—') || lead.to_lowercase().contains("note");
        let found = found.filter(|lead| groups.is_empty() || begins(lead) || is_cross_reference(line));
        match (found, groups.last_mut()) {
            (Some(lead), _) => groups.push((lead, vec![line[lead.len() + 1..].trim()])),
            (None, Some((_, group))) => group.push(line),
            (None, None) => groups.push((NOTE, vec![line])),
        }
    }
    groups.into_iter().map(|(topic, lines)| note(topic, &lines.join("\n"))).collect()
}

/// The topic of a note that has none in the source.
pub(crate) const NOTE: &str = "Note";

pub(crate) fn note(topic: &str, text: &str) -> ContentNote {
    let lines: Vec<&str> = text.lines().collect();
    let (text, layout) = set(&lines);
    ContentNote { topic: topic.trim_start_matches('*').to_owned(), text, layout }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_brackets_begin_paragraphs() {
        let (text, layout) = set(&["(a)The owner", "[(b)]The keeper", "[(c) and] others"]);
        assert_eq!(text, "(a) The owner\n[(b)] The keeper\n[(c) and] others");
        assert_eq!(layout.lines.iter().map(|line| line.label_bytes()).collect::<Vec<_>>(), [3, 5, 0]);
        assert!(begins_with_label("[(b)] The keeper") && !begins_with_label("[(c) and] others"));
    }

    #[test]
    fn notes_begin_with_their_leads() {
        let lines = [
            "Effective date—2005 c 409: \"Now.\"",
            "(2) And: then.",
            "*Reviser's note: RCW 1.2.3 is gone.",
            "Short title—2016 sp.s. c 29: See note following RCW 1.2.4.",
            "Weeds, city may act: RCW 35.21.310.",
            "The board found: they grow.",
        ];
        let topics: Vec<_> = notes(&lines).into_iter().map(|note| (note.topic, note.text)).collect();
        let expected = [
            ("Effective date—2005 c 409", "\"Now.\"\n(2) And: then."),
            ("Reviser's note", "RCW 1.2.3 is gone."),
            ("Short title—2016 sp.s. c 29", "See note following RCW 1.2.4."),
            ("Weeds, city may act", "RCW 35.21.310.\nThe board found: they grow."),
        ];
        assert_eq!(topics, expected.map(|(topic, text)| (topic.to_owned(), text.to_owned())));
    }
}
