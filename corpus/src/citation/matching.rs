//! Matches a citation at one position of a text, in any order of its parts.
//!
//! Examples: `42 U.S.C. § 1983`, `Cal. Penal Code § 187`, `title 42, section 1983`, `section 1983 of title 42`,
//! `subsection (b) of section 1983 of title 42`, `article I, section 8 of the United States Constitution`. Each
//! attempt is bounded in length, so matching at every position takes linear time. `own_code` reads references to
//! the provision's own code.

use std::ops::Range;

use super::constitution;
use super::enclosing_provision::EnclosingProvision;
use super::forms::{CodeCitationForm, Forms};
use super::number::{DashRangeRule, NumberMark, NumberShape};
use super::shared::SharedName;
use super::tail::{self, Expected, ListedNumber};
use super::text::{CitationText, SECTION_SIGN};
use super::value::{BodyRef, Citation, Locator, Unit};

/// The citations that begin at one position: one, several from a list, or none if the name and number fit several
/// codes.
#[derive(Debug)]
pub(super) struct CitationMatch {
    pub(super) items: Vec<(Range<usize>, Citation)>,
    pub(super) end: usize,
}

/// The code that a citation names, with its title.
#[derive(Clone, Copy)]
pub(super) struct CitedCode<'t> {
    pub(super) body: BodyRef,
    pub(super) title: Option<&'t str>,
    pub(super) appendix: bool,
    pub(super) strict: bool,
    /// The name, if several codes share it. The numbers then decide which code is meant.
    pub(super) shared: Option<SharedName>,
    /// Whether an edition is named from before the code had its present numbers: `N.M.S.A. 1953`.
    pub(super) is_former_edition: bool,
}

impl<'t> CitedCode<'t> {
    /// A code that the text means without naming it.
    pub(super) fn of(body: BodyRef, title: Option<&'t str>) -> Self {
        Self { body, title, appendix: false, strict: false, shared: None, is_former_edition: false }
    }
}

impl CitedCode<'_> {
    pub(super) fn citation(self, place: Locator, subdivisions: Vec<Box<str>>) -> Citation {
        let title = self.title.map(|title| title.to_ascii_uppercase().into());
        Citation { body: self.body, title, appendix: self.appendix, place, subdivisions, note: false }
    }
}

/// The titles of the United States Code whose appendices are cited as `5A`.
const APPENDIX_TITLES: [u16; 5] = [5, 11, 18, 28, 50];

/// The shape of the numbers of parts and chapters in every code.
const CONTAINER: NumberShape = NumberShape {
    dashes: (0, 1),
    colons: (0, 0),
    slashes: (0, 0),
    rising: DashRangeRule::WhenMany,
    ..NumberShape::ANY
};

#[derive(Clone, Copy)]
pub(super) struct Matcher<'g, 't> {
    pub(super) forms: &'g Forms,
    pub(super) text: CitationText<'t>,
    /// The United States Code, which a bare `title 42` means.
    pub(super) us_code: BodyRef,
    pub(super) home: Option<EnclosingProvision<'t>>,
    /// The index of the reading to use for a shared name. If `None`, use that of the home code or the only one that
    /// fits.
    pub(super) reading: Option<usize>,
}

impl<'g, 't> Matcher<'g, 't> {
    /// The citation that begins exactly at `pos`, which must be where a word could begin.
    pub(super) fn at(&self, pos: usize) -> Option<CitationMatch> {
        match self.text.folded_at(pos) {
            b'0'..=b'9' => self.titled(pos),
            SECTION_SIGN => self.prose(pos),
            sign if sign.is_ascii_alphabetic() => self.named(pos).or_else(|| match sign.to_ascii_lowercase() {
                b't' => self.title_prose(pos),
                b's' | b'p' | b'c' | b'a' | b'r' => {
                    let prose =
                        self.prose(pos).or_else(|| self.read_number_endings(pos)).or_else(|| self.inner_prose(pos));
                    prose.or_else(|| self.read_pinpoint(pos)).or_else(|| self.constitution_prose(pos))
                }
                _ => None,
            }),
            _ => None,
        }
    }

    pub(super) fn form(&self, body: BodyRef) -> Option<&'g CodeCitationForm> {
        self.forms.row(body)
    }

    /// Reads `Cal. Penal Code § 187`, `Del. Code tit. 6, § 18-201`, `U.S. Const. art. I`.
    pub(super) fn named(&self, pos: usize) -> Option<CitationMatch> {
        let (target, end) = self.name(pos)?;
        self.after_name(pos, target, end)
    }

    pub(super) fn name(&self, pos: usize) -> Option<(CitedCode<'t>, usize)> {
        let (name, end) = self.forms.names.longest(self.text, pos)?;
        let (end, edition) = self.skip_remarks(end);
        let code = CitedCode {
            body: name.body,
            title: name.title,
            appendix: false,
            strict: name.capitals,
            shared: name.shared,
            is_former_edition: edition.is_some_and(|year| self.is_former_edition(name.body, year)),
        };
        Some((code, end))
    }

    pub(super) fn is_former_edition(&self, body: BodyRef, year: u16) -> bool {
        self.form(body).and_then(|form| form.numbered_since).is_some_and(|since| year < since)
    }

    /// The body and the year of an edition that is named at `pos`, if it is from before the body had its present
    /// numbers.
    pub(super) fn former_edition(&self, pos: usize) -> Option<(BodyRef, u16)> {
        let (name, end) = self.forms.names.longest(self.text, pos)?;
        let (_, edition) = self.skip_remarks(end);
        edition.filter(|&year| self.is_former_edition(name.body, year)).map(|year| (name.body, year))
    }

    /// Reads `42 U.S.C. § 1983`.
    pub(super) fn titled(&self, pos: usize) -> Option<CitationMatch> {
        let (target, end) = self.title_and_name(pos)?;
        self.after_name(pos, target, end)
    }

    pub(super) fn title_and_name(&self, pos: usize) -> Option<(CitedCode<'t>, usize)> {
        let (title, end) = tail::read_title(self.text, pos)?;
        let text = self.text;
        let after = text.skip_spaces(end);
        // `50 App. U.S.C. § 501`.
        let appendix = text.any_word(after, &["app", "appendix"]).map(|end| text.skip_spaces(end));
        let (target, end) = self.name(appendix.unwrap_or(after))?;
        if appendix.is_some() && !self.form(target.body)?.has_appendix {
            return None;
        }
        Some((self.with_title(CitedCode { appendix: appendix.is_some(), ..target }, title)?, end))
    }

    /// Sets the title of a target, if its body has such a title. `5A` of the United States Code is the appendix of
    /// title 5.
    pub(super) fn with_title(&self, target: CitedCode<'t>, title: &'t str) -> Option<CitedCode<'t>> {
        let form = self.form(target.body).filter(|_| target.shared.is_none())?;
        let rule = form.title.as_ref()?;
        if target.title.is_some_and(|named| named != title) {
            return None;
        }
        let digits = title.bytes().take_while(u8::is_ascii_digit).count();
        let number: u16 = title.get(..digits)?.parse().ok()?;
        if !rule.has(title) {
            return None;
        }
        let is_appendix = form.has_appendix && digits < title.len();
        let names_appendix = title.get(digits..)?.eq_ignore_ascii_case("a") && APPENDIX_TITLES.contains(&number);
        if is_appendix && !names_appendix {
            return None;
        }
        let title = if is_appendix { title.get(..digits)? } else { title };
        Some(CitedCode { title: Some(title), appendix: target.appendix || is_appendix, ..target })
    }

    /// Skips what publishers put between a name and its number: a year, `Cum. Supp.`, `Ann.`, `(West)`, commas.
    /// Returns the earliest year that is skipped, which is that of the edition.
    fn skip_remarks(&self, end: usize) -> (usize, Option<u16>) {
        let text = self.text;
        let mut pos = text.skip_comma(end);
        let mut years = None;
        // The last position before a year or `Supp.`, to which only a section mark gives their meaning.
        let mut unsure = None;
        for _ in 0..REMARKS_MAX {
            if let Some((year, after)) = read_year(text, pos) {
                unsure = unsure.or(Some(pos));
                years = Some(years.map_or(year, |earlier: u16| earlier.min(year)));
                pos = after;
            } else if let Some(after) = text.any_word(pos, &EDITION_WORDS) {
                // `K.S.A. 2019 Supp. 60-1507` has no section mark.
                let is_sure = years.is_some() && text.folded_at(text.skip_comma(after)).is_ascii_digit();
                unsure = if is_sure { None } else { unsure.or(Some(pos)) };
                pos = text.skip_comma(after);
            } else if let Some(after) = text.any_word(pos, &["ann", "annotated", "anno", "annot"]) {
                pos = text.skip_comma(after);
            } else if let Some(after) = skip_parenthetical(text, pos).or_else(|| skip_short_name(text, pos)) {
                years = years.or_else(|| year_within(text.slice(pos, after)));
                pos = text.skip_comma(after);
            } else {
                break;
            }
        }
        match unsure {
            Some(before) if tail::read_mark(text, pos).is_none() => (before, None),
            _ => (pos, years),
        }
    }

    pub(super) fn after_name(&self, start: usize, target: CitedCode<'t>, pos: usize) -> Option<CitationMatch> {
        let form = self.form(target.body)?;
        if let Some(style) = form.constitution {
            let (parts, end) = constitution::read(self.text, pos, style)?;
            let mut subdivisions = Vec::new();
            let end = tail::read_subdivisions(self.text, end, false, &mut subdivisions);
            return Some(constitutional(start..end, target, parts, subdivisions));
        }
        let (target, pos) = self.appendix(form, target, pos);
        let (target, pos) = self.title_after(target, pos)?;
        let (target, pos) = self.appendix(form, target, pos);
        let (mark, unit, pos) = match tail::read_mark(self.text, pos) {
            Some(_) if self.text.begins_paragraph(pos) && ends_with_year(self.text.before(pos, 32)) => return None,
            Some((mark, unit, end)) => (mark, unit, self.text.skip_spaces(end)),
            None => (NumberMark::None, Unit::Section, pos),
        };
        self.numbers(start, target, unit, mark, pos)
    }

    fn appendix(&self, form: &CodeCitationForm, target: CitedCode<'t>, pos: usize) -> (CitedCode<'t>, usize) {
        let after = if form.has_appendix { self.text.any_word(pos, &["app", "appendix", "appx"]) } else { None };
        match after {
            Some(end) => (CitedCode { appendix: true, ..target }, self.text.skip_comma(end)),
            None => (target, pos),
        }
    }

    /// Reads the title after the name of a titled form, if the title is not known yet. `None` if it is missing.
    pub(super) fn title_after(&self, target: CitedCode<'t>, pos: usize) -> Option<(CitedCode<'t>, usize)> {
        if target.title.is_some() || self.form(target.body)?.title.is_none() {
            return Some((target, pos));
        }
        let text = self.text;
        let worded = text.any_word(pos, &["tit", "title", "ti", "t", "ch", "chap", "chapter", "c"]);
        let (title, end) = tail::read_title(text, text.skip_spaces(worded.unwrap_or(pos)))?;
        let next = text.skip_comma(end);
        // Without the word `title`, a number is a title only if a section sign or another number follows:
        // `Del. Code 6 § 18-201`, `USC 42 1983`.
        let number_follows = next > end && text.folded_at(next).is_ascii_digit();
        if worded.is_none() && !number_follows && tail::read_mark(text, next).is_none() {
            return None;
        }
        Some((self.with_title(target, title)?, next))
    }

    pub(super) fn numbers(
        &self,
        start: usize,
        target: CitedCode<'t>,
        unit: Unit,
        mark: NumberMark,
        pos: usize,
    ) -> Option<CitationMatch> {
        if mark == NumberMark::None && self.text.begins_paragraph(pos) {
            return None;
        }
        let strict = mark == NumberMark::None || (target.strict && unit == Unit::Section);
        let expected =
            Expected { home: self.other_home_shape(target.body), ..Expected::of(&NumberShape::ANY, mark, unit) };
        let (target, entries, end) = self.list(CitedCode { strict, ..target }, expected, pos)?;
        Some(self.found(start, target, unit, entries, end))
    }

    /// Reads the numbers at `pos` and decides their code: for a shared name, the code whose numbers they fit. The shape
    /// that is expected is that of the code.
    pub(super) fn list(
        &self,
        target: CitedCode<'t>,
        expected: Expected<'g>,
        pos: usize,
    ) -> Option<(CitedCode<'t>, Vec<ListedNumber>, usize)> {
        let unit = expected.unit;
        let is_joined = self.has_joined_home(target.body);
        let read = |shape: &NumberShape, strict| {
            let shape = match unit {
                Unit::Section if is_joined => NumberShape { rising: DashRangeRule::Never, ..*shape },
                Unit::Section => *shape,
                Unit::Part | Unit::Chapter => CONTAINER,
            };
            tail::read_list(self.text, pos, Expected { shape: &shape, strict, ..expected })
        };
        let Some(shared) = target.shared else {
            let (entries, end) = read(&self.form(target.body)?.shape, target.strict)?;
            return Some((target, entries, end));
        };
        let readings = self.forms.readings(shared);
        // In the provisions of one of these codes, the shared name means that code.
        let at_home = |home: EnclosingProvision<'_>| readings.iter().position(|reading| reading.body == home.body);
        let choice = self.reading.or_else(|| at_home(self.home?));
        let mut fitting = readings.iter().enumerate().filter_map(|(index, reading)| {
            if choice.is_some_and(|choice| choice != index) {
                return None;
            }
            let (entries, end) = read(&reading.shape, true)?;
            let target = CitedCode { body: reading.body, title: reading.title, strict: true, shared: None, ..target };
            entries.iter().all(|entry| reading.accepts_number(entry, unit)).then_some((target, entries, end))
        });
        let (first, second) = (fitting.next()?, fitting.next());
        let Some(second) = second else { return Some(first) };
        // `I.C. 3-5-11-9` is one number of Indiana, though `3-5` to `11-9` could be a range of Idaho.
        let is_range = |(_, entries, _): &(_, Vec<ListedNumber>, _)| entries.iter().any(|entry| entry.last.is_some());
        match (is_range(&first), is_range(&second)) {
            (false, true) => Some(first),
            (true, false) => Some(second),
            // Skip the text without a citation. Otherwise the number alone would be read as one of the text's own code.
            _ => Some((first.0, Vec::new(), first.2.max(second.2))),
        }
    }

    pub(super) fn found(
        &self,
        start: usize,
        target: CitedCode<'t>,
        unit: Unit,
        entries: Vec<ListedNumber>,
        end: usize,
    ) -> CitationMatch {
        // Skip a citation of a former edition. Its number alone would be read as one of the text's own code.
        let entries = if target.is_former_edition { Vec::new() } else { entries };
        let single = entries.len() == 1;
        let items = entries.into_iter().enumerate().map(|(index, entry)| {
            let range = match (single, index) {
                (true, _) => start..end,
                (false, 0) => start..entry.end,
                (false, _) => entry.start..entry.end,
            };
            (range, citation(target, unit, entry))
        });
        CitationMatch { items: items.collect(), end }
    }
}

pub(super) fn constitutional(
    range: Range<usize>,
    target: CitedCode<'_>,
    parts: constitution::ConstitutionPath,
    subdivisions: Vec<Box<str>>,
) -> CitationMatch {
    let place = Locator::Constitution(parts);
    let citation = Citation { body: target.body, title: None, appendix: false, place, subdivisions, note: false };
    CitationMatch { end: range.end, items: vec![(range, citation)] }
}

fn citation(target: CitedCode<'_>, unit: Unit, entry: ListedNumber) -> Citation {
    let place = Locator::Numbered {
        unit,
        number: entry.first.as_str().into(),
        last: entry.last.map(|last| last.as_str().into()),
        wording: entry.wording,
    };
    Citation { note: entry.note, ..target.citation(place, entry.subdivisions) }
}

/// Moves `end` back over the spaces and commas that were skipped while looking for more text.
pub(super) fn trim_end(text: CitationText<'_>, end: usize) -> usize {
    let mut trimmed = end;
    while trimmed > 0 && matches!(text.slice(trimmed - 1, trimmed), " " | "," | "\n" | "\t" | "\r") {
        trimmed -= 1;
    }
    trimmed
}

/// Maximum number of remarks between a name and its number: `Ann. (1985 & Cum. Supp. 1990)`.
const REMARKS_MAX: usize = 6;

/// Words of an edition: `RSMo Cum. Supp. 2013`, `D.C. Code, 2001 Ed.`.
pub(super) const EDITION_WORDS: [&str; 8] = ["cum", "supp", "suppl", "supplement", "ed", "edition", "repl", "reissue"];

/// Reads the year of the edition in `Minnesota Statutes 2022, section 609.185`, and the end of the comma after it.
pub(super) fn read_year(text: CitationText<'_>, pos: usize) -> Option<(u16, usize)> {
    let end = text.digits_end(pos);
    let year = year_of(text.slice(pos, end))?;
    // A dot or a dash makes it a number.
    let is_year = text.ends_word(end) && !matches!(text.folded_at(end), b'.' | b'-' | b':' | b'/');
    is_year.then(|| (year, text.skip_comma(end)))
}

fn year_of(digits: &str) -> Option<u16> {
    let is_year = digits.len() == 4 && matches!(&digits[..2], "18" | "19" | "20");
    if is_year { digits.parse().ok() } else { None }
}

/// Whether a sentence ends with a year, as in `of the Compiled Laws of 1970.`, and not with `U.S.C.`
fn ends_with_year(text: &str) -> bool {
    let sentence = text.trim_end().trim_end_matches('.');
    sentence.ends_with(|sign: char| sign.is_ascii_digit())
}

/// The first year in a remark such as `(1988 Reenactment)`.
fn year_within(remark: &str) -> Option<u16> {
    remark.split(|sign: char| !sign.is_ascii_digit()).find_map(year_of)
}

/// Skips a short name between a name and its number: `Ky. Rev. Stat. Ann. (K.R.S.) § 218A.1412`.
fn skip_short_name(text: CitationText<'_>, pos: usize) -> Option<usize> {
    const LEN_MAX: usize = 16;
    let close = (pos + 1..pos + LEN_MAX).find(|&at| text.folded_at(at) == b')')?;
    let inner = text.slice(pos + 1, close);
    let is_short_name = text.folded_at(pos) == b'('
        && inner.bytes().filter(u8::is_ascii_uppercase).count() >= 2
        && inner.chars().all(|sign| sign.is_ascii_alphabetic() || matches!(sign, '.' | ' ' | '"' | '“' | '”'));
    let end = text.skip_comma(close + 1);
    (is_short_name && tail::read_mark(text, end).is_some()).then_some(close + 1)
}

/// Skips `(West 2020)`, `(2018 & Supp. IV 2022)` or `(McKinney)`: parentheses with words or a year, not a subdivision.
pub(super) fn skip_parenthetical(text: CitationText<'_>, pos: usize) -> Option<usize> {
    const LEN_MAX: usize = 64;
    if text.folded_at(pos) != b'(' {
        return None;
    }
    let close = (pos + 1..pos + LEN_MAX).find(|at| matches!(text.folded_at(*at), b')' | b'('))?;
    let inner = text.slice(pos + 1, close);
    let words = inner.bytes().filter(u8::is_ascii_alphabetic).count() >= 4;
    let year = inner.as_bytes().windows(4).any(|four| four.iter().all(u8::is_ascii_digit));
    (text.folded_at(close) == b')' && (words || year)).then_some(close + 1)
}
