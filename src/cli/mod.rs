//! The command line: one file a command, each holding its arguments and what it does.

mod accounts;
mod bench;
mod build;
mod config;
mod eval;
mod healthcheck;
mod inspect;
mod output;
mod quick_start;
mod resolve;
mod search;
mod serve;
mod settings;
mod suggest;
mod table;
mod verify;

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use hornbook::admin::command::AdminCommand;
use hornbook::config::{Config, FlagValue};

pub(crate) use output::{is_output_closed, note};

/// A command ends well or with one line for the person who typed it.
type CommandResult = Result<(), Box<dyn Error>>;

/// US federal and state law on one box.
///
/// `hornbook build` compiles statutes, regulations and zoning layers from their files into a snapshot, a folder that never
/// changes again. `hornbook verify` proves that no byte of it changed, `hornbook inspect` shows what is in it and
/// `hornbook search` finds the law in it; `hornbook resolve` says what a citation names, `hornbook suggest` completes
/// headings and citations, `hornbook eval` and `hornbook bench` measure how good and how fast search is. Accounts, keys and credits are kept in the data directory and administered from here, whether a
/// server runs or not. `hornbook serve` answers over HTTP, `hornbook reload` makes it take up the next snapshot, `hornbook
/// healthcheck` asks whether it is ready. Without a command, hornbook builds the sample corpus into ./data where no snapshot
/// is, makes a demo account, and serves.
#[derive(Debug, Parser)]
#[command(name = "hornbook", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    options: Options,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What every command may be told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
struct Options {
    /// The configuration file; hornbook.toml here, if there is one
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The data directory, with snapshots, the current one, and the state of accounts
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Set one value of the configuration, such as free.per_minute=30
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,

    /// Who is named in the ledger
    #[arg(long, global = true, default_value = "operator", hide_default_value = true, value_name = "NAME")]
    actor: String,

    /// Print JSON for scripts
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Build),
    Verify(verify::Verify),
    Inspect(inspect::Inspect),
    Resolve(resolve::Resolve),
    Search(search::Search),
    Eval(eval::Eval),
    Bench(bench::Bench),
    Suggest(suggest::Suggest),
    Serve(serve::Serve),
    Healthcheck(healthcheck::Healthcheck),
    #[command(flatten)]
    Admin(AdminCommand),
    /// Look at the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Serve metered calls from the input, to be killed in tests
    #[command(hide = true)]
    Drill,
}

impl Cli {
    pub(crate) fn run(self) -> CommandResult {
        let options = self.options;
        match self.command {
            None => quick_start::run(&options),
            Some(Command::Build(command)) => command.run(&options),
            Some(Command::Verify(command)) => command.run(&options),
            Some(Command::Inspect(command)) => command.run(&options),
            Some(Command::Resolve(command)) => command.run(&options),
            Some(Command::Search(command)) => command.run(&options),
            Some(Command::Eval(command)) => command.run(&options),
            Some(Command::Bench(command)) => command.run(&options),
            Some(Command::Suggest(command)) => command.run(&options),
            Some(Command::Serve(command)) => command.run(&options),
            Some(Command::Healthcheck(command)) => command.run(&options),
            Some(Command::Admin(command)) => accounts::administer(command, options),
            Some(Command::Config(command)) => command.run(&options),
            Some(Command::Drill) => accounts::drill(options),
        }
    }
}

impl Options {
    /// The configuration as files, environment and flags together say.
    fn configuration(&self) -> Result<Config, Box<dyn Error>> {
        self.configuration_with(None)
    }

    /// The same with what a command's own flags say on top.
    fn configuration_with(&self, flags: impl IntoIterator<Item = FlagValue>) -> Result<Config, Box<dyn Error>> {
        let here = Path::new("hornbook.toml");
        let file = self.config.clone().or_else(|| here.exists().then(|| here.to_owned()));
        let data = self.data.iter().map(|data| flag("--data", "data.dir", data.display().to_string()));
        let set = self.set.iter().map(|(setting, value)| flag("--set", setting, value.clone()));
        Ok(Config::load(file.as_deref(), std::env::vars_os(), set.chain(data).chain(flags))?)
    }

    /// The snapshot that a command is about: the one named, or the data directory's current one.
    fn snapshot(&self, named: Option<PathBuf>) -> Result<PathBuf, Box<dyn Error>> {
        match named {
            Some(path) => Ok(path),
            None => Ok(self.configuration()?.data.dir.join("current")),
        }
    }
}

/// A setting as a command's own flag gives it.
fn flag(flag: &'static str, setting: &str, value: String) -> FlagValue {
    FlagValue { setting: setting.to_owned(), value, flag }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| format!("'{text}' has no '='; write it as free.per_minute=30"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
