//! Citations that a provision makes of its own code, without the code's name: pinpoints, lists, and words after them.

use hornbook_corpus::citation::EnclosingProvision;

use crate::grammar;

/// Checks what is found in texts of a provision.
#[track_caller]
fn check(cases: &[(&str, &str, &[&str])]) {
    let grammar = grammar();
    for (home, text, expected) in cases {
        let provision = grammar.parse(home).expect(home);
        let home = EnclosingProvision::of(&provision).expect("a place");
        let found = grammar.find_in_provision(text, home);
        let found: Vec<String> = found.map(|(_, citation)| grammar.format(&citation)).collect();
        assert_eq!(found, *expected, "{}: {text}", grammar.format(&provision));
    }
}

#[test]
fn a_section_with_its_pinpoint_may_follow_the_word_for_the_part() {
    check(&[
        ("Utah Code § 1-1-1", "under Subsection 38-1a-701(2):", &["Utah Code § 38-1a-701(2)"]),
        (
            "Utah Code § 1-1-1",
            "by Subsections 76-5-102(1), 76-5-103(2)(a), and 76-5-104(3) is",
            &["Utah Code § 76-5-102(1)", "Utah Code § 76-5-103(2)(a)", "Utah Code § 76-5-104(3)"],
        ),
        ("Utah Code § 1-1-1", "under Subsection (2) or Subsection 76-5-102 (4)", &["Utah Code § 76-5-102(4)"]),
        ("Utah Code § 1-1-1", "Subsection 2 or Paragraph 3(b)", &[]),
        (
            "Vt. Stat. Ann. tit. 1, § 5",
            "see subdivision 312(c)(5) of this title",
            &["Vt. Stat. Ann. tit. 1, § 312(c)(5)"],
        ),
        (
            "Vt. Stat. Ann. tit. 8, § 5",
            "subsections 829(b) and 63(c) of this chapter",
            &["Vt. Stat. Ann. tit. 8, § 829(b)", "Vt. Stat. Ann. tit. 8, § 63(c)"],
        ),
        (
            "Vt. Stat. Ann. tit. 11A, § 5",
            "subparagraph (i) of subsection 2.02(a) of this title",
            &["Vt. Stat. Ann. tit. 11A, § 2.02(a)(i)"],
        ),
        (
            "Vt. Stat. Ann. tit. 9A, § 2-101",
            "subsections 2-108(b) or 2-118(b) of this title",
            &["Vt. Stat. Ann. tit. 9A, § 2-108(b)", "Vt. Stat. Ann. tit. 9A, § 2-118(b)"],
        ),
        // Without a code after it, a plain number is the label of a part of the section itself.
        ("Vt. Stat. Ann. tit. 1, § 5", "subdivision 3 of this title, subsection 4(b) of this section", &[]),
        ("Iowa Code § 12.3", "subsection 2 of this section, subsection 2 of section 12.4", &["Iowa Code § 12.4(2)"]),
        ("Iowa Code § 12.3", "subsection 2 of this chapter and paragraph 4(a)", &[]),
        ("Nev. Rev. Stat. § 12.300", "subsection 2 of NRS 12.400; paragraph 1", &["Nev. Rev. Stat. § 12.400(2)"]),
        ("26 U.S.C. § 79", "under paragraph 2(a) or subsection 3(b)", &[]),
    ]);
}

#[test]
fn a_subdivision_of_the_next_section_is_none_of_the_one_before() {
    check(&[
        (
            "Conn. Gen. Stat. § 1-1",
            "of section 29-156a, subsection (a) or (b) of section 29-161q, section 31-10 or",
            &["Conn. Gen. Stat. § 29-156a", "Conn. Gen. Stat. § 29-161q", "Conn. Gen. Stat. § 31-10"],
        ),
        ("Conn. Gen. Stat. § 1-1", "section 12-3, subsection (b), applies", &["Conn. Gen. Stat. § 12-3(b)"]),
    ]);
}

#[test]
fn lists_go_on_after_inclusive() {
    check(&[
        (
            "SDCL § 1-1-1",
            "in §§22-19A-1, 22-24A-1 to 22-24A-20, inclusive, 22-24B-1, and 22-24B-2 is",
            &["SDCL § 22-19A-1", "SDCL §§ 22-24A-1 to 22-24A-20", "SDCL § 22-24B-1", "SDCL § 22-24B-2"],
        ),
        (
            "Conn. Gen. Stat. § 1-1",
            "sections 10-183b to 10-183s, inclusive, 10-184 and 10-185",
            &["Conn. Gen. Stat. §§ 10-183b to 10-183s", "Conn. Gen. Stat. § 10-184", "Conn. Gen. Stat. § 10-185"],
        ),
        ("SDCL § 1-1-1", "§§ 1-1-1 to 1-1-5, both inclusive, and chapter 3", &["SDCL §§ 1-1-1 to 1-1-5"]),
        ("SDCL § 1-1-1", "sections 12-1-1 to 12-1-5, inclusive, of the Harbor Act", &[]),
        ("SDCL § 1-1-1", "§ 12-1-1, inclusive of solar power", &["SDCL § 12-1-1"]),
        ("42 U.S.C. § 1", "sections 1981 to 1985, inclusive, of this title", &["42 U.S.C. §§ 1981 to 1985"]),
        ("42 U.S.C. § 1", "sections 1981, 1985 inclusive of this title", &["42 U.S.C. § 1981", "42 U.S.C. § 1985"]),
    ]);
}

#[test]
fn lists_go_on_after_remarks_and_signs() {
    check(&[
        (
            "D.C. Code § 1-1",
            "§§ 3-2610 [repealed], 47-2886.13, 22-3009.02 (second degree harm); 22-3009.03, and 12 others",
            &["D.C. Code § 3-2610", "D.C. Code § 47-2886.13", "D.C. Code § 22-3009.02", "D.C. Code § 22-3009.03"],
        ),
        (
            "D.C. Code § 1-1",
            "under § 25-741(a) and (b), 25-742, or 25-743",
            &["D.C. Code § 25-741(a)", "D.C. Code § 25-742", "D.C. Code § 25-743"],
        ),
        ("D.C. Code § 1-1", "under §§ 25-741(a) (note of May), 3 days", &["D.C. Code § 25-741(a)"]),
        (
            "RCW 2.68.010",
            "RCW 2.68.040, * 3.46.120, and/or 62A.9A-102 and RCW *10.77.129",
            &["RCW 2.68.040", "RCW 3.46.120", "RCW 62A.9A-102", "RCW 10.77.129"],
        ),
        (
            "42 U.S.C. § 1",
            "section 405(a) and (b) of this title, section 406(a), (b), or (c) of title 5",
            &["42 U.S.C. § 405(a)", "5 U.S.C. § 406(a)"],
        ),
        ("26 U.S.C. § 79", "section 401(a) or (b) of the Harbor Act", &[]),
        ("26 U.S.C. § 79", "section 401(a),\n(b) of the rest", &["26 U.S.C. § 401(a)"]),
        ("D.C. Code § 1-1", "in § 4-3.03(a)(7) or (b) of this section", &["D.C. Code § 4-3.03(a)(7)"]),
    ]);
}

#[test]
fn words_after_of_need_not_name_another_law() {
    check(&[
        (
            "D.C. Code § 1-1",
            "under § 31-1316 of an insurer, § 29-102.04 of a filed record, § 22-404 of a law enforcement officer",
            &["D.C. Code § 31-1316", "D.C. Code § 29-102.04", "D.C. Code § 22-404"],
        ),
        (
            "Haw. Rev. Stat. § 1-1",
            "in section 428-101, of not less than fifty, section 53-2 of the amount due, and section 53-3 of managing it",
            &["Haw. Rev. Stat. § 428-101", "Haw. Rev. Stat. § 53-2", "Haw. Rev. Stat. § 53-3"],
        ),
        (
            "Va. Code § 1-1",
            "§ 3.2-5216 of this article and § 6.2-1074, of one or more families",
            &["Va. Code § 3.2-5216", "Va. Code § 6.2-1074"],
        ),
        (
            "Va. Code § 1-1",
            "§ 1-2 of the Tax Law, § 1-3 of the Act of 1933, § 1-4 of such Act, § 1-5 of the City Charter, § 1-6 of an act \
             of 1920, § 1-7 of any such plan, § 1-8 of this act, § 1-9 of the former charter, § 1-10 of Harbor County",
            &[],
        ),
        (
            "Arden Rev. Stat. § 3-1",
            "under § 3-3 or § 3-4 of this subtitle",
            &["Arden Rev. Stat. § 3-3", "Arden Rev. Stat. § 3-4"],
        ),
    ]);
}

#[test]
fn words_before_a_bare_number_may_name_another_place() {
    check(&[
        (
            "Arden Rev. Stat. § 3-1",
            "City Code Article 14, §§ 11-9 and 11-10, Charter Article IV, § 6, State Ethics Article, § 5-1, Building Code § 109.6, \
             Ordinance 15-435, Section 2",
            &[],
        ),
        (
            "Arden Rev. Stat. § 3-1",
            "of this article § 3-2, for Article 3: § 3-3",
            &["Arden Rev. Stat. § 3-2", "Arden Rev. Stat. § 3-3"],
        ),
        // A provision whose own number has a dash shows that a dash makes no range.
        ("Arden Rev. Stat. § 3-1", "under §§ 3-9 through 3-11", &["Arden Rev. Stat. §§ 3-9 to 3-11"]),
        (
            "Vt. Stat. Ann. tit. 9A, § 2-1",
            "sections 2-108 and 2-112 of this title",
            &["Vt. Stat. Ann. tit. 9A, § 2-108", "Vt. Stat. Ann. tit. 9A, § 2-112"],
        ),
        ("Arden Rev. Stat. § 3", "under §§ 9-11", &["Arden Rev. Stat. §§ 9 to 11"]),
    ]);
}

#[test]
fn a_number_of_the_own_code_after_another_code_is_its_own() {
    check(&[
        ("D.C. Code § 1-1", "40 U.S.C. § 8124 and § 10-111", &["40 U.S.C. § 8124", "D.C. Code § 10-111"]),
        ("D.C. Code § 1-1", "5 U.S.C. § 551, § 552-559", &["5 U.S.C. § 551", "5 U.S.C. §§ 552 to 559"]),
        ("D.C. Code § 1-1", "40 U.S.C. § 8124 and § 8125", &["40 U.S.C. § 8124", "40 U.S.C. § 8125"]),
        ("D.C. Code § 1-1", "42 U.S.C. § 300aa-1, § 300aa-2", &["42 U.S.C. § 300aa-1", "42 U.S.C. § 300aa-2"]),
    ]);
}
