//! `hornbook snapshot install`: checks the signature of a pack and unpacks it into the data directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hornbook_base::regular_file;
use hornbook_index_build::data_directory::DataDirectory;
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{PackFile, PublicKey, SIGNATURE_BYTES_MAX, signature_path, unpack, verify};

use super::RELOAD_HINT;
use crate::cli::output::{CommandError, print};
use crate::cli::{CommandResult, GlobalOptions};

/// Install a snapshot from a file
///
/// The signature is checked first: FILE.minisig must be of a key in snapshots.trusted_keys. Each block is checked before
/// it is written, and the snapshot appears when it is whole and verified. After an interruption the same command goes on.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The pack
    file: PathBuf,

    /// A public key to accept, in addition to snapshots.trusted_keys; may be repeated
    #[arg(long, value_name = "KEY", value_parser = PublicKey::parse)]
    trust: Vec<PublicKey>,

    /// Install it even if it has no signature, or one that is wrong
    #[arg(long)]
    allow_unsigned: bool,

    /// Put the snapshot into use
    #[arg(long)]
    activate: bool,
}

impl Install {
    pub(super) fn run(self, data: &DataDirectory, options: &GlobalOptions) -> CommandResult {
        let trusted = trusted_keys(options, &self.trust)?;
        let pack = PackFile::open(&self.file)?;
        if !self.allow_unsigned {
            check_signature(&pack, &self.file, &trusted)?;
        }
        let index = pack.index();
        let earlier = earlier_folder(data, index.since.as_deref())?;
        let progress = ProgressDisplay::for_stderr();
        let fill = |folder: &Path| -> Result<(), CommandError> {
            let mut stage = progress.stage("unpacking", "bytes", Some(index.file_bytes()));
            let filled = unpack(&pack, folder, earlier.as_deref(), |bytes| stage.add(bytes));
            stage.finish();
            Ok(filled?)
        };
        let (path, is_new) = data.receive(&index.snapshot, fill, |_| ())?;
        let what = if is_new { "is installed" } else { "was installed already" };
        let mut out = format!("{} {what} at {}\n", index.snapshot, path.display());
        if self.activate {
            data.activate(&index.snapshot, |_| ())?;
            out += &format!("it is in use; {RELOAD_HINT}\n");
        } else if is_new {
            out += &format!("'hornbook snapshot activate {}' puts it into use\n", &index.snapshot[..8]);
        }
        print(&out)
    }
}

/// The keys of the settings and those that the command names.
pub(super) fn trusted_keys(options: &GlobalOptions, named: &[PublicKey]) -> Result<Vec<PublicKey>, CommandError> {
    let settings = options.configuration()?.snapshots.trusted_keys;
    Ok(settings.into_iter().map(|key| key.0).chain(named.iter().copied()).collect())
}

fn check_signature(pack: &PackFile, file: &Path, trusted: &[PublicKey]) -> CommandResult {
    let path = signature_path(file);
    let text = match regular_file::read(&path, SIGNATURE_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = format!(
                "{} has no signature: there is no {}; install it with --allow-unsigned if you know where it is from",
                file.display(),
                path.display()
            );
            return Err(why.into());
        }
        read => read.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
    };
    let total = fs::metadata(file).map(|found| found.len()).ok();
    let mut stage = ProgressDisplay::for_stderr().stage("checking the signature", "bytes", total);
    let hash = pack.hash(|bytes| stage.add(bytes));
    stage.finish();
    verify(file, &hash?, &String::from_utf8_lossy(&text), trusted)?;
    Ok(())
}

/// The folder of the earlier snapshot that a pack of changes needs, if it is installed.
fn earlier_folder(data: &DataDirectory, since: Option<&str>) -> Result<Option<PathBuf>, CommandError> {
    let Some(since) = since else { return Ok(None) };
    Ok(data.list()?.into_iter().find(|stored| stored.id == since).map(|stored| stored.path))
}
