//! Where the state of accounts is: in the data directory, or in a database that several servers share.

use std::path::Path;
use std::sync::Arc;

use hornbook_accounts::ledger::verify::{VerifyError, VerifyReport};
use hornbook_accounts::migrate::{migrate, migrate_to_file};
use hornbook_accounts::state::{FileStorage, STATE_FILE, StateError, StateStorage};
use hornbook_accounts::{Accounts, Settings};
use hornbook_base::clock::Now;
#[cfg(feature = "postgres")]
use hornbook_postgres::{PostgresAddress, PostgresStorage};

#[cfg(feature = "postgres")]
use crate::tls_client::{Trust, client_config};

/// Where the state of accounts is.
#[derive(Clone, Debug)]
pub enum StateLocation {
    /// In the file `state.redb` of the data directory.
    File,
    #[cfg(feature = "postgres")]
    Database {
        address: Box<PostgresAddress>,
        /// Which certificates of the database are accepted.
        trust: Trust,
    },
}

impl StateLocation {
    /// Locks the data directory and opens the accounts.
    pub fn open(&self, data: &Path, settings: Settings, now: Now) -> Result<Accounts, StateError> {
        match self {
            Self::File => Accounts::open(data, settings, now),
            #[cfg(feature = "postgres")]
            Self::Database { .. } => Accounts::open_on(&self.storage(data)?, data, settings, now),
        }
    }

    /// Whether this is a database.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Self::File)
    }

    /// Copies the state from here to an empty place, and verifies both. Nobody may use the state meanwhile.
    pub fn migrate(&self, to: &Self, data: &Path) -> Result<VerifyReport, VerifyError> {
        let from = self.storage(data)?;
        if to.is_shared() { migrate(&from, &to.storage(data)?) } else { migrate_to_file(&from, data) }
    }

    fn storage(&self, data: &Path) -> Result<Arc<dyn StateStorage>, StateError> {
        match self {
            Self::File => Ok(Arc::new(FileStorage::standalone(&data.join(STATE_FILE)))),
            #[cfg(feature = "postgres")]
            Self::Database { address, trust } => {
                let tls = address.uses_tls().then(|| client_config(trust)).transpose();
                let mut tls = tls.map_err(|source| StateError::File {
                    doing: "read the certificates that state.ca names",
                    path: address.to_string().into(),
                    source,
                })?;
                // The database speaks no HTTP.
                tls.iter_mut().for_each(|tls| tls.alpn_protocols.clear());
                Ok(Arc::new(PostgresStorage::new(data, address, tls)?))
            }
        }
    }
}
