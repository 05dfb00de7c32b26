//! Resources of the protocol for agents: provisions under their addresses, and errors that name what does not exist.

use serde_json::{Value, json};

use crate::mcp::{CURRENT_VERSION, ask, open, result, tool_result};
use crate::operations::NODE;

#[test]
fn a_provision_is_a_resource_under_the_address_of_its_page() {
    let server = open();
    let key = server.create_full_key();
    let listed = result(&ask(&server, CURRENT_VERSION, "resources/templates/list", json!({}), None));
    let templates: Vec<&str> = listed["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(templates, ["hornbook://node/{id}{?offset,asOf}", "law://{+address}{?offset,asOf}"]);
    let found = tool_result(&server, "law.get_node", json!({ "id": *NODE, "view": "full" }), &key);
    let url = found["structuredContent"]["url"].as_str().unwrap();
    let address = url.splitn(4, '/').nth(3).unwrap();
    let read = |uri: String| {
        let answered = ask(&server, CURRENT_VERSION, "resources/read", json!({ "uri": uri }), Some(&key));
        let content: Value = result(&answered)["contents"][0].clone();
        content["text"].as_str().unwrap().to_owned()
    };
    let by_id = read(format!("hornbook://node/{}", *NODE));
    assert!(by_id.contains("§ 12-2-104"), "{by_id}");
    assert_eq!(read(format!("law://{address}")), by_id);
    let on_a_day = read(format!("law://{address}?asOf=2030-01-01"));
    assert_ne!(on_a_day, by_id, "what the edition knows of that day is said");
    assert_eq!(on_a_day, read(format!("hornbook://node/{}?asOf=2030-01-01", *NODE)));
}

#[test]
fn resources_that_do_not_exist_are_named_in_the_error() {
    let server = open();
    let key = server.create_full_key();
    for uri in [
        "test://nothing",
        "hornbook://node/",
        "hornbook://node/17",
        "hornbook://node/6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e",
        "hornbook://node/x?offset=x",
        "law://",
        "law://xa/rs/no-such-section",
        "law://xa?surprise=1",
        "",
    ] {
        for (version, code) in [(CURRENT_VERSION, -32602), ("2025-11-25", -32002)] {
            let refused = ask(&server, version, "resources/read", json!({ "uri": uri }), Some(&key));
            assert_eq!(
                (refused.status, &refused.json()["error"]["code"]),
                (200, &json!(code)),
                "{uri} {}",
                refused.text()
            );
            assert_eq!(refused.json()["error"]["data"]["uri"], uri);
        }
    }
}
