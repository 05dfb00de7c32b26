//! What a section says about other numbers of its law: the numbers that it had and, of the United States Code, the
//! number that its law has now, the section of an act that it is, and the names of acts.
//!
//! Only what a sentence surely says is used. A sentence that renumbers this section in a way that is not understood
//! is returned as unread, so that the importer can name its place.

mod act_names;
mod credit;
mod disposition;
mod place;
mod printed;
mod renumbering;

pub(crate) use disposition::Dispositions;
pub(crate) use printed::{formerly_in_credit, formerly_in_notes};

use hornbook_corpus::citation::Grammar;
use hornbook_corpus::nodes::ActName;
use hornbook_corpus::outline::Status;

use crate::content::{Content, ContentNote};
use crate::report::{SourcePosition, WarningKind};

/// The words of a section that may say something about its numbers.
pub(crate) struct SectionWords<'a> {
    /// The title: `42`.
    pub(crate) title: &'a str,
    /// Its number; `None` if it has several.
    pub(crate) number: Option<&'a str>,
    pub(crate) status: Status,
    pub(crate) heading: &'a str,
    pub(crate) notes: &'a [ContentNote],
    pub(crate) credit: Option<&'a str>,
    /// What tables of the title say about the sections of earlier codes.
    pub(crate) dispositions: &'a Dispositions,
}

/// What a section says about the numbers of its law.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Crosswalk {
    pub(crate) formerly: Vec<String>,
    /// The former numbers are those of an earlier code alone.
    pub(crate) restates_earlier_code: bool,
    pub(crate) now: Option<String>,
    /// Its law was repealed after it went to another place.
    pub(crate) is_nowhere: bool,
    pub(crate) act_sections: Vec<String>,
    pub(crate) act_names: Vec<ActName>,
    /// Statements about this section that are not understood.
    pub(crate) unread: Vec<String>,
}

/// Topics of notes, as the Office of the Law Revision Counsel writes them.
const CODIFICATION: &str = "Codification";
const AMENDMENTS: &str = "Amendments";
const REFERENCES_IN_TEXT: &str = "References in Text";
const SHORT_TITLE: &str = "Short Title";

impl Crosswalk {
    pub(crate) fn of(section: &SectionWords<'_>) -> Self {
        let mut found = Self::default();
        for note in section.notes {
            match note.topic.as_str() {
                CODIFICATION => renumbering::read_codification(section, &note.text, &mut found),
                AMENDMENTS => renumbering::read_amendments(section, &note.text, &mut found),
                REFERENCES_IN_TEXT => act_names::read_references(&note.text, &mut found.act_names),
                topic if topic.starts_with(SHORT_TITLE) => {
                    act_names::read_short_title(&note.text, &mut found.act_names);
                }
                _ => {}
            }
        }
        if matches!(section.status, Status::Renumbered | Status::Transferred) {
            renumbering::read_heading(section, &mut found);
        }
        // Sections of a title that is law itself are no sections of the acts that made them.
        match section.credit {
            Some(credit) if !Grammar::built_in().is_enacted_title(section.title) => credit::read(credit, &mut found),
            Some(credit) if section.number.is_some() => credit::read_renumbered(section.title, credit, &mut found),
            _ => {}
        }
        if let (Some(number), true) = (section.number, section.credit.is_some_and(credit::has_its_first_number)) {
            let restated = section.dispositions.of(number);
            found.restates_earlier_code = found.formerly.is_empty() && !restated.is_empty();
            found.formerly.extend_from_slice(restated);
        }
        let own = section.number.map(|number| place::citation(section.title, number));
        found.formerly.retain(|former| Some(former) != own.as_ref());
        found.now = found.now.take().filter(|now| Some(now) != own.as_ref());
        sort(&mut found.formerly);
        sort(&mut found.act_sections);
        sort(&mut found.act_names);
        found
    }

    /// Adds it to the content of the section. Returns the warnings.
    pub(crate) fn add_to(
        self,
        content: &mut Content,
        position: &SourcePosition,
    ) -> impl Iterator<Item = (WarningKind, SourcePosition, String)> {
        content.former_citations = self.formerly;
        content.restates_earlier_code = self.restates_earlier_code;
        content.now = self.now;
        content.act_sections = self.act_sections;
        content.act_names = self.act_names;
        let (citation, position) = (content.citation.clone(), position.clone());
        self.unread.into_iter().map(move |statement| {
            let what = format!("'{citation}': the number in '{statement}' is not understood");
            (WarningKind::UnreadRenumbering, position.clone(), what)
        })
    }
}

/// Divides notes that contain their topics as lines.
pub(crate) fn notes_by_topic<'n>(notes: impl Iterator<Item = &'n str>) -> Vec<ContentNote> {
    let mut found: Vec<ContentNote> = Vec::new();
    for line in notes.flat_map(str::lines) {
        if [CODIFICATION, AMENDMENTS, REFERENCES_IN_TEXT, SHORT_TITLE, "Prior Provisions"].contains(&line) {
            found.push(ContentNote { topic: line.to_owned(), ..ContentNote::default() });
        } else if let Some(note) = found.last_mut() {
            note.text.push_str(line);
            note.text.push('\n');
        }
    }
    found
}

fn sort<T: Ord>(all: &mut Vec<T>) {
    all.sort_unstable();
    all.dedup();
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static NO_TABLES: LazyLock<Dispositions> = LazyLock::new(Dispositions::default);

    const GONE: [Status; 2] = [Status::Transferred, Status::Renumbered];

    fn section<'a>(status: Status, heading: &'a str, notes: &'a [ContentNote]) -> SectionWords<'a> {
        SectionWords { title: "42", number: Some("93"), status, heading, notes, credit: None, dispositions: &NO_TABLES }
    }

    fn note(topic: &str, text: &str) -> Vec<ContentNote> {
        vec![ContentNote { topic: topic.to_owned(), text: text.to_owned(), ..ContentNote::default() }]
    }

    /// The former numbers, and the number of statements that are not understood.
    fn formerly(topic: &str, text: &str) -> (Vec<String>, usize) {
        let found = Crosswalk::of(&section(Status::InForce, "Kites", &note(topic, text)));
        assert_eq!(found.now, None);
        (found.formerly, found.unread.len())
    }

    fn now(heading: &str, codification: &str) -> Option<String> {
        let notes = note(CODIFICATION, codification);
        let mut all = GONE.map(|status| Crosswalk::of(&section(status, heading, &notes)));
        let found = std::mem::take(&mut all[0]);
        assert_eq!(found, all[1], "{heading}");
        assert_eq!(found.now.is_none(), !found.unread.is_empty(), "{found:?}");
        found.now
    }

    #[test]
    fn a_note_on_codification_has_the_numbers_before_a_reclassification() {
        for (text, numbers) in [
            (
                "Section was formerly classified to section 1973f of Title 12, Kites and Balloons, prior to editorial \
                 reclassification and renumbering as this section.",
                &["12 U.S.C. § 1973f"][..],
            ),
            (
                "Section was formerly classified to section 71 of Title 12, Kites, prior to editorial reclassification \
                 and renumbering as this section, and to section 31 of Title 8, Strings.",
                &["12 U.S.C. § 71", "8 U.S.C. § 31"],
            ),
            ("Section was classified to section 300aa–4 of this title.", &["42 U.S.C. § 300aa-4"]),
            // The law that is repealed is another one.
            (
                "Section was formerly classified to section 5 of this title prior to the repeal of an act that was \
                 classified to section 6 of this title and to section 7 of this title.",
                &["42 U.S.C. § 5"],
            ),
            ("Section 5 of this title was formerly classified to section 6 of this title.", &[]),
            ("Section is comprised of section 5 of Pub. L. 1–2.", &[]),
        ] {
            assert_eq!(formerly(CODIFICATION, text), (numbers.iter().map(ToString::to_string).collect(), 0), "{text}");
        }
        for text in [
            "Section was formerly classified to section 205 of former Title 11, Kites.",
            "Section was formerly classified to section 9 of the former Appendix to Title 50.",
            "Section was formerly classified to section 9 of Title 50, Appendix, War.",
            "Section was formerly classified to sections 9 and 10 of this title.",
            "Section was formerly classified to section 9(a) of this title.",
        ] {
            assert_eq!(formerly(CODIFICATION, text), (vec![], 1), "{text}");
        }
    }

    #[test]
    fn amendments_have_the_numbers_before_a_renumbering() {
        for (text, numbers, unread) in [
            ("2018—Pub. L. 115–282 renumbered section 1 of this title as this section.", &["42 U.S.C. § 1"][..], 0),
            ("2018—Pub. L. 115–282, § 3(b), renumbered section 2a of title 9 as this section.", &["9 U.S.C. § 2a"], 0),
            (
                "Pub. L. 1–2 successively renumbered section 70 of title 49 and section 71 of this title as this section.",
                &["42 U.S.C. § 71", "49 U.S.C. § 70"],
                0,
            ),
            (
                "Pub. L. 1–2 renumbered section 7 of this title, relating to kites, as this section.",
                &["42 U.S.C. § 7"],
                0,
            ),
            // Its own number is no former one.
            ("Pub. L. 1–2 renumbered section 93 of this title as this section.", &[], 0),
            ("Pub. L. 1–2 renumbered section 94 of this title as section 95.", &[], 0),
            ("Pub. L. 1–2 redesignated par. (2) as (3).", &[], 0),
            ("Pub. L. 1–2 renumbered section 94(a) of this title as this section.", &[], 1),
            ("Pub. L. 1–2 renumbered section 94 of former title 5 as this section.", &[], 1),
        ] {
            let expected = (numbers.iter().map(ToString::to_string).collect(), unread);
            assert_eq!(formerly(AMENDMENTS, text), expected, "{text}");
        }
        // Law that is quoted elsewhere says nothing about this section.
        let quoted = "“Pub. L. 1–2 renumbered section 1 of this title as this section.”";
        assert_eq!(formerly("Savings Provision", quoted), (vec![], 0));
    }

    #[test]
    fn a_section_that_is_gone_says_where_its_law_is() {
        for (heading, codification, place) in [
            ("Renumbered § 354", "", Some("42 U.S.C. § 354")),
            ("Renumbered § 354]", "", Some("42 U.S.C. § 354")),
            ("Renumbered § 12a of title 10", "", Some("10 U.S.C. § 12a")),
            ("Renumbered §§ 354 to 356", "", None),
            ("Transferred", "", None),
            (
                "Transferred",
                "Section 93 was editorially reclassified as section 4523 of this title.",
                Some("42 U.S.C. § 4523"),
            ),
            (
                "Transferred",
                "Section, Pub. L. 1–2, title X, § 10, Dec. 31, 2011, 125 Stat. 1, which related to kites, was \
                 transferred to section 493 of Title 10, Kites, by Pub. L. 2–3, § 4, Jan. 2, 2013, 126 Stat. 2.",
                Some("10 U.S.C. § 493"),
            ),
            (
                "Transferred",
                "Section 93 was transferred to section 44b of Title 25, Kites, prior to editorial reclassification as \
                 section 153 of that title.",
                Some("25 U.S.C. § 153"),
            ),
            ("Transferred", "Section transferred to section 4 of Title 25.", Some("25 U.S.C. § 4")),
            ("Transferred", "Section 93 transferred to section 4(a)(2) of Title 25.", Some("25 U.S.C. § 4(a)(2)")),
            (
                "Transferred",
                "Section, act Oct. 31, 1949, ch. 792, § 107C, was renumbered section 114 of act Oct. 31, 1949, by Pub. L. \
                 1–2, § 6, 104 Stat. 3520, and transferred to section 145j of this title.",
                Some("42 U.S.C. § 145j"),
            ),
            (
                "Transferred",
                "Section, Pub. L. 1–2, was redesignated section 5 of the Kite Act by Pub. L. 2–3, § 2, and is classified to \
                 section 6 of Title 10, Kites.",
                Some("10 U.S.C. § 6"),
            ),
            ("Transferred", "Section 93 was transferred to section 4 of title XIV of Pub. L. 1–2.", None),
            ("Transferred", "Section, Pub. L. 1–2, is classified to section 6 of this title.", None),
            (
                "Transferred",
                "Section, Pub. L. 1–2, amended the law that is classified to section 6 of this title.",
                None,
            ),
            ("Transferred", "Section 93 was transferred to section 4 of Title 25 in part.", None),
            ("Transferred", "Section 94 was transferred to section 4 of Title 25.", None),
            (
                "Transferred",
                "Section was transferred and is set out as a note under section 4 of Title 25.",
                Some("25 U.S.C. § 4 note"),
            ),
            (
                "Transferred",
                "Section 93 was editorially reclassified as a note under section 5 of this title.",
                Some("42 U.S.C. § 5 note"),
            ),
            (
                "Transferred",
                "Section, Pub. L. 1–2, is about balloons. Section 2 is set out as a note under section 4 of Title 25.",
                None,
            ),
            (
                "Transferred",
                "Sections 93 and 94 were transferred to sections 4 and 5, respectively, of Title 25.",
                None,
            ),
            ("Transferred", "Section 93 was transferred to section 4 of former Title 5.", None),
        ] {
            let place = place.map(str::to_owned);
            let notes = note(CODIFICATION, codification);
            let found = Crosswalk::of(&section(Status::Transferred, heading, &notes));
            assert_eq!(found.now, place, "{heading} {codification}");
            assert_eq!(found.unread.is_empty(), place.is_some(), "{heading} {codification}");
        }
        assert_eq!(now("Renumbered § 354", "").as_deref(), Some("42 U.S.C. § 354"));
    }

    #[test]
    fn law_that_was_repealed_at_its_new_place_is_nowhere() {
        for place in ["section 4 of Title 25", "section 4 of former Title 5"] {
            let codification = format!("Section 93 was transferred to {place}, and subsequently repealed.");
            let notes = note(CODIFICATION, &codification);
            let found = Crosswalk::of(&section(Status::Transferred, "Transferred", &notes));
            assert_eq!((found.now, found.unread.len(), found.is_nowhere), (None, 0, true), "{place}");
        }
    }

    #[test]
    fn a_source_credit_says_which_section_of_an_act_it_is() {
        let read = |title, credit| {
            let notes = [];
            let section = SectionWords { title, credit: Some(credit), ..section(Status::InForce, "Kites", &notes) };
            let found = Crosswalk::of(&section);
            (found.act_sections, found.unread.len())
        };
        for (credit, sections, unread) in [
            (
                "(Pub. L. 89–110, title I, § 12, Aug. 6, 1965, 79 Stat. 443; Pub. L. 90–284, § 103(c), 82 Stat. 75.)",
                &["Pub. L. 89-110, § 12"][..],
                0,
            ),
            (
                "(Aug. 29, 1935, ch. 814, title I, § 103, formerly § 3, 49 Stat. 978.)",
                &["Act of Aug. 29, 1935, ch. 814, § 103"],
                0,
            ),
            (
                "(Pub. L. 93–236, title II, § 217, as added Pub. L. 97–35, title XI, § 1140(a), Aug. 13, 1981.)",
                &["Pub. L. 93-236, § 217"],
                0,
            ),
            (
                "(Pub. L. 105–277, div. G, title XXII, § 2219(c), Oct. 21, 1998, 112 Stat. 2681–817.)",
                &["Pub. L. 105-277, div. G, § 2219(c)"],
                0,
            ),
            ("(R.S. § 4812.)", &["R.S. § 4812"], 0),
            (
                "(Pub. L. 1–2, §§ 1–3, Jan. 2, 1974, 87 Stat. 1.)",
                &["Pub. L. 1-2, § 1", "Pub. L. 1-2, § 2", "Pub. L. 1-2, § 3"],
                0,
            ),
            ("(Pub. L. 1–2, §§ 4, 5A, Jan. 2, 1974, 87 Stat. 1.)", &["Pub. L. 1-2, § 4", "Pub. L. 1-2, § 5A"], 0),
            ("(Pub. L. 1–2, § 601(a)–(d), Jan. 2, 1974, 87 Stat. 1.)", &["Pub. L. 1-2, § 601(a)-(d)"], 0),
            ("(Mar. 24, 1928, ch. 240, 45 Stat. 366.)", &[], 0),
            ("(Mar. 24, 1928, ch. 240, 45 Stat. 366; Pub. L. 1–2, § 3, Jan. 2, 1974.)", &[], 0),
            ("(Added Pub. L. 1–2, § 3(a), Jan. 2, 1974, 87 Stat. 1.)", &[], 0),
            ("(Pub. L. 85–536, § 2[7], July 18, 1958, 72 Stat. 387.)", &[], 1),
        ] {
            assert_eq!(read("42", credit), (sections.iter().map(ToString::to_string).collect(), unread), "{credit}");
        }
        assert_eq!(read("17", "(Pub. L. 94–553, title I, § 101, Oct. 19, 1976, 90 Stat. 2546.)"), (vec![], 0));
    }

    #[test]
    fn the_credit_of_a_title_that_is_law_has_the_numbers_before_a_renumbering() {
        let read = |credit| {
            let notes = [];
            let section =
                SectionWords { title: "44", credit: Some(credit), ..section(Status::InForce, "Kites", &notes) };
            Crosswalk::of(&section).formerly
        };
        let twice = "(Pub. L. 90–620, Oct. 22, 1968, 82 Stat. 1287, § 2103; renumbered § 2107 and amended Pub. L. 98–497, \
                     § 4(a), 98 Stat. 2280; renumbered § 93, Pub. L. 99–1, § 2, 99 Stat. 2.)";
        assert_eq!(read(twice), ["44 U.S.C. § 2103", "44 U.S.C. § 2107"]);
        assert_eq!(read("(Added Pub. L. 90–620, § 7, 82 Stat. 1; renumbered § 93, Pub. L. 99–1, § 2.)"), [""; 0]);
        assert_eq!(read("(Pub. L. 90–620, Oct. 22, 1968, 82 Stat. 1287, § 2103; Pub. L. 98–497, § 4(a).)"), [""; 0]);
    }

    #[test]
    fn tables_of_the_title_are_about_the_numbers_that_it_began_with() {
        let mut dispositions = Dispositions::default();
        let head = ["Title 42 Former Sections", "Title 42 New Sections"].map(str::to_owned);
        dispositions.read("42", &head, &[["7", "93"].map(str::to_owned).to_vec()]);
        for (credit, formerly) in [
            (Some("(Pub. L. 111–350, § 3, Jan. 4, 2011, 124 Stat. 3787.)"), &["42 U.S.C. § 7"][..]),
            (Some("(Added Pub. L. 115–2, § 4(a), 98 Stat. 2280.)"), &[]),
            (Some("(Pub. L. 111–350, § 3, 124 Stat. 3787, § 92; renumbered § 93, Pub. L. 115–2.)"), &[]),
            (None, &[]),
        ] {
            let notes = [];
            let section =
                SectionWords { credit, dispositions: &dispositions, ..section(Status::InForce, "Kites", &notes) };
            let found = Crosswalk::of(&section);
            assert_eq!(
                (found.formerly, found.restates_earlier_code),
                (formerly.iter().map(ToString::to_string).collect(), !formerly.is_empty()),
                "{credit:?}"
            );
        }
    }

    #[test]
    fn notes_tie_names_of_acts_to_laws() {
        let names = |topic, text| {
            let found = Crosswalk::of(&section(Status::InForce, "Kites", &note(topic, text))).act_names;
            found.into_iter().map(|act| format!("{} = {}", act.name, act.law)).collect::<Vec<_>>()
        };
        for (topic, text, expected) in [
            (
                REFERENCES_IN_TEXT,
                "The Kite Act of 1935, referred to in subsec. (a), is act Aug. 29, 1935, ch. 814, 49 Stat. 977.",
                "Kite Act of 1935 = Act of Aug. 29, 1935, ch. 814",
            ),
            (
                REFERENCES_IN_TEXT,
                "The Kite Act, referred to in text, is title IV of Pub. L. 99–177, Dec. 12, 1985, 99 Stat. 1.",
                "Kite Act = Pub. L. 99-177",
            ),
            (
                REFERENCES_IN_TEXT,
                "The Kite Act, referred to in text, is div. G of Pub. L. 105–277, Oct. 21, 1998.",
                "Kite Act = Pub. L. 105-277, div. G",
            ),
            (
                REFERENCES_IN_TEXT,
                "The Kite Act, referred to in text, is Pub. L. 85–536, § 2[1 et seq.], July 18, 1958.",
                "",
            ),
            (REFERENCES_IN_TEXT, "This Act, referred to in text, is Pub. L. 85–536, July 18, 1958.", ""),
            (REFERENCES_IN_TEXT, "The effective date, referred to in text, is Jan. 1, 2000.", ""),
            (
                SHORT_TITLE,
                "Pub. L. 89–110, § 1, Aug. 6, 1965, 79 Stat. 437, provided: “That this Act shall be known as the ‘Kite Act of 1965’.”",
                "Kite Act of 1965 = Pub. L. 89-110",
            ),
            (
                "Short Title of 1970 Amendment",
                "Pub. L. 91–285, § 1, June 22, 1970, provided: “That this Act may be cited as the ‘Kite Act Amendments of 1970’.”",
                "Kite Act Amendments of 1970 = Pub. L. 91-285",
            ),
            (SHORT_TITLE, "Pub. L. 89–110, § 1, provided: “The Act of 1900 may be cited as the ‘String Act’.”", ""),
        ] {
            let expected: Vec<&str> = Some(expected).filter(|name| !name.is_empty()).into_iter().collect();
            assert_eq!(names(topic, text), expected, "{text}");
        }
    }
}
