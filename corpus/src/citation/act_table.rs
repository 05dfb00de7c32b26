//! The table of acts of Congress, `acts.tsv`: their names, and where their sections are in the United States Code.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::act_section::ActLaw;
use super::names::{BodyName, NameTrie, WordClasses, fold_name};
use super::number::compare;
use super::text::CitationText;
use super::value::{BodyRef, Citation, Locator, Unit};

const TABLE: &str = include_str!("acts.tsv");

/// One row of the table.
pub(super) struct Act {
    /// The name shown in results.
    pub(super) name: &'static str,
    /// The law that the act was published as.
    pub(super) law: Option<ActLaw>,
    title: &'static str,
    pub(super) sections: HashMap<String, CodeSection>,
    /// Where the sections are that the table does not list.
    others: UnlistedSections,
    /// The sections of the code that contain the whole act: the first, and the last if there are several.
    whole: Option<(&'static str, Option<&'static str>)>,
}

/// Where a section is in the United States Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeSection {
    pub(super) title: &'static str,
    pub(super) number: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnlistedSections {
    Unknown,
    /// In the act's title, under the same numbers.
    Same,
    /// In the act's title, under numbers that are higher by this amount.
    Offset(u32),
}

pub(super) struct Acts {
    pub(super) rows: Vec<Act>,
    names: NameTrie,
}

pub(super) static ACTS: LazyLock<Acts> = LazyLock::new(Acts::read);

pub(super) fn section(body: BodyRef, title: &str, number: &str, last: Option<&str>) -> Citation {
    let place =
        Locator::Numbered { unit: Unit::Section, number: number.into(), last: last.map(Into::into), wording: None };
    Citation { body, title: Some(title.into()), appendix: false, place, subdivisions: Vec::new(), note: false }
}

impl Act {
    pub(super) fn place(&self, number: &str) -> Option<CodeSection> {
        let known = self.sections.get(&number.to_ascii_uppercase());
        known.cloned().or_else(|| self.others.place(self.title, number)).or_else(|| self.place_in_code(number))
    }

    /// Courts cite `ICWA § 1912` by the number that the section has in the code. The number is read so if no listed
    /// section of the act has one as high, and if it lies within the act's sections of the code.
    fn place_in_code(&self, number: &str) -> Option<CodeSection> {
        let (first, last) = self.whole?;
        let leading = |number: &str| {
            let digits = number.bytes().take_while(u8::is_ascii_digit).count();
            number[..digits].parse::<u32>().ok()
        };
        let highest = self.sections.keys().filter_map(|number| leading(number)).max()?;
        let number = number.to_ascii_lowercase();
        let is_within = compare(first, &number).is_le() && compare(&number, last.unwrap_or(first)).is_le();
        let is_of_code = self.others == UnlistedSections::Unknown && is_within && leading(&number)? > highest;
        is_of_code.then_some(CodeSection { title: self.title, number })
    }

    pub(super) fn whole_citation(&self, body: BodyRef) -> Option<Citation> {
        self.whole.map(|(first, last)| section(body, self.title, first, last))
    }
}

impl UnlistedSections {
    fn place(self, title: &'static str, number: &str) -> Option<CodeSection> {
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let number = match self {
            Self::Unknown => return None,
            Self::Same => number.to_ascii_lowercase(),
            Self::Offset(by) => {
                format!("{}{}", number[..digits].parse::<u32>().ok()? + by, number[digits..].to_ascii_lowercase())
            }
        };
        Some(CodeSection { title, number })
    }
}

/// Reads `Pub. L. 93-406, 88 Stat. 829` or `ch. 477, 66 Stat. 163 (1952)`.
fn law_published(published: &str) -> Option<ActLaw> {
    let (law, _) = published.split_once(", ")?;
    if let Some(number) = law.strip_prefix("Pub. L. ") {
        let (congress, number) = number.split_once('-')?;
        return Some(ActLaw::PublicLaw { congress: congress.parse().ok()?, number: number.parse().ok()? });
    }
    let (_, year) = published.trim_end_matches(')').rsplit_once('(')?;
    Some(ActLaw::Chapter { year: year.parse().ok()?, chapter: law.strip_prefix("ch. ")?.into() })
}

impl Acts {
    /// Reads the table. It is part of the program, so an error in it is a bug and panics.
    fn read() -> Self {
        let mut acts = Self { rows: Vec::new(), names: NameTrie::new(WordClasses::default()) };
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            acts.add(line);
        }
        acts
    }

    fn add(&mut self, line: &'static str) {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [names, full, published, title, items] = fields[..] else {
            panic!("the table of acts has an invalid row '{line}'")
        };
        let body = BodyRef(self.rows.len() as u16);
        for name in names.split(';').chain([full]) {
            // Text in parentheses is not part of the name.
            let words = fold_name(name.split(" (").next().unwrap_or(name));
            let taken = self
                .names
                .add(NameTrie::ROOT, &words, BodyName { body, capitals: false, title: None, shared: None })
                .err();
            assert!(taken.is_none(), "the table of acts contains the name '{name}' twice");
        }
        let name = names.split(';').next().unwrap_or(full);
        let mut act = Act {
            name,
            law: law_published(published),
            title,
            sections: HashMap::new(),
            others: UnlistedSections::Unknown,
            whole: None,
        };
        items.split(' ').for_each(|item| act.add(item));
        self.rows.push(act);
    }

    /// The act named at `pos`, and the end of its name, including a year such as `of 1974`.
    pub(super) fn popular_name_at(&self, text: CitationText<'_>, pos: usize) -> Option<(&Act, usize)> {
        let (name, end) = self.names.longest(text, pos)?;
        let act = self.rows.get(name.body.index())?;
        let year = text.word(text.skip_spaces(end), "of").map(|after| text.skip_spaces(after));
        let year_end = year.map(|year| (year, text.digits_end(year))).filter(|&(year, end)| end == year + 4);
        Some((act, year_end.map_or(end, |(_, end)| end)))
    }
}

impl Act {
    fn add(&mut self, item: &'static str) {
        match item.split_once('>') {
            None if item == "all" => self.others = UnlistedSections::Same,
            None => {
                let by = item.strip_prefix('+').and_then(|by| by.parse().ok());
                self.others = UnlistedSections::Offset(
                    by.unwrap_or_else(|| panic!("the table of acts has an invalid item '{item}'")),
                );
            }
            Some(("whole", range)) => {
                let ends = range.split_once("...");
                self.whole = Some(ends.map_or((range, None), |(first, last)| (first, Some(last))));
            }
            Some((numbers, place)) => {
                let (title, first) = place.split_once('/').unwrap_or((self.title, place));
                let ends = numbers.split_once('-');
                let ends = ends.and_then(|(from, to)| Some((from.parse::<u32>().ok()?, to.parse::<u32>().ok()?)));
                let (Some((from, to)), Ok(first_number)) = (ends, first.parse::<u32>()) else {
                    self.sections.insert(numbers.to_ascii_uppercase(), CodeSection { title, number: first.to_owned() });
                    return;
                };
                for number in from..=to {
                    let place = CodeSection { title, number: (first_number + (number - from)).to_string() };
                    self.sections.insert(number.to_string(), place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::acts::PopularCitation;
    use super::super::grammar::Grammar;
    use super::*;

    /// Checks the names, the sections of the code and the source in every row.
    #[test]
    fn every_row_of_the_table_is_valid() {
        let grammar = Grammar::built_in();
        assert!(ACTS.rows.len() > 100);
        for (line, act) in TABLE.lines().filter(|line| !line.starts_with('#')).zip(&ACTS.rows) {
            let fields: Vec<&str> = line.split('\t').collect();
            let source = fields[2];
            assert!(
                source.contains(" Stat. ") && (source.contains("Pub. L. ") || source.starts_with("ch. ")),
                "{line}"
            );
            let mut places: Vec<(String, Citation)> = Vec::new();
            for (number, place) in &act.sections {
                places.push((number.clone(), section(grammar.us_code(), place.title, &place.number, None)));
            }
            places.extend(act.whole_citation(grammar.us_code()).map(|whole| (String::new(), whole)));
            assert!(!places.is_empty(), "{line}");
            for (number, citation) in places {
                let written = grammar.format(&citation);
                assert_eq!(grammar.parse(&written).as_ref(), Ok(&citation), "{line}");
                for name in fields[0].split(';').chain([fields[1]]) {
                    let name = name.split(" (").next().unwrap_or(name);
                    let texts = if number.is_empty() {
                        vec![name.to_owned()]
                    } else {
                        vec![format!("{name} § {number}"), format!("Section {number} of the {name}")]
                    };
                    for text in texts {
                        let read = grammar.parse_popular(&text).unwrap_or_default();
                        let is_read = matches!(read.as_slice(), [PopularCitation::Act(only) | PopularCitation::Section { listed: Some(only), .. }] if *only == citation);
                        assert!(is_read, "{text}: {read:?}");
                    }
                }
            }
        }
    }
}
