//! The operator page's access to the program: lists the snapshots of the data directory, switches to
//! another one, and knows the settings and the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hornbook::api::service::Service;
use hornbook::api::snapshot_reload::CURRENT;
use hornbook::config::{Config, EffectiveValue};
use hornbook::web::operator::control::{DiskSpace, OperatorControl, SettingRow, SnapshotRow};
use hornbook_corpus::manifest::Manifest;
use serde_json::Value;

const SNAPSHOTS: &str = "snapshots";
const REPORT: &str = "report.json";

pub(super) struct ServedControl {
    pub(super) service: Arc<Service>,
    pub(super) data: PathBuf,
    pub(super) settings: Vec<SettingRow>,
    /// Serves the snapshot that the link points to now.
    pub(super) reload: Box<dyn Fn() -> Result<String, String> + Send + Sync>,
}

impl ServedControl {
    fn set_current_link(&self, target: &Path) -> Result<(), String> {
        let (link, fresh) = (self.data.join(CURRENT), self.data.join(".current-by-operator"));
        let _ = fs::remove_file(&fresh);
        symlink(target, &fresh)
            .and_then(|()| fs::rename(&fresh, &link))
            .map_err(|error| format!("cannot set the link {}: {error}", link.display()))
    }
}

impl OperatorControl for ServedControl {
    fn snapshots(&self) -> Vec<SnapshotRow> {
        let served = self.service.corpus().id().to_owned();
        let folders = fs::read_dir(self.data.join(SNAPSHOTS)).into_iter().flatten().flatten();
        let mut folders: Vec<_> = folders
            .filter(|folder| folder.path().is_dir())
            .filter_map(|folder| {
                Some((folder.metadata().ok()?.modified().ok()?, folder.file_name().into_string().ok()?))
            })
            .filter(|(_, name)| !name.starts_with('.'))
            .collect();
        folders.sort();
        folders.into_iter().rev().map(|(_, name)| row(&self.data, name, &served)).collect()
    }

    fn report(&self) -> Option<String> {
        let text = fs::read_to_string(self.service.corpus().snapshot().dir().join(REPORT)).ok()?;
        let report: Value = serde_json::from_str(&text).ok()?;
        serde_json::to_string_pretty(&report).ok()
    }

    fn serve_snapshot(&self, name: &str) -> Result<String, String> {
        // Only a listed name is accepted, so the path cannot leave the folder.
        if !self.snapshots().iter().any(|row| row.name == name && row.id.is_ok()) {
            return Err(format!("there is no readable snapshot '{name}'"));
        }
        let link = self.data.join(CURRENT);
        let before =
            fs::read_link(&link).map_err(|error| format!("cannot read the link {}: {error}", link.display()))?;
        self.set_current_link(&Path::new(SNAPSHOTS).join(name))?;
        (self.reload)().or_else(|why| {
            // Restore the link, so that a restart does not use the snapshot that was just refused.
            self.set_current_link(&before)?;
            Err(why)
        })
    }

    fn settings(&self) -> &[SettingRow] {
        &self.settings
    }

    fn disk(&self) -> Option<DiskSpace> {
        let disk = rustix::fs::statvfs(&self.data).ok()?;
        Some(DiskSpace { free: disk.f_bavail * disk.f_frsize, total: disk.f_blocks * disk.f_frsize })
    }
}

/// The settings in force, as 'hornbook config show' prints them.
pub(super) fn setting_rows(config: &Config) -> Vec<SettingRow> {
    let row = |EffectiveValue { setting, value, origin }| {
        let value = if value.is_empty() { "none".to_owned() } else { value };
        SettingRow { name: setting.name, value, origin: origin.to_string() }
    };
    config.effective().map(row).collect()
}

fn row(data: &Path, name: String, served: &str) -> SnapshotRow {
    match Manifest::open(&data.join(SNAPSHOTS).join(&name)) {
        Ok(manifest) => SnapshotRow {
            is_served: manifest.snapshot == served,
            provisions: manifest.counts.provisions,
            bytes: manifest.files.iter().map(|file| file.size).sum(),
            id: Ok(manifest.snapshot),
            name,
        },
        Err(error) => SnapshotRow { name, id: Err(error.to_string()), provisions: 0, bytes: 0, is_served: false },
    }
}
