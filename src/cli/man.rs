//! `hornbook man`: the manual pages.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::cli::output::print;
use crate::cli::{CommandResult, command_line};

/// Print the manual page, or write the pages of all commands
///
/// 'hornbook man | man -l -' shows the page; --out writes one for each command, such as hornbook-build.1.
#[derive(Debug, Args)]
pub(crate) struct ManPages {
    /// Folder to write the pages of all commands into
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManPages {
    pub(super) fn run(self) -> CommandResult {
        // The pages name no command 'help'.
        let mut command = command_line().disable_help_subcommand(true);
        command.build();
        match self.out {
            Some(folder) => {
                let failed = |error: io::Error| format!("cannot write into {}: {error}", folder.display());
                fs::create_dir_all(&folder).map_err(failed)?;
                Ok(write_pages(command, &folder).map_err(failed)?)
            }
            None => {
                let mut page = Vec::new();
                page_of(command).render(&mut page)?;
                print(&String::from_utf8(page)?)
            }
        }
    }
}

fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_pages(subcommand.clone(), folder)?;
    }
    page_of(command).generate_to(folder).map(drop)
}

/// The manual page of a command, with the program and its version in the footer.
fn page_of(command: Command) -> Man {
    Man::new(command).source(concat!("hornbook ", env!("CARGO_PKG_VERSION")))
}
