//! The chapters of the Code of Federal Regulations and the numbers of their parts, from a small built-in table. Volumes of
//! this code are published and loaded one by one, so a part that a snapshot lacks often exists.

use std::sync::LazyLock;

const TABLE: &str = include_str!("cfr_chapters.tsv");

/// The key of the Code of Federal Regulations. Its parts have plain numbers.
pub const CFR_KEY: &str = "us/cfr";

/// A chapter, or the subtitle of an agency, and the numbers set aside for its parts. Not all of them are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfrChapter {
    title: &'static str,
    /// Its name, such as `chapter I` or `subtitle A`.
    pub name: &'static str,
    /// The number of its first part.
    pub first: u32,
    /// The number of its last part.
    pub last: u32,
}

static ROWS: LazyLock<Vec<CfrChapter>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| row(line).unwrap_or_else(|| panic!("a row of cfr_chapters.tsv is wrong: {line}"))).collect()
});

impl CfrChapter {
    /// The chapter that a part of a title of the code with this key belongs to, if the table has it.
    pub fn of_part(key: &str, title: &str, part: &str) -> Option<Self> {
        if key != CFR_KEY {
            return None;
        }
        let part: u32 = part.parse().ok()?;
        ROWS.iter().find(|chapter| chapter.title == title && chapter.contains(part)).copied()
    }

    /// The chapters of a title of the code with this key.
    pub fn of_title(key: &str, title: &str) -> impl Iterator<Item = Self> {
        let is_known = key == CFR_KEY;
        ROWS.iter().filter(move |chapter| is_known && chapter.title == title).copied()
    }

    /// Whether the number is one of those set aside for this chapter.
    pub fn contains(&self, part: u32) -> bool {
        (self.first..=self.last).contains(&part)
    }
}

fn row(line: &'static str) -> Option<CfrChapter> {
    let mut fields = line.split('\t');
    let (title, name) = (fields.next()?, fields.next()?);
    let (first, last) = fields.next()?.split_once('-')?;
    Some(CfrChapter { title, name, first: first.parse().ok()?, last: last.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_titles::CodeTitles;

    #[test]
    fn every_row_is_of_a_known_title_and_no_part_is_in_two_chapters() {
        let titles = &CodeTitles::of(CFR_KEY).unwrap().numbers;
        for (at, chapter) in ROWS.iter().enumerate() {
            assert!(titles.iter().any(|title| title == chapter.title), "{chapter:?}");
            assert!(chapter.first <= chapter.last, "{chapter:?}");
            let others = ROWS[..at].iter().filter(|other| other.title == chapter.title);
            let overlaps = |other: &&CfrChapter| other.first <= chapter.last && chapter.first <= other.last;
            assert_eq!(others.clone().find(overlaps), None, "{chapter:?}");
        }
    }

    #[test]
    fn parts_are_in_the_chapters_of_their_agencies() {
        let name = |title, part| CfrChapter::of_part(CFR_KEY, title, part).map(|chapter| chapter.name);
        assert_eq!(name("47", "73"), Some("chapter I"));
        assert_eq!(name("12", "1026"), Some("chapter X"));
        assert_eq!(name("29", "15"), Some("subtitle A"));
        assert_eq!(name("47", "99999"), None);
        assert_eq!(name("41", "60"), None);
        assert_eq!(name("47", "73a"), None);
        assert_eq!(CfrChapter::of_part("us/usc", "47", "73"), None);
    }
}
