//! Parameters: each is declared once, as a constant that knows its type.
//!
//! An endpoint declares `const LIMIT: Param<Whole<1, 100>>`. Its row in the table lists the rule of it, which is what the
//! documents show and what [`check`] enforces; its handler gets the value by the constant, already of its type. A caller's
//! text comes in as [`Arguments`] and is read once, into [`Checked`] values. Past this point nobody sees raw text where a
//! type belongs.

use std::marker::PhantomData;

use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use uuid::Uuid;

use super::error::{ApiError, ErrorCode, Violation, shortened};
use super::json::JsonObject;
use crate::accounts::ids::OrderId;

/// Parameters that a request may have. More than any operation takes, few enough to be checked at no cost.
pub const PARAMETERS_MAX: usize = 64;

/// The rule of one parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub location: Location,
    pub kind: Kind,
    pub need: Need,
    pub meaning: &'static str,
    /// Whether it says which page of an answer is asked for.
    pub is_page_number: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    Path,
    Query,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// More than white space, without control characters.
    Text {
        chars_max: usize,
    },
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
    /// Comma-separated.
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
            Self::Text { chars_max } => {
                format!("text of at most {chars_max} characters, not only white space, without control characters")
            }
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}, such as 41.8781"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Uuid => "a UUID".to_owned(),
            Self::Uuids { most } => format!("1 to {most} comma-separated UUIDs"),
            Self::ShortCode => "a jurisdiction's short code, such as VA or UT-SPANISH-FORK".to_owned(),
        }
    }

    /// Whether a text keeps the rule.
    pub fn takes(self, text: &str) -> bool {
        self.read(text).is_some()
    }

    fn read(self, text: &str) -> Option<Value<'_>> {
        match self {
            Self::Text { chars_max } => {
                let is_good = !text.trim().is_empty()
                    && !text.chars().any(char::is_control)
                    && (text.len() <= chars_max || text.chars().nth(chars_max).is_none());
                is_good.then_some(Value::Text(text))
            }
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
            Self::Choice(choices) => choices.iter().position(|choice| *choice == text).map(Value::Choice),
            Self::Uuid => read_uuid(text).map(Value::Uuid),
            Self::Uuids { most } => {
                let ids: Option<Vec<Uuid>> = text.split(',').map(|id| read_uuid(id.trim_matches(' '))).collect();
                ids.filter(|ids| ids.len() <= most).map(Value::Uuids)
            }
            Self::ShortCode => (text == text.trim()).then(|| text.parse().ok()).flatten().map(Value::ShortCode),
        }
    }
}

/// Only the usual form with hyphens: braces, URNs and bare digits are other people's habits.
fn read_uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// A parameter whose value is a `T`.
pub(super) struct Param<T> {
    pub(super) rule: Parameter,
    value: PhantomData<fn() -> T>,
}

impl<T: Argument> Param<T> {
    pub(super) const fn in_path(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Location::Path, Need::Required, meaning)
    }

    pub(super) const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Location::Query, Need::Required, meaning)
    }

    pub(super) const fn with_default(name: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Location::Query, Need::Default(default), meaning)
    }

    const fn new(name: &'static str, location: Location, need: Need, meaning: &'static str) -> Self {
        let rule = Parameter { name, location, kind: T::KIND, need, meaning, is_page_number: false };
        Self { rule, value: PhantomData }
    }
}

impl<const MAX: u32> Param<Whole<1, MAX>> {
    /// The number of a page, the first by default. Answers of an operation that has it are pages.
    pub(super) const fn page_number(meaning: &'static str) -> Self {
        let mut page = Self::with_default("page", "1", meaning);
        page.rule.is_page_number = true;
        page
    }
}

impl<T: Argument> Param<Option<T>> {
    pub(super) const fn optional(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Location::Query, Need::Optional, meaning)
    }
}

/// A type that the value of a parameter may have.
pub(super) trait Argument {
    const KIND: Kind;

    /// As handlers get it.
    type Read<'v>;

    /// None for a value of another kind, or for none at all where one is needed.
    fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>>;
}

impl<T: Argument> Argument for Option<T> {
    const KIND: Kind = T::KIND;
    type Read<'v> = Option<T::Read<'v>>;

    fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>> {
        match value {
            None => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

/// Text of so many characters at most.
pub(super) struct Text<const CHARS_MAX: usize>;

/// A whole number within bounds.
pub(super) struct Whole<const MIN: u32, const MAX: u32>;

/// Degrees from so many below zero to so many above.
pub(super) struct Degrees<const MAX: i32>;

/// So many ids at most.
pub(super) struct Ids<const MOST: usize>;

macro_rules! argument {
    ([$($generics:tt)*] $type:ty, $kind:expr, $variant:ident, $read:ty, $of:expr) => {
        impl<$($generics)*> Argument for $type {
            const KIND: Kind = $kind;
            type Read<'v> = $read;

            fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>> {
                if let Some(Value::$variant(value)) = value { Some($of(value)) } else { None }
            }
        }
    };
}

argument!([const CHARS_MAX: usize] Text<CHARS_MAX>, Kind::Text { chars_max: CHARS_MAX }, Text, &'v str, |text: &&'v str| *text);
argument!([const MIN: u32, const MAX: u32] Whole<MIN, MAX>, Kind::Integer { min: MIN, max: MAX }, Integer, u32, |number: &u32| *number);
argument!([const MAX: i32] Degrees<MAX>, Kind::Number { min: -MAX, max: MAX }, Number, f64, |number: &f64| *number);
argument!([] bool, Kind::Boolean, Boolean, bool, |value: &bool| *value);
argument!([] NodeId, Kind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] CodeBodyId, Kind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] OrderId, Kind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([const MOST: usize] Ids<MOST>, Kind::Uuids { most: MOST }, Uuids, &'v [Uuid], |ids: &'v Vec<Uuid>| ids.as_slice());
argument!([] ShortCode, Kind::ShortCode, ShortCode, &'v Self, |code: &'v ShortCode| code);

/// Makes a type of a few named values one that a parameter may have: it has `ALL` and a `const fn` that names each value.
macro_rules! choice {
    ($type:ty, $name:ident) => {
        impl $crate::api::parameters::Argument for $type {
            const KIND: $crate::api::parameters::Kind = $crate::api::parameters::Kind::Choice(&{
                let mut names = [""; <$type>::ALL.len()];
                let mut at = 0;
                while at < names.len() {
                    names[at] = <$type>::ALL[at].$name();
                    at += 1;
                }
                names
            });
            type Read<'v> = Self;

            fn read<'v>(value: Option<&'v $crate::api::parameters::Value<'_>>) -> Option<Self::Read<'v>> {
                value.and_then(|value| value.choice()).and_then(|at| <$type>::ALL.get(at).copied())
            }
        }
    };
}

pub(super) use choice;

/// What a caller sent, as text.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// In the order of the path.
    pub path: Vec<(&'static str, String)>,
    /// As they came; a name may occur twice. At most [`PARAMETERS_MAX`] of them.
    pub query: Vec<(String, String)>,
    /// How many the caller sent.
    pub query_count: usize,
    pub body: JsonObject,
    /// What the transport found wrong with them already: values of a type that no text stands for.
    pub faults: Vec<Violation>,
}

/// A value that keeps its rule.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value<'c> {
    Text(&'c str),
    Integer(u32),
    Number(f64),
    Boolean(bool),
    /// Its place among the choices.
    Choice(usize),
    Uuid(Uuid),
    Uuids(Vec<Uuid>),
    ShortCode(ShortCode),
}

impl Value<'_> {
    pub(super) fn choice(&self) -> Option<usize> {
        if let Self::Choice(at) = self { Some(*at) } else { None }
    }
}

/// Values that keep the rules, defaults filled in.
#[derive(Clone, Debug)]
pub(super) struct Checked<'c> {
    values: Vec<(&'static str, Value<'c>)>,
}

impl Checked<'_> {
    /// The value of a parameter that the operation's row lists. Asking for another one is a mistake in this program that
    /// every call of the operation would show.
    pub(super) fn get<T: Argument>(&self, param: &Param<T>) -> T::Read<'_> {
        let name = param.rule.name;
        let value = self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        T::read(value).unwrap_or_else(|| panic!("the operation's row does not list the parameter {name} as declared"))
    }
}

/// Checks arguments against the rules of an operation; an error lists everything that is wrong with them.
pub(super) fn check<'c>(parameters: &'static [Parameter], arguments: &'c Arguments) -> Result<Checked<'c>, ApiError> {
    if arguments.query_count > PARAMETERS_MAX {
        let count = arguments.query_count;
        let message = format!("the query has {count} parameters; send at most {PARAMETERS_MAX}");
        return Err(ApiError::new(ErrorCode::ValidationError, message));
    }
    let mut violations = unknown_and_repeated(parameters, &arguments.query);
    violations.extend_from_slice(&arguments.faults);
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        let given = match parameter.location {
            Location::Path => arguments.path.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| text),
            Location::Query => arguments.query.iter().find(|(name, _)| name == parameter.name).map(|(_, text)| text),
        };
        let text = match (given, parameter.need) {
            (Some(text), _) => text.as_str(),
            (None, Need::Default(default)) => default,
            (None, Need::Optional) => continue,
            (None, Need::Required) if arguments.faults.iter().any(|fault| fault.parameter == parameter.name) => {
                continue;
            }
            (None, Need::Required) => {
                let message = format!("{} is required: {}", parameter.name, parameter.kind.rule());
                violations.push(Violation::new(parameter.name, message));
                continue;
            }
        };
        match parameter.kind.read(text) {
            Some(value) => values.push((parameter.name, value)),
            // An id in the path that is none: nothing has it.
            None if parameter.location == Location::Path && parameter.kind == Kind::Uuid => {
                let id = shortened(text);
                let message = format!("nothing has the id '{id}': ids are UUIDs, as the service returns them");
                return Err(ApiError::not_found(message));
            }
            None => {
                let rule = parameter.kind.rule();
                violations.push(Violation::new(parameter.name, format!("{} must be {rule}", parameter.name)));
            }
        }
    }
    if violations.is_empty() { Ok(Checked { values }) } else { Err(ApiError::invalid(violations)) }
}

fn unknown_and_repeated(parameters: &[Parameter], query: &[(String, String)]) -> Vec<Violation> {
    let known = || parameters.iter().filter(|parameter| parameter.location == Location::Query).map(|known| known.name);
    let mut violations: Vec<Violation> = Vec::new();
    let mut is_first_unknown = true;
    for (place, (name, _)) in query.iter().enumerate() {
        let times_before = query[..place].iter().filter(|(earlier, _)| earlier == name).count();
        let is_known = known().any(|known| known == name);
        match (is_known, times_before) {
            (true, 1) => {
                let message = format!("parameter `{name}` is given more than once; send it once");
                violations.push(Violation::new(name, message));
            }
            (false, 0) => {
                let message = if is_first_unknown { unknown(known()) } else { "there is no such parameter".to_owned() };
                is_first_unknown = false;
                violations.push(Violation::new(name, message));
            }
            _ => {}
        }
    }
    violations
}

fn unknown(known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.collect();
    match known.is_empty() {
        true => "there is no such parameter; this call takes none in its query".to_owned(),
        false => format!("there is no such parameter; this call takes {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Param<NodeId> = Param::in_path("id", "");
    const Q: Param<Text<8>> = Param::required("q", "");
    const PAGE: Param<Whole<1, 100>> = Param::page_number("");
    const FACETS: Param<Option<bool>> = Param::optional("facets", "");
    const RULES: &[Parameter] = &[ID.rule, Q.rule, PAGE.rule, FACETS.rule];
    const SOME_ID: &str = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e";

    fn arguments(id: &str, query: &[(&str, &str)]) -> Arguments {
        let query: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Arguments { path: vec![("id", id.to_owned())], query_count: query.len(), query, ..Arguments::default() }
    }

    fn violated(query: &[(&str, &str)]) -> Vec<String> {
        let error = check(RULES, &arguments(SOME_ID, query)).unwrap_err();
        assert_eq!(error.code, ErrorCode::ValidationError);
        error.details.into_iter().map(|violation| violation.parameter).collect()
    }

    #[test]
    fn defaults_are_filled_in_and_what_is_optional_may_be_absent() {
        let given = arguments(SOME_ID, &[("q", "water")]);
        let checked = check(RULES, &given).unwrap();
        assert_eq!((checked.get(&Q), checked.get(&PAGE), checked.get(&FACETS)), ("water", 1, None));
        assert_eq!(checked.get(&ID).to_string(), SOME_ID);
        let given = arguments(SOME_ID, &[("q", "water"), ("facets", "false")]);
        assert_eq!(check(RULES, &given).unwrap().get(&FACETS), Some(false));
    }

    #[test]
    #[should_panic(expected = "does not list the parameter limit")]
    fn a_parameter_that_the_row_does_not_list_cannot_be_read() {
        const LIMIT: Param<Whole<1, 100>> = Param::with_default("limit", "20", "");
        check(RULES, &arguments(SOME_ID, &[("q", "water")])).unwrap().get(&LIMIT);
    }

    #[test]
    fn every_violated_parameter_is_listed_once() {
        let all = [("q", " "), ("page", "0"), ("facets", "1"), ("wrong", "1"), ("wrong", "2")];
        assert_eq!(violated(&all), ["wrong", "q", "page", "facets"]);
        assert_eq!(violated(&[]), ["q"]);
        assert_eq!(violated(&[("q", "a"), ("q", "b"), ("q", "c")]), ["q"]);
        assert_eq!(violated(&[("q", "a"), ("id", SOME_ID)]), ["id"], "a path parameter is unknown in the query");
    }

    #[test]
    fn the_first_unknown_name_gets_the_list_of_the_known_ones() {
        let error = check(RULES, &arguments(SOME_ID, &[("q", "a"), ("x", ""), ("y", "")])).unwrap_err();
        assert!(error.details[0].message.ends_with("this call takes q, page, facets"), "{error:?}");
        assert_eq!(error.details[1].message, "there is no such parameter");
    }

    #[test]
    fn text_has_a_limit_in_characters_and_no_control_characters() {
        for good in ["a", "12345678", "éééééééé", " a ", "-a"] {
            check(RULES, &arguments(SOME_ID, &[("q", good)])).unwrap();
        }
        for bad in ["", " ", "\u{3000}", "123456789", "ééééééééé", "a\tb", "a\n", "\ra", "\u{7f}", "a\u{85}"] {
            assert_eq!(violated(&[("q", bad)]), ["q"], "{bad:?}");
        }
    }

    #[test]
    fn numbers_are_digits_within_their_bounds() {
        for bad in ["", "0", "101", "+1", "-1", "1.0", " 1", "1e1", "99999999999999999999", "٣"] {
            assert_eq!(violated(&[("q", "a"), ("page", bad)]), ["page"], "{bad}");
        }
        for good in ["1", "100", "007"] {
            check(RULES, &arguments(SOME_ID, &[("q", "a"), ("page", good)])).unwrap();
        }
    }

    #[test]
    fn numbers_with_a_fraction_are_plain_and_finite() {
        let latitude = Degrees::<90>::KIND;
        for (text, expected) in [("41.8781", 41.8781), ("-90", -90.0), ("1e1", 10.0), ("0.0", 0.0), ("9e-1", 0.9)] {
            assert_eq!(latitude.read(text), Some(Value::Number(expected)), "{text}");
        }
        for bad in ["", "nan", "inf", "-infinity", "90.000001", "1,5", " 1", "1e400", "0x1", "12°", "--1", "."] {
            assert_eq!(latitude.read(bad), None, "{bad}");
        }
    }

    #[test]
    fn short_codes_and_ids_have_no_white_space_around_them() {
        assert_eq!(Kind::ShortCode.read("va"), "VA".parse().ok().map(Value::ShortCode));
        for bad in [" VA", "VA\n", "V A", ""] {
            assert_eq!(Kind::ShortCode.read(bad), None, "{bad:?}");
        }
        assert!(Ids::<2>::KIND.read(&format!("{SOME_ID}, {SOME_ID}")).is_some());
        for bad in [format!("{SOME_ID},\n{SOME_ID}"), format!("{SOME_ID},"), [SOME_ID; 3].join(",")] {
            assert_eq!(Ids::<2>::KIND.read(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn an_id_in_the_path_that_is_none_names_nothing() {
        for bad in ["", "17", "6f1c8d1e4f0b5b7a9c3d2a57686f726e", "{6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e}"] {
            let error = check(RULES, &arguments(bad, &[("q", "a")])).unwrap_err();
            assert_eq!(error.code, ErrorCode::NotFound);
            assert!(error.message.contains(&format!("'{bad}'")), "{error:?}");
        }
    }
}
