//! References of a provision to its own code: `section 5 of this title`, a bare `§ 13.1-345`, `Regulation .03 of this
//! chapter`; and the code that a bare `title 42` belongs to.

use super::enclosing_provision::EnclosingProvision;
use super::forms::{BareNumbers, CodeCitationForm};
use super::matching::{CitationMatch, CitedCode, Matcher, trim_end};
use super::number::{NumberMark, NumberShape};
use super::other_law;
use super::tail::{self, Expected};
use super::value::{BodyRef, Locator, Unit};

impl<'g, 't> Matcher<'g, 't> {
    /// Reads a bare `§ 13.1-345` or `section 414` as a citation of the provision's own code, if such numbers cite
    /// it. `list_end` is the end of the list of numbers, `longest_end` that of the longest list that is possible.
    pub(super) fn read_bare_number(
        &self,
        list_end: usize,
        longest_end: usize,
        unit: Unit,
    ) -> Option<(CitedCode<'t>, usize)> {
        let home = self.home?;
        let form = self.form(home.body)?;
        let title = home.title.filter(|_| form.title.is_some());
        let target = CitedCode { strict: true, ..CitedCode::of(home.body, title) };
        let is_own = unit == Unit::Section && form.is_cited_bare(title) && !self.names_other_law(form, longest_end);
        is_own.then_some((target, list_end))
    }

    /// Whether the text after a bare number names another law: `of that Act`, `, respectively, of the Act`,
    /// `(21 U.S.C. 321)`.
    fn names_other_law(&self, form: &CodeCitationForm, list_end: usize) -> bool {
        let text = self.text;
        let mut pos = text.skip_comma(list_end);
        if form.has_recognisable_numbers() {
            return text.word(pos, "of").is_some_and(|after| other_law::is_named(text, text.skip_spaces(after)));
        }
        if matches!(text.folded_at(pos), b'(' | b'[') && self.title_and_name(pos + 1).is_some() {
            return true;
        }
        for _ in 0..2 {
            if matches!(text.folded_at(pos), b')' | b']') {
                pos = text.skip_comma(pos + 1);
            }
            if let Some(after) = text.word(pos, "respectively") {
                pos = text.skip_comma(after);
            }
        }
        // `of this subtitle` names a part of a code that a plan adds, but in another code it may be one of an act.
        let is_own = |after| form.bare == BareNumbers::Always && other_law::is_own_part(text, text.skip_spaces(after));
        text.word(pos, "of").is_some_and(|after| !is_own(after))
    }

    /// Whether the numbers of the text's own code can be recognised by themselves.
    pub(super) fn has_recognisable_home(&self) -> bool {
        let form = self.home.and_then(|home| self.form(home.body));
        form.is_some_and(CodeCitationForm::has_recognisable_numbers)
    }

    /// Whether `body` is the text's own code, and the provision has a number such as `2-316`. Then `2-108` is no range.
    pub(super) fn has_joined_home(&self, body: BodyRef) -> bool {
        let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.home.filter(|home| home.body == body).and_then(|home| home.number);
        number.and_then(|number| number.split_once('-')).is_some_and(|(first, last)| is_plain(first) && is_plain(last))
    }

    /// Whether the words before a bare number in a code that a plan adds name another place for it: `Article 14, § 11-9`,
    /// `State Ethics Article, § 5`, `Building Code § 109`, `Ordinance 15-435, Section 2`.
    pub(super) fn follows_place(&self, pos: usize) -> bool {
        const NAMED: [&str; 6] = ["article", "code", "charter", "act", "constitution", "law"];
        const NUMBERED: [&str; 5] = ["article", "art.", "ordinance", "ord.", "chapter"];
        const PLACE_LEN_MAX: usize = 64;
        let form = self.home.and_then(|home| self.form(home.body));
        if form.is_none_or(|form| form.bare != BareNumbers::Always) {
            return false;
        }
        let is_any = |known: &[&str], word: &str| known.iter().any(|known| known.eq_ignore_ascii_case(word));
        // At the second of two section signs, the first is part of what comes before.
        let before = self.text.before(pos, PLACE_LEN_MAX).trim_end_matches([' ', '\u{a0}', '\n', ',', '§']);
        let mut words = before.rsplit([' ', '\u{a0}', '\n']);
        let (last, before) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_number = !last.is_empty()
            && last.bytes().all(|sign| sign.is_ascii_digit() || sign.is_ascii_uppercase() || sign == b'-');
        let is_named = is_any(&NAMED, last) && !before.eq_ignore_ascii_case("this");
        is_named || (is_number && is_any(&NUMBERED, before))
    }

    /// The shape of the numbers of the text's own code, if `body` is another code and such numbers can be recognised.
    pub(super) fn other_home_shape(&self, body: BodyRef) -> Option<&'g NumberShape> {
        let home = self.home.filter(|home| home.body != body)?;
        self.form(home.body).filter(|form| form.has_recognisable_numbers()).map(|form| &form.shape)
    }

    /// Reads `Subsection 38-1a-701(2)` or `subdivision 312(c)(5) of this title`: a section of the provision's own code,
    /// with a word for the part of it that is cited.
    pub(super) fn read_pinpoint(&self, pos: usize) -> Option<CitationMatch> {
        const WORDS: [&str; 8] = [
            "subsection",
            "subsections",
            "subdivision",
            "subdivisions",
            "subparagraph",
            "subparagraphs",
            "paragraph",
            "paragraphs",
        ];
        self.home?;
        let text = self.text;
        let start = text.skip_spaces(text.any_word(pos, &WORDS)?);
        // After such a word, a dash in a number such as `2-108` hardly ever makes a range.
        let expected = Expected::of(&NumberShape::ANY, NumberMark::One, Unit::Section);
        text.folded_at(start).is_ascii_digit().then(|| self.prose_numbers(pos, expected, start, true))?
    }

    /// Reads `Regulations .03 and .04C(1) of this chapter`. The part of the number before the last period is that
    /// of the provision's own number.
    pub(super) fn read_number_endings(&self, pos: usize) -> Option<CitationMatch> {
        let home = self.home?;
        let text = self.text;
        let (stem, _) = home.number?.rsplit_once('.')?;
        let (_, unit, after) = tail::read_mark(text, pos)?;
        let capital_first = self.form(home.body)?.shape.capital_is_subdivision;
        let (entries, end) = tail::read_number_ends(text, text.skip_spaces(after), capital_first)?;
        let of = text.skip_spaces(text.word(text.skip_comma(end), "of")?);
        let chapter = text.word(text.skip_spaces(text.word(of, "this")?), "chapter")?;
        let target = CitedCode::of(home.body, home.title);
        let items = entries.into_iter().map(|entry| {
            let number = |end: &str| format!("{stem}.{end}").into();
            let place = Locator::Numbered {
                unit,
                number: number(&entry.first),
                last: entry.last.as_deref().map(number),
                wording: None,
            };
            (entry.range, target.citation(place, entry.subdivisions))
        });
        Some(CitationMatch { items: items.collect(), end: trim_end(text, chapter) })
    }

    /// Reads `this title`, `this chapter` or `this Code` after `of`.
    pub(super) fn this_container(&self, pos: usize) -> Option<(CitedCode<'t>, usize)> {
        let home = self.home?;
        let text = self.text;
        let word = text.skip_spaces(text.word(pos, "this")?);
        let end = text.any_word(word, &["title", "chapter", "subchapter", "part", "subpart", "code"])?;
        let end = if text.slice(end - 1, end) == "." { end - 1 } else { end };
        let is_titled = self.form(home.body)?.title.is_some();
        let target = CitedCode::of(home.body, home.title);
        (is_titled == home.title.is_some()).then_some((target, end))
    }

    /// The code that a title means if no code is named. `None` in the text of a state, where it may be a title of
    /// that state's code.
    pub(super) fn plain_us_code(&self) -> Option<CitedCode<'t>> {
        let is_federal =
            |home: EnclosingProvision<'_>| self.form(home.body).is_some_and(|form| form.body().jurisdiction == "US");
        let target = CitedCode::of(self.us_code, None);
        self.home.is_none_or(is_federal).then_some(target)
    }
}
