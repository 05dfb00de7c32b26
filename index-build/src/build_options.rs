//! Where a build goes, and what may be chosen about it.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::error::BuildError;
use crate::progress::ProgressDisplay;

/// Where the finished snapshot goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Exactly this folder.
    Folder(PathBuf),
    /// `snapshots/<id>` in a data directory. The link `current` is then pointed at it.
    DataDirectory(PathBuf),
    /// The same folder, but `current` stays unchanged.
    Inactive(PathBuf),
}

#[derive(Clone, Debug)]
pub struct BuildOptions {
    pub plan: PathBuf,
    /// The folder that the paths of the plan are relative to; by default the folder of the plan.
    pub sources: Option<PathBuf>,
    pub destination: Destination,
    /// Treat warnings as errors, and also words of a source that are lost without a reason.
    pub strict: bool,
    /// Replace the snapshot in the destination folder.
    pub replace: bool,
    /// Replace a snapshot even if a code body loses more than a tenth of its provisions.
    pub accept_loss: bool,
    /// Leave out the sources whose files are not there, with a warning for each.
    pub skip_absent: bool,
    /// Build even if nothing changed, and reuse nothing.
    pub fresh: bool,
    pub progress: ProgressDisplay,
}

impl BuildOptions {
    pub(crate) fn may_replace(&self) -> bool {
        self.replace || matches!(self.destination, Destination::DataDirectory(_))
    }
}

impl Destination {
    pub(crate) fn folder_for(&self, snapshot: &str) -> PathBuf {
        match self {
            Self::Folder(path) => path.clone(),
            Self::DataDirectory(data) | Self::Inactive(data) => data.join("snapshots").join(snapshot),
        }
    }

    /// The vectors that an interrupted build had embedded are kept here.
    pub(crate) fn embedding_log(&self) -> PathBuf {
        let folder = self.folder_for("new");
        folder.with_file_name(format!(".{}.embedded", folder.file_name().unwrap_or_default().to_string_lossy()))
    }

    pub(crate) fn remove_embedding_log(&self) -> Result<(), BuildError> {
        let path = self.embedding_log();
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(BuildError::EmbeddingLog { path, source }),
            _ => Ok(()),
        }
    }

    /// The folder for a snapshot that must not replace the one in use.
    pub(crate) fn folder_beside(&self, snapshot: &str) -> PathBuf {
        match self {
            Self::Folder(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                path.with_file_name(format!("{name}.{snapshot}"))
            }
            Self::DataDirectory(_) | Self::Inactive(_) => self.folder_for(snapshot),
        }
    }

    /// The existing snapshot, if any, which a build may replace or partly reuse.
    pub(crate) fn in_use(&self) -> Option<PathBuf> {
        let path = match self {
            Self::Folder(path) => path.clone(),
            Self::DataDirectory(data) | Self::Inactive(data) => data.join("current"),
        };
        fs::canonicalize(path).ok()
    }
}
