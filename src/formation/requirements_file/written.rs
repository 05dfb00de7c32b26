//! The structure of the requirements file: the entries of states and entity types, and the defaults.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::formation::requirements::{DutyKind, Fact};
use crate::formation::us_state::UsState;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFile {
    pub(super) usual: WrittenUsual,
    pub(super) states: BTreeMap<UsState, WrittenState>,
}

/// The defaults for most states, by entity type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenUsual {
    pub(super) llc: Usual,
    pub(super) corporation: Usual,
    pub(super) nonprofit_corporation: Usual,
    pub(super) limited_partnership: Usual,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Usual {
    pub(super) designators: Vec<String>,
    pub(super) facts: Vec<Fact>,
    pub(super) optional: Vec<Fact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenState {
    pub(super) office: String,
    pub(super) website: String,
    pub(super) address: Option<String>,
    pub(super) sources: BTreeMap<String, WrittenSource>,
    /// For every entity type without its own options.
    pub(super) expedite: Option<Vec<WrittenExpedite>>,
    pub(super) llc: WrittenType,
    pub(super) corporation: WrittenType,
    pub(super) nonprofit_corporation: WrittenType,
    pub(super) limited_partnership: WrittenType,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenSource {
    pub(super) name: String,
    pub(super) url: Option<String>,
    pub(super) as_of: String,
    /// Whether every figure with this source was compared with it.
    pub(super) verified: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenType {
    /// The filing office, if it is not the office of the state.
    pub(super) office: Option<WrittenOffice>,
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
    pub(super) fee: WrittenFigure,
    pub(super) duties: Option<Vec<WrittenDuty>>,
    pub(super) expedite: Option<Vec<WrittenExpedite>>,
    #[serde(default)]
    pub(super) publication: Vec<WrittenPublication>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenOffice {
    pub(super) name: String,
    pub(super) website: String,
}

/// Has exactly one of `usd`, `at_least` and `unknown`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFigure {
    pub(super) usd: Option<f64>,
    pub(super) at_least: Option<f64>,
    /// Why the amount is not known.
    pub(super) unknown: Option<String>,
    pub(super) note: Option<String>,
    pub(super) source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenDuty {
    pub(super) name: String,
    pub(super) kind: DutyKind,
    pub(super) due: String,
    pub(super) every_years: Option<u8>,
    pub(super) fee: WrittenFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenExpedite {
    pub(super) name: String,
    pub(super) time: String,
    pub(super) fee: WrittenFigure,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPublication {
    pub(super) what: String,
    pub(super) due: String,
    pub(super) fee: WrittenFigure,
}
