//! Acts of Congress by their popular names, and session laws: `ERISA § 502`, `Section 8 of the Clayton Act`,
//! `Title VII`, `Pub. L. 111-148`, `124 Stat. 119`.
//!
//! A citation of an act has the section numbers of the act. The table `acts.tsv` maps them to sections of the
//! United States Code. Only queries are read this way. In the text of the law the same words may mean another
//! version of the act, or another act, so no references are made from them.

use std::ops::Range;

use super::act_section::{ActLaw, SectionOfAct};
use super::act_table::{ACTS, Act, section};
use super::grammar::{Grammar, skip_closing};
use super::tail;
use super::text::{CitationText, END};
use super::value::{BodyRef, Citation, Unit};

/// Maximum number of sections read from one list.
const LIST_MAX: usize = 32;

/// A cited section of an act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActSection {
    /// The name of the act, or its number: `ERISA`, `Pub. L. 93-406`.
    pub act: Box<str>,
    /// The law that the act was published as. `None` if only the act's name is known.
    pub law: Option<ActLaw>,
    pub division: Option<Box<str>>,
    pub section: Box<str>,
    pub subdivisions: Vec<Box<str>>,
    /// The code that contains the act.
    pub body: BodyRef,
}

/// A law as it was published. No code contains it in that form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionLaw {
    /// `Pub. L. 111-148`
    PublicLaw { congress: u16, number: u16 },
    /// `124 Stat. 119`
    StatutesAtLarge { volume: u16, page: u16 },
}

/// The meaning of a popular name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PopularCitation {
    /// A whole act, as a range of sections of the code.
    Act(Citation),
    /// A section of an act, and where the table of acts lists it.
    Section {
        section: ActSection,
        listed: Option<Citation>,
    },
    SessionLaw(SessionLaw),
}

impl SessionLaw {
    pub fn publication(self) -> &'static str {
        match self {
            Self::PublicLaw { .. } => "Public Laws",
            Self::StatutesAtLarge { .. } => "United States Statutes at Large",
        }
    }
}

impl std::fmt::Display for SessionLaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PublicLaw { congress, number } => write!(f, "Pub. L. {congress}-{number}"),
            Self::StatutesAtLarge { volume, page } => write!(f, "{volume} Stat. {page}"),
        }
    }
}

impl std::fmt::Display for ActSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.act)?;
        if let Some(division) = &self.division {
            write!(f, ", div. {division},")?;
        }
        write!(f, " § {}", self.section)?;
        self.subdivisions.iter().try_for_each(|label| write!(f, "({label})"))
    }
}

impl Grammar {
    /// Parses a text that cites only an act by its popular name (sections of it, or the whole act) or only a
    /// session law.
    pub fn parse_popular(&self, text: &str) -> Option<Vec<PopularCitation>> {
        let folded = CitationText::new(text);
        let mut start = folded.skip_spaces(0);
        if let Some(after) = folded.word(start, "the") {
            start = folded.skip_spaces(after);
        }
        let ends = |end: usize| folded.folded_at(skip_closing(folded, end)) == END;
        if let Some((law, end)) = session_law(folded, start) {
            if ends(end) {
                return Some(vec![PopularCitation::SessionLaw(law)]);
            }
            if let Some((section, end)) = self.section_of_law(folded, law, end)
                && ends(end)
            {
                return Some(vec![self.listed_by_law(section)]);
            }
        }
        if let Some((section, end)) = self.section_before_law(folded, start)
            && ends(end)
        {
            return Some(vec![self.listed_by_law(section)]);
        }
        if let Some(section) = SectionOfAct::parse(text.trim()) {
            return Some(vec![self.listed_by_law(self.act_section_of(section))]);
        }
        let sections = self.act_sections(folded, start, true).filter(|found| ends(found.end));
        if let Some(found) = sections {
            return Some(found.items.into_iter().map(|(_, popular)| popular).collect());
        }
        let (act, end) = ACTS.popular_name_at(folded, start)?;
        let whole = act.whole_citation(self.us_code())?;
        ends(end).then(|| vec![PopularCitation::Act(whole)])
    }

    /// Reads a section of an act that is cited by a name that no table has: `Section 5(a) of the Widget Act of 1935`,
    /// `Widget Act § 5`. Only who knows the names of acts can tell whether it is one.
    pub fn parse_section_of_named_act(&self, text: &str) -> Option<ActSection> {
        let folded = CitationText::new(text);
        let start = folded.skip_spaces(0);
        let (number, name) = match tail::read_mark(folded, start) {
            Some((_, Unit::Section, after)) => {
                let number = read_number(folded, folded.skip_spaces(after))?;
                let of = folded.word(folded.skip_spaces(number.bytes.end), "of")?;
                (number, text.get(of..)?)
            }
            Some(_) => return None,
            None => {
                let (at, after) = last_mark(folded)?;
                let number = read_number(folded, folded.skip_spaces(after))?;
                let is_end = folded.folded_at(skip_closing(folded, number.bytes.end)) == END;
                (number, is_end.then(|| text.get(..at))??)
            }
        };
        let name = name.trim().trim_end_matches([',', '.', ';']).trim_end();
        let name = name.strip_prefix("the ").unwrap_or(name);
        (!name.is_empty()).then(|| ActSection {
            act: name.into(),
            law: None,
            division: None,
            section: number.text.into(),
            subdivisions: number.subdivisions,
            body: self.us_code(),
        })
    }

    /// Adds where the table lists a section that is cited by the number of its law.
    fn listed_by_law(&self, section: ActSection) -> PopularCitation {
        let of_law = ACTS.rows.iter().filter(|act| act.law.is_some() && act.law == section.law);
        // Only sections by their own numbers: a whole title has none of the law's numbers.
        let place = of_law.filter_map(|act| act.sections.get(&section.section.to_ascii_uppercase())).next();
        let listed = place.filter(|_| section.division.is_none()).map(|place| Citation {
            subdivisions: section.subdivisions.clone(),
            ..self::section(self.us_code(), place.title, &place.number, None)
        });
        PopularCitation::Section { section, listed }
    }

    /// Reads the rest of `Pub. L. 105-277, div. G, title XXII, § 2219(c)`, behind the number of the law.
    fn section_of_law(&self, text: CitationText<'_>, law: SessionLaw, end: usize) -> Option<(ActSection, usize)> {
        let SessionLaw::PublicLaw { congress, number } = law else { return None };
        let mut next = text.skip_comma(end);
        let mut division = None;
        for (words, is_division) in [(["div", "division"], true), (["title", "tit"], false)] {
            let Some(after) = text.any_word(next, &words) else { continue };
            let start = text.skip_spaces(after);
            let mut end = start;
            while text.folded_at(end).is_ascii_alphanumeric() {
                end += text.at(end).1;
            }
            if is_division {
                division = Some(text.slice(start, end).to_ascii_uppercase().into());
            }
            next = text.skip_comma(end);
        }
        let (_, _, after) = tail::read_mark(text, next)?;
        let section = read_number(text, text.skip_spaces(after))?;
        let law = ActLaw::PublicLaw { congress, number };
        let end = section.bytes.end;
        Some((self.section_in(law.to_string().into(), Some(law), division, section), end))
    }

    /// Reads `Section 502(a) of Pub. L. 93-406`.
    fn section_before_law(&self, text: CitationText<'_>, start: usize) -> Option<(ActSection, usize)> {
        let (_, _, after) = tail::read_mark(text, start)?;
        let section = read_number(text, text.skip_spaces(after))?;
        let of = text.word(text.skip_spaces(section.bytes.end), "of")?;
        let (SessionLaw::PublicLaw { congress, number }, end) = session_law(text, text.skip_spaces(of))? else {
            return None;
        };
        let law = ActLaw::PublicLaw { congress, number };
        Some((self.section_in(law.to_string().into(), Some(law), None, section), end))
    }

    fn section_in(
        &self,
        act: Box<str>,
        law: Option<ActLaw>,
        division: Option<Box<str>>,
        ActSectionNumber { text, subdivisions, .. }: ActSectionNumber,
    ) -> ActSection {
        ActSection { act, law, division, section: text.into(), subdivisions, body: self.us_code() }
    }

    fn act_section_of(&self, SectionOfAct { law, day, division, number, part }: SectionOfAct) -> ActSection {
        let act = match (&law, day) {
            (ActLaw::Chapter { chapter, .. }, Some(day)) => format!("Act of {day}, ch. {chapter},"),
            _ => law.to_string(),
        };
        let labels = part.split(['(', ')']).filter(|label| !label.is_empty());
        let subdivisions = labels.map(Into::into).collect();
        ActSection { act: act.into(), law: Some(law), division, section: number, subdivisions, body: self.us_code() }
    }

    /// Finds the sections of acts that a text cites and the table lists, in order, each with its byte range.
    pub fn acts_in(&self, text: &str) -> Vec<(Range<usize>, Citation)> {
        let folded = CitationText::new(text);
        let mut found = Vec::new();
        let mut pos = 0;
        while folded.folded_at(pos) != END {
            let begins = folded.begins_word(pos) && folded.folded_at(pos) != b' ';
            if begins && let Some(sections) = self.act_sections(folded, pos, false) {
                pos = sections.end.max(pos + 1);
                found.extend(sections.items.into_iter().filter_map(|(bytes, popular)| match popular {
                    PopularCitation::Section { listed, .. } => Some((bytes, listed?)),
                    PopularCitation::Act(_) | PopularCitation::SessionLaw(_) => None,
                }));
                continue;
            }
            pos += folded.at(pos).1;
        }
        found
    }

    /// Reads `INA § 212(a)`, `ERISA 502` or `Section 8 of the Clayton Act`. In running text, the first section must
    /// be in the table.
    fn act_sections(&self, text: CitationText<'_>, start: usize, is_whole_text: bool) -> Option<Sections> {
        let mut is_marked = true;
        let (numbers, act, end) = match ACTS.popular_name_at(text, start) {
            Some((act, end)) => {
                let after = text.skip_comma(end);
                let mark = tail::read_mark(text, after);
                is_marked = mark.is_some();
                let number = mark.map_or(after, |(_, _, end)| text.skip_spaces(end));
                let (numbers, end) = read_numbers(text, number)?;
                (numbers, act, end)
            }
            None => {
                let (_, _, after) = tail::read_mark(text, start)?;
                let (numbers, end) = read_numbers(text, text.skip_spaces(after))?;
                let mut next = text.skip_comma(end);
                for word in ["of", "under", "the"] {
                    next = text.word(next, word).map_or(next, |end| text.skip_spaces(end));
                }
                let (act, end) = ACTS.popular_name_at(text, next)?;
                (numbers, act, end)
            }
        };
        // A short number without a section mark may count something else, as in `ICA 3 months`.
        let is_cited =
            |number: &ActSectionNumber| (is_marked || number.text.len() > 2) && act.place(&number.text).is_some();
        if !is_whole_text && !numbers.first().is_some_and(is_cited) {
            return None;
        }
        let count = numbers.len();
        let items = numbers.into_iter().enumerate().map(|(index, number)| {
            let bytes = if index == 0 { start } else { number.bytes.start }..if index + 1 == count {
                end
            } else {
                number.bytes.end
            };
            (bytes, self.popular(act, number))
        });
        Some(Sections { items: items.collect(), end })
    }

    fn popular(&self, act: &Act, number: ActSectionNumber) -> PopularCitation {
        let listed = act.place(&number.text).map(|place| Citation {
            subdivisions: number.subdivisions.clone(),
            ..section(self.us_code(), place.title, &place.number, None)
        });
        PopularCitation::Section { section: self.section_in(act.name.into(), act.law.clone(), None, number), listed }
    }
}

/// Sections of one act that are cited together.
struct Sections {
    items: Vec<(Range<usize>, PopularCitation)>,
    end: usize,
}

/// The number of a section, with its subdivisions.
struct ActSectionNumber {
    bytes: Range<usize>,
    text: String,
    subdivisions: Vec<Box<str>>,
}

/// Reads `502(a)(1)`, `4, 5 and 7A` or `1860D-1`.
fn read_numbers(text: CitationText<'_>, start: usize) -> Option<(Vec<ActSectionNumber>, usize)> {
    let mut numbers = vec![read_number(text, start)?];
    let mut end = numbers[0].bytes.end;
    while numbers.len() < LIST_MAX {
        let mut next = text.skip_comma(end);
        next = text.any_word(next, &["and", "or"]).map_or(next, |end| text.skip_spaces(end));
        if next == text.skip_spaces(end) {
            break;
        }
        let Some(number) = read_number(text, next) else { break };
        end = number.bytes.end;
        numbers.push(number);
    }
    Some((numbers, end))
}

fn read_number(text: CitationText<'_>, start: usize) -> Option<ActSectionNumber> {
    if !text.folded_at(start).is_ascii_digit() {
        return None;
    }
    let mut number = String::new();
    let mut end = start;
    loop {
        let (sign, len) = text.at(end);
        let joins = sign == b'-' && text.folded_at(end + len).is_ascii_alphanumeric();
        if !sign.is_ascii_alphanumeric() && !joins {
            break;
        }
        number.push(char::from(sign));
        end += len;
    }
    let mut subdivisions = Vec::new();
    let end = tail::read_subdivisions(text, end, false, &mut subdivisions);
    Some(ActSectionNumber { bytes: start..end, text: number, subdivisions })
}

/// The last section mark of a text, and its end.
fn last_mark(text: CitationText<'_>) -> Option<(usize, usize)> {
    let mut found = None;
    let mut pos = 0;
    while text.folded_at(pos) != END {
        if text.begins_word(pos)
            && let Some((_, Unit::Section, after)) = tail::read_mark(text, pos)
        {
            found = Some((pos, after));
            pos = after;
        } else {
            pos += text.at(pos).1;
        }
    }
    found
}

/// Reads `Pub. L. No. 111-148`, `Public Law 111-148` or `124 Stat. 119`.
fn session_law(text: CitationText<'_>, start: usize) -> Option<(SessionLaw, usize)> {
    let number = |start: usize| {
        let end = text.digits_end(start);
        Some((text.slice(start, end).parse::<u16>().ok()?, end))
    };
    if let Some((volume, end)) = number(start) {
        let after = text.any_word(text.skip_spaces(end), &["stat", "stats"])?;
        let (page, end) = number(text.skip_spaces(after))?;
        return Some((SessionLaw::StatutesAtLarge { volume, page }, end));
    }
    let public = text.any_word(start, &["public", "pub", "p"]).map(|end| text.skip_spaces(end));
    let mut next = match public {
        Some(next) => text.any_word(next, &["law", "l"])?,
        None => text.word(start, "pl")?,
    };
    next = text.skip_spaces(next);
    next = text.any_word(next, &["no", "number"]).map_or(next, |end| text.skip_spaces(end));
    let (congress, end) = number(next)?;
    let (dash, len) = text.at(end);
    let (number, end) = if dash == b'-' { number(end + len)? } else { return None };
    Some((SessionLaw::PublicLaw { congress, number }, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let grammar = Grammar::built_in();
        let popular = grammar.parse_popular(text).unwrap_or_default();
        let reported = popular.iter().map(|popular| match popular {
            PopularCitation::Act(citation) => grammar.format(citation),
            PopularCitation::Section { listed: Some(citation), .. } => grammar.format(citation),
            PopularCitation::Section { section, listed: None } => format!("? {section}"),
            PopularCitation::SessionLaw(law) => law.to_string(),
        });
        reported.collect()
    }

    #[test]
    fn acts_are_read_by_the_names_people_use() {
        for (text, expected) in [
            ("INA § 212", "8 U.S.C. § 1182"),
            ("INA § 212(a)(9)(B)", "8 U.S.C. § 1182(a)(9)(B)"),
            ("ina 240a", "8 U.S.C. § 1229b"),
            ("Section 240A(b) of the Immigration and Nationality Act", "8 U.S.C. § 1229b(b)"),
            ("ERISA § 502", "29 U.S.C. § 1132"),
            // Numbers of the code, which are higher than those of the act.
            ("ICWA § 1912", "25 U.S.C. § 1912"),
            ("ICWA § 1912(d)", "25 U.S.C. § 1912(d)"),
            ("FLSA § 207", "29 U.S.C. § 207"),
            ("TILA § 1639", "15 U.S.C. § 1639"),
            ("ICWA § 1964", "? ICWA § 1964"),
            ("ICWA § 114", "? ICWA § 114"),
            ("LMRA § 185", "? LMRA § 185"),
            ("ERISA sec. 502(a)(1)(B)", "29 U.S.C. § 1132(a)(1)(B)"),
            ("section 502 of the Employee Retirement Income Security Act of 1974", "29 U.S.C. § 1132"),
            ("Title VII", "42 U.S.C. §§ 2000e to 2000e-17"),
            ("Title VII § 703(a)", "42 U.S.C. § 2000e-2(a)"),
            ("title vii of the civil rights act of 1964", "42 U.S.C. §§ 2000e to 2000e-17"),
            ("Section 8 of the Clayton Act", "15 U.S.C. § 19"),
            ("Clayton Act, Section 7A", "15 U.S.C. § 18a"),
            ("Section 1 of the Sherman Act", "15 U.S.C. § 1"),
            ("Bankruptcy Code § 362(d)", "11 U.S.C. § 362(d)"),
            ("§ 7 of the FLSA", "29 U.S.C. § 207"),
            ("Section 16(b) of the Fair Labor Standards Act of 1938", "29 U.S.C. § 216(b)"),
            ("FMLA § 105", "29 U.S.C. § 2615"),
            ("NLRA § 8(a)(3)", "29 U.S.C. § 158(a)(3)"),
            ("ADA § 102(b)(5)(A)", "42 U.S.C. § 12112(b)(5)(A)"),
            ("Title III of the ADA", "42 U.S.C. §§ 12181 to 12189"),
            ("Section 504 of the Rehabilitation Act of 1973", "29 U.S.C. § 794"),
            ("Section 10(b) of the Securities Exchange Act of 1934", "15 U.S.C. § 78j(b)"),
            ("Exchange Act § 21E", "15 U.S.C. § 78u-5"),
            ("Securities Act § 5", "15 U.S.C. § 77e"),
            ("Social Security Act § 1902(a)", "42 U.S.C. § 1396a(a)"),
            ("Social Security Act § 1860D-2", "42 U.S.C. § 1395w-102"),
            ("CAA § 112", "42 U.S.C. § 7412"),
            ("Clean Water Act § 404", "33 U.S.C. § 1344"),
            ("FDCA § 505(j)", "21 U.S.C. § 355(j)"),
            ("Public Health Service Act § 351", "42 U.S.C. § 262"),
            ("HIPAA", "42 U.S.C. §§ 1320d to 1320d-9"),
            ("UCMJ art. 15", "10 U.S.C. § 815"),
            ("Article 120b, UCMJ", "10 U.S.C. § 920b"),
            ("ACA § 1501", "26 U.S.C. § 5000A"),
            ("FOIA", "5 U.S.C. § 552"),
            ("Title IX", "20 U.S.C. §§ 1681 to 1688"),
            ("the Volcker Rule", "12 U.S.C. § 1851"),
            ("ERISA § 999", "? ERISA § 999"),
            ("Pub. L. 111-148", "Pub. L. 111-148"),
            ("Public Law No. 111–148, § 1501(a)", "26 U.S.C. § 5000A(a)"),
            ("Pub. L. 93-406, title I, § 502", "29 U.S.C. § 1132"),
            ("Pub. L. 93-406 § 999", "? Pub. L. 93-406 § 999"),
            ("Pub. L. 105-277, div. G, title XXII, § 2219(c)", "? Pub. L. 105-277, div. G, § 2219(c)"),
            ("Section 502(a)(1) of Public Law 93-406", "29 U.S.C. § 1132(a)(1)"),
            ("Act of Aug. 29, 1935, ch. 814, § 103", "? Act of Aug. 29, 1935, ch. 814, § 103"),
            ("R.S. § 1979", "? R.S. § 1979"),
            ("P.L. 111-148", "Pub. L. 111-148"),
            ("PL 94-553", "Pub. L. 94-553"),
            ("124 Stat. 119", "124 Stat. 119"),
            ("124 stat 119.", "124 Stat. 119"),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        assert_eq!(read("ERISA §§ 502, 503 and 510"), ["29 U.S.C. § 1132", "29 U.S.C. § 1133", "29 U.S.C. § 1140"]);
    }

    #[test]
    fn text_like_a_popular_name_is_not_one() {
        for text in [
            "",
            "erisable",
            "Title X",
            "title viii",
            "public law",
            "124 Statutes",
            "stat 12",
            "clean air",
            "ERISA plans",
            "Ina Garten",
            "pub 3",
        ] {
            assert_eq!(read(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn acts_are_found_in_a_sentence() {
        let grammar = Grammar::built_in();
        let text = "claims under ERISA § 502(a) and section 8 of the Clayton Act, but not the Act of 2020 or Title VII claims, ICA 3 years";
        let found: Vec<(&str, String)> = grammar
            .acts_in(text)
            .into_iter()
            .map(|(bytes, citation)| (&text[bytes], grammar.format(&citation)))
            .collect();
        assert_eq!(
            found,
            [
                ("ERISA § 502(a)", "29 U.S.C. § 1132(a)".to_owned()),
                ("section 8 of the Clayton Act", "15 U.S.C. § 19".to_owned())
            ]
        );
    }
}
