//! Constitutions: `art. I, § 8, cl. 3`, `amend. XIV, § 1`, `pt. 1, art. 12`. Roman numerals are stored as digits.

use hornbook_base::roman::from_roman;

use super::forms::ConstitutionStyle;
use super::number::{self, NumberMark, NumberShape};
use super::tail::Expected;
use super::text::{CitationText, END, PILCROW, SECTION_SIGN};
use super::value::{ConstitutionUnit, Unit};

const PARTS_MAX: usize = 5;

pub(super) type ConstitutionPath = Vec<(ConstitutionUnit, Box<str>)>;

/// Reads the parts of a constitution at `pos`. Returns `None` if there is no part.
pub(super) fn read(
    text: CitationText<'_>,
    mut pos: usize,
    style: ConstitutionStyle,
) -> Option<(ConstitutionPath, usize)> {
    let mut parts = ConstitutionPath::new();
    let mut end = pos;
    while parts.len() < PARTS_MAX {
        let Some((unit, after)) = read_unit(text, pos) else { break };
        // Sections, clauses and paragraphs need a containing part; a unit never repeats.
        let opens = matches!(
            unit,
            ConstitutionUnit::Preamble
                | ConstitutionUnit::DeclarationOfRights
                | ConstitutionUnit::BillOfRights
                | ConstitutionUnit::Part
                | ConstitutionUnit::Chapter
                | ConstitutionUnit::Article
                | ConstitutionUnit::Amendment
        );
        let opens = opens || (style.sections_alone && unit == ConstitutionUnit::Section);
        if (parts.is_empty() && !opens) || parts.iter().any(|(held, _)| *held == unit) {
            break;
        }
        if !has_value(unit) {
            parts.push((unit, "".into()));
            end = after;
        } else {
            let mut value_start = text.skip_spaces(after);
            // `amend. art. XLVIII` is one part.
            if unit == ConstitutionUnit::Amendment
                && let Some((ConstitutionUnit::Article, after_article)) = read_unit(text, value_start)
            {
                value_start = text.skip_spaces(after_article);
            }
            let Some((value, value_end)) = read_value(text, value_start, unit, style) else { break };
            parts.push((unit, value));
            end = value_end;
        }
        pos = text.skip_comma(end);
    }
    (!parts.is_empty()).then_some((parts, end))
}

/// Whether the unit has a number.
fn has_value(unit: ConstitutionUnit) -> bool {
    !matches!(unit, ConstitutionUnit::Preamble | ConstitutionUnit::DeclarationOfRights | ConstitutionUnit::BillOfRights)
}

fn read_unit(text: CitationText<'_>, pos: usize) -> Option<(ConstitutionUnit, usize)> {
    const WORDS: [(&[&str], ConstitutionUnit); 8] = [
        (&["art", "article"], ConstitutionUnit::Article),
        (&["amend", "amendment", "amdt"], ConstitutionUnit::Amendment),
        (&["section", "sec"], ConstitutionUnit::Section),
        (&["clause", "cl"], ConstitutionUnit::Clause),
        (&["paragraph", "para", "par"], ConstitutionUnit::Paragraph),
        (&["part", "pt"], ConstitutionUnit::Part),
        (&["chapter", "ch"], ConstitutionUnit::Chapter),
        (&["preamble", "pmbl"], ConstitutionUnit::Preamble),
    ];
    let (sign, len) = text.at(pos);
    match sign {
        SECTION_SIGN => {
            let end = pos + len;
            let (next, next_len) = text.at(end);
            return Some((ConstitutionUnit::Section, if next == SECTION_SIGN { end + next_len } else { end }));
        }
        PILCROW => return Some((ConstitutionUnit::Paragraph, pos + len)),
        _ => {}
    }
    for (word, unit) in [
        ("declaration", ConstitutionUnit::DeclarationOfRights),
        ("decl", ConstitutionUnit::DeclarationOfRights),
        ("bill", ConstitutionUnit::BillOfRights),
    ] {
        if let Some(after) = text.word(pos, word) {
            let of = text.word(text.skip_spaces(after), "of")?;
            return text.any_word(text.skip_spaces(of), &["rights", "rts"]).map(|end| (unit, end));
        }
    }
    WORDS.iter().find_map(|(words, unit)| text.any_word(pos, words).map(|end| (*unit, end)))
}

fn read_value(
    text: CitationText<'_>,
    pos: usize,
    unit: ConstitutionUnit,
    style: ConstitutionStyle,
) -> Option<(Box<str>, usize)> {
    let may_be_roman = match unit {
        ConstitutionUnit::Section => style.roman_sections,
        ConstitutionUnit::Clause => false,
        _ => true,
    };
    if may_be_roman && let Some(found) = read_roman(text, pos) {
        return Some(found);
    }
    let expected = Expected::of(&NumberShape::ANY, NumberMark::None, Unit::Section);
    let span = number::read(text, pos, expected.number())?;
    let number = span.first.as_str();
    // Section numbers keep their case, as everywhere. Other numbers are upper-cased, so that `13a` equals `XIIIA`.
    let kept = if unit == ConstitutionUnit::Section { number.to_owned() } else { number.to_ascii_uppercase() };
    Some((kept.into(), span.end))
}

/// Reads `XIV`, `XIIIA`, `XIII A` or `xiii-b`. Returns the number in digits, with its letter.
fn read_roman(text: CitationText<'_>, pos: usize) -> Option<(Box<str>, usize)> {
    let len = (0..12).take_while(|offset| text.folded_at(pos + offset).is_ascii_alphabetic()).count();
    let letters = text.slice(pos, pos + len).to_ascii_uppercase();
    let end = pos + len;
    if !text.ends_word(end) {
        return None;
    }
    if let Some(value) = from_roman(&letters) {
        let (sign, sign_len) = text.at(end);
        let letter = end + sign_len;
        let apart =
            matches!(sign, b' ' | b'-') && text.folded_at(letter).is_ascii_uppercase() && text.ends_word(letter + 1);
        let after = text.skip_spaces(letter + 1);
        // In `art. I A person` the letter is a separate word.
        let closes = matches!(text.folded_at(after), b',' | b';' | b'.' | b'(' | END | SECTION_SIGN);
        if apart && closes {
            return Some((format!("{value}{}", text.slice(letter, letter + 1)).into(), letter + 1));
        }
        return Some((value.to_string().into(), end));
    }
    let (roman, letter) = letters.split_at_checked(len.checked_sub(1)?)?;
    from_roman(roman).map(|value| (format!("{value}{letter}").into(), end))
}
