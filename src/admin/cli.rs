//! Runs an administrative command: on the running server, or on the file if no server runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hornbook_accounts::actor::Actor;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::state::StateError;
use hornbook_base::invisible::escaped_json;
use serde_json::Value;

use super::command::AdminCommand;
use super::execute::{CommandContext, no_server};
use super::options::CommandOptions;
use super::restore::restore;
use super::{AdminError, render, socket};

/// Five seconds in total. A ledger of ten million entries opens in less than two.
const TRIES_WHILE_IN_USE: u32 = 100;
const PAUSE_WHILE_IN_USE: Duration = Duration::from_millis(50);

/// Runs one command and writes its result.
pub fn run(command: AdminCommand, invocation: &CommandOptions, out: &mut dyn Write) -> Result<(), AdminError> {
    let value = match command {
        AdminCommand::Restore { from, yes } => restore(invocation, &from, yes, out)?,
        // A path in a command is relative to the current directory, not to that of the server.
        AdminCommand::Backup { to } => run_on_server_or_file(AdminCommand::Backup { to: absolute(&to)? }, invocation)?,
        // Without a server there is nothing to reload.
        AdminCommand::Reload => {
            let answer = socket::send_command(&invocation.data, &invocation.actor, &AdminCommand::Reload)?;
            answer.ok_or_else(no_server)?
        }
        command => run_on_server_or_file(command, invocation)?,
    };
    let text =
        if invocation.json { format!("{}\n", escaped_json(&value.to_string())) } else { render::for_people(&value) };
    let written = out.write_all(text.as_bytes());
    written.map_err(|source| AdminError::Socket { doing: "write the answer to", path: "the output".into(), source })
}

/// Makes the server load what changed, if one runs. Returns its answer.
pub fn reload_if_running(data: &Path, actor: &Actor) -> Result<Option<Value>, AdminError> {
    socket::send_command(data, actor, &AdminCommand::Reload)
}

fn run_on_server_or_file(command: AdminCommand, invocation: &CommandOptions) -> Result<Value, AdminError> {
    let CommandOptions { data, settings, state, actor, clock, .. } = invocation;
    let mut tries = 1;
    let accounts = loop {
        if let Some(value) = socket::send_command(data, actor, &command)? {
            return Ok(value);
        }
        match state.open(data, *settings, clock.now()) {
            // A starting server locks the file before it listens, and another command locks it for a moment.
            Err(StateError::InUse { .. }) if tries < TRIES_WHILE_IN_USE => std::thread::sleep(PAUSE_WHILE_IN_USE),
            opened => break opened?,
        }
        tries += 1;
    };
    let mut desk = CommandContext {
        accounts: &accounts,
        reload: None,
        actor: actor.clone(),
        now: clock.now(),
        entropy: &mut SystemEntropy,
    };
    desk.execute(command)
}

fn absolute(path: &Path) -> Result<PathBuf, AdminError> {
    let path_given = path.to_owned();
    std::path::absolute(path).map_err(|source| AdminError::Socket { doing: "name", path: path_given, source })
}
