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

use std::fmt;

use crate::accounts::error::ChangeError;
use crate::accounts::ledger::verify::VerifyError;
use crate::state::StateError;

/// File name of the socket in the data directory.
pub const SOCKET_FILE: &str = "admin.sock";

#[derive(Debug)]
pub enum AdminError {
    Change(ChangeError),
    State(StateError),
    Verify(VerifyError),
    /// The command cannot be executed as given; the text says what to do.
    Refused(String),
    /// The error that the running server returned.
    Server(String),
    Socket {
        doing: &'static str,
        path: std::path::PathBuf,
        source: std::io::Error,
    },
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
            Self::Verify(error) => error.fmt(f),
            Self::Refused(text) | Self::Server(text) => f.write_str(text),
            Self::Socket { doing, path, source } => {
                write!(
                    f,
                    "cannot {doing} {}: {source}; check that the server of this data directory works",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for AdminError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Change(error) => Some(error),
            Self::State(error) => Some(error),
            Self::Verify(error) => Some(error),
            Self::Socket { source, .. } => Some(source),
            Self::Refused(_) | Self::Server(_) => None,
        }
    }
}

impl From<ChangeError> for AdminError {
    fn from(error: ChangeError) -> Self {
        Self::Change(error)
    }
}

impl From<StateError> for AdminError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<VerifyError> for AdminError {
    fn from(error: VerifyError) -> Self {
        Self::Verify(error)
    }
}
