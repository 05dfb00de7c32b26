//! A channel: what a publisher offers, as one small signed file beside the packs.
//!
//! `channel.json` names the newest edition and the packs that it comes in. The folder with it needs nothing but a server
//! of static files. Each edition raises the sequence number, so that an older offer is recognised.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hornbook_base::{hex, whole_file};
use hornbook_corpus::manifest::is_snapshot_id;
use serde::{Deserialize, Serialize};

use crate::index::{BlockHash, INDEX_BYTES_MAX};
use crate::pack_file::IndexPlace;
use crate::pack_writer::{PackSummary, hash_file};
use crate::secret_key::SecretKey;
use crate::signature::signature_path;

pub const CHANNEL_FILE_NAME: &str = "channel.json";
pub(crate) const CHANNEL_BYTES_MAX: u64 = 1 << 20;
/// The version of the format of a channel.
pub const CHANNEL_FORMAT: u32 = 1;
const NAME_LENGTH_MAX: usize = 64;
const PACKS_MAX: usize = 100;

/// The offer of a publisher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Channel {
    pub format: u32,
    /// Tells the channels of a publisher apart, which may be signed with one key.
    pub channel: String,
    /// Greater than that of every edition before.
    pub sequence: u64,
    pub snapshot: String,
    /// What the snapshot calls itself.
    pub name: String,
    /// When it was published.
    pub published: String,
    /// The first and the last of the days through which its sources are current, if they state one.
    pub current_through: Vec<String>,
    /// One that is complete, and any number that contain only changes.
    pub packs: Vec<ChannelPack>,
}

/// A pack that a channel offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChannelPack {
    /// Its name in the folder of the channel.
    pub file: String,
    /// The earlier snapshot that it needs.
    pub since: Option<String>,
    pub bytes: u64,
    pub index_at: u64,
    pub index_bytes: u64,
    pub index_blake3: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("the channel has format {found}, this hornbook reads {CHANNEL_FORMAT}; use a newer version of hornbook")]
    Format { found: u64 },
    #[error("the channel is invalid: {what}; ask its publisher")]
    Invalid { what: String },
    #[error(
        "{} is the channel '{found}', not '{wanted}'; choose another folder for the packs of '{wanted}'",
        .path.display()
    )]
    OtherName { path: PathBuf, found: String, wanted: String },
}

impl ChannelPack {
    pub fn new(file: String, summary: &PackSummary) -> Self {
        Self {
            file,
            since: summary.index.since.clone(),
            bytes: summary.bytes,
            index_at: summary.place.at,
            index_bytes: summary.place.bytes,
            index_blake3: hex::encode(&summary.place.hash),
        }
    }

    pub(crate) fn index_place(&self) -> Option<IndexPlace> {
        let hash: BlockHash = hex::decode(&self.index_blake3)?;
        Some(IndexPlace { at: self.index_at, bytes: self.index_bytes, hash })
    }
}

impl Channel {
    /// Reads and checks the text of a channel, which is trusted only after its signature was checked.
    pub fn parse(text: &[u8]) -> Result<Self, ChannelError> {
        let invalid = |what: String| ChannelError::Invalid { what };
        let raw: serde_json::Value = serde_json::from_slice(text).map_err(|error| invalid(error.to_string()))?;
        // Another format may have other fields, so the format number is read before the rest.
        let format = raw.get("format").and_then(serde_json::Value::as_u64).unwrap_or_default();
        if format != u64::from(CHANNEL_FORMAT) {
            return Err(ChannelError::Format { found: format });
        }
        let channel: Self = serde_json::from_value(raw).map_err(|error| invalid(error.to_string()))?;
        channel.check().map_err(invalid)?;
        Ok(channel)
    }

    fn check(&self) -> Result<(), String> {
        if !is_channel_name(&self.channel) {
            return Err("its name has other characters than a-z, 0-9 and hyphens, or is too long".to_owned());
        }
        if !is_snapshot_id(&self.snapshot) || self.sequence == 0 || self.packs.len() > PACKS_MAX {
            return Err("its snapshot, its sequence number or its number of packs is not possible".to_owned());
        }
        if self.packs.iter().filter(|pack| pack.since.is_none()).count() != 1 {
            return Err("it does not offer exactly one pack that is complete".to_owned());
        }
        for pack in &self.packs {
            let is_sound = pack.index_place().is_some_and(|place| {
                let end = place.at.checked_add(place.bytes);
                place.bytes <= INDEX_BYTES_MAX
                    && end.is_some_and(|end| end < pack.bytes)
                    && place.pack_bytes() == pack.bytes
            });
            let is_since_sound =
                pack.since.as_ref().is_none_or(|since| is_snapshot_id(since) && *since != self.snapshot);
            if !is_channel_file_name(&pack.file) || !is_sound || !is_since_sound {
                return Err(format!("its pack '{}' is not possible", pack.file));
            }
        }
        Ok(())
    }

    pub(crate) fn complete_pack(&self) -> &ChannelPack {
        self.packs.iter().find(|pack| pack.since.is_none()).expect("it was checked when the channel was read")
    }

    /// The channel that a folder contains, if any.
    pub fn read(folder: &Path) -> Result<Option<Self>, ChannelError> {
        let path = folder.join(CHANNEL_FILE_NAME);
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Self::parse(&read.map_err(io_error(&path, "read"))?).map(Some),
        }
    }

    /// Signs the channel and puts both files into a folder. The signature comes first: a client that asks in between
    /// finds that the two do not match, and asks again.
    pub fn write(&self, folder: &Path, key: &SecretKey) -> Result<(), ChannelError> {
        self.check().map_err(|what| ChannelError::Invalid { what })?;
        let path = folder.join(CHANNEL_FILE_NAME);
        if let Some(before) = Self::read(folder)?
            && before.channel != self.channel
        {
            return Err(ChannelError::OtherName { path, found: before.channel, wanted: self.channel.clone() });
        }
        let mut text = serde_json::to_vec_pretty(self).expect("a channel has no keys that are not text");
        text.push(b'\n');
        let hash = hash_file(&text[..]).expect("bytes in memory can be read");
        let comment = format!("hornbook channel {} sequence {}", self.channel, self.sequence);
        replace_file(&signature_path(&path), key.sign(&hash, &comment).as_bytes())?;
        replace_file(&path, &text)
    }
}

/// Whether a text can be the name of a channel.
pub fn is_channel_name(name: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=NAME_LENGTH_MAX).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// A name that is one part of a path and of a URL as it is.
/// Whether a file of a channel may have this name.
pub fn is_channel_file_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=200).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_allowed)
}

/// Writes a small file whole or not at all. It is on disk when this returns.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), ChannelError> {
    whole_file::replace(path, bytes).map_err(io_error(path, "replace"))
}

fn io_error(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> ChannelError {
    let path = path.to_owned();
    move |source| ChannelError::Io { path: path.clone(), doing, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        Channel {
            format: CHANNEL_FORMAT,
            channel: "law".to_owned(),
            sequence: 1,
            snapshot: "a".repeat(32),
            name: "Law".to_owned(),
            published: "2026-01-01T00:00:00.000Z".to_owned(),
            current_through: vec![],
            packs: vec![ChannelPack {
                file: "a.pack".to_owned(),
                since: None,
                bytes: 16 + 100 + 56,
                index_at: 16,
                index_bytes: 100,
                index_blake3: "0".repeat(64),
            }],
        }
    }

    #[test]
    fn a_channel_is_read_as_it_was_written_and_never_replaces_another() {
        let dir = tempfile::tempdir().unwrap();
        let key = SecretKey::from_random([1; 32], [1; 8]);
        assert_eq!(Channel::read(dir.path()).unwrap(), None);
        channel().write(dir.path(), &key).unwrap();
        assert_eq!(Channel::read(dir.path()).unwrap(), Some(channel()));
        let other = Channel { channel: "other".to_owned(), ..channel() };
        assert!(matches!(other.write(dir.path(), &key), Err(ChannelError::OtherName { .. })));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn impossible_channels_are_refused() {
        let refused = |change: &dyn Fn(&mut Channel)| {
            let mut changed = channel();
            change(&mut changed);
            Channel::parse(&serde_json::to_vec(&changed).unwrap()).unwrap_err()
        };
        assert!(matches!(refused(&|channel| channel.format = 2), ChannelError::Format { found: 2 }));
        let changes: [&dyn Fn(&mut Channel); 9] = [
            &|channel| channel.channel = "../x".to_owned(),
            &|channel| channel.snapshot = "..".to_owned(),
            &|channel| channel.sequence = 0,
            &|channel| channel.packs.clear(),
            &|channel| channel.packs[0].file = "../x".to_owned(),
            &|channel| channel.packs[0].file = ".x".to_owned(),
            &|channel| channel.packs[0].index_at = u64::MAX,
            &|channel| channel.packs[0].index_bytes = 99,
            &|channel| channel.packs[0].index_blake3 = "0".repeat(63),
        ];
        for change in changes {
            assert!(matches!(refused(change), ChannelError::Invalid { .. }));
        }
        assert!(Channel::parse(b"").is_err());
    }
}
