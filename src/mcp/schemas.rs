//! JSON schemas of what tools take and return, short enough for a list that models read.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::arguments::is_taken;
use super::names::NamedThing;
use crate::api::operation::{Operation, inline_schema};
use crate::api::parameters::{Need, Parameter, ParameterKind};

/// The schema of a result is cut at the greatest depth at which it has at most this many bytes. Below that depth,
/// objects have only a type. All lists together must stay small, because models read them before every
/// conversation. What a tool takes is never cut: a model cannot guess it.
const OUTPUT_BYTES_MAX: usize = 400;

/// Maximum depth of nested objects in a schema.
const DEPTH_MAX: usize = 4;

/// Maximum number of members of an answer that its schema requires. They distinguish an answer from an error.
const REQUIRED_MAX: usize = 4;

/// The schema of a tool's arguments.
pub(super) fn input(operation: &Operation) -> Value {
    if let Some(body) = operation.body {
        let mut schema = inline_schema(|generator| (body.schema)(generator));
        shorten(&mut schema, &["title", "$schema", "format", "additionalProperties"]);
        omit_null(&mut schema);
        list_choices(&mut schema);
        describe_once(&mut schema, &mut HashSet::new());
        schema["additionalProperties"] = json!(false);
        if let Some(properties) = schema["properties"].as_object_mut() {
            let parameters = operation.parameters.iter();
            properties.extend(parameters.map(|parameter| (parameter.name.to_owned(), argument(operation, parameter))));
        }
        // A valid body is JSON, which a test of the operations checks.
        schema["examples"] = json!([serde_json::from_str::<Value>(body.example).unwrap_or_default()]);
        return schema;
    }
    let parameters = || operation.parameters.iter().filter(|parameter| is_taken(operation, parameter.name));
    let required = parameters().filter(|parameter| parameter.need == Need::Required).map(|parameter| parameter.name);
    let properties: Map<String, Value> =
        parameters().map(|parameter| (parameter.name.to_owned(), argument(operation, parameter))).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let required: Vec<&str> = required.collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn argument(operation: &Operation, parameter: &Parameter) -> Value {
    let mut schema = type_of(parameter.kind);
    let default = match parameter.need {
        Need::Default(default) => Some(default),
        Need::Required | Need::Optional => None,
    };
    if let Some(default) = operation.tool.and_then(|tool| tool.default_of(parameter.name)).or(default) {
        schema["default"] = match parameter.kind {
            ParameterKind::Integer { .. } | ParameterKind::Number { .. } | ParameterKind::Boolean => {
                default.parse().unwrap_or(Value::Null)
            }
            _ => json!(default),
        };
    }
    schema["description"] = match NamedThing::of(parameter.name).filter(|_| operation.route.is_some()) {
        Some(thing) => json!(format!("{} ({})", parameter.meaning, thing.forms())),
        None => json!(parameter.meaning),
    };
    schema
}

/// The shortest schema that tells a model what matters. Other mistakes are refused with a message that
/// states the rule.
fn type_of(kind: ParameterKind) -> Value {
    match kind {
        ParameterKind::Text { .. } | ParameterKind::Uuid | ParameterKind::ShortCode | ParameterKind::Date => {
            json!({ "type": "string" })
        }
        ParameterKind::Integer { max, .. } => json!({ "type": "integer", "maximum": max }),
        ParameterKind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        ParameterKind::Boolean => json!({ "type": "boolean" }),
        ParameterKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        ParameterKind::Uuids { count_max: most } => {
            json!({ "type": "array", "maxItems": most, "items": { "type": "string" } })
        }
        ParameterKind::ShortCodes { .. } | ParameterKind::Texts { .. } => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        ParameterKind::Choices { of } => json!({ "type": "array", "items": { "type": "string", "enum": of } }),
    }
}

/// The schema of a tool's result: the answer of the operation, the Error object, or the price of a call that was not
/// made. Clients check results against it.
pub(super) fn output(operation: &Operation) -> Value {
    let mut schema = inline_schema(|generator| (operation.reply)(generator));
    shorten(&mut schema, &["title", "$schema", "format", "description", "minimum", "maximum", "default"]);
    let mut schema = within(&schema, OUTPUT_BYTES_MAX);
    if let Value::Object(schema) = &mut schema {
        let required = schema.remove("required").unwrap_or_else(|| json!([]));
        let required: Vec<&Value> = required.as_array().into_iter().flatten().take(REQUIRED_MAX).collect();
        let required = json!(required);
        schema.insert(
            "anyOf".to_owned(),
            json!([{ "required": required }, { "required": ["error", "message"] }, { "required": ["dryRun"] }]),
        );
        schema.insert("type".to_owned(), json!("object"));
    }
    schema
}

/// Removes what a list does not need.
fn shorten(schema: &mut Value, without: &[&str]) {
    match schema {
        Value::Object(members) => {
            for name in without {
                members.remove(*name);
            }
            for (name, member) in members.iter_mut() {
                match (name.as_str(), member) {
                    // The members of `properties` are names of this API, not keywords of JSON Schema.
                    ("properties", Value::Object(properties)) => {
                        properties.values_mut().for_each(|property| shorten(property, without));
                    }
                    (_, member) => shorten(member, without),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|schema| shorten(schema, without)),
        _ => {}
    }
}

/// Removes null from types: leaving an optional field out says the same.
fn omit_null(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(omit_null);
            if let Some(Value::Array(words)) = members.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            let is_null = |schema: &Value| *schema == json!({ "type": "null" });
            if let Some(Value::Array(choices)) = members.get("anyOf")
                && let [Value::Object(only), null] = choices.as_slice()
                && is_null(null)
            {
                let only = only.clone();
                members.remove("anyOf");
                members.extend(only);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(omit_null),
        _ => {}
    }
}

/// Turns alternatives of one word each into a list of these words.
fn list_choices(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(list_choices);
            let words = |choice: &Value| match &choice["enum"] {
                Value::Array(words) => words.clone(),
                _ => choice.get("const").cloned().into_iter().collect(),
            };
            let Some(Value::Array(choices)) = members.get("oneOf") else { return };
            let listed: Vec<Vec<Value>> = choices.iter().map(words).collect();
            if listed.iter().all(|words| !words.is_empty()) {
                members.remove("oneOf");
                members.insert("enum".to_owned(), Value::Array(listed.concat()));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(list_choices),
        _ => {}
    }
}

/// Removes the descriptions within an object that occurred before, such as an address.
fn describe_once(schema: &mut Value, seen: &mut HashSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(properties) = members.get_mut("properties")
                && !seen.insert(properties.to_string())
                && let Value::Object(properties) = properties
            {
                properties.values_mut().for_each(|property| shorten(property, &["description"]));
            }
            members.values_mut().for_each(|member| describe_once(member, seen));
        }
        Value::Array(list) => list.iter_mut().for_each(|schema| describe_once(schema, seen)),
        _ => {}
    }
}

/// The schema, cut at the greatest depth at which it has at most this many bytes. The outermost object stays.
fn within(schema: &Value, bytes_max: usize) -> Value {
    let cut = |depth| {
        let mut schema = schema.clone();
        cut_below(&mut schema, depth);
        schema
    };
    (2..=DEPTH_MAX).rev().map(cut).find(|schema| schema.to_string().len() <= bytes_max).unwrap_or_else(|| cut(1))
}

/// Reduces schemas of objects below a depth to their type.
fn cut_below(schema: &mut Value, depth_left: usize) {
    let Value::Object(members) = schema else { return };
    if depth_left == 0 && members.contains_key("properties") {
        let kind = members.remove("type").unwrap_or_else(|| json!("object"));
        *schema = json!({ "type": kind });
        return;
    }
    let depth_below = if members.contains_key("properties") { depth_left - 1 } else { depth_left };
    for (name, member) in members.iter_mut() {
        match (name.as_str(), member) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|property| cut_below(property, depth_below));
            }
            ("items", item) => cut_below(item, depth_below),
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => {
                list.iter_mut().for_each(|schema| cut_below(schema, depth_below));
            }
            _ => {}
        }
    }
}
