//! All 2,125 codes of NAICS 2022, the North American Industry Classification System, with their titles and hierarchy.
//!
//! `codes.py` creates `codes.tsv` from the workbook of the US Census Bureau (`make naics`). Its
//! lines are in the order of the codes, which is also the order of the hierarchy: an industry comes
//! before everything below it.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

/// The edition of the classification.
pub const EDITION: &str = "NAICS 2022";

/// An industry at any level.
#[derive(Debug)]
pub struct Industry {
    /// Two to six digits, or `31-33`, `44-45` and `48-49` for the sectors with several numbers.
    pub code: &'static str,
    pub title: &'static str,
    /// The industry directly above.
    parent: Option<usize>,
}

/// The level of an industry in the hierarchy, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "NaicsLevel")]
pub enum IndustryLevel {
    Sector,
    Subsector,
    IndustryGroup,
    /// Five digits: comparable between the United States, Canada and Mexico.
    NaicsIndustry,
    /// Six digits: the codes that forms ask for.
    NationalIndustry,
}

impl IndustryLevel {
    pub const ALL: [Self; 5] =
        [Self::Sector, Self::Subsector, Self::IndustryGroup, Self::NaicsIndustry, Self::NationalIndustry];
}

impl Industry {
    pub fn level(&self) -> IndustryLevel {
        match self.code.len() {
            3 => IndustryLevel::Subsector,
            4 => IndustryLevel::IndustryGroup,
            5 if !self.is_several_sectors() => IndustryLevel::NaicsIndustry,
            6 => IndustryLevel::NationalIndustry,
            _ => IndustryLevel::Sector,
        }
    }

    /// The industries above this one and itself, the sector first.
    pub fn path(&self) -> Vec<&'static Industry> {
        let mut path: Vec<&'static Self> = Vec::with_capacity(IndustryLevel::ALL.len());
        path.extend(INDUSTRIES.binary_search_by(|industry| industry.code.cmp(self.code)).map(|at| &INDUSTRIES[at]));
        while let Some(parent) = path.last().and_then(|industry| industry.parent) {
            path.push(&INDUSTRIES[parent]);
        }
        path.reverse();
        path
    }

    fn is_several_sectors(&self) -> bool {
        self.code.contains('-')
    }

    /// Whether a code begins with this one. A sector with several numbers contains the codes of all of them.
    pub(super) fn contains(&self, code: &str) -> bool {
        match self.code.split_once('-') {
            Some((first, last)) => code.get(..2).is_some_and(|sector| (first..=last).contains(&sector)),
            None => code.starts_with(self.code),
        }
    }
}

/// Every industry, in the order of the codes.
pub(super) fn all() -> &'static [Industry] {
    &INDUSTRIES
}

/// The industry with this code, at any level. A sector with several numbers is found by each of them.
pub fn find(code: &str) -> Option<&'static Industry> {
    let at = INDUSTRIES.binary_search_by(|industry| industry.code.cmp(code));
    let exact = at.ok().map(|at| &INDUSTRIES[at]);
    let is_sector = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_digit());
    exact.or_else(|| {
        INDUSTRIES.iter().find(|industry| is_sector && industry.is_several_sectors() && industry.contains(code))
    })
}

static INDUSTRIES: LazyLock<Vec<Industry>> = LazyLock::new(|| {
    let mut industries: Vec<Industry> = Vec::with_capacity(2125);
    for (code, title) in include_str!("codes.tsv").lines().filter_map(|line| line.split_once('\t')) {
        let mut parent = industries.len().checked_sub(1);
        while let Some(at) = parent.filter(|at| !industries[*at].contains(code)) {
            parent = industries[at].parent;
        }
        industries.push(Industry { code, title, parent });
    }
    industries
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_of_2022_are_known_at_every_level() {
        let count = |level| INDUSTRIES.iter().filter(|industry| industry.level() == level).count();
        assert_eq!(IndustryLevel::ALL.map(count), [20, 96, 308, 689, 1012]);
        assert!(INDUSTRIES.is_sorted_by(|one, next| one.code < next.code));
        for industry in INDUSTRIES.iter() {
            assert_eq!(find(industry.code).map(|found| found.title), Some(industry.title));
            assert_eq!(industry.title, industry.title.trim());
        }
    }

    #[test]
    fn every_industry_but_a_sector_has_one_of_each_level_above_it() {
        for industry in INDUSTRIES.iter() {
            let path = industry.path();
            let levels: Vec<IndustryLevel> = path.iter().map(|industry| industry.level()).collect();
            assert_eq!(levels, IndustryLevel::ALL[..levels.len()], "{}", industry.code);
            assert_eq!(path.last().map(|last| last.code), Some(industry.code));
            assert!(path.windows(2).all(|pair| pair[0].contains(pair[1].code)), "{}", industry.code);
        }
    }

    #[test]
    fn a_sector_with_several_numbers_is_found_by_each_of_them() {
        for (code, sector) in [("31", "31-33"), ("32", "31-33"), ("45", "44-45"), ("49", "48-49"), ("54", "54")] {
            assert_eq!(find(code).map(|found| found.code), Some(sector));
        }
        let codes: Vec<&str> = find("459510").unwrap().path().iter().map(|industry| industry.code).collect();
        assert_eq!(codes, ["44-45", "459", "4595", "45951", "459510"]);
    }

    #[test]
    fn invalid_codes_find_nothing() {
        for code in ["", "3", "34", "46", "99", "454110", "8129100", " 812910", "81291O", "31-32", "-", "é1"] {
            assert!(find(code).is_none(), "{code:?}");
        }
    }
}
