//! What a model may write in place of an id or a code: a citation or an address for a provision, a name for a code or a
//! jurisdiction. Each is replaced before the call; what names nothing is a fault that says what to do.

use hornbook_corpus::catalogue::{CodeBody, Jurisdiction};
use hornbook_corpus::ids::ShortCode;
use serde_json::Value;

use crate::api::as_of::AS_OF_NAME;
use crate::api::corpus::Corpus;
use crate::api::error::Violation;
use crate::api::json::JsonObject;
use crate::api::node_lookup::{day_of, find, node_id};
use crate::api::operation::Operation;

/// Names are looked up before the key is checked, so their work is bounded: more of them, and longer ones, are refused by
/// the operation.
const NAMES_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 600;

/// The kind of thing that an argument names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NamedThing {
    Provision,
    Code,
    Jurisdiction,
}

impl NamedThing {
    /// The thing that an argument of this name is the id or the code of.
    pub(super) fn of(argument: &str) -> Option<Self> {
        match argument {
            "id" | "parent" | "subtree" => Some(Self::Provision),
            "codeBody" | "codeBodyId" => Some(Self::Code),
            "jurisdiction" | "shortCode" | "state" => Some(Self::Jurisdiction),
            _ => None,
        }
    }

    /// What a model may write, for the description of the argument.
    pub(super) const fn forms(self) -> &'static str {
        match self {
            Self::Provision => "id, citation or url",
            Self::Code => "id or name",
            Self::Jurisdiction => "short code or name",
        }
    }
}

/// Replaces names in the arguments of a tool by ids and codes.
pub(super) fn replace(
    corpus: &Corpus,
    base_url: &str,
    operation: &Operation,
    given: &mut JsonObject,
    faults: &mut Vec<Violation>,
) {
    // `fetch` looks its own ids up, because an address may name a day.
    let is_own_lookup = operation.route.is_none();
    let mut named_day = None;
    for (argument, value) in given.iter_mut().filter(|_| operation.body.is_none() && !is_own_lookup) {
        let Some(thing) = NamedThing::of(argument) else { continue };
        let texts = match value {
            Value::String(_) => std::slice::from_mut(value),
            // Only filters are lists.
            Value::Array(list) if thing != NamedThing::Provision => &mut list[..],
            _ => &mut [],
        };
        let texts = texts.iter_mut().take(NAMES_MAX).filter_map(|item| match item {
            Value::String(text) if text.len() <= NAME_BYTES_MAX => Some(text),
            _ => None,
        });
        let mut names_nothing = false;
        for text in texts {
            if thing == NamedThing::Provision {
                named_day = day_of(text).map(str::to_owned).or(named_day);
            }
            match id_of(corpus, base_url, thing, text) {
                Ok(None) => {}
                Ok(Some(id)) => *text = id,
                Err(why) => {
                    names_nothing = true;
                    faults.push(Violation::new(argument, format!("{argument}: {why}")));
                }
            }
        }
        if names_nothing {
            // The fault says all there is to say about it.
            *value = Value::Null;
        }
    }
    let Some(day) = named_day else { return };
    // The address of a page shows the law of the day that it names.
    match given.get(AS_OF_NAME) {
        None | Some(Value::Null) => drop(given.insert(AS_OF_NAME.to_owned(), Value::String(day))),
        Some(Value::String(asked)) if *asked == day => {}
        Some(_) => {
            let message = format!("{AS_OF_NAME} differs from the day in the address, {day}; name one day");
            faults.push(Violation::new(AS_OF_NAME, message));
        }
    }
}

/// The id or code of a thing. `None` if the text is one already, or cannot be anything else: then the operation says what is
/// wrong with it.
fn id_of(corpus: &Corpus, base_url: &str, thing: NamedThing, text: &str) -> Result<Option<String>, String> {
    match thing {
        NamedThing::Provision if node_id(text).is_some() => Ok(None),
        NamedThing::Provision => {
            let found = find(corpus, text, base_url).and_then(|node| corpus.node_id(node));
            found.map(|id| Some(id.to_string())).map_err(|error| error.message)
        }
        NamedThing::Code => {
            let named = |body: &&CodeBody| is_same_name(&body.name, text);
            Ok(corpus.catalogue().code_bodies.iter().find(named).map(|body| body.id.to_string()))
        }
        NamedThing::Jurisdiction => {
            let catalogue = corpus.catalogue();
            let code: Option<ShortCode> = text.parse().ok();
            if code.is_some_and(|code| catalogue.jurisdiction(&code).is_some()) {
                return Ok(None);
            }
            let exact = catalogue.jurisdictions.iter().find(|one| is_same_name(&one.name, text));
            Ok(exact.or_else(|| only_one_called(corpus, text)).map(|one| one.short_code.to_string()))
        }
    }
}

/// How names of governments begin. People leave it out.
const KINDS_OF_GOVERNMENT: [&str; 7] =
    ["the ", "state of ", "commonwealth of ", "city of ", "town of ", "village of ", "county of "];

/// The jurisdiction with this name without its kind, unless there are several.
fn only_one_called<'c>(corpus: &'c Corpus, text: &str) -> Option<&'c Jurisdiction> {
    let wanted = without_kind(text);
    let mut called =
        corpus.catalogue().jurisdictions.iter().filter(|one| is_same_name(&without_kind(&one.name), &wanted));
    called.next().filter(|_| called.next().is_none())
}

fn without_kind(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let kind = KINDS_OF_GOVERNMENT.into_iter().find(|kind| name.starts_with(kind)).unwrap_or_default();
    name[kind.len()..].to_owned()
}

/// Whether two names have the same letters and digits.
fn is_same_name(one: &str, other: &str) -> bool {
    let letters =
        |name: &str| -> String { name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let other = letters(other);
    !other.is_empty() && letters(one) == other
}
