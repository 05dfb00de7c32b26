//! The first start: prints a one-time link with which the operator creates an account on the pages.
//! There is no default password.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hornbook_accounts::Accounts;
use hornbook_accounts::actor::Actor;
use hornbook_accounts::changes::ActContext;
use hornbook_accounts::entropy::SystemEntropy;
use hornbook_accounts::people::LINK_PATH;
use hornbook_base::clock::UnixMillis;

use super::CommandResult;
use super::output::print_ignoring_errors;

/// File name in the data directory. The file exists until there is an operator.
const LINK_FILE: &str = "operator-link";

pub(super) struct OperatorLink {
    file: PathBuf,
}

impl OperatorLink {
    pub(super) fn of(data: &Path) -> Self {
        Self { file: data.join(LINK_FILE) }
    }

    /// Creates a new link if there is no operator yet. A terminal shows the link. Other output may
    /// be a log, so it shows only the path of the file.
    pub(super) fn offer(&self, accounts: &Accounts, base_url: &str, at: UnixMillis) -> CommandResult {
        let act = ActContext { actor: Actor::program("first start"), at };
        let Some(token) = accounts.first_operator_link(&act, &mut SystemEntropy)? else {
            self.clear(accounts);
            return Ok(());
        };
        let link = format!("{base_url}{LINK_PATH}{}", token.reveal());
        let _ = fs::remove_file(&self.file);
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.file);
        let written = created.and_then(|mut file| writeln!(file, "{link}"));
        written.map_err(|error| format!("cannot write the operator's link to {}: {error}", self.file.display()))?;
        let place = self.file.display();
        print_ignoring_errors(&match std::io::stdout().is_terminal() {
            true => format!(
                "to manage the service in a browser, create the operator's account: {link}\n(the link works once, within three days; it is also in {place})\n"
            ),
            false => format!("to manage the service in a browser, open the one-time link in {place}\n"),
        });
        Ok(())
    }

    /// Removes the file if there is an operator.
    pub(super) fn clear(&self, accounts: &Accounts) {
        if accounts.has_operator() {
            match fs::remove_file(&self.file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    print_ignoring_errors(&format!(
                        "{} is no longer needed, but cannot be removed: {error}\n",
                        self.file.display()
                    ));
                }
                _ => {}
            }
        }
    }
}
