//! Keys, citations and levels of federal regulations.

use crate::import::slug::slug;

/// A level of the hierarchy, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CfrLevel {
    Title,
    Subtitle,
    Chapter,
    Subchapter,
    Part,
    /// The official interpretations of a part.
    Supplement,
    Subpart,
    /// Sections under a heading without a number.
    Group,
}

impl CfrLevel {
    const NAMES: [(Self, &'static str, &'static str); 8] = [
        (Self::Title, "title", "t"),
        (Self::Subtitle, "subtitle", "st"),
        (Self::Chapter, "chapter", "ch"),
        (Self::Subchapter, "subchapter", "sch"),
        (Self::Part, "part", "pt"),
        (Self::Supplement, "supplement", "supp"),
        (Self::Subpart, "subpart", "spt"),
        (Self::Group, "division", ""),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The part of a key that represents a container of this level.
    pub(crate) fn key_part(self, number: Option<&str>, heading: &str) -> String {
        let part = match number {
            Some(number) => format!("{}{}", Self::NAMES[self as usize].2, slug(number)),
            None => slug(heading).chars().take(60).collect(),
        };
        if part.is_empty() { "x".to_owned() } else { part }
    }

    /// The name of a container in the citation of another node: `Part 22`.
    pub(crate) fn citation_part(self, number: Option<&str>, heading: &str) -> String {
        match number {
            Some(number) => {
                let (first, rest) = self.name().split_at(1);
                format!("{}{rest} {number}", first.to_ascii_uppercase())
            }
            None => heading.to_owned(),
        }
    }

    /// The number in a heading such as `PART 22—PUBLIC MOBILE SERVICES` or `SUBPARTS V-W [Reserved]`.
    pub(crate) fn number_in(self, heading: &str) -> Option<String> {
        let heading = heading.trim_start_matches(['[', ' ']);
        let (word, rest) = heading.split_once(char::is_whitespace)?;
        let singular = word.trim_end_matches(['s', 'S']);
        if !singular.eq_ignore_ascii_case(self.name()) {
            return None;
        }
        let rest = rest.trim_start();
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '—' | ':' | '[' | ']' | ',')).unwrap_or(rest.len());
        // In older files a double hyphen represents a dash.
        let number =
            rest[..end].split("--").next().unwrap_or_default().trim_end_matches(['.', '-', '–']).replace('–', "-");
        let fits = !number.is_empty()
            && number.len() <= 12
            && number.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'));
        fits.then_some(number)
    }
}

/// The numbers of a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CfrNumbers {
    /// One number, or a range written `22.203...22.211`.
    pub(crate) first: String,
    /// Further numbers, of sections that share a record.
    pub(crate) others: Vec<String>,
}

impl CfrNumbers {
    /// Parses `§ 22.1`, `§§ 22.203-22.211`, `§§ 1.1 and 1.2`. A hyphen within `1.61-2T` is not a range.
    pub(crate) fn of(label: &str) -> Option<Self> {
        let label = label
            .replace(['§', '\u{a0}', '\u{2009}'], " ")
            .replace(" and ", ",")
            .replace(" through ", "-")
            .replace(" to ", "-");
        let mut numbers = label
            .split(',')
            .map(|part| range_of(&part.split_whitespace().collect::<String>()))
            .filter(|one| !one.is_empty());
        let first = numbers.next()?;
        let others = numbers.collect();
        first.starts_with(|c: char| c.is_ascii_digit()).then_some(Self { first, others })
    }

    /// The section number at the start of a heading such as `§ 1.1   Definitions.`
    pub(crate) fn label_in(heading: &str) -> &str {
        if !heading.starts_with('§') {
            return "";
        }
        let body = heading.trim_start_matches(['§', ' ', '\u{a0}', '\u{2009}']);
        let end = body.find(char::is_whitespace).unwrap_or(body.len());
        &heading[..heading.len() - body.len() + end]
    }
}

/// Writes `22.203-22.211` as `22.203...22.211`. Both ends must contain a period.
fn range_of(number: &str) -> String {
    let number = number.trim_end_matches('.').replace(['–', '—', '‑'], "-");
    for (at, _) in number.match_indices('-') {
        let (first, last) = (&number[..at], &number[at + 1..]);
        if first.contains('.') && last.contains('.') && last.starts_with(|c: char| c.is_ascii_digit()) {
            return format!("{first}...{last}");
        }
    }
    number
}

/// The citation of a section: `47 C.F.R. § 22.203`.
pub(crate) fn section(title: &str, number: &str) -> String {
    format!("{title} C.F.R. § {number}")
}

/// The name of an appendix or supplement, such as `App. A` or `Supp. I`, and the part of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) citation: String,
    pub(crate) key: String,
    pub(crate) number: Option<String>,
}

impl Attachment {
    /// Parses `Appendix A to Part 64—...`, `Appendix to Part 36—...`,
    /// `Supplement I to Part 1026—...`. Others, such as `Table 1 to Part 3`, are named by the text
    /// before the dash.
    pub(crate) fn of(heading: &str) -> Self {
        let name = heading.split(['—', ':']).next().unwrap_or(heading).trim();
        let mut words = name.split_whitespace();
        let kind = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let end = rest.iter().position(|word| ["to", "of"].contains(word)).unwrap_or(rest.len());
        let number: Vec<&str> = rest[..end].iter().copied().filter(|word| !["No.", "Nos."].contains(word)).collect();
        let number = number.join(" ");
        let (short, key) = match kind.to_ascii_lowercase().as_str() {
            "appendix" | "appendixes" | "appendices" => ("App.", "app"),
            "supplement" => ("Supp.", "supp"),
            _ => {
                let key: String = slug(name).chars().take(60).collect();
                let key = if key.is_empty() { "x".to_owned() } else { key };
                return Self { citation: name.to_owned(), key, number: None };
            }
        };
        let number = Some(number).filter(|number| !number.is_empty());
        let citation = number.as_ref().map_or(short.to_owned(), |number| format!("{short} {number}"));
        Self { citation, key: format!("{key}{}", slug(number.as_deref().unwrap_or_default())), number }
    }
}

/// Whether a heading states that the place is reserved.
pub(crate) fn is_reserved(heading: &str) -> bool {
    let bare = heading.trim().trim_end_matches('.').trim_end();
    bare.len() >= "reserved".len() && {
        let lower = bare.to_ascii_lowercase();
        lower.ends_with("[reserved]") || lower == "reserved"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lists_and_ranges_of_sections() {
        let first = |label: &str| CfrNumbers::of(label).map(|numbers| numbers.first);
        assert_eq!(first("§ 1.1").as_deref(), Some("1.1"));
        assert_eq!(first("§§ 22.203-22.211").as_deref(), Some("22.203...22.211"));
        assert_eq!(first("§ 24.302–24.309 ").as_deref(), Some("24.302...24.309"));
        assert_eq!(first("§ 1.61-2T").as_deref(), Some("1.61-2T"));
        assert_eq!(first("§§ 1.61-2.1-1.61-3.1").as_deref(), Some("1.61...2.1-1.61-3.1"));
        assert_eq!(first("Note"), None);
        let list = CfrNumbers::of("§§ 1.1 and 1.2").unwrap();
        assert_eq!((list.first.as_str(), list.others), ("1.1", vec!["1.2".to_owned()]));
        assert_eq!(CfrNumbers::label_in("§ 1.1   Definitions."), "§ 1.1");
        assert_eq!(CfrNumbers::label_in("Definitions."), "");
    }

    #[test]
    fn containers_and_attachments_are_named_from_their_headings() {
        assert_eq!(CfrLevel::Part.number_in("PART 22—PUBLIC").as_deref(), Some("22"));
        assert_eq!(CfrLevel::Part.number_in("PARTS 37-39 [RESERVED]").as_deref(), Some("37-39"));
        assert_eq!(CfrLevel::Title.number_in("Title 1—General Provisions--Volume 1").as_deref(), Some("1"));
        assert_eq!(CfrLevel::Subpart.number_in("General"), None);
        assert_eq!(Attachment::of("Appendix A to Part 64—Priority").citation, "App. A");
        assert_eq!(Attachment::of("Appendix to Part 36—Glossary").key, "app");
        assert_eq!(Attachment::of("Supplement No. 1 to Part 774—List").key, "supp1");
        assert_eq!(Attachment::of("Table 1 to Part 3").key, "table-1-to-part-3");
        assert!(is_reserved("§ 5.6 [Reserved]") && is_reserved("Reserved.") && !is_reserved("Rights reserved by x"));
    }
}
