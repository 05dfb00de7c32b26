//! Reads values from the file, the environment and flags. Each value is checked as it is read.

use std::ffi::OsString;
use std::path::Path;

use hornbook_corpus::edits::edit_distance;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::origin::Origin;
use super::table::{RawValues, Setting};

/// The API key for clients, which `hornbook bench` and the examples in the documentation use. It is
/// not a setting.
const KEY_VARIABLE: &str = "HORNBOOK_KEY";

/// A setting given on the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlagValue {
    pub setting: String,
    pub value: String,
    /// The flag, such as `--listen`.
    pub flag: &'static str,
}

impl RawValues {
    /// The setting whose name is most similar to `name`.
    fn nearest_setting(&self, name: &str) -> String {
        nearest(name, self.settings.iter().map(|setting| setting.name.to_owned()))
    }

    fn set(&mut self, name: &str, value: String, from: Origin) -> Result<(), ConfigError> {
        let Some(setting) = self.settings.iter().find(|setting| setting.name == name) else {
            return Err(ConfigError::Unknown { name: name.to_owned(), from, nearest: self.nearest_setting(name) });
        };
        if setting.hides(&value) && matches!(from, Origin::Flag(_)) {
            return Err(ConfigError::SecretInFlag { name: setting.name, environment: setting.environment_name() });
        }
        match (setting.check)(&value) {
            Ok(()) => {
                self.values.insert(setting.name, (value, from));
                Ok(())
            }
            Err(wanted) => Err(ConfigError::Value { name: setting.name, value: setting.shown(value), from, wanted }),
        }
    }

    pub(super) fn read_file_values(&mut self, path: &Path) -> Result<(), ConfigError> {
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

    /// Reports a table where a value is expected: `set` reports an unknown name; this reports a
    /// known one.
    fn refuse_table(&mut self, name: &str, from: Origin) -> Result<(), ConfigError> {
        match self.settings.iter().find(|setting| setting.name == name) {
            None => self.set(name, String::new(), from),
            Some(setting) => {
                let (name, value, wanted) = (setting.name, "a table".to_owned(), setting.valid_values());
                Err(ConfigError::Value { name, value, from, wanted })
            }
        }
    }

    pub(super) fn read_environment_values(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (variable, value) in variables {
            // The names of other programs' variables may not be UTF-8.
            let variable = variable.to_string_lossy().into_owned();
            if !variable.starts_with("HORNBOOK_") || variable == KEY_VARIABLE {
                continue;
            }
            let Ok(value) = value.into_string() else { return Err(ConfigError::NotUtf8 { name: variable }) };
            let from = Origin::Environment(variable.clone());
            let Some(setting) = self.settings.iter().find(|setting| setting.environment_name() == variable) else {
                let nearest = nearest(&variable, self.settings.iter().map(Setting::environment_name));
                return Err(ConfigError::Unknown { name: variable, from, nearest });
            };
            self.set(setting.name, value, from)?;
        }
        Ok(())
    }

    pub(super) fn read_flag_values(&mut self, flags: impl IntoIterator<Item = FlagValue>) -> Result<(), ConfigError> {
        flags
            .into_iter()
            .try_for_each(|FlagValue { setting, value, flag }| self.set(&setting, value, Origin::Flag(flag)))
    }
}

/// A value as the environment or a flag would contain it. Lists become comma-separated. None for a
/// table.
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

/// The known name with the smallest edit distance. A name without a section is also compared with
/// the part after the dot.
pub(super) fn nearest(name: &str, known: impl Iterator<Item = String>) -> String {
    let edits = |to: &str| edit_distance(name, to, u8::MAX).unwrap_or(u8::MAX);
    let distance = |candidate: &String| match candidate.split_once('.') {
        Some((_, last)) if !name.contains('.') => edits(candidate).min(edits(last)),
        _ => edits(candidate),
    };
    known.min_by_key(distance).unwrap_or_default()
}
