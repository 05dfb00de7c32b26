//! `hornbook config`: shows the effective configuration and explains the settings.

use clap::Subcommand;
use hornbook::config::{EffectiveValue, SETTINGS, Setting, nearest_setting};
use hornbook::web::operator::control::SettingRow;
use serde_json::json;

use crate::cli::operator_control::setting_rows;
use crate::cli::output::{print, print_json};
use crate::cli::table::TextTable;
use crate::cli::{CommandResult, GlobalOptions};

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show the value of every setting and where it comes from
    ///
    /// A value comes from a default, a line of the configuration file, an environment variable or a
    /// flag. All values are checked as by 'hornbook serve'.
    Show,
    /// Explain settings: meaning, valid values and environment variable
    Explain {
        /// A setting or a section, such as server.listen or server [default: all]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

impl ConfigCommand {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        match self {
            Self::Show => show(options),
            Self::Explain { names } => explain(&names, options.json),
        }
    }
}

fn show(options: &GlobalOptions) -> CommandResult {
    let config = options.configuration()?;
    if options.json {
        let row = |EffectiveValue { setting, value, origin }| json!({ "name": setting.name, "value": value, "from": origin.to_string(), "meaning": setting.meaning });
        return print_json(&config.effective().map(row).collect::<Vec<_>>());
    }
    let mut table = TextTable::new(["setting", "value", "from"]).left_aligned();
    for SettingRow { name, value, origin } in setting_rows(&config) {
        table.row([name.to_owned(), value, origin]);
    }
    print(&table.render())
}

fn explain(names: &[String], as_json: bool) -> CommandResult {
    let is_wanted = |setting: &&Setting, name: &str| {
        setting.name == name || setting.name.split_once('.').is_some_and(|(section, _)| section == name)
    };
    if let Some(unknown) = names.iter().find(|name| !SETTINGS.iter().any(|setting| is_wanted(&setting, name))) {
        let nearest = nearest_setting(unknown);
        return Err(format!("there is no setting or section '{unknown}'; did you mean {nearest}?").into());
    }
    let wanted =
        SETTINGS.iter().filter(|setting| names.is_empty() || names.iter().any(|name| is_wanted(setting, name)));
    if as_json {
        let row = |setting: &Setting| {
            json!({
                "name": setting.name,
                "meaning": setting.meaning,
                "takes": setting.valid_values(),
                "environment": setting.environment_name(),
            })
        };
        return print_json(&wanted.map(row).collect::<Vec<_>>());
    }
    let mut out = String::new();
    for setting in wanted {
        out += &format!(
            "{}\n  {}\n  takes {}\n  ${}\n",
            setting.name,
            setting.meaning,
            setting.valid_values(),
            setting.environment_name()
        );
    }
    print(&out)
}
