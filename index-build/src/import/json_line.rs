//! Reports errors in a line of JSON in terms of the format: the field, the expected value and the value found.
//!
//! Lines are parsed into typed structs first. Only a line that fails is examined here again, field
//! by field, so that all its mistakes are reported at once and valid lines cost nothing.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A field of a line.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    name: &'static str,
    shape: FieldShape,
    presence: Presence,
}

/// The allowed values of a field.
#[derive(Clone, Copy)]
pub(crate) enum FieldShape {
    Text,
    TextOrNumber,
    Choice(&'static [&'static str]),
    Texts,
    Objects(&'static [Field]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    /// May be absent.
    Optional,
    /// May be absent or null.
    Nullable,
}

pub(crate) const fn required(name: &'static str, shape: FieldShape) -> Field {
    Field { name, shape, presence: Presence::Required }
}

pub(crate) const fn optional(name: &'static str, shape: FieldShape) -> Field {
    Field { name, shape, presence: Presence::Optional }
}

pub(crate) const fn nullable(name: &'static str, shape: FieldShape) -> Field {
    Field { name, shape, presence: Presence::Nullable }
}

/// Parses a line, or returns all its mistakes.
pub(crate) fn parse<L: DeserializeOwned>(line: &str, fields: &[Field]) -> Result<L, Vec<String>> {
    serde_json::from_str(line).map_err(|error| mistakes_in(line, fields, &error))
}

/// All mistakes of a line that could not be parsed. `error` is the error of the parser.
fn mistakes_in(line: &str, fields: &[Field], error: &serde_json::Error) -> Vec<String> {
    let mut mistakes = Vec::new();
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => check_object(&object, fields, "", &mut mistakes),
        Ok(other) => mistakes.push(format!("expected an object in braces, found {}", kind_of(&other))),
        Err(_) => mistakes.push(format!("this is not valid JSON ({})", without_line(error))),
    }
    if mistakes.is_empty() {
        // For example, a field that occurs twice.
        mistakes.push(without_line(error));
    }
    mistakes
}

fn check_object(object: &Map<String, Value>, fields: &[Field], within: &str, mistakes: &mut Vec<String>) {
    for name in object.keys() {
        if fields.iter().all(|field| field.name != name) {
            let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
            mistakes.push(format!("unknown field '{within}{name}'; the known fields are {}", known.join(", ")));
        }
    }
    for field in fields {
        let name = format!("{within}{}", field.name);
        match object.get(field.name) {
            None if field.presence == Presence::Required => {
                mistakes.push(format!("the field '{name}' is missing; it must be {}", expected(field.shape)));
            }
            None => {}
            Some(Value::Null) if field.presence == Presence::Nullable => {}
            Some(value) => check_value(value, field.shape, &name, mistakes),
        }
    }
}

fn check_value(value: &Value, shape: FieldShape, name: &str, mistakes: &mut Vec<String>) {
    match (shape, value) {
        (FieldShape::Text, Value::String(_)) => {}
        (FieldShape::TextOrNumber, Value::String(_)) => {}
        (FieldShape::TextOrNumber, Value::Number(number)) if number.is_u64() => {}
        (FieldShape::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {}
        (FieldShape::Choice(_), Value::String(text)) => {
            mistakes.push(format!("field '{name}': expected {}, found '{text}'", expected(shape)));
        }
        (FieldShape::Texts, Value::Array(values)) => {
            for (place, value) in values.iter().enumerate() {
                check_value(value, FieldShape::Text, &format!("{name}[{place}]"), mistakes);
            }
        }
        (FieldShape::Objects(fields), Value::Array(values)) => {
            for (place, value) in values.iter().enumerate() {
                let name = format!("{name}[{place}]");
                match value {
                    Value::Object(object) => check_object(object, fields, &format!("{name}."), mistakes),
                    other => mistakes.push(format!("field '{name}': expected an object, found {}", kind_of(other))),
                }
            }
        }
        _ => mistakes.push(format!("field '{name}': expected {}, found {}", expected(shape), kind_of(value))),
    }
}

fn expected(shape: FieldShape) -> String {
    match shape {
        FieldShape::Text => "a text in quotes".to_owned(),
        FieldShape::TextOrNumber => "a text in quotes or a whole number".to_owned(),
        FieldShape::Choice(choices) => format!("one of '{}'", choices.join("', '")),
        FieldShape::Texts => "a list of texts".to_owned(),
        FieldShape::Objects(fields) => {
            let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            format!("a list of objects with {}", names.join(", "))
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The message of the parser with only the column. Each line is parsed separately, so the line
/// number is always 1.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    format!("{what}, column {}", error.column())
}
