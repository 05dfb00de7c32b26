//! Formats results for people: an object as lines, a list of objects as a table.

use std::collections::BTreeSet;
use std::fmt::Write;

use hornbook_base::invisible;
use serde_json::{Map, Value};

pub(super) fn for_people(value: &Value) -> String {
    match value {
        Value::Array(rows) if rows.iter().any(Value::is_object) => table(rows),
        Value::Object(fields) => lines(fields, 0),
        other => format!("{}\n", plain(other)),
    }
}

fn lines(fields: &Map<String, Value>, indent: usize) -> String {
    let width = fields.keys().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for name in identity_first(fields.keys()) {
        let value = &fields[name];
        let inner = match value {
            Value::Object(inner) => lines(inner, indent + 2),
            Value::Array(rows) if rows.iter().any(Value::is_object) => table(rows),
            other => {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:indent$}{name:width$}  {}", "", plain(other));
                continue;
            }
        };
        let _ = write!(text, "{:indent$}{name}\n{inner}", "");
    }
    text
}

fn table(rows: &[Value]) -> String {
    let mut names: Vec<&String> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows.iter().filter_map(Value::as_object) {
        names.extend(row.keys().filter(|name| seen.insert(*name)));
    }
    let names = identity_first(names);
    let mut cells = vec![names.iter().map(|name| (*name).clone()).collect::<Vec<String>>()];
    for row in rows {
        cells.push(names.iter().map(|name| plain(row.get(name.as_str()).unwrap_or(&Value::Null))).collect());
    }
    let widths: Vec<usize> =
        (0..names.len()).map(|at| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in cells {
        let padded: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(padded.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The fields that identify a row come first; the others keep their order.
fn identity_first<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<&'n String> {
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by_key(|name| match name.as_str() {
        "id" => 0,
        "name" => 1,
        _ => 2,
    });
    names
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Array(rows) if rows.is_empty() => "none".to_owned(),
        Value::String(text) => invisible::escaped(text).into_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::for_people;

    #[test]
    fn lists_are_tables_and_objects_lines() {
        let table = for_people(&json!([{ "id": "a", "n": 1 }, { "id": "bcd", "n": null }]));
        assert_eq!(table, "id   n\na    1\nbcd  -\n");
        assert_eq!(for_people(&json!({ "id": "a", "longer": 2 })), "id      a\nlonger  2\n");
        assert_eq!(for_people(&json!([])), "none\n");
        let steering = json!({ "name": "a\u{1b}[2J\u{202e}b\nc" });
        assert_eq!(for_people(&steering), "name  a<U+001B>[2J<U+202E>b<U+000A>c\n");
        let account = json!({ "createdAt": "2026", "id": "acct-1", "name": "a" });
        assert_eq!(for_people(&account), "id         acct-1\nname       a\ncreatedAt  2026\n");
        assert_eq!(for_people(&json!([account])), "id      name  createdAt\nacct-1  a     2026\n");
    }
}
