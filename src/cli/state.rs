//! `hornbook state`: moves the state of accounts between the data directory and a database.

use clap::{Args, Subcommand};
use hornbook::config::StateBackend;
use hornbook_base::clock::{Clock, SystemClock};
use serde_json::json;

use crate::cli::output::{count, print, print_json};
use crate::cli::{CommandResult, GlobalOptions, settings};

/// Move accounts between the data directory and a database
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    Migrate(Migrate),
}

/// Copy accounts, money and orders from state.backend to another place
///
/// Stop every server first. The new place must be empty. The ledger is verified before and after,
/// and its chain of hashes continues. Nothing is removed from the old place. If the copy is
/// interrupted, run the command again. Afterwards, set state.backend to the new place.
///
/// To a database: 'hornbook state migrate --to - < FILE', where the file contains only the address,
/// so that nobody sees the password among the arguments of a command. Back to the data directory:
/// 'hornbook state migrate --to embedded'.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Where to: embedded, postgres://user:password@host/database, or - to read it from standard input
    #[arg(long, value_name = "BACKEND", value_parser = backend)]
    to: StateBackend,
}

impl StateCommand {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        match self {
            Self::Migrate(command) => command.run(options),
        }
    }
}

impl Migrate {
    fn run(self, options: &GlobalOptions) -> CommandResult {
        let config = options.configuration()?;
        let from = settings::state_location(&config)?;
        let to = settings::location_of(&self.to, &config)?;
        if from.is_shared() == to.is_shared() {
            return Err(
                "the state is already there: state.backend and --to are both embedded, or both databases".into()
            );
        }
        let data = &config.data.dir;
        // Locks the data directory, and makes the refunds that are still owed.
        let accounts = from.open(data, settings::accounts(&config), SystemClock::start().now())?;
        accounts.close();
        let proof = from.migrate(&to, data)?;
        if options.json {
            return print_json(&json!({ "proof": proof, "next": NEXT }));
        }
        let entries = count(proof.entries, "ledger entry", "ledger entries");
        print(&format!(
            "copied {} with {entries}; the last hash is {} at both places\n{NEXT}\n",
            count(proof.accounts, "account", "accounts"),
            proof.last_hash
        ))
    }
}

fn backend(text: &str) -> Result<StateBackend, String> {
    let mut line = String::new();
    if text == "-" {
        std::io::stdin().read_line(&mut line).map_err(|e| format!("cannot read standard input: {e}"))?;
    }
    let text = if text == "-" { line.trim() } else { text };
    StateBackend::from_text(text).map_err(|takes| format!("it takes {takes}"))
}

const NEXT: &str =
    "set state.backend to the new place before you start a server; the old place is kept and not used any more";
