//! `hornbook restore`: replaces the state with a backup. It first shows what that changes for
//! accounts and keys, and asks for confirmation.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use hornbook_accounts::records::AuditRecord;
use hornbook_accounts::restore::Restored;
use hornbook_accounts::state::STATE_FILE;
use serde_json::{Value, json};

use super::AdminError;
use super::options::CommandOptions;

pub(super) fn restore(
    invocation: &CommandOptions,
    from: &Path,
    yes: bool,
    out: &mut dyn Write,
) -> Result<Value, AdminError> {
    let data = &invocation.data;
    if invocation.state.is_shared() {
        return Err(AdminError::Refused(
            "restore replaces the state file, but state.backend names a database; restore the database with its own \
             tools, or restore into a data directory without it ('--set state.backend=embedded --data NEW') and bring it \
             over with 'hornbook state migrate'"
                .to_owned(),
        ));
    }
    let now = invocation.clock.now().wall;
    let (at, actor) = (now.to_string(), invocation.actor.clone());
    let act = AuditRecord { at, actor, act: "restore".to_owned(), on: from.display().to_string() };
    let confirmed = |changes: &[String]| confirm(changes, yes, invocation.json, out);
    let Restored { changes, proof } = hornbook_accounts::restore::restore(data, from, now, act, confirmed)?;
    Ok(json!({
        "restored": data.join(STATE_FILE).display().to_string(),
        "changes": changes,
        "next": "start the service",
        "proof": proof,
    }))
}

/// Lists the changes, and asks for confirmation unless `yes`. Refuses if there is no terminal to ask on.
fn confirm(changes: &[String], yes: bool, json: bool, out: &mut dyn Write) -> Result<(), AdminError> {
    let list = match changes.is_empty() {
        true => "  no account and no key changes\n".to_owned(),
        false => changes.iter().map(|line| format!("  {line}\n")).collect(),
    };
    let printing = |source| AdminError::Socket { doing: "write to", path: "the output".into(), source };
    if yes {
        // With --json, the list is part of the result.
        return if json { Ok(()) } else { write!(out, "the restore makes these changes:\n{list}").map_err(printing) };
    }
    if !std::io::stdin().is_terminal() {
        return Err(AdminError::Refused(format!(
            "nothing was changed; the restore would change:\n{list}add --yes to do it"
        )));
    }
    write!(out, "the restore makes these changes:\n{list}type 'yes' to do it: ")
        .and_then(|()| out.flush())
        .map_err(printing)?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read.is_ok() && answer.trim() == "yes" {
        true => Ok(()),
        false => Err(AdminError::Refused("nothing was changed".to_owned())),
    }
}
