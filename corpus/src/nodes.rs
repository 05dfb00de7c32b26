//! Node records: name, origin and text positions of each node.
//!
//! `nodes.redb` maps an ordinal to an rkyv archive of `NodeRecord` and its checksum. Both are checked on every
//! access. redb itself trusts the file that it opens and panics on a damaged one, so it is called only inside
//! [`catch_panic_as_damage`]. Records contain no law text: redb needs 2.6 times the space for values of 2 kB, and a mapped text
//! needs no copy.

use std::fmt;
use std::path::{Path, PathBuf};

use redb::{ReadOnlyDatabase, ReadOnlyTable, ReadableTableMetadata, TableDefinition};
use rkyv::rancor;
use rkyv::util::AlignedVec;

use crate::damage::{Damage, catch_panic_as_damage};
use crate::ids::NodeOrdinal;
use crate::texts::Span;
use crate::validity::Validity;

pub const FILE_NAME: &str = "nodes.redb";
const RECORDS: TableDefinition<u32, &[u8]> = TableDefinition::new("records");
/// Contains the format number. It is raised whenever a field of `NodeRecord` changes, because rkyv archives contain
/// no schema.
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const FORMAT: u64 = 5;
const FORMAT_KEY: &str = "format";
/// Size of redb's page cache. It can be small: a page of results needs few records, and the operating system caches
/// the file.
const CACHE_BYTES: usize = 8 << 20;
/// Records written in one transaction. This limits the memory of the builder.
const BATCH: usize = 16_384;
/// Length of the checksum after each archive: its CRC-32, little-endian.
const SUM_BYTES: usize = 4;

/// A text that accompanies the law, such as a history note or an editor's note.
#[derive(Clone, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Note {
    pub topic: String,
    pub text: Span,
}

/// A wording of a node, which applies on certain days: the whole text as a source prints it, with its own notes and
/// source credit.
#[derive(Clone, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Wording {
    pub heading: String,
    pub validity: Validity,
    /// The publisher's remark about when it is in force.
    pub remark: Option<String>,
    pub text: Span,
    pub text_sha256: [u8; 32],
    pub notes: Vec<Note>,
    pub source_credit: Option<Span>,
    /// The URL of the page of this wording, if the source names one.
    pub source_url: Option<String>,
}

/// The name of an act, and the law that it was published as.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct ActName {
    pub name: String,
    /// `Pub. L. 93-406`, `Pub. L. 105-277, div. G`, `Act of Aug. 29, 1935, ch. 814`
    pub law: String,
}

/// All data of a node except its texts.
#[derive(Clone, Debug, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct NodeRecord {
    pub source_key: String,
    pub citation: String,
    /// The publisher's name for this level: title, chapter, section.
    pub level: String,
    pub number: Option<String>,
    /// Its source, as an index into the catalogue's sources: publisher, edition, dates, licence.
    pub source: u16,
    /// The date through which this node is current, if it differs from that of its source.
    pub current_through: Option<String>,
    /// At least one: first the wording in force on the last day that the source covers, then the others in order of
    /// time.
    pub wordings: Vec<Wording>,
    /// The former citations of all its wordings. Parallel citations and tags are also those of all wordings.
    pub former_citations: Vec<String>,
    pub parallel_citations: Vec<String>,
    /// The citation of the law under its new number, if the source states that this provision was renumbered or
    /// transferred.
    pub now: Option<String>,
    /// The sections of acts that the provision is, by its source credit: `Pub. L. 93-406, § 502`.
    pub act_sections: Vec<String>,
    /// The names of acts that its notes tie to laws.
    pub act_names: Vec<ActName>,
    /// Indexes into the catalogue's tags, ascending.
    pub tags: Vec<u16>,
}

impl NodeRecord {
    /// The wording at an index, or the first one if there is none at this index.
    pub fn wording(&self, place: usize) -> &Wording {
        self.wordings.get(place).unwrap_or(&self.wordings[0])
    }

    /// The number of a wording's first note among the texts of the node, as layouts number them: the texts of all
    /// wordings come before the notes.
    pub fn first_note_of(&self, place: usize) -> usize {
        self.wordings.len() + self.wordings.iter().take(place).map(|wording| wording.notes.len()).sum::<usize>()
    }
}

/// Why a node record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum NodesError {
    #[error("cannot {doing} {}: {source}", .path.display())]
    Store { path: PathBuf, doing: &'static str, source: Box<redb::Error> },
    #[error(
        "{} has {}, this version reads {}; rebuild it with 'hornbook build'",
        .path.display(),
        .found.map_or("no format number".to_owned(), |found| format!("format {found}")),
        FORMAT
    )]
    Format { path: PathBuf, found: Option<u64> },
    #[error("{} contains a damaged record for node {ordinal}: {source}; run 'hornbook verify'", .path.display())]
    Invalid { path: PathBuf, ordinal: NodeOrdinal, source: rancor::Error },
    /// redb panicked, because the file is damaged.
    #[error(
        "{} is damaged: reading it failed with '{what}'; run 'hornbook verify', then copy the snapshot again or \
         rebuild it with 'hornbook build'",
        .path.display()
    )]
    Unreadable { path: PathBuf, what: String },
    /// The stored data of the node does not match its checksum, or is invalid.
    #[error(
        "{} is damaged: the data of node {ordinal} does not match its checksum; run 'hornbook verify', then copy the \
         snapshot again or rebuild it with 'hornbook build'",
        .path.display()
    )]
    Damaged { path: PathBuf, ordinal: NodeOrdinal },
    #[error("{} contains no record for node {ordinal}; run 'hornbook verify'", .path.display())]
    Missing { path: PathBuf, ordinal: NodeOrdinal },
}

/// Converts any error type of redb to ours, with the path and the operation.
fn store_error<E: Into<redb::Error>>(path: &Path, doing: &'static str) -> impl Fn(E) -> NodesError {
    let path = path.to_owned();
    move |source| NodesError::Store { path: path.clone(), doing, source: Box::new(source.into()) }
}

/// Writes records in ordinal order.
pub struct NodeWriter {
    path: PathBuf,
    database: redb::Database,
    waiting: Vec<AlignedVec>,
    next: u32,
}

impl fmt::Debug for NodeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeWriter").field("path", &self.path).field("next", &self.next).finish_non_exhaustive()
    }
}

impl NodeWriter {
    pub fn create(dir: &Path) -> Result<Self, NodesError> {
        let path = dir.join(FILE_NAME);
        let database =
            redb::Database::builder().set_cache_size(64 << 20).create(&path).map_err(store_error(&path, "create"))?;
        Ok(Self { path, database, waiting: Vec::with_capacity(BATCH), next: 0 })
    }

    pub fn push(&mut self, record: &NodeRecord) -> Result<(), NodesError> {
        let ordinal = NodeOrdinal(self.next + self.waiting.len() as u32);
        let mut value = rkyv::to_bytes::<rancor::Error>(record).map_err(|source| NodesError::Invalid {
            path: self.path.clone(),
            ordinal,
            source,
        })?;
        value.extend_from_slice(&crc32fast::hash(&value).to_le_bytes());
        self.waiting.push(value);
        if self.waiting.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), NodesError> {
        let mut transaction = self.database.begin_write().map_err(store_error(&self.path, "write"))?;
        // The builder syncs whole files once, at the end. An unfinished snapshot is discarded anyway.
        transaction.set_durability(redb::Durability::None).map_err(store_error(&self.path, "write"))?;
        {
            let mut table = transaction.open_table(RECORDS).map_err(store_error(&self.path, "write"))?;
            for value in self.waiting.drain(..) {
                table.insert(self.next, value.as_slice()).map_err(store_error(&self.path, "write"))?;
                self.next += 1;
            }
        }
        transaction.commit().map_err(store_error(&self.path, "write"))
    }

    pub fn finish(mut self) -> Result<(), NodesError> {
        self.flush()?;
        let transaction = self.database.begin_write().map_err(store_error(&self.path, "finish"))?;
        {
            let mut meta = transaction.open_table(META).map_err(store_error(&self.path, "finish"))?;
            meta.insert(FORMAT_KEY, FORMAT).map_err(store_error(&self.path, "finish"))?;
        }
        transaction.commit().map_err(store_error(&self.path, "finish"))?;
        self.database.compact().map_err(store_error(&self.path, "compact"))?;
        Ok(())
    }
}

/// The records, open for reading.
pub struct Nodes {
    path: PathBuf,
    table: ReadOnlyTable<u32, &'static [u8]>,
    damage: Damage,
    // Kept so that the file stays open as long as the table.
    _database: ReadOnlyDatabase,
}

impl fmt::Debug for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nodes").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Nodes {
    pub fn open(dir: &Path) -> Result<Self, NodesError> {
        Self::open_reporting(dir, Damage::default())
    }

    /// Opens the records so that every failed check is also recorded in `damage`.
    pub fn open_reporting(dir: &Path, damage: Damage) -> Result<Self, NodesError> {
        let path = dir.join(FILE_NAME);
        catch_panic_as_damage(|| Self::open_unguarded(path.clone(), damage))
            .unwrap_or_else(|what| Err(NodesError::Unreadable { path, what }))
    }

    fn open_unguarded(path: PathBuf, damage: Damage) -> Result<Self, NodesError> {
        let mut builder = redb::Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        let database = builder.open_read_only(&path).map_err(store_error(&path, "open"))?;
        let transaction = redb::ReadableDatabase::begin_read(&database).map_err(store_error(&path, "read"))?;
        let found = match transaction.open_table(META) {
            Ok(meta) => redb::ReadableTable::get(&meta, FORMAT_KEY)
                .map_err(store_error(&path, "read"))?
                .map(|value| value.value()),
            Err(_) => None,
        };
        if found != Some(FORMAT) {
            return Err(NodesError::Format { path, found });
        }
        let table = transaction.open_table(RECORDS).map_err(store_error(&path, "read"))?;
        Ok(Self { path, table, damage, _database: database })
    }

    pub fn count(&self) -> Result<u64, NodesError> {
        self.read(|| self.table.len().map_err(store_error(&self.path, "read")))
    }

    pub fn get(&self, ordinal: NodeOrdinal) -> Result<NodeRecord, NodesError> {
        self.with_archived(ordinal, rkyv::deserialize::<NodeRecord, rancor::Error>)?
            .map_err(|source| NodesError::Invalid { path: self.path.clone(), ordinal, source })
    }

    /// Reads a validated record without deserializing it. A page of results needs only two fields of each record.
    pub fn with_archived<R>(
        &self,
        ordinal: NodeOrdinal,
        read: impl FnOnce(&ArchivedNodeRecord) -> R,
    ) -> Result<R, NodesError> {
        let aligned = self.read(|| self.archive(ordinal))?;
        let archived = rkyv::access::<ArchivedNodeRecord, rancor::Error>(&aligned)
            .map_err(|source| self.damaged(NodesError::Invalid { path: self.path.clone(), ordinal, source }))?;
        if archived.wordings.is_empty() {
            return Err(self.damaged(NodesError::Damaged { path: self.path.clone(), ordinal }));
        }
        Ok(read(archived))
    }

    /// The bytes of a record, if they match their checksum.
    fn archive(&self, ordinal: NodeOrdinal) -> Result<AlignedVec, NodesError> {
        let found = redb::ReadableTable::get(&self.table, ordinal.0).map_err(store_error(&self.path, "read"))?;
        let found = found.ok_or_else(|| NodesError::Missing { path: self.path.clone(), ordinal })?;
        let value = found.value();
        let (archive, sum) = value.split_at(value.len().saturating_sub(SUM_BYTES));
        if crc32fast::hash(archive).to_le_bytes() != sum {
            return Err(NodesError::Damaged { path: self.path.clone(), ordinal });
        }
        // redb values are not aligned, but archives must be.
        let mut aligned: AlignedVec = AlignedVec::with_capacity(archive.len());
        aligned.extend_from_slice(archive);
        Ok(aligned)
    }

    /// Reads with redb, and records any error that means that the file is damaged.
    fn read<T>(&self, read: impl FnOnce() -> Result<T, NodesError>) -> Result<T, NodesError> {
        let read = catch_panic_as_damage(read)
            .unwrap_or_else(|what| Err(NodesError::Unreadable { path: self.path.clone(), what }));
        read.map_err(|error| if matches!(error, NodesError::Missing { .. }) { error } else { self.damaged(error) })
    }

    fn damaged(&self, error: NodesError) -> NodesError {
        self.damage.record(&error);
        error
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::day::Day;
    use crate::outline::Status;

    pub(crate) fn record(n: u32) -> NodeRecord {
        NodeRecord {
            source_key: format!("xa/ars/s{n}"),
            citation: format!("Arden Rev. Stat. § {n}"),
            level: "section".into(),
            number: Some(n.to_string()),
            source: 0,
            current_through: None,
            wordings: vec![Wording {
                heading: "Definitions".into(),
                validity: Validity {
                    to: Day::from_parts(2027, 1, 1),
                    ..Validity::undated(Status::ALL[n as usize % Status::ALL.len()])
                },
                remark: None,
                text: Span { offset: u64::from(n) * 10, length: 10 },
                text_sha256: [n as u8; 32],
                notes: vec![Note { topic: "History".into(), text: Span::default() }],
                source_credit: None,
                source_url: None,
            }],
            former_citations: vec![],
            parallel_citations: vec!["5 P.L. 3".into()],
            now: None,
            act_sections: vec![],
            act_names: vec![],
            tags: vec![1, 4],
        }
    }

    #[test]
    fn records_read_back_from_a_read_only_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = NodeWriter::create(dir.path()).unwrap();
        for n in 0..100 {
            writer.push(&record(n)).unwrap();
        }
        writer.finish().unwrap();
        let nodes = Nodes::open(dir.path()).unwrap();
        assert_eq!(nodes.count().unwrap(), 100);
        for n in 0..100 {
            assert_eq!(nodes.get(NodeOrdinal(n)).unwrap(), record(n));
        }
        assert!(matches!(nodes.get(NodeOrdinal(100)), Err(NodesError::Missing { .. })));
    }

    #[test]
    fn a_record_with_a_flipped_bit_is_refused_and_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = NodeWriter::create(dir.path()).unwrap();
        writer.push(&record(7)).unwrap();
        writer.finish().unwrap();
        let path = dir.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        let begins = whole.windows(9).position(|window| window == b"xa/ars/s7").unwrap();
        for bit in 0..9 * 8 {
            let mut bytes = whole.clone();
            bytes[begins + bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).unwrap();
            let nodes = Nodes::open(dir.path()).unwrap();
            let error = nodes.get(NodeOrdinal(0)).unwrap_err();
            assert!(matches!(error, NodesError::Damaged { .. }), "bit {bit}: {error}");
            assert_eq!(nodes.damage.first(), Some(error.to_string().as_str()));
        }
    }

    /// An attacker who changes a record can also correct its checksum.
    #[test]
    fn records_of_any_bytes_with_a_right_checksum_are_refused_or_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = NodeWriter::create(dir.path()).unwrap();
        let good = rkyv::to_bytes::<rancor::Error>(&record(7)).unwrap();
        let mut seed = 1_u32;
        let mut number = move |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % below
        };
        for _ in 0..3000 {
            let mut value = good.to_vec();
            for _ in 0..1 + number(3) {
                let place = number(value.len());
                value[place] = number(256) as u8;
            }
            value.truncate(if number(8) == 0 { number(value.len()) } else { value.len() });
            let sum = crc32fast::hash(&value).to_le_bytes();
            value.extend_from_slice(&sum);
            let mut aligned = AlignedVec::new();
            aligned.extend_from_slice(&value);
            writer.waiting.push(aligned);
        }
        writer.finish().unwrap();
        let nodes = Nodes::open(dir.path()).unwrap();
        let (mut read, mut refused) = (0, 0);
        for n in 0..3000 {
            match nodes.get(NodeOrdinal(n)) {
                Ok(record) => {
                    read += 1;
                    assert!(!record.wordings.is_empty());
                }
                Err(NodesError::Invalid { .. } | NodesError::Damaged { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }

    #[test]
    fn redb_panics_become_damage_errors() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = NodeWriter::create(dir.path()).unwrap();
        (0..500).for_each(|n| writer.push(&record(n)).unwrap());
        writer.finish().unwrap();
        let path = dir.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        let (mut at_open, mut later) = (0, 0);
        for page in 1..whole.len() / 4096 {
            let mut bytes = whole.clone();
            bytes[page * 4096..(page + 1) * 4096].fill(0);
            std::fs::write(&path, &bytes).unwrap();
            let nodes = match Nodes::open(dir.path()) {
                Ok(nodes) => nodes,
                Err(error) => {
                    assert!(error.to_string().contains(FILE_NAME), "{error}");
                    at_open += 1;
                    continue;
                }
            };
            for error in (0..500).filter_map(|n| nodes.get(NodeOrdinal(n)).err()) {
                let reported = error.to_string();
                assert!(
                    reported.contains(FILE_NAME) && reported.contains("hornbook verify"),
                    "page {page}: {reported}"
                );
                assert!(nodes.damage.first().is_some());
                later += 1;
            }
        }
        assert!(at_open > 0 && later > 0, "{at_open} refused, {later} later");
    }

    #[test]
    fn the_same_records_give_the_same_bytes() {
        let write = || {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = NodeWriter::create(dir.path()).unwrap();
            for n in 0..40_000 {
                writer.push(&record(n)).unwrap();
            }
            writer.finish().unwrap();
            std::fs::read(dir.path().join(FILE_NAME)).unwrap()
        };
        assert!(write() == write());
    }
}
