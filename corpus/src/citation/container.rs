//! Reads the names of containers: titles, chapters and other parts of a code that contain provisions, such as
//! `QMC Title 8`, `42 U.S.C. ch. 21, subch. I` or `article V of title 17 of the Port Arden Municipal Code`.

use super::forms::{Forms, TitleRule};
use super::grammar::Grammar;
use super::matching;
use super::tail;
use super::text::{CitationText, END};
use super::value::{BodyRef, Citation, Locator, Unit};
use crate::cfr_chapters::CFR_KEY;

/// Maximum number of levels in the name of a container.
const LEVELS_MAX: usize = 8;

/// Maximum length of a container's number.
const NUMBER_LEN_MAX: usize = 16;

/// The full name of each level, and its other spellings. Levels that are outer ones in most codes come first.
pub(super) const LEVELS: [&[&str]; 14] = [
    &["title", "tit", "t"],
    &["subtitle", "subtit"],
    &["division", "div"],
    &["part", "pt"],
    &["subpart", "subpt"],
    &["chapter", "chap", "ch", "c"],
    &["subchapter", "subchap", "subch"],
    &["article", "art"],
    &["subarticle", "subart"],
    &["appendix", "app"],
    &["supplement", "supp"],
    &["SFAR", "sfar"],
    &["subdivision", "subdiv"],
    &["unit"],
];

const TITLE: ContainerLevel = ContainerLevel(0);
const PART: ContainerLevel = ContainerLevel(3);
const CHAPTER: ContainerLevel = ContainerLevel(5);
const SFAR: ContainerLevel = ContainerLevel(11);

/// The kind of a part of a code: title, chapter, article. Levels that are outer ones in most codes sort first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ContainerLevel(u8);

impl ContainerLevel {
    pub fn name(self) -> &'static str {
        LEVELS.get(usize::from(self.0)).and_then(|words| words.first()).copied().unwrap_or_default()
    }

    /// Whether it is the title, the outermost level, which a titled form writes before the section.
    pub fn is_title(self) -> bool {
        self == TITLE
    }

    /// The level of a cited part or chapter; `None` for a section.
    pub fn of_unit(unit: Unit) -> Option<Self> {
        match unit {
            Unit::Section => None,
            Unit::Part => Some(PART),
            Unit::Chapter => Some(CHAPTER),
        }
    }
}

/// A part of a code body with its number, and the parts that contain it. All spellings of a container give equal
/// values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Container {
    pub body: BodyRef,
    /// In ascending order. There is at least one level, and each level occurs once.
    pub levels: Vec<(ContainerLevel, Box<str>)>,
}

impl Container {
    /// Whether the other container has all the levels of this one.
    pub fn is_named_within(&self, other: &Self) -> bool {
        self.body == other.body && self.levels.iter().all(|level| other.levels.contains(level))
    }
}

impl Grammar {
    /// Parses a text that names one container of a code and nothing else.
    pub fn parse_container(&self, text: &str) -> Option<NamedContainer> {
        let folded = CitationText::new(text);
        let (named, end) = container_at(&self.forms, folded, folded.skip_spaces(0))?;
        let end = folded.skip_comma(if folded.folded_at(end) == b'.' { end + 1 } else { end });
        (folded.folded_at(end) == END).then_some(named)
    }

    /// The full name of a container: `United States Code, Title 42, Chapter 21`.
    pub fn format_container(&self, container: &Container) -> String {
        let mut text = self.body(container.body).map_or_else(String::new, |body| body.name.to_owned());
        for (level, number) in &container.levels {
            text.push_str(", ");
            text.push_str(&name_of(*level, number));
        }
        text
    }

    /// The canonical form of a numbered container: `RCW 59.18`, `47 C.F.R. pt. 22`.
    pub fn format_numbered(&self, numbered: &NumberedContainer) -> String {
        let place = Locator::Numbered {
            unit: numbered.level.map_or(Unit::Section, |level| if level == PART { Unit::Part } else { Unit::Chapter }),
            number: numbered.number.clone(),
            last: None,
            wording: None,
        };
        let (body, title) = (numbered.body, numbered.title.clone());
        self.format(&Citation { body, title, appendix: false, place, subdivisions: Vec::new(), note: false })
    }

    /// Parses the name of a code and a number that is too short for a section of it: `RCW 59.18`, `47 CFR 22`. Only
    /// codes whose section numbers begin with the numbers of their containers have such names.
    pub fn parse_numbered_container(&self, text: &str) -> Option<NumberedContainer> {
        let folded = CitationText::new(text);
        let (named, end) = numbered_container_at(&self.forms, folded, folded.skip_spaces(0))?;
        let end = folded.skip_comma(if folded.folded_at(end) == b'.' { end + 1 } else { end });
        (folded.folded_at(end) == END).then_some(named)
    }
}

/// The container at `start` that the name of a code and a number identify, and its end.
pub(super) fn numbered_container_at(
    forms: &Forms,
    text: CitationText<'_>,
    start: usize,
) -> Option<(NumberedContainer, usize)> {
    let title = tail::read_title(text, start);
    let (name, end) = forms.names.longest(text, title.map_or(start, |(_, end)| text.skip_spaces(end)))?;
    let is_of_one = name.shared.is_none() && !(title.is_some() && name.title.is_some());
    let form = forms.row(name.body).filter(|form| form.constitution.is_none() && is_of_one)?;
    let title = title.map(|(title, _)| title).or(name.title);
    let is_title_of = |rule: &TitleRule| title.is_some_and(|title| rule.has(title));
    if form.title.as_ref().is_some_and(|rule| !is_title_of(rule)) {
        return None;
    }
    if !form.has_prefixed_numbers() || title.is_some() != form.title.is_some() {
        return None;
    }
    let mut pos = text.skip_comma(end);
    if let Some((_, Unit::Section, after)) = tail::read_mark(text, pos) {
        pos = text.skip_spaces(after);
    }
    let (number, end) = read_number(text, pos)?;
    let is_number = number.starts_with(|first: char| first.is_ascii_digit());
    let title = title.map(|title| title.to_ascii_uppercase().into());
    // A section number of the federal regulations always begins with the number of the part.
    let level = Some(PART).filter(|_| form.body().key == CFR_KEY);
    is_number.then_some((NumberedContainer { body: name.body, title, number, level }, end))
}

/// Formats one level: `Chapter 21`, `SFAR 73`.
pub(super) fn name_of(level: ContainerLevel, number: &str) -> String {
    let (first, rest) = level.name().split_at(1);
    format!("{}{rest} {number}", first.to_ascii_uppercase())
}

/// A container identified by the number with which its sections begin: `RCW 59.18`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberedContainer {
    pub body: BodyRef,
    pub title: Option<Box<str>>,
    pub number: Box<str>,
    /// Its level, if the citation contains it: `SDCL ch. 43-32`.
    pub level: Option<ContainerLevel>,
}

/// A container as a text names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedContainer {
    pub container: Container,
    /// Its innermost level by the order of the text: `subchapter I` in `chapter 21, subchapter I`.
    pub innermost: (ContainerLevel, Box<str>),
}

/// The container named at `start`, and the end of its name.
pub(super) fn container_at(forms: &Forms, text: CitationText<'_>, start: usize) -> Option<(NamedContainer, usize)> {
    let mut levels = Vec::new();
    let mut pos = start;
    // `article V of title 17 of the Port Arden Municipal Code` names the innermost level first.
    let mut is_within = false;
    while levels.len() < LEVELS_MAX
        && let Some((level, end)) = read_level(text, pos)
    {
        levels.insert(if is_within { 0 } else { levels.len() }, level);
        pos = text.skip_comma(end);
        let of = text.any_word(pos, &["of", "to"]);
        is_within = of.is_some();
        pos = text.skip_spaces(of.unwrap_or(pos));
        pos = text.word(pos, "the").map_or(pos, |end| text.skip_spaces(end));
    }
    let title = tail::read_title(text, pos);
    if let (None, Some(found)) = (title, read_regulations_part(forms, text, &levels, pos)) {
        return Some(found);
    }
    let (name, mut end) = forms.names.longest(text, title.map_or(pos, |(_, end)| text.skip_spaces(end)))?;
    let is_of_one = name.shared.is_none();
    let form = forms.row(name.body).filter(|form| form.constitution.is_none() && is_of_one)?;
    if title.is_some() && form.title.is_none() {
        return None;
    }
    let titles = [title.map(|(title, _)| title), name.title];
    levels.splice(0..0, titles.into_iter().flatten().map(|title| (TITLE, title.to_ascii_uppercase().into())));
    pos = text.skip_comma(end);
    let mut outer = 0;
    while levels.len() < LEVELS_MAX
        && let Some((level, level_end)) = read_level(text, pos)
        // `title 11 of the United States Code, title 42 ...` names another container after the comma.
        && levels.iter().all(|(other, _)| *other != level.0)
    {
        // In `Appendix A to 12 CFR part 1002`, the part contains the levels named before it.
        let place = if is_within { outer } else { levels.len() };
        levels.insert(place, level);
        outer += 1;
        end = level_end;
        pos = text.skip_comma(end);
    }
    let innermost = levels.last()?.clone();
    levels.sort_unstable();
    levels.dedup();
    let is_consistent = levels.windows(2).all(|pair| pair[0].0 != pair[1].0);
    let container = Container { body: name.body, levels };
    is_consistent.then_some((NamedContainer { container, innermost }, end))
}

/// Reads `Appendix G to Part 91 of title 14`, which names no code. It means the federal regulations, whose parts
/// have plain numbers; the parts of the United States Code have Roman numerals or letters.
fn read_regulations_part(
    forms: &Forms,
    text: CitationText<'_>,
    levels: &[(ContainerLevel, Box<str>)],
    pos: usize,
) -> Option<(NamedContainer, usize)> {
    let has_plain_part =
        levels.iter().any(|(level, number)| *level == PART && number.bytes().all(|sign| sign.is_ascii_digit()));
    let in_title = levels.first().is_some_and(|(level, _)| *level == TITLE);
    if !has_plain_part || !in_title || forms.names.longest(text, pos).is_some() {
        return None;
    }
    let (body, _) = forms.rows().find(|(_, form)| form.body().key == CFR_KEY)?;
    let mut levels = levels.to_vec();
    let innermost = levels.last()?.clone();
    levels.sort_unstable();
    Some((NamedContainer { container: Container { body, levels }, innermost }, matching::trim_end(text, pos)))
}

/// Reads one level: `Title 8`, `ch. 8.08`, `art. V`, `Special Federal Aviation Regulation No. 73`.
fn read_level(text: CitationText<'_>, pos: usize) -> Option<((ContainerLevel, Box<str>), usize)> {
    if let Some(after) = text.words(pos, &["special", "federal", "aviation", "regulation"]) {
        let (number, end) = read_number(text, skip_no(text, after))?;
        return Some(((SFAR, number), end));
    }
    let found =
        (0_u8..).zip(LEVELS).find_map(|(level, words)| Some((ContainerLevel(level), text.any_word(pos, words)?)));
    let (level, after) = found?;
    let (number, end) = read_number(text, skip_no(text, after))?;
    Some(((level, number), end))
}

/// Skips spaces and `No.`.
fn skip_no(text: CitationText<'_>, pos: usize) -> usize {
    let pos = text.skip_spaces(pos);
    text.any_word(pos, &["no", "number"]).map_or(pos, |end| text.skip_spaces(end))
}

/// Reads a number with its letters, dots, dashes and colons, or a single letter, or a Roman numeral.
fn read_number(text: CitationText<'_>, start: usize) -> Option<(Box<str>, usize)> {
    let is_inner = |sign: u8| matches!(sign, b'.' | b'-' | b':');
    let mut number = String::new();
    let mut pos = start;
    while number.len() < NUMBER_LEN_MAX {
        let (sign, len) = text.at(pos);
        let goes_on = is_inner(sign) && !number.is_empty() && text.folded_at(pos + len).is_ascii_alphanumeric();
        if !sign.is_ascii_alphanumeric() && !goes_on {
            break;
        }
        number.push(char::from(sign.to_ascii_uppercase()));
        pos += len;
    }
    let is_roman = !number.is_empty() && number.bytes().all(|sign| b"IVXLCDM".contains(&sign));
    let is_number = number.len() == 1 || is_roman || number.bytes().any(|sign| sign.is_ascii_digit());
    (is_number && text.ends_word(pos)).then(|| (number.into(), pos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::BodyForm;

    fn grammar() -> Grammar {
        let form = BodyForm {
            jurisdiction: "XX-QUINCY".parse().unwrap(),
            name: "Quincy Municipal Code".into(),
            key: "xx-quincy/code".into(),
            template: "Quincy Mun. Code § {number}".into(),
            aliases: vec!["QMC".into()],
        };
        Grammar::with_bodies(&[form]).unwrap()
    }

    #[test]
    fn a_container_is_the_same_by_any_of_its_names() {
        let grammar = grammar();
        for (expected, names) in [
            (
                "Quincy Municipal Code, Title 8",
                &["QMC Title 8", "qmc tit. 8", "Quincy Mun. Code, Title 8", "title 8 of the Quincy Municipal Code"][..],
            ),
            (
                "Quincy Municipal Code, Title 17, Article V",
                &[
                    "QMC tit. 17, art. V",
                    "article v of title 17 of the QMC",
                    "Quincy Municipal Code, Title 17, Article V.",
                ],
            ),
            ("Quincy Municipal Code, Title 8, Chapter 8.08", &["QMC title 8 ch. 8.08", "ch. 8.08 of tit. 8, QMC"]),
            (
                "United States Code, Title 42, Chapter 21, Subchapter I",
                &["42 U.S.C. ch. 21, subch. I", "subchapter I of chapter 21 of title 42, United States Code"],
            ),
            ("United States Code, Title 42", &["42 USC", "title 42, United States Code", "U.S. Code tit. 42"]),
            ("United States Code, Title 26, Chapter 1", &["I.R.C. chapter 1", "26 U.S.C. chapter 1"]),
        ] {
            for name in names {
                let named = grammar.parse_container(name).unwrap_or_else(|| panic!("{name}"));
                assert_eq!(grammar.format_container(&named.container), expected, "{name}");
            }
            assert_eq!(grammar.parse_container(expected), grammar.parse_container(names[0]));
        }
    }

    #[test]
    fn attachments_to_parts_of_regulations_are_named_too() {
        let grammar = grammar();
        for (expected, names) in [
            (
                "Code of Federal Regulations, Title 14, Part 61, SFAR 73",
                &[
                    "14 CFR Part 61, SFAR 73",
                    "14 C.F.R. pt. 61, Special Federal Aviation Regulation No. 73",
                    "SFAR No. 73 to part 61 of title 14",
                ][..],
            ),
            (
                "Code of Federal Regulations, Title 14, Part 91, Appendix G",
                &["Appendix G to Part 91 of title 14", "14 C.F.R. pt. 91, App. G", "Appendix G to 14 CFR part 91"],
            ),
            (
                "Code of Federal Regulations, Title 12, Part 1026, Supplement I",
                &[
                    "12 C.F.R. pt. 1026, Supp. I",
                    "Supplement I to Part 1026 of Title 12",
                    "Supp. I to 12 CFR part 1026",
                ],
            ),
        ] {
            for name in names {
                let named = grammar.parse_container(name).unwrap_or_else(|| panic!("{name}"));
                assert_eq!(grammar.format_container(&named.container), expected, "{name}");
                assert!(named.container.levels.last() == Some(&named.innermost), "{name}: {:?}", named.innermost);
            }
        }
        // The parts of the United States Code have no plain numbers.
        assert_eq!(grammar.parse_container("part II of title 14"), None);
    }

    #[test]
    fn containers_are_named_by_the_numbers_that_their_sections_begin_with() {
        let grammar = grammar();
        for (text, key, title, number) in [
            ("RCW 59.18", "wa/rcw", None, "59.18"),
            ("RCW § 59.18", "wa/rcw", None, "59.18"),
            ("47 CFR 22", "us/cfr", Some("47"), "22"),
            ("SDCL 43-32.", "sd/sdcl", None, "43-32"),
            ("COMAR 26.08", "md/comar", None, "26.08"),
            ("Va. Code 13.1", "va/code", None, "13.1"),
        ] {
            let named = grammar.parse_numbered_container(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(grammar.body(named.body).unwrap().key, key, "{text}");
            assert_eq!((named.title.as_deref(), &*named.number), (title, number), "{text}");
        }
        // The code's section numbers do not begin with container numbers, the title does not exist, or the text is
        // none.
        for text in ["17 USC 101", "9 V.S.A. 63", "99 CFR 22", "RCW", "RCW 59.18 and more", "U.S. Const. 5", ""] {
            assert_eq!(grammar.parse_numbered_container(text), None, "{text}");
        }
    }

    #[test]
    fn text_that_names_no_container_is_rejected() {
        let grammar = grammar();
        for text in [
            "QMC",
            "Title 8",
            "chapter 21 of title 42",
            "QMC Title 8 and more",
            "42 QMC",
            "QMC Title of",
            "U.S. Const. art. I",
            "title 8, 9 U.S.C.",
            "",
        ] {
            assert_eq!(grammar.parse_container(text), None, "{text}");
        }
    }
}
