//! Renders JSON schemas for people.

use maud::{Markup, Render, html};
use serde_json::{Map, Value};

use super::description::{ApiDescription, reference};
use super::elements::{prose, table};

/// A response object, under its name.
pub(super) fn object(name: &str, schema: &Value, description: &ApiDescription) -> Markup {
    let anchor = format!("object-{name}");
    let nothing = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&nothing);
    let text = schema["description"].as_str().unwrap_or_default();
    let values: Vec<&str> = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (text, values) = meanings(text, &values);
    html! {
        article aria-labelledby=(anchor) {
            h3 id=(anchor) { (name) }
            @if !text.is_empty() { p { (prose(text)) } }
            @if values.iter().any(|(_, meaning)| !meaning.is_empty()) {
                (table(&format!("Values of {name}"), &["value", "meaning"], &html! {
                    @for (value, meaning) in values { tr { th scope="row" { code { (value) } } td { (prose(meaning)) } } }
                }))
            } @else if properties.is_empty() { p { (kind(schema, description)) } } @else {
                (table(&format!("Fields of {name}"), &["field", "type", "meaning"], &html! {
                    @for (name, field) in properties {
                        tr {
                            th scope="row" { code { (name) } }
                            td { (kind(field, description)) }
                            td { (prose(field["description"].as_str().unwrap_or_default())) }
                        }
                    }
                }))
            }
        }
    }
}

/// Splits the description of an enum into the general text and the meaning of each value: `a` and
/// its meaning, `b` and its meaning.
fn meanings<'t>(text: &'t str, values: &[&'t str]) -> (&'t str, Vec<(&'t str, &'t str)>) {
    let mut rest = text;
    let mut found = Vec::new();
    for value in values.iter().rev() {
        let mark = format!("`{value}`: ");
        let (before, meaning) = rest.split_once(&mark).unwrap_or((rest, ""));
        found.push((*value, meaning.trim_end()));
        rest = before;
    }
    found.reverse();
    (rest.trim_end(), found)
}

/// The type of a value, with links to its objects.
pub(super) fn kind(schema: &Value, description: &ApiDescription) -> Markup {
    let kind = |schema: &Value| kind(schema, description);
    let named = |name: &str| match (name, schema["format"].as_str()) {
        ("string", Some("uuid")) => html! { "UUID" },
        ("array", _) => html! { "list of " (kind(&schema["items"])) },
        (name, _) => html! { (name) },
    };
    if let Some(name) = reference(schema) {
        return html! { a href=[description.address(name)] { (name) } };
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return any_of(choices.iter().map(kind));
    }
    if let Some(values) = schema["enum"].as_array() {
        return any_of(values.iter().map(|value| html! { code { (value.to_string()) } }));
    }
    match &schema["type"] {
        Value::String(name) => named(name),
        Value::Array(names) => any_of(names.iter().filter_map(Value::as_str).map(named)),
        _ => html! { "any" },
    }
}

fn any_of(choices: impl Iterator<Item = impl Render>) -> Markup {
    html! { @for (place, choice) in choices.enumerate() { @if place > 0 { " or " } (choice) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_described_value_by_value() {
        let text = "How it is. `yes`: It is `so`. `no`: It is not.";
        let (whole, values) = meanings(text, &["yes", "no"]);
        assert_eq!((whole, values), ("How it is.", vec![("yes", "It is `so`."), ("no", "It is not.")]));
        let (whole, values) = meanings("Role. `b`: Second.", &["a", "b"]);
        assert_eq!((whole, values), ("Role.", vec![("a", ""), ("b", "Second.")]));
    }
}
