//! The journal of one server: calls that it charged and has not reported to a shared state yet.

use std::path::Path;

use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::codec::{append_checksum, verify_checksum};
use super::error::StateError;
use super::files::{create_private, sync_and_rename};
use super::redb_database::database_builder;
use crate::entropy::{Entropy, SystemEntropy};

const CALLS: TableDefinition<'static, u64, &'static [u8]> = TableDefinition::new("calls");
const SERVER: TableDefinition<'static, u8, &'static [u8]> = TableDefinition::new("server");
const WRITING: &str = "write to the journal of calls";
const READING: &str = "read the journal of calls";
/// The name under which checksums of its records are made.
const NAME: &str = "calls";

/// Numbered records that one server keeps for itself.
pub trait JournalStore: Send {
    /// The id of the server whose journal this is.
    fn server(&self) -> [u8; 16];

    /// Empties the journal, and makes it that of a new server.
    fn renew(&mut self) -> Result<(), StateError>;

    /// Appends records, and removes those up to `reported`. They are durable when this returns; after an error they may
    /// be in the journal.
    fn append(&self, records: &mut dyn Iterator<Item = (u64, Vec<u8>)>, reported: u64) -> Result<(), StateError>;

    /// Removes the records from `first` on.
    fn remove_from(&self, first: u64) -> Result<(), StateError>;

    /// All records with their numbers, lowest first.
    fn records(&self) -> Result<Vec<(u64, Vec<u8>)>, StateError>;
}

/// The journal in a file.
pub struct JournalFile {
    database: Database,
    server: [u8; 16],
}

impl JournalFile {
    /// Opens the journal at this path. It is created with a new server's id if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Self, StateError> {
        if !path.try_exists().map_err(|e| StateError::file("look for", path, e))? {
            create(path)?;
        }
        let opened = database_builder().open(path);
        let database = opened.map_err(|e| StateError::opening(&path.display().to_string(), e))?;
        let reading = database.begin_read().map_err(|e| StateError::storage(READING, e.into()))?;
        let table = reading.open_table(SERVER).map_err(|e| StateError::storage(READING, e.into()))?;
        let id = table.get(0).map_err(|e| StateError::storage(READING, e.into()))?;
        let server =
            id.and_then(|id| id.value().try_into().ok()).ok_or_else(|| StateError::bad_record("server", &[]))?;
        drop(table);
        Ok(Self { database, server })
    }

    fn change(&self, change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>) -> Result<(), StateError> {
        let changed = (|| {
            let mut transaction = self.database.begin_write()?;
            transaction.set_two_phase_commit(true);
            transaction.set_durability(Durability::Immediate)?;
            change(&transaction)?;
            transaction.commit()?;
            Ok::<(), redb::Error>(())
        })();
        changed.map_err(|e| StateError::storage(WRITING, e))
    }
}

impl JournalStore for JournalFile {
    fn server(&self) -> [u8; 16] {
        self.server
    }

    fn renew(&mut self) -> Result<(), StateError> {
        let server = new_id()?;
        self.change(|transaction| {
            transaction.open_table(CALLS)?.retain(|_, _| false)?;
            transaction.open_table(SERVER)?.insert(0, &server[..])?;
            Ok(())
        })?;
        self.server = server;
        Ok(())
    }

    fn append(&self, records: &mut dyn Iterator<Item = (u64, Vec<u8>)>, reported: u64) -> Result<(), StateError> {
        self.change(|transaction| {
            let mut calls = transaction.open_table(CALLS)?;
            for (number, record) in records {
                calls.insert(number, append_checksum(NAME, &number.to_be_bytes(), &record).as_slice())?;
            }
            calls.retain_in(..=reported, |_, _| false)?;
            Ok(())
        })
    }

    fn remove_from(&self, first: u64) -> Result<(), StateError> {
        self.change(|transaction| {
            transaction.open_table(CALLS)?.retain_in(first.., |_, _| false)?;
            Ok(())
        })
    }

    fn records(&self) -> Result<Vec<(u64, Vec<u8>)>, StateError> {
        let failed = |e: redb::Error| StateError::storage(READING, e);
        let reading = self.database.begin_read().map_err(|e| failed(e.into()))?;
        let table = reading.open_table(CALLS).map_err(|e| failed(e.into()))?;
        let mut records = Vec::new();
        for row in table.iter().map_err(|e| failed(e.into()))? {
            let (number, sealed) = row.map_err(|e| failed(e.into()))?;
            let key = number.value().to_be_bytes();
            let payload =
                verify_checksum(NAME, &key, sealed.value()).map_err(|_| StateError::bad_record(NAME, &key))?;
            records.push((number.value(), payload.to_vec()));
        }
        Ok(records)
    }
}

/// Creates a journal so that it exists with its id or not at all.
fn create(path: &Path) -> Result<(), StateError> {
    let server = new_id()?;
    let temporary = path.with_extension("redb.new");
    let created = database_builder().create_file(create_private(&temporary)?);
    let database = created.map_err(|e| StateError::storage("create the journal of calls", e.into()))?;
    let filled = (|| {
        let transaction = database.begin_write()?;
        transaction.open_table(SERVER)?.insert(0, &server[..])?;
        transaction.open_table(CALLS)?;
        transaction.commit()?;
        Ok::<(), redb::Error>(())
    })();
    filled.map_err(|e| StateError::storage(WRITING, e))?;
    drop(database);
    sync_and_rename(&temporary, path)
}

fn new_id() -> Result<[u8; 16], StateError> {
    let mut id = [0; 16];
    let filled = SystemEntropy.fill(&mut id);
    filled.map_err(|e| StateError::file("read random bytes from", Path::new("/dev/urandom"), e))?;
    Ok(id)
}
