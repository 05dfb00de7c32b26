//! The native interchange format: JSON Lines that anyone can write for any law.
//!
//! Each line is an object, and each object is a node, in any order; `corpus/FORMAT.md` lists the
//! fields. Unknown fields are refused, so that a misspelled field is not silently lost. A line with
//! mistakes does not stop the reading: the mistakes of all lines are reported together.

use hornbook_corpus::ids::is_source_key;
use hornbook_corpus::outline::Status;
use serde::Deserialize;

use crate::content::{Content, ContentNote, NewNode, NodeHandle, OnRepeat};
use crate::effect::{self, Effect};
use crate::import::intake::{ImportError, SourceIntake};
use crate::import::json_line::{self, Field, FieldShape, nullable, optional, required};
use crate::import::labels::{Scheme, layout_of};
use crate::import::target::{ImportTarget, LINE_BYTES_MAX};
use crate::order::SortKey;
use crate::report::{SourcePosition, WarningKind};
use crate::source_files::{SourceFile, parse_lines};
use crate::values::is_date;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NativeLine {
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
    now: Option<String>,
    #[serde(default)]
    effective_from: Option<String>,
    #[serde(default)]
    effective_to: Option<String>,
    #[serde(default)]
    validity_remark: Option<String>,
    #[serde(default)]
    validity: Option<DateCertainty>,
    #[serde(default)]
    wordings: Vec<LineWording>,
    #[serde(default)]
    source_url: Option<String>,
    #[serde(default)]
    current_through: Option<String>,
    #[serde(default)]
    order: Option<SiblingPosition>,
}

/// The position of a node among its siblings: a number such as 3 or a text such as "3a".
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SiblingPosition {
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
    heading: Option<String>,
    #[serde(default)]
    status: Option<Status>,
    #[serde(default)]
    effective_from: Option<String>,
    #[serde(default)]
    effective_to: Option<String>,
    #[serde(default)]
    validity: Option<DateCertainty>,
    text: String,
    #[serde(default)]
    notes: Vec<LineNote>,
    #[serde(default)]
    source_credit: Option<String>,
}

/// Whether the dates of a wording are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DateCertainty {
    Certain,
    Uncertain,
}

const STATUSES: FieldShape =
    FieldShape::Choice(&["in force", "repealed", "reserved", "omitted", "transferred", "renumbered", "expired"]);

const NOTE_FIELDS: &[Field] = &[required("topic", FieldShape::Text), required("text", FieldShape::Text)];

const VALIDITIES: FieldShape = FieldShape::Choice(&["certain", "uncertain"]);

const WORDING_FIELDS: &[Field] = &[
    required("label", FieldShape::Text),
    nullable("heading", FieldShape::Text),
    nullable("status", STATUSES),
    nullable("effectiveFrom", FieldShape::Text),
    nullable("effectiveTo", FieldShape::Text),
    nullable("validity", VALIDITIES),
    required("text", FieldShape::Text),
    optional("notes", FieldShape::Objects(NOTE_FIELDS)),
    nullable("sourceCredit", FieldShape::Text),
];

/// The fields of a line, for messages.
const FIELDS: &[Field] = &[
    required("key", FieldShape::Text),
    nullable("parent", FieldShape::Text),
    required("level", FieldShape::Text),
    nullable("number", FieldShape::Text),
    optional("heading", FieldShape::Text),
    nullable("citation", FieldShape::Text),
    nullable("text", FieldShape::Text),
    nullable("status", STATUSES),
    optional("notes", FieldShape::Objects(NOTE_FIELDS)),
    nullable("sourceCredit", FieldShape::Text),
    optional("tags", FieldShape::Texts),
    optional("formerCitations", FieldShape::Texts),
    optional("parallelCitations", FieldShape::Texts),
    nullable("now", FieldShape::Text),
    nullable("effectiveFrom", FieldShape::Text),
    nullable("effectiveTo", FieldShape::Text),
    nullable("validityRemark", FieldShape::Text),
    nullable("validity", VALIDITIES),
    optional("wordings", FieldShape::Objects(WORDING_FIELDS)),
    nullable("sourceUrl", FieldShape::Text),
    nullable("currentThrough", FieldShape::Text),
    nullable("order", FieldShape::TextOrNumber),
];

/// Reads one file of the native format.
pub fn import(
    file: SourceFile<'_>,
    target: ImportTarget<'_>,
    intake: &mut SourceIntake<'_>,
) -> Result<u64, ImportError> {
    let name = file.place.clone();
    let mut count = 0;
    let position = |number| SourcePosition { file: name.clone(), line: Some(number) };
    let parse = |number: u32, text: &str| {
        let line: NativeLine = json_line::parse(text, FIELDS)?;
        node_of(line, target, position(number))
    };
    parse_lines(file, LINE_BYTES_MAX, parse, |number, parsed| match parsed {
        Ok(node) => {
            warn(&node, intake);
            intake.add(node)?;
            count += 1;
            Ok(())
        }
        Err(mistakes) => intake.refuse(&position(number), mistakes),
    })?;
    Ok(count)
}

fn node_of(line: NativeLine, target: ImportTarget<'_>, position: SourcePosition) -> Result<NewNode, Vec<String>> {
    let mut mistakes = check(&line);
    let citation = match (&line.citation, target.citation, &line.number) {
        (Some(own), ..) => own.clone(),
        (None, Some(template), Some(number)) if line.text.is_some() => template.replace("{number}", number),
        (None, None, Some(_)) if line.text.is_some() => {
            mistakes.push("this provision has no 'citation' and the plan's source has no citation template".into());
            String::new()
        }
        (None, _, None) if line.text.is_some() => {
            mistakes.push("this provision has neither 'citation' nor 'number', so it could not be cited".into());
            String::new()
        }
        (None, _, Some(number)) => format!("{}, {} {number}", target.code_body, capitalised(&line.level)),
        (None, _, None) => format!("{}, {}", target.code_body, line.heading),
    };
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let sort = match (&line.order, line.text.is_some()) {
        (Some(SiblingPosition::Number(order)), _) => SortKey::of_number(&order.to_string()),
        (Some(SiblingPosition::Text(order)), _) => SortKey::of_number(order),
        (None, true) => SortKey::of_citation(&citation),
        (None, false) => SortKey::default(),
    };
    let mut tags = line.tags;
    tags.extend(target.tags.iter().cloned());
    tags.sort_unstable();
    tags.dedup();
    let set = |text: &str| layout_of(text, &Scheme::found());
    let layout = line.text.as_deref().map(set).unwrap_or_default();
    let notes = |notes: Vec<LineNote>| -> Vec<ContentNote> {
        notes.into_iter().map(|n| ContentNote { topic: n.topic, layout: set(&n.text), text: n.text }).collect()
    };
    let wordings: Vec<Content> = line
        .wordings
        .into_iter()
        .map(|w| Content {
            heading: w.heading.unwrap_or_else(|| line.heading.clone()),
            status: w.status,
            layout: set(&w.text),
            text: Some(w.text),
            notes: notes(w.notes),
            source_credit: w.source_credit,
            effect: effect_of(w.effective_from, w.effective_to, Some(w.label), w.validity),
            ..Content::default()
        })
        .collect();
    Ok(NewNode {
        handle: NodeHandle::new(target.key, &line.key),
        parent: line.parent.as_ref().map(|parent| NodeHandle::new(target.key, parent)),
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
            layout,
            notes: notes(line.notes),
            source_credit: line.source_credit,
            tags,
            former_citations: line.former_citations,
            parallel_citations: line.parallel_citations,
            now: line.now,
            effect: effect_of(line.effective_from, line.effective_to, line.validity_remark, line.validity),
            wordings,
            source_url: line.source_url,
            current_through: line.current_through,
            reference: line.key,
            source: target.source,
            parent_key: line.parent,
            ..Content::default()
        },
        position,
    })
}

fn effect_of(
    from: Option<String>,
    to: Option<String>,
    remark: Option<String>,
    validity: Option<DateCertainty>,
) -> Effect {
    Effect { from, to, then: None, remark, uncertain: validity == Some(DateCertainty::Uncertain) }
}

fn check(line: &NativeLine) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (field, key) in [("key", Some(&line.key)), ("parent", line.parent.as_ref())] {
        if let Some(key) = key.filter(|key| !is_source_key(key)) {
            mistakes.push(format!(
                "field '{field}': '{key}' is not a key; use lower-case letters, digits, '.', '-', '_' and '/'"
            ));
        }
    }
    if line.level.trim().is_empty() {
        mistakes.push("field 'level' is empty; give the name of the level, such as 'section'".into());
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
            mistakes.push(format!("field '{field}': '{date}' is not a date; write it as 2026-01-31"));
        }
    }
    let is_container = line.text.is_none();
    if is_container && !line.wordings.is_empty() {
        mistakes.push("it has 'wordings' but no 'text'; put one of the wordings into 'text'".into());
    }
    if is_container && line.heading.trim().is_empty() && line.number.is_none() {
        mistakes.push("a node without 'text' needs a 'heading' or a 'number', so that it can be found".into());
    }
    mistakes
}

/// Warns about valid input that is probably unintended.
fn warn(node: &NewNode, intake: &mut SourceIntake<'_>) {
    let NewNode { content, position, .. } = node;
    let SourceIntake { gatherer, warnings, .. } = intake;
    let living = content.status.is_none_or(Status::may_be_in_force);
    if living && content.text.as_ref().is_some_and(|text| text.trim().is_empty()) && content.wordings.is_empty() {
        let what = format!("'{}' is in force but has no text", content.citation);
        warnings.add(WarningKind::EmptyProvision, position, what);
    }
    let effects = || std::iter::once(&content.effect).chain(content.wordings.iter().map(|wording| &wording.effect));
    for effect in effects() {
        let Effect { from, to: Some(to), .. } = effect else { continue };
        if let Some(from) = from.as_ref().filter(|from| to <= *from) {
            let what = format!("'{}': effectiveTo {to} is not after effectiveFrom {from}", content.citation);
            warnings.add(WarningKind::Dates, position, what);
            continue;
        }
        let next_day = effect::day_after(to);
        if next_day.is_some() && effects().any(|other| other.from == next_day) {
            let what = format!(
                "'{}': another wording begins on the day after effectiveTo {to}; effectiveTo is the first day on which a wording is no longer law, not its last day as law",
                content.citation
            );
            warnings.add(WarningKind::Dates, position, what);
        }
    }
    if content.text.is_some()
        && let Some(first) = gatherer.earlier_citation_position(&content.citation)
    {
        let what = format!("'{}' is also the citation of the provision at {first}; both are kept", content.citation);
        warnings.add(WarningKind::SharedCitation, position, what);
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::Gatherer;
    use crate::mistakes::Mistakes;
    use crate::report::{Warning, Warnings};

    /// The citations in code order and the warnings, or the mistakes.
    fn import_text(text: &str) -> Result<(Vec<String>, Vec<Warning>), String> {
        let (contents, warnings) = import_contents(text)?;
        Ok((contents.into_iter().map(|content| content.citation).collect(), warnings))
    }

    fn import_contents(text: &str) -> Result<(Vec<Content>, Vec<Warning>), String> {
        let dir = tempfile::tempdir().unwrap();
        let (mut gatherer, mut warnings, mut mistakes) =
            (Gatherer::new(dir.path()).unwrap(), Warnings::default(), Mistakes::default());
        let target = ImportTarget {
            jurisdiction: "XA",
            code_body: "Arden Code",
            key: "xa/code",
            citation: Some("Arden Code § {number}"),
            source: 0,
            tags: &["statute".to_owned()],
            options: &toml::Table::new(),
        };
        let file = SourceFile { place: "x.jsonl".into(), reader: &mut text.as_bytes() };
        let mut intake = SourceIntake::new(&mut gatherer, &mut warnings, &mut mistakes);
        let read = import(file, target, &mut intake);
        if !mistakes.is_empty() {
            return Err(mistakes.to_string());
        }
        read.map_err(|error| error.to_string())?;
        let tree = gatherer.finish_body(&mut warnings, &mut mistakes).unwrap();
        assert!(mistakes.is_empty(), "{mistakes}");
        let spool = gatherer.into_spool();
        let contents = tree.iter().map(|node| node.content.read(&spool).unwrap()).collect();
        Ok((contents, warnings.into_parts().0))
    }

    #[test]
    fn order_labels_and_tags_are_kept() {
        let text = r#"{"key":"a","level":"section","number":"1","text":"A.","order":2}
{"key":"b","level":"section","number":"2","text":"(a) One.\n(1) Two.\n(b) Three.","order":1,"tags":["own"]}"#;
        let contents = import_contents(text).unwrap().0;
        assert_eq!(
            contents.iter().map(|content| content.number.as_deref()).collect::<Vec<_>>(),
            [Some("2"), Some("1")]
        );
        let labels: Vec<_> = contents[0].layout.lines.iter().map(|line| (line.depth, line.label_bytes())).collect();
        assert_eq!(labels, [(0, 3), (1, 3), (0, 3)]);
        // Together with the tags of the plan.
        assert_eq!(contents[0].tags, ["own", "statute"]);
    }

    #[test]
    fn citations_come_from_the_line_the_template_or_the_level() {
        let text = r#"{"key":"s1-2","parent":"c1","level":"section","number":"1-2","text":"B."}
{"key":"s1-1","parent":"c1","level":"section","number":"1-1","citation":"Own § 1-1","text":"A."}

{"key":"c1","level":"chapter","number":"1","heading":"General"}"#;
        assert_eq!(import_text(text).unwrap().0, ["Arden Code, Chapter 1", "Own § 1-1", "Arden Code § 1-2"]);
    }

    #[test]
    fn mistakes_name_file_line_field_and_what_was_expected() {
        for (line, expected) in [
            (
                r#"{"key":"a","level":"section","number":"1","text":"x","txet":"y"}"#,
                "unknown field 'txet'; the known fields are key, parent,",
            ),
            (r#"{"key":"a""#, "this is not valid JSON (EOF while parsing an object, column 10)"),
            (r#"["key"]"#, "expected an object in braces, found a list"),
            (r#"{"key":"A b","level":"section","number":"1","text":""}"#, "field 'key': 'A b' is not a key"),
            (r#"{"key":"a","level":"section","text":""}"#, "could not be cited"),
            (r#"{"key":"a","level":" ","number":"1","text":""}"#, "field 'level' is empty"),
            (r#"{"key":"a","number":"1","text":""}"#, "the field 'level' is missing; it must be a text in quotes"),
            (r#"{"key":"a","key":"b","level":"section","number":"1","text":""}"#, "duplicate field `key`"),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","effectiveFrom":"soon"}"#,
                "field 'effectiveFrom': 'soon' is not a date; write it as 2026-01-31",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","status":"dead"}"#,
                "field 'status': expected one of 'in force', 'repealed', 'reserved', 'omitted', 'transferred', \
                 'renumbered', 'expired', found 'dead'",
            ),
            (
                r#"{"key":"a","level":"section","number":1,"text":""}"#,
                "field 'number': expected a text in quotes, found a number",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":{}}"#,
                "field 'text': expected a text in quotes, found an object",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","heading":null}"#,
                "field 'heading': expected a text in quotes, found null",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","tags":"x"}"#,
                "field 'tags': expected a list of texts, found a text",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","tags":["x",3]}"#,
                "field 'tags[1]': expected a text in quotes, found a number",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","notes":{"topic":"t"}}"#,
                "field 'notes': expected a list of objects with topic, text, found an object",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","notes":[{"topic":"t"}]}"#,
                "the field 'notes[0].text' is missing",
            ),
            (
                r#"{"key":"a","level":"section","number":"1","text":"","order":-1}"#,
                "field 'order': expected a text in quotes or a whole number, found a number",
            ),
            (r#"{"key":"a","level":"title"}"#, "needs a 'heading' or a 'number'"),
            (
                r#"{"key":"a","level":"title","heading":"T","wordings":[{"label":"l","text":"t"}]}"#,
                "'wordings' but no 'text'",
            ),
        ] {
            let message = import_text(&format!("\n{line}")).unwrap_err();
            assert!(message.starts_with("x.jsonl:2: ") && message.contains(expected), "{message}");
            assert!(!message.contains("at line 1"), "{message}");
        }
    }

    #[test]
    fn every_mistake_of_every_line_is_reported_at_once_up_to_a_hundred() {
        let good = r#"{"key":"s1","level":"section","number":"1","text":"B."}"#;
        let bad = r#"{"key":"B B","level":"","number":"1","text":"B.","effectiveTo":"x"}"#;
        let message = import_text(&[good, bad, good, "{", bad].join("\n")).unwrap_err();
        assert!(message.starts_with("8 errors in the sources"), "{message}");
        for place in ["x.jsonl:2: field 'key'", "x.jsonl:2: field 'level'", "x.jsonl:2: field 'effectiveTo'"] {
            assert!(message.contains(place), "{message}");
        }
        assert!(message.contains("x.jsonl:3: the key 'xa/code/s1' is already used at x.jsonl:1"), "{message}");
        assert!(message.contains("x.jsonl:4: this is not valid JSON"), "{message}");
        let message = import_text(&vec!["{"; 1_000].join("\n")).unwrap_err();
        assert!(message.starts_with("100 errors in the sources, and possibly more"), "{message}");
        assert!(message.contains("x.jsonl:100: ") && !message.contains("x.jsonl:101: "), "{message}");
    }

    #[test]
    fn repeated_citations_and_dates_in_the_wrong_order_are_warned_of() {
        let text = r#"{"key":"a","level":"section","number":"1","text":"A.","effectiveFrom":"2026-02-01","effectiveTo":"2026-01-31"}
{"key":"b","level":"section","number":"2","text":"B.","effectiveFrom":"2026-01-31","effectiveTo":"2026-01-31"}
{"key":"c","level":"section","citation":"arden code  § 1","text":"C.","wordings":[{"label":"old","text":"D.","effectiveFrom":"2026-02-01","effectiveTo":"2025-01-31"}]}"#;
        let (citations, warnings) = import_text(text).unwrap();
        assert_eq!(citations.len(), 3);
        let reported: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            reported,
            [
                "x.jsonl:1: 'Arden Code § 1': effectiveTo 2026-01-31 is not after effectiveFrom 2026-02-01",
                "x.jsonl:2: 'Arden Code § 2': effectiveTo 2026-01-31 is not after effectiveFrom 2026-01-31",
                "x.jsonl:3: 'arden code  § 1': effectiveTo 2025-01-31 is not after effectiveFrom 2026-02-01",
                "x.jsonl:3: 'arden code  § 1' is also the citation of the provision at x.jsonl:1; both are kept",
            ]
        );
    }

    #[test]
    fn the_statuses_in_messages_are_all_there_are() {
        let FieldShape::Choice(known) = STATUSES else { panic!("statuses are a choice") };
        assert_eq!(known, Status::STATED.map(Status::as_str));
    }
}
