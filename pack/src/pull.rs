//! Follows a channel: finds its newest edition, fetches only the blocks that no installed snapshot has, and checks each.
//!
//! [`offer`] believes a channel only with a trusted signature, and never one that is older than the last, or another
//! one. What it accepted is recorded in [`PullState`] before anything is fetched. [`fetch`] fills a folder, which an
//! earlier attempt may have begun; publishing it is up to the caller. Nothing that an origin sends is decompressed,
//! kept or read as a number before its hash was compared with what the signature covers.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use hornbook_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::channel::{CHANNEL_BYTES_MAX, CHANNEL_FILE_NAME, Channel, ChannelError, ChannelPack, replace_file};
use crate::earlier::{EarlierBlocks, EarlierFiles};
use crate::error::PackError;
use crate::fault_points::reached;
use crate::index::{BlockPlace, InvalidIndex, PackIndex};
use crate::origin::{OriginError, PackOrigin};
use crate::pack_file::{decoded, earlier_block};
use crate::pack_writer::hash_file;
use crate::signature::{PublicKey, SIGNATURE_BYTES_MAX, SignatureError, signature_path, verify};
use crate::unpack::fill;

/// The file in the data directory that records what was accepted last.
pub const PULL_STATE_FILE_NAME: &str = ".pulled.json";
/// Failures in a row after which a pull gives up. Every block that arrives begins a new row.
const FAILURES_MAX: u32 = 6;
/// Failures because the origin is too slow after which a pull gives up, even if blocks arrived between them: they are so
/// few that it would take days.
const SLOW_FAILURES_MAX: u32 = 6;
/// The newest installed snapshots that are searched for blocks of a complete pack: their blocks are a table in memory.
const SEARCHED_SNAPSHOTS_MAX: usize = 3;
/// The most bytes that are asked for at once.
const REQUEST_BYTES_MAX: u64 = 64 << 20;

/// The channel that a data directory follows, and the edition that it accepted last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PullState {
    pub channel: String,
    pub sequence: u64,
    pub snapshot: String,
    /// When it was accepted.
    pub accepted: String,
}

/// A snapshot that is installed already.
#[derive(Clone, Debug)]
pub struct InstalledSnapshot {
    pub id: String,
    pub dir: PathBuf,
}

/// What a pull fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullTotals {
    /// Bytes of blocks and of the index that came from the origin.
    pub fetched_bytes: u64,
    /// Bytes of files that the installed snapshots had.
    pub local_bytes: u64,
    /// Whether a pack of changes was used.
    pub used_changes: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("{0}")]
    Origin(#[from] OriginError),
    #[error("{0}; after {FAILURES_MAX} failures the pull gave up; the next one goes on from here")]
    GaveUp(String),
    #[error("{0}")]
    Signature(#[from] SignatureError),
    #[error("{0}")]
    Channel(#[from] ChannelError),
    #[error("{0}")]
    Pack(#[from] PackError),
    #[error("the pack {file} has an invalid index: {source}; ask its publisher")]
    Index { file: String, source: InvalidIndex },
    #[error("the pack {file} does not contain the snapshot that its channel names; ask its publisher")]
    OtherSnapshot { file: String },
    #[error(
        "the origin offers edition {offered} of the channel '{channel}', but edition {seen} was accepted before: it is \
         out of date, or an older offer is being replayed"
    )]
    Older { channel: String, offered: u64, seen: u64 },
    #[error(
        "the origin offers two different snapshots as edition {sequence} of the channel '{channel}'; ask its publisher"
    )]
    Ambiguous { channel: String, sequence: u64 },
    #[error(
        "the origin serves the channel '{found}', but this data directory follows '{followed}'; remove {} to follow \
         another one",
        .state.display()
    )]
    OtherChannel { found: String, followed: String, state: PathBuf },
    #[error("{} is damaged: {what}; remove it if you accept that an older edition is not recognised", .path.display())]
    State { path: PathBuf, what: String },
}

impl PullState {
    /// What a data directory accepted last, if anything.
    pub fn read(data: &Path) -> Result<Option<Self>, PullError> {
        let path = data.join(PULL_STATE_FILE_NAME);
        let damaged = |what: String| PullError::State { path: path.clone(), what };
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(damaged(error.to_string())),
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| damaged(error.to_string())),
        }
    }

    fn write(&self, data: &Path) -> Result<(), PullError> {
        let text = serde_json::to_vec(self).expect("a state has no keys that are not text");
        Ok(replace_file(&data.join(PULL_STATE_FILE_NAME), &text)?)
    }

    /// Whether a channel may follow what was accepted last.
    fn check_follows(&self, channel: &Channel, data: &Path) -> Result<(), PullError> {
        if channel.channel != self.channel {
            return Err(PullError::OtherChannel {
                found: channel.channel.clone(),
                followed: self.channel.clone(),
                state: data.join(PULL_STATE_FILE_NAME),
            });
        }
        if channel.sequence < self.sequence {
            let channel_name = channel.channel.clone();
            return Err(PullError::Older { channel: channel_name, offered: channel.sequence, seen: self.sequence });
        }
        if channel.sequence == self.sequence && channel.snapshot != self.snapshot {
            return Err(PullError::Ambiguous { channel: channel.channel.clone(), sequence: channel.sequence });
        }
        Ok(())
    }
}

/// The newest edition that an origin offers: signed by a trusted key, and not older than the last one. It is recorded
/// in the data directory at once, so that no older one is accepted even if this one never arrives.
pub fn offer(
    origin: &mut dyn PackOrigin,
    data: &Path,
    trusted: &[PublicKey],
    now: UnixMillis,
) -> Result<Channel, PullError> {
    let seen = PullState::read(data)?;
    let mut patience = Patience::default();
    let channel = loop {
        match signed_channel(origin, trusted) {
            Ok(channel) => break channel,
            // A publisher may just be replacing the two files.
            Err(
                error @ (PullError::Origin(OriginError::Passing(_) | OriginError::Slow(_))
                | PullError::Signature(SignatureError::Mismatch { .. })),
            ) => {
                patience.fail(origin, error)?;
            }
            Err(error) => return Err(error),
        }
    };
    if let Some(seen) = &seen {
        seen.check_follows(&channel, data)?;
    }
    let state = PullState {
        channel: channel.channel.clone(),
        sequence: channel.sequence,
        snapshot: channel.snapshot.clone(),
        accepted: now.to_string(),
    };
    if seen.is_none_or(|seen| seen.sequence != state.sequence) {
        state.write(data)?;
        reached("offer recorded");
    }
    Ok(channel)
}

fn signed_channel(origin: &mut dyn PackOrigin, trusted: &[PublicKey]) -> Result<Channel, PullError> {
    let text = whole_file(origin, CHANNEL_FILE_NAME, CHANNEL_BYTES_MAX)?;
    let path = Path::new(CHANNEL_FILE_NAME);
    let signature = whole_file(origin, &signature_path(path).to_string_lossy(), SIGNATURE_BYTES_MAX)?;
    let hash = hash_file(&text[..]).expect("bytes in memory can be read");
    verify(path, &hash, &String::from_utf8_lossy(&signature), trusted)?;
    Ok(Channel::parse(&text)?)
}

fn whole_file(origin: &mut dyn PackOrigin, file: &str, bytes_max: u64) -> Result<Vec<u8>, OriginError> {
    let mut bytes = Vec::new();
    let read = origin.get(file, None)?.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| read_error(file, &error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(OriginError::Final(format!("{file} has more than {bytes_max} bytes; it is not what it should be")));
    }
    Ok(bytes)
}

/// Why a response could not be read to its end.
fn read_error(file: &str, error: &io::Error) -> OriginError {
    let text = format!("{file}: {error}");
    if error.kind() == io::ErrorKind::TimedOut { OriginError::Slow(text) } else { OriginError::Passing(text) }
}

/// Fetches the edition of a channel into a folder. `installed` has the newest snapshot first. `progress` receives byte counts of the finished files.
pub fn fetch(
    origin: &mut dyn PackOrigin,
    channel: &Channel,
    installed: &[InstalledSnapshot],
    folder: &Path,
    mut progress: impl FnMut(u64),
) -> Result<PullTotals, PullError> {
    let fits = |pack: &&ChannelPack| installed.iter().any(|snapshot| Some(&snapshot.id) == pack.since.as_ref());
    let changes = channel.packs.iter().filter(fits).min_by_key(|pack| pack.bytes);
    let mut totals = PullTotals::default();
    if let Some(pack) = changes {
        match fetch_pack(origin, channel, pack, installed, folder, &mut totals, &mut progress) {
            Ok(()) => return Ok(PullTotals { used_changes: true, ..totals }),
            // The installed snapshot is damaged. The complete pack needs none; what was right is kept.
            Err(PullError::Pack(PackError::Earlier { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    fetch_pack(origin, channel, channel.complete_pack(), installed, folder, &mut totals, &mut progress)?;
    Ok(totals)
}

fn fetch_pack(
    origin: &mut dyn PackOrigin,
    channel: &Channel,
    pack: &ChannelPack,
    installed: &[InstalledSnapshot],
    folder: &Path,
    totals: &mut PullTotals,
    progress: &mut dyn FnMut(u64),
) -> Result<(), PullError> {
    let index = fetch_index(origin, pack, totals)?;
    if index.snapshot != channel.snapshot || index.since != pack.since {
        return Err(PullError::OtherSnapshot { file: pack.file.clone() });
    }
    let of_pack = |snapshot: &&InstalledSnapshot| Some(&snapshot.id) == pack.since.as_ref();
    let earlier = installed.iter().find(of_pack).map(|snapshot| EarlierFiles::new(&snapshot.dir, &index.earlier_paths));
    // A pack of changes already says which blocks the installed snapshot has. One that cannot be read has none.
    let installed = if earlier.is_some() { &[] } else { installed };
    let searched = installed.iter().take(SEARCHED_SNAPSHOTS_MAX);
    let blocks = searched.filter_map(|snapshot| EarlierBlocks::of_snapshot(&snapshot.dir, |_| ()).ok());
    let mut source = BlockSource {
        origin,
        pack,
        path: PathBuf::from(&pack.file),
        index: &index,
        installed: blocks.collect(),
        earlier,
        response: None,
        patience: Patience::default(),
        totals,
    };
    fill(folder, &index, &mut |number| source.block(number), progress)
}

fn fetch_index(
    origin: &mut dyn PackOrigin,
    pack: &ChannelPack,
    totals: &mut PullTotals,
) -> Result<PackIndex, PullError> {
    let place = pack.index_place().expect("it was checked when the channel was read");
    let mut patience = Patience::default();
    loop {
        let mut bytes = Vec::new();
        let opened = origin.get(&pack.file, Some(place.at..place.at + place.bytes));
        let read = opened.and_then(|reader| {
            let read = reader.take(place.bytes).read_to_end(&mut bytes);
            read.map_err(|error| read_error(&pack.file, &error))
        });
        totals.fetched_bytes += bytes.len() as u64;
        let failure = match read {
            Ok(_) if *blake3::hash(&bytes).as_bytes() == place.hash => {
                return PackIndex::decode(&bytes, place.at)
                    .map_err(|source| PullError::Index { file: pack.file.clone(), source });
            }
            Ok(_) => OriginError::Passing(format!("the index of {} arrived damaged", pack.file)),
            Err(error @ OriginError::Final(_)) => return Err(error.into()),
            Err(error) => error,
        };
        patience.fail(origin, failure.into())?;
    }
}

/// Counts failures in a row, and those because the origin is too slow.
#[derive(Default)]
struct Patience {
    failures: u32,
    slow_failures: u32,
}

impl Patience {
    fn fail(&mut self, origin: &mut dyn PackOrigin, error: PullError) -> Result<(), PullError> {
        self.failures += 1;
        self.slow_failures += u32::from(matches!(error, PullError::Origin(OriginError::Slow(_))));
        if self.failures >= FAILURES_MAX || self.slow_failures >= SLOW_FAILURES_MAX {
            return Err(match error {
                PullError::Origin(_) | PullError::Pack(_) => PullError::GaveUp(error.to_string()),
                refused => refused,
            });
        }
        origin.wait(self.failures);
        Ok(())
    }
}

/// The blocks of a pack, from the nearest place that has them.
struct BlockSource<'p> {
    origin: &'p mut dyn PackOrigin,
    pack: &'p ChannelPack,
    /// Names the pack in errors.
    path: PathBuf,
    index: &'p PackIndex,
    installed: Vec<EarlierBlocks>,
    earlier: Option<EarlierFiles<'p>>,
    response: Option<OpenResponse>,
    patience: Patience,
    totals: &'p mut PullTotals,
}

/// A range that is arriving.
struct OpenResponse {
    reader: Box<dyn Read>,
    /// Position in the pack of the next byte.
    at: u64,
    end: u64,
}

impl BlockSource<'_> {
    fn block(&mut self, number: u32) -> Result<Vec<u8>, PullError> {
        let entry = &self.index.blocks[number as usize];
        if let BlockPlace::Earlier { .. } = entry.place {
            self.totals.local_bytes += u64::from(entry.bytes);
            return Ok(earlier_block(&self.path, self.index, number, self.earlier.as_mut())?);
        }
        if let Some(contents) = self.installed.iter().find_map(|blocks| blocks.contents_of(entry)) {
            self.totals.local_bytes += u64::from(entry.bytes);
            return Ok(contents);
        }
        loop {
            let error = match self.fetched(number) {
                Ok(contents) => {
                    self.patience.failures = 0;
                    return Ok(contents);
                }
                Err(
                    error @ (PullError::Origin(OriginError::Passing(_) | OriginError::Slow(_))
                    | PullError::Pack(PackError::Damaged { .. })),
                ) => error,
                Err(error) => return Err(error),
            };
            self.response = None;
            self.patience.fail(self.origin, error)?;
        }
    }

    fn fetched(&mut self, number: u32) -> Result<Vec<u8>, PullError> {
        let range = self.index.blocks[number as usize].packed().expect("it is not in the earlier snapshot").range();
        if self.response.as_ref().is_none_or(|response| response.at != range.start || response.end < range.end) {
            let end = self.end_of_run(number, range.clone());
            let reader = self.origin.get(&self.pack.file, Some(range.start..end))?;
            self.response = Some(OpenResponse { reader, at: range.start, end });
        }
        let response = self.response.as_mut().expect("it was just opened");
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let read = response.reader.read_exact(&mut bytes);
        read.map_err(|error| read_error(&self.pack.file, &error))?;
        response.at = range.end;
        self.totals.fetched_bytes += bytes.len() as u64;
        Ok(decoded(&self.path, self.index, number, bytes, self.earlier.as_mut())?)
    }

    /// The end of the bytes that are needed without a gap from a block on.
    fn end_of_run(&self, number: u32, first: Range<u64>) -> u64 {
        let mut end = first.end;
        for entry in &self.index.blocks[number as usize + 1..] {
            // Blocks in the earlier snapshot take no place in the pack.
            let Some(packed) = entry.packed() else { continue };
            let is_local = self.installed.iter().any(|blocks| blocks.place_of(&entry.hash).is_some());
            if is_local || packed.range().end - first.start > REQUEST_BYTES_MAX {
                break;
            }
            end = packed.range().end;
        }
        end
    }
}
