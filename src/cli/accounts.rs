//! Accounts, keys, purchases, orders and the ledger from the command line, and the configuration as it is in force.

use std::io::Write;
use std::sync::Arc;

use clap::Subcommand;
use hornbook::admin::cli::{Invocation, run};
use hornbook::admin::command::AdminCommand;
use hornbook::admin::drill;
use hornbook::clock::SystemClock;

use crate::cli::{CommandResult, Options};

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every effective value and where it comes from
    Show,
}

impl ConfigCommand {
    pub(super) fn run(self, options: &Options) -> CommandResult {
        match self {
            Self::Show => writeln!(std::io::stdout(), "{:#}", options.configuration()?.show())?,
        }
        Ok(())
    }
}

pub(super) fn administer(command: AdminCommand, options: Options) -> CommandResult {
    Ok(run(command, &invocation(options)?, &mut std::io::stdout())?)
}

pub(super) fn drill(options: Options) -> CommandResult {
    Ok(drill::serve(&invocation(options)?, std::io::stdin().lock(), std::io::stdout())?)
}

fn invocation(options: Options) -> Result<Invocation, Box<dyn std::error::Error>> {
    let config = options.configuration()?;
    Ok(Invocation {
        data: config.data_dir(),
        settings: config.accounts(),
        actor: options.actor,
        json: options.json,
        clock: Arc::new(SystemClock::start()),
    })
}
