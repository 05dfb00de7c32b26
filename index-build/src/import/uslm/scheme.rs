//! The citation forms of the documents of each publisher.

/// The code that a document belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    UnitedStatesCode,
    Regulations,
}

impl Scheme {
    pub(super) fn of_root(name: &str) -> Option<Self> {
        match name {
            "uscDoc" => Some(Self::UnitedStatesCode),
            "cfrDoc" => Some(Self::Regulations),
            _ => None,
        }
    }

    /// The citation of a section: `17 U.S.C. § 107`, `5 U.S.C. App. § 1`, `27 C.F.R. § 40.1`.
    pub(super) fn section(self, title: &TitleNumber, number: &str) -> String {
        match (self, title.is_appendix) {
            (Self::UnitedStatesCode, false) => format!("{} U.S.C. § {number}", title.digits),
            (Self::UnitedStatesCode, true) => format!("{} U.S.C. App. § {number}", title.digits),
            (Self::Regulations, _) => format!("{} C.F.R. § {number}", title.digits),
        }
    }

    /// The citation of a rule: `11 U.S.C. App. Rule 1001`, also if its collection has no name.
    pub(super) fn rule(title: &TitleNumber, number: &str) -> String {
        format!("{} U.S.C. App. Rule {number}", title.digits)
    }
}

/// The number of a title. An appendix is cited with the title that it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TitleNumber {
    pub(super) digits: String,
    pub(super) is_appendix: bool,
}

impl TitleNumber {
    /// Parses `17` or `18a`; None if the text is not the number of a title.
    pub(super) fn of(number: &str) -> Option<Self> {
        let number = number.trim();
        let digits = number.trim_end_matches(['a', 'A']);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self { digits: digits.to_owned(), is_appendix: digits.len() < number.len() })
    }

    /// The number as containers are cited: `17` or `18A`.
    pub(super) fn in_full(&self) -> String {
        format!("{}{}", self.digits, if self.is_appendix { "A" } else { "" })
    }
}

/// The citation form for words in the heading of a collection of court rules.
const RULES: [(&str, &str); 6] = [
    ("civil procedure", "Fed. R. Civ. P."),
    ("criminal procedure", "Fed. R. Crim. P."),
    ("appellate procedure", "Fed. R. App. P."),
    ("bankruptcy procedure", "Fed. R. Bankr. P."),
    ("rules of evidence", "Fed. R. Evid."),
    ("supreme court of the united states", "Sup. Ct. R."),
];

/// The citation form of a heading: `Fed. R. Crim. P.` for `FEDERAL RULES OF CRIMINAL PROCEDURE`.
pub(super) fn name_of_rules(heading: &str) -> Option<&'static str> {
    let heading = heading.to_ascii_lowercase();
    RULES.iter().find(|(words, _)| heading.contains(words)).map(|(_, name)| *name)
}

/// The citations of a reorganization plan: the canonical form, and further ones, including a roman
/// number in digits.
pub(super) fn plan_citations(number: &str, year: &str) -> (String, Vec<String>) {
    let digits = match number {
        "I" => Some("1"),
        "II" => Some("2"),
        "III" => Some("3"),
        "IV" => Some("4"),
        "V" => Some("5"),
        _ => None,
    };
    let canonical = format!("Reorg. Plan No. {number} of {year}");
    let mut others = vec![format!("Reorganization Plan No. {number} of {year}")];
    if let Some(digits) = digits {
        others.push(format!("Reorg. Plan No. {digits} of {year}"));
        others.push(format!("Reorganization Plan No. {digits} of {year}"));
    }
    (canonical, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_their_appendices_are_cited_by_one_number() {
        let title = TitleNumber::of("18a").unwrap();
        assert_eq!((title.in_full().as_str(), title.is_appendix), ("18A", true));
        assert_eq!(Scheme::UnitedStatesCode.section(&title, "3"), "18 U.S.C. App. § 3");
        assert_eq!(Scheme::rule(&title, "4"), "18 U.S.C. App. Rule 4");
        let title = TitleNumber::of("27").unwrap();
        assert_eq!(Scheme::Regulations.section(&title, "40.1"), "27 C.F.R. § 40.1");
        assert_eq!(TitleNumber::of("IV"), None);
        assert_eq!(TitleNumber::of("a"), None);
    }

    #[test]
    fn rules_and_plans_are_cited_as_courts_cite_them() {
        assert_eq!(name_of_rules("FEDERAL RULES OF CRIMINAL PROCEDURE"), Some("Fed. R. Crim. P."));
        assert_eq!(name_of_rules("RULES OF SOME COURT"), None);
        let (canonical, others) = plan_citations("II", "1939");
        assert_eq!(canonical, "Reorg. Plan No. II of 1939");
        assert!(others.contains(&"Reorganization Plan No. 2 of 1939".to_owned()));
    }
}
