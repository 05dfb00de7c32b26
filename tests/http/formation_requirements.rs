//! The requirements of states for a new company: complete for every state, marked where unverified, and free.

use hornbook::formation::entity_type::EntityType;
use hornbook::formation::us_state::UsState;
use hornbook_accounts::formation;
use hornbook_accounts::scope::Scope;
use serde_json::Value;

use crate::sample::ENGINE;
use crate::test_server::{TestServer, generous_tariff};

const PATH: &str = "/api/v1/formation/requirements";

const TYPES: [&str; 4] = ["llc", "corporation", "nonprofit_corporation", "limited_partnership"];

fn asked(server: &TestServer, key: &str, query: &str) -> Value {
    let answered = server.get(&format!("{PATH}?{query}"), key);
    assert_eq!(answered.status, 200, "{query}: {}", answered.text());
    answered.json()
}

#[test]
fn one_kind_of_company_is_answered_with_what_it_takes() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let body = asked(&server, &key, "state=DE&entityType=llc");
    assert_eq!((&body["state"], &body["stateName"]), (&"DE".into(), &"Delaware".into()));
    let types = body["entityTypes"].as_array().unwrap();
    assert_eq!(types.len(), 1);
    let llc = &types[0];
    assert_eq!(llc["entityType"], "llc");
    assert_eq!(llc["form"]["name"], "Certificate of Formation");
    assert_eq!(llc["filingOffice"]["name"], "Delaware Division of Corporations");
    assert_eq!(llc["filingFee"]["amountCents"], 11_000);
    assert_eq!(llc["name"]["designatorRequired"], true);
    assert!(llc["name"]["designators"].as_array().unwrap().contains(&"L.L.C.".into()));
    let required = llc["facts"]["required"].as_array().unwrap();
    let named: Vec<&str> = required.iter().map(|fact| fact["fact"].as_str().unwrap()).collect();
    assert_eq!(named, ["entity_name", "registered_agent", "organizers"]);
    assert!(required.iter().all(|fact| fact["meaning"].as_str().unwrap().ends_with('.')));
    let tax = &llc["annualDuties"][0];
    assert_eq!((&tax["kind"], &tax["everyYears"]), (&"tax".into(), &1.into()));
    assert_eq!(tax["fee"]["amountCents"], 30_000);
    // The sample corpus has no law of Delaware, so there is only the citation.
    assert_eq!(llc["statute"]["citation"], "Del. Code tit. 6, § 18-201");
    assert!(llc["statute"]["nodeId"].is_null() && llc["statute"]["path"].is_null());
}

#[test]
fn without_a_kind_of_company_all_four_are_answered_for_every_state() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for state in UsState::ALL {
        let body = asked(&server, &key, &format!("state={state}"));
        let kinds: Vec<&str> =
            body["entityTypes"].as_array().unwrap().iter().map(|one| one["entityType"].as_str().unwrap()).collect();
        assert_eq!(kinds, TYPES, "{state}");
    }
}

#[test]
fn what_is_unverified_or_unknown_is_said() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let mut seen = [0_u64; 3];
    for state in UsState::ALL {
        let body = asked(&server, &key, &format!("state={state}"));
        let mut counted = [0_u64; 3];
        count_figures(&body["entityTypes"], &mut counted);
        let counts = ["verified", "unverified", "unknown"].map(|name| body["figures"][name].as_u64().unwrap());
        assert_eq!(counts, counted, "{state}");
        let note = body["note"].as_str().unwrap();
        let all: u64 = counts.iter().sum();
        if counts[1] > 0 {
            assert!(note.contains(&format!("{} of {all} figures are unverified", counts[1])), "{state}: {note}");
        }
        seen.iter_mut().zip(counts).for_each(|(seen, count)| *seen += count);
    }
    assert!(seen.iter().all(|count| *count > 0), "all three occur: {seen:?}");
}

/// Counts the figures anywhere in a value by certainty, and checks that each has a source and a date.
fn count_figures(value: &Value, counted: &mut [u64; 3]) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| count_figures(value, counted)),
        Value::Object(fields) => {
            if fields.contains_key("amountCents") {
                let place = match value["certainty"].as_str().unwrap() {
                    "verified" => 0,
                    "unverified" => 1,
                    "unknown" => 2,
                    other => panic!("{other}"),
                };
                counted[place] += 1;
                assert_eq!(value["amountCents"].is_null(), place == 2, "{value:#}");
                assert!(value["source"]["name"].is_string() && value["asOf"].is_string(), "{value:#}");
            }
            fields.values().for_each(|value| count_figures(value, counted));
        }
        _ => {}
    }
}

#[test]
fn an_unknown_state_or_kind_of_company_is_a_422_that_lists_what_is_known() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for (query, parameter, known) in [
        ("state=ZZ", "state", "DE, DC, FL"),
        ("state=PR&entityType=llc", "state", "WY"),
        ("entityType=llc", "state", "state is required"),
        ("state=DE&entityType=spaceship", "entityType", "nonprofit_corporation"),
    ] {
        let error = server.get(&format!("{PATH}?{query}"), &key).expect_error(422, "validation_error");
        let details = error["details"].as_array().unwrap();
        let named = details.iter().find(|detail| detail["parameter"] == parameter);
        assert!(named.unwrap()["message"].as_str().unwrap().contains(known), "{query}: {error:#}");
    }
}

#[test]
fn it_is_free_and_leaves_no_ledger_entry_even_with_an_empty_wallet() {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    let server = TestServer::start(tariff);
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    for _ in 0..3 {
        let answered = server.get(&format!("{PATH}?state=NY"), &key);
        assert_eq!(answered.status, 200, "{}", answered.text());
        assert_eq!(answered.header_number("x-credits-cost"), 0);
        assert_eq!(answered.header_number("x-credits-remaining"), 0);
    }
    let entries = server.accounts.recent_entries(account, 9).unwrap();
    assert!(entries.is_empty(), "{entries:?}");
    let other = server.create_key(account, &[Scope::Search]);
    server.get(&format!("{PATH}?state=NY"), &other).expect_error(403, "insufficient_scope");
}

/// A citation that the grammar cannot parse, or parses as another state's, would never become a link.
#[test]
fn every_statute_is_cited_as_its_state_cites() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for state in UsState::ALL {
        let body = asked(&server, &key, &format!("state={state}"));
        for one in body["entityTypes"].as_array().unwrap() {
            for cited in [&one["statute"], &one["name"]["statute"]] {
                let Some(citation) = cited["citation"].as_str() else { continue };
                let answers = ENGINE.resolve(citation).unwrap();
                assert_eq!(answers.len(), 1, "{state}: {citation}");
                let jurisdiction = answers[0].jurisdiction.as_deref();
                assert_eq!(jurisdiction, Some(state.code()), "{citation}: {}", answers[0].message);
                assert_eq!(answers[0].citation.as_deref(), Some(citation));
            }
        }
    }
}

/// Every company described here can be ordered: both parts have the same states and entity types.
#[test]
fn orders_take_every_state_and_kind_of_company() {
    for state in UsState::ALL {
        assert_eq!(formation::state(state.code()).as_deref(), Ok(state.code()));
    }
    for kind in EntityType::ALL {
        assert_eq!(formation::entity_type(kind.name()).as_deref(), Ok(kind.name()));
    }
}
