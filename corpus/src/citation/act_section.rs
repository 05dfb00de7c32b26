//! Sections of acts as source credits name them: `Pub. L. 105-277, div. G, § 2219(c)`, `Act of Aug. 29, 1935, ch. 814,
//! § 103`, `R.S. § 1979`. A snapshot knows which provisions are sections of which act.

use std::fmt;

use super::key::CitationKey;

/// A law of Congress as it was published.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActLaw {
    /// `Pub. L. 93-406`
    PublicLaw { congress: u16, number: u16 },
    /// A chapter of the laws of a year, as laws were numbered before public laws: `ch. 814` of 1935.
    Chapter { year: u16, chapter: Box<str> },
    /// The Revised Statutes of 1874.
    RevisedStatutes,
}

/// A law, or one division of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LawDivision {
    pub law: ActLaw,
    pub division: Option<Box<str>>,
}

/// A section of an act.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionOfAct {
    pub law: ActLaw,
    /// The day of the act, `Aug. 29, 1935`, of a law that is a chapter.
    pub day: Option<Box<str>>,
    /// The division of the law, `G`. Each division counts its sections from one.
    pub division: Option<Box<str>>,
    pub number: Box<str>,
    /// The part of the section, as written: `(a)(1)`, `(a)-(d)`. Empty for the whole section.
    pub part: Box<str>,
}

impl ActLaw {
    /// Reads a law in the form in which a snapshot contains it, and its division if it names one: `Pub. L. 93-406`,
    /// `Pub. L. 105-277, div. G`, `Act of Aug. 29, 1935, ch. 814`.
    pub fn parse(text: &str) -> Option<LawDivision> {
        let (law, _, division) = Self::read_division(text)?;
        Some(LawDivision { law, division: division.map(Into::into) })
    }

    /// Reads a law, its day and its division.
    fn read_division(text: &str) -> Option<(Self, Option<&str>, Option<&str>)> {
        let act = text.strip_prefix("Act of ").unwrap_or(text);
        let (act, division) = act.split_once(", div. ").map_or((act, None), |(act, name)| (act, Some(name)));
        let (law, day) = Self::read(act)?;
        Some((law, day, division))
    }

    /// Reads `Pub. L. 93-406`, `Aug. 29, 1935, ch. 814` or `R.S.`, and the day if there is one.
    fn read(text: &str) -> Option<(Self, Option<&str>)> {
        if text == "R.S." {
            return Some((Self::RevisedStatutes, None));
        }
        if let Some(number) = text.strip_prefix("Pub. L. ") {
            let (congress, number) = number.split_once(['-', '–'])?;
            return Some((Self::PublicLaw { congress: congress.parse().ok()?, number: number.parse().ok()? }, None));
        }
        let (day, chapter) = text.split_once(", ch. ")?;
        let year: u16 = day.rsplit_once(", ")?.1.parse().ok()?;
        let is_number = chapter.starts_with(|sign: char| sign.is_ascii_digit())
            && chapter.bytes().all(|sign| sign.is_ascii_alphanumeric());
        (is_number && (1789..2100).contains(&year))
            .then(|| (Self::Chapter { year, chapter: chapter.to_ascii_lowercase().into() }, Some(day)))
    }
}

impl SectionOfAct {
    /// Reads the form in which a snapshot contains it, with any dash.
    pub fn parse(text: &str) -> Option<Self> {
        let (act, section) = text.split_once("§")?;
        let (number, part) = split_part(section.trim());
        let (law, day, division) = ActLaw::read_division(act.trim_end_matches([' ', ',']))?;
        let is_number = number.starts_with(|sign: char| sign.is_ascii_digit())
            && number.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '–' | '.'));
        is_number.then(|| Self {
            law,
            day: day.map(Into::into),
            division: division.map(Into::into),
            number: number.replace('–', "-").into(),
            part: part.replace('–', "-").into(),
        })
    }

    /// What of the cited subdivisions remains below this part of the section: everything if it is the whole section,
    /// `(1)` of `(a)(1)` if it is `(a)`. `None` if the citation is not in this part.
    pub fn below(&self, cited: &[Box<str>]) -> Option<Vec<Box<str>>> {
        if self.part.is_empty() || cited.is_empty() {
            return Some(cited.to_vec());
        }
        let inner = self.part.strip_prefix('(').and_then(|part| part.strip_suffix(')'));
        // Of `(a)-(d)` it is not said which is which here.
        let Some(own) = inner.filter(|inner| !inner.contains(['-', ',', ' '])) else { return Some(Vec::new()) };
        let own: Vec<&str> = own.split(")(").collect();
        let is_same = own.iter().zip(cited).all(|(own, cited)| *own == &**cited);
        is_same.then(|| cited.get(own.len()..).unwrap_or_default().to_vec())
    }

    pub fn key(&self) -> CitationKey {
        Self::key_of(&self.law, &self.number)
    }

    /// The key of a section. All divisions of a law share the keys of their sections.
    pub fn key_of(law: &ActLaw, number: &str) -> CitationKey {
        let number = number.to_ascii_lowercase();
        CitationKey::of_text(match law {
            ActLaw::PublicLaw { congress, number: law } => format!("us/act/pl{congress}-{law}/{number}"),
            ActLaw::Chapter { year, chapter } => format!("us/act/{year}-ch{chapter}/{number}"),
            ActLaw::RevisedStatutes => format!("us/act/rs/{number}"),
        })
    }
}

/// Divides `502(a)(1)` into number and part.
fn split_part(section: &str) -> (&str, &str) {
    section.split_at(section.find('(').unwrap_or(section.len()))
}

impl fmt::Display for ActLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicLaw { congress, number } => write!(f, "Pub. L. {congress}-{number}"),
            Self::Chapter { year, chapter } => write!(f, "ch. {chapter} of {year}"),
            Self::RevisedStatutes => f.write_str("R.S."),
        }
    }
}

impl fmt::Display for SectionOfAct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.law, &self.day) {
            (ActLaw::RevisedStatutes, _) => f.write_str("R.S. ")?,
            (ActLaw::Chapter { chapter, .. }, Some(day)) => write!(f, "Act of {day}, ch. {chapter}, ")?,
            (law, _) => write!(f, "{law}, ")?,
        }
        if let Some(division) = &self.division {
            write!(f, "div. {division}, ")?;
        }
        write!(f, "§ {}{}", self.number, self.part)
    }
}

/// The key of an act's name. A leading article, case, and a year at the end make no difference.
pub fn act_name_key(name: &str) -> CitationKey {
    let folded = CitationKey::folded(name);
    let words = folded.as_str().trim_start_matches('~');
    let words = words.strip_prefix("the ").unwrap_or(words);
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let without_year =
        [" of ", ", "].iter().find_map(|joint| words.rsplit_once(joint).filter(|(_, year)| is_year(year)));
    CitationKey::of_text(format!("us/act-name/{}", without_year.map_or(words, |(name, _)| name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_acts_are_written_as_they_are_read() {
        for text in [
            "Pub. L. 93-406, § 502",
            "Pub. L. 105-277, div. G, § 2219(c)",
            "Act of Aug. 29, 1935, ch. 814, § 103",
            "R.S. § 1979",
            "Pub. L. 93-236, § 601(a)-(d)",
        ] {
            let section = SectionOfAct::parse(text).unwrap();
            assert_eq!(section.to_string(), text);
            assert_eq!(SectionOfAct::parse(&text.replace('-', "–")), Some(section), "{text}");
        }
        for text in ["", "§", "Pub. L. 93-406", "Pub. L. x-1, § 2", "ch. 3, § 2", "Aug. 29, 35, ch. 8, § 1", "R.S. § x"]
        {
            assert_eq!(SectionOfAct::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_part_of_a_section_keeps_what_is_below_it() {
        let below = |section: &str, cited: &[&str]| {
            let cited: Vec<Box<str>> = cited.iter().map(|&label| label.into()).collect();
            let below = SectionOfAct::parse(section).unwrap().below(&cited)?;
            Some(below.iter().map(|label| format!("({label})")).collect::<String>())
        };
        assert_eq!(below("R.S. § 5", &["a", "1"]).as_deref(), Some("(a)(1)"));
        assert_eq!(below("R.S. § 5(a)", &["a", "1"]).as_deref(), Some("(1)"));
        assert_eq!(below("R.S. § 5(a)(1)", &["a"]).as_deref(), Some(""));
        assert_eq!(below("R.S. § 5(a)", &["b"]), None);
        assert_eq!(below("R.S. § 5(a)", &[]).as_deref(), Some(""));
        assert_eq!(below("R.S. § 5(a)-(d)", &["b"]).as_deref(), Some(""));
    }

    #[test]
    fn the_year_of_an_act_may_be_left_out() {
        let key = act_name_key("Federal Widget Act of 1935");
        for name in ["the federal widget act", "Federal Widget Act, 1935", "Federal  Widget Act"] {
            assert_eq!(act_name_key(name), key, "{name}");
        }
        assert_ne!(act_name_key("Federal Widgets Act"), key);
    }
}
