//! The program: reads the command line, runs one command, prints an error once.

#![warn(clippy::print_stdout, clippy::print_stderr, reason = "they panic when the reader is gone; see cli/output.rs")]

mod bus_error;
mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    bus_error::install();
    match cli::Cli::parse().run() {
        Err(error) if !cli::is_output_closed(&*error) => {
            cli::note(&format!("hornbook: {error}"));
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}
