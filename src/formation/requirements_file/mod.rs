//! Reads `requirements.toml`, the only place where the requirements of the states are recorded and corrected.
//!
//! The file is compiled into the program. [`requirements`] reads it once. `hornbook serve` reads it
//! before it listens, so that a mistake in the file is found at the start and not in a response.

mod raw;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::entity_type::EntityType;
use super::requirements::{
    Certainty, Duty, ExpediteOption, Fact, Facts, Figure, FigureSource, FilingOffice, Form, NameRule, PublicationDuty,
    Requirements, StateRequirements,
};
use super::us_state::UsState;
use raw::{
    RawDefaults, RawDuty, RawEntityType, RawExpedite, RawFigure, RawFile, RawPublication, RawSource, RawState,
    TypeDefaults,
};

const FILE: &str = include_str!("requirements.toml");

/// The source of a figure that names no source.
const DEFAULT_SOURCE: &str = "fees";

static BOOK: LazyLock<Result<RequirementsTable, RequirementsFileError>> =
    LazyLock::new(|| RequirementsTable::read(FILE));

/// The requirements of all states.
pub fn requirements() -> Result<&'static RequirementsTable, &'static RequirementsFileError> {
    BOOK.as_ref()
}

#[derive(Clone, PartialEq, Debug)]
pub struct RequirementsTable {
    states: BTreeMap<UsState, StateRequirements>,
}

/// A mistake in the file.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RequirementsFileError {
    #[error("formation/requirements.toml: {0}")]
    Unreadable(#[source] toml::de::Error),
    #[error("formation/requirements.toml: {} ({}) is missing", .0.name(), .0)]
    Missing(UsState),
    /// A mistake at this place of the file.
    #[error("formation/requirements.toml: {at}: {what}")]
    Wrong { at: String, what: String },
}

impl RequirementsTable {
    pub fn read(text: &str) -> Result<Self, RequirementsFileError> {
        let file: RawFile = toml::from_str(text).map_err(RequirementsFileError::Unreadable)?;
        let mut states = BTreeMap::new();
        for state in UsState::ALL {
            let written = file.states.get(&state).ok_or(RequirementsFileError::Missing(state))?;
            states.insert(state, written.resolve(state, &file.usual)?);
        }
        Ok(Self { states })
    }

    pub fn of(&self, state: UsState) -> Option<&StateRequirements> {
        self.states.get(&state)
    }
}

impl RawState {
    fn resolve(&self, state: UsState, usual: &RawDefaults) -> Result<StateRequirements, RequirementsFileError> {
        let types = EntityType::ALL.map(|entity_type| {
            let (written, usual) = match entity_type {
                EntityType::Llc => (&self.llc, &usual.llc),
                EntityType::Corporation => (&self.corporation, &usual.corporation),
                EntityType::NonprofitCorporation => (&self.nonprofit_corporation, &usual.nonprofit_corporation),
                EntityType::LimitedPartnership => (&self.limited_partnership, &usual.limited_partnership),
            };
            let place = FileLocation { state, entity_type, sources: &self.sources };
            written.resolve(&place, usual, self)
        });
        let types = types.into_iter().collect::<Result<_, _>>()?;
        Ok(StateRequirements { state, types })
    }
}

impl RawEntityType {
    fn resolve(
        &self,
        place: &FileLocation<'_>,
        usual: &TypeDefaults,
        state: &RawState,
    ) -> Result<Requirements, RequirementsFileError> {
        let mut required = self.facts.as_ref().unwrap_or(&usual.facts).clone();
        required.extend(&self.more_facts);
        if let Some(twice) = first_duplicate(&required) {
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

    /// The office for this entity type, or else the office of the state.
    fn office(&self, state: &RawState) -> FilingOffice {
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

fn first_duplicate(facts: &[Fact]) -> Option<Fact> {
    facts.iter().enumerate().find(|(place, fact)| facts[..*place].contains(fact)).map(|(_, fact)| *fact)
}

impl RawDuty {
    fn resolve(&self, place: &FileLocation<'_>) -> Result<Duty, RequirementsFileError> {
        let Self { name, kind, due, every_years, fee } = self;
        let fee = fee.resolve(place, name)?;
        Ok(Duty { name: name.clone(), kind: *kind, due: due.clone(), every_years: *every_years, fee })
    }
}

impl RawExpedite {
    fn resolve(&self, place: &FileLocation<'_>) -> Result<ExpediteOption, RequirementsFileError> {
        let fee = self.fee.resolve(place, &self.name)?;
        Ok(ExpediteOption { name: self.name.clone(), time: self.time.clone(), fee })
    }
}

impl RawPublication {
    fn resolve(&self, place: &FileLocation<'_>) -> Result<PublicationDuty, RequirementsFileError> {
        let fee = self.fee.resolve(place, "publication")?;
        Ok(PublicationDuty { what: self.what.clone(), due: self.due.clone(), fee })
    }
}

impl RawFigure {
    fn resolve(&self, place: &FileLocation<'_>, what: &str) -> Result<Figure, RequirementsFileError> {
        let key = self.source.as_deref().unwrap_or(DEFAULT_SOURCE);
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
            Some(usd) => {
                Some(cents(usd).ok_or_else(|| place.fault(what, format!("{usd} is not an amount in dollars")))?)
            }
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
            source: FigureSource { name: source.name.clone(), url: source.url.clone() },
            as_of: source.as_of.clone(),
        })
    }
}

/// Converts dollars to cents: at most two decimals, below a million.
fn cents(usd: f64) -> Option<u64> {
    let cents = usd * 100.0;
    let is_sum = (0.0..1e8).contains(&cents) && (cents - cents.round()).abs() < 1e-6;
    // The value is rounded and within range, so the cast is exact.
    is_sum.then_some(cents.round() as u64)
}

/// A place in the file.
struct FileLocation<'f> {
    state: UsState,
    entity_type: EntityType,
    sources: &'f BTreeMap<String, RawSource>,
}

impl FileLocation<'_> {
    fn fault(&self, what: &str, fault: String) -> RequirementsFileError {
        RequirementsFileError::Wrong { at: format!("{}, {}, {what}", self.state, self.entity_type.name()), what: fault }
    }
}
