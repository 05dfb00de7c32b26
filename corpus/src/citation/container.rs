//! Titles, chapters and other parts of a code that hold provisions, by any of their names: `QMC Title 8`, `42 U.S.C. ch. 21,
//! subch. I`, `article V of title 17 of the Port Arden Municipal Code`.

use super::forms::Forms;
use super::grammar::Grammar;
use super::tail;
use super::text::{END, Text};
use super::value::BodyRef;

/// No container is named by more levels.
const LEVELS_MAX: usize = 8;

/// No number of a container is longer.
const NUMBER_LEN_MAX: usize = 16;

/// What a level is called in full, and how else it is written; the outer levels of most codes first.
const LEVELS: [&[&str]; 12] = [
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
    &["subdivision", "subdiv"],
    &["unit"],
];

const TITLE: Level = Level(0);

/// What a part of a code is called: title, chapter, article. The outer levels of most codes come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Level(u8);

impl Level {
    pub fn name(self) -> &'static str {
        LEVELS.get(usize::from(self.0)).and_then(|words| words.first()).copied().unwrap_or_default()
    }
}

/// A part of a code body with its number, and the parts around it. Two spellings of the same container are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Container {
    pub body: BodyRef,
    /// Ascending; at least one, and each level once.
    pub levels: Vec<(Level, Box<str>)>,
}

impl Container {
    /// Whether each of its levels is one of the other's.
    pub fn is_named_within(&self, other: &Self) -> bool {
        self.body == other.body && self.levels.iter().all(|level| other.levels.contains(level))
    }
}

impl Grammar {
    /// Reads a text that names one container of a code and nothing else.
    pub fn parse_container(&self, text: &str) -> Option<NamedContainer> {
        let folded = Text::new(text);
        let (named, end) = container_at(&self.forms, folded, folded.skip_spaces(0))?;
        let end = folded.skip_comma(if folded.sign(end) == b'.' { end + 1 } else { end });
        (folded.sign(end) == END).then_some(named)
    }

    /// A container's name in full: `United States Code, Title 42, Chapter 21`.
    pub fn format_container(&self, container: &Container) -> String {
        let mut text = self.body(container.body).map_or_else(String::new, |body| body.name.to_owned());
        for (level, number) in &container.levels {
            let (first, rest) = level.name().split_at(1);
            text.push_str(", ");
            text.push_str(&first.to_ascii_uppercase());
            text.push_str(rest);
            text.push(' ');
            text.push_str(number);
        }
        text
    }
}

/// A container as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedContainer {
    pub container: Container,
    /// The one of its levels that was named last, where that is the innermost: `chapter 21, subchapter I`.
    pub innermost: (Level, Box<str>),
}

/// The container named at a place of a text, and where its name ends.
pub(super) fn container_at(forms: &Forms, text: Text<'_>, start: usize) -> Option<(NamedContainer, usize)> {
    let mut levels = Vec::new();
    let mut pos = start;
    // `article V of title 17 of the Port Arden Municipal Code`: from the inside out.
    let mut is_within = false;
    while levels.len() < LEVELS_MAX
        && let Some((level, end)) = read_level(text, pos)
    {
        levels.insert(if is_within { 0 } else { levels.len() }, level);
        pos = text.skip_comma(end);
        let of = text.word(pos, "of");
        is_within = of.is_some();
        pos = text.skip_spaces(of.unwrap_or(pos));
        pos = text.word(pos, "the").map_or(pos, |end| text.skip_spaces(end));
    }
    let title = tail::read_title(text, pos);
    let (name, mut end) = forms.names.longest(text, title.map_or(pos, |(_, end)| text.skip_spaces(end)))?;
    let form = forms.row(name.body).filter(|form| form.constitution.is_none())?;
    if title.is_some() && form.title.is_none() {
        return None;
    }
    let titles = [title.map(|(title, _)| title), name.title];
    levels.splice(0..0, titles.into_iter().flatten().map(|title| (TITLE, title.to_ascii_uppercase().into())));
    pos = text.skip_comma(end);
    while levels.len() < LEVELS_MAX
        && let Some((level, level_end)) = read_level(text, pos)
    {
        levels.push(level);
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

/// `Title 8`, `ch. 8.08`, `art. V`.
fn read_level(text: Text<'_>, pos: usize) -> Option<((Level, Box<str>), usize)> {
    let found = (0_u8..).zip(LEVELS).find_map(|(level, words)| Some((Level(level), text.any_word(pos, words)?)));
    let (level, after) = found?;
    let (number, end) = read_number(text, text.skip_spaces(after))?;
    Some(((level, number), end))
}

/// A number with its letters, dots and dashes, or a letter or Roman number.
fn read_number(text: Text<'_>, start: usize) -> Option<(Box<str>, usize)> {
    let is_inner = |sign: u8| matches!(sign, b'.' | b'-' | b':');
    let mut number = String::new();
    let mut pos = start;
    while number.len() < NUMBER_LEN_MAX {
        let (sign, len) = text.at(pos);
        let goes_on = is_inner(sign) && !number.is_empty() && text.sign(pos + len).is_ascii_alphanumeric();
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
    fn what_names_no_part_of_one_code_is_no_container() {
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
