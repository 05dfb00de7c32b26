//! Reads since when the present wording of a section is law, if its history states it in an attribute.
//!
//! Three forms are read. In a section of the District of Columbia, the last act of the history has
//! `eff`, and `app` is equal or absent. In a Maryland section, the only entry of the history has
//! `effective`. In the history of a Maryland chapter, the latest entry about the section has
//! `effective` and states in a regular form what it did: `Effective date: ...`,
//! `Chapter revised effective ...`, or `Regulations .01—.04 and .06B amended effective ...`. For
//! everything else (emergency provisions, regulations that were repealed and adopted again,
//! recodified chapters) the date stays unknown.

use hornbook_corpus::outline::Status;
use roxmltree::Node;

use super::source::{elements, name, words};
use crate::values::is_date;

/// The date, as `2021-01-01`.
pub(super) fn effective_from(section: Node<'_, '_>, number: &str, status: Status) -> Option<String> {
    if !status.may_be_in_force() {
        return None;
    }
    let own: Vec<Node<'_, '_>> = history(section).collect();
    let date = match own.as_slice() {
        [] => in_chapter(section.parent()?, number),
        [only] if only.attribute("effective").is_some() => only.attribute("effective"),
        [.., last] => of_act(*last),
    };
    date.filter(|date| is_date(date)).map(str::to_owned)
}

/// The first day of a wording that emergency or temporary acts made, such as a repeal: that of the
/// first of the acts at the end of the history that did the same.
pub(super) fn since_temporary_acts(section: Node<'_, '_>) -> Option<String> {
    let acts: Vec<Node<'_, '_>> = history(section).collect();
    let last = acts.last()?;
    let did_the_same = |act: &&Node<'_, '_>| act.attribute("path") == last.attribute("path");
    let first = acts.iter().rev().take_while(did_the_same).last()?;
    of_act(*first).filter(|date| is_date(date)).map(str::to_owned)
}

/// The visible entries in the history of a node.
fn history<'t, 'd>(node: Node<'t, 'd>) -> impl Iterator<Item = Node<'t, 'd>> {
    let annotations = elements(node).flat_map(|part| match name(part) {
        Some("annotations") => elements(part).collect(),
        Some("annotation") => vec![part],
        _ => Vec::new(),
    });
    annotations
        .filter(|entry| entry.attribute("type") == Some("History") && entry.attribute("display") != Some("false"))
}

fn of_act<'t>(act: Node<'t, '_>) -> Option<&'t str> {
    let takes_effect = act.attribute("eff")?;
    // Law may be in effect but not yet applicable.
    act.attribute("app").is_none_or(|applies| applies == takes_effect).then_some(takes_effect)
}

fn in_chapter<'t>(chapter: Node<'t, '_>, number: &str) -> Option<&'t str> {
    let dated = history(chapter).filter_map(|entry| Some((entry.attribute("effective")?, words(entry))));
    let about: Vec<(&str, RegulationChange)> =
        dated.map(|(date, text)| (date, regulation_change(&text, number))).collect();
    let relevant = || about.iter().filter(|(_, saying)| *saying != RegulationChange::OfOthers);
    let latest = relevant().map(|(date, _)| *date).max()?;
    let is_regular =
        relevant().filter(|(date, _)| *date == latest).all(|(_, saying)| *saying == RegulationChange::Regular);
    is_regular.then_some(latest)
}

/// What an entry in the history of a chapter states about a regulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegulationChange {
    /// The regulation has its present wording since the date.
    Regular,
    OfOthers,
    /// A statement that only a human reader can interpret.
    Unclear,
}

fn regulation_change(entry: &str, number: &str) -> RegulationChange {
    if entry.starts_with("Effective date: ") || entry.starts_with("Chapter revised effective ") {
        return RegulationChange::Regular;
    }
    let Some((did, _)) = entry.split_once(" effective ").filter(|(did, _)| did.starts_with("Regulation")) else {
        return RegulationChange::Unclear;
    };
    if !names(did, number) {
        return RegulationChange::OfOthers;
    }
    let is_verb = |word: &&str| word.len() > 1 && *word != "and" && word.chars().all(|c| c.is_ascii_lowercase());
    let verbs: Vec<&str> = did.split(|c: char| !c.is_ascii_alphabetic()).filter(is_verb).collect();
    if matches!(verbs.as_slice(), ["amended" | "adopted"]) {
        RegulationChange::Regular
    } else {
        RegulationChange::Unclear
    }
}

/// Whether words such as `Regulations .01—.04 and .06B amended` name a regulation.
fn names(words: &str, number: &str) -> bool {
    let mut before: Option<&str> = None;
    let mut rest = words;
    while let Some(start) = rest.find('.') {
        let is_range = before.is_some() && rest[..start].ends_with('—');
        let after = &rest[start + 1..];
        let length = after.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(after.len());
        let named = after[..length].trim_end_matches('-');
        let wanted = number.trim_start_matches('.');
        let is_within = || before.is_some_and(|first| parts(first) <= parts(wanted) && parts(wanted) <= parts(named));
        if named == wanted || is_range && is_within() {
            return true;
        }
        before = Some(named);
        rest = &after[length..];
    }
    false
}

/// The parts of a number such as `01-1`, in numeric order.
fn parts(number: &str) -> Vec<u32> {
    number.split('-').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_regulations_by_numbers_and_ranges() {
        let cases = [
            ("Regulation .06 amended effective July 10, 2023 (50:14 Md. R. 513)", ".06", RegulationChange::Regular),
            ("Regulations .01—.04 and .06B, C amended effective May 4, 2022", ".03", RegulationChange::Regular),
            ("Regulations .01—.04 and .06B, C amended effective May 4, 2022", ".02-1", RegulationChange::Regular),
            ("Regulations .01—.04 and .06B, C amended effective May 4, 2022", ".05", RegulationChange::OfOthers),
            ("Regulation .05-1 adopted effective May 4, 2022", ".05", RegulationChange::OfOthers),
            (
                "Regulation .05 repealed and new Regulation .05 adopted effective May 4, 2022",
                ".05",
                RegulationChange::Unclear,
            ),
            (
                "Regulation .06 amended as an emergency provision effective May 4, 2022",
                ".06",
                RegulationChange::Unclear,
            ),
            ("Regulation .06 amended May 4, 2022", ".01", RegulationChange::Unclear),
            ("Effective date: April 19, 2010 (37:8 Md. R. 624)", ".01", RegulationChange::Regular),
            (
                "Chapter recodified from COMAR 09.30.46 to COMAR 31.10.13 effective May 4, 2022",
                ".01",
                RegulationChange::Unclear,
            ),
        ];
        for (entry, number, expected) in cases {
            assert_eq!(regulation_change(entry, number), expected, "{entry}: {number}");
        }
    }

    fn date(xml: &str, number: &str) -> Option<String> {
        let tree = roxmltree::Document::parse(xml).unwrap();
        let section = tree.descendants().find(|node| node.has_tag_name("section")).unwrap();
        effective_from(section, number, Status::InForce)
    }

    #[test]
    fn the_last_act_dates_a_section_unless_it_does_not_apply_yet() {
        let of = |acts: &str| date(&format!("<section><annotations>{acts}</annotations></section>"), "1-1");
        let act = |eff: &str, app: &str| format!("<annotation type='History' eff='{eff}' app='{app}'/>");
        let first = act("2001-01-01", "2001-01-01");
        assert_eq!(of(&(first.clone() + &act("2020-05-01", "2020-05-01"))).as_deref(), Some("2020-05-01"));
        assert_eq!(of(&(first.clone() + &act("2020-05-01", "notfunded"))), None);
        assert_eq!(of(&(first.clone() + "<annotation type='History'>May 1, 2020</annotation>")), None);
        let hidden = "<annotation type='History' eff='2021-01-01' display='false'/>";
        assert_eq!(of(&(first + hidden)).as_deref(), Some("2001-01-01"));
        assert_eq!(
            of("<annotation type='History' effective='2010-04-26'>Effective date</annotation>").as_deref(),
            Some("2010-04-26")
        );
    }

    #[test]
    fn a_temporary_wording_begins_with_the_first_act_that_did_the_same() {
        let since = |acts: &str| {
            let xml = format!("<section><annotations>{acts}</annotations></section>");
            since_temporary_acts(roxmltree::Document::parse(&xml).unwrap().root_element())
        };
        let act = |path: &str, eff: &str| format!("<annotation type='History' path='{path}' eff='{eff}'/>");
        let older = act("§2", "2001-01-01") + &act("§9", "2020-01-01");
        let emergency = act("§2", "2024-03-21");
        assert_eq!(since(&(older.clone() + &emergency)).as_deref(), Some("2024-03-21"));
        assert_eq!(since(&(older + &emergency + &act("§2", "2024-06-01"))).as_deref(), Some("2024-03-21"));
        assert_eq!(since("<annotation type='History'>May 1, 2020</annotation>"), None);
    }

    #[test]
    fn the_latest_entry_of_a_chapter_dates_a_regulation_if_it_is_regular() {
        let of = |last: &str, number| {
            let entry =
                |date: &str, text: &str| format!("<annotation type='History' effective='{date}'>{text}</annotation>");
            let entries = entry("1990-01-01", "Effective date: January 1, 1990") + &entry("2020-02-03", last);
            date(&format!("<container><section/><annotations>{entries}</annotations></container>"), number)
        };
        let amended = "Regulation .02 amended effective February 3, 2020";
        assert_eq!(of(amended, ".02").as_deref(), Some("2020-02-03"));
        assert_eq!(of(amended, ".01").as_deref(), Some("1990-01-01"));
        assert_eq!(of("Amended February 3, 2020", ".01"), None);
    }
}
