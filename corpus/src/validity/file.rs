//! `validity.bin`: the wordings of every provision that is not the same on every day, in a mapped file.
//!
//! Few provisions have several wordings or dates. The outline contains the status of all other provisions. Of these
//! few, it contains the status on the last day that their source covers. [`ValidityIndex::on`] computes their state
//! on a day; the result is the same for all days between two changes.

use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::rule::{Validity, change_days, state_on};
use crate::day::Day;
use crate::ids::{NodeOrdinal, OrdinalRange};
use crate::outline::Status;
use crate::section_file::{Column, FileKind, SectionFile, SectionFileError, SectionWriter};

pub const FILE_NAME: &str = "validity.bin";
const KIND: FileKind = FileKind { magic: *b"HBVALID\0", version: 2 };

/// The value in place of a status if the source does not state the status of a wording after its end.
const NOT_STATED: u8 = u8::MAX;

/// A provision with a date, with several wordings, or with an uncertain one.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Dated {
    node: u32,
    first: u32,
    count: u32,
    zero: u32,
}

/// A wording. Days are numbers such as 20260131; 0 means no day.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct WordingRow {
    from: u32,
    to: u32,
    first_chunk: u32,
    end_chunk: u32,
    status: u8,
    then: u8,
    is_uncertain: u8,
    has_predecessor: u8,
}

impl WordingRow {
    fn of(validity: &Validity, chunks: OrdinalRange) -> Self {
        let number = |day: Option<Day>| day.map_or(0, Day::number);
        Self {
            from: number(validity.from),
            to: number(validity.to),
            first_chunk: chunks.start,
            end_chunk: chunks.end,
            status: validity.status as u8,
            then: validity.then.map_or(NOT_STATED, |then| then as u8),
            is_uncertain: u8::from(validity.is_uncertain),
            has_predecessor: u8::from(validity.has_predecessor),
        }
    }

    fn validity(&self) -> Validity {
        Validity {
            status: Status::from_byte(self.status).unwrap_or(Status::InForce),
            from: Day::from_number(self.from),
            to: Day::from_number(self.to),
            then: Status::from_byte(self.then),
            is_uncertain: self.is_uncertain != 0,
            has_predecessor: self.has_predecessor != 0,
        }
    }

    /// Whether its values are valid. In a damaged file they may not be.
    fn is_valid(&self) -> bool {
        let is_day = |number| number == 0 || Day::from_number(number).is_some();
        is_day(self.from)
            && is_day(self.to)
            && Status::from_byte(self.status).is_some()
            && (self.then == NOT_STATED || Status::from_byte(self.then).is_some())
            && self.first_chunk <= self.end_chunk
    }
}

/// Collects the wordings of provisions in the order of their ordinals.
#[derive(Debug, Default)]
pub struct ValidityWriter {
    nodes: Vec<Dated>,
    rows: Vec<WordingRow>,
    days: Vec<u32>,
}

impl ValidityWriter {
    /// Adds the next provision, with its wordings in the order of its record and the chunks of each wording. A
    /// provision that is the same on every day is not stored.
    pub fn push(&mut self, node: NodeOrdinal, wordings: &[(Validity, OrdinalRange)]) {
        if let [(only, _)] = wordings
            && only.is_constant()
        {
            return;
        }
        self.nodes.push(Dated { node: node.0, first: self.rows.len() as u32, count: wordings.len() as u32, zero: 0 });
        for (validity, chunks) in wordings {
            self.rows.push(WordingRow::of(validity, *chunks));
            self.days.extend(change_days(std::slice::from_ref(validity)).map(Day::number));
        }
    }

    pub fn finish(mut self, dir: &Path) -> Result<(), SectionFileError> {
        self.days.sort_unstable();
        self.days.dedup();
        let mut out = SectionWriter::create(&dir.join(FILE_NAME), KIND, 3)?;
        out.section("nodes", &self.nodes)?;
        out.section("wordings", &self.rows)?;
        out.section("days", &self.days)?;
        out.finish()
    }
}

/// The mapped wordings.
#[derive(Clone, Debug)]
pub struct ValidityIndex {
    nodes: Column<Dated>,
    rows: Column<WordingRow>,
    days: Column<u32>,
}

impl ValidityIndex {
    pub fn open(dir: &Path) -> Result<Self, SectionFileError> {
        let file = SectionFile::open(&dir.join(FILE_NAME), KIND)?;
        let index = Self { nodes: file.column("nodes")?, rows: file.column("wordings")?, days: file.column("days")? };
        let mut next = 0;
        for dated in &*index.nodes {
            if dated.first != next || dated.count == 0 {
                return Err(file.damaged(format!("the wordings of node {} are at a wrong position", dated.node)));
            }
            next = dated.first.saturating_add(dated.count);
        }
        if next as usize != index.rows.len() {
            return Err(file.damaged(format!("it has {} wordings, but its nodes have {next}", index.rows.len())));
        }
        if !index.nodes.is_sorted_by(|a, b| a.node < b.node) || !index.days.is_sorted_by(|a, b| a < b) {
            return Err(file.damaged("its nodes or days are not in order".to_owned()));
        }
        if let Some(place) = index.rows.iter().position(|row| !row.is_valid()) {
            return Err(file.damaged(format!("wording {place} has an invalid day or status")));
        }
        Ok(index)
    }

    /// The last node in the file, for comparison with the outline.
    pub fn last_node(&self) -> Option<NodeOrdinal> {
        self.nodes.last().map(|dated| NodeOrdinal(dated.node))
    }

    /// The number of change days up to and including a day. On days with the same number, all results are the same.
    pub fn epoch(&self, day: Day) -> usize {
        self.days.partition_point(|&turn| turn <= day.number())
    }

    /// The state on a day of every provision that is not the same on every day.
    pub fn on(&self, day: Day) -> StatesOnDay {
        let mut wordings = Vec::new();
        self.standings(|_, rows| {
            wordings.clear();
            wordings.extend(rows.iter().map(WordingRow::validity));
            let standing = state_on(&wordings, day);
            (standing.wording, standing.status)
        })
    }

    /// The first wording of each of these provisions, which was in force on the last day that its source covers,
    /// with the status that `status` returns.
    pub fn first_wordings(&self, status: impl Fn(NodeOrdinal) -> Status) -> StatesOnDay {
        self.standings(|node, _| (0, status(node)))
    }

    fn standings(&self, mut of: impl FnMut(NodeOrdinal, &[WordingRow]) -> (usize, Status)) -> StatesOnDay {
        let shown = self.nodes.iter().map(|dated| {
            let node = NodeOrdinal(dated.node);
            let rows = &self.rows[dated.first as usize..(dated.first + dated.count) as usize];
            let (place, status) = of(node, rows);
            let row = &rows[place];
            let Validity { from, to, .. } = row.validity();
            ProvisionState {
                node,
                shown: ShownWording { place, status, from, to },
                is_one_of_several: dated.count > 1,
                chunks: OrdinalRange { start: row.first_chunk, end: row.end_chunk },
            }
        });
        StatesOnDay(shown.collect())
    }
}

/// The wording of a provision that is shown on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownWording {
    /// Its index in the provision's record.
    pub place: usize,
    /// The status of the provision on the day.
    pub status: Status,
    /// The first day of the wording, if its source states it.
    pub from: Option<Day>,
    /// The first day on which it is no longer in force, if its source states it.
    pub to: Option<Day>,
}

impl ShownWording {
    /// The wording of a provision that is the same on every day.
    pub const fn constant(status: Status) -> Self {
        Self { place: 0, status, from: None, to: None }
    }
}

#[derive(Clone, Copy, Debug)]
struct ProvisionState {
    node: NodeOrdinal,
    shown: ShownWording,
    is_one_of_several: bool,
    chunks: OrdinalRange,
}

/// The states on a day of all provisions that change. They stay valid until the next change day.
#[derive(Clone, Debug)]
pub struct StatesOnDay(Vec<ProvisionState>);

impl StatesOnDay {
    fn of(&self, node: NodeOrdinal) -> Option<&ProvisionState> {
        let place = self.0.binary_search_by_key(&node, |dating| dating.node).ok()?;
        self.0.get(place)
    }

    /// The wording of a provision that is shown. `None` if the provision is the same on every day.
    pub fn shown(&self, node: NodeOrdinal) -> Option<ShownWording> {
        self.of(node).map(|dating| dating.shown)
    }

    /// The chunks of the wording that is shown, if the provision has several wordings.
    pub fn chunks_shown(&self, node: NodeOrdinal) -> Option<OrdinalRange> {
        self.of(node).filter(|dating| dating.is_one_of_several).map(|dating| dating.chunks)
    }

    /// The provisions with several wordings.
    pub fn with_several_wordings(&self) -> impl Iterator<Item = NodeOrdinal> + '_ {
        self.0.iter().filter(|dating| dating.is_one_of_several).map(|dating| dating.node)
    }

    /// Every provision that is not the same on every day, with its status on this day.
    pub fn statuses(&self) -> impl Iterator<Item = (NodeOrdinal, Status)> + '_ {
        self.0.iter().map(|dating| (dating.node, dating.shown.status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn pair() -> [(Validity, OrdinalRange); 2] {
        let turn = Some(day("2022-07-01"));
        let undated = Validity::undated(Status::InForce);
        let chunks = |start| OrdinalRange { start, end: start + 2 };
        [(Validity { to: turn, ..undated }, chunks(10)), (Validity { from: turn, ..undated }, chunks(12))]
    }

    fn index() -> (tempfile::TempDir, ValidityIndex) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ValidityWriter::default();
        let none = OrdinalRange::default();
        writer.push(NodeOrdinal(1), &[(Validity::undated(Status::Repealed), none)]);
        writer.push(NodeOrdinal(4), &pair());
        let ends = Validity { to: Some(day("2030-01-01")), ..Validity::undated(Status::InForce) };
        writer.push(NodeOrdinal(9), &[(ends, none)]);
        writer.finish(dir.path()).unwrap();
        let index = ValidityIndex::open(dir.path()).unwrap();
        (dir, index)
    }

    #[test]
    fn states_follow_the_rule_and_constant_provisions_are_not_stored() {
        let (_dir, index) = index();
        let before = index.on(day("2022-06-30"));
        let after = index.on(day("2031-01-01"));
        assert_eq!((before.shown(NodeOrdinal(1)), index.last_node()), (None, Some(NodeOrdinal(9))));
        let of =
            |standings: &StatesOnDay, node| standings.shown(NodeOrdinal(node)).map(|shown| (shown.place, shown.status));
        assert_eq!((of(&before, 4), of(&after, 4)), (Some((0, Status::InForce)), Some((1, Status::InForce))));
        assert_eq!((of(&before, 9), of(&after, 9)), (Some((0, Status::InForce)), Some((0, Status::Expired))));
        assert_eq!(after.shown(NodeOrdinal(4)).unwrap().from, Some(day("2022-07-01")));
        assert_eq!(after.chunks_shown(NodeOrdinal(4)), Some(OrdinalRange { start: 12, end: 14 }));
        assert_eq!(after.chunks_shown(NodeOrdinal(9)), None);
        assert_eq!(after.with_several_wordings().collect::<Vec<_>>(), [NodeOrdinal(4)]);
        let first = index.first_wordings(|_| Status::Repealed);
        assert_eq!((of(&first, 4), of(&first, 9)), (Some((0, Status::Repealed)), Some((0, Status::Repealed))));
    }

    #[test]
    fn an_epoch_begins_on_every_day_on_which_anything_changes() {
        let (_dir, index) = index();
        let epochs = ["2022-06-30", "2022-07-01", "2029-12-31", "2030-01-01"];
        assert_eq!(epochs.map(|date| index.epoch(day(date))), [0, 1, 1, 2]);
    }

    #[test]
    fn damaged_bytes_are_refused_or_only_change_results() {
        let (dir, _index) = index();
        let path = dir.path().join(FILE_NAME);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x41;
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, bytes).unwrap();
            if let Ok(index) = ValidityIndex::open(dir.path()) {
                index.on(day("2022-07-01")).shown(NodeOrdinal(4));
            }
        }
    }
}
