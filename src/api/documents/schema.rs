//! JSON schemas as people read them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::html::{escaped, prose};

/// A table of an object's fields.
pub(super) fn fields(schema: &Value) -> String {
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let mut out = String::new();
    for (name, field) in properties {
        let meaning = field["description"].as_str().unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>",
            escaped(name),
            kind(field),
            prose(meaning)
        );
    }
    out
}

/// What a value is, with links to the objects of this page.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return format!("<a href=\"#object-{name}\">{name}</a>", name = escaped(name));
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .map(|value| format!("<code>{}</code>", escaped(&value.to_string())))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    match &schema["type"] {
        Value::String(name) => named(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| named(name, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema["format"].as_str()) {
        ("string", Some("uuid")) => "UUID".to_owned(),
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        (name, _) => escaped(name),
    }
}
