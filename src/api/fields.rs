//! The parameter `fields`: the members of an answer that a caller wants. The rest is left out.
//!
//! `results.citation` is the member of each element of the list `results`. The kept values are the very bytes of the
//! whole answer. A name that the answers of the operation never have is refused, so that no misspelled one is left out
//! in silence.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hornbook_base::hex;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::error::{ApiError, Violation, shortened};
use super::operation::{Operation, PreparedWork, inline_schema};
use super::parameters::{BoundedTexts, Param};
use super::reply::{Body, Format, Reply};

pub(super) const FIELDS: Param<Option<BoundedTexts<50, 100>>> = Param::optional(
    "fields",
    "members of the JSON answer to return; the others are left out; a.b is the member b of a, or of each in the list a",
);

/// The members that a call wants, as a tree: its paths share beginnings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FieldSelection {
    /// The value is wanted with all that it has.
    is_whole: bool,
    members: BTreeMap<String, Self>,
}

impl FieldSelection {
    /// Checks the paths against the schema of the operation's answers.
    /// `name` is the parameter that selects.
    pub(super) fn new(
        operation: &Operation,
        format: Format,
        name: &'static str,
        paths: &[&str],
    ) -> Result<Self, ApiError> {
        if format != Format::Json {
            let message = format!("{name} selects members of a JSON answer, and this call asks for another format");
            return Err(ApiError::invalid_parameter(name, message));
        }
        let schema = schema_of_answers(operation);
        let unknown = paths.iter().filter_map(|path| {
            let (held, known) = unknown_part(&schema, path)?;
            let within = if held.is_empty() { "the answer".to_owned() } else { format!("`{held}`") };
            let known = if known.is_empty() { "no members".to_owned() } else { known.join(", ") };
            Some(Violation::new(name, format!("there is no `{}`; {within} has {known}", shortened(path))))
        });
        let unknown: Vec<Violation> = unknown.collect();
        if !unknown.is_empty() {
            return Err(ApiError::invalid(unknown));
        }
        let mut selection = Self::default();
        paths.iter().for_each(|path| selection.add(path));
        Ok(selection)
    }

    fn add(&mut self, path: &str) {
        let wanted = path.split('.').fold(self, |above, name| above.members.entry(name.to_owned()).or_default());
        wanted.is_whole = true;
    }

    /// Leaves out of the answer what is not wanted.
    fn reduced(&self, reply: Reply) -> Result<Reply, ApiError> {
        let (Body::Bytes(whole) | Body::Cached(whole)) = &reply.body else { return Ok(reply) };
        let mut kept = String::with_capacity(whole.len() / 2);
        let written = serde_json::from_slice(whole).and_then(|whole: &RawValue| self.write(whole, &mut kept));
        written.map_err(|error| ApiError::internal(format!("select members of an answer: {error}")))?;
        Ok(Reply { body: Body::Bytes(kept.into()), ..reply })
    }

    fn write(&self, value: &RawValue, kept: &mut String) -> serde_json::Result<()> {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'{') if !self.is_whole => {
                let Members(members) = serde_json::from_str(text)?;
                let wanted =
                    members.into_iter().filter_map(|(name, value)| Some((self.members.get(&name)?, name, value)));
                kept.push('{');
                for (place, (selection, name, value)) in wanted.enumerate() {
                    kept.push_str(if place > 0 { "," } else { "" });
                    kept.push_str(&serde_json::to_string(&name)?);
                    kept.push(':');
                    selection.write(value, kept)?;
                }
                kept.push('}');
            }
            Some(b'[') if !self.is_whole => {
                kept.push('[');
                for (place, value) in serde_json::from_str::<Vec<&RawValue>>(text)?.into_iter().enumerate() {
                    kept.push_str(if place > 0 { "," } else { "" });
                    self.write(value, kept)?;
                }
                kept.push(']');
            }
            _ => kept.push_str(text),
        }
        Ok(())
    }

    /// The same work, whose answer has only the wanted members. It is another answer, so it has another version.
    pub(super) fn of_work(self, prepared: PreparedWork) -> PreparedWork {
        let PreparedWork { version, work, .. } = prepared;
        let version = version.map(|version| format!("{version}-{}", self.mark()));
        let work = move |cancellation: &_| work(cancellation).and_then(|reply| self.reduced(reply));
        PreparedWork { version, work: Box::new(work), ..prepared }
    }

    fn mark(&self) -> String {
        hex::encode(&Sha256::digest(format!("{self:?}"))[..8])
    }
}

/// The members of an object, in their order.
struct Members<'j>(Vec<(String, &'j RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The schema of an operation's answers, without references. It is made once.
fn schema_of_answers(operation: &Operation) -> Arc<Value> {
    static MADE: Mutex<BTreeMap<&str, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = || Arc::new(inline_schema(|generator| (operation.reply)(generator)));
    Arc::clone(made.entry(operation.name).or_insert_with(schema))
}

/// If an answer never has the value at this path: the part of the path that it has, and what is there.
fn unknown_part<'p>(schema: &Value, path: &'p str) -> Option<(&'p str, Vec<String>)> {
    let (mut levels, mut held) = (vec![schema], 0);
    for name in path.split('.') {
        let known: Vec<(&str, &Value)> = levels.iter().flat_map(|level| members_of(level)).collect();
        levels = known.iter().filter(|(member, _)| *member == name).map(|(_, schema)| *schema).collect();
        if levels.is_empty() {
            let mut names: Vec<String> = known.iter().map(|(member, _)| (*member).to_owned()).collect();
            names.sort_unstable();
            names.dedup();
            return Some((path[..held].trim_end_matches('.'), names));
        }
        held += name.len() + 1;
    }
    None
}

/// The members that a value of a schema may have; of a list, those of its elements.
fn members_of(schema: &Value) -> Vec<(&str, &Value)> {
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut members: Vec<(&str, &Value)> = own.map(|(name, schema)| (name.as_str(), schema)).collect();
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|way| schema.get(way)?.as_array()).flatten();
    members.extend(choices.chain(schema.get("items")).flat_map(members_of));
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operations::OPERATIONS;

    fn schema(name: &str) -> Arc<Value> {
        schema_of_answers(OPERATIONS.iter().find(|operation| operation.name == name).unwrap())
    }

    const ANSWER: &str = r#"{"total":2,"results":[{"citation":"§ 1","url":"/a","score":1.50},{"citation":"§ 2","wordings":null}],"notices":[],"deep":{"a":{"b":1e2},"c":[]}}"#;

    fn reduced(paths: &[&str]) -> String {
        let mut selection = FieldSelection::default();
        paths.iter().for_each(|path| selection.add(path));
        let reply = selection.reduced(Reply::of(Format::Json, ANSWER.into())).unwrap();
        let Body::Bytes(bytes) = reply.body else { panic!("bytes") };
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn only_what_is_wanted_is_kept_byte_for_byte() {
        for (paths, expected) in [
            (&["total"][..], r#"{"total":2}"#),
            (&["results.citation", "total"], r#"{"total":2,"results":[{"citation":"§ 1"},{"citation":"§ 2"}]}"#),
            (&["results.score", "deep.a"], r#"{"results":[{"score":1.50},{}],"deep":{"a":{"b":1e2}}}"#),
            (&["deep.a.b"], r#"{"deep":{"a":{"b":1e2}}}"#),
            (&["results.wordings.text"], r#"{"results":[{},{"wordings":null}]}"#),
            // The whole and a part of it are the whole.
            (&["deep", "deep.c"], r#"{"deep":{"a":{"b":1e2},"c":[]}}"#),
            (&["deep.c", "deep"], r#"{"deep":{"a":{"b":1e2},"c":[]}}"#),
            (&["notices.of.nothing"], r#"{"notices":[]}"#),
        ] {
            assert_eq!(reduced(paths), expected, "{paths:?}");
        }
    }

    #[test]
    fn the_schema_says_which_paths_there_are() {
        for (operation, paths) in [
            ("search", &["total", "results.citation", "results.snippet", "facets.jurisdictions.count"][..]),
            (
                "node",
                &["text", "path.citation", "wordings.effectiveFrom", "provenance.edition", "references.in.nodes.url"],
            ),
            ("changes", &["changes.citation", "changes.date.day"]),
        ] {
            let schema = schema(operation);
            for path in paths {
                assert_eq!(unknown_part(&schema, path), None, "{operation}: {path}");
            }
            for (path, held) in [("citaton", ""), ("", ""), (".", "")] {
                assert_eq!(unknown_part(&schema, path).unwrap().0, held, "{operation}: {path}");
            }
        }
        let (held, known) = unknown_part(&schema("search"), "results.citation.x").unwrap();
        assert_eq!((held, known), ("results.citation", Vec::new()));
        let (held, known) = unknown_part(&schema("search"), "results.cite").unwrap();
        assert!(held == "results" && known.contains(&"citation".to_owned()), "{known:?}");
    }
}
