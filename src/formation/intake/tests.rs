use serde_json::{Value, json};

use super::fields::FAULTS_MAX;
use super::*;
use crate::formation::naics;
use crate::formation::requirements::Fact;
use crate::formation::requirements_file::requirements;

fn check(intake: &Value) -> Result<Intake, Vec<FieldError>> {
    let book = requirements().unwrap();
    let known = IntakeContext {
        requirements: &|state, entity_type| book.of(state)?.of(entity_type),
        is_naics_code: &|code| code.len() == 6 && naics::find(code).is_some(),
        today: UnixDay::from_civil(2026, 5, 14),
    };
    read(intake.as_object().unwrap(), &known)
}

fn faults(intake: &Value) -> Vec<(String, String)> {
    let found = check(intake).err().unwrap_or_default();
    found.into_iter().map(|fault| (fault.field, fault.message)).collect()
}

fn fields_at_fault(intake: &Value) -> Vec<String> {
    faults(intake).into_iter().map(|(field, _)| field).collect()
}

fn address(state: &str) -> Value {
    json!({ "street": "12 Elm Street", "city": "Dover", "state": state, "zip": "19901" })
}

/// An intake with every field that its entity type has.
fn whole(state: UsState, entity_type: EntityType) -> Value {
    let rule = &requirements().unwrap().of(state).unwrap().of(entity_type).unwrap().name;
    let name = format!("Acme Tools {}", rule.designators.first().map_or("Club", String::as_str));
    let roles: Vec<&str> = parts::roles(entity_type).iter().map(|role| role.name()).collect();
    let mut intake = json!({
        "state": state.code(),
        "entityType": entity_type.name(),
        "names": [name],
        "purpose": "Any lawful activity.",
        "naics": "541511",
        "people": [{
            "name": "Ada Example",
            "roles": roles,
            "address": address("NJ"),
            "title": "President",
            "email": "ada@example.com",
        }],
        "registeredAgent": { "name": "Agents Inc.", "address": address(state.code()), "consents": true },
        "principalOffice": address("NJ"),
        "mailingAddress": { "street": "1 Rue X", "city": "Paris", "country": "fr" },
        "processAddress": address("NJ"),
        "county": "Kent",
        "duration": "perpetual",
        "effectiveDate": "2026-06-01",
        "contact": { "name": "Ada Example", "email": "ada@example.com", "phone": "+1 302 555 0100" },
        "notes": "Two\nlines.",
    });
    let more = match entity_type {
        EntityType::Llc => json!({ "management": "managers" }),
        EntityType::Corporation => {
            json!({ "shares": [{ "class": "common", "count": 1000, "parValue": "0.0001" }] })
        }
        EntityType::NonprofitCorporation => {
            json!({ "hasMembers": false, "nonprofitKind": "public benefit", "assetsOnDissolution": "To a charity." })
        }
        EntityType::LimitedPartnership => json!({}),
    };
    intake.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    intake
}

#[test]
fn a_whole_intake_is_good_in_every_state_for_every_kind_of_company() {
    for state in UsState::ALL {
        for entity_type in EntityType::ALL {
            let given = whole(state, entity_type);
            let intake = check(&given).unwrap_or_else(|faults| panic!("{state} {}: {faults:?}", entity_type.name()));
            let stored = serde_json::to_value(&intake).unwrap();
            assert_eq!(serde_json::from_value::<Intake>(stored.clone()).unwrap(), intake);
            assert_eq!(stored["mailingAddress"]["country"], "FR");
            assert_eq!(check(&stored), Ok(intake), "what is stored is good as it is");
        }
    }
}

/// Removes a fact. Returns the intake, and the field in which the fact was given.
fn without(fact: Fact, mut intake: Value) -> (Value, &'static str) {
    let object = intake.as_object_mut().unwrap();
    let field = match fact {
        Fact::EntityName => "names",
        Fact::RegisteredAgent => "registeredAgent",
        Fact::AgentConsent => {
            object["registeredAgent"].as_object_mut().unwrap().remove("consents");
            return (intake, "registeredAgent.consents");
        }
        Fact::PrincipalOffice => "principalOffice",
        Fact::MailingAddress => "mailingAddress",
        Fact::ProcessAddress => "processAddress",
        Fact::County => "county",
        Fact::Organizers
        | Fact::Incorporators
        | Fact::GeneralPartners
        | Fact::ManagersOrMembers
        | Fact::Directors
        | Fact::Officers => {
            let gone: &[&str] = match fact {
                Fact::Organizers => &["organizer"],
                Fact::Incorporators => &["incorporator"],
                Fact::GeneralPartners => &["general_partner"],
                Fact::ManagersOrMembers => &["manager", "member"],
                Fact::Directors => &["director"],
                _ => &["officer"],
            };
            object["people"][0]["roles"].as_array_mut().unwrap().retain(|role| !gone.contains(&role.as_str().unwrap()));
            return (intake, "people");
        }
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
    };
    object.remove(field);
    (intake, field)
}

/// The text that a person confirms must be the text that is filed.
#[test]
fn invisible_characters_are_refused_in_every_field() {
    let given = |pointer: &str, hidden: char| {
        let mut intake = whole(UsState::De, EntityType::Llc);
        let text = intake.pointer_mut(pointer).unwrap();
        *text = text.as_str().unwrap().replacen(' ', &format!(" {hidden}"), 1).into();
        faults(&intake)
    };
    let names = ["/names/0", "/people/0/name", "/registeredAgent/name", "/principalOffice/street", "/contact/name"];
    let separators = ['\u{2028}', '\n', '\u{a0}', '\u{2003}', '\u{3000}'];
    let blanks = ['\u{3164}', '\u{115f}', '\u{1160}', '\u{34f}', '\u{fe0f}', '\u{2800}', '\u{17b4}', '\u{17b5}'];
    for hidden in ['\u{202e}', '\u{200b}', '\u{feff}', '\u{ad}'].into_iter().chain(separators).chain(blanks) {
        for pointer in names {
            let found = given(pointer, hidden);
            assert!(
                found.iter().any(|(_, message)| message.contains("contains U+")),
                "{pointer} {hidden:?}: {found:?}"
            );
        }
    }
    assert!(given("/purpose", '\u{2066}').iter().any(|(_, message)| message.contains("contains U+2066")));
    assert!(given("/purpose", '\u{a0}').iter().any(|(_, message)| message.contains("with an ordinary space")));
    assert_eq!(given("/purpose", '\n'), [], "a paragraph may have lines");
}

#[test]
fn each_missing_fact_gives_one_fault() {
    for state in UsState::ALL {
        for entity_type in EntityType::ALL {
            let found = requirements().unwrap().of(state).unwrap().of(entity_type).unwrap();
            for fact in &found.facts.required {
                let (intake, field) = without(*fact, whole(state, entity_type));
                let missed = fields_at_fault(&intake);
                // The choice of managers requires a manager too.
                let is_expected = missed == [field] || (*fact == Fact::ManagersOrMembers && missed == [field, field]);
                assert!(is_expected, "{state} {} {}: {missed:?}", entity_type.name(), fact.name());
            }
        }
    }
}

#[test]
fn all_faults_are_reported_with_their_paths() {
    let wrong = json!({
        "state": "DE",
        "entityType": "LLC",
        "names": ["Acme Tools", "Acme Tools LLC", "ACME TOOLS LLC", 7],
        "purpose": " ",
        "naics": "54151x",
        "people": [
            { "name": "Ada Example", "roles": ["organizer", "organizer", "director"], "address": address("DE") },
            { "name": "x".repeat(121), "roles": [], "address": { "street": "1 A", "state": "ZZ", "zip": "1234" },
              "email": "ada@example", "ownershipPercent": 101, "shoe": 44 },
            "Bob",
        ],
        "registeredAgent": { "address": { "street": "P.O. Box 12", "city": "Newark", "state": "NJ", "zip": "07102-12" }, "consents": false },
        "management": "nobody",
        "shares": [{ "class": "common", "count": 0, "parValue": "1.0000001" }],
        "effectiveDate": "2026-05-12",
        "contact": { "name": "Ada\u{7}", "phone": "none" },
        "expedite": "by rocket",
        "colour": "red",
    });
    let expected = [
        ("names[3]", "must be text"),
        ("purpose", "is empty"),
        ("people[0].roles[1]", "is given twice"),
        ("people[0].roles[2]", "must be one of organizer, member"),
        ("people[1].name", "has 121 characters"),
        ("people[1].roles", "is an empty list"),
        ("people[1].address.city", "is missing"),
        ("people[1].address.state", "postal code"),
        ("people[1].address.zip", "five digits"),
        ("people[1].email", "e-mail address"),
        ("people[1].ownershipPercent", "up to 100"),
        ("people[1].shoe", "is unknown; the fields here are name, roles"),
        ("people[2]", "must be an object"),
        ("registeredAgent.name", "is missing"),
        ("registeredAgent.address.zip", "five and four"),
        ("management", "must be one of members, managers"),
        ("shares[0].count", "whole number"),
        ("shares[0].parValue", "in dollars"),
        ("contact.name", "contains U+"),
        ("contact.email", "is missing"),
        ("contact.phone", "telephone number"),
        ("colour", "is unknown"),
        ("names[2]", "is given twice"),
        ("naics", "lookup_naics"),
        ("effectiveDate", "is in the past"),
        ("shares", "is for a corporation only"),
        ("names[0]", "must contain one of these: limited liability company"),
        ("expedite", "is not offered in Delaware; the options there are: 24-hour"),
    ];
    let found = faults(&wrong);
    for (field, reported) in expected {
        let is_told = found.iter().any(|(at, message)| at == field && message.contains(reported));
        assert!(is_told, "{field}: {reported} in {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
}

#[test]
fn the_agent_is_in_the_state_at_a_street_and_agrees() {
    let mut intake = whole(UsState::De, EntityType::Llc);
    intake["registeredAgent"]["address"]["state"] = json!("NJ");
    intake["registeredAgent"]["address"]["street"] = json!("PO Box 9");
    intake["registeredAgent"]["consents"] = json!(false);
    let expected = ["registeredAgent.address.state", "registeredAgent.address.street", "registeredAgent.consents"];
    assert_eq!(fields_at_fault(&intake), expected);
}

#[test]
fn an_empty_intake_lists_all_needed_fields() {
    let found = fields_at_fault(&json!({}));
    assert_eq!(found, ["state", "entityType", "registeredAgent", "contact", "names", "people"]);
    let found = faults(&json!({ "state": "PR", "entityType": "club", "people": {}, "names": null }));
    let reported = |field: &str| found.iter().find(|(at, _)| at == field).unwrap().1.clone();
    assert!(reported("state").contains("one of AL, AK") && reported("entityType").contains("llc, corporation"));
    assert!(reported("people").contains("must be a list") && reported("names").contains("is missing"));
}

#[test]
fn a_partnership_has_partners_of_both_kinds_and_owners_share_one_whole() {
    let mut intake = whole(UsState::De, EntityType::LimitedPartnership);
    intake["people"][0]["roles"] = json!(["general_partner"]);
    assert_eq!(faults(&intake).len(), 1);
    assert!(faults(&intake)[0].1.contains("role limited_partner"));
    let partner = |role: &str, percent: f64| json!({ "name": "P", "roles": [role], "address": address("DE"), "ownershipPercent": percent });
    intake["people"] = json!([partner("general_partner", 60.0), partner("limited_partner", 40.0)]);
    assert!(check(&intake).is_ok());
    intake["people"][1]["ownershipPercent"] = json!(40.5);
    assert_eq!(fields_at_fault(&intake), ["people"]);
    let mut llc = whole(UsState::De, EntityType::Llc);
    llc["people"][0]["roles"] = json!(["organizer"]);
    assert!(faults(&llc)[0].1.contains("role manager"));
    llc["management"] = json!("members");
    assert!(check(&llc).is_ok());
}

#[test]
fn the_list_of_faults_is_limited() {
    let mut intake = whole(UsState::De, EntityType::Llc);
    for n in 0..500 {
        intake[format!("unknown{n}")] = json!(1);
    }
    let found = faults(&intake);
    assert_eq!(found.len(), FAULTS_MAX + 1);
    assert!(found[FAULTS_MAX].1.contains("400 more"));
}

/// Programs see the schema, and the reader checks the fields. Both must agree.
#[test]
fn the_schema_has_exactly_the_fields_that_are_read() {
    let schema = serde_json::to_value(schemars::schema_for!(Intake)).unwrap();
    let of = |schema: &Value| {
        let mut names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort();
        names
    };
    let read = |found: Vec<(String, String)>, field: &str| {
        let (_, reported) = found.into_iter().find(|(at, _)| at == field).unwrap();
        let (_, names) = reported.split_once("the fields here are ").unwrap();
        let mut names: Vec<String> = names.split(", ").map(str::to_owned).collect();
        names.sort();
        names
    };
    let mut intake = whole(UsState::De, EntityType::Corporation);
    let places = [
        ("", "FormationIntake"),
        ("people[0].", "FormationPerson"),
        ("people[0].address.", "FormationAddress"),
        ("registeredAgent.", "FormationAgent"),
        ("shares[0].", "FormationShareClass"),
        ("contact.", "FormationContact"),
    ];
    intake["x"] = json!(1);
    for pointer in ["/people/0", "/people/0/address", "/registeredAgent", "/shares/0", "/contact"] {
        intake.pointer_mut(pointer).unwrap()["x"] = json!(1);
    }
    for (path, name) in places {
        let described = if name == "FormationIntake" { of(&schema) } else { of(&schema["$defs"][name]) };
        assert_eq!(described, read(faults(&intake), &format!("{path}x")), "{name}");
    }
}

#[test]
fn personal_data_do_not_print() {
    let (state, entity_type) = (UsState::ALL[0], EntityType::ALL[0]);
    let intake = check(&whole(state, entity_type)).unwrap();
    let shown =
        format!("{intake:?} {:?} {:?} {:?}", intake.people[0], intake.people[0].address, intake.registered_agent);
    assert_eq!(shown, "Intake(personal) Person(personal) Address(personal) RegisteredAgent(personal)");
}
