//! Difficult cases of United States Legislative Markup that the larger documents of `uslm` do not contain.

use hornbook_corpus::layout::{LineKind, MarkKind};
use hornbook_corpus::outline::Status;
use hornbook_index_build::import::document::Parsed;

use crate::uslm::{content, keys, line, lines, notes, parse};

const NAMESPACE: &str = r#"xmlns="http://xml.house.gov/schemas/uslm/1.0""#;

/// A title with these sections and chapters. `meta` is data about the file.
fn title(meta: &str, within: &str) -> Parsed {
    parse(format!(
        "<uscDoc {NAMESPACE}><meta><docNumber>90</docNumber>{meta}</meta><main><title identifier='/us/usc/t90'>\
         <num value='90'>Title 90—</num><heading>HARBOURS</heading>{within}</title></main></uscDoc>"
    ))
}

fn section(meta: &str, within: &str) -> Parsed {
    title(
        meta,
        &format!(
            "<section identifier='/us/usc/t90/s1'><num value='1'>§ 1.</num><heading> Piers</heading>{within}</section>"
        ),
    )
}

#[test]
fn law_quoted_in_a_note_on_a_chapter_is_no_section_and_chapters_of_one_number_are_two() {
    let quoted = "<notes><note topic='shortTitle'><heading>Short Title</heading><p>It said: <quotedContent><section>\
                  <num value='1'>“SECTION 1.</num><content>Quoted.</content></section></quotedContent></p></note></notes>";
    let chapter = |heading: &str, notes: &str| {
        format!(
            "<chapter identifier='/us/usc/t90/ch1'><num value='1'>CHAPTER 1—</num><heading>{heading}</heading>{notes}</chapter>"
        )
    };
    let parsed = title("", &(chapter("PIERS", quoted) + &chapter("QUAYS", "")));
    assert_eq!(keys(&parsed), ["us/usc/t90", "us/usc/t90/ch1", "us/usc/t90/ch1~2"]);
    assert_eq!(content(&parsed, "us/usc/t90/ch1").notes.len(), 1);
}

#[test]
fn columns_are_tables_contents_are_left_out_and_a_sign_finds_its_note_anywhere() {
    let parsed = section(
        "",
        "<content><p>Fees:<ref class='footnoteRef' idref='f1'>1</ref></p>\
         <toc><layout><tocItem><column>Contents</column></tocItem></layout></toc>\
         <layout><header><column>Ship</column><column>Fee</column></header><item><column>small</column><column>5</column></item></layout>\
         <p>Paid.<note type='footnote' id='f1'><num>1</num> By day.</note></p></content>",
    );
    let own = content(&parsed, "us/usc/t90/s1");
    assert_eq!(
        lines(own),
        [line(0, "", "Fees:"), line(0, "", "Ship\tFee"), line(0, "", "small\t5"), line(0, "", "Paid.")]
    );
    let kinds: Vec<_> = own.layout.lines.iter().map(|line| line.kind().unwrap()).collect();
    assert_eq!(kinds, [LineKind::Paragraph, LineKind::TableHead, LineKind::TableRow, LineKind::Paragraph]);
    let marks: Vec<_> = own.layout.marks.iter().map(|mark| (mark.kind().unwrap(), mark.start, mark.target)).collect();
    assert_eq!(marks, [(MarkKind::Footnote, 5, 0)]);
    assert_eq!(notes(own), [("Footnote", "By day.")]);
}

#[test]
fn a_raised_number_refers_to_a_footnote_again_where_it_can() {
    let parsed = section(
        "",
        "<content><p>Fees <ref class='footnoteRef' idref='f1'>1</ref><note type='footnote' id='f1'><num>1</num> By day.</note>\
         of section 3(e) <sup>1</sup> of title 9, for 5 m<sup>1</sup>, are <sup>1</sup>⁄<sub>30</sub> of those due,<sup>2</sup> \
         and no more.<sup>1</sup></p><p><sup>1</sup> Remark.</p></content><subsection><num>(c)</num><heading> <sup>1</sup> \
         Bans</heading></subsection>",
    );
    let own = content(&parsed, "us/usc/t90/s1");
    let text = "Fees of section 3(e) of title 9, for 5 m1, are 1⁄30 of those due,2 and no more.\n1 Remark.\n(c) Bans";
    assert_eq!(own.text.as_deref(), Some(text));
    let footnotes = own.layout.marks.iter().filter(|mark| mark.kind() == Some(MarkKind::Footnote));
    let before: Vec<_> =
        footnotes.map(|mark| &text[..mark.start as usize]).map(|before| &before[before.len() - 4..]).collect();
    assert_eq!(before, ["Fees", "3(e)", "ore.", "\n(c)"]);
    let signs: Vec<_> = parsed.left_out.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(signs, ["1", "1", "1", "1", "1"], "those of the footnote, and those that refer to it again");
}

#[test]
fn notes_on_changes_to_come_end_a_section_or_make_it_uncertain() {
    let effect = |topic: &str, words: &str, repeal: &str| {
        let within = format!(
            "<content>Law.</content><sourceCredit>(<ref href='/us/pl/99/1'>Pub. L. 99–1</ref>.)</sourceCredit><notes>\
             <note topic='prospectiveAmendment'><heading>{topic}</heading><p>{words}</p></note>\
             <note topic='effectiveDate'><heading>Effective Date of Repeal</heading><p>{repeal}</p></note></notes>"
        );
        content(&section("", &within), "us/usc/t90/s1").effect.clone()
    };
    let day = "<date date='2022-12-23'>Dec. 23, 2022</date>";
    let repeal = format!(
        "Pub. L. 99–2, provided that the repeal of this section is effective on the date that is 5 years after {day}."
    );
    let repealed = effect("Repeal of Section", "For repeal of section, see below.", &repeal);
    assert_eq!((repealed.to.as_deref(), repealed.then), (Some("2027-12-23"), Some(Status::Repealed)));
    assert_eq!(repealed.remark.as_deref(), Some("Repeal of Section: For repeal of section, see below."));
    let subsection = effect("Repeal of Subsection (f)", &format!("Effective {day}, it is repealed."), &repeal);
    assert!(subsection.uncertain && subsection.to.is_none());
    assert_eq!(
        subsection.remark.as_deref(),
        Some("Repeal of Subsection (f): Effective Dec. 23, 2022, it is repealed.")
    );
    assert!(effect("Repeal of Section", "For contracts alone.", "").uncertain);
    assert!(effect("Amendments Not Shown in Text", "It was amended.", "").uncertain);
    assert!(!effect("Amendment of Analysis", "Item 12 is struck out.", "").is_stated());
}

/// The date of the present wording if the source credit names these laws and the notes contain these texts.
fn effective_from(meta: &str, laws: &[&str], topic: &str, notes: &[&str]) -> Option<String> {
    let law =
        |law: &&str| format!("<ref href='/us/pl/99/1'>{law}</ref>, <date date='1985-03-04'>Mar. 4, 1985</date>; ");
    let laws: String = laws.iter().map(law).collect();
    let day = |note: &&str| note.replace("1985-10-01", "<date date='1985-10-01'>Oct. 1, 1985</date>");
    let notes: String = notes.iter().map(|note| format!("<p>{}</p>", day(note))).collect();
    let within = format!(
        "<content>Law.</content><sourceCredit>({laws})</sourceCredit><notes><note topic='{topic}'>{notes}</note></notes>"
    );
    content(&section(meta, &within), "us/usc/t90/s1").effect.from.clone()
}

#[test]
fn dates_that_are_not_of_the_whole_present_wording_are_left_out() {
    let made = |day: &str| format!("<created>{day}T00:00:00</created>");
    let first = "Section effective 1985-10-01, see section 9 of this title.";
    let one = ["Pub. L. 99–1, § 1"];
    let day = || Some("1985-10-01".to_owned());
    assert_eq!(effective_from("", &one, "effectiveDate", &[first]), day());
    let other = first.replace("1985-10-01", "<date date='1986-10-01'>Oct. 1, 1986</date>");
    assert_eq!(effective_from("", &one, "effectiveDate", &[first, &other]), None);
    assert_eq!(effective_from(&made("1985-10-01"), &one, "effectiveDate", &[first]), day());
    assert_eq!(effective_from(&made("1985-09-30"), &one, "effectiveDate", &[first]), None);
    let two = ["Pub. L. 98–1, § 1", "Pub. L. 99–1, § 2"];
    let amended =
        |section: &str| format!("Amendment by section {section} of Pub. L. 99–1 effective 1985-10-01, see section 3.");
    assert_eq!(effective_from("", &two, "effectiveDateOfAmendment", &[&amended("2")]), day());
    assert_eq!(effective_from("", &two, "effectiveDateOfAmendment", &[&amended("5")]), None);
}

#[test]
fn rules_of_an_appendix_stand_in_the_order_of_the_document() {
    let rule = |number: &str| {
        format!(
            "<courtRule identifier='/us/usc/rule{number}'><num value='{number}'>Rule {number}.</num><content>Law.</content></courtRule>"
        )
    };
    let parsed = parse(format!(
        "<uscDoc {NAMESPACE}><meta><docNumber>90a</docNumber></meta><appendix><num value='90a'>Title 90—APPENDIX</num>\
         <heading>RULES</heading><courtRules><heading>RULES OF A PORT</heading>{}{}</courtRules></appendix></uscDoc>",
        rule("10"),
        rule("2")
    ));
    let [.., ten, two] = parsed.nodes.as_slice() else { panic!("{:?}", keys(&parsed)) };
    assert!(ten.content.citation.ends_with("Rule 10") && ten.sort < two.sort, "{:?}", keys(&parsed));
}
