//! Divides a paragraph into sentences, as far as attributing quotations needs it.

use std::ops::Range;

/// Words before whose full stop a sentence does not end.
const ABBREVIATIONS: [&str; 66] = [
    "adm", "admin", "amend", "ann", "app", "art", "arts", "assn", "bd", "ch", "cf", "cir", "cl", "co", "code", "comp",
    "cong", "const", "corp", "ct", "dept", "dist", "div", "dr", "e.g", "ed", "etc", "et", "ex", "fed", "gen", "gov",
    "i.e", "inc", "jr", "l", "laws", "ltd", "mr", "mrs", "ms", "no", "nos", "para", "pt", "pub", "reg", "regs", "rep",
    "rev", "rul", "sec", "secs", "seq", "sess", "sr", "stat", "stats", "supp", "sub", "tit", "treas", "u.s", "v", "vs",
    "vol",
];

/// The sentences of a paragraph, in order; together they are all of it. `kept_whole` are ranges in which no sentence
/// ends, such as citations.
pub(crate) fn sentences(text: &str, kept_whole: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut whole = kept_whole.iter().peekable();
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, '.' | '?' | '!')) {
        while whole.peek().is_some_and(|range| range.end <= at + 1) {
            whole.next();
        }
        if whole.peek().is_some_and(|range| range.start <= at) || at < start {
            continue;
        }
        let after = &text[at + 1..];
        let closing = after.len() - after.trim_start_matches(['"', '”', '’', '\'', ')', ']']).len();
        let rest = &after[closing..];
        let next = rest.trim_start();
        if rest.len() == next.len() && !next.is_empty() {
            continue;
        }
        // The dots of an ellipsis.
        if sign == '.' && closing == 0 && (next.starts_with('.') || text[..at].trim_end().ends_with('.')) {
            continue;
        }
        let begins =
            next.chars().next().is_none_or(|first| !first.is_lowercase() && !matches!(first, ',' | ';' | ':' | ')'));
        // `id. § 108` and `id. (b)` go on.
        let goes_on = next.starts_with(['(', '§']) && ends_with_id(&text[start..at]);
        if begins && !goes_on && !(sign == '.' && closing == 0 && is_abbreviation(&text[start..at])) {
            let end = at + 1 + closing;
            found.push(start..end);
            start = end;
        }
    }
    if start < text.len() {
        found.push(start..text.len());
    }
    found
}

fn ends_with_id(before: &str) -> bool {
    let word = before.rsplit(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
    word.eq_ignore_ascii_case("id") || word.eq_ignore_ascii_case("ibid")
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|letter: char| letter.is_whitespace() || matches!(letter, '(' | '“' | '"' | '[')).next();
    let word = word.unwrap_or_default().to_ascii_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let is_dotted = word.contains('.') && word.chars().all(|letter| letter.is_alphabetic() || letter == '.');
    is_initial || is_dotted && word.len() <= 6 || ABBREVIATIONS.contains(&&*word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_full_stops_but_not_in_abbreviations_or_citations() {
        let text =
            "See Smith v. Jones, 5 F.3d 1. It says “no.” Id. Under 17 U.S.C. § 107 it may. (See Ex. A.) Really? Yes";
        let citation = text.find("17 U").unwrap();
        let whole = std::iter::once(citation..citation + 15).collect::<Vec<_>>();
        let found: Vec<&str> = sentences(text, &whole).into_iter().map(|range| text[range].trim()).collect();
        assert_eq!(
            found,
            [
                "See Smith v. Jones, 5 F.3d 1.",
                "It says “no.”",
                "Id.",
                "Under 17 U.S.C. § 107 it may.",
                "(See Ex. A.)",
                "Really?",
                "Yes"
            ]
        );
    }
}
