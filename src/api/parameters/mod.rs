//! Parameters. Each one is declared once, as a typed constant.
//!
//! An endpoint declares `const LIMIT: Param<Whole<1, 100>>`. Its row in the table lists `LIMIT.rule`,
//! which the documents show and [`check`] enforces. Its handler reads the typed value with the constant.
//! The text from the caller arrives as [`Arguments`] and is parsed once, into [`CheckedArguments`] values. After
//! that no code handles raw text where a type belongs.

mod kind;

use std::marker::PhantomData;

use hornbook_accounts::ids::{DraftId, OrderId};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeId, ShortCode};
use uuid::Uuid;

use super::error::{ApiError, ErrorCode, Violation, shortened};
use super::json::JsonObject;
pub use kind::ParameterKind;
pub(super) use kind::Value;

/// Maximum number of parameters in a request. No operation takes this many, and this few are cheap to check.
pub const PARAMETERS_MAX: usize = 64;

/// The rule of one parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub location: Location,
    pub kind: ParameterKind,
    pub need: Need,
    pub meaning: &'static str,
    /// Whether it selects a page of the answer.
    pub is_page_number: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    Path,
    Query,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    Required,
    Optional,
    Default(&'static str),
}

/// A parameter whose value is a `T`.
pub(super) struct Param<T> {
    pub(super) rule: Parameter,
    value: PhantomData<fn() -> T>,
}

impl<T: ParameterType> Param<T> {
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

impl<const MAX: u32> Param<BoundedInteger<1, MAX>> {
    /// The number of a page, 1 by default. An operation with this parameter divides its answers into pages.
    pub(super) const fn page_number(meaning: &'static str) -> Self {
        let mut page = Self::with_default("page", "1", meaning);
        page.rule.is_page_number = true;
        page
    }
}

impl<T: ParameterType> Param<Option<T>> {
    pub(super) const fn optional(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, Location::Query, Need::Optional, meaning)
    }
}

/// A type of parameter values.
pub(super) trait ParameterType {
    const KIND: ParameterKind;

    /// The type that handlers get.
    type Read<'v>;

    /// `None` for a value of another kind, or for a missing value that is required.
    fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>>;
}

impl<T: ParameterType> ParameterType for Option<T> {
    const KIND: ParameterKind = T::KIND;
    type Read<'v> = Option<T::Read<'v>>;

    fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>> {
        match value {
            None => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

/// Text of at most this many characters.
pub(super) struct BoundedText<const CHARS_MAX: usize>;

/// A whole number within bounds.
pub(super) struct BoundedInteger<const MIN: u32, const MAX: u32>;

/// Degrees from `-MAX` to `MAX`.
pub(super) struct BoundedDegrees<const MAX: i32>;

/// A number from 0 to 1.
pub(super) struct UnitFraction;

/// At most this many ids.
pub(super) struct Ids<const MOST: usize>;

/// At most this many short codes.
pub(super) struct ShortCodes<const MOST: usize>;

/// At most `MOST` texts, each of at most `CHARS_MAX` characters.
pub(super) struct BoundedTexts<const MOST: usize, const CHARS_MAX: usize>;

/// One or more values of a choice.
pub(super) struct AnyOf<C>(PhantomData<C>);

macro_rules! argument {
    ([$($generics:tt)*] $type:ty, $kind:expr, $variant:ident, $read:ty, $of:expr) => {
        impl<$($generics)*> ParameterType for $type {
            const KIND: ParameterKind = $kind;
            type Read<'v> = $read;

            fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>> {
                if let Some(Value::$variant(value)) = value { Some($of(value)) } else { None }
            }
        }
    };
}

argument!([const CHARS_MAX: usize] BoundedText<CHARS_MAX>, ParameterKind::Text { chars_max: CHARS_MAX }, Text, &'v str, |text: &&'v str| *text);
argument!([const MIN: u32, const MAX: u32] BoundedInteger<MIN, MAX>, ParameterKind::Integer { min: MIN, max: MAX }, Integer, u32, |number: &u32| *number);
argument!([const MAX: i32] BoundedDegrees<MAX>, ParameterKind::Number { min: -MAX, max: MAX }, Number, f64, |number: &f64| *number);
argument!([] UnitFraction, ParameterKind::Number { min: 0, max: 1 }, Number, f64, |number: &f64| *number);
argument!([] bool, ParameterKind::Boolean, Boolean, bool, |value: &bool| *value);
argument!([] NodeId, ParameterKind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] CodeBodyId, ParameterKind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] OrderId, ParameterKind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] DraftId, ParameterKind::Uuid, Uuid, Self, |id: &Uuid| Self(*id));
argument!([] Day, ParameterKind::Date, Date, Self, |day: &Day| *day);
argument!([const MOST: usize] Ids<MOST>, ParameterKind::Uuids { count_max: MOST }, Uuids, &'v [Uuid], |ids: &'v Vec<Uuid>| ids.as_slice());
argument!([] ShortCode, ParameterKind::ShortCode, ShortCode, &'v Self, |code: &'v ShortCode| code);
argument!([const MOST: usize] ShortCodes<MOST>, ParameterKind::ShortCodes { most: MOST }, ShortCodes, &'v [ShortCode], |codes: &'v Vec<ShortCode>| codes.as_slice());
argument!([const MOST: usize, const CHARS_MAX: usize] BoundedTexts<MOST, CHARS_MAX>, ParameterKind::Texts { most: MOST, chars_max: CHARS_MAX }, Texts, Vec<&'v str>, |texts: &Vec<&'v str>| texts.clone());

/// A type with a few named values, of which a parameter may have several.
pub(super) trait Choice: Sized + 'static {
    const NAMES: &'static [&'static str];

    /// The value whose name is at this index.
    fn at(place: usize) -> Option<Self>;
}

impl<C: Choice> ParameterType for AnyOf<C> {
    const KIND: ParameterKind = ParameterKind::Choices { of: C::NAMES };
    type Read<'v> = Vec<C>;

    fn read<'v>(value: Option<&'v Value<'_>>) -> Option<Self::Read<'v>> {
        if let Some(Value::Choices(places)) = value { places.iter().map(|&place| C::at(place)).collect() } else { None }
    }
}

/// Makes a type with a few named values usable as a parameter. The type needs `ALL`, and a `const fn`
/// that names each value.
macro_rules! choice {
    ($type:ty, $name:ident) => {
        impl $crate::api::parameters::ParameterType for $type {
            const KIND: $crate::api::parameters::ParameterKind = $crate::api::parameters::ParameterKind::Choice(&{
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

/// The arguments that a caller sent, as text.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// In the order of the path.
    pub path: Vec<(&'static str, String)>,
    /// As they were sent; a name may occur twice. At most [`PARAMETERS_MAX`] of them.
    pub query: Vec<(String, String)>,
    /// The number of query parameters that the caller sent.
    pub query_count: usize,
    pub body: JsonObject,
    /// The faults that the transport has already found: values of a type that has no text form.
    pub faults: Vec<Violation>,
}

/// Values that follow the rules, with defaults filled in.
#[derive(Clone, Debug)]
pub(super) struct CheckedArguments<'c> {
    values: Vec<(&'static str, Value<'c>)>,
}

impl CheckedArguments<'_> {
    /// The value of a parameter that the operation's row lists. It panics for any other parameter. That
    /// would be a bug in this program, and every call of the operation would show it.
    pub(super) fn get<T: ParameterType>(&self, param: &Param<T>) -> T::Read<'_> {
        let name = param.rule.name;
        let value = self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        T::read(value).unwrap_or_else(|| panic!("the operation's row does not list the parameter {name} as declared"))
    }
}

/// Checks arguments against the rules of an operation. The error lists everything that is wrong with them.
pub(super) fn check<'c>(
    parameters: &'static [Parameter],
    arguments: &'c Arguments,
) -> Result<CheckedArguments<'c>, ApiError> {
    if arguments.query_count > PARAMETERS_MAX {
        let count = arguments.query_count;
        let message = format!("the query has {count} parameters; send at most {PARAMETERS_MAX}");
        return Err(ApiError::new(ErrorCode::ValidationError, message));
    }
    let mut violations = unknown_and_repeated(parameters, &arguments.query);
    violations.extend_from_slice(&arguments.faults);
    let mut values = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        let mut given = given_for(parameter, arguments);
        match parameter.need {
            _ if !given.is_empty() => {}
            Need::Default(default) => given.push(default),
            Need::Optional => continue,
            Need::Required if arguments.faults.iter().any(|fault| fault.parameter == parameter.name) => continue,
            Need::Required => {
                let message = format!("{} is required: {}", parameter.name, parameter.kind.rule());
                violations.push(Violation::new(parameter.name, message));
                continue;
            }
        }
        match parameter.kind.read(&given) {
            Some(value) => values.push((parameter.name, value)),
            // The id in the path is not a UUID, so nothing has it.
            None if parameter.location == Location::Path && parameter.kind == ParameterKind::Uuid => {
                let id = shortened(given[0]);
                let message =
                    format!("there is no resource with the id '{id}': ids are UUIDs, as this service returns them");
                return Err(ApiError::not_found(message));
            }
            None => {
                let rule = parameter.kind.rule();
                violations.push(Violation::new(parameter.name, format!("{} must be {rule}", parameter.name)));
            }
        }
    }
    if violations.is_empty() { Ok(CheckedArguments { values }) } else { Err(ApiError::invalid(violations)) }
}

/// The values that were sent for a parameter. A list may have several.
fn given_for<'c>(parameter: &Parameter, arguments: &'c Arguments) -> Vec<&'c str> {
    match parameter.location {
        Location::Path => {
            let path = arguments.path.iter().filter(|(name, _)| *name == parameter.name);
            path.map(|(_, text)| text.as_str()).collect()
        }
        Location::Query => {
            let query = arguments.query.iter().filter(|(name, _)| name == parameter.name);
            query.map(|(_, text)| text.as_str()).collect()
        }
    }
}

fn unknown_and_repeated(parameters: &[Parameter], query: &[(String, String)]) -> Vec<Violation> {
    let of_query = || parameters.iter().filter(|parameter| parameter.location == Location::Query);
    let known = || of_query().map(|known| known.name);
    let mut violations: Vec<Violation> = Vec::new();
    let mut is_first_unknown = true;
    for (place, (name, _)) in query.iter().enumerate() {
        let times_before = query[..place].iter().filter(|(earlier, _)| earlier == name).count();
        let rule = of_query().find(|known| known.name == name);
        match (rule, times_before) {
            (Some(rule), 1) if !rule.kind.is_list() => {
                let message = format!("parameter `{name}` is given more than once; send it once");
                violations.push(Violation::new(name, message));
            }
            (None, 0) => {
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
    const Q: Param<BoundedText<8>> = Param::required("q", "");
    const PAGE: Param<BoundedInteger<1, 100>> = Param::page_number("");
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
        const LIMIT: Param<BoundedInteger<1, 100>> = Param::with_default("limit", "20", "");
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
    fn a_path_id_that_is_no_uuid_is_not_found() {
        for bad in ["", "17", "6f1c8d1e4f0b5b7a9c3d2a57686f726e", "{6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e}"] {
            let error = check(RULES, &arguments(bad, &[("q", "a")])).unwrap_err();
            assert_eq!(error.code, ErrorCode::NotFound);
            assert!(error.message.contains(&format!("'{bad}'")), "{error:?}");
        }
    }
}
