//! The parts of an intake: people, addresses, the registered agent, shares, the contact.

use super::fields::{Length, ObjectFields};
use super::{Address, Contact, LINE, NAME, Person, RegisteredAgent, Role, ShareClass};
use crate::formation::entity_type::EntityType;
use crate::formation::us_state::UsState;

/// Postal codes of territories, and of addresses of the armed forces.
const OTHER_POSTAL_CODES: [&str; 8] = ["PR", "GU", "VI", "AS", "MP", "AA", "AE", "AP"];

const EMAIL_CHARS_MAX: usize = 254;
const SHARES_MAX: u64 = 1_000_000_000_000;

/// The roles that people can have in an entity type.
pub(super) const fn roles(entity_type: EntityType) -> &'static [Role] {
    match entity_type {
        EntityType::Llc => &[Role::Organizer, Role::Member, Role::Manager, Role::Officer],
        EntityType::Corporation => &[Role::Incorporator, Role::Director, Role::Officer, Role::Shareholder],
        EntityType::NonprofitCorporation => &[Role::Incorporator, Role::Director, Role::Officer, Role::Member],
        EntityType::LimitedPartnership => &[Role::GeneralPartner, Role::LimitedPartner],
    }
}

const OWNERS: [Role; 5] = [Role::Member, Role::Shareholder, Role::GeneralPartner, Role::LimitedPartner, Role::Manager];

/// Reads a person. While the entity type is unknown, every role is accepted.
pub(super) fn person(fields: &ObjectFields<'_>, entity_type: Option<EntityType>) -> Option<Person> {
    let name = fields.needed_text("name", NAME);
    let allowed = entity_type.map_or(&Role::ALL[..], roles);
    let roles = fields.choices("roles", allowed, Role::name);
    if roles.is_empty() && !fields.has("roles") {
        fields.fault("roles", "is missing");
    }
    let address = fields.object("address", address);
    let address = fields.needed("address", address);
    let title = fields.text("title", LINE);
    let email = email(fields, "email");
    let ownership_percent = fields.percent("ownershipPercent");
    if ownership_percent.is_some() && !roles.iter().any(|role| OWNERS.contains(role)) {
        fields.fault("ownershipPercent", "is for members, shareholders and partners");
    }
    Some(Person { name: name?, roles, address: address??, title, email, ownership_percent })
}

pub(super) fn address(fields: &ObjectFields<'_>) -> Option<Address> {
    let street = fields.needed_text("street", LINE);
    let street2 = fields.text("street2", LINE);
    let city = fields.needed_text("city", LINE);
    let state = fields.text("state", LINE);
    let zip = fields.text("zip", Length::line(16));
    let country = fields.text("country", Length::line(2)).map(|code| code.to_ascii_uppercase());
    if country.as_ref().is_some_and(|code| code.len() != 2 || !code.bytes().all(|byte| byte.is_ascii_uppercase())) {
        fields.fault("country", "must be a country code of two letters, such as US");
    }
    let is_here = country.as_deref().is_none_or(|code| code == "US");
    let state = if is_here { domestic_state(fields, state) } else { state };
    if is_here {
        check_zip(fields, zip.as_deref());
    }
    let country = country.unwrap_or_else(super::default_country);
    Some(Address { street: street?, street2, city: city?, state, zip, country })
}

fn domestic_state(fields: &ObjectFields<'_>, state: Option<String>) -> Option<String> {
    let state = fields.needed("state", state)?.to_ascii_uppercase();
    let is_known =
        UsState::ALL.iter().any(|known| known.code() == state) || OTHER_POSTAL_CODES.contains(&state.as_str());
    if !is_known {
        fields.fault("state", "must be the postal code of a state or territory, such as DE");
    }
    Some(state)
}

fn check_zip(fields: &ObjectFields<'_>, zip: Option<&str>) {
    let Some(zip) = fields.needed("zip", zip) else { return };
    let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_good = match zip.split_once('-') {
        None => digits(zip, 5),
        Some((five, four)) => digits(five, 5) && digits(four, 4),
    };
    if !is_good {
        fields.fault("zip", "must have five digits, or five and four as in 19801-1234");
    }
}

pub(super) fn registered_agent(fields: &ObjectFields<'_>) -> Option<RegisteredAgent> {
    let name = fields.needed_text("name", NAME);
    let address = fields.object("address", address);
    let address = fields.needed("address", address);
    let consents = fields.flag("consents");
    Some(RegisteredAgent { name: name?, address: address??, consents })
}

pub(super) fn share_class(fields: &ObjectFields<'_>) -> Option<ShareClass> {
    let class = fields.needed_text("class", LINE);
    let count = fields.whole_number("count", SHARES_MAX);
    let count = fields.needed("count", count);
    let par_value = fields.text("parValue", Length::line(16));
    if par_value.as_deref().is_some_and(|value| !is_amount(value)) {
        fields.fault("parValue", "must be an amount in dollars with at most six decimals, such as \"0.0001\"");
    }
    Some(ShareClass { class: class?, count: count?, par_value })
}

fn is_amount(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole, 9) && digits(decimals, 6)
}

pub(super) fn contact(fields: &ObjectFields<'_>) -> Option<Contact> {
    let name = fields.needed_text("name", NAME);
    let email = email(fields, "email");
    let email = fields.needed("email", email);
    let phone = fields.text("phone", Length::line(30));
    let has_digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count() >= 7;
    let is_phone = |text: &str| has_digits(text) && text.chars().all(|char| "0123456789+-(). ext".contains(char));
    if phone.as_deref().is_some_and(|phone| !is_phone(phone)) {
        fields.fault("phone", "must be a telephone number, such as +1 302 555 0100");
    }
    Some(Contact { name: name?, email: email?, phone })
}

fn email(fields: &ObjectFields<'_>, name: &'static str) -> Option<String> {
    let text = fields.text(name, Length::line(EMAIL_CHARS_MAX))?;
    let is_good = text.split_once('@').is_some_and(|(user, domain)| {
        let labels: Vec<&str> = domain.split('.').collect();
        !user.is_empty()
            && labels.len() > 1
            && labels.iter().all(|label| !label.is_empty())
            && !text.chars().any(char::is_whitespace)
            && !domain.contains('@')
    });
    if !is_good {
        fields.fault(name, "must be an e-mail address, such as ada@example.com");
    }
    is_good.then_some(text)
}
