//! The program: reads the command line, runs one command, and prints its error, if any.

#![warn(clippy::print_stdout, clippy::print_stderr, reason = "they panic when the reader is gone; see cli/output.rs")]

mod cli;
mod sigbus;

use std::process::ExitCode;

use clap::FromArgMatches;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    sigbus::install();
    let matches = cli::command_line().get_matches();
    let result = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).run();
    match result {
        Err(error) if !cli::is_output_closed(&*error) => {
            cli::print_to_stderr(&format!("hornbook: {error}"));
            ExitCode::from(cli::exit_code(&*error))
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}
