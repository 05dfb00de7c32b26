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

pub trait SnapshotControl: Send + Sync {
    /// Lists the snapshots, newest first. Reads the disk.
    fn snapshots(&self) -> Vec<SnapshotRow>;

    /// The build report of the served snapshot, as JSON. Reads the disk.
    fn report(&self) -> Option<String>;

    /// Verifies a snapshot and serves it. If that fails, the previous snapshot stays. Takes as long
    /// as reading the snapshot.
    fn serve_snapshot(&self, name: &str) -> Result<String, String>;
}
