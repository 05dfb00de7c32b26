//! What importers of flat texts share: paragraphs with labels at their start become a text with its layout, paragraphs
//! after the law become notes by their lead, and numbers become citations.

use hornbook_corpus::layout::Layout;

use crate::content::ContentNote;
use crate::import::labels::{self, Scheme};
use crate::import::options::Pattern;
use crate::import::target::Target;

/// Paragraphs as a text with its layout: their labels say how they nest.
pub(crate) fn set<S: AsRef<str>>(lines: &[S]) -> (String, Layout) {
    let lines: Vec<String> = lines.iter().map(|line| tidied(line.as_ref())).filter(|line| !line.is_empty()).collect();
    let text = lines.join("\n");
    let layout = labels::layout_of(&text, &Scheme::found());
    (text, layout)
}

/// Single spaces, and one after labels, which some pages lose: `(1)The owner`.
fn tidied(line: &str) -> String {
    let mut words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = label_end(&words);
    if label > 0 && words[label..].starts_with(char::is_alphanumeric) && !words[..label].ends_with(' ') {
        words.insert(label, ' ');
    }
    words
}

/// Where the labels end that a line begins with: `(a)(1) `.
fn label_end(line: &str) -> usize {
    Pattern::fixed(r"^(?:\((?:[0-9]{1,3}(?:\.[0-9]+)?|[A-Za-z]{1,5})\) ?)+").find(line).map_or(0, |label| label.end())
}

/// Whether a line begins with a label such as `(a)`, `A.` or `12.`, and so a paragraph.
pub(crate) fn begins_with_label(line: &str) -> bool {
    Pattern::fixed(r"^(?:\((?:[0-9]{1,3}|[A-Za-z]{1,5})\)|(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)] )").is_match(line)
}

/// How a plan cites a number.
pub(crate) fn citation(number: &str, target: Target<'_>) -> String {
    match target.citation {
        Some(template) => template.replace("{number}", number),
        None => format!("{} § {number}", target.code_body),
    }
}

/// Paragraphs after the law as notes: one that begins with a lead, such as `Effective date—2005 c 409:`, begins a note.
pub(crate) fn notes<S: AsRef<str>>(lines: &[S]) -> Vec<ContentNote> {
    let lead = Pattern::fixed(r#"^\*?[A-Z][^:."]{2,160}:"#);
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines {
        let line = line.as_ref();
        let found = lead.find(line).map(|found| found.as_str().trim_end_matches(':'));
        let found =
            found.filter(|lead| groups.is_empty() || lead.contains('—') || lead.to_lowercase().contains("note"));
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

/// The first date in a remark such as `Effective July 1, 2027` or `eff. Sept. 1, 2027`, as `2027-07-01`.
pub(crate) fn date_in(remark: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let date = Pattern::fixed(r"([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})").captures(remark)?;
    let month = 1 + MONTHS.iter().position(|month| month.starts_with(&date[1].to_ascii_lowercase()))?;
    let day: u32 = date[2].parse().ok().filter(|day| (1..=31).contains(day))?;
    Some(format!("{}-{month:02}-{day:02}", &date[3]))
}

/// When a provision takes effect and when it ends, as a remark before its heading says: `(Effective until July 1, 2022)`.
pub(crate) fn effect_of(heading: &str) -> (Option<String>, Option<String>) {
    let remark = Pattern::fixed(r"^[(\[]((?:Effective|Repealed effective|Expires|Delayed)[^)\]]*)[)\]]");
    let Some(remark) = remark.captures(heading).map(|found| found[1].to_lowercase()) else { return (None, None) };
    let date = date_in(&remark);
    let ends = ["until", "repealed", "expires"].iter().any(|word| remark.contains(word));
    if ends { (None, date) } else { (date, None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_give_dates() {
        assert_eq!(date_in("Effective July 1, 2027").as_deref(), Some("2027-07-01"));
        assert_eq!(date_in("eff. Sept. 1, 2027").as_deref(), Some("2027-09-01"));
        assert_eq!((date_in("Effective July 41, 2027"), date_in("1, 2")), (None, None));
        assert_eq!(effect_of("(Effective until July 1, 2022) Powers."), (None, Some("2022-07-01".into())));
        assert_eq!(effect_of("[Effective May 2, 2022] Powers."), (Some("2022-05-02".into()), None));
        assert_eq!(effect_of("(Repealed effective January 1, 2024) Powers."), (None, Some("2024-01-01".into())));
        assert_eq!(effect_of("Powers (Effective until July 1, 2022)"), (None, None));
    }

    #[test]
    fn notes_begin_with_their_leads() {
        let lines = ["Effective date—2005 c 409: \"Now.\"", "(2) And: then.", "*Reviser's note: RCW 1.2.3 is gone."];
        let topics: Vec<_> = notes(&lines).into_iter().map(|note| (note.topic, note.text)).collect();
        let expected =
            [("Effective date—2005 c 409", "\"Now.\"\n(2) And: then."), ("Reviser's note", "RCW 1.2.3 is gone.")];
        assert_eq!(topics, expected.map(|(topic, text)| (topic.to_owned(), text.to_owned())));
    }
}
