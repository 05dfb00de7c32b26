//! The command line. Each file contains one command, with its arguments and implementation.

mod account_table;
mod accounts;
mod as_of;
mod bench;
mod build;
mod check;
mod completions;
mod config;
mod diff;
mod eval;
mod eval_census;
mod eval_page;
mod example;
mod fetch;
mod filters;
mod healthcheck;
mod help;
mod inspect;
mod man;
mod mcp;
mod operator_control;
mod operator_link;
mod output;
mod quick_start;
mod resolve;
mod sample;
mod search;
mod serve;
mod settings;
mod snapshot;
mod sources;
mod state;
mod suggest;
mod table;
mod update;
mod verify;
mod version;

use hornbook_accounts::actor::Actor;
use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand};
use hornbook::admin::command::AdminCommand;
use hornbook::config::{Config, FlagValue};

use output::CommandError;
pub(crate) use output::{CommandResult, exit_code, is_output_closed, print_to_stderr};

/// US federal and state law on one machine
///
/// Without a command, hornbook builds the sample corpus into ./data if there is no snapshot,
/// creates a demo account, prints its key, and serves on 127.0.0.1:8080.
///
/// A snapshot is a folder of law that is indexed for search. 'hornbook build' makes a snapshot from
/// official sources; afterwards it never changes. The data directory contains the snapshots, the
/// link 'current' to the snapshot in use, and the state of accounts. Commands that take a snapshot
/// use the current one by default.
#[derive(Debug, Parser)]
#[command(name = "hornbook", version, long_version = version::long_version(), max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    options: GlobalOptions,

    #[command(subcommand)]
    command: Option<Command>,
}

/// The options that every command accepts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
struct GlobalOptions {
    /// Configuration file [default: hornbook.toml in this folder, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Data directory: snapshots and the state of accounts [default: data]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Set one setting, such as free.per_minute=30; may be repeated
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,

    /// Name that the ledger records as the author of this change [default: operator]
    #[arg(long, global = true, default_value = "operator", hide_default_value = true, value_name = "NAME")]
    actor: Actor,

    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Sources(sources::Sources),
    Fetch(fetch::Fetch),
    Update(update::Update),
    Build(build::Build),
    Example(example::Example),
    Verify(verify::Verify),
    Inspect(inspect::Inspect),
    Diff(diff::Diff),
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotCommand),
    Resolve(resolve::Resolve),
    Search(search::Search),
    Check(check::Check),
    Eval(eval::Eval),
    Bench(bench::Bench),
    Suggest(suggest::Suggest),
    Serve(serve::Serve),
    Mcp(mcp::McpCommand),
    Healthcheck(healthcheck::Healthcheck),
    #[command(subcommand)]
    State(state::StateCommand),
    #[command(flatten)]
    Admin(AdminCommand),
    /// Show and explain the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Completions(completions::Completions),
    Man(man::ManPages),
}

/// The command line, with its help.
pub(crate) fn command_line() -> clap::Command {
    help::grouped(Cli::command())
}

impl Cli {
    pub(crate) fn run(self) -> CommandResult {
        let options = self.options;
        match self.command {
            None => quick_start::run(&options),
            Some(Command::Sources(command)) => command.run(&options),
            Some(Command::Fetch(command)) => command.run(&options),
            Some(Command::Update(command)) => command.run(&options),
            Some(Command::Build(command)) => command.run(&options),
            Some(Command::Example(command)) => command.run(&options),
            Some(Command::Verify(command)) => command.run(&options),
            Some(Command::Inspect(command)) => command.run(&options),
            Some(Command::Diff(command)) => command.run(&options),
            Some(Command::Snapshot(command)) => command.run(&options),
            Some(Command::Resolve(command)) => command.run(&options),
            Some(Command::Search(command)) => command.run(&options),
            Some(Command::Check(command)) => command.run(&options),
            Some(Command::Eval(command)) => command.run(&options),
            Some(Command::Bench(command)) => command.run(&options),
            Some(Command::Suggest(command)) => command.run(&options),
            Some(Command::Serve(command)) => command.run(&options),
            Some(Command::Mcp(command)) => command.run(&options),
            Some(Command::Healthcheck(command)) => command.run(&options),
            Some(Command::State(command)) => command.run(&options),
            Some(Command::Admin(command)) => accounts::administer(command, options),
            Some(Command::Config(command)) => command.run(&options),
            Some(Command::Completions(command)) => command.run(),
            Some(Command::Man(command)) => command.run(),
        }
    }
}

impl GlobalOptions {
    /// Loads the configuration from the file, the environment and the options of every command.
    fn configuration(&self) -> Result<Config, Box<dyn Error>> {
        self.configuration_with(None)
    }

    /// Like [`Self::configuration`], with the command's own flags, which override the rest.
    fn configuration_with(&self, flags: impl IntoIterator<Item = FlagValue>) -> Result<Config, Box<dyn Error>> {
        let here = Path::new("hornbook.toml");
        let file = self.config.clone().or_else(|| here.exists().then(|| here.to_owned()));
        let data = self.data.iter().map(|data| flag("--data", "data.dir", data.display().to_string()));
        let set = self.set.iter().map(|(setting, value)| flag("--set", setting, value.clone()));
        Ok(Config::load(file.as_deref(), std::env::vars_os(), set.chain(data).chain(flags))?)
    }

    /// The snapshot to use: the one named, or the current one of the data directory.
    fn snapshot(&self, named: Option<PathBuf>) -> Result<PathBuf, Box<dyn Error>> {
        match named {
            Some(path) => Ok(path),
            None => Ok(self.configuration()?.data.dir.join("current")),
        }
    }
}

/// A setting given by a command's own flag.
fn flag(flag: &'static str, setting: &str, value: String) -> FlagValue {
    FlagValue { setting: setting.to_owned(), value, flag }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| format!("'{text}' has no '='; write it as free.per_minute=30"))
}
