//! The program as users run it: its commands, their output, and what they leave behind on errors.

mod agents;
mod bad_input;
mod bench;
mod card_payments;
mod checking;
mod commands;
mod damage;
mod editions;
mod eval;
mod fetching;
mod killed_builds;
mod killed_commands;
mod own_synonyms;
mod packs;
mod people;
mod publisher;
mod readme;
mod rest_and_mcp;
mod serving;
mod slow_clients;
mod slow_origins;
mod smuggling;
mod snapshots;
mod updating;

#[path = "../support/bytes.rs"]
mod bytes;
#[path = "../support/stripe.rs"]
#[expect(dead_code, reason = "not all of it is used here")]
mod stripe;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test, started in the project's folder.
fn hornbook() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hornbook"));
    command.current_dir(project());
    // Settings of the tests must not reach the program.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HORNBOOK_")) {
        command.env_remove(name);
    }
    command
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sample_plan() -> PathBuf {
    project().join("corpus/sample/plan.toml")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
