//! The commands for accounts, keys, purchases, orders and the ledger.

use std::sync::Arc;

use hornbook::admin::cli::run;
use hornbook::admin::command::AdminCommand;
use hornbook::admin::options::CommandOptions;
use hornbook_base::clock::SystemClock;

use crate::cli::output::Stdout;
use crate::cli::{CommandResult, GlobalOptions, settings};

pub(super) fn administer(command: AdminCommand, options: GlobalOptions) -> CommandResult {
    Ok(run(command, &invocation(options)?, &mut Stdout)?)
}

fn invocation(options: GlobalOptions) -> Result<CommandOptions, Box<dyn std::error::Error>> {
    let config = options.configuration()?;
    Ok(CommandOptions {
        settings: settings::accounts(&config),
        state: settings::state_location(&config)?,
        data: config.data.dir,
        actor: options.actor,
        json: options.json,
        clock: Arc::new(SystemClock::start()),
    })
}
