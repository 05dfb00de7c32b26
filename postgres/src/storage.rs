//! A state in a database. What each server keeps for itself is in its data directory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hornbook_accounts::state::{
    JournalStore, LocalFiles, StateDatabase, StateError, StateStorage, TableReader, TableWriter, create_schema,
};
use rustls::ClientConfig;

use super::address::PostgresAddress;
use super::connections::Connections;
use super::layout;
use super::reader::SnapshotReader;
use super::writer::ChangeWriter;

/// A key that is revoked on one server is refused by all others within a second.
const LOOK_EVERY: Duration = Duration::from_millis(150);

/// A state on a database. Each server has files of its own: the mark, owed refunds, and a copy of the seal key.
pub struct PostgresStorage {
    connections: Arc<Connections>,
    files: LocalFiles,
}

impl PostgresStorage {
    /// `tls` is needed if the address uses TLS. Nothing is connected yet.
    pub fn new(data: &Path, address: &PostgresAddress, tls: Option<ClientConfig>) -> Result<Self, StateError> {
        let files = LocalFiles::in_directory(data)?;
        Ok(Self { connections: Arc::new(Connections::new(address, tls)?), files })
    }
}

impl StateStorage for PostgresStorage {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError> {
        let connections = &self.connections;
        let failed = |failure: super::failure::DatabaseFailure| failure.at(&connections.place, "open the accounts in");
        connections.wait_for(layout::create(connections)).map_err(failed)?;
        let database = PostgresDatabase { connections: Arc::clone(connections) };
        // A mark with entries means that the database lost them. An empty state must not replace them.
        let has_lost = self.files.mark()?.is_some_and(|mark| mark.entries > 0);
        if !has_lost && connections.wait_for(layout::is_empty(connections)).map_err(failed)? {
            create_schema(&database)?;
        }
        Ok(Box::new(database))
    }

    fn describe(&self) -> String {
        self.connections.place.clone()
    }

    fn look_every(&self) -> Option<Duration> {
        Some(LOOK_EVERY)
    }

    fn open_journal(&self) -> Result<Option<Box<dyn JournalStore>>, StateError> {
        Ok(Some(Box::new(self.files.open_journal()?)))
    }

    fn local_files(&self) -> Option<&LocalFiles> {
        Some(&self.files)
    }
}

struct PostgresDatabase {
    connections: Arc<Connections>,
}

impl StateDatabase for PostgresDatabase {
    fn begin_read(&self) -> Result<Box<dyn TableReader>, StateError> {
        Ok(Box::new(SnapshotReader::begin(&self.connections)?))
    }

    fn begin_write(&self) -> Result<Box<dyn TableWriter>, StateError> {
        Ok(Box::new(ChangeWriter::begin(&self.connections)?))
    }

    /// The database checks its own pages, and each record is compared with its checksum when it is read.
    fn is_read_whole_at_opening(&self) -> bool {
        false
    }
}
