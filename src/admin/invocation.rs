//! How a command is run, whatever it does.

use std::path::PathBuf;
use std::sync::Arc;

use crate::accounts::Settings;
use crate::clock::Clock;

/// How a command is run.
pub struct Invocation {
    pub data: PathBuf,
    pub settings: Settings,
    /// Who is named in the ledger and in the audit log.
    pub actor: String,
    /// JSON for scripts instead of tables for people.
    pub json: bool,
    pub clock: Arc<dyn Clock>,
}
