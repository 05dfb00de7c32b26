//! `server.json`, which MCP registries read: its claims are true, and its parts follow the
//! registries' schema of 2025-12-11.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::source::text_of;

fn server() -> Value {
    serde_json::from_str(&text_of("server.json")).unwrap()
}

fn members<'v>(of: &'v Value, known: &[&str]) -> &'v Map<String, Value> {
    let members = of.as_object().unwrap_or_else(|| panic!("no object: {of}"));
    for name in members.keys() {
        assert!(known.contains(&name.as_str()), "the schema has no member '{name}' here");
    }
    members
}

fn text<'v>(of: &'v Map<String, Value>, name: &str, chars: std::ops::RangeInclusive<usize>) -> &'v str {
    let text = of.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name} is missing, or no text"));
    assert!(chars.contains(&text.chars().count()), "{name} has {} characters", text.chars().count());
    text
}

/// The names in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name).collect()
}

const INPUT: [&str; 9] =
    ["description", "format", "isRequired", "isSecret", "value", "default", "placeholder", "choices", "variables"];

fn check_input(input: &Map<String, Value>) {
    for name in ["isRequired", "isSecret"] {
        assert!(input.get(name).is_none_or(Value::is_boolean), "{name} is no boolean");
    }
    for name in ["description", "value", "default", "placeholder"] {
        assert!(input.get(name).is_none_or(Value::is_string), "{name} is no text");
    }
    let format = input.get("format").and_then(Value::as_str).unwrap_or("string");
    assert!(["string", "number", "boolean", "filepath"].contains(&format), "{format}");
}

/// Checks that each name in braces has a variable, and that each variable is used.
fn check_variables(of: &Map<String, Value>, used: &str) {
    let none = Map::new();
    let variables = of.get("variables").and_then(Value::as_object).unwrap_or(&none);
    assert_eq!(placeholders(used), variables.keys().map(String::as_str).collect(), "of '{used}'");
    for variable in variables.values() {
        check_input(members(variable, &INPUT[..8]));
    }
}

#[test]
fn server_json_follows_the_registry_schema() {
    let server = server();
    let all = members(&server, &["$schema", "name", "title", "description", "version", "remotes"]);
    assert_eq!(all["$schema"], "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json");
    let (namespace, name) = text(all, "name", 3..=200).split_once('/').expect("a namespace and a name");
    let is_of = |text: &str, also: &str| {
        !text.is_empty() && text.chars().all(|char| char.is_ascii_alphanumeric() || also.contains(char))
    };
    assert!(is_of(namespace, ".-") && is_of(name, "._-"));
    text(all, "title", 1..=100);
    text(all, "description", 1..=100);
    let version = text(all, "version", 1..=255);
    assert!(!version.contains(['^', '~', '>', '<', '*', 'x', ' ']), "ranges are refused: {version}");
    for remote in all["remotes"].as_array().unwrap() {
        let remote = members(remote, &["type", "url", "headers", "variables"]);
        assert_eq!(remote["type"], "streamable-http");
        let url = text(remote, "url", 9..=2000);
        assert!(url.starts_with("https://") && !url.contains(char::is_whitespace), "{url}");
        check_variables(remote, url);
        for header in remote["headers"].as_array().unwrap() {
            let header = members(header, &[&INPUT[..], &["name"]].concat());
            text(header, "name", 1..=100);
            check_input(header);
            check_variables(header, header.get("value").and_then(Value::as_str).unwrap_or_default());
        }
    }
}

#[test]
fn server_json_is_accurate() {
    let server = server();
    assert_eq!(server["version"], env!("CARGO_PKG_VERSION"));
    let remote = &server["remotes"][0];
    assert_eq!(remote["url"], format!("https://{{host}}{}", hornbook::mcp::MCP_PATH));
    assert_eq!(remote["headers"][0]["name"], "Authorization");
}
