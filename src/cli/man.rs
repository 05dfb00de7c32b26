//! `hornbook man`: the manual pages.

use std::fs;
use std::path::PathBuf;

use clap::Args;
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
        match self.out {
            Some(folder) => {
                let failed = |error: std::io::Error| format!("cannot write into {}: {error}", folder.display());
                fs::create_dir_all(&folder).map_err(failed)?;
                Ok(clap_mangen::generate_to(command_line(), &folder).map_err(failed)?)
            }
            None => {
                let mut page = Vec::new();
                // As in the pages that are written: 'help' has none.
                Man::new(command_line().disable_help_subcommand(true)).render(&mut page)?;
                print(&String::from_utf8(page)?)
            }
        }
    }
}
