//! Reads `requirements.toml`, the one place where the requirements of the states are recorded and corrected.
//!
//! The file is a part of the program. [`requirements`] reads it once; `hornbook serve` does so before it listens, so that
//! a mistake in the file shows at the start and not in an answer.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::entity_type::EntityType;
use super::requirements::{
    Certainty, Duty, DutyKind, ExpediteOption, Fact, Facts, Figure, FilingOffice, Form, NameRule, PublicationDuty,
    Requirements, Source, StateRequirements,
};
use super::us_state::UsState;

const FILE: &str = include_str!("requirements.toml");

/// The source of a figure that names none.
const USUAL_SOURCE: &str = "fees";

static BOOK: LazyLock<Result<RequirementsBook, FileFault>> = LazyLock::new(|| RequirementsBook::read(FILE));

/// The requirements of all states.
pub fn requirements() -> Result<&'static RequirementsBook, &'static FileFault> {
    BOOK.as_ref()
}

#[derive(Clone, PartialEq, Debug)]
pub struct RequirementsBook {
    states: BTreeMap<UsState, StateRequirements>,
}

/// What is wrong with the file.
#[derive(Clone, PartialEq, Debug)]
pub enum FileFault {
    Unreadable(toml::de::Error),
    Missing(UsState),
    /// At a place of the file.
    Wrong {
        at: String,
        what: String,
    },
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("formation/requirements.toml: ")?;
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::Missing(state) => write!(f, "{} ({state}) is missing", state.name()),
            Self::Wrong { at, what } => write!(f, "{at}: {what}"),
        }
    }
}

impl std::error::Error for FileFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Unreadable(error) = self { Some(error) } else { None }
    }
}

impl RequirementsBook {
    pub fn read(text: &str) -> Result<Self, FileFault> {
        let file: WrittenFile = toml::from_str(text).map_err(FileFault::Unreadable)?;
        let mut states = BTreeMap::new();
        for state in UsState::ALL {
            let written = file.states.get(&state).ok_or(FileFault::Missing(state))?;
            states.insert(state, written.resolve(state, &file.usual)?);
        }
        Ok(Self { states })
    }

    pub fn of(&self, state: UsState) -> Option<&StateRequirements> {
        self.states.get(&state)
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    usual: WrittenUsual,
    states: BTreeMap<UsState, WrittenState>,
}

/// What most states have in common, by kind of company.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUsual {
    llc: Usual,
    corporation: Usual,
    nonprofit_corporation: Usual,
    limited_partnership: Usual,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Usual {
    designators: Vec<String>,
    facts: Vec<Fact>,
    optional: Vec<Fact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenState {
    office: String,
    website: String,
    address: Option<String>,
    sources: BTreeMap<String, WrittenSource>,
    /// For every kind of company that has none of its own.
    expedite: Option<Vec<WrittenExpedite>>,
    llc: WrittenType,
    corporation: WrittenType,
    nonprofit_corporation: WrittenType,
    limited_partnership: WrittenType,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSource {
    name: String,
    url: Option<String>,
    as_of: String,
    /// Whether every figure with this source was compared with it.
    verified: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenType {
    /// Where another office than that of the state takes it.
    office: Option<WrittenOffice>,
    form: String,
    number: Option<String>,
    statute: String,
    name_statute: Option<String>,
    /// In place of the usual ones.
    designators: Option<Vec<String>>,
    #[serde(default)]
    designator_optional: bool,
    /// In place of the usual ones.
    facts: Option<Vec<Fact>>,
    /// In addition to the usual ones.
    #[serde(default)]
    more_facts: Vec<Fact>,
    /// Whether designators and facts were compared with the statutes.
    #[serde(default)]
    facts_verified: bool,
    fee: WrittenFigure,
    duties: Option<Vec<WrittenDuty>>,
    expedite: Option<Vec<WrittenExpedite>>,
    #[serde(default)]
    publication: Vec<WrittenPublication>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOffice {
    name: String,
    website: String,
}

/// Has exactly one of `usd`, `at_least` and `unknown`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFigure {
    usd: Option<f64>,
    at_least: Option<f64>,
    /// Why it is not known.
    unknown: Option<String>,
    note: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDuty {
    name: String,
    kind: DutyKind,
    due: String,
    every_years: Option<u8>,
    fee: WrittenFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenExpedite {
    name: String,
    time: String,
    fee: WrittenFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPublication {
    what: String,
    due: String,
    fee: WrittenFigure,
}

impl WrittenState {
    fn resolve(&self, state: UsState, usual: &WrittenUsual) -> Result<StateRequirements, FileFault> {
        let types = EntityType::ALL.map(|entity_type| {
            let (written, usual) = match entity_type {
                EntityType::Llc => (&self.llc, &usual.llc),
                EntityType::Corporation => (&self.corporation, &usual.corporation),
                EntityType::NonprofitCorporation => (&self.nonprofit_corporation, &usual.nonprofit_corporation),
                EntityType::LimitedPartnership => (&self.limited_partnership, &usual.limited_partnership),
            };
            let place = Place { state, entity_type, sources: &self.sources };
            written.resolve(&place, usual, self)
        });
        let types = types.into_iter().collect::<Result<_, _>>()?;
        Ok(StateRequirements { state, types })
    }
}

impl WrittenType {
    fn resolve(&self, place: &Place<'_>, usual: &Usual, state: &WrittenState) -> Result<Requirements, FileFault> {
        let mut required = self.facts.as_ref().unwrap_or(&usual.facts).clone();
        required.extend(&self.more_facts);
        if let Some(twice) = first_twice(&required) {
            return Err(place.fault("facts", format!("{} is listed twice", twice.name())));
        }
        let optional = usual.optional.iter().copied().filter(|fact| !required.contains(fact)).collect();
        let certainty = if self.facts_verified { Certainty::Verified } else { Certainty::Unverified };
        let duties = self.duties.as_ref().map(|duties| duties.iter().map(|duty| duty.resolve(place)).collect());
        let expedite = self.expedite.as_deref().or(state.expedite.as_deref());
        let expedite = expedite.map(|options| options.iter().map(|option| option.resolve(place)).collect());
        let publication = self.publication.iter().map(|publication| publication.resolve(place));
        Ok(Requirements {
            entity_type: place.entity_type,
            office: self.office(state),
            form: Form { name: self.form.clone(), number: self.number.clone() },
            statute: self.statute.clone(),
            name: NameRule {
                designators: self.designators.as_ref().unwrap_or(&usual.designators).clone(),
                is_required: !self.designator_optional,
                statute: self.name_statute.clone(),
            },
            filing_fee: self.fee.resolve(place, "fee")?,
            facts: Facts { required, optional, certainty },
            annual_duties: duties.transpose()?,
            expedite_options: expedite.transpose()?,
            publication_duties: publication.collect::<Result<_, _>>()?,
        })
    }
}

impl WrittenType {
    /// Its own where it has one, else that of the state.
    fn office(&self, state: &WrittenState) -> FilingOffice {
        match &self.office {
            Some(own) => FilingOffice { name: own.name.clone(), website: own.website.clone(), postal_address: None },
            None => FilingOffice {
                name: state.office.clone(),
                website: state.website.clone(),
                postal_address: state.address.clone(),
            },
        }
    }
}

fn first_twice(facts: &[Fact]) -> Option<Fact> {
    facts.iter().enumerate().find(|(place, fact)| facts[..*place].contains(fact)).map(|(_, fact)| *fact)
}

impl WrittenDuty {
    fn resolve(&self, place: &Place<'_>) -> Result<Duty, FileFault> {
        let Self { name, kind, due, every_years, fee } = self;
        let fee = fee.resolve(place, name)?;
        Ok(Duty { name: name.clone(), kind: *kind, due: due.clone(), every_years: *every_years, fee })
    }
}

impl WrittenExpedite {
    fn resolve(&self, place: &Place<'_>) -> Result<ExpediteOption, FileFault> {
        let fee = self.fee.resolve(place, &self.name)?;
        Ok(ExpediteOption { name: self.name.clone(), time: self.time.clone(), fee })
    }
}

impl WrittenPublication {
    fn resolve(&self, place: &Place<'_>) -> Result<PublicationDuty, FileFault> {
        let fee = self.fee.resolve(place, "publication")?;
        Ok(PublicationDuty { what: self.what.clone(), due: self.due.clone(), fee })
    }
}

impl WrittenFigure {
    fn resolve(&self, place: &Place<'_>, what: &str) -> Result<Figure, FileFault> {
        let key = self.source.as_deref().unwrap_or(USUAL_SOURCE);
        let Some(source) = place.sources.get(key) else {
            return Err(place.fault(what, format!("the state has no source '{key}'")));
        };
        let (usd, is_minimum, why) = match (self.usd, self.at_least, &self.unknown) {
            (Some(usd), None, None) => (Some(usd), false, None),
            (None, Some(usd), None) => (Some(usd), true, None),
            (None, None, Some(why)) => (None, false, Some(why.clone())),
            _ => return Err(place.fault(what, "write one of usd, at_least and unknown".to_owned())),
        };
        let amount_cents = match usd {
            None => None,
            Some(usd) => Some(cents(usd).ok_or_else(|| place.fault(what, format!("{usd} is no sum in dollars")))?),
        };
        let certainty = match (amount_cents, source.verified) {
            (None, _) => Certainty::Unknown,
            (Some(_), true) => Certainty::Verified,
            (Some(_), false) => Certainty::Unverified,
        };
        Ok(Figure {
            amount_cents,
            is_minimum,
            note: self.note.clone().or(why),
            certainty,
            source: Source { name: source.name.clone(), url: source.url.clone() },
            as_of: source.as_of.clone(),
        })
    }
}

/// Dollars with at most two decimals, below a million.
fn cents(usd: f64) -> Option<u64> {
    let cents = usd * 100.0;
    let is_sum = (0.0..1e8).contains(&cents) && (cents - cents.round()).abs() < 1e-6;
    // Rounded and within range: the cast is exact.
    is_sum.then_some(cents.round() as u64)
}

/// Where in the file something is written.
struct Place<'f> {
    state: UsState,
    entity_type: EntityType,
    sources: &'f BTreeMap<String, WrittenSource>,
}

impl Place<'_> {
    fn fault(&self, what: &str, fault: String) -> FileFault {
        FileFault::Wrong { at: format!("{}, {}, {what}", self.state, self.entity_type.name()), what: fault }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn book() -> &'static RequirementsBook {
        requirements().unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn all() -> impl Iterator<Item = (UsState, &'static Requirements)> {
        UsState::ALL.into_iter().flat_map(|state| book().of(state).unwrap().types.iter().map(move |one| (state, one)))
    }

    /// The file with one place changed.
    fn changed(from: &str, to: &str) -> Result<RequirementsBook, FileFault> {
        assert!(FILE.contains(from), "{from}");
        RequirementsBook::read(&FILE.replacen(from, to, 1))
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

    /// Figures that were read in the law itself.
    #[test]
    fn figures_are_read_as_they_are_written() {
        let of = |state, kind| book().of(state).unwrap().of(kind).unwrap();
        let virginia = of(UsState::Va, EntityType::Llc);
        assert_eq!(virginia.filing_fee.amount_cents, Some(10_000));
        assert_eq!(virginia.filing_fee.source.name, "Va. Code § 13.1-1005");
        assert_eq!(virginia.filing_fee.certainty, Certainty::Verified);
        assert!(virginia.name.is_met_by("Byrd Ferries, L.C.") && !virginia.name.is_met_by("Byrd Ferries"));
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
        let says = |changed: Result<RequirementsBook, FileFault>, part: &str| {
            let fault = changed.unwrap_err().to_string();
            assert!(fault.contains(part), "{fault}");
        };
        says(changed("[states.AL]\n", "[states.ZZ]\n"), "missing field `office`");
        says(RequirementsBook::read(&format!("{FILE}\n[states.ZZ]\n")), "ZZ");
        says(changed("[states.AL.llc]", "[states.AL.llp]"), "llp");
        says(changed("[states.AL.llc]\nform", "[states.AL.llc]\nfrom"), "from");
        says(changed("fee = { usd = 200", "fee = { at_least = 1, usd = 200"), "AL, llc, fee: write one of");
        says(changed("fee = { usd = 200", "fee = { usd = 200.005"), "AL, llc, fee: 200.005 is no sum");
        says(changed("fee = { usd = 200", "fee = { usd = -1"), "AL, llc, fee: -1 is no sum");
        says(changed("source = \"tax\"", "source = \"taxi\""), "the state has no source 'taxi'");
        says(changed("\"entity_name\", ", "\"entity_name\", \"entity_name\", "), "entity_name is listed twice");
        says(changed("\"entity_name\"", "\"entity_nam\""), "entity_nam");
        let without_wyoming = &FILE[..FILE.find("[states.WY]").unwrap()];
        says(RequirementsBook::read(without_wyoming), "Wyoming (WY) is missing");
    }
}
