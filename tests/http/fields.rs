//! The parameter `fields`: answers with only the members that a caller wants.

use hornbook::api::operation::Operation;
use hornbook::api::operations::OPERATIONS;
use serde_json::{Value, json};

use crate::operations::{NODE, valid_path};
use crate::test_server::{TestServer, generous_tariff};

fn takes_fields(operation: &&Operation) -> bool {
    operation.parameters.iter().any(|parameter| parameter.name == "fields")
}

fn with_fields(path: &str, fields: &str) -> String {
    format!("{path}{}fields={fields}", if path.contains('?') { '&' } else { '?' })
}

/// The members of an object, or of the first element of a list.
fn members(value: &Value) -> Vec<String> {
    let object = value.as_array().map_or(Some(value), |list| list.first());
    object.and_then(Value::as_object).map_or_else(Vec::new, |object| object.keys().cloned().collect())
}

#[test]
fn each_member_of_each_answer_can_be_asked_for_alone() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let mut tried = 0;
    for operation in OPERATIONS.iter().filter(takes_fields) {
        let path = valid_path(&server, operation);
        let whole = server.get(&path, &key).json();
        for name in members(&whole) {
            let answer = server.get(&with_fields(&path, &name), &key);
            assert_eq!(answer.status, 200, "{path}, {name}: {}", answer.text());
            assert_eq!(members(&answer.json()), [name.as_str()], "{path}");
            // Everything but how long it took is the same.
            if name != "timings" && name != "tookMs" {
                assert_eq!(answer.json()[&name], whole[&name], "{path}, {name}");
            }
            for inner in members(&whole[&name]) {
                let answer = server.get(&with_fields(&path, &format!("{name}.{inner}")), &key);
                // The members of a map are names of data, which no schema lists.
                if answer.status == 200 {
                    assert_eq!(members(&answer.json()[&name]), [inner.as_str()], "{path}, {name}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 60, "only {tried} paths of two names");
}

#[test]
fn a_shorter_answer_costs_the_same_and_has_a_version_of_its_own() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let path = format!("/api/v1/node/{}", *NODE);
    let whole = server.get(&path, &key);
    let short = server.get(&format!("{path}?fields=citation,path.citation"), &key);
    assert_eq!(short.header("x-credits-cost"), whole.header("x-credits-cost"));
    assert_ne!(short.header("etag"), whole.header("etag"));
    assert!(short.json().as_object().unwrap().len() == 2 && short.text().len() * 10 < whole.text().len());
    let known = |path: &str, version: &str| {
        let bearer = format!("Bearer {key}");
        server.get_with(path, &[("Authorization", &bearer), ("If-None-Match", version)]).status
    };
    let other = format!("{path}?fields=citation");
    assert_eq!(known(&format!("{path}?fields=path.citation,citation"), short.header("etag")), 304);
    assert_eq!([known(&other, short.header("etag")), known(&other, whole.header("etag"))], [200, 200]);
    // The links to the other pages of a list keep the members.
    let page = server.get("/api/v1/search?q=notice&limit=1&fields=total,results.url", &key);
    assert!(page.header("link").contains("fields="), "{}", page.header("link"));
}

#[test]
fn a_misspelled_member_is_refused_with_those_that_there_are() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    let refused = |query: &str| {
        let answer = server.get(&format!("/api/v1/search?q=notice&{query}"), &key);
        answer.expect_error(422, "validation_error")["details"][0].clone()
    };
    let detail = refused("fields=total,results.citaton");
    assert_eq!(detail["parameter"], "fields");
    let message = detail["message"].as_str().unwrap();
    assert!(
        message.starts_with("there is no `results.citaton`; `results` has") && message.contains("citation, "),
        "{message}"
    );
    assert_eq!(refused("fields=total.x")["message"], "there is no `total.x`; `total` has no members");
    let markdown = server.get(&format!("/api/v1/node/{}?fields=text&format=md", *NODE), &key);
    let detail = &markdown.expect_error(422, "validation_error")["details"][0];
    assert_eq!(detail["parameter"], json!("fields"));
}

#[test]
fn a_concise_view_has_the_law_and_what_says_whether_it_is_the_law() {
    let server = TestServer::start(generous_tariff());
    let key = server.create_full_key();
    for operation in OPERATIONS.iter().filter(takes_fields) {
        let path = valid_path(&server, operation);
        let view = |view: &str| server.get(&with_fields(&path, "").replace("fields=", &format!("view={view}")), &key);
        let (concise, full, whole) = (view("concise"), view("full"), server.get(&path, &key));
        assert_eq!((concise.status, full.status), (200, 200), "{path}: {}", concise.text());
        assert_eq!(members(&full.json()), members(&whole.json()), "{path}");
        assert!(concise.text().len() < whole.text().len(), "{path}");
        assert_eq!(concise.header("x-credits-cost"), whole.header("x-credits-cost"));
    }
    let path = format!("/api/v1/node/{}", *NODE);
    let (node, whole) = (server.get(&format!("{path}?view=concise"), &key).json(), server.get(&path, &key).json());
    for name in ["text", "citation", "status", "effectiveFrom", "isOutdated", "url"] {
        assert_eq!(node[name], whole[name], "{name}");
    }
    assert!(node.get("references").is_none() && node.get("notes").is_none());
    assert_eq!(node["provenance"]["currentThrough"], whole["provenance"]["currentThrough"]);
    for wrong in ["view=brief", "view=concise&fields=text", "view=concise&format=md"] {
        let refused = server.get(&format!("{path}?{wrong}"), &key).expect_error(422, "validation_error");
        assert_eq!(refused["details"][0]["parameter"], "view", "{wrong}");
    }
}
