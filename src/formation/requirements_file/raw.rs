//! The structure of the requirements file: the entries of states and entity types, and the defaults.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::formation::requirements::{DutyKind, Fact};
use crate::formation::us_state::UsState;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub(super) usual: RawDefaults,
    pub(super) states: BTreeMap<UsState, RawState>,
}

/// The defaults for most states, by entity type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDefaults {
    pub(super) llc: TypeDefaults,
    pub(super) corporation: TypeDefaults,
    pub(super) nonprofit_corporation: TypeDefaults,
    pub(super) limited_partnership: TypeDefaults,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeDefaults {
    pub(super) designators: Vec<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) optional: Vec<Fact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawState {
    pub(super) office: String,
    pub(super) website: String,
    pub(super) address: Option<String>,
    pub(super) sources: BTreeMap<String, RawSource>,
    /// For every entity type without its own options.
    pub(super) expedite: Option<Vec<RawExpedite>>,
    pub(super) llc: RawEntityType,
    pub(super) corporation: RawEntityType,
    pub(super) nonprofit_corporation: RawEntityType,
    pub(super) limited_partnership: RawEntityType,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSource {
    pub(super) name: String,
    pub(super) url: Option<String>,
    pub(super) as_of: String,
    /// Whether every figure with this source was compared with it.
    pub(super) verified: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntityType {
    /// The filing office, if it is not the office of the state.
    pub(super) office: Option<RawOffice>,
    pub(super) form: String,
    pub(super) number: Option<String>,
    pub(super) statute: String,
    pub(super) name_statute: Option<String>,
    /// Replaces the usual ones.
    pub(super) designators: Option<Vec<String>>,
    #[serde(default)]
    pub(super) designator_optional: bool,
    /// Replaces the usual ones.
    pub(super) facts: Option<Vec<Fact>>,
    /// Added to the usual ones.
    #[serde(default)]
    pub(super) more_facts: Vec<Fact>,
    /// Whether designators and facts were compared with the statutes.
    #[serde(default)]
    pub(super) facts_verified: bool,
    pub(super) fee: RawFigure,
    pub(super) duties: Option<Vec<RawDuty>>,
    pub(super) expedite: Option<Vec<RawExpedite>>,
    #[serde(default)]
    pub(super) publication: Vec<RawPublication>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOffice {
    pub(super) name: String,
    pub(super) website: String,
}

/// Has exactly one of `usd`, `at_least` and `unknown`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFigure {
    pub(super) usd: Option<f64>,
    pub(super) at_least: Option<f64>,
    /// Why the amount is not known.
    pub(super) unknown: Option<String>,
    pub(super) note: Option<String>,
    pub(super) source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDuty {
    pub(super) name: String,
    pub(super) kind: DutyKind,
    pub(super) due: String,
    pub(super) every_years: Option<u8>,
    pub(super) fee: RawFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExpedite {
    pub(super) name: String,
    pub(super) time: String,
    pub(super) fee: RawFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPublication {
    pub(super) what: String,
    pub(super) due: String,
    pub(super) fee: RawFigure,
}
