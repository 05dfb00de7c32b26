//! What the program around the pages does for an operator.

/// A snapshot in the data directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotRow {
    /// Of its folder.
    pub name: String,
    /// Its id, or why it cannot be read.
    pub id: Result<String, String>,
    pub provisions: u32,
    pub bytes: u64,
    pub is_served: bool,
}

pub trait Machinery: Send + Sync {
    /// The newest first. Reads the disk.
    fn snapshots(&self) -> Vec<SnapshotRow>;

    /// The report of the build of the served snapshot, as JSON. Reads the disk.
    fn report(&self) -> Option<String>;

    /// Verifies a snapshot and serves it; the one before stays if that fails. Takes as long as reading it.
    fn serve_snapshot(&self, name: &str) -> Result<String, String>;
}
