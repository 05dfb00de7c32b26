//! The rules for an intake as a whole: what the state requires of this entity type, and what
//! contradicts itself.

use hornbook_base::clock::UnixDay;

use super::fields::ObjectFields;
use super::{IntakeContext, Management, Person, RegisteredAgent, Role};
use crate::formation::entity_type::EntityType;
use crate::formation::requirements::{Fact, Requirements};
use crate::formation::us_state::UsState;

/// A later day is taken as a typing error.
const DAYS_AHEAD_MAX: i32 = 366;

/// The valid parts of what was read.
pub(super) struct ReadParts<'g> {
    pub(super) fields: &'g ObjectFields<'g>,
    pub(super) names: &'g [(usize, String)],
    pub(super) purpose: Option<&'g str>,
    pub(super) naics: Option<&'g str>,
    pub(super) people: &'g [Option<Person>],
    pub(super) agent: Option<&'g RegisteredAgent>,
    pub(super) management: Option<Management>,
    pub(super) effective_date: Option<&'g str>,
    pub(super) expedite: Option<&'g str>,
}

pub(super) fn check(given: &ReadParts<'_>, what: Option<(UsState, EntityType)>, known: &IntakeContext<'_>) {
    check_names(given);
    check_naics(given, known);
    check_date(given, known.today);
    check_shares_of_owners(given);
    if !given.fields.has("people") {
        given.fields.fault("people", "is missing; list everybody who has a role in the company");
    }
    let Some((state, entity_type)) = what else { return };
    check_agent(given, state);
    check_fields_of(given, entity_type);
    let missed = check_required(given, state, entity_type, known);
    if !missed.contains(&Fact::GeneralPartners) {
        check_people_of(given, entity_type);
    }
}

fn check_names(given: &ReadParts<'_>) {
    let fields = given.fields;
    if !fields.has("names") {
        fields.fault("names", "is missing; give one to five names, the preferred one first");
    }
    for (at, name) in given.names {
        let mut before = given.names.iter().filter(|(place, _)| place < at);
        if before.any(|(_, before)| before.to_lowercase() == name.to_lowercase()) {
            fields.fault(&format!("names[{at}]"), "is given twice");
        }
    }
}

fn check_naics(given: &ReadParts<'_>, known: &IntakeContext<'_>) {
    let Some(code) = given.naics else { return };
    if !(known.is_naics_code)(code) {
        given.fields.fault("naics", "is not a six-digit code of NAICS 2022; formation.lookup_naics finds it");
    }
}

fn check_date(given: &ReadParts<'_>, today: UnixDay) {
    let Some(text) = given.effective_date else { return };
    let Some(day) = day(text) else {
        given.fields.fault("effectiveDate", "must be a day as YYYY-MM-DD");
        return;
    };
    // Yesterday in UTC is accepted, because it may still be today in the time zone of the state.
    if day.0 < today.0 - 1 {
        given.fields.fault("effectiveDate", "is in the past; a company cannot begin before its documents are filed");
    } else if day.0 > today.0 + DAYS_AHEAD_MAX {
        given.fields.fault("effectiveDate", "is more than a year away");
    }
}

/// Parses a day that exists in the calendar.
fn day(text: &str) -> Option<UnixDay> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let number = |text: &str, digits: usize| {
        let is_plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let year = i32::try_from(year).ok()?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let found = UnixDay::from_civil(year, month, day);
    (found.civil() == (year, month, day)).then_some(found)
}

/// Allows for hundredths of a percent lost in rounding.
const PERCENT_MAX: f64 = 100.01;

fn check_shares_of_owners(given: &ReadParts<'_>) {
    let sum: f64 = given.people.iter().flatten().filter_map(|person| person.ownership_percent).sum();
    if sum > PERCENT_MAX {
        given
            .fields
            .fault("people", format!("have values of ownershipPercent that add up to {sum}, which is more than 100"));
    }
}

fn check_agent(given: &ReadParts<'_>, state: UsState) {
    let Some(agent) = given.agent else { return };
    let fields = given.fields;
    if agent.address.state.as_deref() != Some(state.code()) {
        let message = format!("must be {}: the office of the agent must be in the state of formation", state.code());
        fields.fault("registeredAgent.address.state", message);
    }
    if is_post_office_box(&agent.address.street) {
        fields.fault("registeredAgent.address.street", "must be a street address, not a post office box");
    }
    if agent.consents == Some(false) {
        fields.fault("registeredAgent.consents", "is false; name an agent who agrees to serve");
    }
}

fn is_post_office_box(street: &str) -> bool {
    let plain: String = street.chars().filter(|char| !matches!(char, '.' | ' ')).collect();
    let plain = plain.to_lowercase();
    plain.starts_with("pobox") || plain.starts_with("postofficebox")
}

/// Refuses fields that only other entity types have.
fn check_fields_of(given: &ReadParts<'_>, entity_type: EntityType) {
    let of = [
        ("management", EntityType::Llc, "a limited liability company"),
        ("shares", EntityType::Corporation, "a corporation"),
        ("hasMembers", EntityType::NonprofitCorporation, "a nonprofit corporation"),
        ("nonprofitKind", EntityType::NonprofitCorporation, "a nonprofit corporation"),
        ("assetsOnDissolution", EntityType::NonprofitCorporation, "a nonprofit corporation"),
    ];
    for (field, its_type, of_what) in of {
        if its_type != entity_type && given.fields.has(field) {
            given.fields.fault(field, format!("is for {of_what} only"));
        }
    }
}

/// Adds a fault for each required fact that is missing, and returns these facts.
fn check_required(
    given: &ReadParts<'_>,
    state: UsState,
    entity_type: EntityType,
    known: &IntakeContext<'_>,
) -> Vec<Fact> {
    let Some(requirements) = (known.requirements)(state, entity_type) else {
        given.fields.fault("entityType", format!("is not offered in {}", state.name()));
        return Vec::new();
    };
    check_designators(given, requirements);
    check_expedite(given, state, requirements);
    let is_missing = |fact: &&Fact| !has_fact(given, **fact);
    let missing: Vec<Fact> = requirements.facts.required.iter().filter(is_missing).copied().collect();
    for fact in &missing {
        let field = field_of(*fact);
        let roles: Vec<&str> = roles_of(*fact).iter().map(|role| role.name()).collect();
        let (path, wanted) = match fact {
            Fact::AgentConsent => ("registeredAgent.consents", String::new()),
            _ if !roles.is_empty() => (field, format!("; give somebody the role {}", roles.join(" or "))),
            _ if is_already_reported(given, field) => continue,
            _ => (field, String::new()),
        };
        given.fields.fault(path, format!("is required in {}: {}{wanted}", state.name(), fact.meaning()));
    }
    missing
}

/// Whether the fault is already reported: the field was given and is invalid, or no intake can do without it.
fn is_already_reported(given: &ReadParts<'_>, field: &str) -> bool {
    given.fields.has(field) || matches!(field, "names" | "registeredAgent" | "contact")
}

fn check_designators(given: &ReadParts<'_>, requirements: &Requirements) {
    let rule = &requirements.name;
    for (at, name) in given.names {
        if !rule.accepts_name(name) {
            let message = format!("must contain one of these: {}", rule.designators.join(", "));
            given.fields.fault(&format!("names[{at}]"), message);
        }
    }
}

fn check_expedite(given: &ReadParts<'_>, state: UsState, requirements: &Requirements) {
    let Some(wanted) = given.expedite else { return };
    let Some(options) = &requirements.expedite_options else { return };
    if !options.iter().any(|option| option.name.eq_ignore_ascii_case(wanted)) {
        let names: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
        let offered = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        given.fields.fault("expedite", format!("is not offered in {}; the options there are: {offered}", state.name()));
    }
}

fn has_fact(given: &ReadParts<'_>, fact: Fact) -> bool {
    match fact {
        Fact::EntityName => !given.names.is_empty(),
        Fact::AgentConsent => given.agent.is_none_or(|agent| agent.consents.is_some()),
        Fact::Purpose => given.purpose.is_some(),
        fact if is_about_people(fact) => has_role(given, roles_of(fact)),
        fact => given.fields.has(field_of(fact)),
    }
}

fn is_about_people(fact: Fact) -> bool {
    !roles_of(fact).is_empty()
}

/// The field in which a fact is given.
const fn field_of(fact: Fact) -> &'static str {
    match fact {
        Fact::EntityName => "names",
        Fact::RegisteredAgent | Fact::AgentConsent => "registeredAgent",
        Fact::PrincipalOffice => "principalOffice",
        Fact::MailingAddress => "mailingAddress",
        Fact::ProcessAddress => "processAddress",
        Fact::County => "county",
        Fact::Organizers
        | Fact::Incorporators
        | Fact::GeneralPartners
        | Fact::ManagersOrMembers
        | Fact::Directors
        | Fact::Officers => "people",
        Fact::Management => "management",
        Fact::Purpose => "purpose",
        Fact::AuthorizedShares => "shares",
        Fact::Duration => "duration",
        Fact::EffectiveDate => "effectiveDate",
        Fact::HasMembers => "hasMembers",
        Fact::NonprofitKind => "nonprofitKind",
        Fact::AssetsOnDissolution => "assetsOnDissolution",
        Fact::ContactEmail => "contact",
        Fact::ActivityCode => "naics",
    }
}

/// The roles of the people that a fact names; empty if it names nobody.
const fn roles_of(fact: Fact) -> &'static [Role] {
    match fact {
        Fact::Organizers => &[Role::Organizer],
        Fact::Incorporators => &[Role::Incorporator],
        Fact::GeneralPartners => &[Role::GeneralPartner],
        Fact::ManagersOrMembers => &[Role::Manager, Role::Member],
        Fact::Directors => &[Role::Director],
        Fact::Officers => &[Role::Officer],
        _ => &[],
    }
}

/// Whether somebody has one of these roles. An entry that could not be read counts as such a person.
fn has_role(given: &ReadParts<'_>, wanted: &[Role]) -> bool {
    let has = |person: &Option<Person>| match person {
        None => true,
        Some(person) => person.roles.iter().any(|role| wanted.contains(role)),
    };
    given.people.iter().any(has)
}

/// Checks for the people that an entity type always needs.
fn check_people_of(given: &ReadParts<'_>, entity_type: EntityType) {
    let needs = |wanted: Role, what: &str| {
        if given.fields.has("people") && !has_role(given, &[wanted]) {
            given.fields.fault("people", format!("must include {what}; give somebody the role {}", wanted.name()));
        }
    };
    match entity_type {
        EntityType::LimitedPartnership => {
            needs(Role::GeneralPartner, "a general partner");
            needs(Role::LimitedPartner, "a limited partner");
        }
        EntityType::Llc if given.management == Some(Management::Managers) => {
            needs(Role::Manager, "a manager, because managers manage this company");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_there_are_count() {
        assert_eq!(day("2028-02-29"), Some(UnixDay::from_civil(2028, 2, 29)));
        for wrong in ["2027-02-29", "2027-13-01", "2027-00-10", "2027-1-1", "20270101", "2027-01-01T00", "+027-01-01"] {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn post_office_boxes_are_known_in_their_spellings() {
        for street in ["PO Box 12", "P.O. Box 12", "p. o. box 12", "Post Office Box 12", "POBox 9"] {
            assert!(is_post_office_box(street), "{street}");
        }
        for street in ["12 Post Road", "1 Poboxer Lane".trim_start_matches("1 P"), "Box Elder Road 5"] {
            assert!(!is_post_office_box(street), "{street}");
        }
    }
}
