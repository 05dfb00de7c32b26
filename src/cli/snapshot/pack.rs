//! `hornbook snapshot pack`: writes a snapshot as one file, signs it, and adds it to a channel.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::Args;
use hornbook_base::clock::{Clock, SystemClock};
use hornbook_base::whole_file;
use hornbook_corpus::catalogue::Source;
use hornbook_corpus::manifest::Manifest;
use hornbook_corpus::section_file::sync_directory;
use hornbook_index_build::data_directory::{DataDirectory, StoredSnapshot};
use hornbook_index_build::progress::ProgressDisplay;
use hornbook_pack::{Channel, ChannelPack, EarlierBlocks, PackSummary, SecretKey, pack, signature_path};

use super::keygen::read_key;
use crate::cli::CommandResult;
use crate::cli::output::{CommandError, print};
use crate::cli::table::bytes;

/// Write a snapshot as one file that other boxes can install
///
/// The same snapshot gives the same file. With --key it is signed: the signature is written beside it, and minisign can
/// check it too. With --channel the file goes into a folder that any server of static files can offer, and boxes follow
/// it with 'hornbook snapshot pull'.
#[derive(Debug, Args)]
pub(crate) struct PackSnapshot {
    /// The id of the snapshot, or its beginning [default: the one in use]
    id: Option<String>,

    /// The file to write, such as law.pack
    #[arg(long, value_name = "FILE", required_unless_present = "channel")]
    out: Option<PathBuf>,

    /// Write only what changed since this snapshot; boxes that have it can install the file
    #[arg(long, value_name = "ID")]
    since: Option<String>,

    /// The secret key that signs, as 'hornbook snapshot keygen' or 'minisign -G -W' makes it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Publish in the channel in this folder: the snapshot, its changes since the edition before, and the signed list
    #[arg(long, value_name = "DIR", conflicts_with = "out", requires = "key")]
    channel: Option<PathBuf>,

    /// The name of a new channel, such as us-law
    #[arg(long, value_name = "NAME", requires = "channel")]
    name: Option<String>,
}

impl PackSnapshot {
    pub(super) fn run(self, data: &DataDirectory) -> CommandResult {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => data.current().ok_or("no snapshot is in use; name one that 'hornbook snapshot list' shows")?,
        };
        let stored = data.find(&id)?;
        let since = self.since.as_ref().map(|since| data.find(since)).transpose()?;
        let key = self.key.as_deref().map(read_key).transpose()?;
        match (self.channel, self.out, key) {
            (Some(folder), _, Some(key)) => publish(data, &stored, since, &folder, self.name, &key),
            (_, Some(out), key) => {
                if out.exists() {
                    return Err(format!("{} exists already; choose another name, or remove it", out.display()).into());
                }
                let summary = write_pack(&stored, since.as_ref(), &out, key.as_ref())?;
                let signed = if key.is_some() { "signed" } else { "not signed; boxes install it only if told to" };
                print(&format!("wrote {} ({}, {signed})\n", out.display(), bytes(summary.bytes)))
            }
            (_, None, _) => Err("name the file to write with --out".into()),
        }
    }
}

/// Writes a pack and its signature. The pack appears when it is whole, after its signature.
fn write_pack(
    stored: &StoredSnapshot,
    since: Option<&StoredSnapshot>,
    out: &Path,
    key: Option<&SecretKey>,
) -> Result<PackSummary, CommandError> {
    let progress = ProgressDisplay::for_stderr();
    let total = |stored: &StoredSnapshot| {
        stored.manifest.as_ref().map(|manifest| manifest.files.iter().map(|file| file.size).sum()).ok()
    };
    let earlier = match since {
        None => None,
        Some(since) => {
            let mut stage = progress.stage("comparing", "bytes", total(since));
            let earlier = EarlierBlocks::of_snapshot(&since.path, |bytes| stage.add(bytes))?;
            stage.finish();
            Some(earlier)
        }
    };
    let name = out.file_name().ok_or("the pack needs a file name")?.to_string_lossy();
    let fresh = out.with_file_name(format!(".{name}.fresh"));
    // Left by a killed process.
    let _ = fs::remove_file(&fresh);
    let io = |doing: &str, path: &Path, error| format!("cannot {doing} {}: {error}", path.display());
    let file = File::create_new(&fresh).map_err(|error| io("create", &fresh, error))?;
    let mut stage = progress.stage("packing", "bytes", total(stored));
    let packed = pack(&stored.path, earlier.as_ref(), BufWriter::new(&file), &fresh, |bytes| stage.add(bytes));
    stage.finish();
    let summary = match packed {
        Ok(summary) => summary,
        Err(error) => {
            let _ = fs::remove_file(&fresh);
            return Err(error.into());
        }
    };
    file.sync_all().map_err(|error| io("write", &fresh, error))?;
    if let Some(key) = key {
        let since = summary.index.since.as_ref().map(|since| format!(" since {since}")).unwrap_or_default();
        let comment = format!("hornbook snapshot {}{since}", summary.index.snapshot);
        let path = signature_path(out);
        let signature = key.sign(&summary.hash, &comment);
        whole_file::replace(&path, signature.as_bytes()).map_err(|error| io("write", &path, error))?;
    }
    fs::rename(&fresh, out).map_err(|error| io("rename the finished pack to", out, error))?;
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync_directory(folder).map_err(|error| io("sync", folder, error))?;
    Ok(summary)
}

/// Writes the packs of a new edition into the folder of a channel, and then the channel that names them.
fn publish(
    data: &DataDirectory,
    stored: &StoredSnapshot,
    since: Option<StoredSnapshot>,
    folder: &Path,
    name: Option<String>,
    key: &SecretKey,
) -> CommandResult {
    let manifest = Manifest::open(&stored.path)?;
    fs::create_dir_all(folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let before = Channel::read(folder)?;
    if before.as_ref().is_some_and(|before| before.snapshot == manifest.snapshot) {
        return Err(format!("{} is the newest edition of this channel already", manifest.snapshot).into());
    }
    let name = name.or(before.as_ref().map(|before| before.channel.clone()));
    let name = name.ok_or("the channel is new: give it a name with --name, such as us-law")?;
    // Most boxes have the edition before.
    let since = since.or_else(|| data.find(&before.as_ref()?.snapshot).ok());
    let mut packs = Vec::new();
    let mut out = String::new();
    for since in [None, since.as_ref()].into_iter().take(if since.is_some() { 2 } else { 1 }) {
        let file = match since {
            None => format!("{}.pack", manifest.snapshot),
            Some(since) => format!("{}-since-{}.pack", manifest.snapshot, since.id),
        };
        let summary = write_pack(stored, since, &folder.join(&file), Some(key))?;
        out += &format!("wrote {} ({})\n", folder.join(&file).display(), bytes(summary.bytes));
        packs.push(ChannelPack::new(file, &summary));
    }
    let sequence = before.map_or(1, |before| before.sequence + 1);
    let channel = Channel {
        format: hornbook_pack::CHANNEL_FORMAT,
        channel: name,
        sequence,
        snapshot: manifest.snapshot,
        name: manifest.name,
        published: SystemClock::start().now().wall.to_string(),
        current_through: first_and_last_day(&manifest.sources),
        packs,
    };
    channel.write(folder, key)?;
    print(&format!("{out}edition {sequence} of the channel '{}' is in {}\n", channel.channel, folder.display()))
}

fn first_and_last_day(sources: &[Source]) -> Vec<String> {
    let days = || sources.iter().filter_map(|source| source.current_through.clone());
    days().min().into_iter().chain(days().max()).collect()
}
