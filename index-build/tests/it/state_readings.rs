//! What reading states against their publishers' files found, each in a small file of the same form.

use hornbook_corpus::outline::Status;
use hornbook_index_build::content::Content;
use hornbook_index_build::report::WarningKind;

use crate::state_plans::{annotated, statutes};

fn text(content: &Content) -> &str {
    content.text.as_deref().unwrap()
}

fn days(content: &Content) -> (Option<&str>, Option<&str>) {
    (content.effect.from.as_deref(), content.effect.to.as_deref())
}

#[test]
fn a_compact_behind_the_source_credit_is_law() {
    let html = "<h1>Title 21</h1><h3><b>Sec. 21.42.700. Compact.</b></h3><p>The compact is law:</p>
        <p><b>History.</b> (§ 1 ch 39 SLA 2006)</p><p><b>INSURANCE COMPACT</b></p>
        <div><h4><b>ARTICLE I. PURPOSES</b></h4><p>They agree:</p><ol><li>One.</ol></div>
        <div><h4><b>ARTICLE II. END</b></h4><p>They leave.</p></div>
        <div><h4><b>Cross references. —</b></h4><p>See 1. Article I is quoted.</p></div>
        <h3><b>Sec. 21.42.705. Fees.</b></h3><p>None.</p><p><b>History.</b> (§ 1 ch 39 SLA 2006)</p>
        <p><b>Cross references. —</b></p><p>Article I of the compact.</p>";
    let imported = annotated("ak", html);
    let compact = imported.node("ak/stat/s21.42.700");
    assert_eq!(
        text(compact),
        "The compact is law:\nINSURANCE COMPACT\nARTICLE I. PURPOSES\nThey agree:\n(1) One.\nARTICLE II. END\nThey leave."
    );
    assert_eq!(compact.source_credit.as_deref(), Some("(§ 1 ch 39 SLA 2006)"));
    assert_eq!(compact.notes.len(), 1);
    assert_eq!(imported.count(WarningKind::DoubtfulEnd), 1, "it is named");
    assert_eq!(text(imported.node("ak/stat/s21.42.705")), "None.");
}

#[test]
fn north_dakota_has_credits_below_a_heading_and_by_another_name() {
    let html = "<h1>TITLE 1</h1><h3><b>1-01-02. Origin.</b></h3><p>Law is a rule.</p>
        <div><h4>Source:</h4><p>Civ. C. 1877, § 2; R.C. 1895, § 2690.</p></div>
        <h3><b>1-01-03. Fees.</b></h3><p>None.</p><p><b>History.</b> S.L. 2015, ch. 1, § 1.</p>";
    let imported = annotated("nd", html);
    let parts = |number: &str| {
        let node = imported.node(&format!("nd/cc/s{number}"));
        (text(node).to_owned(), node.source_credit.clone().unwrap(), node.notes.len())
    };
    assert_eq!(parts("1-01-02"), ("Law is a rule.".to_owned(), "Civ. C. 1877, § 2; R.C. 1895, § 2690.".to_owned(), 0));
    assert_eq!(parts("1-01-03"), ("None.".to_owned(), "S.L. 2015, ch. 1, § 1.".to_owned(), 0));
}

#[test]
fn chapters_of_mississippi_have_no_class_and_contain_articles() {
    let html = "<h1>TITLE 63</h1><h2><b>Chapter 3. Rules</b></h2><h2 class=articleh2><b>Article 1. General.</b></h2>
        <h3><b>§ 63-3-1. Way.</b></h3><p>Yield.</p><h2><b>Chapter 21. Titles</b></h2>
        <h2 class=articleh2><b>Article 1. General.</b></h2><h2 class=subchaph2><b>Words</b></h2>
        <h3><b>§ 63-21-1. Name.</b></h3><p>Titles.</p>";
    let imported = annotated("ms", html);
    let order: Vec<_> = imported.nodes.iter().map(|(key, _, depth)| (key.as_str(), *depth)).collect();
    let expected = [
        ("ms/code/t63", 0),
        ("ms/code/t63/ch3", 1),
        ("ms/code/t63/ch3/art1", 2),
        ("ms/code/s63-3-1", 3),
        ("ms/code/t63/ch21", 1),
        ("ms/code/t63/ch21/art1", 2),
        ("ms/code/t63/ch21/art1/words", 3),
        ("ms/code/s63-21-1", 4),
    ];
    assert_eq!(order, expected);
}

#[test]
fn numbers_of_lists_in_north_carolina_are_no_labels() {
    let html = "<h1>Chapter 29</h1><h3><b>§ 29-16. Shares.</b></h3><ol type=a><li id=s29-16ol1a>Shares:
        <ol><li id=s29-16ol1a1>One.<li id=s29-16ol1a12>Two.<li id=s29-16ol1a13>Three.</ol></ol>
        <p><b>History.</b> 1959, c. 879, s. 1.</p>";
    assert_eq!(text(annotated("nc", html).node("nc/gs/s29-16")), "(a) Shares:\n(1) One.\n(2) Two.\n(3) Three.");
}

#[test]
fn editors_notes_of_colorado_say_when_a_wording_is_law() {
    let html = "<h1>TITLE 6</h1>
        <h3><b>6-1-1301. Privacy.</b></h3><p>[Editor's note: This section is effective July 1, 2023.]</p><p>Be private.</p><p>Source: L. 2021: Entire part added, p. 3445, § 1.</p>
        <h3><b>6-1-2. Fees.</b></h3><p>[Editor's note: This version of this section is effective until January 1, 2023.] One.</p><p>Source: L. 2020: p. 1.</p>
        <h3><b>6-1-2. Fees and costs.</b></h3><p>[Editor's note: This version of this section is effective January 1, 2023.] Two.</p><p>Source: L. 2022: p. 1.</p>
        <h3><b>6-1-3. Tolls.</b></h3><p>[Editor's note: This section was moved.]</p><p>Pay.</p><p>Source: L. 2020: p. 1.</p>";
    let imported = annotated("co", html);
    let privacy = imported.node("co/rs/s6-1-1301");
    assert_eq!((text(privacy), days(privacy)), ("Be private.", (Some("2023-07-01"), None)));
    let fees = imported.node("co/rs/s6-1-2");
    assert_eq!((text(fees), days(fees)), ("One.", (None, Some("2023-01-01"))));
    assert_eq!((text(&fees.wordings[0]), days(&fees.wordings[0])), ("Two.", (Some("2023-01-01"), None)));
    assert_eq!(text(imported.node("co/rs/s6-1-3")), "[Editor's note: This section was moved.]\nPay.");
}

#[test]
fn notes_in_headings_of_connecticut_are_dates() {
    let entries = [
        (
            "10-16n.",
            "(Note: This section is repealed, effective July 1, 2025.) Head Start.",
            "A child may learn.\n\n(P.A. 97-259, S. 1.)",
        ),
        (
            "10-550.",
            "(Note: This section is effective July 1, 2025.) Early Start.",
            "A child shall learn.\n\n(P.A. 24-78, S. 1.)",
        ),
    ];
    let imported = statutes("CT", "title-title-10/chapter-chapter-164", &entries);
    let gone = imported.node("ct/gs/s10-16n");
    assert_eq!((gone.heading.as_str(), days(gone)), ("Head Start.", (None, Some("2025-07-01"))));
    assert_eq!(gone.effect.then, Some(Status::Repealed));
    assert_eq!(days(imported.node("ct/gs/s10-550")), (Some("2025-07-01"), None));
}

#[test]
fn remarks_of_south_carolina_stand_above_the_law_and_title_62_is_numbered_by_its_addresses() {
    let entries = [
        (
            "40-57-360",
            "",
            "Section effective May 15, 2027. See, also, Section 40-57-360 effective until May 15, 2027.\n\nA broker shall pay.\n\nHISTORY: 2016 Act No. 170, Section 1.",
        ),
        (
            "12-6-3775",
            "",
            "Section effective until December 31, 2024.\n\nA credit is given.\n\nHISTORY: 2016 Act No. 171, Section 1.",
        ),
        (
            "12-6-2",
            "",
            "[This section is repealed upon certification. See Editor's Note.]\n\nA fee is due.\n\nHISTORY: 2016 Act No. 171, Section 1.",
        ),
        ("12-6-1", "", "Section effective rules are made by the board.\n\nHISTORY: 2016 Act No. 171, Section 1."),
    ];
    let imported = statutes("SC", "title-title-40/chapter-chapter-57", &entries);
    let broker = imported.node("sc/code/s40-57-360");
    assert_eq!((text(broker), days(broker)), ("A broker shall pay.", (Some("2027-05-15"), None)));
    let credit = imported.node("sc/code/s12-6-3775");
    assert_eq!((text(credit), days(credit)), ("A credit is given.", (None, Some("2024-12-31"))));
    let fee = imported.node("sc/code/s12-6-2");
    assert_eq!((text(fee), fee.effect.uncertain), ("A fee is due.", true));
    assert_eq!(text(imported.node("sc/code/s12-6-1")), "Section effective rules are made by the board.");

    let address = |year: u16| format!("x/{year}/title-62/article-2/section-62-2-101/");
    let page = |year: u16| {
        (
            format!("{year} S.C. Code of Laws"),
            address(year),
            format!("Words of {year}.\n\nHISTORY: 1986 Act No. 539, Section 1."),
        )
    };
    let [(new, at_new, law), (old, at_old, before)] = [page(2023), page(2022)];
    let json = crate::state_json::chapter(
        "title-title-62/chapter-section-62-2-101",
        &[(&new, "", &law), (&old, "", &before), ("Next", "", "The share is:")],
    );
    let json = json
        .replace("law.example/2023 S.C. Code of Laws", &at_new)
        .replace("law.example/2022 S.C. Code of Laws", &at_old);
    let imported = crate::state_plans::statutes_of("SC", &json);
    let share = imported.node("sc/code/s62-2-101");
    assert_eq!(text(share), "Words of 2023.");
    let order: Vec<_> = imported.nodes.iter().map(|(key, _, _)| key.as_str()).collect();
    assert_eq!(order, ["sc/code/t62", "sc/code/s62-2-101"], "a document of one section is no chapter");
}

#[test]
fn missouri_prints_stars_and_banners_before_numbers_and_dashes_without_a_full_stop() {
    let entries = [
        (
            "8.500",
            "",
            "Title II SOVEREIGNTY\n\n*8.500. Citation. —Sections 8.500 to 8.565 are the act.\n\n(L. 2002 S.B. 1191)",
        ),
        (
            "9.289",
            "",
            "There are multiple enactments of 9.289\n\nTitle II SOVEREIGNTY\n\n*9.289. Week, in May. —1. The week is known.\n\n2. It ends.\n\n(L. 2022 H.B. 1738)",
        ),
        ("1.310", "", "1.310. Off my back act — mandates not subject —1. This section is the act.\n\n(L. 2009 H.B. 1)"),
    ];
    let imported = statutes("MO", "title-title-ii/chapter-chapter-8", &entries);
    let parts = |number: &str| {
        let node = imported.node(&format!("mo/rs/s{number}"));
        (node.heading.clone(), text(node).to_owned())
    };
    let pair = |heading: &str, law: &str| (heading.to_owned(), law.to_owned());
    assert_eq!(parts("8.500"), pair("Citation", "Sections 8.500 to 8.565 are the act."));
    assert_eq!(parts("9.289"), pair("Week, in May", "1. The week is known.\n2. It ends."));
    assert_eq!(parts("1.310"), pair("Off my back act — mandates not subject", "1. This section is the act."));
}

#[test]
fn a_heading_that_is_only_a_status_ends_a_section_however_long_its_notes_are() {
    let notes = "Repeals.— Laws 1985, ch. 168, § 1 repealed this section. ".repeat(8);
    let imported = statutes("NM", "title-chapter-1/article-article-6", &[("1-6-5.2", "Repealed.", &notes)]);
    assert_eq!(imported.node("nm/stat/s1-6-5.2").status, Some(Status::Repealed));
}

#[test]
fn feet_of_iowas_pages_are_no_law() {
    let foot = |number: &str| format!("Sat Dec 23 00:53:08 2023 Iowa Code 2024, Section {number} (15, 0)");
    let reports = format!(
        "521F.3 Reports.\n\n1. An organization shall submit to be completed {}\n\n§521F.3, REPORTS\n\n2\n\nat the time of filing. 2000 Acts, ch 1050, §3; 2000 Acts, ch 1232, §79Referred to in §521F.2 {}",
        foot("521F.3"),
        foot("521F.3")
    );
    let reserved = format!("633.854 Reserved\n\nReserved. {}", foot("633.854"));
    let service = format!(
        "515.77 Service.\n\nNotice shall be made. [C97, §1722; C24, 39, §\n\n8953;\n\nC46, §515.74]92 Acts, ch 1162, §38 {}",
        foot("515.77")
    );
    let entries = [
        ("521F.3", "Reports.", reports.as_str()),
        ("633.854", "Reserved", &reserved),
        ("515.77", "Service.", &service),
    ];
    let imported = statutes("IA", "title-title-xiii/chapter-chapter-521f", &entries);
    let node = |number: &str| imported.node(&format!("ia/code/s{number}"));
    let reports = node("521f.3");
    assert_eq!(text(reports), "1. An organization shall submit to be completed at the time of filing.");
    assert_eq!(reports.source_credit.as_deref(), Some("2000 Acts, ch 1050, §3; 2000 Acts, ch 1232, §79"));
    assert_eq!(reports.notes.len(), 1);
    assert_eq!((text(node("633.854")), node("633.854").status), ("Reserved.", Some(Status::Reserved)));
    assert_eq!(text(node("515.77")), "Notice shall be made.");
    assert_eq!(
        node("515.77").source_credit.as_deref(),
        Some("[C97, §1722; C24, 39, § 8953; C46, §515.74]92 Acts, ch 1162, §38")
    );
}

#[test]
fn what_michigan_prints_before_it_is_law_is_a_wording() {
    let banner = |number: &str, words: &str| {
        format!(
            "***** {number} {words} *****\n\n{number} Cards.\n\nSec. 1. Words of {number}.\n\nHistory: 1972, Act 222"
        )
    };
    let now = "28.291 Cards.\n\nSec. 1. The card is free.\n\nHistory: 1972, Act 222";
    let dated = banner("28.291.amended", "THIS AMENDED SECTION IS EFFECTIVE JUNE 30, 2025");
    let undated =
        banner("400.803.new", "THIS NEW SECTION IS EFFECTIVE 91 DAYS AFTER ADJOURNMENT OF THE 2024 REGULAR SESSION");
    let entries =
        [("28.291", "Cards.", now), ("28.291.amended", "Cards.", dated.as_str()), ("400.803.new", "Cards.", &undated)];
    let imported = statutes("MI", "title-chapter-28/act-act-222", &entries);
    let card = imported.node("mi/cl/s28.291");
    assert_eq!((days(card), card.wordings.len()), ((None, None), 1));
    assert_eq!(days(&card.wordings[0]), (Some("2025-06-30"), None));
    assert!(imported.node("mi/cl/s400.803").effect.uncertain, "its day is not known");
}

#[test]
fn credits_of_north_carolina_have_further_forms() {
    let credits = [
        "(1869-70, c. 188; 1933, c. 493.)",
        "(1985 (Reg. Sess., 1986), c. 999, s. 1.)",
        "(2011-399, s. 1.)",
        "(R.C., c. 17, s. 1.)",
    ];
    let sections: Vec<String> = (1..)
        .zip(credits)
        .map(|(number, credit)| format!("<h3><b>§ 45-{number}. Deeds.</b></h3><p>A deed is one.</p><p>{credit}</p>"))
        .collect();
    let imported = annotated("nc", &format!("<h1>Chapter 45</h1>{}", sections.concat()));
    for (number, credit) in (1..).zip(credits) {
        let deed = imported.node(&format!("nc/gs/s45-{number}"));
        assert_eq!((text(deed), deed.source_credit.as_deref()), ("A deed is one.", Some(credit)));
    }
}

#[test]
fn a_heading_may_repeal_a_range_in_a_sentence() {
    let heading = "to 33-94. - Sections 33-67 to 33-94, inclusive, are repealed.";
    let imported = statutes("CT", "title-title-33/chapter-chapter-590", &[("33-67", heading, "(1949 Rev., S. 1.)")]);
    let range = imported.node("ct/gs/s33-67");
    assert_eq!(range.status, Some(Status::Repealed));
    assert_eq!(range.parallel_citations.last().map(String::as_str), Some("Conn. Gen. Stat. § 33-94"));
}

#[test]
fn a_section_may_have_only_a_bold_paragraph_as_its_heading() {
    let html = "<h1>TITLE 2</h1><h3><b>2-05-22. Fees.</b></h3><p>None.</p><p><b>History.</b> S.L. 2015, ch. 6, § 3.</p>
        <p class=p7><b>2-05-23 Fund.</b></p><p>There is a fund.</p><p><b>Source:</b> S.L. 2019, ch. 504, § 1.</p>
        <p><b>2-05-22. As it was before.</b></p><p><b>2-05-24. Cats.</b></p><p><b>1. In general.</b></p>
        <h3><b>2-05-24. Dogs.</b></h3><p>None.</p>";
    let imported = annotated("nd", html);
    let fund = imported.node("nd/cc/s2-05-23");
    assert_eq!((fund.heading.as_str(), text(fund)), ("Fund.", "There is a fund."));
    assert_eq!(fund.source_credit.as_deref(), Some("S.L. 2019, ch. 504, § 1."));
    assert_eq!((imported.nodes.len(), imported.count(WarningKind::Misplaced)), (4, 1), "a title and three sections");
}

#[test]
fn sections_of_a_compact_behind_the_source_credit_are_law_if_they_are_announced() {
    let compact = |law: &str| {
        let html = format!(
            "<h1>Title 33</h1><h3><b>33-36-202. Compact.</b></h3><p>{law}</p><p><b>History.</b> 2020 ch. 128, § 1.</p>
             <h4>Section 1. Purpose</h4><p>They agree.</p><h4>Section 2. End</h4><p>They leave.</p>"
        );
        let imported = annotated("wy", &html);
        (text(imported.node("wy/stat/s33-36-202")).to_owned(), imported.count(WarningKind::DoubtfulEnd))
    };
    let whole = "It is as follows:\nSection 1. Purpose\nThey agree.\nSection 2. End\nThey leave.";
    assert_eq!(compact("It is as follows:"), (whole.to_owned(), 1));
    assert_eq!(compact("It is ratified."), ("It is ratified.".to_owned(), 0), "an act that is quoted");
}

#[test]
fn several_sections_without_dashes_in_their_numbers_are_a_range() {
    let heading = |heading: &str| format!("<h3><b>{heading}</b></h3><p>Repealed.</p>");
    let titled = |heads: [&str; 3]| format!("<h1>TITLE 1</h1>{}", heads.map(heading).concat());
    let imported = annotated("vt", &titled(["§§ 781-784. Repealed.", "§§ 801, 802. Repealed.", "§ 900. Repealed."]));
    let others = |key: &str| imported.node(key).parallel_citations.join("; ");
    let numbers = "Vt. Stat. Ann. tit. 1, § 782; Vt. Stat. Ann. tit. 1, § 783; Vt. Stat. Ann. tit. 1, § 784";
    assert_eq!(others("vt/stat/t1/s781"), numbers);
    assert_eq!(others("vt/stat/t1/s801"), "Vt. Stat. Ann. tit. 1, § 802");
    let dashed = annotated("vt", &titled(["§§ 2-101. Repealed.", "§ 2-102. Repealed.", "§ 2-103. Repealed."]));
    assert!(dashed.node("vt/stat/t1/s2-101").parallel_citations.is_empty(), "numbers of the code have dashes");
    let one_sign = "<h1>Title 19</h1><h3><b>§ 19-9-801 through 19-9-803. Guard.</b></h3><p>[Repealed.]</p>";
    let guard = annotated("wy", one_sign);
    let guard = guard.node("wy/stat/s19-9-801");
    assert_eq!((guard.heading.as_str(), guard.parallel_citations.len()), ("Guard.", 2));
}

#[test]
fn amendments_that_failed_are_no_law_of_a_constitution() {
    let html = "<h1>Code of Virginia</h1><h3><b>§ 11-1. Work.</b></h3><p><b>Defeat of proposed amendment. —</b></p>
        <p>“That work is free.”</p><h3><b>§ 11-2. Fees.</b></h3><p>None are due.</p>
        <p><b>The 1996 amendments.</b> They added a fee.</p><h3><b>§ 11-3. Dogs.</b></h3><p>A dog is one.</p>
        <p><b>Proposed amendment. —</b></p><p>“Section 11-3. A dog is two.”</p>";
    let imported = annotated("va", html);
    let parts = |number: &str| {
        let node = imported.node(&format!("va/code/s{number}"));
        (node.status.unwrap(), text(node).to_owned(), node.notes.len())
    };
    assert_eq!(parts("11-1"), (Status::Reserved, String::new(), 1));
    assert_eq!(parts("11-2"), (Status::InForce, "None are due.".to_owned(), 1));
    assert_eq!(parts("11-3"), (Status::InForce, "A dog is one.".to_owned(), 1));
}

#[test]
fn labels_in_bold_outside_lists_are_labels() {
    let html =
        "<h1>Title 47.1</h1><h3><b>§ 47.1-24. Board.</b></h3><ol type=A><li>It meets:<ol><li>here;<li>there.</ol></ol>
        <p><b>B.</b> It sits.</p><p><b>C.</b> It hears.</p><ol><li>One.</ol><p>(2019, c. 1.)</p>";
    let imported = annotated("va", html);
    let board = imported.node("va/code/s47.1-24");
    let lines = text(board).lines().zip(&board.layout.lines);
    let places: Vec<_> = lines.map(|(text, line)| format!("{}{}", line.depth, &text[..line.label_bytes()])).collect();
    assert_eq!(places, ["0A.", "11.", "12.", "0B.", "0C.", "11."]);
}

#[test]
fn washington_prints_cross_references_behind_the_source_credit() {
    let text_of =
        "Fire.\n\nFire may be fought.\n\n[ 1974 ex.s. c 51 s 1.]\n\nAmbulances may be run by county: RCW 36.01.100.";
    let imported = statutes("WA", "title-title-36/chapter-chapter-36-32", &[("36.32.470", "Fire.", text_of)]);
    let fire = imported.node("wa/rcw/s36.32.470");
    assert_eq!((text(fire), fire.notes.len()), ("Fire may be fought.", 1));
    assert_eq!(fire.source_credit.as_deref(), Some("1974 ex.s. c 51 s 1."));
}

#[test]
fn a_section_that_one_act_repealed_and_another_amended_is_uncertain() {
    let text_of =
        |note: &str| format!("RCW 36.32.470\n\nFire.\n\nFire may be fought.\n\n[ 1974 ex.s. c 51 s 1.]\n\n{note}");
    for (note, remark) in [
        (
            "Reviser's note: RCW 36.32.470 was amended by 2020 1st sp.s. c 312 s 725 without cognizance of its repeal by 2020 c 41 s 5. For rule of construction, see RCW 1.12.025.",
            Some(
                "RCW 36.32.470 was amended by 2020 1st sp.s. c 312 s 725 without cognizance of its repeal by 2020 c 41 s 5",
            ),
        ),
        (
            "Reviser's note: This section was also repealed by 1989 c 270 s 35, without cognizance of its amendment by 1989 c 271 s 308.",
            Some(
                "This section was also repealed by 1989 c 270 s 35, without cognizance of its amendment by 1989 c 271 s 308",
            ),
        ),
        (
            "Reviser's note: *(2) RCW 41.31A.020 was repealed by 2007 c 491 s 13 without cognizance of its amendment by 2007 c 491 s 1.",
            None,
        ),
    ] {
        let imported =
            statutes("WA", "title-title-36/chapter-chapter-36-32", &[("36.32.470", "Fire.", &text_of(note))]);
        let effect = &imported.node("wa/rcw/s36.32.470").effect;
        assert_eq!((effect.remark.as_deref(), effect.uncertain), (remark, remark.is_some()), "{note}");
    }
}

#[test]
fn a_heading_that_the_source_lacks_is_not_the_first_subsection() {
    let law = "RCW 62A.8-210\n\n(1) In this section, \"overissue\" means the issue of too many.\n\n(2) It is void.\n\n[ 1995 c 48 s 1.]";
    let imported = statutes("WA", "title-title-62A/chapter-62A.8", &[("2024 Rev. Code of Wash.", "", law)]);
    let section = imported.node("wa/rcw/s62a.8-210");
    assert_eq!(section.heading, "");
    assert_eq!(text(section), "(1) In this section, \"overissue\" means the issue of too many.\n(2) It is void.");
}

#[test]
fn a_heading_that_was_cut_within_a_number_is_completed() {
    let printed = "26.26A.265 Rule-making authority—RCW 26.26A.200 through 26";
    let law =
        "Rule-making authority—RCW 26.26A.200 through 26.26A.265.\n\nThe secretary may make rules.\n\n[ 2018 c 6 s 1.]";
    let (number, heading) = printed.split_once(' ').unwrap();
    let imported = statutes("WA", "title-title-26/chapter-chapter-26-26A", &[(number, heading, law)]);
    let section = imported.node("wa/rcw/s26.26a.265");
    assert_eq!(section.heading, "Rule-making authority—RCW 26.26A.200 through 26.26A.265.");
    assert_eq!(text(section), "The secretary may make rules.");
}

#[test]
fn rules_behind_a_source_line_are_law() {
    let law = "16-18-A. Rules of Conduct.\n\nRule 1.1. Competence. A lawyer shall be competent.\n\nSource: SL 2004, ch 327.\n\n\
               Rule 1.7. Conflicts\n\n(a) A lawyer shall not take two sides.";
    let imported = statutes("SD", "title-title-16/chapter-chapter-16-18", &[("16-18-A", "Rules of Conduct.", law)]);
    let rules = imported.node("sd/sdcl/s16-18-a");
    assert!(text(rules).ends_with("Rule 1.7. Conflicts\n(a) A lawyer shall not take two sides."), "{}", text(rules));
    assert_eq!(imported.count(WarningKind::DoubtfulCredit), 1);
}
