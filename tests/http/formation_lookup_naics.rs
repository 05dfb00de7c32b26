//! Industry codes over HTTP: found by plain descriptions and by code, with their place in the
//! hierarchy, for free.

use hornbook_accounts::scope::Scope;
use serde_json::{Value, json};

use crate::test_server::{TestServer, generous_tariff};

const PATH: &str = "/api/v1/formation/naics";

fn asked(server: &TestServer, key: &str, query: &str) -> Value {
    let answered = server.get(&format!("{PATH}?{query}"), key);
    assert_eq!(answered.status, 200, "{query}: {}", answered.text());
    answered.json()
}

fn codes(body: &Value) -> Vec<&str> {
    body["industries"].as_array().unwrap().iter().map(|industry| industry["code"].as_str().unwrap()).collect()
}

#[test]
fn a_plain_description_finds_its_industry_with_the_hierarchy() {
    let server = TestServer::start(generous_tariff());
    let body = asked(&server, &server.create_full_key(), "q=dog%20grooming%20van&limit=3");
    assert_eq!((&body["edition"], &body["didYouMean"]), (&"NAICS 2022".into(), &Value::Null));
    assert_eq!(codes(&body).len(), 3);
    let expected = json!({
        "code": "812910", "title": "Pet Care (except Veterinary) Services",
        "level": "national_industry", "foundBy": "words",
        "hierarchy": [
            { "code": "81", "title": "Other Services (except Public Administration)", "level": "sector" },
            { "code": "812", "title": "Personal and Laundry Services", "level": "subsector" },
            { "code": "8129", "title": "Other Personal Services", "level": "industry_group" },
            { "code": "81291", "title": "Pet Care (except Veterinary) Services", "level": "naics_industry" },
            { "code": "812910", "title": "Pet Care (except Veterinary) Services", "level": "national_industry" },
        ],
    });
    assert_eq!(body["industries"][0], expected);
}

#[test]
fn codes_beginnings_of_codes_and_typing_errors_are_found() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let exact = asked(&server, &key, "q=722511");
    assert_eq!((codes(&exact), &exact["industries"][0]["foundBy"]), (vec!["722511"], &"code".into()));
    assert_eq!(codes(&asked(&server, &key, "q=44-45&limit=2")), ["44-45", "441"]);
    assert_eq!(codes(&asked(&server, &key, "q=722&limit=4")), ["722", "7223", "72231", "722310"]);
    let typed = asked(&server, &key, "q=veternarian");
    assert_eq!((codes(&typed)[0], &typed["didYouMean"]), ("541940", &"veterinarian".into()));
}

#[test]
fn no_match_is_an_empty_list_and_bad_input_is_a_422() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    assert!(codes(&asked(&server, &key, "q=qzxwv")).is_empty());
    assert_eq!(codes(&asked(&server, &key, "q=shop&limit=50")).len(), 50);
    for query in ["q=shop&limit=51", "q=shop&limit=0", "limit=5", &format!("q={}", "a".repeat(257))] {
        server.get(&format!("{PATH}?{query}"), &key).expect_error(422, "validation_error");
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
        let answered = server.get(&format!("{PATH}?q=bakery"), &key);
        assert_eq!((answered.status, answered.header_number("x-credits-cost")), (200, 0), "{}", answered.text());
    }
    assert!(server.accounts.recent_entries(account, 9).unwrap().is_empty());
    let other = server.create_key(account, &[Scope::Search]);
    server.get(&format!("{PATH}?q=bakery"), &other).expect_error(403, "insufficient_scope");
}
