//! The type of a row, and the macro that generates the table and the typed structs from the same
//! rows.

use std::collections::BTreeMap;
use std::fmt;

use hornbook_accounts::tier::{FreeTier, Tariff};

use super::error::ConfigError;
use super::origin::Origin;
use super::value::SettingValue;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// `section.name`, as in the file. The environment variable is `HORNBOOK_SECTION_NAME`.
    pub name: &'static str,
    pub meaning: &'static str,
    /// The value is never printed and cannot be given as a flag, because other users can see flags.
    pub is_secret: bool,
    pub(super) preset: DefaultValue,
    /// Checks a text. The error is a description of the valid values.
    pub(super) check: fn(&str) -> Result<(), String>,
    pub(super) takes: fn() -> String,
}

/// The default of a setting.
#[derive(Debug)]
pub(super) enum DefaultValue {
    /// No value; `meaning` explains the effect.
    None,
    Text(&'static str),
    /// From the profile of the free tier.
    Profile(fn(&FreeTier) -> u32),
    /// From the default price list.
    Tariff(fn(&Tariff) -> u32),
    /// Computed. The text describes what the value is computed from.
    Derived(fn(&RawValues) -> Option<String>, &'static str),
}

impl Setting {
    /// Whether a value must not be seen. The default of a secret setting may.
    pub(super) fn hides(&self, value: &str) -> bool {
        let is_default = matches!(self.preset, DefaultValue::Text(text) if text == value);
        self.is_secret && !value.is_empty() && !is_default
    }

    /// The value, or a placeholder if it must not be seen.
    pub(super) fn shown(&self, value: String) -> String {
        if self.hides(&value) { HIDDEN.to_owned() } else { value }
    }

    pub fn environment_name(&self) -> String {
        format!("HORNBOOK_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// A description of the valid values.
    pub fn valid_values(&self) -> String {
        (self.takes)()
    }
}

pub(super) fn check<T: SettingValue>(text: &str) -> Result<(), String> {
    T::parse(text).map(drop)
}

/// Values as text with their origins, by setting name. Some are secrets.
#[derive(Clone)]
pub(super) struct RawValues {
    pub(super) settings: &'static [Setting],
    pub(super) values: BTreeMap<&'static str, (String, Origin)>,
}

impl fmt::Debug for RawValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.keys()).finish()
    }
}

/// Printed in place of a secret.
const HIDDEN: &str = "(hidden)";

impl RawValues {
    /// The effective value with secrets hidden.
    pub(super) fn shown(&self, setting: &Setting) -> (String, Origin) {
        let (value, from) = self.effective(setting.name);
        (setting.shown(value), from)
    }

    pub(super) fn no_values_of(settings: &'static [Setting]) -> Self {
        Self { settings, values: BTreeMap::new() }
    }

    /// The effective value: the value given, or else the default.
    pub(super) fn effective(&self, name: &str) -> (String, Origin) {
        if let Some(given) = self.values.get(name) {
            return given.clone();
        }
        let default = |text: &str| (text.to_owned(), Origin::Default);
        match self.settings.iter().find(|setting| setting.name == name).map(|setting| &setting.preset) {
            None | Some(DefaultValue::None) => default(""),
            Some(DefaultValue::Text(text)) => default(text),
            Some(DefaultValue::Tariff(part)) => default(&part(&Tariff::CONTRACT).to_string()),
            Some(DefaultValue::Profile(part)) => {
                let (profile, _) = self.effective("free.profile");
                let tier = if profile == "grant" { FreeTier::GRANT } else { FreeTier::MONTHLY };
                (part(&tier).to_string(), Origin::DerivedDefault(format!("profile {profile}")))
            }
            Some(DefaultValue::Derived(value, from)) => {
                value(self).map_or_else(|| default(""), |value| (value, Origin::DerivedDefault((*from).to_owned())))
            }
        }
    }

    pub(super) fn parsed<T: SettingValue>(&self, name: &'static str) -> Result<T, ConfigError> {
        let (value, from) = self.effective(name);
        T::parse(&value).map_err(|wanted| ConfigError::Value { name, value, from, wanted })
    }
}

/// Takes rows of the form `section: Struct { name: Type = preset, "meaning"; }`.
macro_rules! settings {
    ($($section:ident: $Section:ident {
        $($name:ident: $Type:ty = $preset:expr, $meaning:literal;)*
    })*) => {
        /// Every setting with its effective value, checked.
        #[derive(Clone, Debug)]
        pub struct Config {
            $(pub $section: $Section,)*
            pub(super) given: RawValues,
        }

        $(
            #[derive(Clone, Debug)]
            pub struct $Section {
                $(#[doc = $meaning] pub $name: $Type,)*
            }
        )*

        /// Every setting once.
        pub const SETTINGS: &[super::table::Setting] = &[$($(
            super::table::Setting {
                name: concat!(stringify!($section), ".", stringify!($name)),
                meaning: $meaning,
                is_secret: <$Type as super::value::SettingValue>::IS_SECRET,
                preset: $preset,
                check: super::table::check::<$Type>,
                takes: <$Type as super::value::SettingValue>::takes,
            },
        )*)*];

        impl Config {
            pub(super) fn from_given(given: RawValues) -> Result<Self, super::error::ConfigError> {
                Ok(Self {
                    $($section: $Section {
                        $($name: given.parsed(concat!(stringify!($section), ".", stringify!($name)))?,)*
                    },)*
                    given,
                })
            }
        }
    };
}

pub(super) use settings;
