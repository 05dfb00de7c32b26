//! The real file must be complete and plausible, with sources. Mistakes in it must be reported.

use std::collections::BTreeSet;

use super::*;
use crate::formation::requirements::DutyKind;

fn book() -> &'static RequirementsTable {
    requirements().unwrap_or_else(|fault| panic!("{fault}"))
}

fn all() -> impl Iterator<Item = (UsState, &'static Requirements)> {
    UsState::ALL.into_iter().flat_map(|state| book().of(state).unwrap().types.iter().map(move |one| (state, one)))
}

/// The file with one place changed.
fn changed(from: &str, to: &str) -> Result<RequirementsTable, RequirementsFileError> {
    assert!(FILE.contains(from), "{from}");
    RequirementsTable::read(&FILE.replacen(from, to, 1))
}

#[test]
fn every_state_has_every_kind_of_company_once() {
    let listed: Vec<(UsState, EntityType)> = all().map(|(state, one)| (state, one.entity_type)).collect();
    let expected: Vec<(UsState, EntityType)> =
        UsState::ALL.into_iter().flat_map(|state| EntityType::ALL.map(|kind| (state, kind))).collect();
    assert_eq!(listed, expected);
    assert_eq!(listed.len(), 51 * 4);
    let written: toml::Table = toml::from_str(FILE).unwrap();
    assert_eq!(written["states"].as_table().unwrap().len(), 51, "the file has only the states");
}

#[test]
fn every_figure_has_a_source_a_date_and_a_plausible_amount() {
    for (state, one) in all() {
        let at = format!("{state} {}", one.entity_type.name());
        for figure in one.figures() {
            assert!(figure.source.name.len() > 8, "{at}: {figure:?}");
            assert!(figure.source.url.iter().all(|url| url.starts_with("http")), "{at}: {figure:?}");
            assert!(is_date(&figure.as_of), "{at}: {figure:?}");
            assert!(figure.amount_cents.is_none_or(|cents| cents <= 200_000), "{at}: {figure:?}");
            assert!(!figure.is_minimum || figure.note.is_some(), "{at}: a least amount says when it is more");
            assert_eq!(figure.certainty == Certainty::Unknown, figure.amount_cents.is_none(), "{at}");
            assert!(figure.amount_cents.is_some() || figure.note.is_some(), "{at}: unknown, without a reason");
        }
        if let Some(cents) = one.filing_fee.amount_cents {
            assert!((800..=100_000).contains(&cents), "{at}: {cents}");
        }
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<u32> = text.split('-').filter_map(|part| part.parse().ok()).collect();
    matches!(parts[..], [2000..=2100, 1..=12, 1..=31]) && text.len() == 10
}

#[test]
fn every_text_says_something() {
    for (state, one) in all() {
        let at = format!("{state} {}", one.entity_type.name());
        assert!(one.office.name.len() > 10 && one.office.website.starts_with("https://"), "{at}");
        assert!(one.form.name.len() > 5 && one.statute.chars().any(|char| char.is_ascii_digit()), "{at}");
        assert!(one.form.number.iter().all(|number| !number.trim().is_empty()), "{at}");
        assert!(!one.name.is_required || !one.name.designators.is_empty(), "{at}");
        for duty in one.annual_duties.iter().flatten() {
            assert!(duty.name.len() > 3 && duty.due.len() >= 5, "{at}: {duty:?}");
            assert!(duty.every_years.is_none_or(|years| (1..=10).contains(&years)), "{at}: {duty:?}");
            let is_none = duty.kind == DutyKind::None;
            assert!(!is_none || duty.fee.amount_cents == Some(0) && duty.every_years.is_none(), "{at}: {duty:?}");
        }
        for option in one.expedite_options.iter().flatten() {
            assert!(option.name.len() > 3 && option.time.len() > 5, "{at}: {option:?}");
        }
        for duty in &one.publication_duties {
            assert!(duty.what.len() > 20 && duty.due.len() > 5, "{at}: {duty:?}");
        }
    }
}

#[test]
fn nothing_is_listed_twice() {
    for (state, one) in all() {
        let at = format!("{state} {}", one.entity_type.name());
        let is_set = |names: Vec<&str>| names.iter().collect::<BTreeSet<_>>().len() == names.len();
        assert!(is_set(one.annual_duties.iter().flatten().map(|duty| duty.name.as_str()).collect()), "{at}");
        assert!(is_set(one.expedite_options.iter().flatten().map(|one| one.name.as_str()).collect()), "{at}");
        assert!(is_set(one.name.designators.iter().map(String::as_str).collect()), "{at}");
        let facts = one.facts.required.iter().chain(&one.facts.optional);
        assert!(is_set(facts.map(|fact| fact.name()).collect()), "{at}");
    }
}

#[test]
fn the_facts_fit_the_kind_of_company() {
    for (state, one) in all() {
        let at = format!("{state} {}", one.entity_type.name());
        let required = |fact| one.facts.required.contains(&fact);
        assert!(required(Fact::EntityName), "{at}");
        assert!(required(Fact::RegisteredAgent) || required(Fact::ProcessAddress), "{at}");
        assert_eq!(required(Fact::Organizers), one.entity_type == EntityType::Llc, "{at}");
        assert_eq!(required(Fact::GeneralPartners), one.entity_type == EntityType::LimitedPartnership, "{at}");
        assert_eq!(required(Fact::AuthorizedShares), one.entity_type == EntityType::Corporation, "{at}");
        let is_corporate = matches!(one.entity_type, EntityType::Corporation | EntityType::NonprofitCorporation);
        assert_eq!(required(Fact::Incorporators), is_corporate, "{at}");
    }
}

#[test]
fn figures_that_are_certain_name_a_provision_or_a_page() {
    let certain: Vec<(UsState, &Figure)> = all()
        .flat_map(|(state, one)| one.figures().into_iter().map(move |figure| (state, figure)))
        .filter(|(_, figure)| figure.certainty == Certainty::Verified)
        .collect();
    assert!(certain.len() >= 40, "{}", certain.len());
    for (state, figure) in certain {
        let provision = ["§", "RCW", "ILCS"].iter().any(|mark| figure.source.name.contains(mark));
        assert!(provision || figure.source.url.is_some(), "{state}: {figure:?}");
    }
}

/// These figures were read in the law itself.
#[test]
fn figures_are_read_as_they_are_written() {
    let of = |state, kind| book().of(state).unwrap().of(kind).unwrap();
    let virginia = of(UsState::Va, EntityType::Llc);
    assert_eq!(virginia.filing_fee.amount_cents, Some(10_000));
    assert_eq!(virginia.filing_fee.source.name, "Va. Code § 13.1-1005");
    assert_eq!(virginia.filing_fee.certainty, Certainty::Verified);
    assert!(virginia.name.accepts_name("Byrd Ferries, L.C.") && !virginia.name.accepts_name("Byrd Ferries"));
    let florida = of(UsState::Fl, EntityType::NonprofitCorporation);
    assert_eq!(florida.annual_duties.as_ref().unwrap()[0].fee.amount_cents, Some(6_125));
    let delaware = of(UsState::De, EntityType::Corporation);
    assert!(delaware.filing_fee.is_minimum && delaware.filing_fee.certainty == Certainty::Unverified);
    let montana = of(UsState::Mt, EntityType::LimitedPartnership);
    assert_eq!((montana.filing_fee.amount_cents, montana.filing_fee.certainty), (None, Certainty::Unknown));
    assert!(montana.filing_fee.note.is_some() && montana.annual_duties.is_none());
    assert!(of(UsState::Az, EntityType::LimitedPartnership).office.name.starts_with("Arizona Secretary of State"));
}

#[test]
fn a_mistake_in_the_file_is_named_with_its_place() {
    let says = |changed: Result<RequirementsTable, RequirementsFileError>, part: &str| {
        let fault = changed.unwrap_err().to_string();
        assert!(fault.contains(part), "{fault}");
    };
    says(changed("[states.AL]\n", "[states.ZZ]\n"), "missing field `office`");
    says(RequirementsTable::read(&format!("{FILE}\n[states.ZZ]\n")), "ZZ");
    says(changed("[states.AL.llc]", "[states.AL.llp]"), "llp");
    says(changed("[states.AL.llc]\nform", "[states.AL.llc]\nfrom"), "from");
    says(changed("fee = { usd = 200", "fee = { at_least = 1, usd = 200"), "AL, llc, fee: write one of");
    says(changed("fee = { usd = 200", "fee = { usd = 200.005"), "AL, llc, fee: 200.005 is not an amount");
    says(changed("fee = { usd = 200", "fee = { usd = -1"), "AL, llc, fee: -1 is not an amount");
    says(changed("source = \"tax\"", "source = \"taxi\""), "the state has no source 'taxi'");
    says(changed("\"entity_name\", ", "\"entity_name\", \"entity_name\", "), "entity_name is listed twice");
    says(changed("\"entity_name\"", "\"entity_nam\""), "entity_nam");
    let without_wyoming = &FILE[..FILE.find("[states.WY]").unwrap()];
    says(RequirementsTable::read(without_wyoming), "Wyoming (WY) is missing");
}
