//! MCP over real sockets: lists, calls, versions, keys, limits.

use std::collections::HashSet;
use std::sync::Arc;

use hornbook::api::operation::{Operation, ToolAnswer};
use hornbook::api::operations::OPERATIONS;
use hornbook::api::service::Service;
use hornbook::http::Mounts;
use hornbook::mcp::{MCP_PATH, Mcp, McpMount, McpSettings};
use hornbook_accounts::scope::Scope;
use hornbook_corpus::ids::NodeId;
use serde_json::{Value, json};

use crate::operations::{NODE, UNKNOWN_NODE_ID};
use crate::sample::ENGINE;
use crate::test_server::{TestResponse, TestServer, TestServerOptions, generous_tariff, wait_until};

pub(crate) const CURRENT_VERSION: &str = "2026-07-28";
pub(crate) const OLDER_VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

pub(crate) fn with_mcp(service: &Arc<Service>) -> Mounts {
    let mcp = Arc::new(Mcp::new(Arc::clone(service)));
    vec![Arc::new(McpMount::new(mcp, &McpSettings::default()))]
}

fn with_limited_mcp(service: &Arc<Service>) -> Mounts {
    let mcp = Arc::new(Mcp::new(Arc::clone(service)));
    vec![Arc::new(McpMount::new(mcp, &McpSettings { free_per_minute: Some(5), ..McpSettings::default() }))]
}

pub(crate) fn open() -> TestServer {
    open_as(TestServerOptions::default_for(generous_tariff()))
}

pub(crate) fn open_as(opening: TestServerOptions) -> TestServer {
    TestServer::start_with_options(TestServerOptions { mounts: with_mcp, ..opening }, |_| ())
}

/// Posts a message exactly as given.
pub(crate) fn post(server: &TestServer, body: &str, headers: &[(&str, &str)]) -> TestResponse {
    post_to(server, MCP_PATH, body, headers)
}

fn post_to(server: &TestServer, path: &str, body: &str, headers: &[(&str, &str)]) -> TestResponse {
    let length = body.len();
    let mut text = format!(
        "POST {path} HTTP/1.1\r\nHost: law.example\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n"
    );
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    server.send_raw(&format!("{text}\r\n{body}"))
}

/// A request of an agent in a version of the protocol.
pub(crate) fn ask(server: &TestServer, version: &str, method: &str, params: Value, key: Option<&str>) -> TestResponse {
    ask_at(server, MCP_PATH, version, method, params, key)
}

fn ask_at(
    server: &TestServer,
    path: &str,
    version: &str,
    method: &str,
    mut params: Value,
    key: Option<&str>,
) -> TestResponse {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let mut headers = vec![("MCP-Protocol-Version", version.to_owned())];
    headers.extend(bearer.map(|bearer| ("Authorization", bearer)));
    if version == CURRENT_VERSION {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        headers.push(("Mcp-Method", method.to_owned()));
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
        headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    post_to(server, path, &body, &headers)
}

pub(crate) fn result(answered: &TestResponse) -> Value {
    assert_eq!(answered.status, 200, "{}", answered.text());
    let body = answered.json();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)), "{body:#}");
    assert!(body.get("result").is_some(), "{body:#}");
    body["result"].clone()
}

pub(crate) fn call(server: &TestServer, tool: &str, arguments: Value, key: Option<&str>) -> TestResponse {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    ask(server, CURRENT_VERSION, "tools/call", params, key)
}

pub(crate) fn tool_result(server: &TestServer, tool: &str, arguments: Value, key: &str) -> Value {
    let result = result(&call(server, tool, arguments, Some(key)));
    assert_eq!(result["isError"], false, "{result:#}");
    result
}

/// Arguments with which a tool answers as REST does by default: with everything, as JSON.
pub(crate) fn as_rest(operation: &Operation, mut arguments: Value) -> Value {
    let tool = operation.tool.unwrap();
    if tool.answer == ToolAnswer::Law {
        arguments["view"] = json!("full");
    }
    for (name, _) in tool.defaults {
        if arguments.get(*name).is_some() {
            continue;
        }
        arguments[*name] = match *name {
            "limit" => json!(20),
            "include" => json!(["law", "notes", "credits", "references", "wordings"]),
            "placeholders" | "ledger" => json!(true),
            name => panic!("the REST default of {name} is needed here"),
        };
    }
    arguments
}

/// Valid arguments for the tool of an operation.
pub(crate) fn arguments(operation: &Operation) -> Value {
    if let Some(body) = operation.body {
        return serde_json::from_str(body.example).unwrap();
    }
    match operation.name {
        "search" | "suggest" => json!({ "q": "security deposit" }),
        "connector-search" => json!({ "query": "security deposit" }),
        "node" | "references" | "history" | "connector-fetch" => json!({ "id": *NODE }),
        "resolve" => json!({ "citation": "3 S.F.C. § 823" }),
        "verify" => json!({ "quote": "of the Board", "citation": "3 S.F.C. § 823" }),
        "browse" => json!({ "codeBodyId": ENGINE.snapshot().catalogue.code_bodies[0].id }),
        "gis-at" => json!({ "shortCode": "XA-PORT-ARDEN", "lat": 44.054, "lon": -124.217 }),
        "formation-lookup-naics" => json!({ "q": "dog grooming van" }),
        "formation-requirements" => json!({ "state": "VA", "entityType": "llc" }),
        "code-bodies" | "changes" | "coverage" | "me" => json!({}),
        other => panic!("the tool of {other} needs arguments here"),
    }
}

pub(crate) fn tools() -> impl Iterator<Item = (&'static Operation, &'static str)> {
    OPERATIONS.iter().filter_map(|operation| Some((operation, operation.tool?.name)))
}

#[test]
fn every_version_lists_the_tools_and_calls_them() {
    let server = open();
    let key = server.create_full_key();
    for version in OLDER_VERSIONS.into_iter().chain([CURRENT_VERSION]) {
        let list = result(&ask(&server, version, "tools/list", json!({}), None));
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, tools().map(|(_, name)| name).collect::<Vec<_>>(), "in the order of the table");
        assert_eq!(list.get("resultType").is_some(), version == CURRENT_VERSION);
        assert_eq!(list.get("ttlMs").is_some(), version == CURRENT_VERSION);
        let found = ask(
            &server,
            version,
            "tools/call",
            json!({ "name": "law.browse", "arguments": { "codeBodyId": ENGINE.snapshot().catalogue.code_bodies[0].id } }),
            Some(&key),
        );
        let found = result(&found);
        assert!(found["structuredContent"]["total"].as_u64().unwrap() > 0);
        let links = found["content"].as_array().unwrap().iter().filter(|part| part["type"] == "resource_link").count();
        assert_eq!(links > 0, version != "2025-03-26", "links came with the version after it");
    }
}

#[test]
fn the_tool_list_is_small_and_has_both_name_styles() {
    let server = open();
    let listed = |path: &str| {
        let answered = ask_at(&server, path, CURRENT_VERSION, "tools/list", json!({}), None);
        assert!(answered.body.len() < 27_600, "{} bytes", answered.body.len());
        let names = result(&answered)["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>();
        (answered.body, names)
    };
    let (body, dotted) = listed(MCP_PATH);
    assert_eq!(body, listed(MCP_PATH).0, "the same bytes every time");
    let (_, snake) = listed("/api/mcp?names=snake");
    assert_eq!(dotted.len(), snake.len());
    assert!(snake.iter().all(|name| !name.contains('.')), "{snake:?}");
    let key = server.create_full_key();
    for name in dotted.iter().chain(&snake) {
        let answered = call(&server, name, json!({ "surprise": 1 }), Some(&key));
        assert_eq!(result(&answered)["structuredContent"]["error"], "validation_error", "{name} is a tool");
    }
    let refused = ask_at(&server, "/api/mcp?names=camel", CURRENT_VERSION, "tools/list", json!({}), None);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)));
}

#[test]
fn tool_results_match_their_output_schemas() {
    let server = open();
    let key = server.create_full_key();
    let list = result(&ask(&server, CURRENT_VERSION, "tools/list", json!({}), None));
    let mut handoff_id = Value::Null;
    for (operation, name) in tools() {
        let listed = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let given = if name == "formation.status" { json!({ "handoffId": handoff_id }) } else { arguments(operation) };
        let result = tool_result(&server, name, given.clone(), &key);
        if name == "formation.handoff" {
            handoff_id = result["structuredContent"]["handoffId"].clone();
        }
        let schema = &listed["outputSchema"];
        let has_json = result.get("structuredContent").is_some();
        assert_eq!(schema.is_object(), has_json, "{name}: a schema promises JSON");
        assert_eq!(operation.tool.unwrap().answer == ToolAnswer::Both, has_json, "{name}");
        assert!(has_json || result["content"].as_array().unwrap().len() == 1, "{name}: law is in one place");
        for required in schema["anyOf"][0]["required"].as_array().into_iter().flatten() {
            assert!(result["structuredContent"].get(required.as_str().unwrap()).is_some(), "{name}: {required}");
        }
        for member in result["structuredContent"].as_object().into_iter().flatten().map(|(name, _)| name) {
            assert!(schema["properties"].get(member).is_some(), "{name}: {member} is not described");
        }
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(!text.is_empty() && result["content"][0]["type"] == "text");
        for part in result["content"].as_array().unwrap().iter().skip(1) {
            assert!(part["uri"].as_str().unwrap().starts_with("hornbook://node/"), "{part}");
        }
        assert_eq!(listed["annotations"]["openWorldHint"], false);
        let given: HashSet<String> = given.as_object().unwrap().keys().cloned().collect();
        for required in listed["inputSchema"]["required"].as_array().into_iter().flatten() {
            assert!(given.contains(required.as_str().unwrap()), "{name}: {required}");
        }
    }
}

#[test]
fn without_a_good_key_a_call_is_a_401_and_lists_need_none() {
    let server = open();
    let mistyped = format!("{}x", server.create_full_key());
    for key in [None, Some("hb_live_x"), Some(mistyped.as_str())] {
        for (method, params) in [
            ("tools/call", json!({ "name": "law.search", "arguments": { "q": "deposit" } })),
            ("resources/read", json!({ "uri": format!("hornbook://node/{}", *NODE) })),
            ("resources/read", json!({ "uri": "hornbook://coverage" })),
        ] {
            let refused = ask(&server, CURRENT_VERSION, method, params, key);
            assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"), "{}", refused.text());
            let error = &refused.json()["error"];
            assert_eq!((&error["code"], &error["data"]["error"]), (&json!(401), &json!("invalid_api_key")));
        }
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"] {
            result(&ask(&server, CURRENT_VERSION, method, json!({}), key));
        }
        for uri in ["hornbook://guide", "hornbook://pricing"] {
            result(&ask(&server, CURRENT_VERSION, "resources/read", json!({ "uri": uri }), key));
        }
    }
}

#[test]
fn errors_a_model_can_fix_are_tool_results() {
    let mut tariff = generous_tariff();
    tariff.free.monthly_units = 0;
    let server = open_as(TestServerOptions::default_for(tariff));
    let failed = |tool: &str, arguments: Value, key: &str, code: &str| {
        let answered = call(&server, tool, arguments, Some(key));
        let result = result(&answered);
        assert_eq!(
            (&result["isError"], &result["structuredContent"]["error"]),
            (&json!(true), &json!(code)),
            "{result:#}"
        );
        let message = result["structuredContent"]["message"].as_str().unwrap();
        assert!(result["content"][0]["text"].as_str().unwrap().starts_with(message));
        (answered, result["structuredContent"].clone())
    };
    let poor = server.create_key(server.create_account(0), &Scope::ALL);
    let (answered, error) = failed("law.search", json!({ "q": "deposit" }), &poor, "insufficient_credits");
    assert_eq!(error["upgradeUrl"], "https://law.example/api/v1/billing/checkout");
    assert_eq!(answered.header_number("x-ratelimit-limit"), 100_000);
    let rich = server.create_key(server.create_account(9), &Scope::ALL);
    let (_, error) = failed("law.search", json!({ "q": 7, "limit": 0, "surprise": 1 }), &rich, "validation_error");
    let named: HashSet<&str> =
        error["details"].as_array().unwrap().iter().map(|fault| fault["parameter"].as_str().unwrap()).collect();
    assert_eq!(named, HashSet::from(["q", "limit", "surprise"]));
    failed("law.get_node", json!({ "id": UNKNOWN_NODE_ID }), &rich, "not_found");
    failed("fetch", json!({ "id": "99 No Such Code § 1" }), &rich, "not_found");
    failed("fetch", json!({ "id": "https://evil.example/api/v1/node/1" }), &rich, "not_found");
    let narrow = server.create_key(server.create_account(9), &[Scope::Gis]);
    failed("law.search", json!({ "q": "deposit" }), &narrow, "insufficient_scope");
    let unknown = call(&server, "law.nothing", json!({}), Some(&rich));
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (200, &json!(-32602)));
}

#[test]
fn a_rate_limited_call_returns_the_time_to_wait() {
    let mut tariff = generous_tariff();
    tariff.free.limits.per_minute = 1;
    let server = open_as(TestServerOptions::default_for(tariff));
    let key = server.create_full_key();
    tool_result(&server, "law.search", json!({ "q": "deposit" }), &key);
    let refused = call(&server, "law.search", json!({ "q": "deposit" }), Some(&key));
    let result = result(&refused);
    assert_eq!(result["structuredContent"]["error"], "rate_limited");
    let wait = result["structuredContent"]["retryAfterSec"].as_u64().unwrap();
    assert_eq!((refused.header_number("retry-after"), refused.header_number("x-ratelimit-remaining")), (wait, 0));
    let list = ask(&server, CURRENT_VERSION, "tools/list", json!({}), Some(&key));
    assert_eq!(list.status, 200, "lists do not count");
}

#[test]
fn handshakes_and_lists_have_a_loose_limit_for_each_key_and_address() {
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: with_limited_mcp, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    );
    let (one, other) = (server.create_full_key(), server.create_full_key());
    let taken = |key: Option<&str>| {
        (0..9).filter(|_| ask(&server, CURRENT_VERSION, "tools/list", json!({}), key).status == 200).count()
    };
    assert_eq!((taken(Some(&one)), taken(Some(&other)), taken(None)), (5, 5, 5));
    assert_eq!(taken(Some("hb_live_x")), 0, "a key that is not good counts for the address");
    let refused = ask(&server, CURRENT_VERSION, "tools/list", json!({}), None);
    assert_eq!((refused.status, &refused.json()["error"]["data"]["error"]), (429, &json!("rate_limited")));
    assert!(refused.header_number("retry-after") > 0);
    assert_eq!(post(&server, "{", &[]).status, 429, "an invalid message did not count");
    assert_eq!(call(&server, "law.search", json!({ "q": "a" }), None).status, 429, "calls without a key count");
    tool_result(&server, "law.search", json!({ "q": "deposit" }), &one);
}

/// Everything posted without a valid key counts, and so does each member of a batch.
#[test]
fn every_message_counts_for_the_rate_limit() {
    let notified = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"law.search","arguments":{"q":"a"}}}"#;
    let listed = |member: &str, count: usize| format!("[{}]", vec![member; count].join(","));
    type Kind<'k> = (&'k str, String, &'k [(&'k str, &'k str)]);
    let kinds: &[Kind] = &[
        ("a notification", notified.to_owned(), &[]),
        ("a list where lists are not", listed(notified, 3), &[("MCP-Protocol-Version", "2025-06-18")]),
        ("no version", notified.to_owned(), &[("MCP-Protocol-Version", "1999-01-01")]),
        ("another origin", notified.to_owned(), &[("Origin", "https://evil.example")]),
        ("a call with a bad key", call.to_owned(), &[("Authorization", "Bearer hb_live_x")]),
        ("no message", "7".to_owned(), &[]),
    ];
    for (what, body, headers) in kinds {
        let server = TestServer::start_with_options(
            TestServerOptions { mounts: with_limited_mcp, ..TestServerOptions::default_for(generous_tariff()) },
            |_| (),
        );
        let statuses: Vec<u16> = (0..6).map(|_| post(&server, body, headers).status).collect();
        assert!(!statuses[..5].contains(&429) && statuses[5] == 429, "{what}: {statuses:?}");
    }
    // Five messages a minute are allowed, so a batch of six is refused, whatever its members are.
    for member in [notified, call, "7", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#] {
        let server = TestServer::start_with_options(
            TestServerOptions { mounts: with_limited_mcp, ..TestServerOptions::default_for(generous_tariff()) },
            |_| (),
        );
        let text = post(&server, &listed(member, 6), &[]).text();
        assert!(text.contains("try again in"), "{member}: {text}");
        assert_eq!(post(&server, notified, &[]).status, 429, "{member}");
    }
    // With a valid key, the limit of requests is ten times that of free messages.
    let server = TestServer::start_with_options(
        TestServerOptions { mounts: with_limited_mcp, ..TestServerOptions::default_for(generous_tariff()) },
        |_| (),
    );
    let bearer = format!("Bearer {}", server.create_full_key());
    let statuses: Vec<u16> = (0..52).map(|_| post(&server, call, &[("Authorization", &bearer)]).status).collect();
    assert!(!statuses[..50].contains(&429) && statuses[51] == 429, "{statuses:?}");
}

#[test]
fn batches_can_be_retried_and_conflicting_idempotency_keys_are_refused() {
    let server = open();
    let key = server.create_full_key();
    let bearer = format!("Bearer {key}");
    let search = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "search_law", "arguments": { "q": "deposit" } } });
    let list = json!([search(1), search(2)]).to_string();
    let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", "once")];
    let (first, again) = (post(&server, &list, &headers), post(&server, &list, &headers));
    assert_eq!(
        (first.status, first.json().as_array().unwrap().len(), again.json().as_array().unwrap().len()),
        (200, 2, 2)
    );
    assert_eq!((first.header_number("x-credits-cost"), again.header_number("x-credits-cost")), (2, 0));
    assert_eq!(again.header_number("x-research-allotment-remaining"), 49_998, "nothing is charged twice");
    // The idempotency key of a call takes precedence over that of the batch.
    let with_own = |id: u32, own: &str| {
        let mut search = search(id);
        search["params"]["_meta"] = json!({ "hornbook/idempotencyKey": own });
        search
    };
    let list = json!([search(1), with_own(2, "own")]).to_string();
    assert_eq!(post(&server, &list, &headers).header_number("x-credits-cost"), 1);
    let alike = post(&server, &with_own(3, "once").to_string(), &headers);
    assert_eq!(alike.json()["error"], Value::Null, "{}", alike.text());
    let entries = || server.accounts.recent_entries(server.accounts.keys(None)[0].record.account, 100).unwrap().len();
    // Entries are written after the answers.
    wait_until("the entries of all calls", || entries() == 4);
    let before = entries();
    let differing = post(&server, &with_own(4, "other").to_string(), &headers).text();
    assert!(differing.contains("differs from _meta"), "{differing}");
    assert_eq!(entries(), before, "nothing is charged");
}

#[test]
fn models_read_the_law_first_and_little_else() {
    let server = open();
    let key = server.create_full_key();
    let text = |tool: &str, arguments: Value| {
        let result = tool_result(&server, tool, arguments, &key);
        assert_eq!((result.get("structuredContent"), result["content"].as_array().unwrap().len()), (None, 1));
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let whole = server.get(&format!("/api/v1/node/{}", *NODE), &key).json();
    assert!(whole.get("leftOut").is_none(), "{whole:#}");
    let law = text("law.get_node", json!({ "id": *NODE }));
    assert!(law.contains(whole["text"].as_str().unwrap()) && law.contains(whole["url"].as_str().unwrap()), "{law}");
    assert!(law.contains("Not shown: ") && law.contains("references; include="), "{law}");
    let cited = whole["references"]["out"]["nodes"][0]["citation"].as_str().unwrap();
    let more = text("law.get_node", json!({ "id": *NODE, "include": ["references", "credits", "notes"] }));
    assert!(more.contains(&format!("Cites 3: {cited} (id ")) && !more.contains("Not shown: "), "{more}");
    // What is left out is absent, never empty.
    let little = server.get(&format!("/api/v1/node/{}?include=law", *NODE), &key);
    let json = little.json();
    for name in ["references", "notes", "sourceCredit", "parallelCitations", "formerly"] {
        assert!(json.get(name).is_none() && whole.get(name).is_some(), "{name}");
    }
    assert_eq!((&json["text"], &json["leftOut"][0]), (&whole["text"], whole_parts(&whole).first().unwrap()));
    assert_ne!(little.header("etag"), server.get(&format!("/api/v1/node/{}", *NODE), &key).header("etag"));
    let one = server.get(&format!("/api/v1/node/{}?include=references", *NODE), &key).json();
    assert_eq!((&one["references"], one.get("notes")), (&whole["references"], None));
    // Tokens are counted as four bytes.
    let outline = &ENGINE.snapshot().outline;
    let provisions =
        (0..outline.len()).map(hornbook_corpus::ids::NodeOrdinal).filter(|node| outline.is_provision(*node));
    let mut tokens: Vec<usize> = provisions
        .step_by(7)
        .map(|node| text("law.get_node", json!({ "id": outline.id(node).unwrap() })).len() / 4)
        .collect();
    tokens.sort_unstable();
    assert!(tokens[tokens.len() / 2] < 900, "{tokens:?}");
    let found = text("law.search", json!({ "q": "security deposit of a tenant" }));
    assert!(found.starts_with("8 of ") && found.len() / 4 < 1_500, "{} tokens", found.len() / 4);
    let full = tool_result(&server, "law.search", json!({ "q": "deposit", "view": "full" }), &key);
    assert_eq!(full["structuredContent"]["results"].as_array().unwrap().len(), 8);
    let beside = full["content"][0]["text"].as_str().unwrap();
    assert!(!beside.contains("deposit") && full["content"].as_array().unwrap().len() == 1, "{beside}");
    let asked = json!({ "q": "deposit", "fields": ["results.citation", "total"] });
    let some = tool_result(&server, "law.search", asked, &key)["structuredContent"].clone();
    assert_eq!(some["results"][0].as_object().unwrap().len(), 1, "{some}");
    assert_eq!((&some["total"], some.as_object().unwrap().len()), (&full["structuredContent"]["total"], 2));
    let wrong = result(&call(&server, "law.search", json!({ "q": "deposit", "view": "brief" }), Some(&key)));
    assert_eq!(wrong["structuredContent"]["details"][0]["parameter"], "view");
}

/// The parts of a node that `include` names, and that this node has.
fn whole_parts(node: &Value) -> Vec<Value> {
    let filled = |name: &str| node[name].as_array().is_some_and(|list| !list.is_empty());
    let credits = !node["sourceCredit"].is_null() || filled("formerly") || filled("parallelCitations");
    let parts =
        [("notes", filled("notes")), ("credits", credits), ("references", true), ("wordings", filled("wordings"))];
    parts.into_iter().filter(|(_, exists)| *exists).map(|(name, _)| json!(name)).collect()
}

#[test]
fn a_model_may_write_citations_addresses_and_names_in_place_of_ids() {
    let server = open();
    let key = server.create_full_key();
    let node = |id: &str| tool_result(&server, "law.get_node", json!({ "id": id }), &key)["content"][0]["text"].clone();
    let whole = server.get(&format!("/api/v1/node/{}", *NODE), &key).json();
    let url = whole["url"].as_str().unwrap();
    let by_id = node(&NODE);
    for id in [url, url.strip_prefix("https://law.example").unwrap(), whole["citation"].as_str().unwrap()] {
        assert_eq!(node(id), by_id, "{id}");
    }
    // The day in an address is the day of the answer, and no second citation is dropped in silence.
    let early = "https://law.example/xa/ars/t24/c2/s24-2-201?asOf=2020-01-01";
    let named = tool_result(
        &server,
        "law.get_node",
        json!({ "id": NodeId::from_source_key("xa/ars/t24/c2/s24-2-201"), "asOf": "2020-01-01" }),
        &key,
    );
    assert_eq!(node(early), named["content"][0]["text"]);
    assert!(node(early).as_str().unwrap().contains("asOf=2020-01-01"));
    let json = |tool: &str, mut arguments: Value| {
        if tool == "law.search" {
            arguments["view"] = json!("full");
        }
        tool_result(&server, tool, arguments, &key)["structuredContent"].clone()
    };
    let body = &ENGINE.snapshot().catalogue.code_bodies[0];
    let (by_name, by_code) = (json!({ "codeBodyId": body.name.to_uppercase() }), json!({ "codeBodyId": body.id }));
    assert_eq!(json("law.browse", by_name)["nodes"], json("law.browse", by_code)["nodes"]);
    let found = |jurisdiction: Value| {
        json("law.search", json!({ "q": "deposit", "jurisdiction": jurisdiction }))["results"].clone()
    };
    let arden = found(json!("XA"));
    assert!(!arden.as_array().unwrap().is_empty());
    for name in [json!("arden"), json!(["State of Arden"]), json!(["xa"])] {
        assert_eq!(found(name.clone()), arden, "{name}");
    }
    let state = |state: &str| json("formation.requirements", json!({ "state": state }));
    assert_eq!(state("Virginia"), state("VA"));
    for (tool, arguments, says) in [
        ("law.get_node", json!({ "id": "Arden Rev. Stat. § 99-9-999" }), "Arden Rev. Stat. § 99-9-999"),
        ("law.get_node", json!({ "id": "https://elsewhere.example/us" }), "only URLs below https://law.example"),
        ("law.get_node", json!({ "id": early, "asOf": "2021-01-01" }), "differs from the day in the address"),
        ("law.get_node", json!({ "id": "Arden Rev. Stat. §§ 24-2-201, 24-2-202" }), "not one citation but 2"),
        ("law.search", json!({ "q": "a", "jurisdiction": "Nowhere" }), "NOWHERE; law.list_coverage lists them"),
        ("law.search", json!({ "q": "a", "codeBody": "The Code of Nowhere" }), "codeBody"),
    ] {
        let refused = result(&call(&server, tool, arguments, Some(&key)));
        assert_eq!(refused["structuredContent"]["error"], "validation_error", "{refused}");
        assert!(refused["content"][0]["text"].as_str().unwrap().contains(says), "{refused}");
    }
}

#[test]
fn what_a_model_reads_first_is_short_and_names_the_law_that_is_here() {
    let server = open();
    let key = server.create_full_key();
    for (version, method) in [(CURRENT_VERSION, "server/discover"), ("2025-11-25", "initialize")] {
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answered = result(&ask(&server, version, method, params, None));
        let instructions = answered["instructions"].as_str().unwrap();
        assert!(instructions.len() < 2_048, "{} bytes", instructions.len());
        assert!(instructions.contains("Arden Revised Statutes (XA)") && instructions.contains("https://law.example/"));
    }
    let coverage = |arguments: Value| {
        let listed = tool_result(&server, "law.list_coverage", arguments, &key)["structuredContent"].clone();
        let is_placeholder = |one: &Value| one["placeholder"] == true && one["gisCitationQuality"].is_null();
        let placeholders = listed["jurisdictions"].as_array().unwrap().iter().filter(|one| is_placeholder(one)).count();
        (placeholders, listed)
    };
    let (none, held) = coverage(json!({}));
    let (others, all) = coverage(json!({ "placeholders": true }));
    let count = |of: &Value| of["jurisdictions"].as_array().unwrap().len();
    assert!(none == 0 && others > 0 && count(&all) == count(&held) + others, "{none} {others}");
    assert_eq!(all, server.get("/api/v1/coverage", &key).json());
    assert_eq!(held["totalJurisdictions"], all["totalJurisdictions"]);
    let account =
        |arguments: Value| tool_result(&server, "account.status", arguments, &key)["structuredContent"].clone();
    assert!(account(json!({})).get("ledger").is_none());
    assert!(account(json!({ "ledger": true }))["ledger"].is_array());
}

#[test]
fn long_provisions_come_in_parts_that_together_are_the_whole() {
    let server = open();
    let key = server.create_full_key();
    let longest = (0..ENGINE.snapshot().outline.len())
        .map(hornbook_corpus::ids::NodeOrdinal)
        .max_by_key(|node| {
            let snapshot = ENGINE.snapshot();
            snapshot.texts.get(snapshot.nodes.get(*node).unwrap().wording(0).text).unwrap().len()
        })
        .unwrap();
    let id = ENGINE.snapshot().outline.id(longest).unwrap();
    let whole = server.get(&format!("/api/v1/node/{id}"), &key).json();
    let whole_text = whole["text"].as_str().unwrap();
    assert!(whole_text.chars().count() > 1000, "the sample has a provision for this test");
    let (mut read, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let mut asked = json!({ "id": id, "offset": offset, "maxChars": 1000 });
        let as_text = tool_result(&server, "law.get_node", asked.clone(), &key);
        asked["view"] = json!("full");
        let part = tool_result(&server, "law.get_node", asked, &key);
        let node = &part["structuredContent"];
        read += node["text"].as_str().unwrap();
        assert_eq!(node["citation"], whole["citation"]);
        let as_text = as_text["content"][0]["text"].as_str().unwrap();
        assert!(
            as_text.contains(node["text"].as_str().unwrap()) && as_text.contains(&format!("of {}", node["totalChars"]))
        );
        offset = node["nextOffset"].clone();
    }
    assert_eq!(read, whole_text);
    let text = |uri: &str| {
        let read = result(&ask(&server, CURRENT_VERSION, "resources/read", json!({ "uri": uri }), Some(&key)));
        read["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(text(&format!("hornbook://node/{id}")).contains(&whole_text[..500]));
}

#[test]
fn connectors_find_and_fetch_by_id_citation_and_address() {
    let server = open();
    let key = server.create_full_key();
    let found = tool_result(&server, "search", json!({ "query": "security deposit" }), &key);
    let json =
        |result: &Value| -> Value { serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap() };
    let found = json(&found);
    let results = found["results"].as_array().unwrap();
    let first = &results[0];
    let url = first["url"].as_str().unwrap();
    let page = url.strip_prefix("https://law.example/").unwrap();
    assert_eq!(first["id"], NodeId::from_source_key(page).to_string(), "{url}");
    assert!(!first["title"].as_str().unwrap().is_empty(), "{first}");
    let old = format!("https://law.example/law/{}", first["id"].as_str().unwrap());
    let by_id = json(&tool_result(&server, "fetch", json!({ "id": first["id"] }), &key));
    let citation = by_id["metadata"]["citation"].clone();
    for id in [json!(url), json!(old), citation, json!(format!("hornbook://node/{}", first["id"].as_str().unwrap()))] {
        assert_eq!(json(&tool_result(&server, "fetch", json!({ "id": id }), &key)), by_id, "{id}");
    }
    assert!(by_id["text"].as_str().unwrap().len() > 50);
    assert_eq!((&by_id["id"], &by_id["title"], &by_id["url"]), (&first["id"], &first["title"], &first["url"]));
}

#[test]
fn older_versions_initialize_without_a_session() {
    let server = open();
    for (asked, agreed) in OLDER_VERSIONS
        .into_iter()
        .map(|version| (version, version))
        .chain([("2024-11-05", "2025-11-25"), ("9", "2025-11-25")])
    {
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
        let answered = post(&server, &body, &[("Accept", "application/json, text/event-stream")]);
        let result = result(&answered);
        assert_eq!(result["protocolVersion"], agreed);
        assert_eq!(result["serverInfo"]["name"], "hornbook");
        assert!(!answered.headers.contains_key("mcp-session-id"));
    }
    let notified = post(
        &server,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        &[("MCP-Protocol-Version", "2025-06-18")],
    );
    assert_eq!((notified.status, notified.body.len()), (202, 0));
    assert_eq!(result(&ask(&server, "2025-06-18", "ping", json!({}), None)), json!({}));
    for method in ["GET", "DELETE", "PUT"] {
        let refused = server.request(method, MCP_PATH, &[]);
        assert_eq!((refused.status, refused.header("allow")), (405, "POST, OPTIONS"), "{method}");
    }
}

#[test]
fn removed_and_unknown_methods_are_404_in_the_current_version() {
    let server = open();
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "x", ""] {
        let refused = ask(&server, CURRENT_VERSION, method, json!({ "protocolVersion": "2025-11-25" }), None);
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (404, &json!(-32601)), "{method}");
    }
    let refused = ask(&server, "2025-11-25", "logging/setLevel", json!({}), None);
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (200, &json!(-32601)));
}

#[test]
fn batches_are_answered_only_in_their_version() {
    let server = open();
    let key = server.create_full_key();
    let bearer = format!("Bearer {key}");
    let search = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "search_law", "arguments": { "q": "deposit" } } });
    let list = json!([
        search(1), { "jsonrpc": "2.0", "method": "notifications/x" }, search(2), { "jsonrpc": "2.0", "id": 3, "method": "nothing" }, 7,
        { "jsonrpc": "2.0", "id": 4, "method": "initialize", "params": { "protocolVersion": "2025-03-26" } },
    ])
    .to_string();
    let answered = post(&server, &list, &[("Authorization", &bearer)]);
    assert_eq!(answered.status, 200, "{}", answered.text());
    let responses = answered.json();
    let codes: Vec<Option<i64>> =
        responses.as_array().unwrap().iter().map(|response| response["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [None, None, Some(-32601), Some(-32600), Some(-32600)]);
    assert_eq!(answered.header_number("x-research-allotment-remaining"), 49_998, "each call is charged");
    assert_eq!(answered.header_number("x-credits-cost"), 2, "and the header says what all cost");
    let log = server.log();
    assert!(log.lines().any(|line| line.contains("\"cost\":2")), "{log}");
    for version in ["2025-06-18", CURRENT_VERSION] {
        let refused = post(&server, &list, &[("Authorization", &bearer), ("MCP-Protocol-Version", version)]);
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)), "{version}");
    }
    let only_notified = post(&server, r#"[{"jsonrpc":"2.0","method":"x"}]"#, &[]);
    assert_eq!((only_notified.status, only_notified.body.len()), (202, 0));
}

#[test]
fn foreign_origins_and_hosts_are_refused() {
    let server = open();
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let sent = |host: &str, origin: &str| {
        let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
        server.send_raw(&format!(
            "POST {MCP_PATH} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{origin}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{list}",
            list.len()
        ))
    };
    for (host, origin) in
        [("law.example", ""), ("localhost:9", "http://localhost:3000"), ("127.0.0.1", "https://law.example")]
    {
        assert_eq!(sent(host, origin).status, 200, "{host} {origin}");
    }
    for (host, origin) in [
        ("evil.example", ""),
        ("localhost", "http://evil.example"),
        ("evil.example", "http://evil.example"),
        ("localhost", "null"),
    ] {
        let refused = sent(host, origin);
        assert_eq!((refused.status, &refused.json()["error"]["code"]), (403, &json!(-32600)), "{host} {origin}");
        assert!(refused.json().get("id").is_none());
    }
    let as_text = server.send_raw(&format!(
        "POST {MCP_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{list}",
        list.len()
    ));
    assert_eq!(as_text.status, 415, "content types without CORS preflight must be refused");
}

#[test]
fn prompts_and_completion_know_the_snapshot() {
    let server = open();
    let prompts = result(&ask(&server, CURRENT_VERSION, "prompts/list", json!({}), None));
    let names: Vec<&str> =
        prompts["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["research", "cite-check", "fifty-state-survey", "zoning-check", "formation-intake"]);
    let params = json!({ "name": "cite-check", "arguments": { "text": "See 3 S.F.C. § 823." } });
    let got = result(&ask(&server, CURRENT_VERSION, "prompts/get", params, None));
    assert!(got["messages"][0]["content"]["text"].as_str().unwrap().contains("See 3 S.F.C. § 823."));
    let params = json!({ "name": "research", "arguments": { "question": "May a landlord keep a deposit?" } });
    let got = result(&ask(&server, CURRENT_VERSION, "prompts/get", params, None));
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("May a landlord keep a deposit?") && text.contains("Day: today."), "{text}");
    let complete = |argument: &str, value: &str| {
        let params = json!({ "ref": { "type": "ref/prompt", "name": "zoning-check" }, "argument": { "name": argument, "value": value } });
        result(&ask(&server, CURRENT_VERSION, "completion/complete", params, None))["completion"]["values"].clone()
    };
    assert!(complete("jurisdiction", "xa-port").as_array().unwrap().contains(&json!("XA-PORT-ARDEN")));
    assert_eq!(complete("jurisdiction", "zzz"), json!([]));
    assert_eq!(complete("nothing", "x"), json!([]));
    let params =
        json!({ "ref": { "type": "ref/prompt", "name": "no-such" }, "argument": { "name": "a", "value": "" } });
    let refused = ask(&server, CURRENT_VERSION, "completion/complete", params, None);
    assert_eq!(refused.json()["error"]["code"], -32602);
}
