//! Parameters: the rules of each, once. What is checked here is what the documents tell.
//!
//! A caller's words come in as [`Arguments`]; [`check`] turns them into [`Checked`] values or lists everything that is
//! wrong with them. Past this point nobody sees raw text where a type belongs.

use hornbook_corpus::ids::ShortCode;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// One parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub place: Place,
    pub kind: Kind,
    pub need: Need,
    pub meaning: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    Path,
    Query,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Anything but nothing.
    Text,
    Integer {
        min: u32,
        max: u32,
    },
    /// With or without a fraction.
    Number {
        min: i32,
        max: i32,
    },
    Boolean,
    Choice(&'static [&'static str]),
    Uuid,
    /// Parted by commas.
    Uuids {
        most: usize,
    },
    ShortCode,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    Required,
    Optional,
    Default(&'static str),
}

impl Kind {
    /// What it takes, as a message says it.
    pub fn rule(self) -> String {
        match self {
            Self::Text => "text of more than white space".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}, such as 41.8781"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Uuid => "a UUID".to_owned(),
            Self::Uuids { most } => format!("1 to {most} UUIDs parted by commas"),
            Self::ShortCode => "a jurisdiction's short code, such as VA or UT-SPANISH-FORK".to_owned(),
        }
    }

    fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Text => (!text.trim().is_empty()).then(|| Value::Text(text.to_owned())),
            Self::Integer { min, max } => {
                let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = is_plain.then(|| text.parse().ok()).flatten();
                number.filter(|number| (min..=max).contains(number)).map(Value::Integer)
            }
            Self::Number { min, max } => {
                // What JSON would take, and nothing that only Rust reads as a number.
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte));
                let number: Option<f64> = is_plain.then(|| text.parse().ok()).flatten();
                number.filter(|number| (f64::from(min)..=f64::from(max)).contains(number)).map(Value::Number)
            }
            Self::Boolean => match text {
                "true" => Some(Value::Boolean(true)),
                "false" => Some(Value::Boolean(false)),
                _ => None,
            },
            Self::Choice(choices) => choices.iter().find(|choice| **choice == text).map(|choice| Value::Choice(choice)),
            Self::Uuid => read_uuid(text).map(Value::Uuid),
            Self::Uuids { most } => {
                let ids: Option<Vec<Uuid>> = text.split(',').map(|id| read_uuid(id.trim())).collect();
                ids.filter(|ids| ids.len() <= most).map(Value::Uuids)
            }
            Self::ShortCode => text.parse().ok().map(Value::ShortCode),
        }
    }
}

/// Only the usual form with hyphens: braces, URNs and bare digits are other people's habits.
fn read_uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// What a caller sent, as text.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// In the order of the path.
    pub path: Vec<(&'static str, String)>,
    /// As they came; a name may stand twice.
    pub query: Vec<(String, String)>,
}

/// One parameter that is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Violation {
    pub parameter: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Violation {
    pub fn new(parameter: &str, message: impl Into<String>) -> Self {
        Self { parameter: parameter.to_owned(), message: message.into() }
    }
}

/// Why arguments were not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejected {
    Invalid(Vec<Violation>),
    /// An id in the path that is none, so nothing has it.
    NoSuchId(String),
}

#[derive(Clone, PartialEq, Debug)]
enum Value {
    Text(String),
    Integer(u32),
    Number(f64),
    Boolean(bool),
    Choice(&'static str),
    Uuid(Uuid),
    Uuids(Vec<Uuid>),
    ShortCode(ShortCode),
}

/// Values that keep the rules, defaults filled in.
#[derive(Clone, Debug)]
pub struct Checked {
    values: Vec<(&'static str, Value)>,
}

/// Checks arguments against the rules of an operation.
pub fn check(parameters: &'static [Parameter], arguments: &Arguments) -> Result<Checked, Rejected> {
    let mut violations = unknown_and_repeated(parameters, &arguments.query);
    let mut values = Vec::new();
    for parameter in parameters {
        let given = match parameter.place {
            Place::Path => arguments.path.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| text),
            Place::Query => arguments.query.iter().find(|(name, _)| name == parameter.name).map(|(_, text)| text),
        };
        let text = match (given, parameter.need) {
            (Some(text), _) => text.as_str(),
            (None, Need::Default(default)) => default,
            (None, Need::Optional) => continue,
            (None, Need::Required) => {
                let message = format!("{} is required: {}", parameter.name, parameter.kind.rule());
                violations.push(Violation::new(parameter.name, message));
                continue;
            }
        };
        match parameter.kind.read(text) {
            Some(value) => values.push((parameter.name, value)),
            None if parameter.place == Place::Path && parameter.kind == Kind::Uuid => {
                return Err(Rejected::NoSuchId(text.to_owned()));
            }
            None => {
                let rule = parameter.kind.rule();
                violations.push(Violation::new(parameter.name, format!("{} must be {rule}", parameter.name)));
            }
        }
    }
    if violations.is_empty() { Ok(Checked { values }) } else { Err(Rejected::Invalid(violations)) }
}

fn unknown_and_repeated(parameters: &[Parameter], query: &[(String, String)]) -> Vec<Violation> {
    let known = || parameters.iter().filter(|parameter| parameter.place == Place::Query).map(|known| known.name);
    let mut violations = Vec::new();
    for (place, (name, _)) in query.iter().enumerate() {
        let stood_before = query[..place].iter().any(|(earlier, _)| earlier == name);
        let message = if !known().any(|known| known == name) {
            let known: Vec<&str> = known().collect();
            match known.is_empty() {
                true => "there is no such parameter; this call takes none in its query".to_owned(),
                false => format!("there is no such parameter; this call knows {}", known.join(", ")),
            }
        } else if stood_before {
            format!("{name} stands more than once; send it once")
        } else {
            continue;
        };
        let violation = Violation::new(name, message);
        if !violations.contains(&violation) {
            violations.push(violation);
        }
    }
    violations
}

/// Asking for another type than the table says, or for a value that is optional there as if it were not, is a mistake in
/// this program that every call of the operation would show.
macro_rules! getter {
    ($required:ident, $variant:ident, $type:ty, $read:expr) => {
        pub(super) fn $required(&self, name: &str) -> $type {
            match self.value(name) {
                Some(Value::$variant(value)) => $read(value),
                other => panic!("the parameter {name} is {other:?}, the operation takes it for another kind"),
            }
        }
    };
    ($optional:ident, if any, $variant:ident, $type:ty, $read:expr) => {
        pub(super) fn $optional(&self, name: &str) -> Option<$type> {
            match self.value(name) {
                Some(Value::$variant(value)) => Some($read(value)),
                None => None,
                other => panic!("the parameter {name} is {other:?}, the operation takes it for another kind"),
            }
        }
    };
}

impl Checked {
    getter!(text, Text, &str, String::as_str);
    getter!(integer, Integer, u32, |value: &u32| *value);
    getter!(number, Number, f64, |value: &f64| *value);
    getter!(boolean, Boolean, bool, |value: &bool| *value);
    getter!(choice, Choice, &'static str, |value: &&'static str| *value);
    getter!(choice_if_any, if any, Choice, &'static str, |value: &&'static str| *value);
    getter!(uuid, Uuid, Uuid, |value: &Uuid| *value);
    getter!(uuid_if_any, if any, Uuid, Uuid, |value: &Uuid| *value);
    getter!(uuids, Uuids, &[Uuid], Vec::as_slice);
    getter!(short_code, ShortCode, &ShortCode, std::convert::identity);
    getter!(short_code_if_any, if any, ShortCode, &ShortCode, std::convert::identity);

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[Parameter] = &[
        Parameter { name: "id", place: Place::Path, kind: Kind::Uuid, need: Need::Required, meaning: "" },
        Parameter { name: "q", place: Place::Query, kind: Kind::Text, need: Need::Required, meaning: "" },
        Parameter {
            name: "page",
            place: Place::Query,
            kind: Kind::Integer { min: 1, max: 100 },
            need: Need::Default("1"),
            meaning: "",
        },
        Parameter { name: "facets", place: Place::Query, kind: Kind::Boolean, need: Need::Optional, meaning: "" },
    ];
    const ID: &str = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e";

    fn arguments(id: &str, query: &[(&str, &str)]) -> Arguments {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Arguments { path: vec![("id", id.to_owned())], query }
    }

    fn violated(query: &[(&str, &str)]) -> Vec<String> {
        match check(RULES, &arguments(ID, query)) {
            Err(Rejected::Invalid(violations)) => violations.into_iter().map(|violation| violation.parameter).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults_are_filled_in_and_what_is_optional_may_be_absent() {
        let checked = check(RULES, &arguments(ID, &[("q", "water")])).unwrap();
        assert_eq!((checked.text("q"), checked.integer("page")), ("water", 1));
        assert_eq!(checked.value("facets"), None);
        assert_eq!(checked.uuid("id").to_string(), ID);
    }

    #[test]
    fn every_violated_parameter_is_listed_once() {
        let all = [("q", " "), ("page", "0"), ("facets", "1"), ("wrong", "1"), ("wrong", "2")];
        assert_eq!(violated(&all), ["wrong", "wrong", "q", "page", "facets"][1..]);
        assert_eq!(violated(&[]), ["q"]);
        assert_eq!(violated(&[("q", "a"), ("q", "b"), ("q", "c")]), ["q"]);
        assert_eq!(violated(&[("q", "a"), ("id", ID)]), ["id"], "what belongs into the path is unknown in the query");
    }

    #[test]
    fn numbers_are_digits_within_their_bounds() {
        for bad in ["", "0", "101", "+1", "-1", "1.0", " 1", "1e1", "99999999999999999999", "٣"] {
            assert_eq!(violated(&[("q", "a"), ("page", bad)]), ["page"], "{bad}");
        }
        for good in ["1", "100", "007"] {
            check(RULES, &arguments(ID, &[("q", "a"), ("page", good)])).unwrap();
        }
    }

    #[test]
    fn numbers_with_a_fraction_are_plain_and_finite() {
        let latitude = Kind::Number { min: -90, max: 90 };
        for (text, expected) in [("41.8781", 41.8781), ("-90", -90.0), ("1e1", 10.0), ("0.0", 0.0), ("9e-1", 0.9)] {
            assert_eq!(latitude.read(text), Some(Value::Number(expected)), "{text}");
        }
        for bad in ["", "nan", "inf", "-infinity", "90.000001", "1,5", " 1", "1e400", "0x1", "12°", "--1", "."] {
            assert_eq!(latitude.read(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_id_in_the_path_that_is_none_names_nothing() {
        for bad in ["", "17", "6f1c8d1e4f0b5b7a9c3d2a57686f726e", "{6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e}"] {
            let rejected = check(RULES, &arguments(bad, &[("q", "a")])).unwrap_err();
            assert_eq!(rejected, Rejected::NoSuchId(bad.to_owned()));
        }
    }
}
