//! The requirements of a state for a new company: filing office, form, statutes, name, facts, fees, duties.
//!
//! Every figure has its source and its date, and states whether somebody compared it with that
//! source. Unknown figures are marked as unknown. `requirements_file` reads the figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entity_type::EntityType;
use super::us_state::UsState;

/// All recorded requirements of one state.
#[derive(Clone, PartialEq, Debug)]
pub struct StateRequirements {
    pub state: UsState,
    /// In the order of [`EntityType::ALL`].
    pub types: Vec<Requirements>,
}

/// The office where documents are filed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilingOffice {
    pub name: String,
    pub website: String,
    /// Null if it is not recorded.
    pub postal_address: Option<String>,
}

/// The requirements for one entity type in one state.
#[derive(Clone, PartialEq, Debug)]
pub struct Requirements {
    pub entity_type: EntityType,
    pub office: FilingOffice,
    pub form: Form,
    /// The provision on the content of the filed document.
    pub statute: String,
    pub name: NameRule,
    pub filing_fee: Figure,
    pub facts: Facts,
    /// None if they are not known.
    pub annual_duties: Option<Vec<Duty>>,
    /// None if they are not known, empty if there are none.
    pub expedite_options: Option<Vec<ExpediteOption>>,
    pub publication_duties: Vec<PublicationDuty>,
}

/// The document that forms the company.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationForm")]
pub struct Form {
    pub name: String,
    /// The number that the office gave it; null if it has none or the number is unknown.
    pub number: Option<String>,
}

/// The rule for the name of a company.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameRule {
    /// One of these must be in the name.
    pub designators: Vec<String>,
    /// False if a name needs none of them.
    pub is_required: bool,
    pub statute: Option<String>,
}

impl NameRule {
    /// Whether a name meets the rule. Case, periods and commas make no difference.
    pub fn accepts_name(&self, name: &str) -> bool {
        let name = words(name);
        let has = |designator: &String| {
            let wanted = words(designator);
            name.len() > wanted.len() && name.windows(wanted.len()).any(|window| window == wanted)
        };
        !self.is_required || self.designators.iter().any(has)
    }
}

fn words(text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|char| !matches!(char, '.' | ',')).collect();
    plain.split_whitespace().map(str::to_lowercase).collect()
}

/// The facts that the document must contain, and those that it may contain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationFacts")]
pub struct Facts {
    pub required: Vec<Fact>,
    pub optional: Vec<Fact>,
    /// Whether the facts were compared with the statute.
    pub certainty: Certainty,
}

macro_rules! facts {
    ($($variant:ident, $name:literal, $meaning:literal;)*) => {
        /// A fact in a document of formation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[schemars(rename = "FormationFact")]
        pub enum Fact {
            $(#[doc = $meaning] $variant,)*
        }

        impl Fact {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }
        }
    };
}

facts! {
    EntityName, "entity_name", "The name of the company.";
    RegisteredAgent, "registered_agent", "Name and street address in the state of the agent who accepts legal papers.";
    AgentConsent, "agent_consent", "The agent's signed consent to serve.";
    PrincipalOffice, "principal_office", "Street address of the principal office.";
    MailingAddress, "mailing_address", "Mailing address of the company.";
    ProcessAddress, "process_address", "Address to which the state forwards legal papers served on it.";
    County, "county", "County of the office.";
    Organizers, "organizers", "Names, and in many states addresses, of the people who sign for a limited liability company.";
    Incorporators, "incorporators", "Names, and in many states addresses, of the people who sign for a corporation.";
    GeneralPartners, "general_partners", "Name and address of every general partner.";
    Management, "management", "Whether the members or managers manage the company.";
    ManagersOrMembers, "managers_or_members", "Names and addresses of the managers, or of the members who manage.";
    Directors, "directors", "Names and addresses of the first directors.";
    Officers, "officers", "Names and addresses of the first officers.";
    Purpose, "purpose", "The purpose of the company.";
    AuthorizedShares, "authorized_shares", "Number of shares that the corporation may issue, by class, with par value if the state requires it.";
    Duration, "duration", "How long the company lasts, if not perpetually.";
    EffectiveDate, "effective_date", "The date on which the document takes effect, if not on filing.";
    HasMembers, "has_members", "Whether the nonprofit corporation has members.";
    NonprofitKind, "nonprofit_kind", "The kind of nonprofit corporation, such as public benefit, mutual benefit or religious.";
    AssetsOnDissolution, "assets_on_dissolution", "Who gets the assets of the nonprofit corporation when it is dissolved.";
    ContactEmail, "contact_email", "An email address for notices of the filing office.";
    ActivityCode, "activity_code", "The industry in which the company will work, by code or in words.";
}

/// How reliable a statement is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Compared with the source that is named.
    Verified,
    /// Not compared with its source yet: check the source before you rely on it.
    Unverified,
    /// Not known.
    Unknown,
}

/// A sum of money, with its source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationFigure")]
pub struct Figure {
    /// In US cents; null if the amount is unknown.
    pub amount_cents: Option<u64>,
    /// Whether the amount may be higher; `note` explains when.
    pub is_minimum: bool,
    pub note: Option<String>,
    pub certainty: Certainty,
    pub source: FigureSource,
    /// The date for which the figure is believed to be true, as YYYY-MM-DD.
    pub as_of: String,
}

/// The source of a figure: a page of the office, or a provision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationSource")]
pub struct FigureSource {
    pub name: String,
    pub url: Option<String>,
}

/// A report or tax that is due repeatedly, or once soon after formation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FormationDuty")]
pub struct Duty {
    pub name: String,
    pub kind: DutyKind,
    pub due: String,
    /// The number of years from one due date to the next; null if it is due once, or never.
    pub every_years: Option<u8>,
    pub fee: Figure,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FormationDutyKind")]
pub enum DutyKind {
    Report,
    Tax,
    /// There is no such duty; the entry states this with its source.
    None,
}

/// Faster handling for an additional fee.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationExpedite")]
pub struct ExpediteOption {
    pub name: String,
    pub time: String,
    /// In addition to the filing fee.
    pub fee: Figure,
}

/// A notice that must be published.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "FormationPublication")]
pub struct PublicationDuty {
    pub what: String,
    pub due: String,
    /// The cost of publishing, without the charges of newspapers.
    pub fee: Figure,
}

impl StateRequirements {
    pub fn of(&self, entity_type: EntityType) -> Option<&Requirements> {
        self.types.iter().find(|requirements| requirements.entity_type == entity_type)
    }
}

impl Requirements {
    /// All figures of these requirements.
    pub fn figures(&self) -> Vec<&Figure> {
        let duties = self.annual_duties.iter().flatten().map(|duty| &duty.fee);
        let expedites = self.expedite_options.iter().flatten().map(|option| &option.fee);
        let publications = self.publication_duties.iter().map(|duty| &duty.fee);
        [&self.filing_fee].into_iter().chain(duties).chain(expedites).chain(publications).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_designator_in_any_case_and_with_or_without_periods() {
        let designators = ["Limited Liability Company", "L.L.C.", "LLC"].map(str::to_owned).to_vec();
        let rule = NameRule { designators, is_required: true, statute: None };
        for name in ["Acme LLC", "Acme, L.L.C.", "acme limited liability company", "ACME llc"] {
            assert!(rule.accepts_name(name), "{name}");
        }
        for name in ["Acme", "AcmeLLC", "LLC", "Acme Limited Company", "Acme Inc."] {
            assert!(!rule.accepts_name(name), "{name}");
        }
        assert!(NameRule { is_required: false, ..rule }.accepts_name("Acme"));
    }

    #[test]
    fn facts_are_named_as_they_are_written() {
        for fact in Fact::ALL {
            assert_eq!(serde_json::to_value(fact).unwrap(), fact.name());
        }
    }
}
