//! Reads citations in which the number comes first: `section 1983 of title 42`, `subsection (b) of section 1983 of title 42`,
//! `article I, section 8 of the United States Constitution`.

use super::constitution;
use super::forms::{CodeCitationForm, ConstitutionStyle};
use super::matching::{CitationMatch, CitedCode, EDITION_WORDS, Matcher, constitutional, read_year, trim_end};
use super::number::{NumberMark, NumberShape};
use super::tail::{self, Expected, ListedNumber};
use super::value::Unit;

impl<'g, 't> Matcher<'g, 't> {
    /// Reads `section 1983 of title 42`, `§ 13.1-345 of the Code of Virginia`, `Section 775.082, Florida Statutes`.
    pub(super) fn prose(&self, pos: usize) -> Option<CitationMatch> {
        let (mark, unit, after) = tail::read_mark(self.text, pos)?;
        self.prose_numbers(pos, Expected::of(&NumberShape::ANY, mark, unit), self.text.skip_spaces(after), false)
    }

    /// Reads the numbers after a mark, and the code that is named after them. `is_pinpoint`: the mark is a word for a
    /// part of a section.
    pub(super) fn prose_numbers(
        &self,
        pos: usize,
        expected: Expected<'g>,
        list_start: usize,
        is_pinpoint: bool,
    ) -> Option<CitationMatch> {
        let text = self.text;
        let unit = expected.unit;
        let any = Expected { alternatives: true, ..expected };
        let (entries, longest_end) = tail::read_list(text, list_start, any)?;
        if is_pinpoint && !entries.first().is_some_and(ListedNumber::names_section) {
            return None;
        }
        let mut is_bare = false;
        let (alternatives, list_end, (target, mut end)) = match self.target(longest_end, unit) {
            Some(found) => (true, longest_end, found),
            None => {
                // `section 922 or 948` is a list. `section 5 or 30 days after that` is one only if a code is named
                // after it.
                let alternatives = entries.iter().all(|entry| entry.resembles(&entries[0]));
                let (_, list_end) = tail::read_list(text, list_start, Expected { alternatives, ..any })?;
                let found = self.target(list_end, unit);
                is_bare = found.is_none();
                // A plain `paragraph 3(b)` is no section of a code whose numbers are plain.
                let may_be_bare = if is_pinpoint { self.has_recognisable_home() } else { !self.follows_place(pos) };
                let bare = || self.read_bare_number(list_end, longest_end, unit).filter(|_| may_be_bare);
                (alternatives, list_end, found.or_else(bare)?)
            }
        };
        // So far only the end of the list was needed. It is read again below, with the form of the code, which
        // decides which dashes make a range.
        let form = self.form(target.body)?;
        // In a code that has sections, the article in `Article 4, § 12` is a heading. `Chapter 589, AS amended`
        // cites no code.
        let is_article = text.folded_at(pos).eq_ignore_ascii_case(&b'a');
        let is_misnamed_rule = text.folded_at(pos).eq_ignore_ascii_case(&b'r') && !form.printed.contains("R.");
        if is_misnamed_rule || (is_article && !form.mark.starts_with("art")) || (target.strict && unit != Unit::Section)
        {
            return None;
        }
        if is_pinpoint && self.home.is_none_or(|home| home.body != target.body) {
            return None;
        }
        let target = CitedCode { strict: target.strict || is_pinpoint, ..target };
        let (target, entries, again_end) = self.list(target, Expected { alternatives, ..expected }, list_start)?;
        // What is no number of the provision's own code is none of its list: `§§ 13.1-345 and 13.1-346, 12 days`.
        if is_bare && again_end < list_end && self.has_recognisable_home() {
            end = again_end;
        } else if again_end != list_end {
            return None;
        }
        let mut found = self.found(pos, target, unit, entries, end);
        found.end = end;
        Some(found)
    }

    /// Reads `of title 42, United States Code`, `of 42 U.S.C.`, `of the Code of Virginia`, `, Florida Statutes`.
    fn target(&self, pos: usize, unit: Unit) -> Option<(CitedCode<'t>, usize)> {
        let text = self.text;
        let start = text.skip_comma(pos);
        let of = text.any_word(start, &["of", "in"]);
        let mut next = text.skip_spaces(of.unwrap_or(start));
        if let Some(after) = text.word(next, "the") {
            next = text.skip_spaces(after);
        }
        let found = if let Some(found) = self.this_container(next) {
            Some(found)
        } else if let Some(after) = text.any_word(next, &["title", "tit", "chapter", "ch"]) {
            let is_chapter = text.folded_at(next).eq_ignore_ascii_case(&b'c');
            self.title_then_name(text.skip_spaces(after), is_chapter, unit)
        } else if text.folded_at(next).is_ascii_digit() {
            self.title_and_name(next)
        } else {
            self.name(next).and_then(|(target, end)| self.title_after(target, end))
        };
        let (target, end) = found?;
        let form = self.form(target.body)?;
        if form.constitution.is_some() {
            return None;
        }
        let (target, end) = self.edition_after(form, target, end);
        // In `§ 5, Cal. Penal Code § 187` the name belongs to the number after it.
        let owns_number = tail::read_mark(text, end).is_some_and(|(mark, _, _)| mark != NumberMark::None)
            || (text.folded_at(end).is_ascii_digit() && of.is_none());
        (!owns_number).then(|| (target, trim_end(text, end)))
    }

    /// Reads the edition after the name of the code in `section 535.010, RSMo Supp. 2010`. A year that could be a
    /// number of the code is none.
    fn edition_after(&self, form: &CodeCitationForm, target: CitedCode<'t>, end: usize) -> (CitedCode<'t>, usize) {
        let text = self.text;
        let mut pos = end;
        while let Some(after) = text.any_word(pos, &EDITION_WORDS) {
            pos = text.skip_spaces(after);
        }
        let year_end = text.digits_end(pos);
        let digits = text.slice(pos, year_end);
        match read_year(text, pos) {
            Some((year, after)) if !form.shape.fits_text(digits) && tail::read_mark(text, after).is_none() => {
                let is_former_edition = target.is_former_edition || self.is_former_edition(target.body, year);
                (CitedCode { is_former_edition, ..target }, year_end)
            }
            _ => (target, end),
        }
    }

    fn title_then_name(&self, pos: usize, is_chapter: bool, unit: Unit) -> Option<(CitedCode<'t>, usize)> {
        let (title, end) = tail::read_title(self.text, pos)?;
        if let Some((target, name_end)) = self.name_without_number(end) {
            // The named code may have no such title, as in `title 17, Utah Code`. Then the United States Code is
            // not meant either.
            return Some((self.with_title(target, title)?, name_end));
        }
        if is_chapter || unit == Unit::Part {
            return None;
        }
        Some((self.with_title(self.plain_us_code()?, title)?, end))
    }

    /// The name after a title, unless the name belongs to a number that follows it.
    fn name_without_number(&self, end: usize) -> Option<(CitedCode<'t>, usize)> {
        let (target, name_end) = self.name_after_title(end)?;
        let owns_number =
            self.text.folded_at(name_end).is_ascii_digit() || tail::read_mark(self.text, name_end).is_some();
        (!owns_number).then_some((target, name_end))
    }

    /// Reads `, United States Code`, `of the Delaware Code`, ` USC`.
    fn name_after_title(&self, end: usize) -> Option<(CitedCode<'t>, usize)> {
        let text = self.text;
        let mut next = text.skip_comma(end);
        for word in ["of", "the"] {
            if let Some(after) = text.word(next, word) {
                next = text.skip_spaces(after);
            }
        }
        self.name(next)
    }

    /// Reads `title 42, section 1983`, `Title 18, United States Code, Section 924(c)`.
    pub(super) fn title_prose(&self, pos: usize) -> Option<CitationMatch> {
        let text = self.text;
        let after = text.any_word(pos, &["title", "tit"])?;
        let (title, end) = tail::read_title(text, text.skip_spaces(after))?;
        if let Some((target, name_end)) = self.name_after_title(end) {
            let target = self.with_title(target, title)?;
            return self.after_name(pos, target, name_end);
        }
        let (mark, unit, number) = tail::read_mark(text, text.skip_comma(end))?;
        if unit == Unit::Part {
            return None;
        }
        let number = text.skip_spaces(number);
        let any = Expected::of(&NumberShape::ANY, mark, unit);
        let (_, list_end) = tail::read_list(text, number, any)?;
        match self.name_without_number(list_end) {
            Some((target, name_end)) => {
                let target = self.with_title(target, title)?;
                let mut found = self.numbers(pos, target, unit, mark, number)?;
                found.end = trim_end(text, name_end);
                if let [(range, _)] = found.items.as_mut_slice() {
                    range.end = found.end;
                }
                Some(found)
            }
            // The headings of every code are cited like `Title 13, Chapter 24`.
            None if unit != Unit::Section => None,
            None => self.numbers(pos, self.with_title(self.plain_us_code()?, title)?, unit, mark, number),
        }
    }

    /// Reads `subsection (b) of section 1983 of title 42`, `paragraph (2) of subsection (b) of ...`.
    pub(super) fn inner_prose(&self, pos: usize) -> Option<CitationMatch> {
        const WORDS: [&str; 6] = ["subsection", "subdivision", "subparagraph", "paragraph", "clause", "subclause"];
        let text = self.text;
        let mut levels: Vec<Vec<Box<str>>> = Vec::new();
        let mut next = pos;
        while levels.len() < 5
            && let Some((level, end)) = text.any_word(next, &WORDS).and_then(|after| self.inner_level(after))
        {
            levels.push(level);
            next = end;
        }
        if levels.is_empty() {
            return None;
        }
        let found = self.prose(next).or_else(|| self.titled(next)).or_else(|| self.named(next));
        let mut found = found.or_else(|| self.read_pinpoint(next))?;
        let [(range, citation)] = found.items.as_mut_slice() else { return None };
        range.start = pos;
        citation.subdivisions.extend(levels.into_iter().rev().flatten());
        Some(found)
    }

    /// Reads `(b)(2) of` after a word such as `subsection`, up to what comes after `of`.
    fn inner_level(&self, after: usize) -> Option<(Vec<Box<str>>, usize)> {
        let text = self.text;
        let (outermost, end) = tail::read_inner(text, after)?;
        let mut inner = vec![outermost.into()];
        let end = tail::read_subdivisions(text, end, false, &mut inner);
        Some((inner, text.skip_spaces(text.word(text.skip_spaces(end), "of")?)))
    }

    /// Reads `article I, section 8 of the United States Constitution`.
    pub(super) fn constitution_prose(&self, pos: usize) -> Option<CitationMatch> {
        let text = self.text;
        let any = ConstitutionStyle { arabic_articles: false, roman_sections: true, sections_alone: false };
        let (parts, end) = constitution::read(text, pos, any)?;
        let mut subdivisions = Vec::new();
        let end = tail::read_subdivisions(text, end, false, &mut subdivisions);
        let start = text.skip_comma(end);
        let mut next = text.skip_spaces(text.any_word(start, &["of", "to"]).unwrap_or(start));
        if let Some(after) = text.word(next, "the") {
            next = text.skip_spaces(after);
        }
        let (target, name_end) = self.name(next)?;
        self.form(target.body)?.constitution?;
        Some(constitutional(pos..trim_end(text, name_end), target, parts, subdivisions))
    }
}
