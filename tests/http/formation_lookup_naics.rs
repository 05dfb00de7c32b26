//! Industry codes over HTTP: found by plain descriptions and by code, with their place in the
//! hierarchy, for free.

use hornbook::accounts::scope::Scope;
use serde_json::{Value, json};

use crate::house::{House, generous};

const PATH: &str = "/api/v1/formation/naics";

fn asked(house: &House, key: &str, query: &str) -> Value {
    let answered = house.get(&format!("{PATH}?{query}"), key);
    assert_eq!(answered.status, 200, "{query}: {}", answered.text());
    answered.json()
}

fn codes(body: &Value) -> Vec<&str> {
    body["industries"].as_array().unwrap().iter().map(|industry| industry["code"].as_str().unwrap()).collect()
}

#[test]
fn a_plain_description_finds_its_industry_with_the_hierarchy() {
    let house = House::open(generous());
    let body = asked(&house, &house.any_key(), "q=dog%20grooming%20van&limit=3");
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
    let house = House::open(generous());
    let key = house.any_key();
    let exact = asked(&house, &key, "q=722511");
    assert_eq!((codes(&exact), &exact["industries"][0]["foundBy"]), (vec!["722511"], &"code".into()));
    assert_eq!(codes(&asked(&house, &key, "q=44-45&limit=2")), ["44-45", "441"]);
    assert_eq!(codes(&asked(&house, &key, "q=722&limit=4")), ["722", "7223", "72231", "722310"]);
    let typed = asked(&house, &key, "q=veternarian");
    assert_eq!((codes(&typed)[0], &typed["didYouMean"]), ("541940", &"veterinarian".into()));
}

#[test]
fn what_fits_nothing_is_an_empty_list_and_what_breaks_a_rule_a_422() {
    let house = House::open(generous());
    let key = house.any_key();
    assert!(codes(&asked(&house, &key, "q=qzxwv")).is_empty());
    assert_eq!(codes(&asked(&house, &key, "q=shop&limit=50")).len(), 50);
    for query in ["q=shop&limit=51", "q=shop&limit=0", "limit=5", &format!("q={}", "a".repeat(257))] {
        house.get(&format!("{PATH}?{query}"), &key).error(422, "validation_error");
    }
}

#[test]
fn it_is_free_and_leaves_no_ledger_entry_even_with_an_empty_wallet() {
    let mut tariff = generous();
    tariff.free.monthly_units = 0;
    let house = House::open(tariff);
    let account = house.account(0);
    let key = house.key(account, &[Scope::Formation]);
    for _ in 0..3 {
        let answered = house.get(&format!("{PATH}?q=bakery"), &key);
        assert_eq!((answered.status, answered.number("x-credits-cost")), (200, 0), "{}", answered.text());
    }
    assert!(house.accounts.recent_entries(account, 9).unwrap().is_empty());
    let other = house.key(account, &[Scope::Search]);
    house.get(&format!("{PATH}?q=bakery"), &other).error(403, "insufficient_scope");
}
