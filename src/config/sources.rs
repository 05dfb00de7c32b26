//! What is given: by the file, by the environment, by flags. Each value is checked where it is read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use hornbook_corpus::edits::edit_distance;
use toml::de::{DeTable, DeValue};

use super::settings::SETTINGS;
use super::table::{Preset, Setting};
use super::value::SettingValue;
use super::{ConfigError, nearest_setting};
use crate::accounts::tier::{FreeTier, Tariff};

/// The client's own variable, which `hornbook bench` and the examples of the documentation use. It is no setting.
const KEY_VARIABLE: &str = "HORNBOOK_KEY";

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    Default,
    /// A default that depends on something, in words.
    DerivedDefault(String),
    /// With the line.
    File(PathBuf, usize),
    Environment(String),
    /// As it is written on the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::DerivedDefault(from) => write!(f, "default ({from})"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A setting from the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlagValue {
    pub setting: String,
    pub value: String,
    /// The flag, such as `--listen`.
    pub flag: &'static str,
}

/// Values by the name of their setting, as text, with their origins.
#[derive(Clone, Debug, Default)]
pub(super) struct Given(BTreeMap<&'static str, (String, Origin)>);

impl Given {
    /// What is in force: the value given, or else the default.
    pub(super) fn effective(&self, name: &str) -> (String, Origin) {
        if let Some(given) = self.0.get(name) {
            return given.clone();
        }
        let default = |text: &str| (text.to_owned(), Origin::Default);
        match SETTINGS.iter().find(|setting| setting.name == name).map(|setting| &setting.preset) {
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

    fn set(&mut self, name: &str, value: String, from: Origin) -> Result<(), ConfigError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
            return Err(ConfigError::Unknown { name: name.to_owned(), from, nearest: nearest_setting(name) });
        };
        match (setting.check)(&value) {
            Ok(()) => {
                self.0.insert(setting.name, (value, from));
                Ok(())
            }
            Err(wanted) => Err(ConfigError::Value { name: setting.name, value, from, wanted }),
        }
    }

    pub(super) fn take_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let line_of = |offset: usize| text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
        let table = DeTable::parse(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(span.start));
            ConfigError::Parse { path: path.to_owned(), line, problem: error.message().to_owned() }
        })?;
        let mut set = |name: &str, value: &DeValue<'_>, offset: usize| {
            let from = Origin::File(path.to_owned(), line_of(offset));
            match as_text(value) {
                Some(text) => self.set(name, text, from),
                None => self.refuse_table(name, from),
            }
        };
        for (section, content) in table.get_ref() {
            match content.get_ref() {
                DeValue::Table(entries) => {
                    for (name, value) in entries {
                        set(&format!("{}.{}", section.get_ref(), name.get_ref()), value.get_ref(), name.span().start)?;
                    }
                }
                other => set(section.get_ref(), other, section.span().start)?,
            }
        }
        Ok(())
    }

    /// A table where a value belongs: either the name is unknown, which `set` says, or the value is.
    fn refuse_table(&mut self, name: &str, from: Origin) -> Result<(), ConfigError> {
        match SETTINGS.iter().find(|setting| setting.name == name) {
            None => self.set(name, String::new(), from),
            Some(setting) => {
                let (name, value, wanted) = (setting.name, "a table".to_owned(), setting.takes());
                Err(ConfigError::Value { name, value, from, wanted })
            }
        }
    }

    pub(super) fn take_environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (variable, value) in variables {
            // Variables of other programs may hold anything.
            let variable = variable.to_string_lossy().into_owned();
            if !variable.starts_with("HORNBOOK_") || variable == KEY_VARIABLE {
                continue;
            }
            let Ok(value) = value.into_string() else { return Err(ConfigError::NotText { name: variable }) };
            let from = Origin::Environment(variable.clone());
            let Some(setting) = SETTINGS.iter().find(|setting| setting.environment_name() == variable) else {
                let nearest = nearest(&variable, SETTINGS.iter().map(Setting::environment_name));
                return Err(ConfigError::Unknown { name: variable, from, nearest });
            };
            self.set(setting.name, value, from)?;
        }
        Ok(())
    }

    pub(super) fn take_flags(&mut self, flags: impl IntoIterator<Item = FlagValue>) -> Result<(), ConfigError> {
        flags
            .into_iter()
            .try_for_each(|FlagValue { setting, value, flag }| self.set(&setting, value, Origin::Flag(flag)))
    }
}

/// A value as the environment or a flag would write it; a list by commas. None for a table.
fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is_on) => Some(is_on.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(entries) => {
            let entries: Option<Vec<String>> = entries.iter().map(|entry| as_text(entry.get_ref())).collect();
            entries.map(|entries| entries.join(", "))
        }
        DeValue::Table(_) => None,
    }
}

/// The known name that is most like this one. A name without its section is compared with the part after the dot.
pub(super) fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let edits = |to: &str| edit_distance(name, to, u8::MAX).unwrap_or(u8::MAX);
    let distance = |candidate: &String| match candidate.split_once('.') {
        Some((_, last)) if !name.contains('.') => edits(candidate).min(edits(last)),
        _ => edits(candidate),
    };
    known.min_by_key(distance).unwrap_or_default()
}
