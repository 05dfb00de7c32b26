//! A simulated disk in memory that records events and syncs and fails on demand.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use hornbook_accounts::state::{SEAL_KEY_BYTES, StateDatabase, StateError, StateStorage, create_schema};
use redb::{Builder, Database, StorageBackend};

pub(crate) const SECTOR_BYTES: usize = 512;

/// An operation on the disk.
#[derive(Clone, Debug)]
pub(crate) enum DiskEvent {
    Write {
        offset: u64,
        data: Vec<u8>,
    },
    SetLen(u64),
    Sync,
    /// A client got the answer that its debit is durable.
    Acknowledged(u64),
}

/// A fault of the disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskFault {
    /// The number of writes and length changes, or of syncs, that succeed before it.
    pub(crate) successes_before: u64,
    pub(crate) on: FaultOn,
    pub(crate) error: i32,
    /// Until the fault is removed, or once.
    pub(crate) lasting: bool,
    /// If true, records of owed refunds cannot be written either.
    pub(crate) hits_owed_file: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultOn {
    Write,
    Sync,
}

pub(crate) const EIO: i32 = 5;
pub(crate) const ENOSPC: i32 = 28;

#[derive(Default)]
struct DiskContents {
    bytes: Vec<u8>,
    events: Vec<DiskEvent>,
    recording: bool,
    fault: Option<DiskFault>,
    /// The number of faults so far.
    fault_count: u64,
    stalled: bool,
    /// The file of owed refunds next to the database.
    owed: Vec<Vec<u8>>,
    seal_key: Option<[u8; SEAL_KEY_BYTES]>,
}

/// A handle to the disk; its contents survive the databases opened on it.
#[derive(Clone, Default)]
pub(crate) struct SimulatedDisk {
    contents: Arc<Mutex<DiskContents>>,
    syncs: Arc<std::sync::atomic::AtomicU64>,
    moving: Arc<Condvar>,
}

impl SimulatedDisk {
    /// An empty state, for tests that run on every kind of state.
    pub(crate) fn fresh() -> Self {
        Self::with_schema()
    }

    /// A disk with an empty state database.
    pub(crate) fn with_schema() -> Self {
        let disk = Self::default();
        let database = disk.database().unwrap();
        create_schema(&database).unwrap();
        drop(database);
        disk
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        disk.lock().bytes = bytes;
        disk
    }

    fn lock(&self) -> MutexGuard<'_, DiskContents> {
        self.contents.lock().unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    pub(crate) fn record(&self) {
        let mut contents = self.lock();
        contents.recording = true;
        contents.events.clear();
    }

    pub(crate) fn events(&self) -> Vec<DiskEvent> {
        let mut contents = self.lock();
        contents.recording = false;
        std::mem::take(&mut contents.events)
    }

    pub(crate) fn acknowledge(&self, what: u64) {
        let mut contents = self.lock();
        if contents.recording {
            contents.events.push(DiskEvent::Acknowledged(what));
        }
    }

    pub(crate) fn fail(&self, fault: Option<DiskFault>) {
        self.lock().fault = fault;
    }

    /// The number of failed writes and syncs so far.
    pub(crate) fn faults_fired(&self) -> u64 {
        self.lock().fault_count
    }

    /// While stalled, no sync returns.
    pub(crate) fn stall(&self, stalled: bool) {
        self.lock().stalled = stalled;
        self.moving.notify_all();
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    fn database(&self) -> Result<Database, redb::DatabaseError> {
        let backend = Backend { disk: self.clone(), closed: AtomicBool::new(false) };
        Builder::new().set_cache_size(4 << 20).create_with_backend(backend)
    }

    pub(crate) fn medium(&self) -> Arc<dyn StateStorage> {
        Arc::new(self.clone())
    }

    /// One server uses it.
    pub(crate) fn media(&self) -> Vec<Arc<dyn StateStorage>> {
        vec![self.medium()]
    }
}

impl StateStorage for SimulatedDisk {
    fn open(&self) -> Result<Box<dyn StateDatabase>, StateError> {
        let opened = self.database();
        Ok(Box::new(opened.map_err(|e| StateError::Storage { doing: "open the state", source: Box::new(e.into()) })?))
    }

    fn describe(&self) -> String {
        "the simulated disk".to_owned()
    }

    fn record_owed(&self, record: &[u8]) -> Result<(), StateError> {
        let mut contents = self.lock();
        if contents.fault.is_some_and(|fault| fault.hits_owed_file) {
            let source = io::Error::from_raw_os_error(EIO);
            return Err(StateError::File { doing: "write owed refunds to", path: "the simulated disk".into(), source });
        }
        contents.owed.push(record.to_vec());
        Ok(())
    }

    fn owed(&self) -> Result<Vec<Vec<u8>>, StateError> {
        Ok(self.lock().owed.clone())
    }

    fn clear_owed(&self) -> Result<(), StateError> {
        self.lock().owed.clear();
        Ok(())
    }

    fn seal_key(&self) -> Result<Option<[u8; SEAL_KEY_BYTES]>, StateError> {
        Ok(self.lock().seal_key)
    }

    fn store_seal_key(&self, key: &[u8; SEAL_KEY_BYTES]) -> Result<(), StateError> {
        self.lock().seal_key = Some(*key);
        Ok(())
    }
}

struct Backend {
    disk: SimulatedDisk,
    closed: AtomicBool,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Backend")
    }
}

impl Backend {
    fn change(&self, on: FaultOn, event: impl FnOnce() -> DiskEvent) -> io::Result<MutexGuard<'_, DiskContents>> {
        assert!(!self.closed.load(Ordering::Relaxed), "used after it was closed");
        let mut contents = self.disk.lock();
        if let Some(fault) = &mut contents.fault
            && fault.on == on
        {
            match fault.successes_before.checked_sub(1) {
                Some(left) => fault.successes_before = left,
                None => {
                    let error = io::Error::from_raw_os_error(fault.error);
                    if !fault.lasting {
                        contents.fault = None;
                    }
                    contents.fault_count += 1;
                    return Err(error);
                }
            }
        }
        if contents.recording {
            let event = event();
            contents.events.push(event);
        }
        Ok(contents)
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let contents = self.disk.lock();
        let offset = offset as usize;
        let found = offset.checked_add(out.len()).and_then(|end| contents.bytes.get(offset..end));
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(FaultOn::Write, || DiskEvent::SetLen(len))?.bytes.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.syncs.fetch_add(1, Ordering::Relaxed);
        let contents = self.change(FaultOn::Sync, || DiskEvent::Sync)?;
        drop(self.disk.moving.wait_while(contents, |contents| contents.stalled).unwrap());
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut contents = self.change(FaultOn::Write, || DiskEvent::Write { offset, data: data.to_vec() })?;
        let offset = offset as usize;
        contents.bytes[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.closed.store(true, Ordering::Relaxed);
        Ok(())
    }
}
