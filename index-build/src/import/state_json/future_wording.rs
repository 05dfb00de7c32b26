//! Reads Connecticut's notes that print a future text of a section: `*Note: On and after July 1,
//! 2025, this section, as amended by section 1 of public act 23-1, is to read as follows: “Sec.
//! 7-323l. Fire districts. (a) ...”`, with a separate credit.
//!
//! The quotation of a whole section becomes a wording. The quotation of a subsection is only a part
//! of a wording that nobody printed: its note stays, and the validity of the section is uncertain.

use super::heading::folded;
use super::section::{PrintedWording, StateJsonSection};
use super::settings::StateJsonSettings;
use crate::effect::{self, Effect};
use crate::pattern::Pattern;

/// Removes the first such wording from the notes of another wording.
pub(super) fn split_off(
    wording: &mut PrintedWording,
    settings: &StateJsonSettings,
    section: &StateJsonSection,
) -> Option<PrintedWording> {
    let form = Pattern::fixed(
        r"^\*?Note: ?On and after (?<day>[A-Z][a-z]+ \d{1,2}, \d{4}), (?<what>.*?)(?:,| of) .*(?:is|are) to read as follows:$",
    );
    let at = wording.notes.iter().position(|note| form.is_match(note))?;
    let note = wording.notes[at].clone();
    let found = form.captures(&note)?;
    let quotation = (&found["what"] == "this section").then(|| quotation(&wording.notes[at + 1..])).flatten();
    let (Some(from), Some(lines)) = (effect::date_in(&found["day"]), quotation) else {
        wording.effect = std::mem::take(&mut wording.effect).and(Effect::unknown(&note));
        return None;
    };
    let mut notes = wording.notes.split_off(at);
    let mut rest = notes.split_off(1 + lines);
    let opened = format!("“Sec. {}", section.number);
    let first = notes[1].strip_prefix(&opened).unwrap_or(&notes[1]).trim_start_matches(['“', '.', ' ']).to_owned();
    let end = heading_end(&first, &wording.heading);
    let mut law = notes.split_off(2);
    law.insert(0, first[end..].trim_start().to_owned());
    if let Some(last) = law.last_mut() {
        last.pop();
    }
    law.retain(|line| !line.is_empty());
    let has_credit = rest.first().is_some_and(|line| settings.credit.is_match(line));
    let credit = has_credit.then(|| rest.remove(0));
    if wording.heading.is_empty() {
        wording.heading = first[..end].to_owned();
    }
    let effect = Effect { from: Some(from), remark: Some(note), ..Effect::default() };
    Some(PrintedWording { heading: first[..end].to_owned(), effect, law, credit, notes: rest })
}

/// The number of lines of a quotation; None if it has no end.
fn quotation(lines: &[String]) -> Option<usize> {
    lines.first().filter(|first| first.starts_with('“'))?;
    let mut open = 0;
    for (at, line) in lines.iter().enumerate() {
        open += line.matches('“').count();
        open = open.checked_sub(line.matches('”').count())?;
        if open == 0 && line.ends_with('”') {
            return Some(at + 1);
        }
    }
    None
}

/// The end of a section heading that is on the same line as its law: before the first subsection,
/// where the heading of the other wording ends, or after the sentences without a verb, because law
/// has verbs and headings do not.
fn heading_end(line: &str, other: &str) -> usize {
    if let Some(subsection) = Pattern::fixed(r"\. ?\(a\)").find(line) {
        return subsection.start() + 1;
    }
    let sentence = Pattern::fixed(r#"[a-z\d)”"](\.) ?["“(A-Z]"#);
    let ends: Vec<usize> = sentence.captures_iter(line).filter_map(|found| Some(found.get(1)?.end())).collect();
    let other = folded(other);
    if let Some(&same) = ends.iter().find(|&&end| folded(&line[..end]) == other) {
        return same;
    }
    let verb = Pattern::fixed(r"\b(?:shall|must|may|is|are|was|were|has|have|means)\b");
    ends.into_iter().take_while(|&end| !verb.is_match(&line[..end])).last().unwrap_or(0)
}
