//! The functions of the main program that the operator's page uses.

/// A snapshot in the data directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotRow {
    /// The name of its folder.
    pub name: String,
    /// The id, or the reason why the snapshot cannot be read.
    pub id: Result<String, String>,
    pub provisions: u32,
    pub bytes: u64,
    pub is_served: bool,
}

/// A setting in force. The value of a secret is hidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingRow {
    pub name: &'static str,
    pub value: String,
    /// Where the value comes from: a default, a line of a file, an environment variable or a flag.
    pub origin: String,
}

/// The space of the disk that has the data directory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
}

pub trait OperatorControl: Send + Sync {
    /// Lists the snapshots, newest first. Reads the disk.
    fn snapshots(&self) -> Vec<SnapshotRow>;

    /// The build report of the served snapshot, as JSON. Reads the disk.
    fn report(&self) -> Option<String>;

    /// Verifies a snapshot and serves it. If that fails, the previous snapshot stays. Takes as long
    /// as reading the snapshot.
    fn serve_snapshot(&self, name: &str) -> Result<String, String>;

    fn settings(&self) -> &[SettingRow];

    /// None if the system does not say.
    fn disk(&self) -> Option<DiskSpace>;
}
