//! Headings that a publisher wrote in capitals, in the case in which people write: lists of them are read word by word
//! otherwise. The page of a provision keeps its heading as it is written.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use hornbook_base::roman::from_roman;
use hornbook_search::is_known_word;

/// Words that stay small within a heading.
const SMALL_WORDS: [&str; 22] = [
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "if", "in", "into", "nor", "of", "on", "or", "per",
    "the", "to", "under", "upon", "with",
];

/// What a number or letter of a container follows.
const LEVELS: [&str; 12] = [
    "title",
    "subtitle",
    "part",
    "subpart",
    "chapter",
    "subchapter",
    "article",
    "division",
    "section",
    "appendix",
    "schedule",
    "class",
];

/// Unknown words of so many letters are abbreviations. Shorter words are in no list, longer ones are names.
const ABBREVIATION_LETTERS: RangeInclusive<usize> = 4..=5;

/// Abbreviations that are pronounced as words, or that dictionaries have.
const ABBREVIATIONS: [&str; 12] =
    ["EPA", "ERISA", "FAA", "FEMA", "HIPAA", "HIV", "HUD", "NASA", "NATO", "OSHA", "USA", "USDA"];

/// The heading, with each part of it that has only capitals in mixed case: `Title 3—THE PRESIDENT` is `Title 3—The
/// President`. Numerals and abbreviations stay.
pub(super) fn mixed_case(heading: &str) -> Cow<'_, str> {
    let mut mixed = String::new();
    let mut kept = 0;
    for (start, part) in parts(heading) {
        if is_in_capitals(part) {
            mixed.push_str(&heading[kept..start]);
            push_mixed(&mut mixed, part);
            kept = start + part.len();
        }
    }
    if kept == 0 {
        return Cow::Borrowed(heading);
    }
    mixed.push_str(&heading[kept..]);
    Cow::Owned(mixed)
}

/// The parts of a heading between dashes, colons and semicolons, each with its position.
fn parts(heading: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_edge = |letter: char| matches!(letter, '—' | '–' | ':' | ';');
    heading.split_inclusive(is_edge).scan(0, |end, part| {
        let start = *end;
        *end += part.len();
        Some((start, part))
    })
}

/// Whether the part is words in capitals, and not only an abbreviation or a number.
fn is_in_capitals(part: &str) -> bool {
    !part.chars().any(char::is_lowercase) && words(part).any(|(_, word)| !is_kept(word, None))
}

/// Runs of letters, digits and apostrophes, each with its position.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_between = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '\'' | '’');
    let pieces = text.split(is_between).filter(|word| !word.is_empty());
    pieces.map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn push_mixed(mixed: &mut String, part: &str) {
    let (mut before, mut end) = (None, 0);
    for (start, word) in words(part) {
        let between = &part[end..start];
        mixed.push_str(between);
        let small = word.to_lowercase();
        let opens = end == 0 || between.contains(['.', '(', '“', '"']);
        if is_kept(word, before.as_deref()) {
            mixed.push_str(word);
        } else if !opens && SMALL_WORDS.contains(&small.as_str()) {
            mixed.push_str(&small);
        } else {
            let mut letters = word.chars();
            mixed.extend(letters.next());
            mixed.extend(letters.flat_map(char::to_lowercase));
        }
        (before, end) = (Some(small), start + word.len());
    }
    mixed.push_str(&part[end..]);
}

/// Whether a word keeps its capitals: numbers, single letters but the article, numerals, abbreviations.
fn is_kept(word: &str, before: Option<&str>) -> bool {
    let is_numbered = before.is_some_and(|before| LEVELS.contains(&before));
    let letters = word.chars().count();
    if letters == 1 {
        return word != "A" || is_numbered || before.is_none();
    }
    let small: String = word.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    word.chars().any(|letter| letter.is_ascii_digit())
        || from_roman(word).is_some()
        || ABBREVIATIONS.contains(&word)
        || !small.chars().any(|letter| "aeiouy".contains(letter))
        || (ABBREVIATION_LETTERS.contains(&letters) && !is_known_word(&small))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_become_mixed_case_and_numerals_and_abbreviations_stay() {
        for (heading, expected) in [
            ("Title 3—THE PRESIDENT", "Title 3—The President"),
            ("CHAPTER 1—PRESIDENTIAL ELECTIONS AND VACANCIES", "Chapter 1—Presidential Elections and Vacancies"),
            ("PART IV—JURISDICTION AND VENUE", "Part IV—Jurisdiction and Venue"),
            ("SUBCHAPTER A—RIGHT TO A HEARING", "Subchapter A—Right to a Hearing"),
            ("FAA AND NASA: PROGRAMS OF THE FHLBB", "FAA and NASA: Programs of the FHLBB"),
            ("CHILDREN'S HEALTH INSURANCE PROGRAM", "Children's Health Insurance Program"),
            ("OIL, GAS, AND MINERALS (GENERAL PROVISIONS)", "Oil, Gas, and Minerals (General Provisions)"),
            ("CIVIL PROCEDURE", "Civil Procedure"),
            ("PART 1910—NON-PROFIT GROUPS", "Part 1910—Non-Profit Groups"),
            ("U.S. COURTS", "U.S. Courts"),
            ("ACTS THAT MAY BE VOID AND WHO IS HELD", "Acts That May Be Void and Who Is Held"),
        ] {
            assert_eq!(mixed_case(heading), expected);
        }
    }

    #[test]
    fn what_is_not_in_capitals_stays_as_it_is() {
        for heading in
            ["Landlord and Tenant", "Subpart A—General", "Title IX", "§ 101", "", "FAA", "42 U.S.C. 1983", "ERISA"]
        {
            assert!(matches!(mixed_case(heading), Cow::Borrowed(same) if same == heading), "{heading}");
        }
    }
}
