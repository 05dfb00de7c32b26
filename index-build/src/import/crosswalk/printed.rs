//! Former numbers that a state code prints in a fixed form: `Formerly RCW 28A.47.060, 28.47.060.` at the end of a source
//! credit, `1981 Ed., § 2-3305.12.` in a note on prior codifications.

use hornbook_corpus::citation::{Citation, Grammar, Locator};

use crate::content::ContentNote;

/// The topic of notes on the numbers that a provision had in earlier editions of its code.
const PRIOR_CODIFICATIONS: &str = "Prior Codifications";

/// The former citations that a source credit lists at its end. A number of which only a part became this provision,
/// and a range, are none.
pub(crate) fn formerly_in_credit(citation: &str, credit: &str) -> Vec<String> {
    let Some((_, list)) = credit.rsplit_once("ormerly ") else { return Vec::new() };
    let list = list.trim_end().trim_end_matches([']', ')', '.']);
    if list.contains(" part") || list.contains("through") || list.contains(';') {
        return Vec::new();
    }
    let grammar = Grammar::built_in();
    let (Ok(own), Some((code, _))) = (grammar.parse(citation), citation.rsplit_once(' ')) else { return Vec::new() };
    let mut found = Vec::new();
    for element in list.split(", ") {
        let element = element.strip_prefix(code).unwrap_or(element).trim();
        // One element that cites no section makes the whole list doubtful.
        match grammar.parse(&format!("{code} {element}")) {
            Ok(one) if is_section_of(&one, &own) => found.push(grammar.format(&one)),
            _ => return Vec::new(),
        }
    }
    found.retain(|one| one != citation);
    found.sort_unstable();
    found.dedup();
    found
}

/// The former citations in notes on prior codifications.
pub(crate) fn formerly_in_notes(citation: &str, notes: &[ContentNote]) -> Vec<String> {
    let notes = notes.iter().filter(|note| note.topic == PRIOR_CODIFICATIONS);
    let Some((code, _)) = citation.rsplit_once("§ ") else { return Vec::new() };
    let numbers = notes.flat_map(|note| note.text.lines()).filter_map(|line| {
        let (edition, number) = line.split_once(" Ed., § ")?;
        let is_year = edition.len() == 4 && edition.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.trim_end_matches('.');
        (is_year && !number.contains([' ', ',', ';'])).then_some(number)
    });
    let grammar = Grammar::built_in();
    let Ok(own) = grammar.parse(citation) else { return Vec::new() };
    let cited = numbers.filter_map(|number| grammar.parse(&format!("{code}§ {number}")).ok());
    let mut found: Vec<String> = cited
        .filter(|one| is_section_of(one, &own))
        .map(|one| grammar.format(&one))
        .filter(|one| one != citation)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a citation names one whole section of the code that another one is in.
fn is_section_of(one: &Citation, own: &Citation) -> bool {
    let is_single = matches!(one.place, Locator::Numbered { last: None, .. });
    is_single && one.body == own.body && one.subdivisions.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_credit_ends_with_former_numbers() {
        let read = |credit| formerly_in_credit("RCW 28A.525.010", credit);
        assert_eq!(read("[ 1990 c 33 § 454; 1969 c 1 § 1. Formerly RCW 28A.47.060.]"), ["RCW 28A.47.060"]);
        assert_eq!(read("[ 1969 c 1 § 1. Formerly RCW 28A.47.060, 28.47.060.]"), ["RCW 28.47.060", "RCW 28A.47.060"]);
        for credit in [
            "[ 1969 c 1 § 1.]",
            "[ 1969 c 1 § 1. Formerly RCW 86.08.800, part.]",
            "[ 1969 c 1 § 1. Formerly RCW 17.04.070 through 17.04.140.]",
            "[ 1969 c 1 § 1; formerly RCW 23.20.080. (ii) RCW 62.01.052; 1955 c 35 § 2.]",
            "[ 1969 c 1 § 1. Formerly the Kite Act.]",
            "[ 1969 c 1 § 1. Formerly RCW 28A.525.010.]",
        ] {
            assert_eq!(read(credit), Vec::<String>::new(), "{credit}");
        }
    }

    #[test]
    fn prior_codifications_are_former_numbers() {
        let read = |text: &str| {
            let note = ContentNote { topic: PRIOR_CODIFICATIONS.into(), text: text.into(), ..ContentNote::default() };
            formerly_in_notes("D.C. Code § 1-101", &[note])
        };
        assert_eq!(
            read("1981 Ed., § 2-3305.12.\n1973 Ed., § 2-2404."),
            ["D.C. Code § 2-2404", "D.C. Code § 2-3305.12"]
        );
        for text in ["1981 Ed., § 1-101.", "1981 Ed., §§ 2-1201 to 2-1233.", "1981 Ed., § 2-1, 2-2.", "See § 2-3."]
        {
            assert_eq!(read(text), Vec::<String>::new(), "{text}");
        }
    }
}
