//! The kinds of parameter values, and how they are parsed from text.

use hornbook_corpus::day::Day;
use hornbook_corpus::ids::ShortCode;
use uuid::Uuid;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// Not only white space, and no control characters.
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
    ShortCode,
    /// A day of the calendar.
    Date,
    /// Comma-separated, or the parameter repeated.
    Uuids {
        count_max: usize,
    },
    /// A list like `Uuids`.
    ShortCodes {
        most: usize,
    },
    /// A list like `Uuids`.
    Choices {
        of: &'static [&'static str],
    },
    /// A list like `Uuids`. Each text follows the rule of `Text` and has no comma.
    Texts {
        most: usize,
        chars_max: usize,
    },
}

impl ParameterKind {
    /// The rule in words, for messages and documents.
    pub fn rule(self) -> String {
        match self {
            Self::Text { chars_max } => {
                format!("text of at most {chars_max} characters, not only white space, without control characters")
            }
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::Uuid => "a UUID".to_owned(),
            Self::ShortCode => "a jurisdiction's short code, such as VA or UT-SPANISH-FORK".to_owned(),
            Self::Date => "a date, such as 2026-01-31".to_owned(),
            Self::Uuids { count_max: most } => format!("1 to {most} comma-separated UUIDs"),
            Self::ShortCodes { most } => {
                format!("1 to {most} comma-separated short codes of jurisdictions, such as VA,UT-SPANISH-FORK")
            }
            Self::Choices { of } => format!("one or several of {}, comma-separated", of.join(", ")),
            Self::Texts { most, chars_max } => {
                format!("1 to {most} comma-separated texts of at most {chars_max} characters")
            }
        }
    }

    /// Whether it takes several values. Such a parameter may be repeated.
    pub fn is_list(self) -> bool {
        matches!(self, Self::Uuids { .. } | Self::ShortCodes { .. } | Self::Choices { .. } | Self::Texts { .. })
    }

    /// Whether a text follows the rule.
    pub fn accepts(self, text: &str) -> bool {
        self.read(&[text]).is_some()
    }

    /// Parses the texts that were sent. Only lists use more than the first text.
    pub(super) fn read<'c>(self, given: &[&'c str]) -> Option<Value<'c>> {
        let text = *given.first()?;
        match self {
            Self::Text { chars_max } => is_plain_text(text, chars_max).then_some(Value::Text(text)),
            Self::Integer { min, max } => {
                let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = is_plain.then(|| text.parse().ok()).flatten();
                number.filter(|number| (min..=max).contains(number)).map(Value::Integer)
            }
            Self::Number { min, max } => {
                // Accepts only the characters of JSON numbers, so that text such as `inf`, which Rust
                // parses, is refused.
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
            Self::ShortCode => read_short_code(text).map(Value::ShortCode),
            Self::Date => text.parse().ok().map(Value::Date),
            Self::Uuids { count_max: most } => read_list(given, most, read_uuid).map(Value::Uuids),
            Self::ShortCodes { most } => read_list(given, most, read_short_code).map(Value::ShortCodes),
            Self::Choices { of } => {
                let place = |text: &str| of.iter().position(|choice| *choice == text);
                read_list(given, of.len(), place).map(Value::Choices)
            }
            Self::Texts { most, chars_max } => {
                read_list(given, most, |text| is_plain_text(text, chars_max).then_some(text)).map(Value::Texts)
            }
        }
    }
}

/// All values of a list, each parsed alone. `None` if one is invalid or there are too many.
fn read_list<'c, T>(given: &[&'c str], most: usize, read: impl Fn(&'c str) -> Option<T>) -> Option<Vec<T>> {
    let texts = given.iter().flat_map(|text| text.split(',')).map(|text| text.trim_matches(' '));
    let values: Option<Vec<T>> = texts.take(most + 1).map(read).collect();
    values.filter(|values| values.len() <= most)
}

fn is_plain_text(text: &str, chars_max: usize) -> bool {
    !text.trim().is_empty()
        && !text.chars().any(char::is_control)
        && (text.len() <= chars_max || text.chars().nth(chars_max).is_none())
}

fn read_short_code(text: &str) -> Option<ShortCode> {
    (text == text.trim()).then(|| text.parse().ok()).flatten()
}

/// Accepts only the usual form with hyphens, not braces, URNs or bare digits.
fn read_uuid(text: &str) -> Option<Uuid> {
    (text.len() == 36).then(|| Uuid::try_parse(text).ok()).flatten()
}

/// A value that follows its rule.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::api) enum Value<'c> {
    Text(&'c str),
    Integer(u32),
    Number(f64),
    Boolean(bool),
    /// The index among the choices.
    Choice(usize),
    Uuid(Uuid),
    ShortCode(ShortCode),
    Date(Day),
    Uuids(Vec<Uuid>),
    ShortCodes(Vec<ShortCode>),
    /// The indexes among the choices.
    Choices(Vec<usize>),
    Texts(Vec<&'c str>),
}

impl Value<'_> {
    pub(in crate::api) fn choice(&self) -> Option<usize> {
        if let Self::Choice(at) = self { Some(*at) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME_ID: &str = "6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e";

    #[test]
    fn numbers_with_a_fraction_are_plain_and_finite() {
        let latitude = ParameterKind::Number { min: -90, max: 90 };
        for (text, expected) in [("41.8781", 41.8781), ("-90", -90.0), ("1e1", 10.0), ("0.0", 0.0), ("9e-1", 0.9)] {
            assert_eq!(latitude.read(&[text]), Some(Value::Number(expected)), "{text}");
        }
        for bad in ["", "nan", "inf", "-infinity", "90.000001", "1,5", " 1", "1e400", "0x1", "12°", "--1", "."] {
            assert_eq!(latitude.read(&[bad]), None, "{bad}");
        }
    }

    #[test]
    fn short_codes_and_ids_have_no_white_space_around_them() {
        assert_eq!(ParameterKind::ShortCode.read(&["va"]), "VA".parse().ok().map(Value::ShortCode));
        for bad in [" VA", "VA\n", "V A", ""] {
            assert_eq!(ParameterKind::ShortCode.read(&[bad]), None, "{bad:?}");
        }
        assert!(ParameterKind::Uuids { count_max: 2 }.read(&[&format!("{SOME_ID}, {SOME_ID}")]).is_some());
        for bad in [format!("{SOME_ID},\n{SOME_ID}"), format!("{SOME_ID},"), [SOME_ID; 3].join(",")] {
            assert_eq!(ParameterKind::Uuids { count_max: 2 }.read(&[&bad]), None, "{bad:?}");
        }
    }

    #[test]
    fn dates_are_days_of_the_calendar() {
        assert_eq!(ParameterKind::Date.read(&["2024-02-29"]), Day::from_parts(2024, 2, 29).map(Value::Date));
        for bad in ["2023-02-29", "2024-2-29", "today", "", "2024-02-29 "] {
            assert_eq!(ParameterKind::Date.read(&[bad]), None, "{bad:?}");
        }
    }

    #[test]
    fn a_list_is_comma_separated_or_repeated_up_to_its_maximum() {
        let codes = ParameterKind::ShortCodes { most: 3 };
        let read = |given: &[&str]| match codes.read(given) {
            Some(Value::ShortCodes(codes)) => codes.iter().map(ShortCode::to_string).collect(),
            _ => Vec::new(),
        };
        assert_eq!(read(&["va,us", "XA-B"]), ["VA", "US", "XA-B"]);
        assert_eq!(read(&["VA, US"]), ["VA", "US"]);
        for bad in [&["VA,US,XA,XB"][..], &["VA", "US", "XA", "XB"], &["VA,"], &["VA", ""], &["VA;US"]] {
            assert_eq!(read(bad), [""; 0], "{bad:?}");
        }
        assert!(codes.rule().contains("1 to 3 "), "{}", codes.rule());
        let texts = ParameterKind::Texts { most: 2, chars_max: 4 };
        assert_eq!(texts.read(&["ab,cd"]), Some(Value::Texts(vec!["ab", "cd"])));
        assert_eq!(texts.read(&["ab", "cdefg"]), None);
        let choices = ParameterKind::Choices { of: &["one", "two"] };
        assert_eq!(choices.read(&["two", "one"]), Some(Value::Choices(vec![1, 0])));
        assert_eq!(choices.read(&["three"]), None);
        assert_eq!(choices.read(&["one,one,one"]), None);
    }
}
