//! Pulls from an origin that cuts, corrupts, stalls, goes back, replays and serves what it should not. Whatever it
//! does, a data directory has only whole and signed snapshots, and never an older one than before.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::sync::LazyLock;

use hornbook_base::clock::UnixMillis;
use hornbook_base::random::SplitMix64;
use hornbook_corpus::snapshot::Snapshot;
use hornbook_index_build::data_directory::{DataDirectory, DataDirectoryError};

use super::*;
use crate::{
    Channel, ChannelPack, InstalledSnapshot, OriginError, PackOrigin, PublicKey, PullError, PullState, PullTotals,
    SecretKey, fetch, offer,
};

const CHANNEL: &str = "channel.json";
const CHANNEL_SIGNATURE: &str = "channel.json.minisig";

fn key() -> SecretKey {
    SecretKey::from_random([1; 32], [1; 8])
}

/// All that a publisher has served: the packs, and the two files of the channel at each edition.
struct Published {
    _dir: tempfile::TempDir,
    packs: HashMap<String, Vec<u8>>,
    /// The two files of each edition.
    editions: Vec<[Vec<u8>; 2]>,
    snapshots: Vec<String>,
    /// Another channel, signed with the same key.
    other_channel: [Vec<u8>; 2],
    /// The first edition's channel with a forged number, signed with a key that nobody trusts.
    forged: [Vec<u8>; 2],
    /// Another snapshot under the number of the last edition.
    ambiguous: [Vec<u8>; 2],
}

static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let mut folders: Vec<PathBuf> = Vec::new();
    let (mut packs, mut editions, mut snapshots, mut offers) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
    for edition in 1..=4 {
        let text = |section: u32| match section % 4 == edition % 4 && section < 8 {
            true => format!("As amended by act {edition}, section {section} of this code asks for {edition} forms."),
            false => format!("Section {section} of this code asks whoever keeps {section} dogs for a licence."),
        };
        let texts: Vec<String> = (1..=60).map(text).collect();
        let folder = built(&dir.path().join(edition.to_string()), &texts);
        let mut offered = Vec::new();
        for since in [None, folders.last()] {
            if edition == 1 && since.is_none() && !offered.is_empty() {
                continue;
            }
            let name = format!("{edition}-{}.pack", if since.is_some() { "changes" } else { "complete" });
            let out = dir.path().join(&name);
            let summary = packed(&folder, since.map(PathBuf::as_path), &out);
            packs.insert(name.clone(), fs::read(&out).unwrap());
            offered.push(ChannelPack::new(name, &summary));
        }
        let snapshot = Manifest::open(&folder).unwrap().snapshot;
        let channel = channel("law", u64::from(edition), &snapshot, offered);
        editions.push(signed(&channel, &key()));
        offers.push(channel);
        snapshots.push(snapshot);
        folders.push(folder);
    }
    let forged = Channel { sequence: 99, ..offers[0].clone() };
    let ambiguous = Channel { sequence: 4, ..offers[0].clone() };
    let other_channel = Channel { channel: "other".to_owned(), sequence: 50, ..offers[0].clone() };
    Published {
        _dir: dir,
        packs,
        editions,
        snapshots,
        other_channel: signed(&other_channel, &key()),
        forged: signed(&forged, &SecretKey::from_random([2; 32], [1; 8])),
        ambiguous: signed(&ambiguous, &key()),
    }
});

fn channel(name: &str, sequence: u64, snapshot: &str, packs: Vec<ChannelPack>) -> Channel {
    Channel {
        format: 1,
        channel: name.to_owned(),
        sequence,
        snapshot: snapshot.to_owned(),
        name: "t".to_owned(),
        published: "2026-01-01T00:00:00.000Z".to_owned(),
        current_through: vec![],
        packs,
    }
}

fn signed(channel: &Channel, key: &SecretKey) -> [Vec<u8>; 2] {
    let dir = tempfile::tempdir().unwrap();
    channel.write(dir.path(), key).unwrap();
    [CHANNEL, CHANNEL_SIGNATURE].map(|name| fs::read(dir.path().join(name)).unwrap())
}

/// What an origin does wrong, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// Responses end early.
    Cuts,
    /// A bit of a response is wrong.
    Corrupts,
    /// A response stops, until the client gives up waiting, or does not begin.
    Stalls,
    /// A response brings less than the least rate.
    Drips,
    /// Another part of the file, or another file, is sent.
    WrongPlace,
    /// Responses go on after their end.
    Longer,
}

struct HostileOrigin {
    channel: [Vec<u8>; 2],
    fault: Fault,
    /// One of how many requests goes wrong.
    one_of: u64,
    random: SplitMix64,
    requests: Vec<(String, Option<Range<u64>>)>,
    sent: u64,
}

impl HostileOrigin {
    fn honest(edition: usize) -> Self {
        let channel = PUBLISHED.editions[edition].clone();
        Self { channel, fault: Fault::None, one_of: 1, random: SplitMix64(0), requests: vec![], sent: 0 }
    }
}

/// Ends with an error where a response stalls or is too slow.
struct Stalling(io::Cursor<Vec<u8>>, io::ErrorKind);

impl Read for Stalling {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::new(self.1, "nothing more came")),
            count => Ok(count),
        }
    }
}

impl PackOrigin for HostileOrigin {
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError> {
        self.requests.push((file.to_owned(), range.clone()));
        let whole = match file {
            CHANNEL => &self.channel[0],
            CHANNEL_SIGNATURE => &self.channel[1],
            name => PUBLISHED.packs.get(name).ok_or_else(|| OriginError::Final(format!("there is no {name}")))?,
        };
        let range = range.unwrap_or(0..whole.len() as u64);
        let mut bytes = whole[range.start as usize..range.end as usize].to_vec();
        let fault = if self.random.below(self.one_of) == 0 { self.fault } else { Fault::None };
        let place = self.random.index(bytes.len().max(1));
        self.sent += bytes.len() as u64;
        match fault {
            Fault::None => {}
            Fault::Cuts if self.random.below(4) == 0 => return Err(OriginError::Passing("no connection".to_owned())),
            Fault::Cuts => bytes.truncate(place),
            Fault::Corrupts => bytes[place] ^= 1 << self.random.below(8),
            Fault::Stalls if self.random.below(4) == 0 => return Err(OriginError::Passing("no answer".to_owned())),
            Fault::Stalls | Fault::Drips => {
                bytes.truncate(place);
                let kind = if fault == Fault::Drips { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
                return Ok(Box::new(Stalling(io::Cursor::new(bytes), kind)));
            }
            Fault::WrongPlace => bytes = PUBLISHED.packs["1-complete.pack"][..bytes.len().min(5000)].to_vec(),
            Fault::Longer => bytes.extend(vec![0; 100_000]),
        }
        Ok(Box::new(io::Cursor::new(bytes)))
    }

    fn wait(&mut self, _failures: u32) {}
}

#[derive(Debug)]
enum BoxError {
    Pull(PullError),
    Data(DataDirectoryError),
}

impl From<DataDirectoryError> for BoxError {
    fn from(error: DataDirectoryError) -> Self {
        Self::Data(error)
    }
}

/// A pull, as the command with `--swap` does it.
fn pull(data: &Path, origin: &mut dyn PackOrigin, trusted: &[PublicKey]) -> Result<PullTotals, BoxError> {
    let directory = DataDirectory::new(data);
    let channel = offer(origin, data, trusted, UnixMillis(0)).map_err(BoxError::Pull)?;
    let stored = directory.list()?;
    let installed: Vec<InstalledSnapshot> =
        stored.into_iter().map(|stored| InstalledSnapshot { id: stored.id, dir: stored.path }).collect();
    let mut totals = PullTotals::default();
    let fill = |folder: &Path| {
        totals = fetch(origin, &channel, &installed, folder, |_| ()).map_err(BoxError::Pull)?;
        Ok::<(), BoxError>(())
    };
    directory.receive(&channel.snapshot, fill, |_| ())?;
    directory.activate(&channel.snapshot, |_| ())?;
    Ok(totals)
}

fn edition_of(snapshot: &str) -> usize {
    PUBLISHED.snapshots.iter().position(|published| published == snapshot).expect("only published snapshots appear")
}

/// The edition in use, after a check of everything that the data directory shows.
fn checked(data: &Path) -> Option<usize> {
    let directory = DataDirectory::new(data);
    for stored in directory.list().unwrap() {
        let whole = Snapshot::verify(&stored.path, |_| ()).unwrap();
        assert_eq!(whole.manifest.snapshot, stored.id);
        edition_of(&stored.id);
    }
    directory.current().map(|id| edition_of(&id))
}

#[test]
fn two_hundred_pulls_from_a_hostile_origin_give_only_whole_signed_newer_editions() {
    let trusted = [key().public()];
    let (mut finished, mut refused, mut gave_up) = (0, 0, 0);
    for seed in 0..20 {
        let data = tempfile::tempdir().unwrap();
        let mut random = SplitMix64(seed);
        let mut in_use = None;
        for _ in 0..10 {
            let edition = random.index(4);
            let mut origin = HostileOrigin::honest(edition);
            let faults = [
                Fault::None,
                Fault::Cuts,
                Fault::Corrupts,
                Fault::Stalls,
                Fault::Drips,
                Fault::WrongPlace,
                Fault::Longer,
            ];
            origin.fault = faults[random.index(faults.len())];
            origin.one_of = 1 + random.below(3);
            origin.random = SplitMix64(random.draw());
            let published = &*PUBLISHED;
            let seen = PullState::read(data.path()).unwrap();
            let sequence = seen.as_ref().map_or(0, |state| state.sequence);
            match random.below(8) {
                // A box that follows no channel yet may take this one, and one that has not seen the last edition the next.
                0 if sequence > 0 => origin.channel = published.other_channel.clone(),
                1 => origin.channel = published.forged.clone(),
                2 if sequence == 4 => origin.channel = published.ambiguous.clone(),
                // The newest list with the signature of another one.
                3 => origin.channel[1] = published.editions[random.index(4)][1].clone(),
                _ => {}
            }
            let result = pull(data.path(), &mut origin, &trusted);
            let after = checked(data.path());
            let now_seen = PullState::read(data.path()).unwrap();
            assert!(now_seen.as_ref().map(|state| state.sequence) >= seen.as_ref().map(|state| state.sequence));
            if let Some(seen) = &seen {
                assert_eq!(now_seen.as_ref().unwrap().channel, seen.channel);
            }
            match &result {
                Ok(_) => {
                    finished += 1;
                    let state = now_seen.unwrap();
                    assert_eq!(after.map(|edition| published.snapshots[edition].clone()), Some(state.snapshot));
                }
                Err(error) => {
                    assert_eq!(after, in_use, "a pull that failed changes nothing in use: {error:?}");
                    match error {
                        BoxError::Pull(PullError::GaveUp(_)) => gave_up += 1,
                        BoxError::Pull(_) => refused += 1,
                        BoxError::Data(error) => panic!("{error:?}"),
                    }
                }
            }
            assert!(after >= in_use, "{in_use:?} to {after:?}");
            in_use = after;
        }
    }
    assert!(finished > 20 && refused > 40 && gave_up > 10, "{finished} finished, {refused} refused, {gave_up} gave up");
}

#[test]
fn a_pull_fetches_only_what_is_lacking() {
    let data = tempfile::tempdir().unwrap();
    let trusted = [key().public()];
    let first = pull(data.path(), &mut HostileOrigin::honest(0), &trusted).unwrap();
    assert_eq!((first.local_bytes, first.used_changes), (0, false));
    // The edition after it comes as a pack of changes.
    let mut origin = HostileOrigin::honest(1);
    let next = pull(data.path(), &mut origin, &trusted).unwrap();
    assert!(next.used_changes && next.fetched_bytes < first.fetched_bytes / 2, "{next:?} {first:?}");
    assert!(origin.requests.iter().all(|(file, _)| !file.contains("complete")));
    // Two editions later there is none that fits, so single blocks of the complete pack are fetched.
    let mut origin = HostileOrigin::honest(3);
    let later = pull(data.path(), &mut origin, &trusted).unwrap();
    assert!(!later.used_changes && later.local_bytes > 0 && later.fetched_bytes < first.fetched_bytes, "{later:?}");
    let nothing = pull(data.path(), &mut HostileOrigin::honest(3), &trusted).unwrap();
    assert_eq!(nothing, PullTotals::default());
    assert_eq!(checked(data.path()), Some(3));
}

#[test]
fn a_damaged_installed_snapshot_does_not_stop_a_pull() {
    let data = tempfile::tempdir().unwrap();
    let trusted = [key().public()];
    pull(data.path(), &mut HostileOrigin::honest(0), &trusted).unwrap();
    let texts = data.path().join("snapshots").join(&PUBLISHED.snapshots[0]).join("texts.bin");
    let mut bytes = fs::read(&texts).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(&texts).unwrap();
    fs::write(&texts, bytes).unwrap();
    let totals = pull(data.path(), &mut HostileOrigin::honest(1), &trusted).unwrap();
    assert!(!totals.used_changes);
    Snapshot::verify(&data.path().join("current"), |_| ()).unwrap();
}

#[test]
fn a_cut_pull_goes_on_where_it_was_cut() {
    let data = tempfile::tempdir().unwrap();
    let trusted = [key().public()];
    let whole = PUBLISHED.packs["1-complete.pack"].len() as u64;
    // The origin fails after the channel, the index and some blocks.
    let mut origin = HostileOrigin::honest(0);
    origin.fault = Fault::Stalls;
    origin.random = SplitMix64(5);
    origin.one_of = 2;
    let mut attempts = 0;
    while pull(data.path(), &mut origin, &trusted).is_err() {
        attempts += 1;
        assert!(attempts < 50);
    }
    assert_eq!(checked(data.path()), Some(0));
    let fetched: u64 = origin.sent;
    assert!(fetched < 40 * whole, "{fetched} of {whole} after {attempts} failed attempts");
}

/// An honest origin whose responses with blocks bring one or two of them and are then too slow.
struct DrippingPacks(HostileOrigin);

impl PackOrigin for DrippingPacks {
    fn get(&mut self, file: &str, range: Option<Range<u64>>) -> Result<Box<dyn Read>, OriginError> {
        let has_blocks = range.as_ref().is_some_and(|range| range.end - range.start > 20_000);
        let mut bytes = Vec::new();
        self.0.get(file, range)?.take(if has_blocks { 20_000 } else { u64::MAX }).read_to_end(&mut bytes).unwrap();
        Ok(Box::new(Stalling(io::Cursor::new(bytes), io::ErrorKind::TimedOut)))
    }

    fn wait(&mut self, _failures: u32) {}
}

#[test]
fn a_pull_gives_up_on_an_origin_that_is_too_slow_although_blocks_arrive() {
    let trusted = [key().public()];
    let whole = pull(tempfile::tempdir().unwrap().path(), &mut HostileOrigin::honest(0), &trusted).unwrap();
    let data = tempfile::tempdir().unwrap();
    let channel = offer(&mut HostileOrigin::honest(0), data.path(), &trusted, UnixMillis(0)).unwrap();
    let arriving = tempfile::tempdir().unwrap();
    let mut slow = DrippingPacks(HostileOrigin::honest(0));
    let mut written = 0;
    let error = fetch(&mut slow, &channel, &[], arriving.path(), |bytes| written += bytes).unwrap_err();
    assert!(matches!(&error, PullError::GaveUp(_)), "{error:?}");
    assert!(slow.0.requests.len() < 10 && written > 0, "{} requests", slow.0.requests.len());
    let rest = fetch(&mut HostileOrigin::honest(0), &channel, &[], arriving.path(), |_| ()).unwrap();
    assert!(rest.fetched_bytes < whole.fetched_bytes, "{rest:?} {whole:?}");
}

#[test]
fn replays_other_channels_and_unsigned_offers_are_refused_by_what_is_wrong() {
    let data = tempfile::tempdir().unwrap();
    let trusted = [key().public()];
    pull(data.path(), &mut HostileOrigin::honest(2), &trusted).unwrap();
    let refused = |channel: &[Vec<u8>; 2], trusted: &[PublicKey]| {
        let mut origin = HostileOrigin { channel: channel.clone(), ..HostileOrigin::honest(0) };
        match pull(data.path(), &mut origin, trusted).unwrap_err() {
            BoxError::Pull(error) => error,
            error @ BoxError::Data(_) => panic!("{error:?}"),
        }
    };
    let published = &*PUBLISHED;
    assert!(matches!(refused(&published.editions[1], &trusted), PullError::Older { offered: 2, seen: 3, .. }));
    assert!(matches!(refused(&published.other_channel, &trusted), PullError::OtherChannel { .. }));
    assert!(matches!(refused(&published.forged, &trusted), PullError::Signature(_)));
    assert!(matches!(refused(&published.editions[3], &[]), PullError::Signature(_)));
    pull(data.path(), &mut HostileOrigin::honest(3), &trusted).unwrap();
    assert!(matches!(refused(&published.ambiguous, &trusted), PullError::Ambiguous { .. }));
    assert_eq!(checked(data.path()), Some(3));
    fs::write(data.path().join(crate::PULL_STATE_FILE_NAME), "x").unwrap();
    assert!(matches!(refused(&published.editions[3], &trusted), PullError::State { .. }));
}
