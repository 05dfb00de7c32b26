//! The tools: the rows of the operations table that have a tool name, in the form in which clients list
//! and call them.

use hornbook_accounts::ids::Credits;
use serde_json::{Value, json};

use super::schemas;
use super::text_parts;
use crate::api::error::Violation;
use crate::api::json::JsonObject;
use crate::api::operation::{Metering, Operation, Tool, ToolAnswer};
use crate::api::operations::OPERATIONS;

/// The form of the names that `tools/list` shows. Calls may always use either form.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ToolNameStyle {
    /// `law.search`, as in the API contract.
    #[default]
    Dotted,
    /// `search_law`, because several clients reject a whole list if one name has a dot.
    Snake,
}

/// The operation whose answers are split into parts.
const SPLIT_OPERATION: &str = "node";

/// The rows that are tools, in the order of the table.
pub(super) fn all() -> impl Iterator<Item = (&'static Operation, Tool)> {
    OPERATIONS.iter().filter_map(|operation| Some((operation, operation.tool?)))
}

/// The operation of a tool name, in either form.
pub(super) fn find(name: &str) -> Option<&'static Operation> {
    all()
        .find(|(_, tool)| tool.name == name || snake(*tool) == name || tool.name.replace('.', "_") == name)
        .map(|(operation, _)| operation)
}

/// Whether its answers may be so long that they are split into parts.
pub(super) fn is_sliced(operation: &Operation) -> bool {
    operation.name == SPLIT_OPERATION
}

/// Which parts of a result have the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultView {
    Text,
    Json,
    Both,
}

/// The argument with which a program asks for JSON in place of text.
const VIEW: &str = "view";

const VIEWS: [&str; 2] = ["concise", "full"];

/// The argument that selects members of that JSON.
const FIELDS: &str = "fields";

/// Takes the view out of a tool's arguments. An invalid value becomes a fault. Selected fields are JSON.
pub(super) fn view(operation: &Operation, arguments: &mut JsonObject, faults: &mut Vec<Violation>) -> ResultView {
    match operation.tool.map(|tool| tool.answer) {
        None | Some(ToolAnswer::Both) => ResultView::Both,
        Some(ToolAnswer::JsonText) => ResultView::Text,
        Some(ToolAnswer::Law) => match arguments.remove(VIEW) {
            None | Some(Value::Null) if arguments.get(FIELDS).is_some_and(|fields| !fields.is_null()) => {
                ResultView::Json
            }
            None | Some(Value::Null) => ResultView::Text,
            Some(Value::String(view)) if view == VIEWS[0] => ResultView::Text,
            Some(Value::String(view)) if view == VIEWS[1] => ResultView::Json,
            Some(_) => {
                faults.push(Violation::new(VIEW, format!("{VIEW} must be one of {}", VIEWS.join(", "))));
                ResultView::Text
            }
        },
    }
}

fn name(tool: Tool, names: ToolNameStyle) -> String {
    match names {
        ToolNameStyle::Dotted => tool.name.to_owned(),
        ToolNameStyle::Snake => snake(tool),
    }
}

/// The name without a dot: the older name, if there is one.
fn snake(tool: Tool) -> String {
    tool.older_name.map_or_else(|| tool.name.replace('.', "_"), str::to_owned)
}

/// A tool as clients list it.
pub(super) fn described(operation: &Operation, tool: Tool, names: ToolNameStyle) -> Value {
    let name = name(tool, names);
    let mut input = schemas::input(operation);
    if is_sliced(operation)
        && let Some(Value::Object(properties)) = input.get_mut("properties")
    {
        properties.extend(text_parts::schemas().map(|(name, schema)| (name.to_owned(), schema)));
    }
    let answer = operation.tool.map(|tool| tool.answer);
    if answer == Some(ToolAnswer::Law)
        && let Some(Value::Object(properties)) = input.get_mut("properties")
    {
        let view = json!({
            "type": "string", "enum": VIEWS, "default": VIEWS[0], "description": "full: JSON for programs in place of text",
        });
        properties.insert(VIEW.to_owned(), view);
        if let Some(fields) = properties.get_mut(FIELDS) {
            fields["description"] = json!("members of that JSON, such as a or a.b");
        }
    }
    // No call deletes anything.
    let is_read = !operation.body.is_some_and(|body| body.is_stored);
    let mut annotations = json!({ "readOnlyHint": is_read, "idempotentHint": is_read, "openWorldHint": false });
    if !is_read {
        annotations["destructiveHint"] = json!(false);
    }
    let mut described = json!({
        "name": name,
        "title": title(tool.name),
        "description": description(operation, tool, names),
        "inputSchema": input,
        "annotations": annotations,
    });
    // A tool with such a schema must always answer with JSON.
    if tool.answer == ToolAnswer::Both {
        described["outputSchema"] = schemas::output(operation);
    }
    described
}

/// Turns `law.get_node` into `Law: get node`.
fn title(name: &str) -> String {
    let words = name.replacen('.', ": ", 1).replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What the tool does and costs, and when to use it.
fn description(operation: &Operation, tool: Tool, names: ToolNameStyle) -> String {
    let cost = match operation.metering() {
        Some(Metering { cost, .. }) if cost.credits > 0 => {
            let credits = Credits::in_words(cost.credits);
            format!("Costs {credits} per {}.", cost.per.as_str())
        }
        _ => "Free.".to_owned(),
    };
    let others = all().map(|(_, other)| other).filter(|other| other.name.contains('.'));
    let use_for = others.fold(tool.use_for.to_owned(), |text, other| text.replace(other.name, &name(other, names)));
    format!("{}. {cost}\n{use_for}", operation.summary)
}

/// The list of tools, as JSON.
pub(super) fn list(names: ToolNameStyle, extra: &[Value]) -> String {
    let tools: Vec<Value> =
        all().map(|(operation, tool)| described(operation, tool, names)).chain(extra.iter().cloned()).collect();
    Value::Array(tools).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_each_of_its_names_and_no_name_means_two() {
        let mut names: Vec<String> = Vec::new();
        for (operation, tool) in all() {
            for name in [tool.name.to_owned(), snake(tool), tool.name.replace('.', "_")] {
                assert_eq!(find(&name).map(|found| found.name), Some(operation.name), "{name}");
                assert!(
                    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
                );
            }
            names.extend([tool.name.to_owned(), snake(tool)]);
            assert!(!snake(tool).contains('.'));
        }
        names.sort();
        names.dedup();
        let same = all().filter(|(_, tool)| snake(*tool) == tool.name).count();
        assert_eq!(names.len() + same, 2 * all().count());
        assert!(find("law.search ").is_none() && find("").is_none() && find("LAW.SEARCH").is_none());
    }

    #[test]
    fn the_names_of_the_contract_are_listed_in_both_forms() {
        let names = |form| -> Vec<String> {
            all()
                .map(|(operation, tool)| described(operation, tool, form)["name"].as_str().unwrap().to_owned())
                .collect()
        };
        for name in ["law.search", "law.get_node", "law.list_coverage", "account.status", "search", "fetch"] {
            assert!(names(ToolNameStyle::Dotted).iter().any(|listed| listed == name), "{name}");
        }
        for name in ["search_law", "get_law_node", "list_coverage", "account_status"] {
            assert!(names(ToolNameStyle::Snake).iter().any(|listed| listed == name), "{name}");
        }
    }

    #[test]
    fn the_list_is_small_and_every_tool_says_what_it_costs() {
        for names in [ToolNameStyle::Dotted, ToolNameStyle::Snake] {
            let list = list(names, &[]);
            assert!(list.len() < 27_400, "{} bytes", list.len());
        }
        for (operation, tool) in all() {
            let described = described(operation, tool, ToolNameStyle::Dotted);
            let text = described["description"].as_str().unwrap();
            assert!(text.contains("Free.") || text.contains("Costs "), "{text}");
            assert_eq!(described["inputSchema"]["type"], "object", "{}", tool.name);
            let promised = (tool.answer == ToolAnswer::Both).then_some("object");
            assert_eq!(described["outputSchema"]["type"].as_str(), promised, "{}", tool.name);
        }
    }

    /// Every field of an object is in the properties of its schema, and every required property is a field.
    fn assert_described(value: &Value, schema: &Value, path: &str) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    let property = &schema["properties"][name];
                    assert!(property.is_object(), "{path}.{name} is not described");
                    assert_described(field, property, &format!("{path}.{name}"));
                }
                for name in schema["required"].as_array().into_iter().flatten() {
                    assert!(fields.contains_key(name.as_str().unwrap()), "{path}.{name} is missing");
                }
            }
            Value::Array(list) => list.iter().for_each(|item| assert_described(item, &schema["items"], path)),
            _ => assert!(schema["type"].is_string() || schema["enum"].is_array(), "{path}: {schema}"),
        }
    }

    #[test]
    fn the_whole_intake_of_a_company_is_described_with_an_example() {
        let (operation, tool) = all().find(|(_, tool)| tool.name == "formation.handoff").unwrap();
        let schema = described(operation, tool, ToolNameStyle::Dotted)["inputSchema"].clone();
        let example = &schema["examples"][0];
        assert_described(example, &schema, "");
        assert!(example["people"][0]["address"]["zip"].is_string());
        for path in ["people/items/properties/roles", "naics", "names", "registeredAgent", "contact", "effectiveDate"] {
            let described = schema.pointer(&format!("/properties/{path}")).unwrap().to_string();
            assert!(described.contains("\"description\""), "{path}: {described}");
        }
        let text = schema.to_string();
        assert!(!text.contains("null") && text.matches("ZIP code of five").count() == 1, "{text}");
    }

    #[test]
    fn titles_are_words() {
        assert_eq!((title("law.get_node").as_str(), title("search").as_str()), ("Law: get node", "Search"));
    }
}
