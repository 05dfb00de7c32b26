use super::*;

/// From, to, and the status that follows; `?` for a remark that is not understood.
fn said(remark: &str) -> String {
    let Some(effect) = read(remark) else { return "none".into() };
    if effect.uncertain {
        assert!(effect.from.is_none() && effect.to.is_none());
        return "?".into();
    }
    let of = |date: Option<String>| date.unwrap_or_else(|| "-".into());
    let then = effect.then.map_or(String::new(), |then| format!(" {}", then.as_str()));
    format!("{} {}{then}", of(effect.from), of(effect.to))
}

#[test]
fn understood_remarks_give_days() {
    for (remark, expected) in [
        ("Effective July 1, 2027", "2027-07-01 -"),
        ("effective on and after Sept. 1, 2027", "2027-09-01 -"),
        ("Effective until July 1, 2022", "- 2022-07-01"),
        ("Effective through June 30, 2022", "- 2022-07-01"),
        ("Effective July 1, 2022, until July 1, 2024", "2022-07-01 2024-07-01"),
        ("Effective from July 1, 2022 through December 31, 2023", "2022-07-01 2024-01-01"),
        ("Expires July 1, 2024", "- 2024-07-01 expired"),
        ("Effective July 1, 2023. See note.", "2023-07-01 -"),
        ("Expires June 30, 2024 — see notes", "- 2024-06-30 expired"),
        ("Repealed effective July 1, 2007; See 5/23/2007 LRC Note.", "- 2007-07-01 repealed"),
        ("Repealed effective after June 30, 2023", "- 2023-07-01 repealed"),
        ("Effective January 2, 2023; Effective until January 1, 2031", "2023-01-02 2031-01-01"),
        ("Repealed effective January 1, 2025; Effective until January 1, 2025", "- 2025-01-01 repealed"),
        ("Effective until July 1, 2020, this section will read as follows:", "- 2020-07-01"),
        ("Effective from and after January 1 2020, this section will read as follows:", "2020-01-01 -"),
        ("From and after July 1, 2021, this section shall read as follows:", "2021-07-01 -"),
        ("Through June 30, 2021, this section shall read as follows:", "- 2021-07-01"),
        ("Subsection (3) repealed effective July 1, 2020", "- 2020-07-01 uncertain"),
        ("Subsections (4) and (10) through (15) repealed effective July 1, 2024", "- 2024-07-01 uncertain"),
        ("Last paragraph repealed effective July 1, 2020", "- 2020-07-01 uncertain"),
        ("Superseded 07/01/14", "- 2014-07-01 uncertain"),
        ("Repealed 05/01/13", "- 2013-05-01 repealed"),
        ("Repealed effective January 1, 2024", "- 2024-01-01 repealed"),
        ("Renumbered to Wyo. Stat. § 14-6-601, effective July 1, 2024", "2024-07-01 -"),
        ("Effective until January 1, 2026. Recodified as RCW 29B.25.020.", "- 2026-01-01 transferred"),
        (
            "Section 753 effective until July 1, 2022; see also section 753 effective July 1, 2022 set out below.",
            "- 2022-07-01",
        ),
        (
            "Section effective until June 30, 2026. For section effective July 1, 2026, see below. L 2021, c 8, §§2, 13.",
            "- 2026-07-01",
        ),
        ("Section effective July 1, 2026. For section effective until June 30, 2026, see above.", "2026-07-01 -"),
        (
            "Section effective January 2, 2019, and repealed June 30, 2023. L 2018, c 196, §9.",
            "2019-01-02 2023-06-30 repealed",
        ),
        ("Section repealed June 30, 2030. L 2025, c 9, §4.", "- 2030-06-30 repealed"),
        ("Repeal and reenactment on June 30, 2028. L 2024, c 45, §4.", "- 2028-06-30 uncertain"),
        (
            "Repeal and reenactment on July 1, 2018, by L 2013, c 67, §2, as shown in the main volume, deleted by L 2016, c 231, §69.",
            "- -",
        ),
        ("Repeal of section on June 30, 2014, by L 2011, c 1 deleted by L 2012, c 2.", "- -"),
    ] {
        assert_eq!(said(remark), expected, "{remark}");
    }
}

#[test]
fn other_remarks_give_no_days() {
    for remark in [
        "Effective from July 1, 2022, until the later of July 1, 2028, or seven years after the state of emergency expires",
        "Effective the later of July 1, 2028, or 7 years after the emergency expires",
        "For effective date — see notes",
        "For effective date, see note.",
        "Contingent effective date; see note.",
        "Effective upon contingency — See compiler’s note.",
        "For contingent expiration date, see Acts 2021, Sp. Sess. I, c. 313, cl. 2",
        "Contingently effective, see effective date note.",
        "Effective February 31, 2022",
        "Superseded 02/31/14",
        "Superseded 07/01/98",
        "Effective July 1, 2022, with exceptions",
        "Text of section effective the first plan year on or after January 1, 2019",
        "as amended by 2025 c 58",
        "EFFECTIVE UPON A STATE’S PARTICIPATION IN A REPOSITORY",
        "Contingent repeal.",
        "Effective until July 1, 2028; contingent expiration date.",
        "Effective July 1, 2024, until July 1, 2022",
        "Section effective until June 30, 2026. For section effective August 1, 2026, see below.",
        "Section effective until L 2025, c 289 takes effect. For section effective after L 2025, c 289 takes effect, see below.",
        "Repeal and reenactment on June 30, 2028. L 2024, c 45, §4. Repeal and reenactment on July 1, 2030. L 2023, c 90.",
        "For repeal date — see notes",
        "See Editor’s Note",
        "See effective date of amendment in note set out below",
    ] {
        assert_eq!(said(remark), "?", "{remark}");
        assert_eq!(read(remark).unwrap().remark.as_deref(), Some(remark));
    }
    let proposed = read("Proposed amendment — see Editor’s note").unwrap();
    assert!(!proposed.uncertain && proposed.from.is_none() && proposed.to.is_none() && proposed.remark.is_some());
    for law in [
        "as amended by this act",
        "a",
        "Repealed",
        "Repealed 1973",
        "Expired",
        "Untilled land",
        "definitions",
        "Sections 1 to 4",
        "repealing law",
    ] {
        assert_eq!(said(law), "none", "{law}");
    }
}

#[test]
fn a_wording_in_a_container_with_a_remark_has_the_narrower_time() {
    let container = read("Effective July 1, 2022, until July 1, 2024").unwrap();
    let within = |from: Option<&str>, to: Option<&str>| {
        let own = Effect {
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
            remark: Some("Own".to_owned()),
            ..Effect::default()
        };
        let Effect { from, to, remark, uncertain, .. } = own.within(&container);
        (from.unwrap_or_default(), to.unwrap_or_default(), remark.unwrap(), uncertain)
    };
    let both = || "Own; Effective July 1, 2022, until July 1, 2024".to_owned();
    let known = |from: &str, to: &str, remark: String| (from.to_owned(), to.to_owned(), remark, false);
    let unknown = || (String::new(), String::new(), both(), true);
    assert_eq!(within(None, None), known("2022-07-01", "2024-07-01", both()));
    assert_eq!(within(Some("2021-01-01"), None), known("2022-07-01", "2024-07-01", both()));
    assert_eq!(within(Some("2023-01-01"), Some("2024-01-01")), known("2023-01-01", "2024-01-01", "Own".to_owned()));
    assert_eq!(within(None, Some("2025-01-01")), known("2022-07-01", "2025-01-01", both()), "its own remark says so");
    let unsaid = Effect { to: Some("2025-01-01".into()), ..Effect::default() };
    assert!(unsaid.within(&container).uncertain, "it ends after its container");
    assert_eq!(within(Some("2024-07-01"), None), unknown(), "it begins when its container is over");
    let doubtful = || Effect { uncertain: true, ..Effect::default() };
    assert_eq!(doubtful().within(&container), doubtful());
    let note = read("Proposed amendment — see Editor’s note").unwrap();
    assert_eq!(Effect::default().within(&note), Effect::default());
    assert!(Effect::starting(Some("2021-01-01".into())).within(&Effect::unknown("Contingent")).uncertain);
}

#[test]
fn headings_have_remarks_before_and_behind_them() {
    let of = |heading: &str| {
        let (effect, rest) = of_heading(heading);
        (effect.from.unwrap_or_default(), effect.to.unwrap_or_default(), rest)
    };
    let expected = |from: &str, to: &str, rest: &str| (from.to_owned(), to.to_owned(), rest.to_owned());
    assert_eq!(of("(Effective until July 1, 2022) Powers."), expected("", "2022-07-01", "Powers."));
    assert_eq!(of("Powers. [Effective July 1, 2024]"), expected("2024-07-01", "", "Powers."));
    assert_eq!(of("Powers [Effective July 1, 2024]."), expected("2024-07-01", "", "Powers"));
    let both = "(Effective July 1, 2022) (Expires July 1, 2024) Powers";
    assert_eq!(of(both), expected("2022-07-01", "2024-07-01", "Powers"));
    assert_eq!(of_heading(both).0.remark.as_deref(), Some("Effective July 1, 2022; Expires July 1, 2024"));
    let behind = "Powers (as amended by 2025 c 5). (Effective July 1, 2026.)";
    assert_eq!(of_heading(behind).0.remark.as_deref(), Some("as amended by 2025 c 5; Effective July 1, 2026."));
    let doubtful = of_heading("(Effective July 1, 2022) (For contingent expiration, see notes) Powers").0;
    assert!(doubtful.uncertain && doubtful.from.is_none());
    assert_eq!(of("Powers (see notes)"), expected("", "", "Powers (see notes)"));
    assert_eq!(of("(Effective July 1, 2022)"), expected("", "", "(Effective July 1, 2022)"));
    assert_eq!(of("(Repealed) Powers"), expected("", "", "(Repealed) Powers"));
}

/// Examples from Vermont, Wyoming and Virginia.
#[test]
fn a_partial_effective_date_in_the_text_is_found() {
    for (text, remark) in [
        (
            "(g) Now.\nSubsection (h) effective until July 1, 2026; see also subsection (h) effective July 1, 2026 set out below.\n(h) Old.",
            "Subsection (h) effective until July 1, 2026; see also subsection (h) effective July 1, 2026 set out below",
        ),
        (
            "(a) Schools. Subdivision (3)(A)(i) effective July 1, 2023. All.",
            "Subdivision (3)(A)(i) effective July 1, 2023",
        ),
        ("[ Subsection (d) repealed effective July 1, 2023. ]", "Subsection (d) repealed effective July 1, 2023"),
        (
            "Subdiv. (b)(2)(A)(x) repealed effective March 31, 2022.",
            "Subdiv. (b)(2)(A)(x) repealed effective March 31, 2022",
        ),
        ("(N) [Effective January 2, 2023] An officer.", "Effective January 2, 2023"),
        ("A. One.\nC. (For effective date — see notes) Two.", "For effective date — see notes"),
        ("25. (Expires July 1, 2024) Survey all.", "Expires July 1, 2024"),
        ("7. (Contingent effective date) Any member.", "Contingent effective date"),
        ("\"Agency\" [Definition effective July 1, 2026.] means one.", "Definition effective July 1, 2026."),
    ] {
        let effect = of_text(text);
        assert!(effect.uncertain, "{text}");
        assert_eq!(effect.remark.as_deref(), Some(remark));
    }
    for law in [
        "Subject to subsection (d) of this section, effective July 1, 2022, the fee is one dollar.",
        "Subsection (c) of this section is effective July 1, 2022.",
        "The certificate expires on July 1, 2024 (effective July 1, 2020).",
        "(Effective dates of orders) are stated.",
    ] {
        assert_eq!(of_text(law), Effect::default(), "{law}");
    }
}

/// Examples from Hawaii.
#[test]
fn a_text_is_certain_until_a_part_of_it_ends() {
    let effect = of_text(
        "(a) One.\n(b) [Repeal and reenactment on June 30, 2028. L 2023, c 148, §8(2).] Two.\n(c) [Paragraph repealed July 1, 2027.] Three.",
    );
    assert_eq!((effect.to.as_deref(), effect.then), (Some("2027-07-01"), Some(Status::Uncertain)));
    assert_eq!(effect.remark.as_deref(), Some("Paragraph repealed July 1, 2027."));
    let deleted = "[Repeal and reenactment on June 30, 2012, by L 2009, c 1 deleted by L 2011, c 2.] A person";
    assert_eq!(of_text(deleted), Effect::default());
    assert!(of_text("(b) [Repeal and reenactment on June 31, 2028.] Two.").uncertain);
}

#[test]
fn an_order_may_end_by_its_heading() {
    let order = "Executive Order No. 22-7 Expires by it own terms on December 31, 2027 unless extended by the Governor. (No. 06-20)";
    assert!(within_heading(order).uncertain);
    assert_eq!(within_heading("Executive Order No. 3 (No. 1) [Terminates.]"), Effect::default());
}

#[test]
fn dates_are_days_of_the_calendar() {
    assert_eq!(date_in("Effective July 1, 2027").as_deref(), Some("2027-07-01"));
    assert_eq!(date_in("eff. Sept. 1, 2027").as_deref(), Some("2027-09-01"));
    for none in ["Effective July 41, 2027", "February 31, 2022", "1, 2"] {
        assert_eq!(date_in(none), None, "{none}");
    }
}
