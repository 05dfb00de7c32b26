//! The changes between two snapshots, in a mapped file beside the snapshots. It can be made again at any time.
//!
//! It contains only which nodes changed and how; texts are in the two snapshots.

use std::path::Path;

use bytemuck::{Pod, Zeroable};
use hornbook_corpus::day::Day;
use hornbook_corpus::ids::{CodeBodyId, NodeOrdinal};
use hornbook_corpus::section_file::{FileKind, SectionFile, SectionFileError, SectionWriter};
use hornbook_corpus::snapshot::Snapshot;

use crate::change::{ChangeKind, ChangedParts, LawChange};

/// Raised with every change of the file or of the rules by which it is made: older files are made again.
const KIND: FileKind = FileKind { magic: *b"HBCHANGE", version: 2 };

/// The value in place of a node that one edition does not have.
const NO_NODE: u32 = u32::MAX;

/// The changes of one code body, in code order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyChanges {
    pub body: CodeBodyId,
    pub changes: Vec<LawChange>,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BodyRow {
    id: [u8; 16],
    first: u32,
    count: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct ChangeRow {
    old: u32,
    new: u32,
    /// A number such as 20260131; 0 means no day.
    effective: u32,
    kind: u8,
    parts: u8,
    zero: u16,
}

impl ChangeRow {
    fn of(change: &LawChange) -> Self {
        let node = |node: Option<NodeOrdinal>| node.map_or(NO_NODE, |node| node.0);
        Self {
            old: node(change.old),
            new: node(change.new),
            effective: change.effective.map_or(0, Day::number),
            kind: change.kind as u8,
            parts: change.parts.byte(),
            zero: 0,
        }
    }

    /// None if a value is invalid: in a damaged file, or in one of other snapshots.
    fn change(&self, old: &Snapshot, new: &Snapshot) -> Option<LawChange> {
        let node = |node: u32, of: &Snapshot| match node {
            NO_NODE => Some(None),
            node => (node < of.outline.len()).then_some(Some(NodeOrdinal(node))),
        };
        let (old, new) = (node(self.old, old)?, node(self.new, new)?);
        old.or(new)?;
        Some(LawChange {
            kind: ChangeKind::from_byte(self.kind)?,
            old,
            new,
            parts: ChangedParts::from_byte(self.parts),
            effective: Day::from_number(self.effective),
        })
    }
}

/// The file of the changes between two snapshots.
#[derive(Debug)]
pub struct ChangesFile;

impl ChangesFile {
    /// The name of the file for two snapshots.
    pub fn name(old: &Snapshot, new: &Snapshot) -> String {
        format!("{}-{}.changes", old.manifest.snapshot, new.manifest.snapshot)
    }

    pub fn write(path: &Path, old: &Snapshot, new: &Snapshot, bodies: &[BodyChanges]) -> Result<(), SectionFileError> {
        let mut first = 0;
        let rows = bodies.iter().map(|BodyChanges { body, changes }| {
            let count = changes.len() as u32;
            let row = BodyRow { id: *body.0.as_bytes(), first, count };
            first += count;
            row
        });
        let rows: Vec<BodyRow> = rows.collect();
        let changes: Vec<ChangeRow> = bodies.iter().flat_map(|body| &body.changes).map(ChangeRow::of).collect();
        let mut out = SectionWriter::create(path, KIND, 3)?;
        out.section("pair", Self::name(old, new).as_bytes())?;
        out.section("bodies", &rows)?;
        out.section("changes", &changes)?;
        out.finish()
    }

    /// Reads a file that [`Self::write`] wrote for these two snapshots.
    pub fn read(path: &Path, old: &Snapshot, new: &Snapshot) -> Result<Vec<BodyChanges>, SectionFileError> {
        let file = SectionFile::open(path, KIND)?;
        if file.bytes("pair")? != Self::name(old, new).as_bytes() {
            return Err(file.damaged("it is of other snapshots"));
        }
        let changes = file.slice::<ChangeRow>("changes")?;
        let read = |row: &BodyRow| {
            let end = row.first.checked_add(row.count)?;
            let rows = changes.get(row.first as usize..end as usize)?;
            let changes = rows.iter().map(|row| row.change(old, new)).collect::<Option<_>>()?;
            Some(BodyChanges { body: CodeBodyId(uuid::Uuid::from_bytes(row.id)), changes })
        };
        let bodies = file.slice::<BodyRow>("bodies")?.iter().map(read).collect::<Option<_>>();
        bodies.ok_or_else(|| file.damaged("it names nodes that the snapshots do not have"))
    }
}
