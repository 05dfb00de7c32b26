//! Reads in notes which law has the name of an act: `The Widget Act of 1935, referred to in text, is act Aug. 29, 1935,
//! ch. 814, ...` and `Pub. L. 89–110, § 1, ... provided: “That this Act shall be known as the ‘Voting Rights Act’.”`

use hornbook_corpus::citation::ActLaw;
use hornbook_corpus::nodes::ActName;

use super::place::number_at;

/// The longest name of an act, in bytes.
const NAME_BYTES_MAX: usize = 160;

pub(super) fn read_references(note: &str, found: &mut Vec<ActName>) {
    const REFERRED: &str = ", referred to in ";
    for (at, _) in note.match_indices(REFERRED) {
        let before = &note[..at];
        let paragraph = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
        let Some(name) = paragraph.strip_prefix("The ") else { continue };
        let Some((_, law)) = note[at + REFERRED.len()..].lines().next().and_then(|rest| rest.split_once(", is "))
        else {
            continue;
        };
        // If the act is only a section of the law, its sections are not those of the law.
        let is_section = law.split(',').nth(1).is_some_and(|next| next.trim_start().starts_with('§'));
        if !is_section {
            add(name, law, found);
        }
    }
}

pub(super) fn read_short_title(note: &str, found: &mut Vec<ActName>) {
    for paragraph in note.lines() {
        let Some((law, provided)) = paragraph.split_once(", provided") else { continue };
        let quoted = ["cited as the ‘", "cited as ‘", "known as the ‘"].iter().find_map(|words| {
            let (before, after) = provided.split_once(words)?;
            // The words are about the law itself, not about an act that they amend.
            let is_own = ["this Act", "This Act"].iter().any(|act| before.contains(act));
            after.split_once('’').map(|(name, _)| name).filter(|_| is_own)
        });
        if let Some(name) = quoted {
            add(name.trim_end_matches(['.', ',']), law, found);
        }
    }
}

fn add(name: &str, law: &str, found: &mut Vec<ActName>) {
    let is_name = name.len() <= NAME_BYTES_MAX
        && name.starts_with(|sign: char| sign.is_ascii_uppercase())
        && !name.starts_with("Act ")
        && name.contains(" Act")
        && !name.contains(['§', '(', ';', '“', '‘']);
    if let Some(law) = law_of(law).filter(|_| is_name) {
        found.push(ActName { name: name.to_owned(), law });
    }
}

/// Reads `title IV of Pub. L. 99–177, ...`, `div. G of Pub. L. 105–277`, `act Aug. 14, 1935, ch. 531, ...`.
fn law_of(text: &str) -> Option<String> {
    let mut division = String::new();
    let mut rest = text;
    while let Some((level, after)) = ["title ", "subtitle ", "chapter ", "part ", "div. ", "division "]
        .iter()
        .find_map(|level| Some((*level, rest.strip_prefix(level)?)))
    {
        let (name, after) = after.split_once(" of ")?;
        if level.starts_with("div") && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            division = format!(", div. {name}");
        }
        rest = after;
    }
    let law = match rest.strip_prefix("Pub. L. ") {
        Some(after) => {
            let (number, after) = number_at(after)?;
            let named = after.strip_prefix(", div. ").and_then(|after| after.split([',', ' ']).next());
            if let Some(name) = named {
                division = format!(", div. {name}");
            }
            format!("Pub. L. {}{division}", number.replace('–', "-"))
        }
        None => {
            let act = rest.strip_prefix("act ").or_else(|| rest.strip_prefix("Act "))?;
            let (day, after) = act.split_once(", ch. ")?;
            let (chapter, _) = number_at(after)?;
            format!("Act of {day}, ch. {chapter}")
        }
    };
    ActLaw::parse(&law).map(|_| law)
}
