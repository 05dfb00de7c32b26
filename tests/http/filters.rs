//! The filters of a search: over REST, as a tool, and on the search page.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::mcp::{call, open};
use crate::test_server::{TestServer, generous_tariff};

fn search(server: &TestServer, filters: &str) -> Value {
    let answered =
        server.get(&format!("/api/v1/search?q=permit&mode=keyword&limit=100{filters}"), &server.create_full_key());
    assert_eq!(answered.status, 200, "{filters}: {}", answered.text());
    answered.json()
}

fn ids(answer: &Value) -> BTreeSet<String> {
    answer["results"].as_array().unwrap().iter().map(|result| result["nodeId"].to_string()).collect()
}

fn total(server: &TestServer, filters: &str) -> u64 {
    let answer = search(server, filters);
    assert_eq!(answer["total"].as_u64().unwrap() as usize, ids(&answer).len(), "{filters}");
    answer["total"].as_u64().unwrap()
}

fn violation(server: &TestServer, filters: &str) -> (String, String) {
    let path = format!("/api/v1/search?q=permit{filters}");
    let error = server.get(&path, &server.create_full_key()).expect_error(422, "validation_error");
    let text = |name: &str| error["details"][0][name].as_str().unwrap().to_owned();
    (text("parameter"), text("message"))
}

#[test]
fn a_union_counts_each_provision_once_however_it_is_written() {
    let server = TestServer::start(generous_tariff());
    let (state, federal) = (total(&server, "&jurisdiction=XA"), total(&server, "&jurisdiction=US"));
    let both = search(&server, "&jurisdiction=XA,US");
    assert!(state > 0);
    assert_eq!(both["total"], state + federal);
    assert_eq!(ids(&search(&server, "&jurisdiction=XA&jurisdiction=US")), ids(&both));
    assert_eq!(ids(&search(&server, "&jurisdiction=us%2C%20xa")), ids(&both));
    // A city is part of its state.
    assert_eq!(total(&server, "&jurisdiction=XA,XA-PORT-ARDEN,XA"), state);
    assert!(total(&server, "&jurisdiction=XA-PORT-ARDEN") < state);
}

#[test]
fn code_bodies_subtrees_tags_statuses_and_scores_narrow_together() {
    let server = TestServer::start(generous_tariff());
    let bodies = server.get("/api/v1/code-bodies", &server.create_full_key()).json();
    let bodies: Vec<&str> =
        bodies["codeBodies"].as_array().unwrap().iter().map(|body| body["id"].as_str().unwrap()).collect();
    let each: Vec<u64> = bodies.iter().map(|id| total(&server, &format!("&codeBody={id}"))).collect();
    assert_eq!(total(&server, &format!("&codeBody={}", bodies.join(","))), each.iter().sum::<u64>());
    let common: u64 =
        bodies.iter().map(|id| total(&server, &format!("&codeBody={id}&jurisdiction=XA-PORT-ARDEN"))).sum();
    assert_eq!(common, total(&server, "&jurisdiction=XA-PORT-ARDEN"));

    let all = search(&server, "&facets=true");
    for facet in all["facets"]["tags"].as_array().unwrap() {
        let tag = facet["value"].as_str().unwrap().replace(' ', "%20");
        assert_eq!(total(&server, &format!("&tag={tag}")), facet["count"].as_u64().unwrap(), "{tag}");
    }
    let (current, gone) = (
        total(&server, "&status=current"),
        total(&server, "&status=repealed,reserved,omitted,transferred,renumbered,expired"),
    );
    assert_eq!(current, total(&server, "&status=in%20force"));
    assert_eq!(Some(current + gone), all["total"].as_u64());

    let first = &all["results"][0];
    let own = format!("&subtree={}", first["nodeId"].as_str().unwrap());
    assert_eq!(ids(&search(&server, &own)), BTreeSet::from([first["nodeId"].to_string()]));
    let best = first["score"].as_f64().unwrap();
    assert!(total(&server, &format!("&minScore={best}")) < current);
    assert!(
        search(&server, &format!("&minScore={best}"))["results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|hit| hit["score"].as_f64() >= Some(best))
    );
}

#[test]
fn invalid_filters_are_refused_with_name_and_limit() {
    let server = TestServer::start(generous_tariff());
    let many = ["US"; 11].join(",");
    for filters in [format!("&jurisdiction={many}"), "&jurisdiction=US".repeat(11)] {
        let (parameter, message) = violation(&server, &filters);
        assert_eq!(parameter, "jurisdiction");
        assert!(message.contains("1 to 10 "), "{message}");
    }
    assert!(total(&server, &format!("&jurisdiction={}", ["US"; 10].join(","))) <= 100);
    let nowhere = "&subtree=00000000-0000-4000-8000-000000000000";
    for (filters, parameter, says) in [
        ("&jurisdiction=US,ZZ", "jurisdiction", "no jurisdiction ZZ"),
        (nowhere, "subtree", "no node 0000"),
        ("&tag=nothing", "tag", "no tag 'nothing'"),
        ("&status=dead", "status", "current, in force, repealed"),
        ("&minScore=1.5", "minScore", "0 to 1"),
        ("&minScore=0.1&minScore=0.2", "minScore", "more than once"),
    ] {
        let (named, message) = violation(&server, filters);
        assert!(named == parameter && message.contains(says), "{filters}: {named}: {message}");
    }
}

#[test]
fn tool_filters_give_the_same_results_as_rest() {
    let server = open();
    let ask = |filters: Value| {
        let mut arguments = json!({ "q": "permit", "mode": "keyword", "limit": 100, "view": "full" });
        arguments.as_object_mut().unwrap().extend(filters.as_object().unwrap().clone());
        let answered = call(&server, "law.search", arguments, Some(&server.create_full_key()));
        answered.json()["result"]["structuredContent"].clone()
    };
    for (arguments, address) in [
        (json!({ "jurisdiction": ["XA-PORT-ARDEN", "US"] }), "&jurisdiction=XA-PORT-ARDEN,US"),
        (json!({ "jurisdiction": "XA" }), "&jurisdiction=XA"),
        (
            json!({ "tag": ["ordinance", "regulation"], "status": ["in force"] }),
            "&tag=ordinance,regulation&status=current",
        ),
        (json!({ "minScore": 0.5 }), "&minScore=0.5"),
    ] {
        let (tool, rest) = (ask(arguments), search(&server, address));
        assert_eq!((ids(&tool), &tool["total"]), (ids(&rest), &rest["total"]), "{address}");
    }
}
