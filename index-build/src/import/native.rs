//! The native format: JSON Lines that anyone can write.
//!
//! One object per line, one node per object, in any order; `corpus/FORMAT.md` lists the fields. An unknown field is an
//! error, so that a misspelt one is not lost silently.

use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::gather::{Content, ContentNote, ContentWording, Gatherer, Handle, NewNode, OnRepeat};
use crate::import::{ImportError, LINE_BYTES_MAX, Target, json_mistake};
use crate::order::SortKey;
use crate::plan::{is_date, is_source_key};
use crate::report::{Place, WarningKind, Warnings};
use crate::source_files::{SourceFile, for_each_line, parse_lines};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    key: String,
    #[serde(default)]
    parent: Option<String>,
    level: String,
    #[serde(default)]
    number: Option<String>,
    #[serde(default)]
    heading: String,
    #[serde(default)]
    citation: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    notes: Vec<LineNote>,
    #[serde(default)]
    source_credit: Option<String>,
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    former_citations: Vec<String>,
    #[serde(default)]
    parallel_citations: Vec<String>,
    #[serde(default)]
    effective_from: Option<String>,
    #[serde(default)]
    effective_to: Option<String>,
    #[serde(default)]
    wordings: Vec<LineWording>,
    #[serde(default)]
    source_url: Option<String>,
    #[serde(default)]
    current_through: Option<String>,
    #[serde(default)]
    order: Option<Order>,
}

/// Where a node stands among its siblings: a number such as 3 or a text such as "3a".
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Order {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LineNote {
    topic: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LineWording {
    label: String,
    #[serde(default)]
    effective_from: Option<String>,
    #[serde(default)]
    effective_to: Option<String>,
    text: String,
}

/// Reads one file of the native form.
pub fn import(
    file: SourceFile<'_>,
    target: Target<'_>,
    gatherer: &mut Gatherer,
    warnings: &mut Warnings,
) -> Result<u64, ImportError> {
    let name = file.place.clone();
    let mut count = 0;
    let place = |number| Place { file: name.clone(), line: Some(number) };
    let parse = |number: u32, text: &str| {
        let invalid = |what: String| ImportError::Invalid { place: place(number), what };
        let line: Line = serde_json::from_str(text).map_err(|error| invalid(json_mistake(&error)))?;
        node_of(line, target, &place(number)).map_err(invalid)
    };
    parse_lines(file, LINE_BYTES_MAX, parse, |_, node| {
        warn_if_empty(&node, warnings);
        gatherer.add(node)?;
        count += 1;
        Ok(())
    })?;
    Ok(count)
}

/// What the library's fuzz target calls: reads any bytes as a native file and throws the nodes away.
pub fn parse_for_fuzzing(bytes: &[u8]) {
    let target = Target { jurisdiction: "XA", code_body: "F", key: "xa/f", citation: None, source: 0, tags: &[] };
    let mut bytes = bytes;
    let file = SourceFile { place: "fuzz".into(), reader: &mut bytes };
    let outcome = for_each_line(file, 1 << 16, |number, text| {
        let place = Place { file: "fuzz".into(), line: Some(number) };
        let invalid = |what: String| ImportError::Invalid { place: place.clone(), what };
        let line: Line = serde_json::from_str(text).map_err(|error| invalid(json_mistake(&error)))?;
        node_of(line, target, &place).map(drop).map_err(invalid)
    });
    if let Err(error) = outcome {
        assert!(error.to_string().starts_with("fuzz:"), "a message without a place: {error}");
    }
}

fn node_of(line: Line, target: Target<'_>, place: &Place) -> Result<NewNode, String> {
    check(&line)?;
    let citation = match (&line.citation, target.citation, &line.number) {
        (Some(own), ..) => own.clone(),
        (None, Some(template), Some(number)) if line.text.is_some() => template.replace("{number}", number),
        (None, None, Some(_)) if line.text.is_some() => {
            return Err("this provision has no 'citation' and the plan's source has no citation template".into());
        }
        (None, _, None) if line.text.is_some() => {
            return Err("this provision has neither 'citation' nor 'number', so it could not be cited".into());
        }
        (None, _, Some(number)) => format!("{}, {} {number}", target.code_body, capitalised(&line.level)),
        (None, _, None) => format!("{}, {}", target.code_body, line.heading),
    };
    let sort = match (&line.order, line.text.is_some()) {
        (Some(Order::Number(order)), _) => SortKey::of_number(&order.to_string()),
        (Some(Order::Text(order)), _) => SortKey::of_number(order),
        (None, true) => SortKey::of_citation(&citation),
        (None, false) => SortKey::default(),
    };
    let mut tags = line.tags;
    tags.extend(target.tags.iter().cloned());
    tags.sort_unstable();
    tags.dedup();
    let wordings = line.wordings.into_iter().map(|w| ContentWording {
        label: w.label,
        effective_from: w.effective_from,
        effective_to: w.effective_to,
        text: w.text,
    });
    Ok(NewNode {
        handle: Handle::new(target.key, &line.key),
        parent: line.parent.map(|parent| Handle::new(target.key, &parent)),
        key: format!("{}/{}", target.key, line.key),
        sort,
        on_repeat: OnRepeat::Refuse,
        content: Content {
            citation,
            heading: line.heading,
            level: line.level,
            number: line.number,
            status: line.status,
            text: line.text,
            notes: line.notes.into_iter().map(|n| ContentNote { topic: n.topic, text: n.text }).collect(),
            source_credit: line.source_credit,
            tags,
            former_citations: line.former_citations,
            parallel_citations: line.parallel_citations,
            effective_from: line.effective_from,
            effective_to: line.effective_to,
            wordings: wordings.collect(),
            source_url: line.source_url,
            current_through: line.current_through,
            reference: line.key,
            source: target.source,
        },
        place: place.clone(),
    })
}

fn check(line: &Line) -> Result<(), String> {
    for (field, key) in [("key", Some(&line.key)), ("parent", line.parent.as_ref())] {
        if let Some(key) = key.filter(|key| !is_source_key(key)) {
            return Err(format!("{field} '{key}' is no key; write lower-case letters, digits, '.', '-', '_' and '/'"));
        }
    }
    if line.level.trim().is_empty() {
        return Err(format!("'{}' has an empty level; write what the code calls it, such as 'section'", line.key));
    }
    let dates = [
        ("effectiveFrom", &line.effective_from),
        ("effectiveTo", &line.effective_to),
        ("currentThrough", &line.current_through),
    ];
    let of_wordings = line.wordings.iter();
    let of_wordings =
        of_wordings.flat_map(|w| [("effectiveFrom", &w.effective_from), ("effectiveTo", &w.effective_to)]);
    for (field, date) in dates.into_iter().chain(of_wordings) {
        if let Some(date) = date.as_ref().filter(|date| !is_date(date)) {
            return Err(format!("{field} '{date}' is no date; write it as 2026-01-31"));
        }
    }
    let is_container = line.text.is_none();
    if is_container && !line.wordings.is_empty() {
        return Err(format!("'{}' has wordings but no text; put the wording in force into 'text'", line.key));
    }
    if is_container && line.heading.trim().is_empty() && line.number.is_none() {
        return Err(format!("'{}' has neither heading nor number, so nobody could find it", line.key));
    }
    Ok(())
}

fn warn_if_empty(node: &NewNode, warnings: &mut Warnings) {
    let content = &node.content;
    let living = content.status.is_none_or(Status::is_living);
    if living && content.text.as_ref().is_some_and(|text| text.trim().is_empty()) && content.wordings.is_empty() {
        let what = format!("'{}' is in force but has no text", content.citation);
        warnings.add(WarningKind::EmptyProvision, &node.place, what);
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import_text(text: &str) -> Result<Vec<String>, String> {
        let dir = tempfile::tempdir().unwrap();
        let mut gatherer = Gatherer::new(dir.path()).unwrap();
        let target = Target {
            jurisdiction: "XA",
            code_body: "Arden Code",
            key: "xa/code",
            citation: Some("Arden Code § {number}"),
            source: 0,
            tags: &["statute".to_owned()],
        };
        let mut warnings = Warnings::default();
        let file = SourceFile { place: "x.jsonl".into(), reader: &mut text.as_bytes() };
        import(file, target, &mut gatherer, &mut warnings).map_err(|error| error.to_string())?;
        let tree = gatherer.finish_body(&mut warnings).map_err(|error| error.to_string())?;
        let spool = gatherer.into_spool();
        Ok(tree.iter().map(|node| spool.read(node.content).unwrap().citation).collect())
    }

    #[test]
    fn citations_come_from_the_line_the_template_or_the_level() {
        let text = r#"{"key":"s1-2","parent":"c1","level":"section","number":"1-2","text":"B."}
{"key":"s1-1","parent":"c1","level":"section","number":"1-1","citation":"Own § 1-1","text":"A."}

{"key":"c1","level":"chapter","number":"1","heading":"General"}"#;
        assert_eq!(import_text(text).unwrap(), ["Arden Code, Chapter 1", "Own § 1-1", "Arden Code § 1-2"]);
    }

    #[test]
    fn mistakes_are_told_with_file_line_and_what_to_write() {
        for (line, expected) in [
            (r#"{"key":"a","level":"section","number":"1","text":"x","txet":"y"}"#, "unknown field `txet`"),
            (r#"{"key":"a""#, "column 10"),
            (r#"{"key":"A b","level":"section","number":"1","text":""}"#, "key 'A b' is no key"),
            (r#"{"key":"a","level":"section","text":""}"#, "could not be cited"),
            (r#"{"key":"a","level":" ","number":"1","text":""}"#, "empty level"),
            (r#"{"key":"a","level":"section","number":"1","text":"","effectiveFrom":"soon"}"#, "'soon' is no date"),
            (r#"{"key":"a","level":"section","number":"1","text":"","status":"dead"}"#, "unknown variant `dead`"),
            (r#"{"key":"a","level":"title"}"#, "neither heading nor number"),
            (
                r#"{"key":"a","level":"title","heading":"T","wordings":[{"label":"l","text":"t"}]}"#,
                "wordings but no text",
            ),
        ] {
            let message = import_text(&format!("\n{line}")).unwrap_err();
            assert!(message.starts_with("x.jsonl:2: ") && message.contains(expected), "{message}");
        }
    }
}
