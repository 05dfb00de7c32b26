//! Administration. The commands are the same whether the server runs (through its socket) or not
//! (on the file itself).
//!
//! `command` lists the commands for the command line and for the socket. `execute` executes them.
//! `socket` has the server's side and the client's side of the socket. `cli` is what the program
//! calls. `render` formats results for people.

pub mod cli;
pub mod command;
pub mod execute;
pub mod options;
mod render;
mod restore;
pub mod socket;

use hornbook_accounts::error::ChangeError;
use hornbook_accounts::ledger::verify::VerifyError;
use hornbook_accounts::state::StateError;

/// File name of the socket in the data directory.
pub const SOCKET_FILE: &str = "admin.sock";

#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("{0}")]
    Change(#[from] ChangeError),
    #[error("{0}")]
    State(#[from] StateError),
    #[error("{0}")]
    Verify(#[from] VerifyError),
    /// The command cannot be executed as given; the text says what to do.
    #[error("{0}")]
    Refused(String),
    /// The error that the running server returned.
    #[error("{0}")]
    Server(String),
    #[error(
        "cannot {doing} {}: {source}; check that the server of this data directory works",
        .path.display()
    )]
    Socket { doing: &'static str, path: std::path::PathBuf, source: std::io::Error },
}
