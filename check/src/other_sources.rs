//! Sources that are not statutes or regulations: cases, records, treatises. They are not checked, but they matter: a
//! quotation followed by a case is from the case, and `Id.` after a case means the case.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A volume, a reporter and a page; a case by its parties; exhibits, dockets, transcripts and other papers.
static OTHER_SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    let reporters = [
        r"U\.\s?S\.",
        r"S\.\s?Ct\.",
        r"L\.\s?Ed\.(?:\s?2d)?",
        r"F\.(?:\s?(?:2d|3d|4th))?",
        r"F\.\s?Supp\.(?:\s?[23]d)?",
        r"F\.\s?App[’']x\.?",
        r"F\.R\.D\.",
        r"Fed\.\s?Cl\.",
        r"Fed\.\s?Reg\.",
        r"Cong\.\s?Rec\.",
        r"B\.\s?R\.",
        r"T\.C\.",
        r"(?:A|P|N\.\s?E|N\.\s?W|S\.\s?E|S\.\s?W|So)\.(?:\s?[23]d)?",
        r"N\.\s?Y\.\s?S\.(?:\s?[23]d)?",
        r"Cal\.\s?Rptr\.(?:\s?[23]d)?",
        r"[A-Z][A-Za-z]{1,12}\.?\s(?:2d|3d|4th|5th)",
        r"[A-Z][A-Za-z]{1,5}\.(?:\s?(?:App|Super|Ch|Misc|Rptr)\.)?(?:\s?(?:2d|3d|4th|5th))?",
        r"WL",
        r"LEXIS",
        r"[A-Z][A-Za-z]*\.?(?:\s[A-Z&][A-Za-z]*\.?){0,3}\sL\.\s?(?:Rev|J)\.",
    ]
    .join("|");
    let case = format!(r"\b\d{{1,4}}\s(?:{reporters})\s(?:at\s)?\d{{1,7}}\b");
    let parties = r"\b[A-Z][\w’'.&-]*,?\sv\.\s[A-Z][\w’'.&-]*";
    let paper = r"\b(?:Opp|Ex|Exh|Exs|Exhibit|Dkt|ECF|Compl|Decl|Dep|Tr|Aff|Br|Mem|Mot|R|J\.A)\.?(?:\sNo\.)?\s(?:[A-Z0-9]{1,5}\b|at\s\d|¶)";
    let paragraph = r"¶{1,2}\s?\d";
    Regex::new(&[&*case, parties, paper, paragraph].join("|")).expect("the expression is valid")
});

/// The places in a paragraph where other sources are named, in order.
pub(crate) fn other_sources(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    OTHER_SOURCE.find_iter(text).map(|found| found.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_and_papers_are_found_and_statutes_are_not() {
        for source in [
            "510 U.S. 569, 577 (1994)",
            "874 F.3d 229",
            "12 F. Supp. 2d 45",
            "2019 WL 1234567",
            "Smith v. Jones",
            "85 Fed. Reg. 1234",
            "100 Harv. L. Rev. 1",
            "12 Cal. App. 4th 33",
            "415 Arden 2d at 20",
            "Ex. A at 3",
            "Compl. ¶ 12",
            "ECF No. 45",
            "Tr. at 44",
        ] {
            assert_eq!(other_sources(source).count(), 1, "{source}");
        }
        for statute in
            ["17 U.S.C. § 107", "17 USC 107", "29 C.F.R. § 1910.132", "Va. Code § 55.1-1200", "RCW 59.18.060"]
        {
            assert_eq!(other_sources(statute).count(), 0, "{statute}");
        }
    }
}
