//! Turns a tool's arguments into the arguments of its operation: text for each parameter, and a JSON
//! object as the body of an operation that takes one.

use serde_json::Value;

use crate::api::error::Violation;
use crate::api::json::JsonObject;
use crate::api::operation::{Operation, ToolAnswer};
use crate::api::parameters::{Arguments, Location, ParameterKind};

/// Whether a tool takes a parameter of its operation. Tools choose the form of an answer by an argument of their own;
/// those that answer with text for models can also select members of the JSON.
pub(super) fn is_taken(operation: &Operation, name: &str) -> bool {
    match name {
        "format" | "view" => false,
        "fields" => operation.tool.is_some_and(|tool| tool.answer == ToolAnswer::Law),
        _ => true,
    }
}

/// The arguments for a call of this operation. Values of the wrong type become faults. They are reported
/// with everything else that is wrong, once the caller is known.
pub(super) fn of(operation: &Operation, given: JsonObject, faults: Vec<Violation>) -> Arguments {
    if operation.body.is_some() {
        let is_parameter = |name: &str| operation.parameters.iter().any(|parameter| parameter.name == name);
        let (given, body) = given.into_iter().partition(|(name, _)| is_parameter(name));
        return Arguments { body, ..of_parameters(operation, given, faults) };
    }
    of_parameters(operation, given, faults)
}

fn of_parameters(operation: &Operation, given: JsonObject, faults: Vec<Violation>) -> Arguments {
    let mut arguments = Arguments { query_count: given.len(), faults, ..Arguments::default() };
    let defaults = operation.tool.map_or(&[] as &[_], |tool| tool.defaults);
    let left = defaults.iter().filter(|(name, _)| given.get(*name).is_none_or(Value::is_null));
    arguments.query.extend(left.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    for (name, value) in given {
        let rules = operation.parameters.iter();
        let Some(rule) = rules.clone().find(|rule| rule.name == name && is_taken(operation, rule.name)) else {
            let known: Vec<&str> = rules.map(|rule| rule.name).filter(|name| is_taken(operation, name)).collect();
            let message = format!("there is no argument {name}; this tool takes {}", listed(&known));
            arguments.faults.push(Violation::new(&name, message));
            continue;
        };
        // Clients send null for arguments that they leave out.
        if value.is_null() {
            continue;
        }
        match (text_of(rule.kind, &value), rule.location) {
            (None, _) => {
                let message = format!("{name} must be {}", in_json(rule.kind));
                arguments.faults.push(Violation::new(&name, message));
            }
            (Some(text), Location::Path) => arguments.path.push((rule.name, text)),
            (Some(text), Location::Query) => arguments.query.push((name, text)),
        }
    }
    arguments
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The text that means the same in a URL. `None` for JSON of another type.
fn text_of(kind: ParameterKind, value: &Value) -> Option<String> {
    match (kind, value) {
        (ParameterKind::Integer { .. }, Value::Number(number)) => number.as_u64().map(|number| number.to_string()),
        (ParameterKind::Number { .. }, Value::Number(number)) => Some(number.to_string()),
        (ParameterKind::Boolean, Value::Bool(value)) => Some(value.to_string()),
        (kind, Value::Array(values)) if kind.is_list() => {
            let values: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
            // A comma inside of a value would split it into two.
            values.filter(|values| values.iter().all(|value| !value.contains(','))).map(|values| values.join(","))
        }
        // A string is a list of one.
        (kind, Value::String(value)) if kind.is_list() => Some(value.clone()).filter(|value| !value.contains(',')),
        (ParameterKind::Integer { .. } | ParameterKind::Number { .. } | ParameterKind::Boolean, _) => None,
        (_, Value::String(text)) => Some(text.clone()),
        _ => None,
    }
}

/// A description of what a kind accepts in JSON.
fn in_json(kind: ParameterKind) -> String {
    match kind {
        ParameterKind::Uuids { count_max: most } => format!("a list of 1 to {most} UUIDs"),
        ParameterKind::ShortCodes { most } => format!("a list of 1 to {most} short codes of jurisdictions"),
        ParameterKind::Choices { of } => format!("a list of some of {}", of.join(", ")),
        ParameterKind::Texts { most, .. } => format!("a list of 1 to {most} texts without commas"),
        ParameterKind::Integer { .. } | ParameterKind::Number { .. } | ParameterKind::Boolean => {
            format!("{}, not in quotes", kind.rule())
        }
        kind => format!("text: {}", kind.rule()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::operations::OPERATIONS;

    fn arguments(operation: &str, given: Value) -> Arguments {
        let operation = OPERATIONS.iter().find(|known| known.name == operation).unwrap();
        let Value::Object(given) = given else { panic!("arguments are an object") };
        of(operation, given, Vec::new())
    }

    #[test]
    fn json_becomes_the_text_of_an_address() {
        let given = arguments("search", json!({ "q": "water", "limit": 5, "facets": true, "mode": null }));
        let mut query = given.query;
        query.sort();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(query, [pair("facets", "true"), pair("limit", "5"), pair("q", "water")]);
        assert_eq!(given.faults, []);
        let point = arguments("gis-at", json!({ "shortCode": "XA-A", "lat": 44.5, "lon": -124 }));
        assert_eq!(point.path, [("shortCode", "XA-A".to_owned())]);
        assert!(point.query.contains(&pair("lat", "44.5")) && point.query.contains(&pair("lon", "-124")));
        assert_eq!(arguments("nodes", json!({ "ids": ["a", "b"] })).query, [pair("ids", "a,b")]);
        for one in [json!("VA"), json!(["VA"])] {
            let given = arguments("search", json!({ "limit": 9, "jurisdiction": one }));
            assert_eq!(given.query, [pair("jurisdiction", "VA"), pair("limit", "9")]);
        }
        let several = json!({ "jurisdiction": ["VA", "US"], "minScore": 0.5 });
        let models_read_less = pair("limit", "8");
        assert_eq!(
            arguments("search", several).query,
            [models_read_less, pair("jurisdiction", "VA,US"), pair("minScore", "0.5")]
        );
    }

    #[test]
    fn another_type_is_a_fault_and_so_is_an_unknown_name() {
        for (operation, given, name) in [
            ("search", json!({ "q": 7 }), "q"),
            ("search", json!({ "q": ["a"] }), "q"),
            ("search", json!({ "limit": "5" }), "limit"),
            ("search", json!({ "limit": 5.5 }), "limit"),
            ("search", json!({ "limit": -5 }), "limit"),
            ("search", json!({ "facets": "true" }), "facets"),
            ("search", json!({ "surprise": 1 }), "surprise"),
            ("node", json!({ "format": "md" }), "format"),
            ("gis-at", json!({ "lat": "44" }), "lat"),
            ("nodes", json!({ "ids": "a,b" }), "ids"),
            ("nodes", json!({ "ids": ["a,b"] }), "ids"),
            ("search", json!({ "jurisdiction": ["VA", 7] }), "jurisdiction"),
            ("search", json!({ "tag": "water,fences" }), "tag"),
            ("search", json!({ "minScore": "0.5" }), "minScore"),
        ] {
            let faults = arguments(operation, given.clone()).faults;
            assert_eq!(faults.iter().map(|fault| fault.parameter.as_str()).collect::<Vec<_>>(), [name], "{given}");
        }
    }
}
