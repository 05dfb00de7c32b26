//! The intake of a company formation: the data that a program hands over for a person to review.
//!
//! [`Intake`] is the checked form. [`read`] creates one from JSON, or lists everything that is
//! wrong with it. `fields` reads the JSON and records faults with their paths. `parts` reads
//! people, addresses and shares. `rules` compares the whole intake with the requirements of the
//! state.

mod fields;
mod parts;
mod rules;
#[cfg(test)]
mod tests;

use std::fmt;

use hornbook_base::clock::UnixDay;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entity_type::EntityType;
use super::requirements::Requirements;
use super::us_state::UsState;
pub use fields::{FAULTS_MAX, FieldError};
use fields::{FieldErrors, Length, ObjectFields};

/// The maximum number of names, which are given in order of preference.
pub const NAMES_MAX: usize = 5;
/// The maximum number of people.
pub const PEOPLE_MAX: usize = 50;
/// The maximum number of share classes.
pub const SHARE_CLASSES_MAX: usize = 10;

/// All data needed to form a company. 'formation.requirements' lists what a state requires.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationIntake")]
pub struct Intake {
    /// Postal code of the state under whose law the company is formed.
    pub state: UsState,
    pub entity_type: EntityType,
    /// One to five names with their designator, such as "Acme Tools LLC", the preferred one first.
    #[schemars(length(min = 1, max = 5))]
    pub names: Vec<String>,
    /// The purpose of the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The six-digit NAICS 2022 code of the company's main activity; 'formation.lookup_naics' finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naics: Option<String>,
    /// Everybody who has a role in the company.
    #[schemars(length(min = 1, max = 50))]
    pub people: Vec<Person>,
    pub registered_agent: RegisteredAgent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal_office: Option<Address>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mailing_address: Option<Address>,
    /// The address to which the state forwards legal papers that are served on the company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_address: Option<Address>,
    /// The county of the office.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub county: Option<String>,
    /// Who manages a limited liability company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<Management>,
    /// The shares that a corporation may issue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    #[schemars(with = "Option<Vec<ShareClass>>")]
    pub shares: Vec<ShareClass>,
    /// How long the company lasts, if not perpetually.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// The day on which the company begins, as YYYY-MM-DD, if not the day of filing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_date: Option<String>,
    /// Whether a nonprofit corporation has members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_members: Option<bool>,
    /// The kind of a nonprofit corporation, such as "public benefit", "mutual benefit" or "religious".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonprofit_kind: Option<String>,
    /// Who gets the assets of a nonprofit corporation when it is dissolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assets_on_dissolution: Option<String>,
    /// The person to ask about the order.
    pub contact: Contact,
    /// The name of one of the state's expedite options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expedite: Option<String>,
    /// Anything else that the person who files the documents should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationPerson")]
pub struct Person {
    /// Full legal name, of a person or of a company.
    pub name: String,
    #[schemars(length(min = 1))]
    pub roles: Vec<Role>,
    pub address: Address,
    /// Title of an officer, such as "President".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The share of a member, shareholder or partner, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub ownership_percent: Option<f64>,
}

/// The role of a person in the company.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FormationRole")]
pub enum Role {
    /// Signs the documents of a limited liability company.
    Organizer,
    /// Member of a limited liability company or of a nonprofit corporation.
    Member,
    /// Manager of a limited liability company.
    Manager,
    /// Signs the documents of a corporation.
    Incorporator,
    Director,
    Officer,
    Shareholder,
    GeneralPartner,
    LimitedPartner,
}

impl Role {
    pub const ALL: [Self; 9] = [
        Self::Organizer,
        Self::Member,
        Self::Manager,
        Self::Incorporator,
        Self::Director,
        Self::Officer,
        Self::Shareholder,
        Self::GeneralPartner,
        Self::LimitedPartner,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Organizer => "organizer",
            Self::Member => "member",
            Self::Manager => "manager",
            Self::Incorporator => "incorporator",
            Self::Director => "director",
            Self::Officer => "officer",
            Self::Shareholder => "shareholder",
            Self::GeneralPartner => "general_partner",
            Self::LimitedPartner => "limited_partner",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FormationManagement")]
pub enum Management {
    Members,
    Managers,
}

impl Management {
    pub const ALL: [Self; 2] = [Self::Members, Self::Managers];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Members => "members",
            Self::Managers => "managers",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationAddress")]
pub struct Address {
    pub street: String,
    /// Suite, floor or unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub street2: Option<String>,
    pub city: String,
    /// Postal code of a state or territory. Outside the United States, a region, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// ZIP code of five or nine digits. Outside the United States, a postal code, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zip: Option<String>,
    /// Country code of two letters; US if not given.
    #[serde(default = "default_country", skip_serializing_if = "is_default_country")]
    pub country: String,
}

/// The country of an address without a country.
const DEFAULT_COUNTRY: &str = "US";

fn default_country() -> String {
    DEFAULT_COUNTRY.to_owned()
}

fn is_default_country(country: &str) -> bool {
    country == DEFAULT_COUNTRY
}

/// The agent who accepts legal papers for the company.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationAgent")]
pub struct RegisteredAgent {
    /// Name of a person or of a company.
    pub name: String,
    /// A street address in the state, not a post office box.
    pub address: Address,
    /// Whether the agent has agreed to serve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consents: Option<bool>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationShareClass")]
pub struct ShareClass {
    /// Name of the class, such as "common".
    pub class: String,
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Par value of one share in dollars, such as "0.0001"; none for shares without par value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub par_value: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "FormationContact")]
pub struct Contact {
    pub name: String,
    pub email: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

/// These hold personal data, so `Debug` shows nothing of it.
macro_rules! hide_from_debug {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(personal)"))
            }
        }
    )*};
}
hide_from_debug!(Intake, Person, Address, RegisteredAgent, Contact);

const NAME: Length = Length::line(120);
const LINE: Length = Length::line(200);
const PARAGRAPH: Length = Length::paragraph(2000);

/// The data that the checks need in addition to the intake.
pub struct IntakeContext<'k> {
    pub requirements: &'k dyn Fn(UsState, EntityType) -> Option<&'static Requirements>,
    pub is_naics_code: &'k dyn Fn(&str) -> bool,
    pub today: UnixDay,
}

/// Reads an intake, or lists everything that is wrong with it.
pub fn read(body: &Map<String, Value>, known: &IntakeContext<'_>) -> Result<Intake, Vec<FieldError>> {
    let faults = FieldErrors::default();
    let intake = read_all(&ObjectFields::root_fields(body, &faults), known);
    let found = faults.into_list();
    match intake {
        Some(intake) if found.is_empty() => Ok(intake),
        _ => Err(found),
    }
}

/// None if a part that no intake can do without is missing or invalid.
fn read_all(fields: &ObjectFields<'_>, known: &IntakeContext<'_>) -> Option<Intake> {
    // All fields are read before a missing one is reported, so that the caller gets all faults at once.
    let state = fields.choice("state", &UsState::ALL, UsState::code);
    let entity_type = fields.choice("entityType", &EntityType::ALL, EntityType::name);
    let (state, entity_type) = (fields.needed("state", state), fields.needed("entityType", entity_type));
    let names = fields.texts("names", NAMES_MAX, NAME);
    let purpose = fields.text("purpose", PARAGRAPH);
    let naics = fields.text("naics", Length::line(6));
    let people = fields.objects("people", PEOPLE_MAX, |person| parts::person(person, entity_type));
    let registered_agent = fields.object("registeredAgent", parts::registered_agent);
    let registered_agent = fields.needed("registeredAgent", registered_agent);
    let principal_office = fields.object("principalOffice", parts::address).flatten();
    let mailing_address = fields.object("mailingAddress", parts::address).flatten();
    let process_address = fields.object("processAddress", parts::address).flatten();
    let county = fields.text("county", LINE);
    let management = fields.choice("management", &Management::ALL, Management::name);
    let shares = fields.objects("shares", SHARE_CLASSES_MAX, parts::share_class);
    let duration = fields.text("duration", LINE);
    let effective_date = fields.text("effectiveDate", LINE);
    let has_members = fields.flag("hasMembers");
    let nonprofit_kind = fields.text("nonprofitKind", LINE);
    let assets_on_dissolution = fields.text("assetsOnDissolution", PARAGRAPH);
    let contact = fields.object("contact", parts::contact);
    let contact = fields.needed("contact", contact);
    let expedite = fields.text("expedite", LINE);
    let notes = fields.text("notes", PARAGRAPH);
    fields.refuse_unknown();
    let given = rules::ReadParts {
        fields,
        names: &names,
        purpose: purpose.as_deref(),
        naics: naics.as_deref(),
        people: &people,
        agent: registered_agent.as_ref().and_then(Option::as_ref),
        management,
        effective_date: effective_date.as_deref(),
        expedite: expedite.as_deref(),
    };
    rules::check(&given, state.zip(entity_type), known);
    Some(Intake {
        state: state?,
        entity_type: entity_type?,
        names: names.into_iter().map(|(_, name)| name).collect(),
        purpose,
        naics,
        people: people.into_iter().collect::<Option<_>>()?,
        registered_agent: registered_agent??,
        principal_office,
        mailing_address,
        process_address,
        county,
        management,
        shares: shares.into_iter().collect::<Option<_>>()?,
        duration,
        effective_date,
        has_members,
        nonprofit_kind,
        assets_on_dissolution,
        contact: contact??,
        expedite,
        notes,
    })
}
