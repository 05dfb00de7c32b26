//! What a row of the table is, and the macro that makes the table and the typed structs from the same rows.

use std::collections::BTreeMap;
use std::fmt;

use super::error::ConfigError;
use super::origin::Origin;
use super::value::SettingValue;
use crate::accounts::tier::{FreeTier, Tariff};

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// `section.name`, as in the file; in the environment `HORNBOOK_SECTION_NAME`.
    pub name: &'static str,
    pub meaning: &'static str,
    /// Its value is never shown, and cannot be given by a flag, which others see.
    pub is_secret: bool,
    pub(super) preset: Preset,
    /// Why a text is not a value of this setting: what it takes instead.
    pub(super) check: fn(&str) -> Result<(), String>,
    pub(super) takes: fn() -> String,
}

/// The value of a setting that is not given anywhere.
#[derive(Debug)]
pub(super) enum Preset {
    /// No value; the meaning says what that does.
    None,
    Text(&'static str),
    /// As the profile of the free tier has it.
    Profile(fn(&FreeTier) -> u32),
    /// As the price list has it.
    Tariff(fn(&Tariff) -> u32),
    /// Computed, with the words that say from what.
    Derived(fn(&Given) -> Option<String>, &'static str),
}

impl Setting {
    /// A value as it may be shown.
    pub(super) fn shown(&self, value: String) -> String {
        if self.is_secret && !value.is_empty() { HIDDEN.to_owned() } else { value }
    }

    pub fn environment_name(&self) -> String {
        format!("HORNBOOK_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// What may be written, in words.
    pub fn takes(&self) -> String {
        (self.takes)()
    }
}

pub(super) fn check<T: SettingValue>(text: &str) -> Result<(), String> {
    T::parse(text).map(drop)
}

/// Values by the name of their setting, as text, with their origins. Some are secrets.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) settings: &'static [Setting],
    pub(super) values: BTreeMap<&'static str, (String, Origin)>,
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.keys()).finish()
    }
}

/// What is shown in the place of a secret.
const HIDDEN: &str = "(hidden)";

impl Given {
    /// The same without the value of a secret.
    pub(super) fn shown(&self, setting: &Setting) -> (String, Origin) {
        let (value, from) = self.effective(setting.name);
        (setting.shown(value), from)
    }

    pub(super) fn none_of(settings: &'static [Setting]) -> Self {
        Self { settings, values: BTreeMap::new() }
    }

    /// What is in force: the value given, or else the default.
    pub(super) fn effective(&self, name: &str) -> (String, Origin) {
        if let Some(given) = self.values.get(name) {
            return given.clone();
        }
        let default = |text: &str| (text.to_owned(), Origin::Default);
        match self.settings.iter().find(|setting| setting.name == name).map(|setting| &setting.preset) {
            None | Some(Preset::None) => default(""),
            Some(Preset::Text(text)) => default(text),
            Some(Preset::Tariff(part)) => default(&part(&Tariff::CONTRACT).to_string()),
            Some(Preset::Profile(part)) => {
                let (profile, _) = self.effective("free.profile");
                let tier = if profile == "grant" { FreeTier::GRANT } else { FreeTier::MONTHLY };
                (part(&tier).to_string(), Origin::DerivedDefault(format!("profile {profile}")))
            }
            Some(Preset::Derived(value, from)) => {
                value(self).map_or_else(|| default(""), |value| (value, Origin::DerivedDefault((*from).to_owned())))
            }
        }
    }

    pub(super) fn parsed<T: SettingValue>(&self, name: &'static str) -> Result<T, ConfigError> {
        let (value, from) = self.effective(name);
        T::parse(&value).map_err(|wanted| ConfigError::Value { name, value, from, wanted })
    }
}

/// Rows of `section: Struct { name: Type = preset, "meaning"; }`.
macro_rules! settings {
    ($($section:ident: $Section:ident {
        $($name:ident: $Type:ty = $preset:expr, $meaning:literal;)*
    })*) => {
        /// Every setting with its effective value, checked.
        #[derive(Clone, Debug)]
        pub struct Config {
            $(pub $section: $Section,)*
            pub(super) given: Given,
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
            pub(super) fn from_given(given: Given) -> Result<Self, super::error::ConfigError> {
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
