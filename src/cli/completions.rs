//! `hornbook completions`: what a shell needs to complete commands and options.

use clap::Args;
use clap_complete::Shell;

use crate::cli::output::print;
use crate::cli::{CommandResult, command_line};

/// Print completions of commands and options for a shell
///
/// For example: hornbook completions bash > ~/.local/share/bash-completion/completions/hornbook
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command_line(), "hornbook", &mut script);
        print(&String::from_utf8(script)?)
    }
}
