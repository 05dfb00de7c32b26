//! A company formation by an agent and a person: the agent's steps over MCP, the person's on pages;
//! once with an operator who confirms the payment and once with a card.

use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook_accounts::ids::{AccountId, OrderId};
use hornbook_accounts::records::OrderStage;
use hornbook_accounts::scope::Scope;
use hornbook_accounts::tier::Tariff;
use serde_json::{Value, json};

use crate::formation::{self, intake};
use crate::mcp::{tool_result, with_mcp};
use crate::operations::UNKNOWN_NODE_ID;
use crate::payments::{self, pay_url, start_with_cards_and};
use crate::test_server::{TestServer, TestServerOptions};

fn tool(server: &TestServer, name: &str, arguments: Value, key: &str) -> Value {
    tool_result(server, name, arguments, key)["structuredContent"].clone()
}

/// Requirements, industry code, intake. Returns the path of the page that the agent gives to its person, and the id with
/// which the agent follows the order.
fn hand_over_as_agent(server: &TestServer, key: &str) -> (String, Value) {
    let required = tool(server, "formation.requirements", json!({ "state": "DE", "entityType": "llc" }), key);
    let facts = required["entityTypes"][0]["facts"]["required"].as_array().unwrap();
    assert!(
        facts.iter().any(|fact| fact["fact"] == "registered_agent" || fact["fact"] == "registeredAgent"),
        "{facts:?}"
    );
    let found = tool(server, "formation.lookup_naics", json!({ "q": "custom software programming" }), key);
    let industry = found["industries"][0]["code"].as_str().unwrap();
    assert_eq!(industry, "541511", "{found:#}");
    let mut good = intake();
    good["naics"] = json!(industry);

    let mut bad = good.clone();
    bad["naics"] = json!("000000");
    bad["people"][0]["address"]["zip"] = json!("1");
    let refused = crate::mcp::result(&crate::mcp::call(server, "formation.handoff", bad, Some(key)));
    assert_eq!(refused["isError"], true);
    let faults: Vec<&str> = refused["structuredContent"]["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["parameter"].as_str().unwrap())
        .collect();
    assert!(faults.contains(&"naics") && faults.contains(&"people[0].address.zip"), "{faults:?}");

    let mut worse = good.clone();
    worse["people"] = json!([{ "name": "Ada", "roles": ["boss"], "address": { "street": "1 Elm Street" } }]);
    worse["contact"] = json!({ "email": "ada" });
    worse["effectiveDate"] = json!("tomorrow");
    let refused = crate::mcp::result(&crate::mcp::call(server, "formation.handoff", worse, Some(key)));
    let text = refused["content"][0]["text"].as_str().unwrap();
    let details = refused["structuredContent"]["details"].as_array().unwrap();
    assert!(details.len() > 5, "{details:?}");
    for detail in details {
        let message = detail["message"].as_str().unwrap();
        assert_eq!(text.matches(message).count(), 1, "each fault once in the text: {text}");
    }

    let handed_over = tool(server, "formation.handoff", good, key);
    let handoff_id = handed_over["handoffId"].clone();
    let status = follow(server, key, &handoff_id);
    assert_eq!((&status["state"], &status["expiresAt"]), (&json!("review"), &handed_over["expiresAt"]));
    assert_eq!(status["stages"], json!([]));
    let text = tool_result(server, "formation.status", json!({ "handoffId": handoff_id }), key);
    assert!(text["content"][0]["text"].as_str().unwrap().starts_with("Nobody has accepted it yet."), "{text}");
    (handed_over["reviewUrl"].as_str().unwrap().replace("https://law.example", ""), handoff_id)
}

/// What the agent sees of its order. It never contains anything about people or the company.
fn follow(server: &TestServer, key: &str, handoff_id: &Value) -> Value {
    let status = tool(server, "formation.status", json!({ "handoffId": handoff_id }), key);
    let names: Vec<&String> = status.as_object().unwrap().keys().collect();
    assert_eq!(names, ["createdAt", "expiresAt", "handoffId", "stages", "state", "updatedAt"]);
    status
}

/// Moves an order from setup to completion. The holder of the token checks the status on the way.
fn advance_to_completed(
    server: &TestServer,
    account: AccountId,
    key: &str,
    (id, handoff_id): (OrderId, &Value),
    token: &str,
) {
    let other = server.create_key(server.create_account(0), &[Scope::Formation]);
    for (handoff_id, key) in [(handoff_id, &*other), (&json!(UNKNOWN_NODE_ID), key)] {
        let arguments = json!({ "handoffId": handoff_id });
        let refused = crate::mcp::result(&crate::mcp::call(server, "formation.status", arguments, Some(key)));
        assert_eq!(refused["structuredContent"]["error"], "not_found", "of another account, or of none");
    }
    let status = || {
        let found = server.get(&format!("/api/v1/formation/status/{id}?token={token}"), key);
        assert_eq!(found.status, 200, "{}", found.text());
        let followed = follow(server, key, handoff_id);
        for name in ["state", "stages", "createdAt", "updatedAt"] {
            assert_eq!(followed[name], found.json()[name], "{name}");
        }
        found.json()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(), "setup");
    for stage in [OrderStage::FinalReview, OrderStage::Filing, OrderStage::Completed] {
        server.accounts.advance_order(id, stage, &server.test_act()).unwrap();
        assert_eq!(status(), stage.name());
    }
    let left = server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    assert_eq!(left, 5000 - 4, "all that was charged are four looks at the status");
    server.accounts.verify_ledger().unwrap();
}

#[test]
fn an_agent_hands_over_a_person_accepts_and_the_operator_confirms_the_payment() {
    fn mounts(service: &Arc<Service>) -> Mounts {
        [with_mcp(service), formation::mounts(service)].concat()
    }
    let server = TestServer::start_with_options(
        TestServerOptions { mounts, ..TestServerOptions::default_for(Tariff::CONTRACT) },
        |_| (),
    );
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    let (page, handoff_id) = hand_over_as_agent(&server, &key);
    let (id, token) = formation::order_shown_on(&formation::accept(&server, &page));
    assert_eq!(follow(&server, &key, &handoff_id)["state"], "payment");
    server.accounts.pay_order(id, Some("wire 1".to_owned()), &server.test_act()).unwrap();
    advance_to_completed(&server, account, &key, (id, &handoff_id), &token.unwrap());
}

#[test]
fn an_agent_hands_over_a_person_accepts_and_pays_by_card() {
    fn mounts(service: &Arc<Service>) -> Mounts {
        [with_mcp(service), payments::mounts(service)].concat()
    }
    let (server, stripe) = start_with_cards_and(Tariff::CONTRACT, mounts);
    let account = server.create_account(0);
    let key = server.create_key(account, &[Scope::Formation]);
    let (page, handoff_id) = hand_over_as_agent(&server, &key);
    let accepted = formation::accept(&server, &page);
    let (id, token) = formation::order_shown_on(&accepted);
    let session = stripe.session_at(&pay_url(&accepted));
    stripe.deliver(&stripe.paid(&session), server.address);
    advance_to_completed(&server, account, &key, (id, &handoff_id), &token.unwrap());
}
