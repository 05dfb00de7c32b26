//! The program: reads the command line, runs one command, prints an error once.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hornbook: {error}");
            ExitCode::FAILURE
        }
    }
}
