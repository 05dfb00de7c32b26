//! What a call may cost at most, what it would cost, and the budgets of keys: in REST, in tools, and on the account's page.

use serde_json::{Value, json};

use crate::browser::{Browser, between, start_with_account_pages};
use crate::mcp::open;
use crate::mcp_equals_rest::structured;
use crate::test_server::{TestResponse, TestServer};

const KEYS: &str = "/api/v1/keys";

fn post(server: &TestServer, path: &str, key: &str, body: &Value) -> TestResponse {
    let body = body.to_string();
    server.send_raw(&format!(
        "POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

/// Creates a key with a key.
fn created(server: &TestServer, key: &str, body: &Value) -> (String, String) {
    let answer = post(server, KEYS, key, body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = |field: &str| answer.json()[field].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

#[test]
fn a_call_is_refused_above_its_max_cost_and_tells_its_price_without_a_charge() {
    let server = open();
    let account = server.create_account(0);
    let key = server.create_key(account, &hornbook_accounts::scope::Scope::ALL);
    let node = server.get("/api/v1/search?q=deposit", &key).json()["results"][0]["nodeId"].as_str().unwrap().to_owned();
    let left = || server.accounts.account(account, server.clock.now()).unwrap().remaining.allotment;
    let before = left();

    let price = server.get("/api/v1/search?q=deposit&dryRun=true&maxCost=1", &key);
    assert_eq!((price.status, price.text().as_str(), price.header_number("x-credits-cost")), (204, "", 1));
    assert_eq!(price.header_number("x-research-allotment-remaining"), u64::from(before) - 1, "what it would leave");
    let several = format!("/api/v1/nodes?ids={node},{node}&dryRun=true");
    assert_eq!(server.get(&several, &key).header_number("x-credits-cost"), 1);
    assert_eq!(server.get("/api/v1/gis/xa-port-arden?dryRun=true", &key).header_number("x-credits-cost"), 5);
    server.get("/api/v1/search?dryRun=true", &key).expect_error(422, "validation_error");

    let refused = server.get("/api/v1/gis/xa-port-arden?maxCost=4", &key).expect_error(402, "max_cost_exceeded");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("costs 5 credits, more than its maxCost of 4"), "{message}");
    assert!(refused["upgradeUrl"].is_string());
    let params = json!({ "name": "law.search", "arguments": { "q": "a" }, "_meta": { "hornbook/maxCost": 0 } });
    let refused = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
    assert_eq!(structured(&refused)["error"], "max_cost_exceeded");
    for (tool, arguments) in [("law.search", json!({ "q": "a" })), ("search", json!({ "query": "a" }))] {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "hornbook/dryRun": true } });
        let priced = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
        assert_eq!(structured(&priced)["credits"], 1, "{tool}: {}", priced.text());
        let result = crate::mcp::result(&priced);
        assert_eq!(result["isError"], false);
        assert!(result["content"][0]["text"].as_str().unwrap().contains("would cost 1 credit; it was not made"));
        let listed = crate::mcp::ask(&server, "2026-07-28", "tools/list", json!({}), Some(&key));
        let listed = crate::mcp::result(&listed);
        let schema = listed["tools"].as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        if let Some(schema) = schema.get("outputSchema") {
            assert!(
                schema["anyOf"].as_array().unwrap().contains(&json!({ "required": ["dryRun"] })),
                "{tool}: {schema}"
            );
        }
    }
    assert_eq!(left(), before, "nothing was charged");
    assert_eq!(server.get("/api/v1/search?q=deposit&maxCost=1", &key).status, 200);
    assert_eq!(left(), before - 1);

    let wrong =
        server.get("/api/v1/search?q=a&maxCost=few&dryRun=yes&other=1", &key).expect_error(422, "validation_error");
    let named: Vec<&str> =
        wrong["details"].as_array().unwrap().iter().filter_map(|one| one["parameter"].as_str()).collect();
    assert_eq!(named, ["other", "maxCost", "dryRun"]);
    let params = json!({ "name": "law.search", "arguments": { "q": "a" }, "_meta": { "hornbook/maxCost": "few" } });
    let wrong = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
    assert_eq!(structured(&wrong)["error"], "validation_error");
    let params = json!({ "name": "law.search", "arguments": { "q": "a" }, "_meta": { "hornbook/dryRun": "yes" } });
    let wrong = crate::mcp::ask(&server, "2026-07-28", "tools/call", params, Some(&key));
    assert_eq!(structured(&wrong)["details"][0]["parameter"], "dryRun");
    server.get("/api/v1/billing/checkout?maxCost=1", "").expect_error(422, "validation_error");
}

#[test]
fn a_key_creates_keys_with_budgets_that_it_sees_and_revokes() {
    let server = open();
    let key = server.create_full_key();
    let wanted =
        json!({ "name": "sub-agent", "scopes": ["search", "node"], "budget": { "perDay": 5 }, "expiresInDays": 2 });
    let (id, below) = created(&server, &key, &wanted);
    assert_eq!(server.get("/api/v1/coverage?dryRun=true", &below).status, 204, "a scope of any kind is enough");
    server.get("/api/v1/gis/xa-port-arden", &below).expect_error(403, "insufficient_scope");

    let first = server.get("/api/v1/search?q=a", &below);
    assert_eq!((first.header_number("x-budget-remaining"), first.header("x-budget-notice")), (4, ""));
    (0..2).for_each(|_| assert_eq!(server.get("/api/v1/search?q=a", &below).status, 200));
    let fourth = server.get("/api/v1/search?q=a", &below);
    assert_eq!(fourth.header("x-budget-notice"), "80 % of 5 credits today");
    let me = server.get("/api/v1/me", &below).json();
    assert_eq!(
        (&me["budgetRemaining"], &me["budget"]["spentOnDay"]),
        (&json!(0), &json!(5)),
        "its own credit too: {me}"
    );
    assert_eq!(me["budget"]["limits"], json!({ "perDay": 5 }));
    let refused = server.get("/api/v1/search?q=a", &below).expect_error(402, "budget_exceeded");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("0 of 5 left today") && refused["upgradeUrl"].is_string(), "{message}");
    let tool = json!({ "name": "law.search", "arguments": { "q": "a" } });
    let refused = crate::mcp::ask(&server, "2026-07-28", "tools/call", tool, Some(&below));
    assert_eq!(structured(&refused)["error"], "budget_exceeded");
    let own = server.get("/api/v1/me", &key).json();
    assert!(own.get("budget").is_none() && own.get("budgetRemaining").is_none(), "{own}");

    let listed = server.get(KEYS, &key).json();
    let [shown] = listed["keys"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!((&shown["id"], &shown["scopes"], shown.get("key")), (&json!(id), &json!(["search", "node"]), None));
    assert_eq!(shown["budget"]["remaining"], 0);
    assert_eq!(server.get(KEYS, &below).json()["keys"], json!([]));

    let (deeper_id, deeper) = created(&server, &below, &json!({ "name": "deeper" }));
    server.get("/api/v1/search?q=a", &deeper).expect_error(402, "budget_exceeded");
    for (who, why, status, code) in [
        (&deeper, &id, 404, "not_found"),
        (&below, &id, 404, "not_found"),
        (&server.create_full_key(), &id, 404, "not_found"),
        (&key, &"seventeen".to_owned(), 422, "validation_error"),
    ] {
        post(&server, "/api/v1/keys/revoke", who, &json!({ "id": why })).expect_error(status, code);
    }
    assert!(server.get("/api/v1/me", &deeper).status == 402, "the calls above ended nothing");
    assert_eq!(post(&server, "/api/v1/keys/revoke", &key, &json!({ "id": id })).status, 200);
    for ended in [&below, &deeper] {
        server.get("/api/v1/me", ended).expect_error(401, "invalid_api_key");
    }
    assert_eq!(server.get(KEYS, &key).json()["keys"][1]["id"], deeper_id.as_str());
}

#[test]
fn a_key_that_would_do_more_is_refused_with_the_reason() {
    let server = open();
    let account = server.create_account(0);
    let key = server.create_key(account, &[hornbook_accounts::scope::Scope::Search]);
    for (body, words) in [
        (json!({ "name": "a", "scopes": ["node"] }), "its scopes are search"),
        (json!({ "name": "a", "scopes": ["law"] }), "'law' is not a scope"),
        (json!({ "name": "a", "expiresInDays": 0 }), "expiresInDays must be"),
        (json!({ "name": "" }), "the name has 0 characters"),
        (json!({ "name": "a\u{202e}b" }), "U+202E"),
        (json!({ "name": "a", "budget": { "perWeek": 1 } }), "unknown field `perWeek`"),
        (json!({ "name": "a", "budget": { "perDay": -1 } }), "invalid value"),
        (json!({}), "missing field `name`"),
    ] {
        let refused = post(&server, KEYS, &key, &body).expect_error(422, "validation_error");
        assert!(refused["message"].as_str().unwrap().contains(words), "{body}: {refused}");
    }
    // Who asks for the price is told as well.
    post(&server, "/api/v1/keys?dryRun=true", &key, &json!({ "name": "" })).expect_error(422, "validation_error");
    assert_eq!(server.get(KEYS, &key).json()["keys"], json!([]));
}

#[test]
fn people_see_and_change_the_budgets_of_their_keys() {
    let server = start_with_account_pages();
    let mut browser = Browser::approved(&server, "jane");
    browser.get("/settings");
    let fields = [("name", "leashed"), ("scopes", "search"), ("budget", "20"), ("daily_budget", "2")];
    let page = browser.post("/settings/keys", &fields).text();
    let key = between(&page, "<code id=\"new-key\">", "<").unwrap().to_owned();
    created(&server, &key, &json!({ "name": "below", "budget": { "total": 1 } }));
    (0..2).for_each(|_| assert_eq!(server.get("/api/v1/search?q=a", &key).status, 200));
    server.get("/api/v1/search?q=a", &key).expect_error(402, "budget_exceeded");

    let page = browser.get("/settings").text();
    for shown in [
        "Budget: 20 credits in all, 2 credits a day. Spent: 2 in all, 2 this month, 2 today.",
        "<strong>100 % of 2 credits today are spent.</strong>",
        "Created by the key <strong>leashed</strong>, and ends with it",
        "Replace and Revoke also end the keys that it created",
        "Budget: 1 credit in all. Spent: 0 in all, 0 this month, 0 today.",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let id = between(&page, "name=\"key\" value=\"", "\"").unwrap().to_owned();
    let raised = [("key", id.as_str()), ("budget", "20"), ("monthly_budget", ""), ("daily_budget", "3")];
    assert_eq!(browser.post("/settings/keys/budget", &raised).status, 303);
    assert_eq!(server.get("/api/v1/search?q=a", &key).status, 200);
    server.get("/api/v1/search?q=a", &key).expect_error(402, "budget_exceeded");
    browser.get("/settings");
    let wrong = browser.post("/settings/keys/budget", &[("key", &id), ("budget", "many")]);
    assert!(wrong.status == 422 && wrong.text().contains("whole number of credits"), "{}", wrong.text());
    browser.get("/settings");
    assert_eq!(browser.post("/settings/keys/budget", &[("key", &id)]).status, 303);
    assert_eq!(server.get("/api/v1/search?q=a", &key).header("x-budget-remaining"), "", "without limits it has ended");

    server.create_full_key();
    let stranger = server.accounts.keys(None).last().unwrap().record.id.to_string();
    browser.get("/settings");
    assert_eq!(browser.post("/settings/keys/budget", &[("key", &stranger), ("budget", "1")]).status, 422);
}
