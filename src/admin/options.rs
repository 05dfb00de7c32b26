//! The options that are the same for all commands.

use std::path::PathBuf;
use std::sync::Arc;

use hornbook_accounts::Settings;
use hornbook_accounts::actor::Actor;
use hornbook_base::clock::Clock;

use crate::state_location::StateLocation;

/// The options that are the same for all commands.
pub struct CommandOptions {
    pub data: PathBuf,
    pub settings: Settings,
    pub state: StateLocation,
    /// The actor named in the ledger and in the audit log.
    pub actor: Actor,
    /// Print JSON for scripts instead of tables for people.
    pub json: bool,
    pub clock: Arc<dyn Clock>,
}
