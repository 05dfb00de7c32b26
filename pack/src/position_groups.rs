//! Where the groups of packed numbers are in the file of positions of a snapshot, and where those of the same words were
//! in the earlier one. Only packing needs it: a patch has the layouts that unpacking needs.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hornbook_corpus::keyword::{DIRECTORY_NAME, KeywordIndex, POSITIONS_FILE_NAME};
use hornbook_corpus::manifest::Manifest;

use crate::number_groups::{GroupLayout, GroupRun, group_bytes};

/// A word with fewer bytes has no group: the smallest one has 16, after two bytes that say so.
const TERM_BYTES_MIN: u64 = 18;
/// The words before a place that are looked for in the earlier file.
const NEIGHBOURS_MAX: usize = 64;

/// The groups of the file of positions in two snapshots.
pub(crate) struct MatchedGroups {
    new: PositionGroups,
    earlier: PositionGroups,
    /// The places of the words in `earlier`, by their keys.
    earlier_places: HashMap<Vec<u8>, usize>,
}

/// The groups of one file, in its order.
struct PositionGroups(Vec<TermGroups>);

struct TermGroups {
    key: Vec<u8>,
    /// Where the first group begins.
    at: u64,
    widths: Vec<u8>,
}

/// Whether a file of a snapshot is the one with the positions.
pub(crate) fn is_positions_file(relative: &str) -> bool {
    relative.strip_prefix(DIRECTORY_NAME).and_then(|rest| rest.strip_prefix('/')) == Some(POSITIONS_FILE_NAME)
}

impl MatchedGroups {
    /// None if one of the snapshots has no index that this program can read: then its bytes are compared.
    pub(crate) fn of_snapshots(new: &Path, earlier: &Path) -> Option<Self> {
        let (new, earlier) = (PositionGroups::of_snapshot(new)?, PositionGroups::of_snapshot(earlier)?);
        let places = earlier.0.iter().enumerate().map(|(place, term)| (term.key.clone(), place));
        Some(Self { earlier_places: places.collect(), new, earlier })
    }

    /// Where the bytes at a place of the new file are expected in the earlier one.
    pub(crate) fn earlier_place(&self, at: u64) -> Option<u64> {
        let before = self.new.0.partition_point(|term| term.at <= at);
        self.new.0[..before].iter().rev().take(NEIGHBOURS_MAX).find_map(|term| {
            let earlier = &self.earlier.0[*self.earlier_places.get(&term.key)?];
            Some(earlier.at + (at - term.at))
        })
    }

    pub(crate) fn new_layout(&self, range: Range<u64>) -> GroupLayout {
        self.new.layout(range)
    }

    pub(crate) fn earlier_layout(&self, range: Range<u64>) -> GroupLayout {
        self.earlier.layout(range)
    }
}

impl PositionGroups {
    fn of_snapshot(dir: &Path) -> Option<Self> {
        let nodes = Manifest::open(dir).ok()?.counts.nodes;
        let folder = dir.join(DIRECTORY_NAME);
        let file = File::open(folder.join(POSITIONS_FILE_NAME)).ok()?;
        let index = KeywordIndex::open(&folder, nodes).ok()?;
        let mut terms = Vec::new();
        for place in index.term_places(TERM_BYTES_MIN).ok()? {
            terms.extend(TermGroups::read(&file, place.key, place.range));
        }
        Some(Self(terms))
    }

    /// The layout of a part of the file. Groups that begin or end outside of it count as bytes.
    fn layout(&self, range: Range<u64>) -> GroupLayout {
        let mut layout = GroupLayout::default();
        let mut done = range.start;
        let first = self.0.partition_point(|term| term.at <= range.start).saturating_sub(1);
        for term in &self.0[first..] {
            if term.at >= range.end {
                break;
            }
            let mut at = term.at;
            let mut run = GroupRun { bytes_before: 0, widths: Vec::new() };
            let mut end = done;
            for width in &term.widths {
                let group = at..at + group_bytes(*width) as u64;
                at = group.end;
                if group.start < range.start || group.is_empty() {
                    continue;
                }
                if group.end > range.end {
                    break;
                }
                if run.widths.is_empty() {
                    run.bytes_before = (group.start - done) as u32;
                }
                run.widths.push(*width);
                end = group.end;
            }
            if !run.widths.is_empty() {
                layout.runs.push(run);
            }
            done = end;
        }
        layout
    }
}

impl TermGroups {
    /// Reads the number of groups and their widths, which precede the groups. None if there are none, or if they do not
    /// fit into the range.
    fn read(file: &File, key: Vec<u8>, range: Range<u64>) -> Option<Self> {
        let mut head = [0; 8];
        let head = &mut head[..(range.end - range.start).min(8) as usize];
        file.read_exact_at(head, range.start).ok()?;
        let length = head.iter().position(|byte| *byte & 0x80 != 0)? + 1;
        let bits = |(place, byte): (usize, &u8)| u64::from(byte & 0x7f) << (7 * place);
        let count: u64 = head[..length].iter().enumerate().map(bits).sum();
        let at = range.start + length as u64 + count;
        if count == 0 || at > range.end {
            return None;
        }
        let mut widths = vec![0; count as usize];
        file.read_exact_at(&mut widths, range.start + length as u64).ok()?;
        let end = at + widths.iter().map(|width| group_bytes(*width) as u64).sum::<u64>();
        (end <= range.end).then_some(Self { key, at, widths })
    }
}
